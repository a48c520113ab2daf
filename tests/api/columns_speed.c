/* An index over (symbol, time) beside one of the same keys folded by hand: the same answers, and the times of
 * both.
 *
 *     build/cpu/tests/api.columns_speed LOG2_ROWS THREADS [SPEC [DEVICE]]
 *
 * Lookups are prepared. The times of either include what makes keys of the columns. On a GPU, where columns,
 * keys and answers are in its memory, a copy within it stands for the caller's kernel that folds: it moves as
 * many bytes, 12 read and 8 written for each key. The time without it is printed, too, as if keys were there
 * already, which favours them. Of runs in turn the fastest of each counts. */
#include "../support/random.h"
#include "check.h"

#include <time.h>

enum { SYMBOLS = 5000, SYMBOL_SHIFT = 40, ROUNDS = 9 };

typedef enum way { POINTS, RANGES, NEAREST, NEAREST_WITHIN, WAYS } way;
static const char *const names[WAYS] = {"points", "ranges of a second", "last at or before",
                                        "the same within 1 ms"};

/* Times are in microseconds of one day. */
static const int64_t day_start = INT64_C(1700000000000000), day = INT64_C(86400000000);

typedef struct side {
    uint64_t n;
    uint32_t *symbols;
    int64_t *times, *ends;
    uint64_t *keys, *last_keys;
} side;

static kr_device *device;
static int is_host; /* 1: the device works in host memory */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static side make_side(uint64_t n)
{
    return (side){n, malloc(n * 4), malloc(n * 8), malloc(n * 8), malloc(n * 8), malloc(n * 8)};
}

static void free_side(side *s)
{
    free(s->last_keys);
    free(s->keys);
    free(s->ends);
    free(s->times);
    free(s->symbols);
}

/* As a program would that knows the range of its data. */
static void fold(const side *s, const int64_t *times, uint64_t *keys)
{
    for (uint64_t i = 0; i < s->n; ++i)
        keys[i] = (uint64_t)s->symbols[i] << SYMBOL_SHIFT | (uint64_t)(times[i] - day_start);
}

/* A copy where the device has its memory; on a CPU the array itself. */
static void *place(void *array, uint64_t nbytes)
{
    void *there = array;
    if (is_host)
        return array;
    WORKS(kr_memory_allocate(device, nbytes, NULL, &there, &err));
    WORKS(kr_memory_copy(device, there, array, nbytes, NULL, &err));
    return there;
}

static void displace(void *there, uint64_t nbytes)
{
    if (!is_host)
        kr_memory_release(device, there, nbytes, NULL);
}

static side place_side(const side *s)
{
    return (side){s->n,
                  place(s->symbols, s->n * 4),
                  place(s->times, s->n * 8),
                  place(s->ends, s->n * 8),
                  place(s->keys, s->n * 8),
                  place(s->last_keys, s->n * 8)};
}

static void displace_side(const side *s)
{
    displace(s->last_keys, s->n * 8);
    displace(s->keys, s->n * 8);
    displace(s->ends, s->n * 8);
    displace(s->times, s->n * 8);
    displace(s->symbols, s->n * 4);
}

/* A prepared lookup of either sort, which owns its memory, so that no run pays for fresh pages. */
static kr_prepared *prepare_columns(kr_index *index, way what, const side *s, const kr_sink *sink)
{
    const kr_column columns[2] = {{.type = KR_U32, .count = s->n, .data = s->symbols},
                                  {.type = KR_TIMESTAMP64, .count = s->n, .data = s->times}};
    const kr_column ends = {.type = KR_TIMESTAMP64, .count = s->n, .data = s->ends};
    const kr_nearest_options near = {.struct_size = sizeof near,
                                     .limited = what == NEAREST_WITHIN,
                                     .tolerance = what == NEAREST_WITHIN ? 1000 : 0};
    const kr_column_probes probes = {.struct_size = sizeof probes,
                                     .columns = columns,
                                     .n_columns = 2,
                                     .upper = what == RANGES ? &ends : NULL,
                                     .nearest = what >= NEAREST ? &near : NULL};
    kr_prepared *made = NULL;
    WORKS(kr_prepare_lookup_columns(index, &probes, sink, &made, &err));
    return made;
}

static kr_prepared *prepare_keys(kr_index *index, way what, const side *s, const kr_sink *sink)
{
    const kr_column keys = {.type = KR_U64, .count = s->n, .data = s->keys};
    const kr_column last = {.type = KR_U64, .count = s->n, .data = s->last_keys};
    const kr_nearest_options near = {.struct_size = sizeof near,
                                     .limited = what == NEAREST_WITHIN,
                                     .tolerance = what == NEAREST_WITHIN ? 1000 : 0};
    kr_prepared *made = NULL;
    if (what == POINTS)
        WORKS(kr_prepare_lookup(index, &keys, sink, &made, &err));
    else if (what == RANGES)
        WORKS(kr_prepare_range(index, &keys, &last, sink, &made, &err));
    else
        WORKS(kr_prepare_nearest(index, &keys, &near, sink, &made, &err));
    return made;
}

/* The nearest key may be one of another symbol. */
static void drop_others(const side *probes, const side *rows, uint32_t *found)
{
    for (uint64_t i = 0; i < probes->n; ++i)
        if (found[i] != KR_NO_ROW && rows->symbols[found[i]] != probes->symbols[i])
            found[i] = KR_NO_ROW;
}

static double run_columns(kr_prepared *prepared)
{
    const double start = seconds();
    WORKS(kr_prepared_run(prepared, NULL, &err));
    WORKS(kr_device_sync(device, NULL, &err));
    return seconds() - start;
}

/* Bytes of a copy that moves as many as the folding of `n` keys. */
static uint64_t folding_nbytes(uint64_t n)
{
    return n * 10;
}

/* `spare`: memory for two of the copies that stand for folding; NULL: the keys are there already. */
static double run_keys(kr_prepared *prepared, way what, const side *s, const side *rows, uint32_t *found,
                       uint8_t *spare)
{
    const double start = seconds();
    const uint64_t nbytes = folding_nbytes(s->n);
    for (int bound = 0; spare && bound <= (what == RANGES); ++bound)
        WORKS(kr_memory_copy(device, spare, spare + nbytes, nbytes, NULL, &err));
    if (is_host)
        fold(s, s->times, s->keys);
    if (is_host && what == RANGES)
        fold(s, s->ends, s->last_keys);
    WORKS(kr_prepared_run(prepared, NULL, &err));
    WORKS(kr_device_sync(device, NULL, &err));
    if (is_host && what >= NEAREST)
        drop_others(s, rows, found);
    return seconds() - start;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void compare(kr_index *columns, kr_index *keys, const side *rows, const side *probes, way what)
{
    const kr_result result = what == RANGES ? KR_RESULT_COUNT : KR_RESULT_ROW;
    const uint64_t nbytes = probes->n * (result == KR_RESULT_COUNT ? 8 : 4);
    void *left = calloc(1, nbytes), *right = calloc(1, nbytes);
    void *left_there = place(left, nbytes), *right_there = place(right, nbytes);
    const side there = place_side(probes);
    const kr_sink first = {.struct_size = sizeof first, .result = result, .out = left_there};
    const kr_sink second = {.struct_size = sizeof second, .result = result, .out = right_there};
    kr_prepared *by_columns = prepare_columns(columns, what, &there, &first);
    kr_prepared *by_keys = prepare_keys(keys, what, &there, &second);
    void *spare = NULL;
    if (!is_host)
        WORKS(kr_memory_allocate(device, 2 * folding_nbytes(probes->n), NULL, &spare, &err));
    double one = 1e9, other = 1e9, ready = 1e9;
    for (int round = 0; round < ROUNDS; ++round) {
        one = least(one, run_columns(by_columns));
        other = least(other, run_keys(by_keys, what, probes, rows, right, spare));
        if (spare)
            ready = least(ready, run_keys(by_keys, what, probes, rows, right, NULL));
    }
    WORKS(kr_memory_copy(device, left, left_there, is_host ? 0 : nbytes, NULL, &err));
    WORKS(kr_memory_copy(device, right, right_there, is_host ? 0 : nbytes, NULL, &err));
    if (what >= NEAREST)
        drop_others(probes, rows, right);
    CHECK(memcmp(left, right, nbytes) == 0);
    printf("%-20s columns %.3f ns, keys folded by hand %.3f ns: %.3f times as long\n", names[what],
           1e9 * one / (double)probes->n, 1e9 * other / (double)probes->n, one / other);
    if (spare) {
        printf("%-20s with keys that are there already %.3f ns: %.3f times as long\n", "",
               1e9 * ready / (double)probes->n, one / ready);
        kr_memory_release(device, spare, 2 * folding_nbytes(probes->n), NULL);
    }
    kr_prepared_destroy(by_keys);
    kr_prepared_destroy(by_columns);
    displace_side(&there);
    displace(right_there, nbytes);
    displace(left_there, nbytes);
    free(right);
    free(left);
}

static void draw(kr_rng *rng, side *rows, side *probes)
{
    for (uint64_t i = 0; i < rows->n; ++i) {
        rows->symbols[i] = (uint32_t)kr_rng_below(rng, SYMBOLS);
        rows->times[i] = day_start + 1000 + (int64_t)kr_rng_below(rng, (uint64_t)day);
    }
    for (uint64_t i = 0; i < probes->n; ++i) {
        const uint64_t row = kr_rng_below(rng, rows->n);
        probes->symbols[i] = rows->symbols[row];
        probes->times[i] = rows->times[row] + (int64_t)kr_rng_below(rng, 2) - (int64_t)kr_rng_below(rng, 2);
        probes->ends[i] = probes->times[i] + 1000000;
    }
    fold(rows, rows->times, rows->keys);
    fold(probes, probes->times, probes->keys);
    fold(probes, probes->ends, probes->last_keys);
}

int main(int argc, char **argv)
{
    const uint64_t n = (uint64_t)1 << (argc > 1 ? atoi(argv[1]) : 14), most = (uint64_t)1 << 26;
    const kr_device_options options = {.struct_size = sizeof options,
                                       .threads = argc > 2 ? (uint32_t)atoi(argv[2]) : 1};
    const char *spec = argc > 3 ? argv[3] : "best", *name = argc > 4 ? argv[4] : "cpu";
    kr_index *columns = NULL, *keys = NULL;
    kr_rng rng = {7};
    is_host = strcmp(name, "cpu") == 0;
    const uint64_t limit = is_host ? most >> 4 : most;
    side rows = make_side(n), probes = make_side(n < limit ? n : limit);
    draw(&rng, &rows, &probes);
    const kr_column of[2] = {{.type = KR_U32, .count = n, .data = rows.symbols},
                             {.type = KR_TIMESTAMP64, .count = n, .data = rows.times}};
    const kr_column folded = {.type = KR_U64, .count = n, .data = rows.keys};
    WORKS(kr_device_open(name, &options, &device, &err));
    WORKS(kr_index_create_columns(device, spec, of, 2, NULL, NULL, &columns, &err));
    WORKS(kr_index_create(device, spec, &folded, NULL, NULL, &keys, &err));
    for (way what = POINTS; what < WAYS && !failures; ++what)
        compare(columns, keys, &rows, &probes, what);
    kr_index_destroy(keys);
    kr_index_destroy(columns);
    kr_device_close(device);
    free_side(&probes);
    free_side(&rows);
    return failures != 0;
}
