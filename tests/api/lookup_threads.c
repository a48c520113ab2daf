/* Many threads look up in one index at the same time, and ask for its statistics; each gets the answers that
 * one thread alone gets. ThreadSanitizer's build runs this one. */
#include <keyray/keyray.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 20000, PROBES = 3000, THREADS = 4, ROUNDS = 8 };

typedef struct member {
    kr_device *device;
    kr_index *index;
    uint32_t number;
    uint32_t wrong;
} member;

/* Key k stands at rows k and KEYS - 1 - k, for k below KEYS / 2: two rows a key. */
static uint32_t key_of_row(uint32_t row)
{
    return row < KEYS / 2 ? row : KEYS - 1 - row;
}

static uint32_t check_points(member *m, uint32_t round)
{
    uint32_t probes[PROBES], rows[PROBES], wrong = 0;
    uint64_t counts[PROBES];
    for (uint32_t i = 0; i < PROBES; i++)
        probes[i] = (i * 7919 + m->number * 104729 + round) % KEYS;
    const kr_column column = {.type = KR_U32, .count = PROBES, .data = probes};
    const kr_sink row_sink = {.struct_size = sizeof row_sink, .result = KR_RESULT_ROW, .out = rows};
    const kr_sink count_sink = {.struct_size = sizeof count_sink, .result = KR_RESULT_COUNT, .out = counts};
    wrong += kr_lookup(m->index, &column, &row_sink, NULL, NULL) != KR_OK;
    wrong += kr_lookup(m->index, &column, &count_sink, NULL, NULL) != KR_OK;
    for (uint32_t i = 0; i < PROBES && wrong == 0; i++) {
        const int found = probes[i] < KEYS / 2;
        wrong += rows[i] != (found ? probes[i] : KR_NO_ROW) || counts[i] != (found ? 2u : 0u);
    }
    return wrong;
}

/* The two rows of a key add up to KEYS - 1. */
static uint32_t check_ranges(member *m, uint32_t round)
{
    uint32_t lower[PROBES], upper[PROBES], wrong = 0;
    uint64_t sums[PROBES];
    for (uint32_t i = 0; i < PROBES; i++) {
        lower[i] = (i * 31 + round) % (KEYS / 2 - 100);
        upper[i] = lower[i] + i % 100;
    }
    const kr_column from = {.type = KR_U32, .count = PROBES, .data = lower};
    const kr_column to = {.type = KR_U32, .count = PROBES, .data = upper};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_SUM_ROWS, .out = sums};
    wrong += kr_range(m->index, &from, &to, &sink, NULL, NULL) != KR_OK;
    for (uint32_t i = 0; i < PROBES && wrong == 0; i++)
        wrong += sums[i] != (uint64_t)(i % 100 + 1) * (KEYS - 1);
    return wrong;
}

static void *look_up(void *argument)
{
    member *m = argument;
    kr_index_info stats;
    kr_device_info device;
    for (uint32_t round = 0; round < ROUNDS && m->wrong == 0; round++) {
        m->wrong += check_points(m, round) + check_ranges(m, round);
        m->wrong += kr_index_stats(m->index, &stats, NULL) != KR_OK || stats.rows != KEYS;
        m->wrong += kr_device_query(m->device, &device, NULL) != KR_OK;
    }
    return NULL;
}

static int run(kr_device *device, const char *spec)
{
    static uint32_t keys[KEYS];
    const kr_column column = {.type = KR_U32, .count = KEYS, .data = keys};
    kr_index *index = NULL;
    kr_error err = {0};
    member members[THREADS];
    pthread_t threads[THREADS];
    uint32_t wrong = 0;

    for (uint32_t row = 0; row < KEYS; row++)
        keys[row] = key_of_row(row);
    if (kr_index_create(device, spec, &column, NULL, NULL, &index, &err) != KR_OK) {
        printf("%s: %s\n", spec, err.text);
        return 1;
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        members[i] = (member){device, index, i, 0};
        if (pthread_create(&threads[i], NULL, look_up, &members[i]) != 0)
            abort();
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        wrong += members[i].wrong;
    }
    printf("%s: %d threads, %u wrong\n", spec, THREADS, wrong);
    kr_index_destroy(index);
    return wrong != 0;
}

int main(void)
{
    static const char *const devices[] = {"cpu", "cuda"};
    static const char *const specs[] = {"array", "array:layout=aos,k=5", "array:probes=sorted"};
    int failures = 0;
    for (uint32_t d = 0; d < 2; d++) {
        kr_device *device = NULL;
        kr_error err = {0};
        const kr_status status = kr_device_open(devices[d], NULL, &device, &err);
        printf("%s: %s\n", devices[d], status == KR_OK ? "open" : err.text);
        failures += status != KR_OK && status != KR_ERR_NO_DEVICE;
        for (uint32_t i = 0; i < 3 && status == KR_OK; i++)
            failures += run(device, specs[i]);
        kr_device_close(device);
    }
    return failures != 0;
}
