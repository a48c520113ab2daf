/* Columns whose values ascend: kinds in key order keep no row ids of them, and answer as ever. Every answer
 * is compared with that of array:layout=aos, which always keeps them. */
#include "check.h"
#include "device_name.h"

#include <unistd.h>

static kr_device *device;

enum { ROWS = 20000, MORE = 4000, MOST = ROWS + 3 * MORE, PROBES = 3000, ROOM = 1 << 18 };

static uint32_t values[2 * MOST], lower[PROBES], upper[PROBES], listed[ROOM];

static uint64_t state = 7;
static uint32_t random_below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

/* ---- Answers ------------------------------------------------------------------------------------ */

static uint64_t mix_in(uint64_t sum, const void *data, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; ++i)
        sum = (sum ^ ((const uint8_t *)data)[i]) * UINT64_C(1099511628211);
    return sum;
}

static uint64_t ask(kr_index *index, kr_result result, const kr_column *from, const kr_column *to)
{
    static uint64_t out[2 * PROBES + 2];
    uint8_t valid[PROBES / 8 + 1] = {0};
    const kr_column added = {.type = KR_U32, .count = sizeof values / sizeof *values, .data = values};
    const kr_sink sink = {.struct_size = sizeof sink,
                          .result = result,
                          .out = out,
                          .valid = valid,
                          .values = &added,
                          .rows = listed,
                          .rows_capacity = ROOM,
                          .order = KR_ORDER_KEY};
    memset(out, 0, sizeof out);
    WORKS(to ? kr_index_range(index, from, to, &sink, NULL, &err)
             : kr_index_lookup(index, from, &sink, NULL, &err));
    const uint64_t n_listed = result == KR_RESULT_ROWS ? out[PROBES] : 0;
    CHECK(n_listed <= ROOM);
    return mix_in(mix_in(mix_in(1, out, sizeof out), valid, sizeof valid), listed, n_listed * sizeof *listed);
}

static uint64_t ask_nearest(kr_index *index, kr_nearest_side side, const kr_column *probes)
{
    uint32_t rows[PROBES] = {0};
    const kr_nearest_options options = {.struct_size = sizeof options, .side = side};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    WORKS(kr_index_nearest(index, probes, &options, &sink, NULL, &err));
    return mix_in(1, rows, sizeof rows);
}

static uint64_t ask_prepared(kr_index *index, const kr_column *from)
{
    uint32_t rows[PROBES] = {0};
    kr_prepared *prepared = NULL;
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    if (strcmp(device_name, "cpu") != 0) /* which takes arrays of its own memory alone */
        return 0;
    WORKS(kr_prepare_lookup(index, from, &sink, &prepared, &err));
    WORKS(kr_prepared_run(prepared, NULL, &err));
    kr_prepared_destroy(prepared);
    return mix_in(1, rows, sizeof rows);
}

enum { ANSWERS = 20 };

static void answer(kr_index *index, kr_type type, uint64_t answers[ANSWERS])
{
    static const kr_result results[] = {KR_RESULT_ROW, KR_RESULT_COUNT, KR_RESULT_SUM_ROWS, KR_RESULT_SUM,
                                        KR_RESULT_MIN, KR_RESULT_ROWS,  KR_RESULT_EXISTS};
    const kr_column from = {.type = type, .count = PROBES, .data = lower};
    const kr_column to = {.type = type, .count = PROBES, .data = upper};
    uint32_t n = 0;
    memset(answers, 0, ANSWERS * sizeof *answers);
    for (size_t i = 0; i < sizeof results / sizeof results[0]; ++i) {
        answers[n++] = ask(index, results[i], &from, NULL);
        answers[n++] = ask(index, results[i], &from, &to);
    }
    answers[n++] = ask_nearest(index, KR_NEAREST_BELOW, &from);
    answers[n++] = ask_nearest(index, KR_NEAREST_ABOVE, &from);
    answers[n++] = ask_prepared(index, &from);
}

static uint64_t row_ids_nbytes(const kr_index *index)
{
    uint64_t nbytes = 0;
    for (uint32_t i = 0; i < kr_index_component_count(index); ++i)
        if (strcmp(kr_index_component_name(index, i), "row ids") == 0)
            nbytes += kr_index_component_nbytes(index, i);
    return nbytes;
}

/* The same answers as the other index, and facts that agree with each other. */
static int compare(const char *what, kr_index *index, kr_index *control, kr_type type)
{
    uint64_t mine[ANSWERS], theirs[ANSWERS], sum = 0;
    kr_index_info info = {.struct_size = sizeof info};
    const int before = failures;
    WORKS(kr_index_query(index, &info, &err));
    for (uint32_t i = 0; i < kr_index_component_count(index); ++i)
        sum += kr_index_component_nbytes(index, i);
    CHECK(sum == info.footprint_nbytes);
    WORKS(kr_index_validate(index, &err));
    answer(index, type, mine);
    answer(control, type, theirs);
    for (int i = 0; i < ANSWERS; ++i)
        CHECK(mine[i] == theirs[i]);
    if (failures != before)
        printf("  %s, %s\n", info.spec, what);
    return failures == before;
}

/* ---- Columns ------------------------------------------------------------------------------------ */

typedef struct column {
    const char *name;
    int leaves_rows; /* 1: row ids are consecutive in the order of keys */
    uint32_t keys[ROWS], row_ids[ROWS];
    uint8_t validity[(ROWS + 7) / 8];
    int has_nulls, has_ids;
    kr_type type;
} column;

static column c;

static void begin(const char *name, int leaves_rows)
{
    memset(&c, 0, sizeof c);
    c.name = name;
    c.leaves_rows = leaves_rows;
    c.type = KR_U32;
    memset(c.validity, 0xFF, sizeof c.validity);
    for (uint32_t i = 0, key = 1000; i < ROWS; ++i) {
        key += random_below(4);
        c.keys[i] = key;
        c.row_ids[i] = i;
    }
}

static void set_null(uint32_t from, uint32_t end)
{
    c.has_nulls = 1;
    for (uint32_t i = from; i < end; ++i)
        c.validity[i / 8] &= (uint8_t) ~(1u << i % 8);
}

/* Hostile columns, the first of which have consecutive row ids. 0: there are no more. */
static int make_column(int number)
{
    switch (number) {
    case 0: begin("ascending, with repeats", 1); break;
    case 1:
        begin("all equal", 1);
        for (uint32_t i = 0; i < ROWS; ++i)
            c.keys[i] = 77;
        break;
    case 2: begin("NULLs in front", 1), set_null(0, 300); break;
    case 3: begin("NULLs at the end", 1), set_null(ROWS - 300, ROWS); break;
    case 4: begin("a bitmap without NULLs", 1), c.has_nulls = 1; break;
    case 5:
        begin("row ids that count from 5000", 1), c.has_ids = 1;
        for (uint32_t i = 0; i < ROWS; ++i)
            c.row_ids[i] += 5000;
        break;
    case 6:
        begin("i32, negative first", 1), c.type = KR_I32;
        for (uint32_t i = 0; i < ROWS; ++i)
            c.keys[i] -= 1000 + ROWS;
        break;
    case 7:
        begin("the largest codes", 1);
        for (uint32_t i = 0; i < ROWS; ++i)
            c.keys[i] = i < ROWS - 100 ? i : UINT32_MAX - (i < ROWS - 50);
        break;
    case 8: begin("a NULL in the middle", 0), set_null(ROWS / 2, ROWS / 2 + 1); break;
    case 9: begin("all but the last ascend", 0), c.keys[ROWS - 1] = 5; break;
    case 10: begin("the first is too large", 0), c.keys[0] = UINT32_MAX; break;
    case 11: begin("one pair swapped at the end of a tile", 0), c.keys[16384] = c.keys[16383] - 1; break;
    case 12:
        begin("descending", 0);
        for (uint32_t i = 0; i < ROWS; ++i)
            c.keys[i] = 9 * (ROWS - i);
        break;
    case 13: begin("row ids with a gap", 0), c.has_ids = 1, c.row_ids[ROWS - 1] += 1; break;
    case 14:
        begin("row ids in turn", 0), c.has_ids = 1;
        c.row_ids[8] = 9, c.row_ids[9] = 8;
        c.keys[8] = c.keys[9] - 1;
        break;
    case 15: begin("NULLs alone", 1), set_null(0, ROWS); break;
    default: return 0;
    }
    return 1;
}

/* Points that are there, that are not, and beyond both ends; ranges narrow and wide. */
static void make_probes(void)
{
    for (uint32_t i = 0; i < PROBES; ++i) {
        const uint32_t near = c.keys[random_below(ROWS)] + random_below(3) - 1;
        lower[i] = i == 0 ? 0 : i == 1 ? UINT32_MAX : i == 2 ? 0x7FFFFFFF : i == 3 ? 0x80000000 : near;
        upper[i] = lower[i] + (i % 7 == 6 ? UINT32_MAX / 2 : random_below(40));
        if (upper[i] < lower[i])
            upper[i] = UINT32_MAX;
    }
    upper[0] = 40;
    /* all rows, twice in a batch, would be more than are listed */
    for (uint32_t i = 4; i < PROBES; ++i)
        if (c.keys[0] == c.keys[ROWS - 2] && i % 300)
            lower[i] = c.keys[0] + 1, upper[i] = c.keys[0] + 2;
        else if (upper[i] - lower[i] > 40)
            upper[i] = lower[i] + 40;
}

static kr_column keys_of(const uint32_t *keys, uint64_t n)
{
    return (kr_column){.type = c.type, .count = n, .data = keys};
}

static kr_index *create(const char *spec)
{
    kr_index *index = NULL;
    kr_column keys = keys_of(c.keys, ROWS);
    kr_estimate estimate = {.struct_size = sizeof estimate};
    kr_index_info info = {.struct_size = sizeof info};
    keys.validity = c.has_nulls ? c.validity : NULL;
    WORKS(kr_index_create(device, spec, &keys, c.has_ids ? c.row_ids : NULL, NULL, &index, &err));
    WORKS(kr_index_estimate(device, spec, &keys, &estimate, &err));
    WORKS(kr_index_query(index, &info, &err));
    CHECK(info.footprint_nbytes <= estimate.footprint_nbytes);
    CHECK(c.has_ids || info.peak_nbytes <= estimate.peak_nbytes);
    CHECK(c.has_nulls || estimate.footprint_nbytes <= 4 * info.footprint_nbytes + 65536);
    return index;
}

/* ---- What is done with an index ----------------------------------------------------------------- */

/* What is in the file, which on a CPU stays mapped, in the place of the index. */
static kr_index *save_and_load(kr_index *index, kr_index *control)
{
    char path[] = "/tmp/keyray-clustered-XXXXXX";
    kr_saved *saved = NULL;
    kr_index *loaded = NULL;
    const int file = mkstemp(path);
    CHECK(file >= 0);
    close(file);
    WORKS(kr_index_save(index, path, NULL, NULL, &err));
    WORKS(kr_saved_open(path, NULL, &saved, &err));
    WORKS(kr_index_load(device, saved, NULL, &loaded, &err));
    compare("loaded", loaded, control, c.type);
    CHECK(row_ids_nbytes(loaded) == row_ids_nbytes(index));
    kr_saved_close(saved);
    kr_index_destroy(index);
    unlink(path);
    return loaded;
}

typedef struct change {
    const char *name;
    uint32_t n, first, step; /* inserted keys */
    uint32_t deletes, from;  /* deleted keys from, from + 1, ... */
    int stays;               /* 1: row ids are consecutive afterwards, too, and not kept; 2: perhaps */
} change;

static void apply(kr_index *index, const change *d)
{
    static uint32_t inserted[MORE], deleted[2 * MOST];
    for (uint32_t i = 0; i < d->n; ++i)
        inserted[i] = d->first + i * d->step;
    for (uint32_t i = 0; i < d->deletes; ++i)
        deleted[i] = d->from + i;
    const kr_column in = keys_of(inserted, d->n), out = keys_of(deleted, d->deletes);
    WORKS(kr_index_update(index, d->n ? &in : NULL, NULL, d->deletes ? &out : NULL, NULL, &err));
}

/* Each begins with an index as it was built. `in_place`: the kind changes leaves, and with any of them brings
 * row ids back. */
static void change_all(const char *spec, int in_place)
{
    const int before = failures, stays = in_place ? 2 : 1;
    const change changes[] = {
        {"appended", MORE, 70000, 2, 0, 0, strcmp(spec, "btree") == 0 ? 1 : stays},
        {"appended few", 5, 70000, 2, 0, 0, stays},
        {"appended equal to the last", 5, c.keys[ROWS - 1], 0, 0, 0, stays},
        {"the oldest deleted", 0, 0, 0, MORE, 0, stays},
        {"the newest deleted", 0, 0, 0, MORE, c.keys[ROWS - 1] - MORE + 1, stays},
        {"one in the middle deleted", 0, 0, 0, 1, c.keys[ROWS / 2], 0},
        {"one inserted in front", 1, 1, 1, 0, 0, 0},
        {"many inserted in the middle", MORE, 5000, 3, 0, 0, 0},
        {"moved on", 100, 70000, 1, MORE, 0, stays},
        {"nothing there deleted", 0, 0, 0, 5, 0, stays},
        {"all deleted", 0, 0, 0, 2 * MOST, 0, 1},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; ++i) {
        kr_index *index = create(spec), *control = create("array:layout=aos");
        apply(index, &changes[i]);
        apply(control, &changes[i]);
        compare(changes[i].name, index, control, c.type);
        const int expected = c.leaves_rows || changes[i].deletes == 2 * MOST ? changes[i].stays : 0;
        CHECK(expected == 2 || expected == (row_ids_nbytes(index) == 0));
        index = save_and_load(index, control);
        const change again = {"appended after that", 50, 90000, 5, 3, c.keys[ROWS / 3], 0};
        apply(index, &again);
        apply(control, &again);
        compare(again.name, index, control, c.type);
        if (failures != before)
            printf("  %s: %s\n", spec, changes[i].name);
        kr_index_destroy(index);
        kr_index_destroy(control);
    }
}

static void check_kind(const char *spec, int in_place)
{
    for (int i = 0; make_column(i); ++i) {
        make_probes();
        kr_index *index = create(spec), *control = create("array:layout=aos");
        compare(c.name, index, control, c.type);
        CHECK((row_ids_nbytes(index) == 0) == c.leaves_rows);
        index = save_and_load(index, control);
        kr_index_destroy(index);
        kr_index_destroy(control);
    }
    CHECK(make_column(0));
    make_probes();
    change_all(spec, in_place);
    CHECK(make_column(9));
    make_probes();
    change_all(spec, in_place);
}

int main(int argc, char **argv)
{
    const int skip = take_device_name(argc, argv);
    if (skip)
        return skip;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    for (uint32_t i = 0; i < sizeof values / sizeof *values; ++i)
        values[i] = i * 2654435761u;
    check_kind("array", 0);
    check_kind("array:k=5", 0);
    check_kind("array:ends=scan", 0);
    check_kind("pivot", 0);
    check_kind("pivot:k=9,ends=scan", 0);
    check_kind("btree", 1);
    check_kind("btree:node=16,fill=0.5,inner=half,group=16", 1);
    kr_device_close(device);
    printf(failures ? "%d checks failed\n" : "all checks passed\n", failures);
    return failures != 0;
}
