/* Updates of hash tables: right; inserts take at most 15% longer than a table anew of all rows before and
 * those inserted, batches with deletes a quarter (docs/performance-tables.md).
 *
 *     update_times [LOG2]     rows of the table [2^24] */
#include "../api/check.h"

#include <time.h>

enum { ROUNDS = 9, INSERTS_PERCENT = 115, DELETES_PERCENT = 125 };

static kr_device *device;

static uint32_t mix(uint64_t i)
{
    uint32_t x = (uint32_t)i;
    x = (x ^ x >> 16) * 0x7FEB352Du;
    x = (x ^ x >> 15) * 0x846CA68Bu;
    return x ^ x >> 16;
}

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Keys first .. first + n - 1 of a sequence of distinct ones, in device memory. */
static kr_column make_keys(uint64_t first, uint64_t n)
{
    uint32_t *values = malloc((n + 1) * sizeof *values);
    void *memory = NULL;
    for (uint64_t i = 0; i < n; ++i)
        values[i] = mix(first + i);
    WORKS(kr_memory_allocate(device, n * sizeof *values, NULL, &memory, &err));
    WORKS(kr_memory_copy(device, memory, values, n * sizeof *values, NULL, &err));
    free(values);
    return (kr_column){.type = KR_U32, .count = n, .data = memory};
}

static void release_keys(const kr_column *keys)
{
    kr_memory_release(device, (void *)(uintptr_t)keys->data, keys->count * sizeof(uint32_t), NULL);
}

/* Every row of the index by its key, from `first` on: the sequence begins with the index, and goes on with
 * what was inserted. */
static void check_rows(kr_index *index, uint64_t first, uint64_t n, uint64_t end)
{
    const kr_column all = make_keys(0, end);
    uint32_t *rows = malloc(end * sizeof *rows);
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    uint64_t wrong = 0;
    WORKS(kr_index_lookup(index, &all, &sink, NULL, &err));
    for (uint64_t i = 0; i < end; ++i)
        wrong += rows[i] != (i >= first && i < first + n ? (uint32_t)i : KR_NO_ROW);
    CHECK(wrong == 0);
    WORKS(kr_index_validate(index, &err));
    free(rows);
    release_keys(&all);
}

static double seconds_anew(const char *spec, const kr_column *keys)
{
    kr_index *index = NULL;
    const double begin = now();
    WORKS(kr_index_create(device, spec, keys, NULL, NULL, &index, &err));
    WORKS(kr_device_sync(device, NULL, &err));
    const double seconds = now() - begin;
    kr_index_destroy(index);
    return seconds;
}

/* One batch against a table of its own: what is to go, what is to come. */
typedef struct batch {
    kr_column old, gone, come;
} batch;

static double seconds_of_update(const char *spec, const batch *b, int is_first, int is_last)
{
    kr_index *index = NULL;
    WORKS(kr_index_create(device, spec, &b->old, NULL, NULL, &index, &err));
    WORKS(kr_device_sync(device, NULL, &err));
    const double begin = now();
    WORKS(kr_index_update(index, b->come.count ? &b->come : NULL, NULL, b->gone.count ? &b->gone : NULL, NULL,
                          &err));
    WORKS(kr_device_sync(device, NULL, &err));
    const double seconds = now() - begin;
    if (is_first)
        check_rows(index, b->gone.count, b->old.count - b->gone.count + b->come.count,
                   b->old.count + b->come.count);
    for (uint32_t i = 0; is_last && i < kr_index_phase_count(index); ++i)
        printf(" %s %.3f", kr_index_phase_name(index, i), 1e3 * kr_index_phase_seconds(index, i));
    kr_index_destroy(index);
    return seconds;
}

/* Deletes the first rows and inserts others behind the last. Both ways take turns, so that what else the
 * machine does slows both. */
static void time_update(const char *spec, uint64_t n, uint64_t deleted, uint64_t inserted)
{
    const batch b = {make_keys(0, n), make_keys(0, deleted), make_keys(n, inserted)};
    const kr_column result = make_keys(0, n + inserted);
    double best = 1e9, anew = 1e9;
    for (int round = 0; round <= ROUNDS; ++round) {
        const double again = seconds_anew(spec, &result);
        const double update = seconds_of_update(spec, &b, round == 0, round == ROUNDS);
        anew = round && again < anew ? again : anew;
        best = round && update < best ? update : best;
    }
    printf("\n%-6s %llu rows, %llu deleted, %llu inserted: update %.3f ms, anew %.3f ms: %.2f times\n", spec,
           (unsigned long long)n, (unsigned long long)deleted, (unsigned long long)inserted, 1e3 * best,
           1e3 * anew, best / anew);
    fflush(stdout);
    CHECK(100 * best <= (deleted ? DELETES_PERCENT : INSERTS_PERCENT) * anew);
    release_keys(&result);
    release_keys(&b.come);
    release_keys(&b.gone);
    release_keys(&b.old);
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {"hash", "chain"};
    const uint64_t n = UINT64_C(1) << (argc > 1 ? atoi(argv[1]) : 24);
    kr_error err = {0};
    if (kr_device_open("cuda", NULL, &device, &err) != KR_OK) {
        printf("skipped: %s\n", err.text);
        return SKIPPED;
    }
    for (int s = 0; s < 2; ++s)
        for (uint64_t part = 2; part <= 64; part *= 2) {
            time_update(specs[s], n, 0, n / part);
            time_update(specs[s], n, n / part, 0);
            time_update(specs[s], n, n / part, n / part);
        }
    kr_device_close(device);
    return failures != 0;
}
