/* The workload generators: the same bytes everywhere (pinned hashes), for every thread count, and with
 * the properties that bench/README.md promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "generated.h"

/* ---- Pinned bytes -------------------------------------------------------------------------- */

static const struct {
    kr_keys_spec spec;
    uint64_t hash;
} pinned_keys[] = {
    {{.count = 1000}, UINT64_C(0xE086EFD791DEE1D9)},
    {{.count = 1000, .bits = 64}, UINT64_C(0xA296618CD3293629)},
    {{.count = 1000, .seed = 7}, UINT64_C(0xD5299FC3EBE577E5)},
    {{.count = 1000, .uniformity = 50}, UINT64_C(0xDC33E7A408E89BED)},
    {{.count = 1000, .uniformity = 100}, UINT64_C(0xD8390C5E032F8B56)},
    {{.count = 1000, .uniformity = 100, .bits = 64}, UINT64_C(0xCF8BC88F8120DFC3)},
    {{.count = 1000, .uniformity = 30, .dense_centre = 1}, UINT64_C(0x9E0E69A21D15CB44)},
    {{.count = 1000, .uniformity = 30, .dense_centre = 1, .bits = 64}, UINT64_C(0xDBF2B25C0DC2077A)},
    {{.count = 1000, .stride = 1000, .bits = 64}, UINT64_C(0xCF8479033339967E)},
    {{.count = 1000, .stride = 3, .multiplicity = 8, .uniformity = 20}, UINT64_C(0x67D0487496E67B21)},
    {{.count = 1000, .sorted = 1, .uniformity = 50}, UINT64_C(0x62550EF51BDA5D01)},
    {{.count = 1000, .sorted = 1, .uniformity = 90, .multiplicity = 2, .bits = 64},
     UINT64_C(0x636FF8388CAC9DD5)},
};

static void test_keys_pinned(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(pinned_keys); i++) {
        const kr_keys_spec *spec = &pinned_keys[i].spec;
        void *keys = generated_keys(spec, 0);
        assert_int_equal(hash_bytes(keys, (size_t)spec->count * kr_keys_nbytes(spec)), pinned_keys[i].hash);
        free(keys);
    }
}

static const struct {
    kr_probes_spec spec;
    uint32_t bits;
    uint64_t probes, rows;
} pinned_probes[] = {
    {{.count = 1000}, 32, UINT64_C(0x16BA000794B9EF4A), UINT64_C(0x33A84F584B635075)},
    {{.count = 1000, .seed = 7}, 64, UINT64_C(0xBB82A79540A9BC85), UINT64_C(0x1BE23E0E43F9B4F4)},
    {{.count = 1000, .miss_percent = 40}, 32, UINT64_C(0x853C426906C5D257), UINT64_C(0xD266F96F5F35095A)},
    {{.count = 1000, .miss_percent = 40, .outlier_percent = 100},
     64,
     UINT64_C(0x8EB0D5E98B98AC22),
     UINT64_C(0xD266F96F5F35095A)},
    {{.count = 1000, .zipf_hundredths = 25}, 32, UINT64_C(0xB371FF4F57FF2538), UINT64_C(0x730215506387708B)},
    {{.count = 1000, .zipf_hundredths = 100}, 64, UINT64_C(0x47B6254BD36CA5FF), UINT64_C(0x0A1FDB497D8A7CB3)},
    {{.count = 1000, .zipf_hundredths = 150, .miss_percent = 10, .order = KR_PROBES_ASCENDING},
     32,
     UINT64_C(0xD942B97CA7B0C26B),
     UINT64_C(0xAD60D922343A0919)},
    {{.count = 1000, .miss_percent = 10, .order = KR_PROBES_DESCENDING},
     64,
     UINT64_C(0xC2DF729F17841251),
     UINT64_C(0x8604CB50AD27D5DD)},
    {{.count = 999, .miss_percent = 40, .order = KR_PROBES_HALF},
     32,
     UINT64_C(0xC89852A8EE7DEC0F),
     UINT64_C(0xDA231F61776A204D)},
};

static void test_probes_pinned(void **state)
{
    (void)state;
    uint64_t probes[1000];
    uint32_t rows[1000];
    for (size_t i = 0; i < LENGTH(pinned_probes); i++) {
        kr_keys_spec spec = {.count = 5000, .uniformity = 50, .bits = pinned_probes[i].bits};
        void *keys = generated_keys(&spec, 0);
        kr_type type = spec.bits == 64 ? KR_U64 : KR_U32;
        assert_int_equal(
            kr_generate_probes(&pinned_probes[i].spec, type, spec.count, keys, 0, probes, rows, NULL), KR_OK);
        const size_t count = (size_t)pinned_probes[i].spec.count;
        assert_int_equal(hash_bytes(probes, count * kr_keys_nbytes(&spec)), pinned_probes[i].probes);
        assert_int_equal(hash_bytes(rows, count * sizeof *rows), pinned_probes[i].rows);
        free(keys);
    }
}

static const struct {
    kr_ranges_spec spec;
    uint64_t lower, upper;
} pinned_ranges[] = {
    {{.count = 1000}, UINT64_C(0x2CBEB443546232EA), UINT64_C(0x2CBEB443546232EA)},
    {{.count = 1000, .hits = 64, .seed = 7}, UINT64_C(0xBDE5F324B9D41B39), UINT64_C(0x5D26718829F617F0)},
    {{.count = 1000, .hits = 64, .multiplier = 1000, .order = KR_PROBES_ASCENDING},
     UINT64_C(0x69F1DD46D5E5F42A),
     UINT64_C(0x900A26F25F86C7A6)},
};

static void test_ranges_pinned(void **state)
{
    (void)state;
    kr_keys_spec spec = {.count = 5000, .uniformity = 50};
    void *keys = generated_keys(&spec, 0);
    uint32_t lower[1000], upper[1000];
    for (size_t i = 0; i < LENGTH(pinned_ranges); i++) {
        assert_int_equal(
            kr_generate_ranges(&pinned_ranges[i].spec, KR_U32, spec.count, keys, 0, lower, upper, NULL),
            KR_OK);
        assert_int_equal(hash_bytes(lower, sizeof lower), pinned_ranges[i].lower);
        assert_int_equal(hash_bytes(upper, sizeof upper), pinned_ranges[i].upper);
    }
    free(keys);
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    enum { N = 50001 };
    static uint64_t probes[2][N], upper[2][N];
    static uint32_t rows[2][N];
    kr_keys_spec keys_spec = {.count = N, .uniformity = 60, .bits = 64, .multiplicity = 3, .sorted = 1};
    kr_probes_spec probes_spec = {
        .count = N, .miss_percent = 33, .zipf_hundredths = 75, .order = KR_PROBES_DESCENDING};
    kr_probes_spec half_spec = {.count = N, .miss_percent = 33, .order = KR_PROBES_HALF};
    kr_ranges_spec ranges_spec = {.count = N, .hits = 100, .order = KR_PROBES_ASCENDING};
    void *one = generated_keys(&keys_spec, 1);
    for (uint32_t threads = 0; threads < 12; threads++) {
        void *many = generated_keys(&keys_spec, threads);
        assert_memory_equal(one, many, N * sizeof(uint64_t));
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(
                kr_generate_probes(&probes_spec, KR_U64, N, one, i ? threads : 1, probes[i], rows[i], NULL),
                KR_OK);
        assert_memory_equal(probes[0], probes[1], sizeof probes[0]);
        assert_memory_equal(rows[0], rows[1], sizeof rows[0]);
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(
                kr_generate_probes(&half_spec, KR_U64, N, one, i ? threads : 1, probes[i], rows[i], NULL),
                KR_OK);
        assert_memory_equal(probes[0], probes[1], sizeof probes[0]);
        assert_memory_equal(rows[0], rows[1], sizeof rows[0]);
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(
                kr_generate_ranges(&ranges_spec, KR_U64, N, one, i ? threads : 1, probes[i], upper[i], NULL),
                KR_OK);
        assert_memory_equal(probes[0], probes[1], sizeof probes[0]);
        assert_memory_equal(upper[0], upper[1], sizeof upper[0]);
        free(many);
    }
    free(one);
}

/* ---- Keys ---------------------------------------------------------------------------------- */

/* Every set holds what its spec defines: the entire dense part, and distinct other keys outside of it. */
static void check_key_set(const kr_keys_spec *spec)
{
    uint64_t m = spec->multiplicity ? spec->multiplicity : 1, stride = spec->stride ? spec->stride : 1;
    uint64_t distinct = spec->count / m, dense = distinct - distinct * spec->uniformity / 100;
    uint64_t reach = dense ? (dense - 1) * stride : 0;
    uint64_t all = spec->bits == 64 ? UINT64_MAX : UINT32_MAX;
    uint64_t last = spec->spread ? distinct * spec->spread - 1 : all;
    uint64_t start = spec->dense_centre && dense ? last / 2 - reach / 2 : 0;
    void *keys = generated_keys(spec, 2);
    uint64_t *sorted = ascending(spec, keys);
    uint64_t found_dense = 0;
    for (uint64_t i = 0; i < distinct; i++) {
        for (uint64_t copy = 1; copy < m; copy++)
            assert_int_equal(sorted[i * m + copy], sorted[i * m]);
        uint64_t value = sorted[i * m];
        assert_true(value <= last);
        if (i)
            assert_true(value > sorted[i * m - 1]);
        if (dense && value - start <= reach) {
            assert_int_equal(value, start + found_dense * stride);
            found_dense++;
        }
        if (spec->sorted)
            for (uint64_t copy = 0; copy < m; copy++)
                assert_int_equal(key_of(spec, keys, i * m + copy), value);
    }
    assert_int_equal(found_dense, dense);
    free(sorted);
    free(keys);
}

static void test_key_sets(void **state)
{
    (void)state;
    static const kr_keys_spec specs[] = {
        {.stride = 1},
        {.uniformity = 100},
        {.uniformity = 37},
        {.uniformity = 50, .dense_centre = 1},
        {.stride = 5},
        {.stride = 7, .uniformity = 10, .dense_centre = 1},
        {.multiplicity = 8},
        {.multiplicity = 1024, .uniformity = 50},
        {.spread = 4, .uniformity = 100},
        {.spread = 3, .uniformity = 60, .multiplicity = 2},
        {.sorted = 1},
        {.sorted = 1, .uniformity = 70, .multiplicity = 4, .dense_centre = 1},
    };
    for (size_t i = 0; i < 2 * LENGTH(specs); i++) {
        kr_keys_spec spec = specs[i / 2];
        spec.bits = i % 2 ? 64 : 32;
        spec.count = 30 * 1024;
        check_key_set(&spec);
    }
    /* Every small size: the shuffle is a permutation of it. */
    for (uint64_t count = 0; count < 300; count++)
        check_key_set(&(kr_keys_spec){.count = count});
    /* The value range filled to its end. */
    check_key_set(&(kr_keys_spec){.count = 65537, .stride = 65535});
    check_key_set(&(kr_keys_spec){.count = 65538, .stride = UINT64_C(281470681808895), .bits = 64});
}

/* Sum of (observed - expected)^2 / expected over 1024 cells. */
static uint64_t chi_square(const uint64_t cells[1024], uint64_t expected)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 1024; i++) {
        int64_t off = (int64_t)cells[i] - (int64_t)expected;
        sum += (uint64_t)(off * off);
    }
    return sum / expected;
}

/* 1023 is expected, and 45 its standard deviation; both far more and far less show a pattern. */
static void assert_random(const uint64_t cells[1024], uint64_t expected)
{
    assert_in_range(chi_square(cells, expected), 1023 - 6 * 45, 1023 + 6 * 45);
}

static void test_keys_look_random(void **state)
{
    (void)state;
    enum { N = 1 << 18 };
    for (uint64_t seed = 1; seed <= 8; seed++) {
        kr_keys_spec uniform = {.count = N, .uniformity = 100, .seed = seed},
                     dense = {.count = N, .seed = seed};
        uint32_t *keys = generated_keys(&uniform, 0), *shuffled = generated_keys(&dense, 0);
        uint64_t top[1024] = {0}, low[1024] = {0}, steps[1024] = {0}, joint[1024] = {0}, turns[1024] = {0};
        for (uint32_t i = 0; i < N; i++) {
            uint32_t next = (i + 1) % N;
            top[keys[i] >> 22]++;
            low[keys[i] & 1023]++;
            steps[(keys[next] - keys[i]) >> 22]++;
            joint[(i >> 13 << 5) | shuffled[i] >> 13]++;
            turns[((shuffled[next] - shuffled[i]) & (N - 1)) >> 8]++;
        }
        assert_random(top, N / 1024);
        assert_random(low, N / 1024);
        assert_random(steps, N / 1024);
        assert_random(turns, N / 1024);
        /* Rows and columns are full, so 31 * 31 degrees of freedom are left: 961 expected. */
        assert_in_range(chi_square(joint, N / 1024), 961 - 6 * 44, 961 + 6 * 44);
        free(shuffled);
        free(keys);
    }
}

/* ---- Probes -------------------------------------------------------------------------------- */

static void check_probes(const kr_keys_spec *keys_spec, const kr_probes_spec *spec)
{
    kr_type type = keys_spec->bits == 64 ? KR_U64 : KR_U32;
    void *keys = generated_keys(keys_spec, 2);
    uint64_t *sorted = ascending(keys_spec, keys), misses = 0, outliers = 0, before = 0;
    void *probes = malloc((size_t)spec->count * sizeof(uint64_t));
    uint32_t *rows = malloc((size_t)spec->count * sizeof *rows);
    assert_int_equal(kr_generate_probes(spec, type, keys_spec->count, keys, 2, probes, rows, NULL), KR_OK);
    for (uint64_t i = 0; i < spec->count; i++) {
        uint64_t value = key_of(keys_spec, probes, i);
        if (rows[i] == KR_NO_ROW) {
            int outside = value < sorted[0] || value > sorted[keys_spec->count - 1];
            outliers += outside;
            assert_null(bsearch(&value, sorted, (size_t)keys_spec->count, sizeof value, by_value));
            misses++;
        } else {
            assert_true(rows[i] < keys_spec->count);
            assert_int_equal(value, key_of(keys_spec, keys, rows[i]));
        }
        if (i && spec->order == KR_PROBES_ASCENDING)
            assert_true(value >= before);
        if (i && spec->order == KR_PROBES_DESCENDING)
            assert_true(value <= before);
        before = value;
    }
    assert_int_equal(misses, spec->count * spec->miss_percent / 100);
    assert_int_equal(outliers, misses * spec->outlier_percent / 100);
    free(rows);
    free(probes);
    free(sorted);
    free(keys);
}

static void test_probes(void **state)
{
    (void)state;
    static const uint32_t percents[] = {0, 1, 37, 99, 100}, outliers[] = {0, 100, 43};
    static const kr_keys_spec sets[] = {
        {.count = 4096, .uniformity = 100},
        {.count = 4096, .uniformity = 50, .dense_centre = 1, .bits = 64},
        {.count = 4096, .stride = 2},
        {.count = 4096, .uniformity = 1, .bits = 64, .multiplicity = 4, .sorted = 1},
        {.count = 2, .uniformity = 100},
    };
    for (size_t set = 0; set < LENGTH(sets); set++)
        for (size_t p = 0; p < LENGTH(percents); p++)
            for (uint32_t variant = 0; variant < 16; variant++)
                check_probes(&sets[set], &(kr_probes_spec){.count = 3333,
                                                           .miss_percent = percents[p],
                                                           .outlier_percent = outliers[(variant + p) % 3],
                                                           .zipf_hundredths = variant & 2 ? 110 : 0,
                                                           .order = variant / 4});
}

/* Half of the probes ascends, and is what was drawn there; the other half is as drawn; every probe keeps its
 * row. */
static void test_half_ascends(void **state)
{
    (void)state;
    enum { MOST = 20001 };
    static const uint64_t counts[] = {0, 1, 2, 3, 1000, MOST};
    static uint64_t drawn[MOST], half[MOST], even[MOST];
    static uint32_t drawn_rows[MOST], half_rows[MOST];
    kr_keys_spec keys_spec = {.count = 5000, .uniformity = 100, .bits = 64};
    uint64_t *keys = generated_keys(&keys_spec, 0);
    for (size_t c = 0; c < LENGTH(counts); c++) {
        kr_probes_spec spec = {.count = counts[c], .miss_percent = 20};
        assert_int_equal(kr_generate_probes(&spec, KR_U64, 5000, keys, 2, drawn, drawn_rows, NULL), KR_OK);
        spec.order = KR_PROBES_HALF;
        assert_int_equal(kr_generate_probes(&spec, KR_U64, 5000, keys, 2, half, half_rows, NULL), KR_OK);
        size_t n = 0;
        for (uint64_t i = 0; i < spec.count; i += 2)
            even[n++] = drawn[i];
        qsort(even, n, sizeof *even, by_value);
        for (uint64_t i = 0; i < spec.count; i++) {
            assert_int_equal(half[i], i % 2 ? drawn[i] : even[i / 2]);
            if (i % 2)
                assert_int_equal(half_rows[i], drawn_rows[i]);
            else if (half_rows[i] != KR_NO_ROW)
                assert_int_equal(keys[half_rows[i]], half[i]);
        }
        assert_int_equal(kr_generate_probes(&spec, KR_U64, 5000, keys, 2, even, NULL, NULL), KR_OK);
        assert_memory_equal(even, half, spec.count * sizeof *half);
    }
    free(keys);
}

/* Small signed and unsigned columns: every absent value is drawn, about equally often, and no other. */
static void test_misses_cover_all_gaps(void **state)
{
    (void)state;
    enum { N = 1 << 18 };
    static const int8_t keys[] = {3, 5, 5, -9, 100, -3};
    static int8_t probes[N];
    for (uint32_t outside = 0; outside < 2; outside++) {
        uint64_t seen[256] = {0}, total = 0;
        kr_probes_spec spec = {.count = N, .miss_percent = 100, .outlier_percent = outside * 100};
        assert_int_equal(kr_generate_probes(&spec, KR_I8, 6, keys, 0, probes, NULL, NULL), KR_OK);
        for (uint32_t i = 0; i < N; i++)
            seen[probes[i] + 128]++;
        for (int value = -128; value < 128; value++)
            total +=
                ((value < -9 || value > 100) == (int)outside) && !(value <= 100 && memchr(keys, value, 6));
        assert_int_equal(total, outside ? 119 + 27 : 110 - 5);
        for (int value = -128; value < 128; value++) {
            int wanted = (value < -9 || value > 100) == (int)outside && !memchr(keys, value, 6);
            uint64_t n = seen[value + 128], mean = N / total;
            assert_in_range(n, wanted ? mean * 4 / 5 : 0, wanted ? mean * 6 / 5 : 0);
        }
    }
}

static void test_hits_are_uniform(void **state)
{
    (void)state;
    enum { N = 1 << 18 };
    static uint32_t probes[N], rows[N];
    kr_keys_spec keys_spec = {.count = 1024};
    uint32_t *keys = generated_keys(&keys_spec, 0);
    uint64_t drawn[1024] = {0};
    assert_int_equal(
        kr_generate_probes(&(kr_probes_spec){.count = N}, KR_U32, 1024, keys, 0, probes, rows, NULL), KR_OK);
    for (uint32_t i = 0; i < N; i++)
        drawn[rows[i]]++;
    assert_random(drawn, N / 1024);
    free(keys);
}

/* ---- Zipf ---------------------------------------------------------------------------------- */

static int descending_count(const void *a, const void *b)
{
    return by_value(b, a);
}

/* By the public function: the hottest keys get their share, wherever they lie. */
static void test_zipf_probes(void **state)
{
    (void)state;
    enum { KEYS = 1000, N = 1 << 18 };
    static const struct {
        uint32_t hundredths;
        uint64_t first, second;
    } heads[] = {{50, 16180965, 11441671}, {100, 133592130, 66796065}, {150, 392288301, 138694860}};
    static uint64_t probes[N];
    static uint32_t rows[N];
    kr_keys_spec keys_spec = {.count = KEYS, .uniformity = 100, .bits = 64, .sorted = 1};
    uint64_t *keys = generated_keys(&keys_spec, 0);
    for (size_t h = 0; h < LENGTH(heads); h++) {
        uint64_t drawn[KEYS] = {0};
        kr_probes_spec spec = {.count = N, .zipf_hundredths = heads[h].hundredths};
        assert_int_equal(kr_generate_probes(&spec, KR_U64, KEYS, keys, 0, probes, rows, NULL), KR_OK);
        for (uint32_t i = 0; i < N; i++)
            drawn[rows[i]]++;
        qsort(drawn, KEYS, sizeof *drawn, descending_count);
        uint64_t first = heads[h].first * N / 1000000000, second = heads[h].second * N / 1000000000;
        assert_in_range(drawn[0], first * 95 / 100, first * 105 / 100);
        assert_in_range(drawn[1], second * 95 / 100, second * 105 / 100);
        /* Octaves of ranks decrease as they should: ever more evenly as s falls to 0. */
        for (uint32_t rank = 2; 2 * rank <= KEYS; rank *= 2)
            assert_true(drawn[rank / 2 - 1] > drawn[rank - 1]);
    }
    free(keys);
}

/* ---- Ranges -------------------------------------------------------------------------------- */

static void test_ranges(void **state)
{
    (void)state;
    static const int32_t keys[] = {INT32_MIN, -1, 0, INT32_MAX - 3, INT32_MAX};
    static const struct {
        uint64_t hits, multiplier, reach;
    } cases[] = {{0, 0, 0},
                 {1, 1, 0},
                 {10, 1, 9},
                 {4, 8, 31},
                 {UINT64_MAX, 2, UINT64_MAX},
                 {UINT64_C(1) << 32, 1, UINT32_MAX}};
    int32_t lower[500], upper[500];
    for (size_t c = 0; c < 4 * LENGTH(cases); c++) {
        kr_ranges_spec spec = {.count = 500,
                               .hits = cases[c / 4].hits,
                               .multiplier = cases[c / 4].multiplier,
                               .order = (uint32_t)(c % 4)};
        uint32_t seen[5] = {0};
        assert_int_equal(kr_generate_ranges(&spec, KR_I32, 5, keys, 0, lower, upper, NULL), KR_OK);
        for (uint32_t i = 0; i < 500; i++) {
            uint64_t room = (uint64_t)((int64_t)INT32_MAX - lower[i]), reach = cases[c / 4].reach;
            assert_int_equal((int64_t)upper[i] - lower[i], reach < room ? reach : room);
            for (uint32_t k = 0; k < 5; k++)
                seen[k] += lower[i] == keys[k];
            if (i && spec.order == KR_PROBES_ASCENDING)
                assert_true(lower[i - 1] <= lower[i]);
            if (i && spec.order == KR_PROBES_DESCENDING)
                assert_true(lower[i - 1] >= lower[i]);
            if (i > 1 && i % 2 == 0 && spec.order == KR_PROBES_HALF)
                assert_true(lower[i - 2] <= lower[i]);
        }
        assert_int_equal(seen[0] + seen[1] + seen[2] + seen[3] + seen[4], 500);
        for (uint32_t k = 0; k < 5; k++)
            assert_in_range(seen[k], 50, 150);
    }
}

/* ---- Errors -------------------------------------------------------------------------------- */

static void test_impossible_keys(void **state)
{
    (void)state;
    static const struct {
        kr_keys_spec spec;
        kr_status status;
        const char *names;
    } cases[] = {
        {{.count = 8, .bits = 16}, KR_ERR_ARGUMENT, "bits"},
        {{.count = 8, .uniformity = 101}, KR_ERR_ARGUMENT, "uniformity"},
        {{.count = UINT64_C(1) << 32}, KR_ERR_LIMIT, "count"},
        {{.count = 8, .multiplicity = 3}, KR_ERR_ARGUMENT, "multiplicity"},
        {{.count = 65537, .stride = 65536}, KR_ERR_ARGUMENT, "stride"},
        {{.count = 3, .stride = UINT64_C(1) << 63, .bits = 64}, KR_ERR_ARGUMENT, "stride"},
        {{.count = 131074, .stride = 65535, .uniformity = 50}, KR_ERR_ARGUMENT, "uniformity"},
        {{.count = 1000, .stride = 5, .spread = 4}, KR_ERR_ARGUMENT, "stride"},
    };
    static uint64_t keys[131074], untouched[131074];
    memset(keys, 0xA5, sizeof keys);
    memset(untouched, 0xA5, sizeof untouched);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        kr_error err = {0};
        assert_int_equal(kr_generate_keys(&cases[i].spec, 0, keys, &err), cases[i].status);
        assert_int_equal(err.status, cases[i].status);
        assert_non_null(strstr(err.text, cases[i].names));
        assert_int_equal(kr_generate_keys(&cases[i].spec, 0, keys, NULL), cases[i].status);
    }
    assert_memory_equal(keys, untouched, sizeof keys);
    assert_int_equal(kr_generate_keys(&(kr_keys_spec){.count = 1}, 0, NULL, NULL), KR_ERR_ARGUMENT);
    assert_int_equal(kr_generate_keys(&(kr_keys_spec){.count = 0}, 0, NULL, NULL), KR_OK);
}

static void test_impossible_probes(void **state)
{
    (void)state;
    static const uint8_t dense[] = {4, 5, 6, 7}, ends[] = {0, 9, 255};
    static const struct {
        kr_probes_spec spec;
        kr_type type;
        uint64_t n_keys;
        const uint8_t *keys;
        kr_status status;
        const char *names;
    } cases[] = {
        {{.count = 2, .miss_percent = 101}, KR_U8, 4, dense, KR_ERR_ARGUMENT, "miss_percent"},
        {{.count = 2, .outlier_percent = 101}, KR_U8, 4, dense, KR_ERR_ARGUMENT, "outlier_percent"},
        {{.count = 2, .zipf_hundredths = 501}, KR_U8, 4, dense, KR_ERR_ARGUMENT, "zipf_hundredths"},
        {{.count = 2, .order = 4}, KR_U8, 4, dense, KR_ERR_ARGUMENT, "order"},
        {{.count = 2, .miss_percent = 50}, KR_U8, 4, dense, KR_ERR_ARGUMENT, "miss_percent"},
        {{.count = 2, .miss_percent = 50, .outlier_percent = 100},
         KR_U8,
         3,
         ends,
         KR_ERR_ARGUMENT,
         "outlier_percent"},
        {{.count = 2}, KR_U8, 0, dense, KR_ERR_ARGUMENT, "n_keys"},
        {{.count = 2}, KR_U8, 4, NULL, KR_ERR_ARGUMENT, "keys"},
        {{.count = 2}, KR_U8, UINT64_C(1) << 32, dense, KR_ERR_LIMIT, "2^32 - 1"},
        {{.count = 2}, KR_F32, 1, dense, KR_ERR_UNSUPPORTED, "type"},
        {{.count = 2}, (kr_type)0, 1, dense, KR_ERR_UNSUPPORTED, "type"},
        {{.count = 2}, (kr_type)99, 1, dense, KR_ERR_UNSUPPORTED, "type"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        kr_error err = {0};
        uint8_t probes[2] = {1, 1};
        uint32_t rows[2] = {77, 77};
        assert_int_equal(kr_generate_probes(&cases[i].spec, cases[i].type, cases[i].n_keys, cases[i].keys, 0,
                                            probes, rows, &err),
                         cases[i].status);
        assert_non_null(strstr(err.text, cases[i].names));
        assert_true(probes[0] == 1 && probes[1] == 1 && rows[0] == 77 && rows[1] == 77);
    }
    uint8_t low, high;
    assert_int_equal(kr_generate_ranges(&(kr_ranges_spec){.count = 1}, KR_U8, 0, dense, 0, &low, &high, NULL),
                     KR_ERR_ARGUMENT);
    assert_int_equal(kr_generate_ranges(&(kr_ranges_spec){.count = 1}, KR_U8, 4, dense, 0, &low, NULL, NULL),
                     KR_ERR_ARGUMENT);
    assert_int_equal(kr_generate_probes(&(kr_probes_spec){0}, KR_U8, 0, NULL, 0, NULL, NULL, NULL), KR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_pinned),
        cmocka_unit_test(test_probes_pinned),
        cmocka_unit_test(test_ranges_pinned),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_key_sets),
        cmocka_unit_test(test_keys_look_random),
        cmocka_unit_test(test_probes),
        cmocka_unit_test(test_half_ascends),
        cmocka_unit_test(test_misses_cover_all_gaps),
        cmocka_unit_test(test_hits_are_uniform),
        cmocka_unit_test(test_zipf_probes),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_impossible_keys),
        cmocka_unit_test(test_impossible_probes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
