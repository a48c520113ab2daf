/* Conditions of any content, on tables with numbers and texts: two kinds of scans give the same rows, no row
 * is one of a condition and of its opposite, and a refusal has one line. */
#include "standalone.h"

#include <keyray/keyray.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 300, COLUMNS = 3, KINDS = 4, TEXT_MOST = 12 };

static const char *const kinds[KINDS] = {"full", "bindex", "full:zones=off", "full:narrow=on"};
static kr_table *tables[KINDS];
static uint64_t scanned;

static void require(int held, const char *what, const char *text)
{
    if (held)
        return;
    fprintf(stderr, "broken: %s: '%s'\n", what, text);
    abort();
}

/* Few letters, halves of a character, bytes 0 and 255. */
static uint32_t make_text(uint64_t *state, char *text)
{
    static const char letters[] = "aab%_'!\xC3\xA9\xC3\xFF";
    uint32_t n = 0;
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    for (uint64_t left = (*state >> 58) % TEXT_MOST; left; --left, ++n)
        text[n] = letters[(*state >> (4 * n)) % sizeof letters];
    return n;
}

static void make_tables(void)
{
    static const char *const names[COLUMNS] = {"a", "t", "u"};
    static int32_t numbers[ROWS], ends[2][ROWS + 1];
    static char bytes[2][ROWS * TEXT_MOST];
    static uint8_t validity[ROWS / 8 + 1];
    kr_column columns[COLUMNS] = {{.type = KR_I32, .count = ROWS, .data = numbers, .validity = validity}};
    kr_device *device = NULL;
    kr_error err = {0};
    uint64_t state = 5;
    for (uint32_t i = 0; i < ROWS; ++i) {
        for (uint32_t c = 0; c < 2; ++c)
            ends[c][i + 1] = ends[c][i] + (int32_t)make_text(&state, bytes[c] + ends[c][i]);
        numbers[i] = (int32_t)(state >> 40) % 50;
        validity[i / 8] |= (uint8_t)((state >> 50) % 5 ? 1 << i % 8 : 0);
    }
    for (uint32_t c = 0; c < 2; ++c)
        columns[1 + c] = (kr_column){.type = KR_STRING,
                                     .count = ROWS,
                                     .data = ends[c],
                                     .validity = c ? validity : NULL,
                                     .reserved_words = {(uintptr_t)bytes[c], (uint64_t)ends[c][ROWS]}};
    const kr_device_options options = {.struct_size = sizeof options, .threads = 1};
    require(kr_device_open("cpu", &options, &device, &err) == KR_OK, "the device opens", err.text);
    for (uint32_t k = 0; k < KINDS; ++k)
        require(kr_table_create(device, kinds[k], columns, names, COLUMNS, NULL, NULL, &tables[k], &err) ==
                    KR_OK,
                "a table is made", err.text);
}

/* Whole, and in one line. */
static void check_refusal(kr_status status, const kr_error *err, const char *text)
{
    require(status == KR_ERR_FORMAT || status == KR_ERR_ARGUMENT || status == KR_ERR_TYPE ||
                status == KR_ERR_LIMIT || status == KR_ERR_UNSUPPORTED,
            kr_status_name(status), text);
    require(err->status == status && err->text[0] && memchr(err->text, 0, sizeof err->text) &&
                !strchr(err->text, '\n'),
            "it is said why", text);
}

/* 0: it was refused. */
static int select_rows(kr_table *table, const kr_condition *condition, const char *text, uint8_t chosen[ROWS])
{
    uint32_t rows[ROWS];
    uint64_t n = 0;
    kr_error err = {0};
    const kr_scan_sink sink = {
        .struct_size = sizeof sink, .result = KR_SCAN_ROWS, .out = &n, .rows = rows, .rows_capacity = ROWS};
    const kr_scan_sink *sinks[] = {&sink};
    const kr_condition *conditions[] = {condition};
    const kr_status status = kr_scan(table, conditions, sinks, 1, NULL, NULL, &err);
    memset(chosen, 0, ROWS);
    if (status != KR_OK) {
        check_refusal(status, &err, text);
        return 0;
    }
    for (uint64_t i = 0; i < n; ++i) {
        require(rows[i] < ROWS && (!i || rows[i - 1] < rows[i]), "rows ascend", text);
        chosen[rows[i]] = 1;
    }
    return 1;
}

static void scan(const kr_condition *condition, const char *text)
{
    static uint8_t chosen[ROWS], others[ROWS], opposite[ROWS];
    char explained[256];
    kr_condition *not = NULL;
    kr_error err = {0};
    const int is_whole = select_rows(tables[0], condition, text, chosen);
    for (uint32_t k = 1; k < KINDS; ++k) {
        require(select_rows(tables[k], condition, text, others) == is_whole, "all kinds take it", text);
        require(!memcmp(chosen, others, ROWS), "all kinds find the same rows", text);
    }
    scanned += (uint64_t)is_whole;
    const kr_status status = kr_scan_explain(tables[1], condition, explained, sizeof explained, &err);
    require((status == KR_OK) == is_whole || status == KR_ERR_LIMIT, "what is scanned is explained", text);
    const kr_status turned = kr_condition_not(condition, &not, &err);
    require(turned == KR_OK || turned == KR_ERR_LIMIT, "its opposite is made", text);
    if (turned == KR_OK && select_rows(tables[0], not, text, opposite))
        for (uint32_t i = 0; i < ROWS; ++i)
            require(!(chosen[i] && opposite[i]), "no row is in both", text);
    kr_condition_destroy(not );
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    kr_condition *condition = NULL;
    kr_error err = {0};
    char *text = malloc(nbytes + 1);
    if (!text)
        abort();
    memcpy(text, data, nbytes);
    text[nbytes] = '\0';
    if (!tables[0])
        make_tables();
    const kr_status status = kr_condition_parse(text, &condition, &err);
    if (status == KR_OK)
        scan(condition, text);
    else
        check_refusal(status, &err, text);
    kr_condition_destroy(condition);
    free(text);
    return 0;
}

#ifndef KR_LIBFUZZER
int main(int argc, char **argv)
{
    static const struct kr_fuzz_seed seeds[] = {
        KR_SEED(""),
        KR_SEED("a < 5"),
        KR_SEED("a between 3 and 17 and t >= 'a'"),
        KR_SEED("not (a in (1, 2, 3) or t is null)"),
        KR_SEED("t = 'a' or u <> 'b' and a >= -5"),
        KR_SEED("t in ('a', 'ab', NULL, '') and u not in ('b')"),
        KR_SEED("t between 'a' and 'b' or u < 'a''b'"),
        KR_SEED("t like 'a%'"),
        KR_SEED("t like '%a%b_' and u not like '_%a'"),
        KR_SEED("u like '%aab%' or t like '_a_'"),
        KR_SEED("t like '%!%_!_' escape '!' or a is not null"),
        KR_SEED("t not like '%a_a%a%' and u like '%__%'"),
        KR_SEED("t like '%\xC3\xA9%' or u like 'a\xC3%\xA9_'"),
        KR_SEED("t like NULL or u like 'a' escape NULL"),
        KR_SEED("((a = 1 or a = 2) and not (t > 'b')) or true and false"),
    };
    const int failed = kr_fuzz_main(argc, argv, seeds, sizeof seeds / sizeof seeds[0], 60000);
    require(argc > 1 || scanned > 5000, "many conditions are whole", "");
    return failed;
}
#endif
