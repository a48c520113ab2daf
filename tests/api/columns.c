/* Lookups in indexes over several columns: every kind, types, NULLs, ranges and nearest values of every
 * prefix, against a comparison of all rows. */
#include "columns_oracle.h"
#include "device_name.h"
#include "inside.h"

static kr_device *device;
static uint64_t asked, refused, wide, dense;

/* What a kind can answer. */
static uint32_t capabilities_of(const char *spec)
{
    kr_kind_info info = {.struct_size = sizeof info};
    const size_t length = strcspn(spec, ":");
    for (uint32_t i = 0; kr_kind_query(i, &info, NULL) == KR_OK; ++i)
        if (strlen(info.name) == length && !strncmp(info.name, spec, length))
            return info.capabilities;
    return 0;
}

static void mismatch(const char *what, const question *q, uint64_t probe, uint64_t want, uint64_t got)
{
    ++failures;
    printf("FAILED %s: probe %llu of %u of %u columns%s%s: want %llu, got %llu\n", what,
           (unsigned long long)probe, q->n_columns, q->rows->n_columns, q->upper ? ", range" : "",
           q->nearest ? ", nearest" : "", (unsigned long long)want, (unsigned long long)got);
    if (q->nearest)
        printf("  side %d strict %u limited %u\n", (int)q->nearest->side, q->nearest->strict,
               q->nearest->limited);
}

static void check_rows(kr_index *index, const kr_column_probes *probes, const question *q, uint32_t order)
{
    static uint64_t offsets[PROBES_MOST + 1];
    static uint32_t rows[PROBES_MOST * ROWS_MOST];
    uint64_t list[ROWS_MOST];
    const kr_sink sink = {.struct_size = sizeof sink,
                          .result = KR_RESULT_ROWS,
                          .order = order,
                          .out = offsets,
                          .rows = rows,
                          .rows_capacity = PROBES_MOST * ROWS_MOST};
    WORKS(kr_index_lookup_columns(index, probes, &sink, NULL, &err));
    for (uint64_t i = 0; i < q->probes->n; ++i) {
        const uint64_t n = answers_of(q, i, list);
        uint64_t sum = 0, wanted = 0;
        if (offsets[i + 1] - offsets[i] != n) {
            mismatch("rows", q, i, n, offsets[i + 1] - offsets[i]);
            return;
        }
        for (uint64_t k = 0; k < n; ++k) {
            const uint32_t got = rows[offsets[i] + k];
            sum += got;
            wanted += id_of(q, list[k]);
            if (order == KR_ORDER_KEY && got != id_of(q, list[k]))
                mismatch("order by key", q, i, id_of(q, list[k]), got);
            if (order == KR_ORDER_ROW && k && got <= rows[offsets[i] + k - 1])
                mismatch("order by row", q, i, k, got);
        }
        if (sum != wanted)
            mismatch("row ids", q, i, wanted, sum);
    }
}

/* ROW, COUNT, SUM_ROWS and EXISTS. */
static void check_numbers(kr_index *index, const kr_column_probes *probes, const question *q)
{
    uint32_t rows[PROBES_MOST];
    uint64_t counts[PROBES_MOST], sums[PROBES_MOST], list[ROWS_MOST];
    uint8_t exist[PROBES_MOST / 8 + 1];
    kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    WORKS(kr_index_lookup_columns(index, probes, &sink, NULL, &err));
    sink = (kr_sink){.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    WORKS(kr_index_lookup_columns(index, probes, &sink, NULL, &err));
    sink = (kr_sink){.struct_size = sizeof sink, .result = KR_RESULT_SUM_ROWS, .out = sums};
    WORKS(kr_index_lookup_columns(index, probes, &sink, NULL, &err));
    sink = (kr_sink){.struct_size = sizeof sink, .result = KR_RESULT_EXISTS, .out = exist};
    WORKS(kr_index_lookup_columns(index, probes, &sink, NULL, &err));
    for (uint64_t i = 0; i < q->probes->n; ++i) {
        const uint64_t n = answers_of(q, i, list);
        uint64_t sum = 0;
        uint32_t least = KR_NO_ROW;
        for (uint64_t k = 0; k < n; ++k) {
            sum += id_of(q, list[k]);
            least = id_of(q, list[k]) < least ? id_of(q, list[k]) : least;
        }
        if (rows[i] != least)
            mismatch("row", q, i, least, rows[i]);
        if (counts[i] != n)
            mismatch("count", q, i, n, counts[i]);
        if (sums[i] != sum)
            mismatch("sum of rows", q, i, sum, sums[i]);
        if ((exist[i / 8] >> i % 8 & 1) != (n > 0))
            mismatch("exists", q, i, n > 0, exist[i / 8] >> i % 8 & 1);
    }
}

static void ask(kr_index *index, const question *q)
{
    const kr_column_probes probes = {.struct_size = sizeof probes,
                                     .columns = q->probes->columns,
                                     .n_columns = q->n_columns,
                                     .upper = q->upper,
                                     .nearest = q->nearest};
    check_numbers(index, &probes, q);
    check_rows(index, &probes, q, KR_ORDER_ROW);
    check_rows(index, &probes, q, KR_ORDER_KEY);
    ++asked;
}

/* Every side, strict or not, with a tolerance or without. Returns those that the index does not tell. */
static void ask_nearest(kr_index *index, question q, kr_rng *rng)
{
    const kr_type type = q.probes->columns[q.n_columns - 1].type;
    for (int way = 0; way < 12; ++way) {
        kr_nearest_options options = {.struct_size = sizeof options,
                                      .side = (kr_nearest_side)(1 + way % 3),
                                      .strict = way / 3 % 2,
                                      .limited = way / 6};
        if (options.limited && is_float_type(type))
            options.float_tolerance = (double)kr_rng_below(rng, 40) / 8;
        else if (options.limited)
            options.tolerance = (int64_t)kr_rng_below(rng, kr_rng_below(rng, 2) ? 4 : 100);
        q.nearest = &options;
        uint32_t rows[PROBES_MOST];
        const kr_column_probes probes = {.struct_size = sizeof probes,
                                         .columns = q.probes->columns,
                                         .n_columns = q.n_columns,
                                         .nearest = &options};
        const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
        kr_error err = {0};
        const kr_status status = kr_index_lookup_columns(index, &probes, &sink, NULL, &err);
        if (status == KR_ERR_UNSUPPORTED && options.side == KR_NEAREST_EITHER)
            ++refused;
        else
            ask(index, &q);
    }
}

static void ask_all(kr_index *index, const sample *rows, const uint32_t *ids, const sample *probes,
                    const sample *upper, uint32_t capabilities, kr_rng *rng)
{
    for (uint32_t n = 1; n <= rows->n_columns; ++n) {
        question q = {.rows = rows, .ids = ids, .probes = probes, .n_columns = n};
        if (n == rows->n_columns || capabilities & KR_CAN_RANGE)
            ask(index, &q);
        if (capabilities & KR_CAN_RANGE) {
            q.upper = &upper->columns[n - 1];
            ask(index, &q);
            q.upper = NULL;
        }
        if (capabilities & KR_CAN_NEAREST)
            ask_nearest(index, q, rng);
    }
}

/* Some probes are rows, in all columns or in some. */
static void copy_rows(kr_rng *rng, const sample *rows, sample *probes)
{
    for (uint64_t i = 0; i < probes->n && rows->n; ++i) {
        const uint64_t row = kr_rng_below(rng, rows->n);
        const uint32_t columns = (uint32_t)kr_rng_below(rng, rows->n_columns + 1);
        for (uint32_t j = 0; j < columns; ++j) {
            uint64_t bits = 0;
            const uint32_t width = kr_type_nbytes(rows->columns[j].type);
            memcpy(&bits, (const char *)rows->columns[j].data + row * width, width);
            put(probes, j, i, bits);
        }
    }
}

static void check_one(const char *spec, uint32_t n_columns, int most_spread, uint64_t n, uint64_t seed)
{
    static sample rows, probes, upper;
    kr_rng rng = {seed};
    const shape of = random_shape(&rng, n_columns, most_spread);
    const uint32_t *ids = seed % 2 ? rows.row_ids : NULL;
    const int before = failures;
    kr_index *index = NULL;
    kr_index_info info = {.struct_size = sizeof info};
    random_sample(&rng, &of, n, &rows);
    random_sample(&rng, &of, PROBES_MOST, &probes);
    copy_rows(&rng, &rows, &probes);
    random_sample(&rng, &of, PROBES_MOST, &upper);
    kr_error said = {0};
    const int is_dense = !strncmp(spec, "dense", strlen("dense"));
    const kr_status status =
        kr_index_create_columns(device, spec, rows.columns, n_columns, ids, NULL, &index, &said);
    if (status == (is_dense ? KR_ERR_LIMIT : KR_ERR_UNSUPPORTED))
        return; /* keys lie too far apart, or nothing casts rays here */
    dense += is_dense && (of.types[0] == KR_F32 || of.types[0] == KR_F64);
    WORKS(said.status);
    if (!index)
        return;
    WORKS(kr_index_query(index, &info, &err));
    WORKS(kr_index_validate(index, &err));
    CHECK(info.n_columns == n_columns && (info.type == KR_U32 || info.type == KR_U64));
    uint64_t nbytes = 0;
    for (uint32_t i = 0; i < kr_index_component_count(index); ++i) {
        nbytes += kr_index_component_nbytes(index, i);
        wide += !strcmp(kr_index_component_name(index, i), "ranks of columns");
    }
    CHECK(nbytes == info.footprint_nbytes);
    ask_all(index, &rows, ids, &probes, &upper, capabilities_of(spec), &rng);
    if (failures != before) {
        printf("  %s, %u columns, %llu rows, seed %llu, key %s; types", spec, n_columns,
               (unsigned long long)n, (unsigned long long)seed, kr_type_name(info.type));
        for (uint32_t j = 0; j < n_columns; ++j)
            printf(" %s/%d", kr_type_name(of.types[j]), of.spreads[j]);
        printf("\n");
    }
    kr_index_destroy(index);
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {
        "array", "array:layout=aos", "pivot", "eytzinger", "btree", "hash", "chain", "best", "cgrx"};
    const uint64_t from = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    if (take_device_name(argc, argv))
        return SKIPPED;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    for (uint64_t seed = from; seed < from + 60 && failures < 20; ++seed) {
        const uint32_t n_columns = (uint32_t)(1 + seed % 4);
        const char *spec = specs[seed % 9];
        check_one(spec, n_columns, 0, seed % 11 ? ROWS_MOST : seed % 3, seed);
        check_one(spec, n_columns, 1, ROWS_MOST, seed + 1000);
        check_one(spec, n_columns, 2, ROWS_MOST, seed + 2000);
    }
    check_one("pivot", COLUMNS_MOST, 2, ROWS_MOST, 9001);
    check_one("array", COLUMNS_MOST, 0, ROWS_MOST, 9002);
    check_one("pivot", COLUMNS_MOST, 1, 1, 9003);
    printf("%llu questions, %llu of wide keys, %llu refused\n", (unsigned long long)asked,
           (unsigned long long)wide, (unsigned long long)refused);
    CHECK(asked > 3000 && wide > 10 && refused > 10);
    /* Columns become integers, floats too. */
    for (uint64_t seed = 1; seed < 40 && failures < 20; ++seed)
        check_one("dense:spread=4096", (uint32_t)(1 + seed % 2), 0, ROWS_MOST, 7000 + seed);
    CHECK(dense > 1);
    kr_divide_indexes(device, ROWS_MOST / 5, UINT64_MAX); /* all parts travel */
    for (uint64_t seed = 1; seed < 7; ++seed)
        check_one("array:keep=host", (uint32_t)(1 + seed % 3), (int)(seed % 3), ROWS_MOST, 5000 + seed);
    kr_device_close(device);
    return failures != 0;
}
