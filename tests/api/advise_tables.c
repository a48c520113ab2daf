/* kr_advise_table: what it says of tables, what it refuses, and that it leaves nothing behind when it is
 * cancelled. */
#include "cancel.h"
#include "device_memory.h"

enum { N = 3000, LARGE = 1 << 19 };

static kr_device *device;
static int32_t numbers[LARGE], days[LARGE];
static const char *const names[] = {"a", "day", "name"};
static int32_t offsets[N + 1];
static char bytes[N * 2];
static kr_column columns[3];

static kr_condition *parse(const char *text)
{
    kr_condition *condition = NULL;
    WORKS(kr_condition_parse(text, &condition, &err));
    return condition;
}

static kr_status ask(const kr_column *of, uint32_t n_columns, const kr_table_options *table, const char *text,
                     const kr_advise_options *options, kr_advice **advice, kr_error *err)
{
    kr_condition *first = parse(text), *second = parse("a >= 0");
    const kr_condition *const conditions[] = {first, second};
    const kr_status status =
        kr_advise_table(device, of, names, n_columns, table, conditions, 2, options, advice, err);
    kr_condition_destroy(first);
    kr_condition_destroy(second);
    return status;
}

static void check_advice(uint32_t n_columns, const char *text, double rows_found)
{
    const uint64_t before = in_use(device);
    kr_advice *advice = NULL;
    kr_advice_info info = {.struct_size = sizeof info};
    kr_advice_candidate c = {.struct_size = sizeof c}, best;
    uint32_t measured = 0;
    kr_table *table = NULL;
    WORKS(ask(columns, n_columns, NULL, text, NULL, &advice, &err));
    WORKS(kr_advice_query(advice, &info, &err));
    WORKS(kr_advice_candidate_query(advice, 0, &c, &err));
    best = c;
    CHECK(info.rows == N && info.measured_rows == N && info.operations == KR_CAN_SCAN && info.batch == 1);
    CHECK(info.range_hits == (rows_found + N) / 2 && !info.sample[0]);
    CHECK(strcmp(best.spec, info.spec) == 0 && best.scans_per_second > 0 && best.points_per_second == 0);
    for (uint32_t i = 0; kr_advice_candidate_query(advice, i, &c, NULL) == KR_OK; ++i) {
        measured += c.state == KR_ADVICE_MEASURED;
        CHECK(c.state != KR_ADVICE_MEASURED || c.lookup_seconds >= best.lookup_seconds);
    }
    CHECK(measured >= 2);
    WORKS(kr_table_create(device, info.spec, columns, names, n_columns, NULL, NULL, &table, &err));
    kr_table_destroy(table);
    kr_advice_destroy(advice);
    CHECK(in_use(device) == before);
}

/* A dictionary of the caller stands for the texts, and is still his afterwards. */
static void check_shared_texts(void)
{
    kr_texts *texts = NULL;
    kr_texts_info info = {.struct_size = sizeof info};
    kr_advice *advice = NULL;
    WORKS(kr_texts_create(device, &columns[2], NULL, NULL, &texts, &err));
    const kr_texts *const all[] = {NULL, NULL, texts};
    const kr_table_options options = {.struct_size = sizeof options, .texts = all};
    WORKS(ask(columns, 3, &options, "name = 'b1'", NULL, &advice, &err));
    WORKS(kr_texts_query(texts, &info, &err));
    kr_advice_destroy(advice);
    kr_texts_destroy(texts);
}

static void refuse(kr_status want, const char *text, kr_advise_options options, const char *says)
{
    kr_advice *advice = NULL;
    kr_error err = {0};
    options.struct_size = sizeof options;
    const kr_status got = ask(columns, 2, NULL, text, &options, &advice, &err);
    CHECK(got == want && !advice && strstr(err.text, says) && !strchr(err.text, '\n'));
    if (got != want || !strstr(err.text, says))
        printf("  want %s '%s', got %s '%s'\n", kr_status_name(want), says, kr_status_name(got), err.text);
}

static void check_refused(void)
{
    kr_advice *advice = NULL;
    kr_condition *condition = parse("a < 5");
    const kr_condition *const conditions[] = {condition, NULL};
    kr_column uneven[2] = {columns[0], columns[1]};
    refuse(KR_ERR_ARGUMENT, "b < 5", (kr_advise_options){.seconds = 1}, "no column 'b'");
    refuse(KR_ERR_TYPE, "a = 'x'", (kr_advise_options){.seconds = 1}, "");
    refuse(KR_ERR_ARGUMENT, "a < 5", (kr_advise_options){.batch = 1}, "batch is for indexes");
    refuse(KR_ERR_ARGUMENT, "a < 5", (kr_advise_options){.probes = columns}, "probes is for indexes");
    refuse(KR_ERR_ARGUMENT, "a < 5", (kr_advise_options){.lower = columns}, "lower and upper is for indexes");
    refuse(KR_ERR_ARGUMENT, "a < 5", (kr_advise_options){.operations = 1}, "operations is for indexes");
    refuse(KR_ERR_ARGUMENT, "a < 5", (kr_advise_options){.range_hits = 1}, "range_hits is for indexes");
    refuse(KR_ERR_ARGUMENT, "a < 5", (kr_advise_options){.miss_percent = 1}, "miss_percent is for indexes");
    refuse(KR_ERR_ARGUMENT, "a < 5", (kr_advise_options){.update_percent = 1},
           "update_percent is for indexes");
    refuse(KR_ERR_DEVICE_MEMORY, "a < 5", (kr_advise_options){.memory_cap_nbytes = 1},
           "no kind keeps at most 1 bytes");
    REFUSED(KR_ERR_ARGUMENT,
            kr_advise_table(NULL, columns, names, 2, NULL, conditions, 1, NULL, &advice, &err));
    REFUSED(KR_ERR_ARGUMENT,
            kr_advise_table(device, NULL, names, 2, NULL, conditions, 1, NULL, &advice, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_advise_table(device, columns, names, 2, NULL, NULL, 1, NULL, &advice, &err));
    REFUSED(KR_ERR_ARGUMENT,
            kr_advise_table(device, columns, names, 2, NULL, conditions, 1, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT,
            kr_advise_table(device, columns, names, 2, NULL, conditions, 2, NULL, &advice, &err));
    REFUSED(KR_ERR_ARGUMENT,
            kr_advise_table(device, columns, names, 2, NULL, conditions, 0, NULL, &advice, &err));
    REFUSED(KR_ERR_ARGUMENT,
            kr_advise_table(device, columns, names, 2, NULL, conditions, 65, NULL, &advice, &err));
    REFUSED(KR_ERR_ARGUMENT,
            kr_advise_table(device, columns, names, 0, NULL, conditions, 1, NULL, &advice, &err));
    uneven[1].count = 7;
    REFUSED(KR_ERR_ARGUMENT,
            kr_advise_table(device, uneven, names, 2, NULL, conditions, 1, NULL, &advice, &err));
    uneven[0].count = uneven[1].count = 0;
    REFUSED(KR_ERR_ARGUMENT,
            kr_advise_table(device, uneven, names, 2, NULL, conditions, 1, NULL, &advice, &err));
    kr_condition_destroy(condition);
}

static void check_cancelled(void)
{
    const kr_advise_options options = {.struct_size = sizeof options, .progress = {.call = cancel}};
    const uint64_t before = in_use(device);
    kr_status status = KR_ERR_CANCELLED;
    for (cancel_at = 1; status == KR_ERR_CANCELLED && cancel_at < 1 << 16; cancel_at += 1 + cancel_at / 2) {
        kr_advice *advice = NULL;
        kr_error err = {0};
        calls = 0;
        status = ask(columns, 3, NULL, "a < 5 and name like 'b%'", &options, &advice, &err);
        CHECK((status == KR_OK) == (advice != NULL) && in_use(device) == before);
        kr_advice_destroy(advice);
    }
    CHECK(status == KR_OK && cancel_at > 10);
}

/* In little time a sample stands for the table. It has NULLs where the table has. */
static void check_sample(void)
{
    static uint8_t validity[LARGE / 8];
    memset(validity, 0x77, sizeof validity);
    const kr_column large[] = {{.type = KR_I32, .count = LARGE, .data = numbers, .validity = validity},
                               {.type = KR_DATE32, .count = LARGE, .data = days}};
    const kr_advise_options options = {.struct_size = sizeof options, .seconds = 0.02};
    kr_advice *advice = NULL;
    kr_advice_info info = {.struct_size = sizeof info};
    WORKS(ask(large, 2, NULL, "a is null", &options, &advice, &err));
    WORKS(kr_advice_query(advice, &info, &err));
    CHECK(info.rows == LARGE && info.measured_rows == 1 << 14 &&
          strstr(info.sample, "16 places of the table"));
    /* A quarter is NULL, and the other condition holds for the rest. */
    CHECK(info.range_hits == info.measured_rows / 2);
    kr_advice_destroy(advice);
}

int main(void)
{
    for (int32_t i = 0; i < LARGE; ++i) {
        numbers[i] = (int32_t)((uint32_t)i * 2654435761u % 1000);
        days[i] = i / 10;
    }
    for (int32_t i = 0; i < N; ++i) {
        const char text[] = {(char)('a' + i % 3), (char)('0' + i % 2)};
        memcpy(bytes + i * 2, text, 2);
        offsets[i + 1] = i * 2 + 2;
    }
    columns[0] = (kr_column){.type = KR_I32, .count = N, .data = numbers};
    columns[1] = (kr_column){.type = KR_DATE32, .count = N, .data = days};
    columns[2] = (kr_column){
        .type = KR_STRING, .count = N, .data = offsets, .reserved_words = {(uintptr_t)bytes, N * 2}};
    const kr_device_options options = {.struct_size = sizeof options, .threads = 1};
    WORKS(kr_device_open("cpu", &options, &device, &err));
    if (failures)
        return 1;
    check_advice(2, "day < '1970-01-11'", 100);
    check_advice(2, "a < -5", 0);
    check_advice(3, "name = 'b1' or name = 'c0'", N / 3);
    check_shared_texts();
    check_refused();
    check_cancelled();
    check_sample();
    kr_device_close(device);
    return failures != 0;
}
