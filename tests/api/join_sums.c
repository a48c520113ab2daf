/* kr_join_sums: every kind and type, with either side indexed, against a loop over both sides. */
#include "check.h"
#include "device_name.h"

enum { LEFT = 700, RIGHT = 900, KEYS = 150 };

static kr_device *device;

/* Numbers below `n`, the same in each run. */
static uint64_t draw(uint64_t n)
{
    static uint64_t state = 42;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
}

/* ---- Sides ------------------------------------------------------------------------------------ */

/* Key number `key`, far from its neighbours where the type has room. */
static void put_key(kr_type type, void *keys, uint64_t i, uint64_t key)
{
    switch (type) {
    case KR_U8: ((uint8_t *)keys)[i] = (uint8_t)key; break;
    case KR_I32: ((int32_t *)keys)[i] = ((int32_t)key - KEYS / 2) * 12345678; break;
    case KR_U64: ((uint64_t *)keys)[i] = key * 123456789012345; break;
    case KR_F64: ((double *)keys)[i] = ((double)key - KEYS / 2) * 1.5e100; break;
    default: ((uint32_t *)keys)[i] = (uint32_t)key * 28000000;
    }
}

typedef struct side {
    uint64_t numbers[RIGHT]; /* of keys */
    uint64_t data[RIGHT];
    uint8_t validity[RIGHT / 8 + 1];
    kr_column column;
} side;

static int is_valid(const side *s, uint64_t i)
{
    return !s->column.validity || (s->validity[i / 8] >> i % 8 & 1);
}

/* `nulls`: every seventh row has none. Some keys are frequent. */
static void make_side(side *s, kr_type type, uint64_t n, int nulls)
{
    memset(s->validity, 0, sizeof s->validity);
    s->column = (kr_column){.type = type, .count = n, .data = s->data};
    s->column.validity = nulls ? s->validity : NULL;
    for (uint64_t i = 0; i < n; ++i) {
        s->numbers[i] = draw(3) ? draw(KEYS) : draw(4);
        put_key(type, s->data, i, s->numbers[i]);
        if (i % 7)
            s->validity[i / 8] |= (uint8_t)(1 << i % 8);
    }
}

/* ---- Answers ---------------------------------------------------------------------------------- */

static int64_t values[RIGHT];
static uint8_t half[RIGHT / 8 + 1]; /* odd rows have none */

static uint64_t answer(const side *left, const side *right, uint64_t i, kr_result result)
{
    uint64_t total = 0;
    for (uint64_t j = 0; j < right->column.count && is_valid(left, i); ++j) {
        if (!is_valid(right, j) || left->numbers[i] != right->numbers[j])
            continue;
        total += result == KR_RESULT_COUNT      ? 1
                 : result == KR_RESULT_SUM_ROWS ? j
                 : j % 2                        ? 0
                                                : (uint64_t)values[j];
    }
    return total;
}

/* The copy of an array in device memory. */
static void *on_device(const void *host, uint64_t nbytes)
{
    void *memory = NULL;
    WORKS(kr_memory_allocate(device, nbytes + 1, NULL, &memory, &err));
    WORKS(kr_memory_copy(device, memory, host, nbytes, NULL, &err));
    return memory;
}

/* Columns without validity and the answers in device memory. */
static kr_status sum_there(const char *spec, const side *left, const side *right,
                           const kr_join_options *options, const kr_sink *sink, kr_join_info *info,
                           kr_error *said)
{
    kr_column columns[2] = {left->column, right->column};
    kr_sink there = *sink;
    const uint64_t nbytes = left->column.count * sizeof(uint64_t);
    void *data[2] = {on_device(left->data, sizeof left->data), on_device(right->data, sizeof right->data)};
    there.out = on_device(sink->out, nbytes);
    columns[0].data = data[0];
    columns[1].data = data[1];
    const kr_status status =
        kr_join_sums(device, spec, &columns[0], &columns[1], options, &there, info, said);
    WORKS(kr_memory_copy(device, sink->out, there.out, nbytes, NULL, &err));
    kr_memory_release(device, there.out, nbytes + 1, NULL);
    kr_memory_release(device, data[1], sizeof right->data + 1, NULL);
    kr_memory_release(device, data[0], sizeof left->data + 1, NULL);
    return status;
}

static void compare(const char *spec, const side *left, const side *right, kr_join_inverse inverse,
                    kr_result result, int there)
{
    static uint64_t sums[LEFT];
    const kr_column column = {.type = KR_I64, .count = RIGHT, .data = values, .validity = half};
    const kr_sink sink = {.struct_size = sizeof sink, .result = result, .values = &column, .out = sums};
    const kr_join_options options = {.struct_size = sizeof options, .inverse = inverse};
    kr_join_info info = {.struct_size = sizeof info};
    uint64_t wrong = 0;
    memset(sums, 0xA5, sizeof sums);
    if (there)
        WORKS(sum_there(spec, left, right, &options, &sink, &info, &err));
    else
        WORKS(kr_join_sums(device, spec, &left->column, &right->column, &options, &sink, &info, &err));
    for (uint64_t i = 0; i < left->column.count; ++i)
        wrong += sums[i] != answer(left, right, i, result);
    if (wrong)
        printf("%s, type %d, %s side indexed, result %d: %llu of %llu sums are wrong\n", spec,
               left->column.type, info.indexed, result, (unsigned long long)wrong,
               (unsigned long long)left->column.count);
    CHECK(!wrong && !info.pairs);
    CHECK(inverse == KR_INVERSE_AUTO || !strcmp(info.indexed, inverse == KR_INVERSE_ON ? "left" : "right"));
}

/* Some specs, of kinds that this build and this device have. */
static int can(const char *spec)
{
    const uint32_t keys[1] = {0};
    const kr_column column = {.type = KR_U32, .count = 1, .data = keys};
    kr_index *index = NULL;
    kr_error err = {0};
    const kr_status status = kr_index_create(device, spec, &column, NULL, NULL, &index, &err);
    kr_index_destroy(index);
    if (status)
        printf("%s is left out: %s\n", spec, err.text);
    return status == KR_OK;
}

static void sum_with(const char *spec)
{
    static const kr_type types[] = {KR_U32, KR_U8, KR_I32, KR_U64, KR_F64};
    static const kr_result results[] = {KR_RESULT_COUNT, KR_RESULT_SUM_ROWS, KR_RESULT_SUM};
    static side left, right;
    for (uint32_t t = 0; t < 5; ++t)
        for (int inverse = KR_INVERSE_AUTO; inverse <= KR_INVERSE_OFF; ++inverse) {
            make_side(&left, types[t], LEFT, t % 2);
            make_side(&right, types[t], RIGHT, t % 3 == 1);
            for (uint32_t r = 0; r < 3; ++r)
                compare(spec, &left, &right, (kr_join_inverse)inverse, results[r], t == 0);
            right.column.count = 0;
            compare(spec, &left, &right, (kr_join_inverse)inverse, KR_RESULT_COUNT, 0);
            right.column.count = RIGHT;
            left.column.count = 0;
            compare(spec, &left, &right, (kr_join_inverse)inverse, KR_RESULT_SUM, 0);
        }
}

/* ---- Floats, refusals -------------------------------------------------------------------------- */

static void sum_floats(void)
{
    const uint32_t left[3] = {5, 6, 7}, right[4] = {7, 5, 5, 9};
    const double prices[4] = {0.5, 1.25, 2, 100};
    double sums[3] = {9, 9, 9};
    const kr_column columns[3] = {{.type = KR_U32, .count = 3, .data = left},
                                  {.type = KR_U32, .count = 4, .data = right},
                                  {.type = KR_F64, .count = 4, .data = prices}};
    const kr_sink sink = {
        .struct_size = sizeof sink, .result = KR_RESULT_SUM, .values = &columns[2], .out = sums};
    const kr_join_options on = {.struct_size = sizeof on, .inverse = KR_INVERSE_ON};
    WORKS(kr_join_sums(device, "array", &columns[0], &columns[1], NULL, &sink, NULL, &err));
    CHECK(sums[0] == 3.25 && sums[1] == 0 && sums[2] == 0.5);
    REFUSED(KR_ERR_TYPE, kr_join_sums(device, "array", &columns[0], &columns[1], &on, &sink, NULL, &err));
}

static void refuse(void)
{
    const uint32_t keys[2] = {1, 2};
    uint64_t sums[2];
    kr_report *report = NULL;
    const kr_column two = {.type = KR_U32, .count = 2, .data = keys},
                    one = {.type = KR_U32, .count = 1, .data = keys};
    const kr_column wide = {.type = KR_U64, .count = 1, .data = sums};
    const kr_join_options semi = {.struct_size = sizeof semi, .type = KR_JOIN_SEMI};
    const kr_join_options unordered = {.struct_size = sizeof unordered, .unordered = 1};
    kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = sums};
    REFUSED(KR_ERR_ARGUMENT, kr_join_sums(NULL, "array", &two, &two, NULL, &sink, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_sums(device, "array", &two, &two, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_sums(device, "array", &two, &two, &semi, &sink, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_sums(device, "array", &two, &two, &unordered, &sink, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_join_sums(device, "array", &two, &wide, NULL, &sink, NULL, &err));
    REFUSED(KR_ERR_SPEC, kr_join_sums(device, "frob", &two, &two, NULL, &sink, NULL, &err));
    sink.result = KR_RESULT_MIN;
    REFUSED(KR_ERR_ARGUMENT, kr_join_sums(device, "array", &two, &two, NULL, &sink, NULL, &err));
    sink.result = KR_RESULT_ROW;
    REFUSED(KR_ERR_UNSUPPORTED, kr_join_sums(device, "array", &two, &two, NULL, &sink, NULL, &err));
    sink = (kr_sink){.struct_size = sizeof sink, .result = KR_RESULT_SUM, .values = &one, .out = sums};
    REFUSED(KR_ERR_ARGUMENT, kr_join_sums(device, "array", &two, &two, NULL, &sink, NULL, &err));
    WORKS(kr_report_create(&report, &err));
    sink = (kr_sink){.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = sums, .report = report};
    REFUSED(KR_ERR_UNSUPPORTED, kr_join_sums(device, "array", &two, &two, NULL, &sink, NULL, &err));
    kr_report_destroy(report);
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {"array",
                                        "eytzinger:k=5",
                                        "pivot",
                                        "btree:node=8",
                                        "hash",
                                        "chain",
                                        "rx",
                                        "cgrx",
                                        "rx:preset=thesis",
                                        "cgrx:updates=on",
                                        "array:probes=partitioned"};
    const int skipped = take_device_name(argc, argv);
    if (skipped)
        return skipped;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    memset(half, 0x55, sizeof half);
    for (uint64_t j = 0; j < RIGHT; ++j)
        values[j] = (int64_t)draw(1 << 30) - (1 << 29);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; ++i)
        if (can(specs[i]))
            sum_with(specs[i]);
    sum_floats();
    refuse();
    kr_device_close(device);
    return failures != 0;
}
