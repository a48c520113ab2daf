/* A key with more than a million rows beside keys with one each: slices, groups of threads and chunks open
 * its match anywhere. */
#include "fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 3 << 19, PROBES = 4, HEAVY = 7 };

/* Three of four keys are HEAVY; the others ascend from 0, and one of them equals it, too. */
static kr_test_column heavy_keys(kr_type type)
{
    kr_test_column keys = kr_test_column_make(type, KEYS, KR_PATTERN_DENSE, KR_NULLS_NONE, 1);
    for (uint64_t i = 0; i < KEYS; ++i)
        kr_value_store_bits(type, keys.data, i, kr_value_of_code(type, i % 4 ? HEAVY : i / 4));
    return keys;
}

/* Chunks that hold just one answer of the heavy key. */
static int count_chunk(void *ctx, uint64_t first_probe, uint64_t n_probes, const uint64_t *offsets,
                       const uint32_t *rows)
{
    uint64_t *n = ctx;
    (void)first_probe;
    for (uint64_t i = 1; i < offsets[n_probes]; ++i) /* row ids ascend within a probe */
        if (n_probes == 1 && rows[i - 1] >= rows[i])
            return 1;
    *n += offsets[n_probes];
    return 0;
}

static void check_chunks(kr_suite *suite, kr_index *index, kr_type type)
{
    uint64_t heavy[3] = {0}, n = 0;
    const kr_column probes = {.type = type, .count = 3, .data = heavy};
    const uint64_t matches = KEYS / 4 * 3 + 1;
    kr_error err = {0};
    for (uint64_t i = 0; i < 3; ++i)
        kr_value_store_bits(type, heavy, i, kr_value_of_code(type, HEAVY));
    const kr_status status = kr_index_lookup_chunks(index, &probes, NULL, KR_ORDER_ROW,
                                                    matches * sizeof(uint32_t), count_chunk, &n, &err);
    if (kr_test_ok(suite, status, &err, "kr_index_lookup_chunks"))
        kr_test_expect(suite, n == 3 * matches,
                       "chunks hold every row of the key, as often as it is asked for");
}

static const kr_type types[2] = {KR_U32, KR_I64};

/* Fixtures of the two types, each made when a spec first asks for it: their oracles take seconds. */
static struct {
    pthread_mutex_t lock;
    int is_made;
    kr_fixture fixture;
} shared[2] = {{.lock = PTHREAD_MUTEX_INITIALIZER}, {.lock = PTHREAD_MUTEX_INITIALIZER}};

static kr_case_data fixture_data_of(kr_suite *suite, int which)
{
    pthread_mutex_lock(&shared[which].lock);
    if (!shared[which].is_made) {
        kr_test_column keys = heavy_keys(types[which]);
        kr_fixture_make_of(suite, &keys, PROBES, &shared[which].fixture);
        shared[which].is_made = 1;
    }
    pthread_mutex_unlock(&shared[which].lock);
    return shared[which].fixture.data;
}

void kr_heavy_drop_shared(void)
{
    for (int i = 0; i < 2; ++i)
        if (shared[i].is_made) {
            kr_fixture_free(&shared[i].fixture);
            shared[i].is_made = 0;
        }
}

static void check_type(kr_suite *suite, const kr_suite_device *on, const char *spec, int which)
{
    /* The columns and answers belong to the shared fixture. */
    const kr_fixture own = {.suite = suite, .data = fixture_data_of(suite, which)}, *fixture = &own;
    const kr_column *keys = &fixture->data.keys.view;
    const char *must_name;
    uint32_t refusals = 0;
    kr_index *index = NULL;
    kr_error err = {0};
    if (kr_spec_refuses(spec, keys, &must_name))
        return;
    if (kr_test_ok(suite, kr_index_create(on->device, spec, keys, NULL, NULL, &index, &err), &err,
                   "kr_index_create")) {
        kr_test_ok(suite, kr_index_validate(index, &err), &err, "kr_index_validate");
        kr_fixture_check(fixture, spec, index, KR_OK, &refusals);
        if (kr_spec_capabilities(spec) & KR_CAN_POINT)
            check_chunks(suite, index, types[which]);
    }
    kr_index_destroy(index);
}

/* Kinds without options, and with those options that decide how rows lie and are read. */
static int is_wanted(const char *spec)
{
    static const char *const reading[] = {":layout=", ":scan=", ":scan_threads=", ":updates=", "node="};
    int wanted = strchr(spec, ':') == NULL;
    for (size_t i = 0; i < sizeof reading / sizeof *reading; ++i)
        wanted |= strstr(spec, reading[i]) != NULL;
    return wanted;
}

static void check_spec(kr_suite *suite, const kr_suite_device *on, const char *spec)
{
    check_type(suite, on, spec, 0);
    if (!strchr(spec, ':') && !suite->reduced)
        check_type(suite, on, spec, 1);
}

/* In the reduced list of kinds without options alone. */
void kr_run_heavy(kr_suite *suite)
{
    if (suite->reduced ? !strchr(suite->spec, ':') : is_wanted(suite->spec))
        kr_test_special(suite, "heavy", 0, check_spec);
}
