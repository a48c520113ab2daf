/* Scans of integers of every width, which a CPU compares as they lie in memory, with every instruction set of
 * this CPU; alone and beside a column of 8 bytes. */
#include "check.h"

enum { N = 5003 };

static int64_t truth[N];
static union {
    uint8_t u8[N];
    int8_t i8[N];
    uint16_t u16[N];
    int16_t i16[N];
    uint32_t u32[N];
    int32_t i32[N];
    uint64_t u64[N];
} values;
static uint64_t wide[N];

static uint64_t state = 11;
static uint64_t random_bits(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 20;
}

typedef struct width {
    kr_type type;
    int64_t lowest, highest;
} width;

static const width widths[] = {
    {KR_U8, 0, 255},
    {KR_I8, -128, 127},
    {KR_U16, 0, 65535},
    {KR_I16, -32768, 32767},
    {KR_U32, 0, 4294967295},
    {KR_I32, INT32_MIN, INT32_MAX},
    {KR_U64, 0, 1099511627776},
};

/* Both ends, values around zero, and any others. */
static void make_column(const width *w)
{
    const uint64_t span = (uint64_t)(w->highest - w->lowest) + 1;
    for (int i = 0; i < N; ++i) {
        const int64_t at[] = {w->lowest, w->highest, 0, 1, w->lowest < 0 ? -1 : 2};
        const int64_t v = i % 7 < 5 ? at[i % 7] : w->lowest + (int64_t)(random_bits() % span);
        truth[i] = v;
        wide[i] = random_bits() % 100;
        switch (w->type) {
        case KR_U8: values.u8[i] = (uint8_t)v; break;
        case KR_I8: values.i8[i] = (int8_t)v; break;
        case KR_U16: values.u16[i] = (uint16_t)v; break;
        case KR_I16: values.i16[i] = (int16_t)v; break;
        case KR_U32: values.u32[i] = (uint32_t)v; break;
        case KR_I32: values.i32[i] = (int32_t)v; break;
        default: values.u64[i] = (uint64_t)v; break;
        }
    }
}

enum { LESS, LESS_EQUAL, GREATER, EQUAL, NOT_EQUAL, BETWEEN, NOT_BETWEEN, FORMS };

static int holds(int form, int64_t v, int64_t a, int64_t b)
{
    return form == LESS         ? v < a
           : form == LESS_EQUAL ? v <= a
           : form == GREATER    ? v > a
           : form == EQUAL      ? v == a
           : form == NOT_EQUAL  ? v != a
           : form == BETWEEN    ? v >= a && v <= b
                                : !(v >= a && v <= b);
}

static void scan(kr_table *table, int form, int64_t a, int64_t b, int with_wide)
{
    static const char *const forms[FORMS] = {"x < %lld",
                                             "x <= %lld",
                                             "x > %lld",
                                             "x = %lld",
                                             "x <> %lld",
                                             "x between %lld and %lld",
                                             "not x between %lld and %lld"};
    char text[128];
    static uint32_t bitmap[N / 32 + 1];
    int wrong = 0;
    int used = snprintf(text, sizeof text, forms[form], (long long)a, (long long)b);
    if (with_wide)
        snprintf(text + used, sizeof text - (size_t)used, " and y < 40");
    kr_condition *condition = NULL;
    WORKS(kr_condition_parse(text, &condition, &err));
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_BITMAP, .out = bitmap};
    const kr_scan_sink *sinks[] = {&sink};
    const kr_condition *conditions[] = {condition};
    WORKS(kr_scan(table, conditions, sinks, 1, NULL, NULL, &err));
    for (int i = 0; i < N; ++i)
        wrong += (int)(bitmap[i / 32] >> i % 32 & 1) !=
                 (holds(form, truth[i], a, b) && (!with_wide || wide[i] < 40));
    if (wrong)
        printf("%s: %d rows are wrong\n", text, wrong);
    CHECK(wrong == 0);
    kr_condition_destroy(condition);
}

static void check_width(kr_device *device, const width *w)
{
    make_column(w);
    const kr_column columns[] = {{.type = w->type, .count = N, .data = &values},
                                 {.type = KR_U64, .count = N, .data = wide}};
    const char *const names[] = {"x", "y"};
    const int64_t middle = w->lowest + (w->highest - w->lowest) / 2;
    const int64_t bounds[] = {w->lowest, w->lowest + 1, middle, w->highest - 1, w->highest, 0, 1, 100};
    const int n = sizeof bounds / sizeof bounds[0];
    kr_table *table = NULL;
    WORKS(kr_table_create(device, "full", columns, names, 2, NULL, NULL, &table, &err));
    for (int form = 0; table && form < FORMS; ++form)
        for (int i = 0; i < n; ++i)
            for (int j = form < BETWEEN ? n - 1 : 0; j < n; ++j)
                for (int with_wide = 0; with_wide < 2; ++with_wide)
                    scan(table, form, bounds[i], bounds[j], with_wide);
    kr_table_destroy(table);
}

int main(void)
{
    static const char *const sets[] = {"plain", "avx2", "avx512"};
    for (int s = 0; s < 3; ++s) {
        kr_device *device = NULL;
        kr_error why = {0};
        setenv("KEYRAY_ISA", sets[s], 1);
        const kr_status status = kr_device_open("cpu", NULL, &device, &why);
        unsetenv("KEYRAY_ISA");
        if (status == KR_ERR_UNSUPPORTED) {
            printf("%s is left out: %s\n", sets[s], why.text);
            continue;
        }
        CHECK(status == KR_OK);
        for (size_t i = 0; device && i < sizeof widths / sizeof widths[0]; ++i)
            check_width(device, &widths[i]);
        kr_device_close(device);
    }
    return failures != 0;
}
