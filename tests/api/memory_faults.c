/* Fails the n-th allocation, for n = 1, 2, ... until all succeed: host memory through the C library's
 * functions where keyray calls them, device memory through the caller's allocator. Each time there is a
 * status, nothing leaks, and the library works afterwards. One thread only, so that every run
 * allocates in the same order. Allocations of other libraries (Embree, TBB) do not fail here, since their
 * behaviour is not ours to test: their device memory fails in the conformance suite, under caps. */
#include "check.h"
#include "fault_joins.h"
#include "fault_saved.h"
#include "fault_scans.h"
#include "fault_texts.h"
#include "inside.h"

#include <unistd.h>

#include "fault_allocator.h"

#ifdef NO_FAULTS

int main(void)
{
    return skip_faults();
}

#else

/* ---- What is done under faults -------------------------------------------------------------- */

enum { KEYS = 300, PROBES = 40 };

/* Floats, or, for a kind that holds none, integers. */
static uint32_t keys[KEYS];
static uint32_t probes[PROBES], uppers[PROBES];
static int16_t values[KEYS];
static uint32_t row_ids[KEYS];
static uint8_t validity[KEYS / 8 + 1];
static kr_column key_column = {.type = KR_F32, .count = KEYS, .data = keys, .validity = validity};
static kr_column probe_column = {.type = KR_F32, .count = PROBES, .data = probes};
static kr_column upper_column = {.type = KR_F32, .count = PROBES, .data = uppers};
static const kr_column value_column = {.type = KR_I16, .count = KEYS, .data = values};

/* The bits of a key. */
static uint32_t key_of(uint32_t number)
{
    const float as_float = (float)number;
    uint32_t bits = number;
    if (key_column.type == KR_F32)
        memcpy(&bits, &as_float, sizeof bits);
    return bits;
}

static void fill(kr_type type)
{
    key_column.type = probe_column.type = upper_column.type = type;
    for (uint32_t i = 0; i < KEYS; ++i) {
        keys[i] = key_of(i * 7 % 100);
        values[i] = (int16_t)i;
        row_ids[i] = KEYS - 1 - i;
    }
    memset(validity, 0xEE, sizeof validity);
    for (uint32_t i = 0; i < PROBES; ++i) {
        probes[i] = key_of(i * 3);
        uppers[i] = key_of(i * 3 + 5);
    }
}

static int take_chunk(void *ctx, uint64_t first_probe, uint64_t n_probes, const uint64_t *offsets,
                      const uint32_t *rows)
{
    (void)first_probe;
    add_to_checksum(rows, offsets[n_probes] * sizeof *rows);
    *(uint64_t *)ctx += offsets[n_probes];
    return 0;
}

enum { ASK_POINTS, ASK_RANGES, ASK_NEAREST, ASK_FIRST_OF_RANGES };

static kr_status ask(kr_index *index, kr_result result, int what, kr_error *err)
{
    static uint64_t out[2 * PROBES];
    static uint8_t valid[PROBES];
    static uint32_t rows[PROBES * KEYS];
    kr_sink sink = {.struct_size = sizeof sink,
                    .result = result,
                    .values = &value_column,
                    .out = out,
                    .valid = valid,
                    .rows = rows,
                    .rows_capacity = sizeof rows / sizeof rows[0]};
    memset(out, 0, sizeof out);
    memset(valid, 0, sizeof valid);
    const kr_nearest_options nearest = {.struct_size = sizeof nearest, .side = KR_NEAREST_EITHER};
    sink.limit = what == ASK_FIRST_OF_RANGES ? 2 : 0;
    const kr_status status = what == ASK_POINTS ? kr_index_lookup(index, &probe_column, &sink, NULL, err)
                             : what == ASK_NEAREST
                                 ? kr_index_nearest(index, &probe_column, &nearest, &sink, NULL, err)
                                 : kr_index_range(index, &probe_column, &upper_column, &sink, NULL, err);
    /* The value of an invalid MIN or MAX is undefined. */
    if (result == KR_RESULT_MIN || result == KR_RESULT_MAX)
        for (uint32_t i = 0; i < PROBES; ++i)
            if (!(valid[i / 8] >> i % 8 & 1))
                ((int16_t *)out)[i] = 0;
    add_to_checksum(out, sizeof out);
    add_to_checksum(valid, sizeof valid);
    if (status == KR_OK && result == KR_RESULT_ROWS) /* room that is not needed may be overwritten */
        add_to_checksum(rows, out[PROBES] * sizeof *rows);
    return status;
}

/* COUNT, EXISTS, SUM, MAX and SUM_WIDE of one search. */
static kr_status ask_many(kr_index *index, int ranges, kr_error *err)
{
    static uint64_t counts[PROBES], sums[PROBES], wide[2 * PROBES];
    static int16_t most[PROBES];
    static uint8_t exists[PROBES / 8 + 1], valid[PROBES / 8 + 1];
    const kr_sink sinks[5] = {
        {.struct_size = sizeof(kr_sink), .result = KR_RESULT_COUNT, .out = counts},
        {.struct_size = sizeof(kr_sink), .result = KR_RESULT_EXISTS, .out = exists},
        {.struct_size = sizeof(kr_sink), .result = KR_RESULT_SUM, .values = &value_column, .out = sums},
        {.struct_size = sizeof(kr_sink),
         .result = KR_RESULT_MAX,
         .values = &value_column,
         .out = most,
         .valid = valid},
        {.struct_size = sizeof(kr_sink), .result = KR_RESULT_SUM_WIDE, .values = &value_column, .out = wide}};
    const kr_sink *const all[5] = {&sinks[0], &sinks[1], &sinks[2], &sinks[3], &sinks[4]};
    const kr_status status =
        kr_index_lookup_many(index, &probe_column, ranges ? &upper_column : NULL, NULL, all, 5, NULL, err);
    if (status == KR_OK) {
        add_to_checksum(counts, sizeof counts);
        add_to_checksum(exists, sizeof exists);
        add_to_checksum(sums, sizeof sums);
        add_to_checksum(valid, sizeof valid);
        add_to_checksum(wide, sizeof wide);
    }
    return status;
}

/* Of a spec's kind: KR_CAN_*. */
static uint32_t capabilities_of(const char *spec)
{
    kr_kind_info kind = {.struct_size = sizeof kind};
    const size_t length = strcspn(spec, ":");
    for (uint32_t i = 0; kr_kind_query(i, &kind, NULL) == KR_OK; ++i)
        if (strlen(kind.name) == length && memcmp(kind.name, spec, length) == 0)
            return kind.capabilities;
    return 0;
}

/* Indexes that are divided here: with this layout the CPU answers all probes, with the other one all parts
 * travel. */
static int is_divided(const char *spec)
{
    return strstr(spec, "keep=host") != NULL;
}

static void divide(kr_device *device, const char *spec)
{
    if (is_divided(spec))
        kr_divide_indexes(device, KEYS / 5, strstr(spec, "layout=aos") ? 1 : UINT64_MAX);
}

/* Not of the library: lookups can be prepared, which divided indexes refuse. */
enum { CAN_PREPARE = 1 << 16 };

/* What a test may do with an index of this spec. */
static uint32_t abilities_of(const char *spec)
{
    const uint32_t can = capabilities_of(spec);
    return is_divided(spec) ? can & ~(uint32_t)KR_CAN_UPDATE : can | CAN_PREPARE;
}

/* A run after the first takes no memory, so only the first can fail. */
static kr_status ask_prepared(kr_index *index, int ranges, kr_error *err)
{
    uint64_t sums[2 * PROBES] = {0}; /* wide: every kind needs matches for them */
    const kr_sink sink = {
        .struct_size = sizeof sink, .result = KR_RESULT_SUM_WIDE, .values = &value_column, .out = sums};
    kr_prepared *prepared = NULL;
    kr_status status = ranges ? kr_prepare_range(index, &probe_column, &upper_column, &sink, &prepared, err)
                              : kr_prepare_lookup(index, &probe_column, &sink, &prepared, err);
    CHECK(status || kr_prepared_scratch_nbytes(prepared) > 0 || !ranges);
    if (!status)
        status = kr_prepared_rebind(prepared, index, err);
    if (prepared) /* bound as it was, if that failed */
        CHECK(kr_prepared_run(prepared, NULL, NULL) == KR_OK || status);
    add_to_checksum(sums, sizeof sums);
    kr_prepared_destroy(prepared);
    return status;
}

/* Every result, of points and, if the kind can, of ranges. */
static kr_status ask_all(kr_index *index, uint32_t can, kr_error *err)
{
    const int ranges = (can & KR_CAN_RANGE) != 0;
    uint64_t found = 0;
    kr_status status = kr_index_validate(index, err);
    for (int range = 0; range <= ranges; ++range)
        for (int result = KR_RESULT_ROW; result <= KR_RESULT_SUM_WIDE && !status; ++result)
            status = ask(index, (kr_result)result, range ? ASK_RANGES : ASK_POINTS, err);
    if (!status)
        status = ask_many(index, ranges, err);
    if (!status && can & CAN_PREPARE)
        status = ask_prepared(index, ranges, err);
    if (!status && ranges)
        status = ask(index, KR_RESULT_ROWS, ASK_FIRST_OF_RANGES, err);
    if (!status && can & KR_CAN_NEAREST)
        status = ask(index, KR_RESULT_ROW, ASK_NEAREST, err);
    if (!status && can & KR_CAN_NEAREST)
        status = ask(index, KR_RESULT_SUM, ASK_NEAREST, err);
    if (!status)
        status = kr_index_lookup_chunks(index, &probe_column, ranges ? &upper_column : NULL, KR_ORDER_ROW,
                                        1 << 16, take_chunk, &found, err);
    if (!status && found == 0)
        printf("FAILED: the chunks hold nothing\n"), ++failures;
    return status;
}

static kr_status join(kr_device *device, const char *spec, int which, kr_error *err)
{
    const fault_sides sides = {&key_column, &probe_column, &upper_column};
    kr_join *joined = NULL;
    kr_join_info info = {.struct_size = sizeof info};
    uint32_t left = 0, right = 0;
    kr_status status = fault_join(device, spec, which, &sides, &joined, err);
    if (!status)
        status = kr_join_query(joined, &info, err);
    if (!status)
        status = kr_join_read(joined, info.pairs - 1, 1, &left, &right, err);
    if (!status) {
        add_to_checksum(&left, sizeof left);
        add_to_checksum(&right, sizeof right);
    }
    kr_join_destroy(joined);
    return status;
}

/* The checksum of all answers while no allocation fails. */
static uint64_t all_answers(kr_index *index, uint32_t can)
{
    const uint64_t host_countdown = host.countdown, device_countdown = device_side.countdown;
    kr_error err = {0};
    host.countdown = device_side.countdown = checksum = 0;
    CHECK(ask_all(index, can, &err) == KR_OK);
    host.countdown = host_countdown;
    device_side.countdown = device_countdown;
    return checksum;
}

/* Gives rows 1, 2 and 3 other keys. If that fails, the index answers as before. */
static kr_status change_keys(kr_index *index, uint32_t can, kr_error *err)
{
    const uint32_t changed[] = {key_of(1000), key_of(0), key_of(14)};
    const uint32_t rows[] = {KEYS - 2, KEYS - 3, KEYS - 4};
    const kr_column column = {.type = key_column.type, .count = 3, .data = changed};
    const uint64_t before = all_answers(index, can);
    const kr_status status = kr_index_set_keys(index, rows, &column, NULL, err);
    if (status)
        CHECK(all_answers(index, can) == before);
    return status ? status : ask_all(index, can, err);
}

/* Deletes the rows with keys 0, 7 and 14, and inserts as many rows with one key as there were NULLs, so that
 * a list needs more nodes than are spare: first in a version, then in the index. If one of them fails, the
 * index answers as before. */
static kr_status change_rows(kr_index *index, uint32_t can, kr_error *err)
{
    kr_index *next = NULL;
    const uint32_t gone[] = {key_of(0), key_of(7), key_of(14)};
    uint32_t inserted[KEYS / 4], rows[KEYS / 4];
    const kr_column deletes = {.type = key_column.type, .count = 3, .data = gone};
    const kr_column inserts = {.type = key_column.type, .count = KEYS / 4, .data = inserted};
    const uint64_t before = all_answers(index, can);
    for (uint32_t i = 0; i < KEYS / 4; ++i) {
        inserted[i] = key_of(42);
        rows[i] = row_ids[4 * i];
    }
    kr_status status = kr_index_next_version(index, &inserts, rows, &deletes, NULL, &next, err);
    CHECK(all_answers(index, can) == before && !next == (status != KR_OK));
    if (!status)
        status = ask_all(next, can, err);
    kr_index_destroy(next);
    if (!status)
        status = kr_index_update(index, &inserts, rows, &deletes, NULL, err);
    if (status)
        CHECK(all_answers(index, can) == before);
    return status ? status : ask_all(index, can, err);
}

/* Without rows, the kind only says whether this index takes updates. */
static kr_status try_rows(kr_index *index, uint32_t can, kr_error *err)
{
    const kr_status status = kr_index_update(index, NULL, NULL, NULL, NULL, err);
    return status == KR_ERR_UNSUPPORTED ? KR_OK : status ? status : change_rows(index, can, err);
}

/* Saved and loaded, from memory and from a file that is mapped; the mapped one is changed if the kind can. */
static kr_status save_and_load(kr_device *device, kr_index *index, uint32_t can, kr_stream *stream,
                               kr_error *err)
{
    char path[64];
    uint64_t nbytes = 0;
    kr_index *loaded = NULL;
    snprintf(path, sizeof path, "memory-faults-%ld.krx", (long)getpid());
    kr_status status = save_to_memory(index, NULL, &nbytes, err);
    if (!status)
        status = load_saved(device, NULL, nbytes, stream, &loaded, NULL, err);
    if (!status)
        status = ask(loaded, KR_RESULT_ROWS, ASK_POINTS, err);
    kr_index_destroy(loaded);
    loaded = NULL;
    if (!status)
        status = kr_index_save(index, path, NULL, NULL, err);
    if (!status)
        status = load_saved(device, path, 0, stream, &loaded, NULL, err);
    if (!status)
        status = ask(loaded, KR_RESULT_ROWS, ASK_POINTS, err);
    if (!status && can & KR_CAN_UPDATE)
        status = try_rows(loaded, can, err);
    kr_index_destroy(loaded);
    remove(path);
    return status;
}

/* ---- All ------------------------------------------------------------------------------------- */

/* What is done with one spec, each on a device of its own, so that a run with a failing allocation repeats
 * only what comes before it in the same part. */
enum {
    PART_ASK,
    PART_SET_KEYS,
    PART_UPDATE,
    PART_SAVE,
    PART_JOIN,
    PARTS = PART_JOIN + JOINS,
    PART_TABLE = PART_ASK
};

static int has_part(uint32_t can, int part)
{
    const int which = part - PART_JOIN;
    const uint32_t needs = part == PART_SET_KEYS                                ? KR_CAN_SET_KEYS
                           : part == PART_UPDATE                                ? KR_CAN_UPDATE
                           : part < PART_JOIN                                   ? 0
                           : which == JOIN_OVERLAP || which == JOIN_SEMI_RANGES ? KR_CAN_RANGE
                           : which == JOIN_ASOF || which == JOIN_RANKED || which == JOIN_RANGES
                               ? KR_CAN_NEAREST
                               : 0;
    if (can & KR_CAN_SCAN)
        return part == PART_TABLE || part == PART_SAVE;
    return (can & needs) == needs;
}

static kr_status use_index(kr_device *device, const char *spec, int part, kr_stream *stream, kr_error *err)
{
    const uint32_t can = abilities_of(spec);
    kr_index *index = NULL;
    kr_status status = kr_index_create(device, spec, &key_column, row_ids, stream, &index, err);
    if (!status)
        status = part == PART_ASK        ? ask_all(index, can, err)
                 : part == PART_SET_KEYS ? change_keys(index, can, err)
                 : part == PART_UPDATE   ? try_rows(index, can, err)
                                         : save_and_load(device, index, can, stream, err);
    kr_index_destroy(index);
    return status;
}

/* One part of what is done with a spec, from opening the device to closing it. */
static kr_status scenario(const char *spec, int part, int own_allocator, kr_error *err)
{
    const kr_device_options options = {.struct_size = sizeof options,
                                       .threads = 1,
                                       .allocate = own_allocator ? allocate : NULL,
                                       .release = own_allocator ? release : NULL};
    kr_device *device = NULL;
    kr_stream *stream = NULL;
    kr_device_info info = {.struct_size = sizeof info};
    checksum = 0;
    kr_status status = kr_device_open("cpu", &options, &device, err);
    if (status)
        return status;
    if (spec != fault_texts)
        divide(device, spec);
    status = kr_stream_create(device, &stream, err);
    if (!status)
        status = spec == fault_texts && part > 3
                     ? use_text_table(device, part == 4 ? "full" : "bindex", stream, err)
                 : spec == fault_texts && part > 1
                     ? use_text_index(device, part == 2 ? "btree" : "hash", stream, err)
                 : spec == fault_texts ? use_texts(device, part, stream, err)
                 : capabilities_of(spec) & KR_CAN_SCAN
                     ? use_table(device, spec, &key_column, part == PART_SAVE, stream, err)
                 : part >= PART_JOIN ? join(device, spec, part - PART_JOIN, err)
                                     : use_index(device, spec, part, stream, err);
    kr_stream_destroy(stream);
    if (kr_device_query(device, &info, NULL) == KR_OK)
        CHECK(info.in_use_nbytes == 0);
    kr_device_close(device);
    return status;
}

/* A run with a failing allocation: it is reported, or the answers are those of `right` all the same. */
static void check_run(const char *spec, int part, const fault *f, int own_allocator, kr_status other,
                      uint64_t right)
{
    kr_error err = {0};
    const kr_status status = scenario(spec, part, own_allocator, &err);
    if (status == KR_OK)
        CHECK(checksum == right);
    else
        CHECK(f->struck && err.status == status && err.text[0] && !strchr(err.text, '\n'));
    CHECK(status == KR_OK || status == KR_ERR_DEVICE_MEMORY || status == other);
    if (failures)
        printf("%s '%s'\n", kr_status_name(status), err.text);
}

/* Runs the part with the n-th allocation failing until none fails any more; how many did. */
static uint64_t fail_each(const char *spec, int part, fault *f, int own_allocator, kr_status other,
                          uint64_t right)
{
    const int64_t held = host.held, held_on_device = device_side.held;
    uint64_t n = 0;
    do {
        f->struck = 0;
        f->countdown = ++n;
        check_run(spec, part, f, own_allocator, other, right);
        f->countdown = 0;
        CHECK(host.held == held && device_side.held == held_on_device);
        if (failures)
            printf(
                "FAILED %s, part %d: allocation %llu; %lld blocks of the host and %lld of the device leak\n",
                spec, part, (unsigned long long)n, (long long)(host.held - held),
                (long long)(device_side.held - held_on_device));
    } while (f->struck && failures == 0);
    return n - 1;
}

/* Kinds that are not listed come with their defaults. The scans of rtc1 and rtc3 take as long as they have
 * rays, of which 300 rows need few. */
static const char *const specs[] = {"array:probes=sorted",
                                    "array:layout=aos,probes=as-is",
                                    "array:probes=partitioned",
                                    "array:keep=host",
                                    "array:keep=host,layout=aos",
                                    "eytzinger",
                                    "pivot",
                                    "rx",
                                    "rx:update=refit,parts=3",
                                    "rx:order=row,prim=aabb,range=anyhit,parts=3",
                                    "rx:prim=sphere,dedupe=off",
                                    "rx:preset=paper",
                                    "rx:preset=paper,update=refit",
                                    "rx:preset=thesis",
                                    "cgrx:scene=naive,rays=paper,filter=4",
                                    "cgrx:updates=on,node=4",
                                    "cgrx:preset=paper",
                                    "cgrx:preset=paper,updates=on,node=4",
                                    "cgrx:updates=on,node=16,rebuild=1.1,layout=aos",
                                    "rtscan",
                                    "rtscan:vectors=5,groups=a,scenes=lazy,parts=2",
                                    "rtc1:rays=20",
                                    "rtc3:rays=20",
                                    "bindex:refine=scatter,vectors=9",
                                    "bindex"};
enum { SPECS = sizeof specs / sizeof specs[0] };

static int is_listed(const char *kind)
{
    for (size_t i = 0; i < SPECS; ++i)
        if (strcspn(specs[i], ":") == strlen(kind) && strncmp(specs[i], kind, strlen(kind)) == 0)
            return 1;
    return 0;
}

static void check_part(const char *spec, int part, int without_allocator)
{
    kr_error err = {0};
    /* A first run, for what the C library keeps. */
    const kr_status first = scenario(spec, part, 1, &err);
    if (first == KR_ERR_UNSUPPORTED) {
        printf("skipped %s: %s\n", spec, err.text);
        return;
    }
    if (first) {
        printf("FAILED %s, part %d: %s\n", spec, part, err.text), ++failures;
        return;
    }
    const uint64_t right = checksum;
    const uint64_t of_host = fail_each(spec, part, &host, 1, KR_ERR_HOST_MEMORY, right);
    const uint64_t of_device = fail_each(spec, part, &device_side, 1, KR_ERR_DEVICE_MEMORY, right);
    /* Without a caller's allocator, device memory is host memory. */
    const uint64_t of_any =
        without_allocator ? fail_each(spec, part, &host, 0, KR_ERR_HOST_MEMORY, right) : 0;
    printf(
        "%s, part %d: %llu allocations of host memory, %llu of device memory, %llu of both failed in turn\n",
        spec, part, (unsigned long long)of_host, (unsigned long long)of_device, (unsigned long long)of_any);
    /* A part that allocates nothing would test nothing. */
    CHECK(of_host + of_device > 10);
}

static void check_spec(const char *spec)
{
    /* The device's own allocator fails in one place, whatever asks it: one index and one table show it. */
    const int without_allocator = strcmp(spec, specs[0]) == 0 || strcmp(spec, "full") == 0;
    const int is_dense = strncmp(spec, "dense", 5) == 0;
    fill(is_dense ? KR_I32 : KR_F32);
    for (int part = 0; part < PARTS; ++part)
        if (has_part(abilities_of(spec), part) &&
            !(is_dense && part == PART_JOIN + JOIN_WIDE_COLUMNS)) /* as one key they lie far apart */
            check_part(spec, part, without_allocator);
}

/* The list, then every kind that it lacks. */
int main(void)
{
    static char buffer[1 << 12];
    kr_kind_info kind = {.struct_size = sizeof kind};
    setvbuf(stdout, buffer, _IOLBF, sizeof buffer);
    library = code_of((uintptr_t)kr_version);
    test = code_of((uintptr_t)main);
    fill(KR_F32);
    for (int part = 0; part < 6; ++part)
        check_part(fault_texts, part, 1);
    for (size_t i = 0; i < SPECS; ++i)
        check_spec(specs[i]);
    for (uint32_t i = 0; kr_kind_query(i, &kind, NULL) == KR_OK; ++i)
        if (!is_listed(kind.name))
            check_spec(kind.name);
    return failures != 0;
}

#endif
