/* Dictionaries of texts against memcmp: codes, bounds, texts of codes, in every type of texts, with NULLs, on
 * columns that are random, that look real, and that were made to be awkward. */
#include "random.h"

#include "index/texts/texts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu_device.h"

/* ---- Columns ----------------------------------------------------------------------------------- */

enum { MOST = 4096, ROOM = 1 << 22, BUFFERS = 3 };

/* Texts one behind the other, and what a column of each type is made of. */
typedef struct set {
    uint32_t n;
    uint64_t offsets[MOST + 1];
    uint32_t nulls; /* every so many rows one is NULL; 0: none */
    uint8_t bytes[ROOM];
} set;

static set held, asked;

static kr_rng rng = {37};

static void add(set *s, const void *bytes, uint64_t n)
{
    assert_true(s->n < MOST && s->offsets[s->n] + n <= ROOM);
    memcpy(s->bytes + s->offsets[s->n], bytes, n);
    s->offsets[s->n + 1] = s->offsets[s->n] + n;
    ++s->n;
}

static void clear(set *s)
{
    s->n = s->nulls = 0;
}

static int is_null(const set *s, uint32_t i)
{
    return s->nulls && i % s->nulls == 0;
}

static const uint8_t *text_of(const set *s, uint32_t i, uint64_t *n)
{
    *n = s->offsets[i + 1] - s->offsets[i];
    return s->bytes + s->offsets[i];
}

/* A column with memory of its own. Rows before it belong to the array that it is a slice of. */
typedef struct made {
    kr_column column;
    void *data, *bytes[BUFFERS];
    kr_text_buffer *buffers;
    uint8_t *validity;
} made;

enum { BEFORE = 5 };

static void make_offsets(const set *s, made *m, uint32_t wide)
{
    const uint64_t nbytes = s->offsets[s->n] + BEFORE;
    int32_t *near = malloc((s->n + BEFORE + 1) * sizeof *near);
    int64_t *far = malloc((s->n + BEFORE + 1) * sizeof *far);
    m->bytes[0] = malloc(nbytes);
    memset(m->bytes[0], 'x', BEFORE);
    memcpy((char *)m->bytes[0] + BEFORE, s->bytes, s->offsets[s->n]);
    for (uint32_t i = 0; i <= s->n + BEFORE; ++i) {
        far[i] = i < BEFORE ? i : (int64_t)(s->offsets[i - BEFORE] + BEFORE);
        near[i] = (int32_t)far[i];
    }
    m->data = wide ? (void *)far : near;
    free(wide ? (void *)near : far);
    m->column.data = (char *)m->data + BEFORE * (wide ? 8 : 4);
    m->column.reserved_words[0] = (uintptr_t)m->bytes[0];
    m->column.reserved_words[1] = nbytes;
}

static void make_views(const set *s, made *m)
{
    int32_t *views = malloc(((uint64_t)s->n + 1) * 16);
    m->buffers = calloc(BUFFERS, sizeof *m->buffers);
    for (uint32_t b = 0; b < BUFFERS; ++b)
        m->buffers[b].data = m->bytes[b] = malloc(s->offsets[s->n] + 1);
    for (uint32_t i = 0; i < s->n; ++i) {
        uint64_t n;
        const uint8_t *bytes = text_of(s, i, &n);
        int32_t *view = views + 4 * (uint64_t)i;
        kr_text_buffer *buffer = m->buffers + i % BUFFERS;
        memset(view, 0, 16);
        view[0] = (int32_t)n;
        memcpy(view + 1, bytes, n <= 12 ? n : 4);
        if (is_null(s, i))
            memset(view, 0xEE, 16); /* which nobody reads */
        else if (n > 12) {
            view[2] = (int32_t)(i % BUFFERS);
            view[3] = (int32_t)buffer->nbytes;
            memcpy((char *)m->bytes[i % BUFFERS] + buffer->nbytes, bytes, n);
            buffer->nbytes += n;
        }
    }
    m->column.data = m->data = views;
    m->column.reserved_words[0] = (uintptr_t)m->buffers;
    m->column.reserved_words[1] = BUFFERS;
}

static void make_column(const set *s, kr_type type, made *m)
{
    memset(m, 0, sizeof *m);
    m->column = (kr_column){.type = type, .count = s->n};
    if (type == KR_STRING_VIEW || type == KR_BINARY_VIEW)
        make_views(s, m);
    else
        make_offsets(s, m, type == KR_LARGE_STRING || type == KR_LARGE_BINARY);
    if (!s->nulls)
        return;
    m->validity = calloc(s->n / 8 + 2, 1);
    for (uint32_t i = 0; i < s->n; ++i)
        m->validity[(i + 3) / 8] |= (uint8_t)(!is_null(s, i) << (i + 3) % 8);
    m->column.validity = m->validity;
    m->column.validity_offset = 3;
}

static void free_column(made *m)
{
    for (uint32_t b = 0; b < BUFFERS; ++b)
        free(m->bytes[b]);
    free(m->buffers);
    free(m->data);
    free(m->validity);
}

/* ---- The oracle -------------------------------------------------------------------------------- */

static int compare(const uint8_t *a, uint64_t n, const uint8_t *b, uint64_t m)
{
    const int order = memcmp(a, b, n < m ? n : m);
    return order ? order : (n > m) - (n < m);
}

static int compare_held(const void *a, const void *b)
{
    uint64_t n, m;
    const uint8_t *x = text_of(&held, *(const uint32_t *)a, &n),
                  *y = text_of(&held, *(const uint32_t *)b, &m);
    const int order = compare(x, n, y, m);
    return order ? order : *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static int compare_rows(const void *a, const void *b)
{
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* The first row of each distinct text, in the order of the codes. */
static uint32_t distinct[MOST], n_distinct;

static void make_oracle(int ordered)
{
    uint32_t n = 0;
    n_distinct = 0;
    for (uint32_t i = 0; i < held.n; ++i)
        if (!is_null(&held, i))
            distinct[n++] = i;
    qsort(distinct, n, sizeof *distinct, compare_held);
    for (uint32_t i = 0; i < n; ++i) {
        uint64_t a, b;
        const uint8_t *x = text_of(&held, distinct[i], &a),
                      *y = n_distinct ? text_of(&held, distinct[n_distinct - 1], &b) : x;
        if (!n_distinct || compare(x, a, y, b) != 0)
            distinct[n_distinct++] = distinct[i];
    }
    if (!ordered)
        qsort(distinct, n_distinct, sizeof *distinct, compare_rows);
}

static uint32_t oracle_code(const uint8_t *bytes, uint64_t n)
{
    for (uint32_t i = 0; i < n_distinct; ++i) {
        uint64_t m;
        const uint8_t *text = text_of(&held, distinct[i], &m);
        if (m == n && memcmp(text, bytes, n) == 0)
            return i;
    }
    return KR_NO_ROW;
}

static void oracle_bounds(kr_texts_bound how, const uint8_t *bytes, uint64_t n, uint32_t *lower,
                          uint32_t *upper)
{
    uint32_t first = n_distinct, end = 0;
    for (uint32_t i = 0; i < n_distinct; ++i) {
        uint64_t m;
        const uint8_t *text = text_of(&held, distinct[i], &m);
        const int order = compare(text, m, bytes, n);
        const int is_in = how == KR_TEXTS_FROM    ? order >= 0
                          : how == KR_TEXTS_ABOVE ? order > 0
                          : how == KR_TEXTS_TO    ? order <= 0
                          : how == KR_TEXTS_BELOW ? order < 0
                                                  : m >= n && memcmp(text, bytes, n) == 0;
        if (is_in && first == n_distinct)
            first = i;
        if (is_in)
            end = i + 1;
    }
    *lower = first;
    *upper = end;
}

/* ---- Checks ------------------------------------------------------------------------------------ */

static void ok(kr_status status, const kr_error *err)
{
    if (status != KR_OK)
        fail_msg("%s", err->text);
}

static uint32_t codes[MOST], lower[MOST], upper[MOST];

static void check_codes(const kr_texts *texts, const made *probes)
{
    kr_error err;
    ok(kr_texts_encode(texts, &probes->column, codes, NULL, &err), &err);
    for (uint32_t i = 0; i < asked.n; ++i) {
        uint64_t n;
        const uint8_t *bytes = text_of(&asked, i, &n);
        assert_int_equal(codes[i], is_null(&asked, i) ? KR_NO_ROW : oracle_code(bytes, n));
    }
}

static void check_bounds(const kr_texts *texts, const made *probes)
{
    kr_error err;
    for (kr_texts_bound how = KR_TEXTS_FROM; how <= KR_TEXTS_PREFIX; ++how) {
        ok(kr_texts_bounds(texts, &probes->column, how, lower, upper, NULL, &err), &err);
        for (uint32_t i = 0; i < asked.n; ++i) {
            uint64_t n;
            uint32_t first, end;
            const uint8_t *bytes = text_of(&asked, i, &n);
            if (is_null(&asked, i)) {
                assert_int_equal(lower[i], upper[i]);
                continue;
            }
            oracle_bounds(how, bytes, n, &first, &end);
            if (first >= end) {
                assert_int_equal(lower[i], upper[i]);
            } else {
                assert_int_equal(lower[i], first);
                assert_int_equal(upper[i], end);
            }
        }
    }
}

static void check_texts(const kr_texts *texts)
{
    kr_error err;
    static int64_t offsets[MOST + 2];
    static uint8_t bytes[ROOM];
    for (uint32_t i = 0; i < n_distinct; ++i)
        codes[i] = n_distinct - 1 - i;
    codes[n_distinct] = KR_NO_ROW;
    ok(kr_texts_decode(texts, codes, n_distinct + 1, offsets, NULL, 0, NULL, &err), &err);
    assert_int_equal(offsets[n_distinct], offsets[n_distinct + 1]);
    ok(kr_texts_decode(texts, codes, n_distinct, offsets, bytes, (uint64_t)offsets[n_distinct], NULL, &err),
       &err);
    for (uint32_t i = 0; i < n_distinct; ++i) {
        uint64_t n;
        const uint8_t *text = text_of(&held, distinct[codes[i]], &n);
        assert_int_equal(offsets[i + 1] - offsets[i], n);
        assert_memory_equal(bytes + offsets[i], text, n);
    }
    if (offsets[n_distinct])
        assert_int_equal(kr_texts_decode(texts, codes, n_distinct, offsets, bytes,
                                         (uint64_t)offsets[n_distinct] - 1, NULL, &err),
                         KR_ERR_LIMIT);
    codes[0] = n_distinct;
    assert_int_equal(kr_texts_decode(texts, codes, 1, offsets, NULL, 0, NULL, &err), KR_ERR_ARGUMENT);
}

/* held and asked are filled. `mask`: of the first hashes; 0: all bits. */
static void check_types(kr_type type, kr_type asked_type, int ordered, uint64_t mask)
{
    made column, probes;
    kr_error err;
    kr_texts *texts = NULL;
    const kr_texts_design design = {(uint32_t)ordered, mask};
    kr_texts_info info = {sizeof info};
    make_column(&held, type, &column);
    make_column(&asked, asked_type, &probes);
    make_oracle(ordered);
    ok(kr_strings_check(device, &column.column, "texts", NULL, &err), &err);
    ok(kr_texts_make(device, &design, &column.column, NULL, &texts, &err), &err);
    free_column(&column);
    ok(kr_texts_query(texts, &info, &err), &err);
    assert_int_equal(info.count, n_distinct);
    assert_string_equal(info.spec, ordered ? "ranges=on" : "ranges=off");
    assert_true(!mask || n_distinct < 3 || info.seeds_given_up == 1);
    check_codes(texts, &probes);
    if (ordered)
        check_bounds(texts, &probes);
    else
        assert_int_equal(kr_texts_bounds(texts, &probes.column, KR_TEXTS_FROM, lower, NULL, NULL, &err),
                         KR_ERR_UNSUPPORTED);
    check_texts(texts);
    free_column(&probes);
    kr_texts_destroy(texts);
}

static void check_all(void)
{
    static uint32_t turn;
    const kr_type types[] = {KR_STRING, KR_LARGE_STRING, KR_STRING_VIEW,
                             KR_BINARY, KR_LARGE_BINARY, KR_BINARY_VIEW};
    for (int ordered = 0; ordered < 2; ++ordered, ++turn) {
        check_types(types[turn % 6], types[(turn / 2 + 1) % 6], ordered, 0);
        check_types(types[(turn + 3) % 6], types[turn / 3 % 6], ordered, 1);
    }
}

/* Probes: what is held, and what lies beside it. */
static void ask_neighbours(void)
{
    clear(&asked);
    asked.nulls = held.nulls ? 7 : 0;
    for (uint32_t i = 0; i < held.n && asked.n + 4 < MOST / 2; ++i) {
        uint64_t n;
        static uint8_t bytes[ROOM];
        const uint8_t *text = text_of(&held, i, &n);
        if (asked.offsets[asked.n] + 4 * n + 8 > ROOM)
            break;
        memcpy(bytes, text, n);
        add(&asked, bytes, n);
        add(&asked, bytes, n ? kr_rng_next(&rng) % n : 0);
        bytes[n] = (uint8_t)(i % 3 == 0 ? 0 : i % 3 == 1 ? 0xFF : 'a');
        add(&asked, bytes, n + 1);
        if (n) {
            bytes[kr_rng_next(&rng) % n] ^= (uint8_t)(1u << kr_rng_next(&rng) % 8);
            add(&asked, bytes, n);
        }
    }
    add(&asked, "", 0);
    add(&asked, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 9);
}

static void check_held(void)
{
    ask_neighbours();
    check_all();
    held.nulls = 5;
    ask_neighbours();
    check_all();
}

/* ---- Cases ------------------------------------------------------------------------------------- */

static void random_texts(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 12; ++round) {
        const uint32_t letters = round % 3 == 0   ? 2
                                 : round % 3 == 1 ? 26
                                                  : 256,
                       longest = 1 + 5 * (round % 7);
        clear(&held);
        for (uint32_t i = 0; i < 300; ++i) {
            uint8_t bytes[64];
            const uint64_t n = kr_rng_below(&rng, longest + 1);
            for (uint64_t j = 0; j < n; ++j)
                bytes[j] = (uint8_t)(kr_rng_below(&rng, letters) + (letters == 26 ? 'a' : 0));
            add(&held, bytes, n);
        }
        check_held();
    }
}

static void real_texts(void **state)
{
    char text[128];
    static const char *const forms[] = {"Customer#%09u", "https://www.shop%02u.example.com/item/%08x",
                                        "%08x%08x"};
    (void)state;
    for (uint32_t form = 0; form < 3; ++form) {
        clear(&held);
        for (uint32_t i = 0; i < 700; ++i) {
            const uint32_t x = (uint32_t)kr_rng_next(&rng);
            add(&held, text,
                (uint64_t)(form == 0   ? snprintf(text, sizeof text, forms[0], i)
                           : form == 1 ? snprintf(text, sizeof text, forms[1], x % 9, x)
                                       : snprintf(text, sizeof text, forms[2], x, i)));
        }
        check_held();
    }
}

/* Texts that differ in how many zero bytes they end with, where slices tell nothing. */
static void zero_bytes(void **state)
{
    static uint8_t zeros[64];
    (void)state;
    for (uint32_t before = 0; before < 12; before += 5) {
        clear(&held);
        for (uint32_t n = 0; n < 40; ++n) {
            uint8_t bytes[80] = "abcdefghijkl";
            memset(bytes + before, 0, sizeof bytes - before);
            add(&held, bytes, before + (n * 7) % 40);
            bytes[before + (n * 7) % 40] = 1;
            add(&held, bytes, before + (n * 7) % 40 + 1);
        }
        add(&held, zeros, 64);
        check_held();
    }
}

/* Each begins with the one before: a layer for every eight of them. */
static void chains_of_prefixes(void **state)
{
    static uint8_t bytes[400];
    (void)state;
    memset(bytes, 'a', sizeof bytes);
    clear(&held);
    for (uint32_t i = 0; i < 400; ++i)
        add(&held, bytes, (i * 37) % 400);
    check_held();
}

static void one_long_prefix(void **state)
{
    static uint8_t bytes[(1 << 20) + 8];
    (void)state;
    memset(bytes, 'p', sizeof bytes);
    clear(&held);
    for (uint32_t i = 0; i < 2; ++i) {
        bytes[1 << 20] = (uint8_t)('a' + i);
        add(&held, bytes, (1 << 20) + 1);
    }
    add(&held, bytes, 1000000);
    clear(&asked);
    add(&asked, bytes, 1000000);
    add(&asked, bytes, 999999);
    bytes[500000] = 'q';
    add(&asked, bytes, 1000000);
    check_all();
}

static void few_texts(void **state)
{
    (void)state;
    clear(&held);
    check_held(); /* none */
    clear(&held);
    add(&held, "", 0);
    check_held();
    clear(&held);
    for (uint32_t i = 0; i < 50; ++i)
        add(&held, "the same text in all rows", 25);
    check_held();
    clear(&held);
    add(&held, "a", 1);
    held.nulls = 1; /* all are NULL */
    ask_neighbours();
    check_all();
}

/* ---- Broken columns ---------------------------------------------------------------------------- */

static void refuse(const kr_column *column, const char *text)
{
    kr_error err = {0};
    kr_texts *texts = NULL;
    assert_int_equal(kr_texts_create(device, column, NULL, NULL, &texts, &err), KR_ERR_ARGUMENT);
    if (!strstr(err.text, text))
        fail_msg("'%s' does not say '%s'", err.text, text);
    assert_null(texts);
}

static void broken_offsets(void **state)
{
    const int32_t falls[] = {0, 2, 1, 3}, behind[] = {0, 2, 3, 4}, below[] = {-1, 0, 1, 2};
    const int64_t far[] = {0, 1, INT64_MAX, INT64_MAX};
    const uint64_t place = (uintptr_t) "abc";
    kr_column column = {.type = KR_STRING, .count = 3, .data = falls, .reserved_words = {place, 3}};
    (void)state;
    refuse(&column, "row 1: its end lies before its beginning");
    column.data = behind;
    refuse(&column, "row 2: its offsets are not within the bytes");
    column.data = below;
    refuse(&column, "row 0: its offsets are not within the bytes");
    column.type = KR_LARGE_BINARY;
    column.data = far;
    refuse(&column, "row 1: its offsets are not within the bytes");
    column.reserved_words[0] = 0;
    refuse(&column, "address is NULL");
}

static void broken_views(void **state)
{
    const char bytes[] = "a text of more than twelve bytes";
    kr_text_buffer buffer = {bytes, sizeof bytes};
    int32_t view[4] = {20, 0, 0, 0};
    kr_column column = {
        .type = KR_STRING_VIEW, .count = 1, .data = view, .reserved_words = {(uintptr_t)&buffer, 1}};
    kr_texts *texts = NULL;
    (void)state;
    _Alignas(8) int32_t good[4];
    memcpy(view + 1, bytes, 4);
    memcpy(good, view, sizeof good);
    column.data = good;
    assert_int_equal(kr_texts_create(device, &column, NULL, NULL, &texts, NULL), KR_OK);
    kr_texts_destroy(texts);
    good[0] = -1;
    refuse(&column, "row 0: its view has a length or an offset below 0");
    good[0] = 13;
    good[2] = 1;
    refuse(&column, "row 0: its view names a buffer that is not there");
    good[2] = 0;
    good[3] = (int32_t)sizeof bytes - 12;
    refuse(&column, "row 0: its view reaches behind the end of its buffer");
    good[3] = 1;
    refuse(&column, "row 0: its view and its buffer begin with other bytes");
    good[3] = 0;
    column.data = (char *)good + 4;
    refuse(&column, "aligned");
}

static void no_texts(void **state)
{
    const uint32_t numbers[] = {1, 2};
    const kr_column column = {.type = KR_U32, .count = 2, .data = numbers};
    kr_error err;
    kr_texts *texts = NULL;
    (void)state;
    assert_int_equal(kr_texts_create(device, &column, NULL, NULL, &texts, &err), KR_ERR_TYPE);
    assert_int_equal(kr_texts_create(device, &column, "ranges=maybe", NULL, &texts, &err), KR_ERR_SPEC);
    assert_int_equal(kr_texts_create(device, NULL, NULL, NULL, &texts, &err), KR_ERR_ARGUMENT);
    kr_texts_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_texts),       cmocka_unit_test(real_texts),      cmocka_unit_test(zero_bytes),
        cmocka_unit_test(chains_of_prefixes), cmocka_unit_test(one_long_prefix), cmocka_unit_test(few_texts),
        cmocka_unit_test(broken_offsets),     cmocka_unit_test(broken_views),    cmocka_unit_test(no_texts),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
