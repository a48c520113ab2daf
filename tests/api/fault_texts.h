/* Dictionaries of texts for memory_faults.c. */
#ifndef KEYRAY_TESTS_FAULT_TEXTS_H
#define KEYRAY_TESTS_FAULT_TEXTS_H

#include "check.h"

/* What check_part is given in the place of a spec: part 0 is a dictionary with ranges=on, part 1 without;
 * parts 2 and 3 are indexes of kinds btree and hash; parts 4 and 5 tables of kinds full and bindex. */
static const char fault_texts[] = "texts";

/* Rows in layers: all share a prefix, and many the slices behind it. */
static kr_column fault_strings(void)
{
    enum { TEXTS = 300, EACH = 40 };
    static char bytes[TEXTS * EACH];
    static int32_t offsets[TEXTS + 1];
    static uint8_t validity[TEXTS / 8 + 1];
    for (int32_t i = 0; i < TEXTS; ++i) {
        char text[EACH];
        const int n = snprintf(text, sizeof text, "https://shop%d.example.com/item/%03d", i % 5, i * 7 % 200);
        memcpy(bytes + offsets[i], text, (size_t)n);
        offsets[i + 1] = offsets[i] + n;
    }
    memset(validity, 0xEE, sizeof validity);
    return (kr_column){.type = KR_STRING,
                       .count = TEXTS,
                       .data = offsets,
                       .validity = validity,
                       .reserved_words = {(uintptr_t)bytes, (uint64_t)offsets[TEXTS]}};
}

static kr_status use_texts(kr_device *device, int part, kr_stream *stream, kr_error *err)
{
    static uint32_t codes[300], lower[300], upper[300];
    static int64_t offsets[301];
    static char bytes[300 * 40];
    const kr_column strings = fault_strings();
    kr_texts *texts = NULL;
    kr_status status =
        kr_texts_create(device, &strings, part ? "ranges=off" : "ranges=on", stream, &texts, err);
    if (!status)
        status = kr_texts_encode(texts, &strings, codes, stream, err);
    if (!status && !part)
        status = kr_texts_bounds(texts, &strings, KR_TEXTS_PREFIX, lower, upper, stream, err);
    if (!status)
        status = kr_texts_decode(texts, codes, 300, offsets, bytes, sizeof bytes, stream, err);
    add_to_checksum(codes, sizeof codes);
    add_to_checksum(lower, sizeof lower);
    add_to_checksum(upper, sizeof upper);
    add_to_checksum(bytes, sizeof bytes);
    kr_texts_destroy(texts);
    return status;
}

/* Probes of an index over fault_strings; points, and what an ordered kind can. */
static kr_status ask_texts(kr_index *index, int is_ordered, kr_stream *stream, kr_error *err)
{
    static uint64_t counts[300];
    const kr_column strings = fault_strings();
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    kr_prepared *prepared = NULL;
    kr_status status = kr_index_lookup(index, &strings, &sink, stream, err);
    add_to_checksum(counts, sizeof counts);
    if (!is_ordered || status)
        return status;
    status = kr_index_lookup_texts(index, &strings, KR_TEXTS_PREFIX, &sink, stream, err);
    add_to_checksum(counts, sizeof counts);
    if (!status)
        status = kr_index_nearest(index, &strings, NULL, &sink, stream, err);
    add_to_checksum(counts, sizeof counts);
    if (!status)
        status = kr_prepare_range(index, &strings, &strings, &sink, &prepared, err);
    if (!status)
        status = kr_prepared_run(prepared, stream, err);
    kr_prepared_destroy(prepared);
    add_to_checksum(counts, sizeof counts);
    return status;
}

/* Half of the texts are new; rows of the others go. After an error the index answers as before. */
static kr_status update_texts(kr_index *index, kr_stream *stream, kr_error *err)
{
    static char bytes[300 * 40];
    static uint32_t before[300], after[300];
    kr_column strings = fault_strings(), inserted = strings, deleted = strings;
    const kr_sink was = {.struct_size = sizeof was, .result = KR_RESULT_ROW, .out = before},
                  is = {.struct_size = sizeof is, .result = KR_RESULT_ROW, .out = after};
    memcpy(bytes, (const void *)(uintptr_t)strings.reserved_words[0], strings.reserved_words[1]);
    memset(bytes, 'n', strings.reserved_words[1] / 2);
    inserted.reserved_words[0] = (uintptr_t)bytes;
    deleted.count = 40;
    kr_status status = kr_index_lookup(index, &strings, &was, stream, err);
    if (status)
        return status;
    status = kr_index_update(index, &inserted, NULL, &deleted, stream, err);
    if (status) {
        CHECK(kr_index_lookup(index, &strings, &is, stream, NULL) == KR_OK);
        CHECK(memcmp(before, after, sizeof before) == 0);
    }
    return status;
}

static kr_status use_text_index(kr_device *device, const char *spec, kr_stream *stream, kr_error *err)
{
    const kr_column strings = fault_strings();
    kr_index *index = NULL;
    const int is_ordered = strcmp(spec, "hash") != 0;
    kr_status status = kr_index_create(device, spec, &strings, NULL, stream, &index, err);
    if (!status)
        status = ask_texts(index, is_ordered, stream, err);
    if (!status)
        status = update_texts(index, stream, err);
    if (!status)
        status = ask_texts(index, is_ordered, stream, err);
    kr_index_destroy(index);
    return status;
}

/* Patterns that are a range, and that read the dictionary. */
static kr_status scan_texts(kr_table *table, kr_error *err)
{
    static const char *const wheres[] = {"c0 like 'https://shop1%' or c1 > 'n'",
                                         "c1 like '%7_' and c0 >= 'h'"};
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < 2 && !status; ++i) {
        kr_condition *condition = NULL;
        uint64_t n = 0;
        const kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_COUNT, .out = &n};
        const kr_scan_sink *sinks[] = {&sink};
        status = kr_condition_parse(wheres[i], &condition, err);
        const kr_condition *asked[] = {condition};
        if (!status)
            status = kr_scan(table, asked, sinks, 1, NULL, NULL, err);
        kr_condition_destroy(condition);
        add_to_checksum(&n, sizeof n);
    }
    return status;
}

/* Half of the texts of one column are new. After an error the table is as it was. */
static kr_status append_texts(kr_table *table, kr_error *err)
{
    static char bytes[300 * 40];
    const kr_column strings = fault_strings();
    kr_column more[] = {strings, strings};
    kr_table_info before = {.struct_size = sizeof before}, after = before;
    memcpy(bytes, (const void *)(uintptr_t)strings.reserved_words[0], strings.reserved_words[1]);
    memset(bytes, 'n', strings.reserved_words[1] / 2);
    more[1].reserved_words[0] = (uintptr_t)bytes;
    CHECK(kr_table_query(table, &before, NULL) == KR_OK);
    const kr_status status = kr_table_append(table, more, 2, NULL, err);
    CHECK(kr_table_query(table, &after, NULL) == KR_OK);
    CHECK(status ? after.rows == before.rows && after.footprint_nbytes == before.footprint_nbytes
                 : after.rows == 2 * before.rows);
    return status;
}

static kr_status use_text_table(kr_device *device, const char *spec, kr_stream *stream, kr_error *err)
{
    const kr_column columns[] = {fault_strings(), fault_strings()};
    kr_table *table = NULL;
    kr_status status = kr_table_create(device, spec, columns, NULL, 2, NULL, stream, &table, err);
    if (!status)
        status = scan_texts(table, err);
    if (!status)
        status = append_texts(table, err);
    if (!status)
        status = scan_texts(table, err);
    kr_table_destroy(table);
    return status;
}

#endif
