#include "suite.h"

#include <pthread.h>
#include <stdlib.h>

#define RANDOM KR_PATTERN_RANDOM
#define DENSE KR_PATTERN_DENSE
#define DUPLICATES KR_PATTERN_DUPLICATES
#define EQUAL KR_PATTERN_EQUAL
#define EXTREME KR_PATTERN_EXTREME
#define ROWS KR_PATTERN_ROWS

static const kr_case cases[] = {
    /* how many keys */
    {.name = "keys-0", RANDOM, 0, 33, .reduced = 1},
    {.name = "keys-1", EXTREME, 1, 33, .reduced = 1},
    {.name = "keys-2", RANDOM, 2, 33},
    {.name = "keys-3", DUPLICATES, 3, 33, .reduced = 1},
    {.name = "keys-31", RANDOM, 31, 64},
    {.name = "keys-32", DENSE, 32, 64},
    {.name = "keys-33", DUPLICATES, 33, 64},
    {.name = "keys-100", RANDOM, 100, 100, .reduced = 1},
    {.name = "keys-1000", RANDOM, 1000, 200},
    {.name = "keys-65537", RANDOM, 65537, 200, .large = 1},
    {.name = "keys-65537-duplicates", DUPLICATES, 65537, 200, .row_ids = KR_ROW_IDS_SHUFFLED, .large = 1},
    /* how many probes */
    {.name = "probes-0", DUPLICATES, 100, 0, .reduced = 1},
    {.name = "probes-1", DUPLICATES, 100, 1},
    {.name = "probes-31", DUPLICATES, 100, 31},
    {.name = "probes-32", DUPLICATES, 100, 32},
    {.name = "probes-33", DUPLICATES, 100, 33, .reduced = 1},
    {.name = "probes-1000", DUPLICATES, 1000, 1000},
    {.name = "nothing-at-all", RANDOM, 0, 0},
    /* what keys */
    {.name = "dense", DENSE, 1000, 200, .reduced = 1},
    {.name = "duplicates", DUPLICATES, 1000, 200, .reduced = 1},
    {.name = "equal", EQUAL, 300, 64, .reduced = 1},
    {.name = "extreme", EXTREME, 1000, 300, .reduced = 1},
    {.name = "extreme-few", EXTREME, 40, 300},
    {.name = "ascending", KR_PATTERN_ASCENDING, 1000, 100},
    {.name = "descending", KR_PATTERN_DESCENDING, 1000, 100},
    {.name = "rows-and-planes", ROWS, 1000, 300, .reduced = 1},
    {.name = "rows-and-planes-few", ROWS, 5, 300},
    {.name = "ends-of-rows", KR_PATTERN_ENDS, 1000, 200, .row_ids = KR_ROW_IDS_SHUFFLED, .reduced = 1},
    {.name = "ends-of-rows-few", KR_PATTERN_ENDS, 60, 100},
    {.name = "bits-23", KR_PATTERN_BITS_23, 300, 80, .reduced = 1},
    {.name = "bits-23-over", KR_PATTERN_BITS_23_OVER, 300, 80, .reduced = 1},
    {.name = "bits-29", KR_PATTERN_BITS_29, 300, 80, .reduced = 1},
    {.name = "bits-29-over", KR_PATTERN_BITS_29_OVER, 300, 80, .reduced = 1},
    /* NULL rows and probes */
    {.name = "nulls-no-row", RANDOM, 100, 100, KR_NULLS_NO_ROW, KR_NULLS_NO_ROW},
    {.name = "nulls-some", DUPLICATES, 1000, 100, KR_NULLS_SOME, KR_NULLS_SOME, .reduced = 1},
    {.name = "nulls-sliced", EXTREME, 1000, 100, KR_NULLS_SLICED, KR_NULLS_SLICED, .reduced = 1},
    {.name = "nulls-sliced-few", DENSE, 3, 5, KR_NULLS_SLICED, KR_NULLS_SLICED},
    {.name = "nulls-all", RANDOM, 100, 100, KR_NULLS_ALL, KR_NULLS_NONE, .reduced = 1},
    {.name = "nulls-all-probes", DENSE, 100, 100, KR_NULLS_NONE, KR_NULLS_ALL},
    {.name = "nulls-one", RANDOM, 1, 10, KR_NULLS_ALL, KR_NULLS_SOME},
    /* row ids given by the caller */
    {.name = "row-ids-ascending", DUPLICATES, 1000, 100, .row_ids = KR_ROW_IDS_ASCENDING},
    {.name = "row-ids-shuffled", DUPLICATES, 1000, 100, .row_ids = KR_ROW_IDS_SHUFFLED, .reduced = 1},
    {.name = "row-ids-sparse", EXTREME, 1000, 100, .row_ids = KR_ROW_IDS_SPARSE},
    {.name = "row-ids-sparse-nulls",
     DUPLICATES,
     1000,
     100,
     KR_NULLS_SLICED,
     KR_NULLS_SOME,
     KR_ROW_IDS_SPARSE,
     .reduced = 1},
    {.name = "row-ids-high", DUPLICATES, 300, 100, .row_ids = KR_ROW_IDS_HIGH, .reduced = 1},
    {.name = "row-ids-equal-keys", EQUAL, 100, 33, .row_ids = KR_ROW_IDS_SHUFFLED},
    /* data aligned to its element and no more */
    {.name = "shifted-1", DUPLICATES, 333, 100, KR_NULLS_SLICED, KR_NULLS_SLICED, KR_ROW_IDS_SPARSE, 1, 1},
    {.name = "shifted-3", EXTREME, 333, 100, .shift = 3},
    {.name = "shifted-5", RANDOM, 333, 100, KR_NULLS_NONE, KR_NULLS_SOME, KR_ROW_IDS_SHUFFLED, 5},
};

const kr_case *kr_case_at(const kr_suite *suite, uint32_t number)
{
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        if ((!suite->reduced || cases[i].reduced) && number-- == 0)
            return &cases[i];
    return NULL;
}

static const kr_question questions[KR_N_QUESTIONS] = {
    {"row", KR_RESULT_ROW, 0, NULL},
    {"count", KR_RESULT_COUNT, 0, NULL},
    {"sum-rows", KR_RESULT_SUM_ROWS, 0, NULL},
    {"rows", KR_RESULT_ROWS, KR_ORDER_ROW, NULL},
    {"rows-by-key", KR_RESULT_ROWS, KR_ORDER_KEY, NULL},
    {"rows-limit-1", KR_RESULT_ROWS, KR_ORDER_ROW, NULL, 1},
    {"rows-limit-3", KR_RESULT_ROWS, KR_ORDER_ROW, NULL, 3},
    {"rows-by-key-limit-2", KR_RESULT_ROWS, KR_ORDER_KEY, NULL, 2},
    {"exists", KR_RESULT_EXISTS, 0, NULL},
    {"sum", KR_RESULT_SUM, 0, NULL},
    {"min", KR_RESULT_MIN, 0, NULL},
    {"max", KR_RESULT_MAX, 0, NULL},
    {"sum-wide", KR_RESULT_SUM_WIDE, 0, NULL},
};

int kr_case_asks(const kr_case_data *data, uint32_t question)
{
    const kr_result result = questions[question].result;
    if (result == KR_RESULT_SUM_WIDE && kr_type_is_float(data->values.view.type))
        return 0;
    return !kr_result_has_values(result) || data->test->row_ids != KR_ROW_IDS_HIGH;
}

const uint32_t kr_ask_needs[KR_N_ASKS] = {KR_CAN_POINT, KR_CAN_RANGE, KR_CAN_NEAREST};

kr_status kr_case_call(const kr_case_data *data, kr_index *index, uint32_t what, const kr_column *lower,
                       const kr_column *upper, const kr_sink *sink, kr_error *err)
{
    return what == KR_ASK_POINT   ? kr_index_lookup(index, lower, sink, NULL, err)
           : what == KR_ASK_RANGE ? kr_index_range(index, lower, upper, sink, NULL, err)
                                  : kr_index_nearest(index, lower, &data->nearest, sink, NULL, err);
}

/* Of the nearest keys: as of the rows that the oracle finds. */
static kr_answer answer_nearest(const kr_case_data *data, const kr_oracle *oracle,
                                const kr_question *question)
{
    const kr_column *probes = &data->lower[KR_ASK_NEAREST].view;
    uint32_t *rows = kr_oracle_nearest(oracle, probes, &data->nearest);
    const kr_answer answer = kr_oracle_answer_rows(oracle, rows, probes->count, question);
    free(rows);
    return answer;
}

static void make_questions(uint32_t number, kr_case_data *data, uint64_t seed)
{
    /* Value types go round, so that every pair of key and value type comes up. */
    const kr_type value_type = (kr_type)(1 + (number + data->type) % KR_N_TYPES);
    const uint64_t n_values = data->test->keys * (data->test->row_ids >= KR_ROW_IDS_ASCENDING ? 3 : 1);
    const kr_nulls nulls = number % 3 == 0   ? KR_NULLS_NONE
                           : number % 3 == 1 ? KR_NULLS_SOME
                                             : KR_NULLS_SLICED;
    data->values =
        kr_test_column_make(value_type, n_values, KR_PATTERN_SUMMABLE, nulls, kr_rng_split(seed, 4));
    for (uint32_t i = 0; i < KR_N_QUESTIONS; ++i) {
        data->questions[i] = questions[i];
        data->questions[i].values = &data->values.view;
    }
}

void kr_case_data_make(const kr_suite *suite, const kr_case *test, uint32_t number, kr_type type,
                       kr_case_data *data)
{
    static const kr_keys_lie places[] = {KR_KEYS_AT_ZERO, KR_KEYS_AT_START, KR_KEYS_AT_END};
    const uint64_t seed = kr_rng_split(kr_rng_split(suite->seed, number), type);
    const kr_keys_lie lie = kr_test_keys_lie_now();
    if (lie && number < sizeof cases / sizeof cases[0]) /* other tests make more keys for the same index */
        kr_test_keys_lie(places[number % 3]);
    kr_test_column keys =
        kr_test_column_make(type, test->keys, test->pattern, test->nulls, kr_rng_split(seed, 1));
    kr_test_keys_lie(lie);
    kr_case_data_of(suite, test, number, &keys,
                    kr_test_row_ids(test->row_ids, test->keys, kr_rng_split(seed, 2)), data);
}

static int has_duplicates(const kr_oracle *oracle)
{
    const kr_column *keys = &oracle->keys;
    for (uint64_t i = 1; i < oracle->n; ++i)
        if (kr_value_compare(keys->type, kr_value_at(keys, oracle->at[i - 1]),
                             kr_value_at(keys, oracle->at[i])) == 0)
            return 1;
    return 0;
}

void kr_case_data_of(const kr_suite *suite, const kr_case *test, uint32_t number, kr_test_column *keys,
                     uint32_t *row_ids, kr_case_data *data)
{
    const uint64_t seed = kr_rng_split(kr_rng_split(suite->seed, number), keys->view.type);
    *data = (kr_case_data){.test = test, .type = keys->view.type, .keys = *keys, .row_ids = row_ids};
    *keys = (kr_test_column){0};
    kr_oracle oracle = kr_oracle_make(&data->keys.view, data->row_ids);
    data->has_duplicates = has_duplicates(&oracle);
    data->lower[KR_ASK_POINT] =
        kr_test_probes(&data->keys.view, test->probes, test->probe_nulls, kr_rng_split(seed, 3));
    kr_test_ranges(&data->keys.view, oracle.at, oracle.n, test->probes, test->probe_nulls,
                   kr_rng_split(seed, 5), &data->lower[KR_ASK_RANGE], &data->upper);
    data->lower[KR_ASK_NEAREST] =
        kr_test_probes(&data->keys.view, test->probes, test->probe_nulls, kr_rng_split(seed, 6));
    data->nearest = kr_test_nearest(&data->keys.view, &(kr_rng){kr_rng_split(seed, 7)});
    make_questions(number, data, seed);
    for (uint32_t ask = 0; ask < KR_N_ASKS; ++ask)
        for (uint32_t i = 0; i < KR_N_QUESTIONS; ++i)
            if (kr_case_asks(data, i))
                data->answers[ask][i] = ask == KR_ASK_NEAREST
                                            ? answer_nearest(data, &oracle, &data->questions[i])
                                            : kr_oracle_answer(&oracle, &data->lower[ask].view,
                                                               ask == KR_ASK_RANGE ? &data->upper.view : NULL,
                                                               &data->questions[i]);
    kr_oracle_free(&oracle);
}

static struct {
    pthread_mutex_t lock;
    kr_case_data *data;
} shared[2][sizeof cases / sizeof cases[0]][KR_N_TYPES]; /* [1]: keys that lie near each other */

static void make_locks(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        for (int type = 0; type < KR_N_TYPES; ++type)
            for (int near = 0; near < 2; ++near)
                pthread_mutex_init(&shared[near][i][type].lock, NULL);
}

const kr_case_data *kr_case_data_shared(const kr_suite *suite, const kr_case *test, uint32_t number,
                                        kr_type type)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const int near = kr_test_keys_lie_now() != KR_KEYS_ANYWHERE;
    kr_case_data **data = &shared[near][number][type - 1].data;
    pthread_once(&once, make_locks);
    pthread_mutex_lock(&shared[near][number][type - 1].lock);
    if (!*data) {
        *data = kr_test_calloc(1, sizeof **data);
        kr_case_data_make(suite, test, number, type, *data);
    }
    pthread_mutex_unlock(&shared[near][number][type - 1].lock);
    return *data;
}

void kr_case_data_drop_shared(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        for (int type = 0; type < KR_N_TYPES; ++type)
            for (int near = 0; near < 2; ++near)
                if (shared[near][i][type].data) {
                    kr_case_data_free(shared[near][i][type].data);
                    free(shared[near][i][type].data);
                    shared[near][i][type].data = NULL;
                }
}

void kr_case_data_free(kr_case_data *data)
{
    for (uint32_t ask = 0; ask < KR_N_ASKS; ++ask) {
        for (uint32_t i = 0; i < KR_N_QUESTIONS; ++i)
            kr_answer_free(&data->answers[ask][i]);
        kr_test_column_free(&data->lower[ask]);
    }
    kr_test_column_free(&data->upper);
    kr_test_column_free(&data->keys);
    kr_test_column_free(&data->values);
    free(data->row_ids);
}
