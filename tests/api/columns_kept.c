/* Indexes over several columns that last: prepared, saved, changed; and calls that are wrong. */
#include "columns_oracle.h"
#include "device_name.h"

enum { N = 200, PROBES = 64 };

static kr_device *device;

/* ROW of every probe. */
static void rows_of(kr_index *index, const kr_column_probes *probes, uint32_t rows[PROBES_MOST])
{
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    WORKS(kr_index_lookup_columns(index, probes, &sink, NULL, &err));
}

static void random_table(uint64_t seed, uint32_t n_columns, int spread, sample *rows, sample *probes)
{
    kr_rng rng = {seed};
    const shape of = random_shape(&rng, n_columns, spread);
    random_sample(&rng, &of, N, rows);
    random_sample(&rng, &of, PROBES, probes);
}

static kr_index *index_of(const char *spec, const sample *rows)
{
    kr_index *index = NULL;
    WORKS(kr_index_create_columns(device, spec, rows->columns, rows->n_columns, rows->row_ids, NULL, &index,
                                  &err));
    return index;
}

/* ---- Prepared -------------------------------------------------------------------------------------- */

/* Columns in device memory, which runs read anew. */
static void bring(const sample *from, kr_column columns[3])
{
    for (uint32_t j = 0; j < 3; ++j)
        WORKS(kr_memory_copy(device, (void *)columns[j].data, from->bits[j], PROBES * sizeof(uint64_t), NULL,
                             &err));
}

/* Asks the rows from `first` on. */
static void take_rows(const sample *rows, uint64_t first, sample *probes)
{
    for (uint64_t i = 0; i < PROBES; ++i)
        for (uint32_t j = 0; j < 3; ++j) {
            uint64_t bits = 0;
            const uint32_t width = kr_type_nbytes(rows->columns[j].type);
            memcpy(&bits, (const char *)rows->bits[j] + (i * 3 + first) % N * width, width);
            put(probes, j, i, bits);
        }
}

/* Ways 0 to 2: equal in all columns, a range in the second, a nearest value there. */
static void check_runs(kr_index *index, const sample *rows, int way, const kr_nearest_options *near)
{
    static sample probes;
    kr_column columns[3];
    uint32_t answers[PROBES_MOST] = {0}, want[PROBES_MOST], *out = NULL;
    kr_prepared *prepared = NULL;
    probes = *rows;
    for (uint32_t j = 0; j < 3; ++j) {
        void *memory = NULL;
        WORKS(kr_memory_allocate(device, PROBES * sizeof(uint64_t), NULL, &memory, &err));
        columns[j] = (kr_column){.type = rows->columns[j].type, .count = PROBES, .data = memory};
        probes.columns[j] =
            (kr_column){.type = rows->columns[j].type, .count = PROBES, .data = probes.bits[j]};
    }
    WORKS(kr_memory_allocate(device, sizeof answers, NULL, (void **)&out, &err));
    bring(&probes, columns);
    kr_column_probes here = {.struct_size = sizeof here,
                             .columns = columns,
                             .n_columns = way ? 2 : 3,
                             .upper = way == 1 ? &columns[1] : NULL,
                             .nearest = way == 2 ? near : NULL};
    kr_column_probes asked = here;
    asked.columns = probes.columns;
    asked.upper = way == 1 ? &probes.columns[1] : NULL;
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = out};
    WORKS(kr_prepare_lookup_columns(index, &here, &sink, &prepared, &err));
    CHECK(kr_prepared_scratch_nbytes(prepared) > 0);
    for (uint64_t run = 0; run < 3 && prepared; ++run) {
        take_rows(rows, run, &probes);
        bring(&probes, columns);
        WORKS(kr_prepared_run(prepared, NULL, &err));
        WORKS(kr_device_sync(device, NULL, &err));
        WORKS(kr_memory_copy(device, answers, out, PROBES * sizeof *out, NULL, &err));
        rows_of(index, &asked, want);
        CHECK(memcmp(answers, want, PROBES * sizeof *want) == 0);
    }
    kr_prepared_destroy(prepared);
    kr_memory_release(device, out, sizeof answers, NULL);
    for (uint32_t j = 0; j < 3; ++j)
        kr_memory_release(device, (void *)columns[j].data, PROBES * sizeof(uint64_t), NULL);
}

static void check_prepared(uint64_t seed, int spread)
{
    static sample rows, probes;
    kr_nearest_options near = {.struct_size = sizeof near, .limited = 1};
    random_table(seed, 3, spread, &rows, &probes);
    if (is_float_type(rows.columns[1].type))
        near.float_tolerance = 3;
    else
        near.tolerance = 3;
    kr_index *index = index_of("pivot", &rows);
    for (int way = 0; way < 3; ++way)
        check_runs(index, &rows, way, &near);
    kr_index_destroy(index);
}

/* ---- Saved ------------------------------------------------------------------------------------------- */

static unsigned char *save(const kr_index *index, uint64_t *nbytes)
{
    kr_pieces *pieces = NULL;
    const void *data;
    uint64_t n, at = 0;
    double fraction;
    WORKS(kr_index_pieces(index, NULL, &pieces, &err));
    *nbytes = kr_pieces_nbytes(pieces);
    unsigned char *file = malloc(*nbytes);
    do {
        n = 0;
        WORKS(kr_pieces_next(pieces, &data, &n, &fraction, &err));
        memcpy(file + at, data, n);
        at += n;
    } while (n && at < *nbytes);
    kr_pieces_destroy(pieces);
    return file;
}

static void check_saved(const char *spec, uint64_t seed, int spread)
{
    static sample rows, probes;
    uint64_t nbytes, dictionaries[COLUMNS_MOST] = {0};
    uint32_t found[PROBES_MOST] = {0}, want[PROBES_MOST];
    kr_saved *saved = NULL;
    kr_index *loaded = NULL;
    random_table(seed, 3, spread, &rows, &probes);
    for (uint32_t j = 0; j < 3; ++j) {
        if (rows.columns[j].type != KR_U32)
            continue;
        dictionaries[j] = rows.columns[j].dictionary = probes.columns[j].dictionary = 7 + j;
        for (uint64_t i = 0; i < rows.n; ++i) /* which is a code of no text */
            if (((const uint32_t *)rows.columns[j].data)[i] == KR_NO_ROW)
                put(&rows, j, i, 0);
    }
    const kr_saved_options options = {
        .struct_size = sizeof options, .n_dictionaries = 3, .dictionaries = dictionaries};
    const kr_column_probes asked = {.struct_size = sizeof asked, .columns = probes.columns, .n_columns = 3};
    kr_index *index = index_of(spec, &rows);
    unsigned char *file = save(index, &nbytes);
    kr_saved_info info = {.struct_size = sizeof info};
    kr_index_info before = {.struct_size = sizeof before}, after = before;
    WORKS(kr_saved_open_memory(file, nbytes, &options, &saved, &err));
    WORKS(kr_saved_query(saved, &info, &err));
    CHECK(info.n_columns == 3);
    for (uint32_t j = 0; j < 3; ++j) {
        kr_type type;
        int has_texts;
        WORKS(kr_saved_column(saved, j, NULL, &type, NULL, &has_texts, &err));
        CHECK(type == rows.columns[j].type && has_texts == (dictionaries[j] != 0));
    }
    WORKS(kr_index_load(device, saved, NULL, &loaded, &err));
    rows_of(index, &asked, want);
    rows_of(loaded, &asked, found);
    CHECK(memcmp(found, want, PROBES * sizeof *found) == 0);
    WORKS(kr_index_validate(loaded, &err));
    WORKS(kr_index_query(index, &before, &err));
    WORKS(kr_index_query(loaded, &after, &err));
    CHECK(after.n_columns == 3 && after.type == before.type &&
          after.footprint_nbytes == before.footprint_nbytes);
    kr_index_destroy(loaded);
    kr_index_destroy(index);
    kr_saved_close(saved);
    free(file);
}

/* A number in a file that was not what the index had: an error, and no crash. */
static void check_damaged(void)
{
    static sample rows, probes;
    uint64_t nbytes;
    random_table(5, 3, 2, &rows, &probes);
    kr_index *index = index_of("array", &rows);
    unsigned char *file = save(index, &nbytes);
    for (uint64_t at = 64; at < nbytes; at += 13) {
        kr_saved *saved = NULL;
        kr_index *loaded = NULL;
        file[at] ^= 0x41;
        if (kr_saved_open_memory(file, nbytes, NULL, &saved, NULL) == KR_OK &&
            kr_index_load(device, saved, NULL, &loaded, NULL) == KR_OK) {
            uint32_t found[PROBES_MOST];
            const kr_column_probes asked = {
                .struct_size = sizeof asked, .columns = probes.columns, .n_columns = 3};
            rows_of(loaded, &asked, found);
        }
        kr_index_destroy(loaded);
        kr_saved_close(saved);
        file[at] ^= 0x41;
    }
    kr_index_destroy(index);
    free(file);
}

/* ---- Changed --------------------------------------------------------------------------------------- */

static void check_update(const char *spec)
{
    uint32_t symbols[4] = {10, 11, 10, 12}, more_symbols[3] = {11, 10, 12}, beyond = 4000000000u;
    int64_t times[4] = {-5, 100, 200, 300}, more_times[3] = {320, -6, 150}, late = INT64_MAX;
    const uint8_t validity = 0x5; /* of the rows to insert: the second is NULL */
    const kr_column rows[2] = {{.type = KR_U32, .count = 4, .data = symbols},
                               {.type = KR_TIMESTAMP64, .count = 4, .data = times}};
    const kr_column more[2] = {{.type = KR_U32, .count = 3, .data = more_symbols, .validity = &validity},
                               {.type = KR_TIMESTAMP64, .count = 3, .data = more_times}};
    const kr_column deleted[2] = {{.type = KR_U32, .count = 2, .data = symbols},
                                  {.type = KR_TIMESTAMP64, .count = 2, .data = times}};
    const kr_column other[2] = {{.type = KR_U32, .count = 1, .data = &beyond},
                                {.type = KR_TIMESTAMP64, .count = 1, .data = times}};
    const kr_column later[2] = {{.type = KR_U32, .count = 1, .data = symbols},
                                {.type = KR_TIMESTAMP64, .count = 1, .data = &late}};
    const uint32_t all_symbols[7] = {10, 11, 10, 12, 11, 10, 12};
    const int64_t all_times[7] = {-5, 100, 200, 300, 320, -6, 150};
    const kr_column all[2] = {{.type = KR_U32, .count = 7, .data = all_symbols},
                              {.type = KR_TIMESTAMP64, .count = 7, .data = all_times}};
    const uint32_t want[7] = {KR_NO_ROW, KR_NO_ROW, 2, 3, 4, KR_NO_ROW, 6};
    const kr_column_probes asked = {.struct_size = sizeof asked, .columns = all, .n_columns = 2};
    uint32_t found[PROBES_MOST] = {0};
    kr_index *index = NULL;
    kr_index_info info = {.struct_size = sizeof info};
    WORKS(kr_index_create_columns(device, spec, rows, 2, NULL, NULL, &index, &err));
    WORKS(kr_index_update_columns(index, more, NULL, deleted, NULL, &err));
    rows_of(index, &asked, found);
    CHECK(memcmp(found, want, sizeof want) == 0);
    WORKS(kr_index_query(index, &info, &err));
    CHECK(info.rows == 4 && info.next_row == 7 && info.n_columns == 2);
    WORKS(kr_index_validate(index, &err));
    REFUSED(KR_ERR_LIMIT, kr_index_update_columns(index, other, NULL, deleted, NULL, &err));
    REFUSED(KR_ERR_LIMIT, kr_index_update_columns(index, later, NULL, NULL, NULL, &err));
    WORKS(kr_index_update_columns(index, NULL, NULL, later, NULL, &err)); /* deletes nothing */
    WORKS(kr_index_update_columns(index, NULL, NULL, NULL, NULL, &err));
    rows_of(index, &asked, found);
    CHECK(memcmp(found, want, sizeof want) == 0);
    REFUSED(KR_ERR_ARGUMENT, kr_index_update_columns(index, NULL, want, NULL, NULL, &err));
    kr_index_destroy(index);
}

/* Of wide keys only values that the index has can come back. */
static void check_wide_update(void)
{
    int64_t first[3] = {INT64_MIN, 0, INT64_MAX}, second[3] = {INT64_MAX, INT64_MIN, 5}, new_value = 6;
    const kr_column rows[2] = {{.type = KR_I64, .count = 3, .data = first},
                               {.type = KR_I64, .count = 3, .data = second}};
    const kr_column crossed[2] = {{.type = KR_I64, .count = 1, .data = first},
                                  {.type = KR_I64, .count = 1, .data = second + 1}};
    const kr_column beyond[2] = {{.type = KR_I64, .count = 1, .data = first},
                                 {.type = KR_I64, .count = 1, .data = &new_value}};
    const kr_column_probes asked = {.struct_size = sizeof asked, .columns = crossed, .n_columns = 2};
    uint32_t found[PROBES_MOST] = {0};
    kr_index *index = NULL;
    WORKS(kr_index_create_columns(device, "btree", rows, 2, NULL, NULL, &index, &err));
    rows_of(index, &asked, found);
    CHECK(found[0] == KR_NO_ROW);
    WORKS(kr_index_update_columns(index, crossed, NULL, NULL, NULL, &err));
    rows_of(index, &asked, found);
    CHECK(found[0] == 3);
    REFUSED(KR_ERR_LIMIT, kr_index_update_columns(index, beyond, NULL, NULL, NULL, &err));
    kr_index_destroy(index);
}

/* ---- Wrong calls ------------------------------------------------------------------------------------ */

static void check_refused(void)
{
    uint32_t symbols[2] = {1, 2}, found[PROBES_MOST];
    int64_t times[2] = {10, 20};
    kr_column columns[2] = {{.type = KR_U32, .count = 2, .data = symbols, .dictionary = 3},
                            {.type = KR_I64, .count = 2, .data = times}};
    kr_column other[2] = {columns[0], columns[1]};
    const kr_nearest_options near = {.struct_size = sizeof near},
                             either = {sizeof either, .side = KR_NEAREST_EITHER};
    kr_column_probes asked = {.struct_size = sizeof asked, .columns = columns, .n_columns = 2};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = found};
    kr_index *index = NULL, *single = NULL, *points = NULL;
    kr_join *join = NULL;
    kr_prepared *prepared = NULL;
    REFUSED(KR_ERR_ARGUMENT, kr_index_create_columns(device, "best", columns, 0, NULL, NULL, &index, &err));
    REFUSED(KR_ERR_LIMIT, kr_index_create_columns(device, "best", columns, 9, NULL, NULL, &index, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_create_columns(device, "best", NULL, 2, NULL, NULL, &index, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_create_columns(NULL, "best", columns, 2, NULL, NULL, &index, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_create_columns(device, "best", columns, 2, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_SPEC, kr_index_create_columns(device, "bset", columns, 2, NULL, NULL, &index, &err));
    REFUSED(KR_ERR_UNSUPPORTED,
            kr_index_create_columns(device, "full", columns, 2, NULL, NULL, &index, &err));
    other[1].count = 1;
    REFUSED(KR_ERR_ARGUMENT, kr_index_create_columns(device, "best", other, 2, NULL, NULL, &index, &err));
    WORKS(kr_index_create_columns(device, "best", columns, 2, NULL, NULL, &index, &err));
    WORKS(kr_index_create_columns(device, "best:ranges=off", columns, 2, NULL, NULL, &points, &err));
    WORKS(kr_index_create(device, "best", columns, NULL, NULL, &single, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_columns(index, &asked, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_columns(index, NULL, &sink, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_columns(NULL, &asked, &sink, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_columns(single, &asked, &sink, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup(index, columns, &sink, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_nearest(index, columns, NULL, &sink, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_prepare_lookup(index, columns, &sink, &prepared, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_update(index, columns, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_set_keys(index, symbols, columns, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_update_columns(single, columns, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create_prepared(index, columns, NULL, NULL, &join, &err));
    asked.n_columns = 3;
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    asked.n_columns = 0;
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    asked = (kr_column_probes){.struct_size = sizeof asked, .columns = columns, .n_columns = 1, .how = 9};
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    asked.how = 0;
    WORKS(kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    REFUSED(KR_ERR_UNSUPPORTED, kr_index_lookup_columns(points, &asked, &sink, NULL, &err));
    asked.nearest = &either;
    REFUSED(KR_ERR_UNSUPPORTED, kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    asked.nearest = &near;
    WORKS(kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    asked.upper = columns;
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    asked.nearest = NULL;
    asked.upper = &other[1];
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    other[1].count = 2;
    REFUSED(KR_ERR_TYPE, kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    asked = (kr_column_probes){.struct_size = sizeof asked, .columns = other, .n_columns = 2};
    other[0].dictionary = 4;
    REFUSED(KR_ERR_TYPE, kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    other[0].dictionary = 3;
    other[1].type = KR_U64;
    REFUSED(KR_ERR_TYPE, kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    kr_index_destroy(points);
    kr_index_destroy(single);
    kr_index_destroy(index);
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {"array", "btree", "hash", "pivot:k=5"};
    if (take_device_name(argc, argv))
        return SKIPPED;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    for (uint64_t seed = 1; seed < 9; ++seed) {
        check_prepared(seed, (int)(seed % 3));
        check_saved(specs[seed % 4], seed, (int)(seed % 3));
    }
    check_damaged();
    check_update("pivot");
    check_update("btree");
    check_update("hash");
    check_wide_update();
    check_refused();
    kr_device_close(device);
    return failures != 0;
}
