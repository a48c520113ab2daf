/* Indexes over several columns of which some are texts, (symbol, time, name), against a comparison of every
 * row by its bytes. */
#include "../support/texts.h"
#include "device_name.h"

static kr_device *device;
static uint64_t asked_in_all, found_in_all;

enum { ROWS = 180, PROBES = 80, SYMBOL = 0, TIME = 1, NAME = 2, COLUMNS = 3 };

typedef struct table {
    uint32_t n;
    text_set *texts[2]; /* symbols, names */
    made columns[2];
    uint32_t times[ROWS];
    array placed;
    kr_column all[COLUMNS];
} table;

static table rows, probes, ends;

/* ---- Random tables ------------------------------------------------------------------------------ */

static void add_random(kr_rng *rng, text_set *s, int is_symbol)
{
    static const char *const heads[] = {"", "https://example.com/item/", "a"};
    static const uint8_t letters[] = {0, 'b', 'c', 0x80, 0xFF};
    uint8_t text[64];
    const char *head = heads[is_symbol ? kr_rng_below(rng, 2) : kr_rng_below(rng, 3)];
    uint64_t n = strlen(head);
    memcpy(text, head, n);
    for (uint64_t more = kr_rng_below(rng, is_symbol ? 2 : 4); more; --more)
        text[n++] = letters[kr_rng_below(rng, is_symbol ? 2 : 5)];
    add(s, text, n);
}

/* `place`: where arrays are; NULL: host memory. */
static void fill(kr_rng *rng, table *t, uint32_t n, kr_device *place)
{
    t->n = n;
    for (int c = 0; c < 2; ++c) {
        clear(t->texts[c]);
        for (uint32_t i = 0; i < n; ++i)
            add_random(rng, t->texts[c], c == 0);
        t->texts[c]->nulls = kr_rng_below(rng, 2) ? 11 : 0;
        make_column(t->texts[c], (kr_type)(KR_STRING + kr_rng_below(rng, 6)), place, &t->columns[c]);
    }
    for (uint32_t i = 0; i < n; ++i)
        t->times[i] = 1000 + (uint32_t)kr_rng_below(rng, 9);
    t->placed = make_array(place, t->times, n * 4ull);
    t->all[SYMBOL] = t->columns[0].column;
    t->all[TIME] = (kr_column){.type = KR_U32, .count = n, .data = t->placed.data};
    t->all[NAME] = t->columns[1].column;
}

static void empty(table *t)
{
    for (int c = 0; c < 2; ++c)
        free_column(&t->columns[c]);
    free_array(&t->placed);
}

/* ---- What is asked ------------------------------------------------------------------------------ */

static int is_missing(const table *t, int c, uint32_t i)
{
    return c != TIME && is_null(t->texts[c / 2], i);
}

static int compare(const table *a, uint32_t i, const table *b, uint32_t j, int c)
{
    uint64_t n, m;
    if (c == TIME)
        return (a->times[i] > b->times[j]) - (a->times[i] < b->times[j]);
    const uint8_t *x = text_of(a->texts[c / 2], i, &n), *y = text_of(b->texts[c / 2], j, &m);
    return compare_texts(x, n, y, m);
}

typedef struct question {
    uint32_t n;
    int upper;
    uint32_t how;
    const kr_nearest_options *near;
} question;

static int begins_with(const table *t, uint32_t row, const table *p, uint32_t i, int c)
{
    uint64_t n, m;
    const uint8_t *text = text_of(t->texts[c / 2], row, &n), *head = text_of(p->texts[c / 2], i, &m);
    return n >= m && memcmp(text, head, m) == 0;
}

static int has_last(const question *q, uint32_t row, uint32_t i)
{
    const int c = (int)q->n - 1, order = compare(&rows, row, &probes, i, c);
    if (q->upper)
        return order >= 0 && !is_missing(&ends, c, i) && compare(&rows, row, &ends, i, c) <= 0;
    if (q->near) {
        const int below = q->near->side != KR_NEAREST_ABOVE, strict = q->near->strict != 0;
        return below ? order <= -strict : order >= strict;
    }
    switch (q->how) {
    case KR_TEXTS_FROM: return order >= 0;
    case KR_TEXTS_ABOVE: return order > 0;
    case KR_TEXTS_TO: return order <= 0;
    case KR_TEXTS_BELOW: return order < 0;
    case KR_TEXTS_PREFIX: return begins_with(&rows, row, &probes, i, c);
    default: return order == 0;
    }
}

static int answers(const question *q, uint32_t row, uint32_t i)
{
    int same = !is_missing(&rows, SYMBOL, row) && !is_missing(&rows, NAME, row);
    for (int c = 0; c < (int)q->n; ++c)
        same = same && !is_missing(&probes, c, i);
    for (int c = 0; c + 1 < (int)q->n; ++c)
        same = same && compare(&rows, row, &probes, i, c) == 0;
    return same && has_last(q, row, i);
}

/* By the last column of the question and those behind it, then by row. */
static int comes_before(const question *q, uint32_t a, uint32_t b)
{
    for (int c = (int)q->n - 1; c < COLUMNS; ++c) {
        const int order = compare(&rows, a, &rows, b, c);
        if (order)
            return order < 0;
    }
    return a < b;
}

/* The rows that answer: how many, and the sum of their ids; of a nearest value the one. */
typedef struct wanted {
    uint64_t n, sum;
    uint32_t row;
} wanted;

static wanted want(const question *q, uint32_t i)
{
    wanted found = {.row = KR_NO_ROW};
    const int last = q->near && q->near->side != KR_NEAREST_ABOVE;
    for (uint32_t r = 0; r < rows.n; ++r) {
        if (!answers(q, r, i))
            continue;
        ++found.n;
        found.sum += r;
        if (found.row == KR_NO_ROW || comes_before(q, found.row, r) == last)
            found.row = r;
    }
    return found;
}

static void check_question(kr_index *index, const question *q, kr_device *place)
{
    uint64_t counts[PROBES], sums[PROBES];
    uint32_t near_rows[PROBES];
    const kr_column_probes asked = {.struct_size = sizeof asked,
                                    .columns = probes.all,
                                    .n_columns = q->n,
                                    .how = q->how,
                                    .upper = q->upper ? &ends.all[q->n - 1] : NULL,
                                    .nearest = q->near};
    array out = make_array(place, NULL, sizeof counts);
    const kr_result results[] = {KR_RESULT_COUNT, KR_RESULT_SUM_ROWS, KR_RESULT_ROW};
    void *hosts[] = {counts, sums, near_rows};
    for (int way = 0; way < (place ? 2 : 1); ++way) /* called, and prepared and run twice */
        for (int r = q->near ? 2 : 0; r < (q->near ? 3 : 2); ++r) {
            kr_prepared *prepared = NULL;
            const kr_sink sink = {.struct_size = sizeof sink, .result = results[r], .out = out.data};
            if (way == 0) {
                WORKS(kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
            } else {
                WORKS(kr_prepare_lookup_columns(index, &asked, &sink, &prepared, &err));
                for (int run = 0; run < 2 && prepared; ++run)
                    WORKS(kr_prepared_run(prepared, NULL, &err));
                WORKS(kr_device_sync(device, NULL, &err));
                kr_prepared_destroy(prepared);
            }
            read_array(&out, hosts[r], r == 2 ? sizeof near_rows : sizeof counts);
        }
    for (uint32_t i = 0; i < PROBES; ++i) {
        const wanted found = want(q, i);
        CHECK(q->near ? near_rows[i] == found.row : counts[i] == found.n && sums[i] == found.sum);
        ++asked_in_all;
        found_in_all += found.n != 0;
    }
    free_array(&out);
}

static void check_all(kr_index *index, int is_ordered, kr_device *place)
{
    static const kr_nearest_options nearest[] = {
        {.struct_size = sizeof *nearest, .side = KR_NEAREST_BELOW},
        {.struct_size = sizeof *nearest, .side = KR_NEAREST_BELOW, .strict = 1},
        {.struct_size = sizeof *nearest, .side = KR_NEAREST_ABOVE},
        {.struct_size = sizeof *nearest, .side = KR_NEAREST_ABOVE, .strict = 1}};
    check_question(index, &(question){.n = COLUMNS}, place);
    for (uint32_t n = 1; n <= COLUMNS && is_ordered; ++n) {
        check_question(index, &(question){.n = n}, place);
        check_question(index, &(question){.n = n, .upper = 1}, place);
        for (uint32_t how = KR_TEXTS_FROM; how <= KR_TEXTS_PREFIX && n != 2; ++how)
            check_question(index, &(question){.n = n, .how = how}, place);
        for (int k = 0; k < 4; ++k)
            check_question(index, &(question){.n = n, .near = &nearest[k]}, place);
    }
}

/* ---- Saved, changed, refused ------------------------------------------------------------------------ */

static kr_index *save_and_load(kr_index *index)
{
    static char file[1 << 20];
    kr_pieces *pieces = NULL;
    kr_saved *saved = NULL;
    kr_index *loaded = NULL;
    const void *data;
    uint64_t n = 1, at = 0;
    double fraction;
    WORKS(kr_index_pieces(index, NULL, &pieces, &err));
    while (n && at < kr_pieces_nbytes(pieces)) {
        WORKS(kr_pieces_next(pieces, &data, &n, &fraction, &err));
        CHECK(at + n <= sizeof file);
        if (at + n > sizeof file)
            break;
        memcpy(file + at, data, n);
        at += n;
    }
    kr_pieces_destroy(pieces);
    WORKS(kr_saved_open_memory(file, at, NULL, &saved, &err));
    WORKS(kr_index_load(device, saved, NULL, &loaded, &err));
    WORKS(kr_index_validate(loaded, &err));
    kr_saved_close(saved);
    return loaded;
}

/* Rows are deleted and come again, with texts as other types have them. */
static void check_changes(kr_index *index)
{
    kr_index_info info = {.struct_size = sizeof info};
    uint32_t ids[ROWS];
    const int32_t offsets[] = {0, 3};
    kr_column alien[COLUMNS];
    for (uint32_t i = 0; i < rows.n; ++i)
        ids[i] = i;
    WORKS(kr_index_query(index, &info, &err));
    const uint64_t n = info.rows;
    CHECK(info.n_columns == COLUMNS && info.peak_nbytes >= info.footprint_nbytes);
    WORKS(kr_index_update_columns(index, NULL, NULL, rows.all, NULL, &err));
    WORKS(kr_index_query(index, &info, &err));
    CHECK(info.rows == 0);
    WORKS(kr_index_update_columns(index, NULL, NULL, probes.all, NULL, &err)); /* which are not there */
    WORKS(kr_index_update_columns(index, rows.all, ids, NULL, NULL, &err));
    WORKS(kr_index_query(index, &info, &err));
    CHECK(info.rows == n);
    for (int c = 0; c < COLUMNS; ++c) {
        alien[c] = rows.all[c];
        alien[c].count = 1;
    }
    alien[NAME] =
        (kr_column){.type = KR_STRING, .count = 1, .data = offsets, .reserved_words = {(uintptr_t) "new", 3}};
    REFUSED(KR_ERR_LIMIT, kr_index_update_columns(index, alien, NULL, NULL, NULL, &err));
    WORKS(kr_index_update_columns(index, NULL, NULL, alien, NULL, &err));
    WORKS(kr_index_query(index, &info, &err));
    CHECK(info.rows == n);
}

static void check_refused(kr_index *index)
{
    const uint32_t numbers[PROBES] = {0};
    uint64_t out[PROBES];
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = out};
    const kr_nearest_options either = {.struct_size = sizeof either, .side = KR_NEAREST_EITHER};
    kr_column columns[COLUMNS] = {probes.all[0], probes.all[1], probes.all[2]};
    kr_column_probes asked = {.struct_size = sizeof asked, .columns = columns, .n_columns = 2, .how = 1};
    kr_index *other = NULL;
    REFUSED(KR_ERR_TYPE, kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    asked.n_columns = 1;
    asked.upper = &ends.all[0];
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    asked.how = 0;
    asked.upper = NULL;
    asked.nearest = &either;
    REFUSED(KR_ERR_UNSUPPORTED, kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    asked.nearest = NULL;
    columns[0] = (kr_column){.type = KR_U32, .count = PROBES, .data = numbers};
    REFUSED(KR_ERR_TYPE, kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    columns[0].dictionary = UINT64_MAX;
    REFUSED(KR_ERR_TYPE, kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    columns[0] = probes.all[0];
    columns[1] = probes.all[0];
    asked.n_columns = 2;
    REFUSED(KR_ERR_TYPE, kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    columns[0].dictionary = 4;
    asked.n_columns = 1;
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_columns(index, &asked, &sink, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_create_columns(device, "best", columns, 1, NULL, NULL, &other, &err));
}

static void check_one(const char *spec, int is_ordered, uint64_t seed)
{
    kr_rng rng = {seed};
    kr_device *place = seed & 1 ? device : NULL;
    kr_index *index = NULL;
    const int before = failures;
    fill(&rng, &rows, ROWS, seed & 2 ? device : NULL);
    fill(&rng, &probes, PROBES, place);
    fill(&rng, &ends, PROBES, place);
    WORKS(kr_index_create_columns(device, spec, rows.all, COLUMNS, NULL, NULL, &index, &err));
    if (index) {
        WORKS(kr_index_validate(index, &err));
        check_all(index, is_ordered, place);
        kr_index *loaded = save_and_load(index);
        check_all(loaded, is_ordered, place);
        kr_index_destroy(loaded);
        check_changes(index);
        check_all(index, is_ordered, place);
        if (is_ordered)
            check_refused(index);
    }
    kr_index_destroy(index);
    empty(&ends);
    empty(&probes);
    empty(&rows);
    if (failures != before)
        printf("  %s, seed %llu\n", spec, (unsigned long long)seed);
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {"best", "btree", "array", "hash", "eytzinger"};
    table *tables[] = {&rows, &probes, &ends};
    if (take_device_name(argc, argv))
        return SKIPPED;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    for (int t = 0; t < 3; ++t)
        for (int c = 0; c < 2; ++c)
            tables[t]->texts[c] = calloc(1, sizeof(text_set));
    const uint64_t from = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (uint64_t seed = from; seed < from + 20 && failures < 20; ++seed)
        check_one(specs[seed % 5], seed % 5 != 3, seed);
    printf("%llu answers, %llu found\n", (unsigned long long)asked_in_all, (unsigned long long)found_in_all);
    CHECK(found_in_all > asked_in_all / 10);
    for (int t = 0; t < 3; ++t)
        for (int c = 0; c < 2; ++c)
            free(tables[t]->texts[c]);
    kr_device_close(device);
    return failures != 0;
}
