/* Kind `dense` over columns that it is good for, and over those that it must refuse: steps of any size, gaps,
 * the ends of types, row ids that need not be kept, changes that leave its bits. Answers are compared with a
 * pass over all keys. */
#include "check.h"

enum { MOST = 400 };

typedef struct column {
    kr_type type;
    uint64_t n;
    uint64_t values[MOST]; /* as 64-bit integers, signed ones sign-extended */
} column;

static int is_signed(kr_type type)
{
    return type == KR_I8 || type == KR_I16 || type == KR_I32 || type == KR_I64 || type == KR_DATE32 ||
           type == KR_TIMESTAMP64;
}

static int is_less(kr_type type, uint64_t a, uint64_t b)
{
    return is_signed(type) ? (int64_t)a < (int64_t)b : a < b;
}

/* The bytes of a column's elements. */
static void store(const column *c, void *bytes)
{
    for (uint64_t i = 0; i < c->n; ++i)
        memcpy((char *)bytes + i * kr_type_nbytes(c->type), &c->values[i], kr_type_nbytes(c->type));
}

static uint64_t cut(kr_type type, uint64_t value)
{
    const uint32_t unused = 64 - 8 * (uint32_t)kr_type_nbytes(type);
    return is_signed(type) ? (uint64_t)((int64_t)(value << unused) >> unused) : value << unused >> unused;
}

static kr_index *build(kr_device *device, const char *spec, const column *c, const uint32_t *ids)
{
    static uint64_t bytes[MOST];
    kr_index *index = NULL;
    store(c, bytes);
    const kr_column keys = {.type = c->type, .count = c->n, .data = bytes};
    WORKS(kr_index_create(device, spec, &keys, ids, NULL, &index, &err));
    if (index)
        WORKS(kr_index_validate(index, &err));
    return index;
}

static uint64_t component(const kr_index *index, const char *name)
{
    for (uint32_t i = 0; i < kr_index_component_count(index); ++i)
        if (strcmp(kr_index_component_name(index, i), name) == 0)
            return kr_index_component_nbytes(index, i);
    return UINT64_MAX;
}

/* ---- Answers ------------------------------------------------------------------------------------- */

static void check_points(kr_index *index, const column *c, const column *probes)
{
    static uint64_t bytes[MOST], counts[MOST];
    static uint32_t rows[MOST];
    store(probes, bytes);
    const kr_column asked = {.type = c->type, .count = probes->n, .data = bytes};
    const kr_sink row = {.struct_size = sizeof row, .result = KR_RESULT_ROW, .out = rows};
    const kr_sink count = {.struct_size = sizeof count, .result = KR_RESULT_COUNT, .out = counts};
    uint64_t wrong = 0;
    WORKS(kr_index_lookup(index, &asked, &row, NULL, &err));
    WORKS(kr_index_lookup(index, &asked, &count, NULL, &err));
    for (uint64_t i = 0; i < probes->n; ++i) {
        uint64_t n = 0, first = KR_NO_ROW;
        for (uint64_t k = c->n; k-- > 0;)
            if (c->values[k] == probes->values[i])
                first = k, ++n;
        wrong += rows[i] != first || counts[i] != n;
    }
    CHECK(wrong == 0);
}

static void check_ranges(kr_index *index, const column *c, const column *probes)
{
    static uint64_t lower[MOST], upper[MOST], counts[MOST];
    column ends = *probes;
    for (uint64_t i = 0; i < ends.n; ++i)
        ends.values[i] = probes->values[(i * 7 + 3) % ends.n];
    store(probes, lower);
    store(&ends, upper);
    const kr_column from = {.type = c->type, .count = ends.n, .data = lower};
    const kr_column to = {.type = c->type, .count = ends.n, .data = upper};
    const kr_sink count = {.struct_size = sizeof count, .result = KR_RESULT_COUNT, .out = counts};
    uint64_t wrong = 0;
    WORKS(kr_index_range(index, &from, &to, &count, NULL, &err));
    for (uint64_t i = 0; i < ends.n; ++i) {
        uint64_t n = 0;
        for (uint64_t k = 0; k < c->n; ++k)
            n += !is_less(c->type, c->values[k], probes->values[i]) &&
                 !is_less(c->type, ends.values[i], c->values[k]);
        wrong += counts[i] != n;
    }
    CHECK(wrong == 0);
}

/* The row of the nearest key in either direction: of equally near ones the lower, of equal ones the first. */
static uint64_t nearest_of(const column *c, uint64_t probe)
{
    uint64_t best = KR_NO_ROW, least = UINT64_MAX;
    for (uint64_t k = 0; k < c->n; ++k) {
        const int below = is_less(c->type, c->values[k], probe);
        const uint64_t distance = below ? probe - c->values[k] : c->values[k] - probe;
        const int nearer = best == KR_NO_ROW || distance < least;
        if (nearer || (distance == least && below && !is_less(c->type, c->values[best], probe))) {
            best = k;
            least = distance;
        }
    }
    return best;
}

static void check_nearest(kr_index *index, const column *c, const column *probes)
{
    static uint64_t bytes[MOST];
    static uint32_t rows[MOST];
    store(probes, bytes);
    const kr_column asked = {.type = c->type, .count = probes->n, .data = bytes};
    const kr_sink row = {.struct_size = sizeof row, .result = KR_RESULT_ROW, .out = rows};
    const kr_nearest_options both = {.struct_size = sizeof both, .side = KR_NEAREST_EITHER};
    uint64_t wrong = 0;
    WORKS(kr_index_nearest(index, &asked, &both, &row, NULL, &err));
    for (uint64_t i = 0; i < probes->n; ++i) {
        const uint64_t want = nearest_of(c, probes->values[i]);
        wrong += rows[i] == KR_NO_ROW || want == KR_NO_ROW ? rows[i] != want
                                                           : c->values[rows[i]] != c->values[want];
    }
    CHECK(wrong == 0);
}

/* Keys, their neighbours, the middles of gaps and the ends of the type. */
static column probes_of(const column *c)
{
    column p = {.type = c->type};
    for (uint64_t i = 0; i < c->n && p.n + 8 < MOST; i += 1 + c->n / 60) {
        const uint64_t key = c->values[i], next = c->values[(i + 1) % c->n];
        const uint64_t some[] = {key, key - 1, key + 1, key / 2 + next / 2};
        for (int j = 0; j < 4; ++j)
            p.values[p.n++] = cut(c->type, some[j]);
    }
    const uint64_t most = UINT64_MAX >> (64 - 8 * kr_type_nbytes(c->type)),
                   ends[] = {0, most, most / 2, most / 2 + 1};
    for (int j = 0; j < 4; ++j)
        p.values[p.n++] = cut(c->type, ends[j]);
    return p;
}

static void check_all(kr_index *index, const column *c)
{
    const column probes = probes_of(c);
    if (!index)
        return;
    check_points(index, c, &probes);
    check_ranges(index, c, &probes);
    check_nearest(index, c, &probes);
}

static void check_column(kr_device *device, const char *spec, const column *c)
{
    kr_index *index = build(device, spec, c, NULL);
    check_all(index, c);
    kr_index_destroy(index);
}

/* ---- Columns that it holds ------------------------------------------------------------------------ */

/* `n` multiples of a step above a value, with gaps; `backwards`: the highest first. */
static column stepped(kr_type type, uint64_t lowest, uint64_t step, uint64_t n, int backwards)
{
    column c = {.type = type, .n = n};
    for (uint64_t i = 0, at = 0; i < n; ++i, at += 1 + i % 3 / 2)
        c.values[backwards ? n - 1 - i : i] = cut(type, lowest + at * step);
    return c;
}

static void check_steps(kr_device *device)
{
    static const uint64_t wide[] = {
        1000, 86400000000, 604800000000, UINT64_C(1) << 40, (UINT64_C(1) << 53) - 111, 1234567890123457};
    static const uint32_t narrow[] = {97, 1024, 65537, 3600000, (1 << 22) - 3};
    for (uint64_t step = 1; step < 40; ++step) {
        const column few = stepped(KR_U32, UINT32_MAX - 700 * step, step, 300, (int)step % 2);
        const column dates = stepped(KR_DATE32, (uint64_t)-9000, step, 300, 0);
        check_column(device, "dense", &few);
        check_column(device, "dense", &dates);
    }
    for (size_t i = 0; i < sizeof wide / sizeof *wide; ++i) {
        const column c = stepped(KR_TIMESTAMP64, -200 * wide[i], wide[i], 300, 1);
        const column d = stepped(KR_U64, UINT64_MAX - 500 * wide[i], wide[i], 300, 0);
        check_column(device, "dense", &c);
        check_column(device, "dense", &d);
    }
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; ++i) {
        const column c = stepped(KR_I32, (uint64_t)INT32_MIN + 3, narrow[i], 300, 0);
        check_column(device, "dense", &c);
    }
}

/* Days in microseconds take no more bits than days. */
static void check_days(kr_device *device)
{
    const column days = stepped(KR_DATE32, (uint64_t)-500, 1, 300, 0);
    const column micros = stepped(KR_TIMESTAMP64, -500 * UINT64_C(86400000000), 86400000000, 300, 0);
    kr_index *a = build(device, "dense", &days, NULL), *b = build(device, "dense", &micros, NULL);
    if (a && b)
        CHECK(component(a, "bits") == component(b, "bits") && component(a, "bits") < 100);
    kr_index_destroy(a);
    kr_index_destroy(b);
}

static void check_types(kr_device *device)
{
    static const kr_type types[] = {KR_U8,  KR_I8,  KR_U16, KR_I16,    KR_U32,
                                    KR_I32, KR_U64, KR_I64, KR_DATE32, KR_TIMESTAMP64};
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
        const uint32_t bits = 8 * (uint32_t)kr_type_nbytes(types[i]);
        const uint64_t least = is_signed(types[i]) ? cut(types[i], UINT64_C(1) << (bits - 1)) : 0;
        const uint64_t most = cut(types[i], (UINT64_MAX >> (64 - bits)) >> is_signed(types[i]));
        const column ends = {types[i], 3, {most, least, most}}, one = {types[i], 1, {most}};
        const column zero = {types[i], 1, {0}};
        column equal = {.type = types[i], .n = 300};
        for (uint64_t k = 0; k < equal.n; ++k)
            equal.values[k] = least;
        const column none = {.type = types[i]};
        check_column(device, "dense", &ends); /* two values, far apart as they are */
        check_column(device, "dense", &one);
        check_column(device, "dense:step=1", &one);
        check_column(device, "dense", &zero);
        check_column(device, "dense", &equal);
        kr_index *index = build(device, "dense", &none, NULL);
        CHECK(index && component(index, "bits") == 0);
        kr_index_destroy(index);
    }
}

/* A few keys on both sides of a gap of a hundred thousand blocks. */
static void check_gap(kr_device *device)
{
    column c = {.type = KR_I64, .n = MOST};
    for (uint64_t i = 0; i < c.n; ++i)
        c.values[i] = i < 30 ? 5 * i : 1500000 + i * i;
    check_column(device, "dense:spread=4096", &c);
    c.type = KR_U32;
    check_column(device, "dense:spread=4096,step=1", &c);
}

/* All values have keys, so that no block is read: once each, or several times, in any order, until a key is
 * deleted. */
static void check_full(kr_device *device)
{
    static const kr_type types[] = {KR_U8, KR_I16, KR_U32, KR_DATE32, KR_U64, KR_TIMESTAMP64};
    static const uint64_t steps[] = {1, 7, 64};
    for (uint64_t i = 0; i < 6 * 3 * 2; ++i) {
        const kr_type type = types[i / 6];
        const uint64_t step = kr_type_nbytes(type) > 2 ? steps[i / 2 % 3] : 1, times = 1 + 2 * (i % 2);
        column c = {.type = type, .n = kr_type_nbytes(type) > 1 ? 399 : 3 * 70}, left = {.type = type};
        static uint64_t bytes[MOST];
        for (uint64_t k = 0; k < c.n; ++k)
            c.values[k] = cut(type, 3 + (k * 8 % c.n) / times * step); /* 8 and n have no common divisor */
        kr_index *index = build(device, "dense", &c, NULL);
        check_all(index, &c);
        left = c;
        memset(left.values, 0xEE, sizeof left.values);
        for (uint64_t k = 0; k < c.n; ++k)
            left.values[k] = k && c.values[k] == c.values[1] ? UINT64_C(0xEEEEEEEEEEEEEEEE) : c.values[k];
        const kr_column gone = {.type = type, .count = 1, .data = bytes};
        const column one = {type, 1, {c.values[1]}}, probes = probes_of(&c);
        store(&one, bytes);
        if (index)
            WORKS(kr_index_update(index, NULL, NULL, &gone, NULL, &err));
        if (index)
            check_points(index, &left, &probes);
        kr_index_destroy(index);
    }
}

static void check_rows_kept(kr_device *device)
{
    column up = stepped(KR_U32, 10, 1, 300, 0), down = stepped(KR_U32, 10, 1, 300, 1), twice = up;
    uint32_t ids[MOST];
    for (uint64_t i = 0; i < up.n; ++i)
        ids[i] = 7 + (uint32_t)(up.n - 1 - i);
    kr_index *index = build(device, "dense", &up, NULL);
    CHECK(index && component(index, "row ids") == 0 && component(index, "starts") == 0);
    kr_index_destroy(index);
    index = build(device, "dense", &down, NULL);
    CHECK(index && component(index, "row ids") == 300 * 4);
    kr_index_destroy(index);
    index = build(device, "dense", &down, ids); /* in the order of the keys again, from 7 on */
    CHECK(index && component(index, "row ids") == 0);
    kr_index_destroy(index);
    twice.values[1] = twice.values[0];
    index = build(device, "dense", &twice, NULL);
    CHECK(index && component(index, "row ids") == 0 && component(index, "starts") == 300 * 4);
    check_all(index, &twice);
    kr_index_destroy(index);
    twice.values[299] = 0; /* all ascend but the last */
    check_column(device, "dense", &twice);
}

/* ---- Columns that it refuses ---------------------------------------------------------------------- */

static void check_refused(kr_device *device, const column *c, const char *spec, const char *must_name)
{
    static uint64_t bytes[MOST];
    kr_index *index = NULL;
    kr_error error = {0};
    store(c, bytes);
    const kr_column keys = {.type = c->type, .count = c->n, .data = bytes};
    const kr_status status = kr_index_create(device, spec, &keys, NULL, NULL, &index, &error);
    if (status != KR_ERR_LIMIT || index || !strstr(error.text, must_name) ||
        !strstr(error.text, "use kind pivot")) {
        ++failures;
        printf("FAILED %s: %s '%s', to name '%s'\n", spec, kr_status_name(status), error.text, must_name);
    }
    kr_index_destroy(index);
}

static void check_spread(kr_device *device)
{
    const column ends = {KR_U64, 3, {0, 1, UINT64_MAX}}, narrow = {KR_I32, 3, {0, 1, (uint64_t)INT32_MIN}};
    column ten = {.type = KR_U32, .n = 10}, last = stepped(KR_U32, 0, 1, 300, 0);
    check_refused(device, &ends, "dense", "2635249153387078816 bytes");
    check_refused(device, &ends, "dense:spread=4096", "spread=4096 allows");
    check_refused(device, &narrow, "dense", "2147483649 steps of 1");
    for (uint64_t i = 0; i < ten.n; ++i)
        ten.values[i] = i * 238609294 + i % 2; /* 2^31 values */
    check_refused(device, &ten, "dense", "306783392 bytes");
    last.values[299] = 28 * 300 + 65536;
    check_refused(device, &last, "dense", "give spread=29, or");
    check_column(device, "dense:spread=29", &last);
    --last.values[299];
    check_column(device, "dense", &last);
}

static void check_floats(kr_device *device)
{
    static const float narrow[] = {1, 2, 3};
    static const double wide[] = {1, 2, 3};
    static const char *const specs[] = {"dense", "dense:keep=host"};
    const kr_column columns[] = {{.type = KR_F32, .count = 3, .data = narrow},
                                 {.type = KR_F64, .count = 3, .data = wide}};
    kr_index *index = NULL;
    for (int i = 0; i < 4; ++i) {
        const kr_column *keys = &columns[i / 2];
        kr_estimate estimate = {.struct_size = sizeof estimate};
        kr_explanation explanation = {.struct_size = sizeof explanation};
        REFUSED(KR_ERR_UNSUPPORTED, kr_index_create(device, specs[i % 2], keys, NULL, NULL, &index, &err));
        REFUSED(KR_ERR_UNSUPPORTED, kr_index_estimate(device, specs[i % 2], keys, &estimate, &err));
        REFUSED(KR_ERR_UNSUPPORTED,
                kr_index_explain(device, KR_OP_POINT, specs[i % 2], keys, 10, &explanation, &err));
        CHECK(index == NULL);
    }
}

/* ---- Changes -------------------------------------------------------------------------------------- */

/* Far keys are refused and change nothing; all rows can be deleted, others inserted then. */
static void check_changes(kr_device *device)
{
    column c = stepped(KR_U32, 1000, 2, 200, 0);
    static const uint32_t far[] = {2000000000}, odd[] = {1001, 1003};
    const kr_column outside = {.type = KR_U32, .count = 1, .data = far};
    const kr_column between = {.type = KR_U32, .count = 2, .data = odd};
    static uint64_t bytes[MOST];
    const uint32_t row = 3;
    kr_index *index = build(device, "dense", &c, NULL);
    if (!index)
        return;
    const uint64_t bits = component(index, "bits");
    REFUSED(KR_ERR_LIMIT, kr_index_update(index, &outside, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_LIMIT, kr_index_set_keys(index, &row, &outside, NULL, &err));
    WORKS(kr_index_validate(index, &err));
    check_all(index, &c);
    WORKS(kr_index_update(index, &between, NULL, NULL, NULL, &err)); /* the step becomes 1 */
    CHECK(component(index, "bits") > bits && component(index, "row ids") > 0);
    c.values[c.n++] = odd[0];
    c.values[c.n++] = odd[1];
    check_all(index, &c);
    store(&c, bytes);
    const kr_column all = {.type = KR_U32, .count = c.n, .data = bytes};
    WORKS(kr_index_update(index, NULL, NULL, &all, NULL, &err));
    CHECK(component(index, "bits") == 0);
    const column none = {.type = KR_U32};
    check_points(index, &none, &c);
    WORKS(kr_index_update(index, &outside, &row, NULL, NULL, &err)); /* it is the only key now */
    WORKS(kr_index_validate(index, &err));
    CHECK(component(index, "bits") == 32 && component(index, "row ids") == 0);
    kr_index_destroy(index);
}

/* Two keys that are left of many may lie farther apart than keys that are inserted may. */
static void check_thinned(kr_device *device)
{
    column c = {.type = KR_U64, .n = MOST}, left = {.type = KR_U64};
    static uint64_t bytes[MOST];
    for (uint64_t i = 0; i < c.n; ++i)
        c.values[i] = i * 190 + i % 2;
    kr_index *index = build(device, "dense", &c, NULL);
    const kr_column gone = {.type = KR_U64, .count = c.n - 4, .data = bytes + 2};
    store(&c, bytes);
    if (!index)
        return;
    WORKS(kr_index_update(index, NULL, NULL, &gone, NULL, &err));
    WORKS(kr_index_validate(index, &err));
    left.n = c.n;
    memset(left.values, 0xEE, sizeof left.values); /* values that no probe has */
    for (uint64_t i = 0; i < c.n; ++i)
        if (i < 2 || i >= c.n - 2)
            left.values[i] = c.values[i];
    const column probes = probes_of(&c);
    check_points(index, &left, &probes);
    kr_index_destroy(index);
}

int main(void)
{
    kr_device *device = NULL;
    WORKS(kr_device_open("auto", NULL, &device, &err));
    if (!device)
        return 1;
    check_steps(device);
    check_days(device);
    check_types(device);
    check_gap(device);
    check_full(device);
    check_rows_kept(device);
    check_spread(device);
    check_floats(device);
    check_changes(device);
    check_thinned(device);
    kr_device_close(device);
    return failures != 0;
}
