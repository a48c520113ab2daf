/* Indexes over a column of texts, of every kind, against nested loops over memcmp: points, ranges, single
 * bounds, prefixes and nearest texts; with NULLs, byte 0 and empty texts; changed, prepared, saved and
 * loaded. All arrays are in host memory, and in device memory.
 */
#include "texts.h"

#include "device_name.h"

static kr_device *device;
static kr_rng rng = {371};

static text_set rows, asked, tops; /* tops: upper bounds */
static uint8_t gone[MOST];         /* rows that were deleted */

/* ---- The oracle -------------------------------------------------------------------------------- */

enum { POINT, BETWEEN, SINGLE, NEAREST }; /* SINGLE: a kr_texts_bound */

typedef struct question {
    int sort;
    kr_texts_bound how;
    kr_nearest_side side;
    uint32_t strict;
} question;

static int compare_to(const text_set *a, uint32_t i, const text_set *b, uint32_t j)
{
    uint64_t n, m;
    const uint8_t *x = text_of(a, i, &n), *y = text_of(b, j, &m);
    return compare_texts(x, n, y, m);
}

static int begins_with(uint32_t row, uint32_t probe)
{
    uint64_t n, m;
    const uint8_t *x = text_of(&rows, row, &n), *y = text_of(&asked, probe, &m);
    return n >= m && memcmp(x, y, m) == 0;
}

/* Of rows that are there and no NULL, whose probe is none either. */
static int answers(const question *q, uint32_t row, uint32_t probe)
{
    const int order = compare_to(&rows, row, &asked, probe);
    if (q->sort == POINT)
        return order == 0;
    if (q->sort == BETWEEN)
        return order >= 0 && compare_to(&rows, row, &tops, probe) <= 0;
    if (q->sort == NEAREST)
        return q->side == KR_NEAREST_ABOVE ? order > 0 || (order == 0 && !q->strict)
                                           : order < 0 || (order == 0 && !q->strict);
    return q->how == KR_TEXTS_FROM    ? order >= 0
           : q->how == KR_TEXTS_ABOVE ? order > 0
           : q->how == KR_TEXTS_TO    ? order <= 0
           : q->how == KR_TEXTS_BELOW ? order < 0
                                      : begins_with(row, probe);
}

/* Rows that answer, ascending; of a nearest text that one row. */
static uint32_t want_rows(const question *q, uint32_t probe, uint32_t *want)
{
    uint32_t n = 0, best = KR_NO_ROW;
    if (is_null(&asked, probe) || (q->sort == BETWEEN && is_null(&tops, probe)))
        return 0;
    for (uint32_t i = 0; i < rows.n; ++i) {
        if (gone[i] || is_null(&rows, i) || !answers(q, i, probe))
            continue;
        want[n++] = i;
        const int order = best == KR_NO_ROW ? 1 : compare_to(&rows, i, &rows, best);
        if (best == KR_NO_ROW || (q->side == KR_NEAREST_ABOVE ? order < 0 : order >= 0))
            best = i;
    }
    if (q->sort == NEAREST && n) {
        want[0] = best;
        return 1;
    }
    return n;
}

/* ---- Lookups ------------------------------------------------------------------------------------ */

/* Probes in one place, as texts or as codes of the index's dictionary. */
typedef struct probes {
    made lower, upper;
    array codes;
    kr_column a, b;
} probes;

static kr_status ask(kr_index *index, const question *q, const probes *p, const kr_sink *sink, kr_error *err)
{
    const kr_nearest_options near = {.struct_size = sizeof near, .side = q->side, .strict = q->strict};
    return q->sort == POINT     ? kr_index_lookup(index, &p->a, sink, NULL, err)
           : q->sort == BETWEEN ? kr_index_range(index, &p->a, &p->b, sink, NULL, err)
           : q->sort == SINGLE  ? kr_index_lookup_texts(index, &p->a, q->how, sink, NULL, err)
                                : kr_index_nearest(index, &p->a, &near, sink, NULL, err);
}

static kr_status prepare(kr_index *index, const question *q, const probes *p, const kr_sink *sink,
                         kr_prepared **prepared, kr_error *err)
{
    const kr_nearest_options near = {.struct_size = sizeof near, .side = q->side, .strict = q->strict};
    return q->sort == POINT     ? kr_prepare_lookup(index, &p->a, sink, prepared, err)
           : q->sort == BETWEEN ? kr_prepare_range(index, &p->a, &p->b, sink, prepared, err)
           : q->sort == SINGLE  ? kr_prepare_texts(index, &p->a, q->how, sink, prepared, err)
                                : kr_prepare_nearest(index, &p->a, &near, sink, prepared, err);
}

enum { LISTED = 1 << 16 };
static uint32_t want[MOST], listed[LISTED];
static uint64_t offsets[MOST + 1], counts[MOST];
static uint8_t exists[MOST / 8 + 1];

static void check_answers(const question *q)
{
    for (uint32_t i = 0; i < asked.n && !failures; ++i) {
        const uint32_t n = want_rows(q, i, want);
        CHECK(counts[i] == n);
        CHECK((exists[i / 8] >> i % 8 & 1) == (n > 0));
        CHECK(offsets[i + 1] - offsets[i] == n && offsets[i + 1] <= LISTED);
        CHECK(failures || memcmp(listed + offsets[i], want, n * sizeof *want) == 0);
    }
}

/* COUNT and EXISTS by one search, ROWS by a call of their own, or both by prepared lookups. */
static void look_up(kr_index *index, const question *q, const probes *p, kr_device *place, int is_prepared)
{
    array out = make_array(place, NULL, asked.n * sizeof *counts),
          bits = make_array(place, NULL, asked.n / 8 + 1),
          ends = make_array(place, NULL, (asked.n + 1) * sizeof *offsets),
          ids = make_array(place, NULL, LISTED * sizeof *listed);
    const kr_sink count = {.struct_size = sizeof count, .result = KR_RESULT_COUNT, .out = out.data},
                  any = {.struct_size = sizeof any, .result = KR_RESULT_EXISTS, .out = bits.data},
                  list = {.struct_size = sizeof list,
                          .result = KR_RESULT_ROWS,
                          .order = KR_ORDER_ROW,
                          .out = ends.data,
                          .rows = ids.data,
                          .rows_capacity = LISTED};
    const kr_sink *const sinks[] = {&count, &any, &list};
    const kr_nearest_options near = {.struct_size = sizeof near, .side = q->side, .strict = q->strict};
    for (int i = 0; i < 3; ++i) {
        kr_prepared *prepared = NULL;
        if (!is_prepared)
            WORKS(ask(index, q, p, sinks[i], &err));
        else
            WORKS(prepare(index, q, p, sinks[i], &prepared, &err));
        for (int run = 0; prepared && run < 2; ++run)
            WORKS(kr_prepared_run(prepared, NULL, &err));
        kr_prepared_destroy(prepared);
    }
    if (q->sort != SINGLE && !is_prepared)
        WORKS(kr_index_lookup_many(index, &p->a, q->sort == BETWEEN ? &p->b : NULL,
                                   q->sort == NEAREST ? &near : NULL, sinks, 2, NULL, &err));
    read_array(&out, counts, asked.n * sizeof *counts);
    read_array(&bits, exists, asked.n / 8 + 1);
    read_array(&ends, offsets, (asked.n + 1) * sizeof *offsets);
    read_array(&ids, listed, LISTED * sizeof *listed);
    check_answers(q);
    free_array(&ids);
    free_array(&ends);
    free_array(&bits);
    free_array(&out);
}

static int take_chunk(void *ctx, uint64_t first, uint64_t n, const uint64_t *ends, const uint32_t *ids)
{
    uint64_t *at = ctx;
    for (uint64_t i = 0; i < n; ++i) {
        counts[first + i] = ends[i + 1] - ends[i];
        offsets[first + i + 1] = *at + ends[i + 1];
    }
    memcpy(listed + *at, ids, ends[n] * sizeof *ids);
    *at += ends[n];
    return 0;
}

static void look_up_chunks(kr_index *index, const question *q, const probes *p)
{
    uint64_t at = 0;
    WORKS(kr_index_lookup_chunks(index, &p->a, q->sort == BETWEEN ? &p->b : NULL, KR_ORDER_ROW, 1 << 14,
                                 take_chunk, &at, &err));
    for (uint32_t i = 0; i < asked.n; ++i)
        exists[i / 8] = (uint8_t)((exists[i / 8] & ~(1u << i % 8)) | (unsigned)(counts[i] > 0) << i % 8);
    check_answers(q);
}

static uint32_t capabilities_of(const kr_index *index, int *is_divided)
{
    kr_kind_info kind = {.struct_size = sizeof kind};
    kr_index_info info = {.struct_size = sizeof info};
    WORKS(kr_index_query(index, &info, &err));
    const size_t length = strcspn(info.spec, ":");
    *is_divided = strstr(info.spec, "keep=host") != NULL && strcmp(device_name, "cpu") != 0;
    for (uint32_t i = 0; kr_kind_query(i, &kind, NULL) == KR_OK; ++i)
        if (strlen(kind.name) == length && memcmp(kind.name, info.spec, length) == 0)
            return kind.capabilities;
    return 0;
}

/* Probes that are texts of this type. */
static void check_lookups(kr_index *index, kr_type type, kr_device *place)
{
    static const question questions[] = {
        {.sort = POINT},
        {.sort = BETWEEN},
        {.sort = SINGLE, .how = KR_TEXTS_FROM},
        {.sort = SINGLE, .how = KR_TEXTS_ABOVE},
        {.sort = SINGLE, .how = KR_TEXTS_TO},
        {.sort = SINGLE, .how = KR_TEXTS_BELOW},
        {.sort = SINGLE, .how = KR_TEXTS_PREFIX},
        {.sort = NEAREST, .side = KR_NEAREST_BELOW},
        {.sort = NEAREST, .side = KR_NEAREST_BELOW, .strict = 1},
        {.sort = NEAREST, .side = KR_NEAREST_ABOVE},
        {.sort = NEAREST, .side = KR_NEAREST_ABOVE, .strict = 1},
    };
    int divided;
    const uint32_t can = capabilities_of(index, &divided);
    const int cpu = strcmp(device_name, "cpu") == 0;
    probes p;
    make_column(&asked, type, place, &p.lower);
    make_column(&tops, type, place, &p.upper);
    p.a = p.lower.column;
    p.b = p.upper.column;
    for (size_t i = 0; i < sizeof questions / sizeof *questions && !failures; ++i) {
        const question *q = &questions[i];
        const uint32_t needs = q->sort == POINT     ? KR_CAN_POINT
                               : q->sort == NEAREST ? KR_CAN_NEAREST
                                                    : KR_CAN_RANGE;
        const kr_sink count = {.struct_size = sizeof count, .result = KR_RESULT_COUNT, .out = counts};
        if (!(can & needs)) {
            REFUSED(KR_ERR_UNSUPPORTED, ask(index, q, &p, &count, &err));
            continue;
        }
        look_up(index, q, &p, place, 0);
        if ((place || cpu) && !divided)
            look_up(index, q, &p, place, 1);
        if (q->sort == POINT || q->sort == BETWEEN)
            look_up_chunks(index, q, &p);
        if (failures)
            printf("question %u, probes are %s\n", (unsigned)i, kr_type_name(type));
    }
    free_column(&p.upper);
    free_column(&p.lower);
}

/* ---- Indexes ------------------------------------------------------------------------------------ */

/* Codes of the dictionary instead of texts. */
static void check_codes(kr_index *index)
{
    const kr_texts *texts = kr_index_texts(index);
    kr_texts_info info = {.struct_size = sizeof info};
    const question point = {.sort = POINT};
    static uint32_t codes[MOST];
    probes p = {{{0}}};
    made column;
    CHECK(texts != NULL);
    WORKS(kr_texts_query(texts, &info, &err));
    make_column(&asked, KR_LARGE_BINARY, NULL, &column);
    WORKS(kr_texts_encode(texts, &column.column, codes, NULL, &err));
    p.a = (kr_column){.type = KR_U32, .count = asked.n, .data = codes, .dictionary = info.dictionary};
    look_up(index, &point, &p, NULL, 0);
    p.a.dictionary = 0;
    const kr_sink count = {.struct_size = sizeof count, .result = KR_RESULT_COUNT, .out = counts};
    REFUSED(KR_ERR_TYPE, kr_index_lookup(index, &p.a, &count, NULL, &err));
    p.a.type = KR_I32;
    REFUSED(KR_ERR_TYPE, kr_index_lookup(index, &p.a, &count, NULL, &err));
    free_column(&column);
}

static void check_all(kr_index *index)
{
    static uint32_t turn;
    const kr_type types[] = {KR_STRING, KR_LARGE_STRING, KR_STRING_VIEW,
                             KR_BINARY, KR_LARGE_BINARY, KR_BINARY_VIEW};
    ++turn;
    check_lookups(index, types[turn % 6], turn % 2 ? device : NULL);
    check_lookups(index, types[(turn + 2) % 6], turn % 2 ? NULL : device);
    check_codes(index);
    WORKS(kr_index_validate(index, &err));
}

static void check_info(kr_index *index, const char *spec, const kr_column *keys)
{
    kr_index_info info = {.struct_size = sizeof info};
    kr_estimate estimate = {.struct_size = sizeof estimate};
    kr_explanation explanation = {.struct_size = sizeof explanation};
    kr_column unread = *keys;
    uint64_t nbytes = 0, texts = 0;
    unread.data = NULL;
    WORKS(kr_index_query(index, &info, &err));
    CHECK(info.type == keys->type);
    for (uint32_t i = 0; i < kr_index_component_count(index); ++i) {
        nbytes += kr_index_component_nbytes(index, i);
        if (strcmp(kr_index_component_name(index, i), "texts") == 0)
            texts = kr_index_component_nbytes(index, i);
    }
    CHECK(nbytes == info.footprint_nbytes && texts > 0);
    WORKS(kr_index_estimate(device, spec, keys, &estimate, &err));
    CHECK(estimate.footprint_nbytes >= info.footprint_nbytes);
    CHECK(estimate.peak_nbytes >= info.peak_nbytes);
    WORKS(kr_index_estimate(device, spec, &unread, &estimate, &err));
    WORKS(kr_index_explain(device, KR_OP_POINT, spec, keys, 1000, &explanation, &err));
    CHECK(explanation.footprint_nbytes == estimate.footprint_nbytes);
}

static void check_saved(kr_index *index)
{
    kr_saved *saved = NULL;
    kr_index *loaded = NULL;
    kr_index_info before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
    const char *path = "text_index.keyray";
    kr_type type = KR_U32;
    int has_texts = 0;
    WORKS(kr_index_save(index, path, NULL, NULL, &err));
    WORKS(kr_saved_open(path, NULL, &saved, &err));
    WORKS(kr_saved_column(saved, 0, NULL, &type, NULL, &has_texts, &err));
    WORKS(kr_index_load(device, saved, NULL, &loaded, &err));
    kr_saved_close(saved);
    remove(path);
    if (!loaded)
        return;
    WORKS(kr_index_query(index, &before, &err));
    WORKS(kr_index_query(loaded, &after, &err));
    CHECK(before.type == after.type && before.rows == after.rows);
    CHECK(type == after.type && has_texts == 2);
    check_all(loaded);
    kr_index_destroy(loaded);
}

/* Rows are inserted with texts of which some are new, and rows of some texts are deleted. */
static void change(kr_index *index, kr_device *place)
{
    static text_set more, less;
    made inserted, deleted;
    clear(&more);
    clear(&less);
    for (uint32_t i = 0; i < 60; ++i) {
        uint64_t n;
        uint8_t bytes[256] = "new ";
        const uint8_t *text = text_of(&rows, (uint32_t)kr_rng_below(&rng, rows.n), &n);
        n = n < 200 ? n : 200;
        memcpy(bytes + (i % 2 ? 4 : 0), text, n);
        add(&more, bytes, n + (i % 2 ? 4 : 0));
        text = text_of(&rows, (uint32_t)kr_rng_below(&rng, rows.n), &n);
        if (i < 20)
            add(&less, text, n);
    }
    add(&less, "not there", 9);
    make_column(&more, KR_STRING_VIEW, place, &inserted);
    make_column(&less, KR_STRING, place, &deleted);
    WORKS(kr_index_update(index, &inserted.column, NULL, &deleted.column, NULL, &err));
    for (uint32_t i = 0; i < rows.n; ++i)
        for (uint32_t j = 0; j < less.n && !gone[i]; ++j)
            gone[i] = !is_null(&rows, i) && compare_to(&rows, i, &less, j) == 0;
    rows.nulls_below = rows.n;
    for (uint32_t i = 0; i < more.n; ++i) {
        uint64_t n;
        const uint8_t *text = text_of(&more, i, &n);
        add(&rows, text, n);
    }
    free_column(&deleted);
    free_column(&inserted);
}

static void set_keys(kr_index *index, kr_device *place)
{
    static text_set more;
    static uint32_t ids[40];
    made keys;
    uint32_t n_ids = 0;
    char text[64];
    clear(&more);
    for (uint32_t i = 0; i < rows.n && n_ids < 40; i += 3)
        if (!is_null(&rows, i)) {
            ids[n_ids++] = i;
            add(&more, text, (uint64_t)snprintf(text, sizeof text, "set %u", i % 11));
        }
    make_column(&more, KR_LARGE_STRING, place, &keys);
    WORKS(kr_index_set_keys(index, ids, &keys.column, NULL, &err));
    static text_set changed;
    clear(&changed);
    for (uint32_t i = 0, j = 0; i < rows.n; ++i) {
        uint64_t n;
        const int is_set = j < n_ids && ids[j] == i;
        const uint8_t *bytes = is_set ? text_of(&more, j++, &n) : text_of(&rows, i, &n);
        add(&changed, bytes, n);
    }
    changed.nulls = rows.nulls;
    changed.nulls_below = rows.nulls_below;
    rows = changed;
    free_column(&keys);
}

static void ask_neighbours(void)
{
    clear(&asked);
    clear(&tops);
    for (uint32_t i = 0; i < 60; ++i) {
        static uint8_t bytes[ROOM];
        uint64_t n;
        const uint8_t *text = text_of(&rows, (uint32_t)kr_rng_below(&rng, rows.n), &n);
        memcpy(bytes, text, n);
        bytes[n] = (uint8_t)(i % 2 ? 0 : 'z');
        const uint64_t length = i % 3 == 0 ? n : i % 3 == 1 ? n + 1 : n ? kr_rng_next(&rng) % n : 0;
        add(&asked, bytes, length);
        text = text_of(&rows, (uint32_t)kr_rng_below(&rng, rows.n), &n);
        add(&tops, text, n);
    }
    add(&asked, "", 0);
    add(&tops, "\xFF\xFF\xFF", 3);
    add(&asked, "\xFF\xFF", 2);
    add(&tops, "a", 1);
    asked.nulls = rows.nulls ? 13 : 0;
    tops.nulls = rows.nulls ? 17 : 0;
}

/* rows is filled. */
static void check_spec(const char *spec, kr_type type, kr_device *place)
{
    static text_set kept;
    int divided;
    made keys;
    kr_index *index = NULL;
    kr_error err = {0};
    kept = rows;
    memset(gone, 0, sizeof gone);
    make_column(&rows, type, place, &keys);
    const kr_status status = kr_index_create(device, spec, &keys.column, NULL, NULL, &index, &err);
    if (status == KR_ERR_UNSUPPORTED || (status == KR_ERR_SPEC && strstr(err.text, "this build"))) {
        printf("%s: %s\n", spec, err.text);
        free_column(&keys);
        return;
    }
    if (status != KR_OK) {
        ++failures;
        printf("FAILED: %s: %s\n", spec, err.text);
    }
    if (index) {
        ask_neighbours();
        check_all(index);
        check_info(index, spec, &keys.column);
        free_column(&keys);
        check_saved(index);
        const uint32_t can = capabilities_of(index, &divided);
        if (!divided && can & KR_CAN_UPDATE &&
            (strncmp(spec, "cgrx", 4) != 0 || strstr(spec, "updates=on"))) {
            change(index, place);
            ask_neighbours();
            check_all(index);
            check_saved(index);
        }
        if (!divided && can & KR_CAN_SET_KEYS) {
            set_keys(index, place);
            ask_neighbours();
            check_all(index);
        }
    }
    kr_index_destroy(index);
    rows = kept;
    if (failures)
        printf("%s over %u texts as %s, in %s memory\n", spec, rows.n, kr_type_name(type),
               place ? "device" : "host");
}

static void check_specs(void)
{
    static const char *const specs[] = {"array",           "btree",           "hash", "chain", "eytzinger",
                                        "pivot",           "best:ranges=off", "best", "rx",    "cgrx",
                                        "cgrx:updates=on", "array:keep=host"};
    static uint32_t turn;
    const kr_type types[] = {KR_STRING, KR_LARGE_STRING, KR_STRING_VIEW,
                             KR_BINARY, KR_LARGE_BINARY, KR_BINARY_VIEW};
    for (size_t i = 0; i < sizeof specs / sizeof *specs && !failures; ++i, ++turn)
        check_spec(specs[i], types[turn % 6], turn % 2 ? device : NULL);
}

/* ---- Columns ------------------------------------------------------------------------------------ */

static void random_texts(uint32_t letters, uint32_t longest, uint32_t nulls)
{
    clear(&rows);
    for (uint32_t i = 0; i < 301; ++i) {
        uint8_t bytes[64];
        const uint64_t n = kr_rng_below(&rng, longest + 1);
        for (uint64_t j = 0; j < n; ++j)
            bytes[j] = (uint8_t)(kr_rng_below(&rng, letters) + (letters == 26 ? 'a' : 0));
        add(&rows, bytes, n);
    }
    rows.nulls = nulls;
    check_specs();
}

static void urls(void)
{
    char text[128];
    clear(&rows);
    for (uint32_t i = 0; i < 400; ++i) {
        const uint32_t x = (uint32_t)kr_rng_next(&rng);
        add(&rows, text,
            (uint64_t)snprintf(text, sizeof text, "https://www.shop%02u.example.com/item/%08x", x % 9,
                               x % 1000));
    }
    check_specs();
}

static void few(void)
{
    clear(&rows);
    for (uint32_t i = 0; i < 90; ++i)
        add(&rows, "the same text in all rows", 25);
    check_specs();
    clear(&rows);
    add(&rows, "", 0);
    check_specs();
}

int main(int argc, char **argv)
{
    const int skipped = take_device_name(argc, argv);
    if (skipped)
        return skipped;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    random_texts(2, 12, 0);
    random_texts(26, 9, 7);
    random_texts(256, 40, 0);
    urls();
    few();
    kr_device_close(device);
    return failures != 0;
}
