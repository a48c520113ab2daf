/* Dictionaries of texts against memcmp: codes, bounds, texts of codes, in every type of texts, with NULLs, on
 * columns that are random, that look real, and that were made to be awkward; all arrays in host memory, and
 * in device memory. */
#include "check.h"
#include "device_name.h"
#include "texts.h"

#include "index/texts/texts.h"

static kr_device *device;

static text_set held, asked;

static kr_rng rng = {37};

/* ---- The oracle -------------------------------------------------------------------------------- */

static int compare_held(const void *a, const void *b)
{
    uint64_t n, m;
    const uint8_t *x = text_of(&held, *(const uint32_t *)a, &n),
                  *y = text_of(&held, *(const uint32_t *)b, &m);
    const int order = compare_texts(x, n, y, m);
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
        if (!n_distinct || compare_texts(x, a, y, b) != 0)
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
        const int order = compare_texts(text, m, bytes, n);
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

static uint32_t codes[MOST], lower[MOST], upper[MOST];

/* `place`: of all arrays; NULL: host memory. */
static void check_codes(const kr_texts *texts, const made *probes, kr_device *place)
{
    array out = make_array(place, NULL, asked.n * sizeof *codes);
    WORKS(kr_texts_encode(texts, &probes->column, out.data, NULL, &err));
    read_array(&out, codes, asked.n * sizeof *codes);
    for (uint32_t i = 0; i < asked.n; ++i) {
        uint64_t n;
        const uint8_t *bytes = text_of(&asked, i, &n);
        CHECK(codes[i] == (is_null(&asked, i) ? KR_NO_ROW : oracle_code(bytes, n)));
    }
    free_array(&out);
}

static void check_bounds(const kr_texts *texts, const made *probes, kr_device *place)
{
    array from = make_array(place, NULL, asked.n * sizeof *lower),
          to = make_array(place, NULL, asked.n * sizeof *upper);
    for (kr_texts_bound how = KR_TEXTS_FROM; how <= KR_TEXTS_PREFIX; ++how) {
        WORKS(kr_texts_bounds(texts, &probes->column, how, from.data, to.data, NULL, &err));
        read_array(&from, lower, asked.n * sizeof *lower);
        read_array(&to, upper, asked.n * sizeof *upper);
        for (uint32_t i = 0; i < asked.n; ++i) {
            uint64_t n;
            uint32_t first = 0, end = 0;
            const uint8_t *bytes = text_of(&asked, i, &n);
            if (!is_null(&asked, i))
                oracle_bounds(how, bytes, n, &first, &end);
            CHECK(first >= end ? lower[i] == upper[i] : lower[i] == first && upper[i] == end);
        }
    }
    free_array(&to);
    free_array(&from);
}

static void check_texts(const kr_texts *texts, kr_device *place)
{
    static int64_t offsets[MOST + 2];
    static uint8_t bytes[ROOM];
    const uint64_t n = n_distinct;
    for (uint32_t i = 0; i < n; ++i)
        codes[i] = n_distinct - 1 - i;
    codes[n] = KR_NO_ROW;
    codes[n + 1] = n_distinct; /* which no text has */
    array asks = make_array(place, codes, (n + 2) * sizeof *codes),
          ends = make_array(place, NULL, (n + 2) * sizeof *offsets);
    uint32_t *wrong = (uint32_t *)asks.data + n + 1;
    WORKS(kr_texts_decode(texts, asks.data, n + 1, ends.data, NULL, 0, NULL, &err));
    read_array(&ends, offsets, (n + 2) * sizeof *offsets);
    CHECK(offsets[n] == offsets[n + 1]);
    array out = make_array(place, NULL, (uint64_t)offsets[n]);
    WORKS(kr_texts_decode(texts, asks.data, n, ends.data, out.data, (uint64_t)offsets[n], NULL, &err));
    read_array(&ends, offsets, (n + 1) * sizeof *offsets);
    read_array(&out, bytes, (uint64_t)offsets[n]);
    for (uint32_t i = 0; i < n; ++i) {
        uint64_t length;
        const uint8_t *text = text_of(&held, distinct[codes[i]], &length);
        CHECK(offsets[i + 1] - offsets[i] == (int64_t)length &&
              memcmp(bytes + offsets[i], text, length) == 0);
    }
    if (offsets[n])
        REFUSED(KR_ERR_LIMIT, kr_texts_decode(texts, asks.data, n, ends.data, out.data,
                                              (uint64_t)offsets[n] - 1, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_texts_decode(texts, wrong, 1, ends.data, NULL, 0, NULL, &err));
    free_array(&out);
    free_array(&ends);
    free_array(&asks);
}

/* held and asked are filled. `mask`: of the first hashes; 0: all bits. */
static void check_types(kr_type type, kr_type asked_type, int ordered, uint64_t mask, kr_device *place)
{
    made column, probes;
    kr_texts *texts = NULL;
    const kr_texts_design design = {(uint32_t)ordered, mask};
    kr_texts_info info = {sizeof info};
    const int failed = failures;
    make_column(&held, type, place, &column);
    make_column(&asked, asked_type, place, &probes);
    make_oracle(ordered);
    WORKS(kr_strings_check(device, &column.column, "texts", NULL, &err));
    WORKS(kr_texts_make(device, &design, &column.column, NULL, &texts, &err));
    free_column(&column);
    if (texts) {
        WORKS(kr_texts_query(texts, &info, &err));
        CHECK(info.count == n_distinct);
        CHECK(strcmp(info.spec, ordered ? "ranges=on" : "ranges=off") == 0);
        CHECK(!mask || n_distinct < 3 || info.seeds_given_up == 1);
        check_codes(texts, &probes, place);
        if (ordered)
            check_bounds(texts, &probes, place);
        else
            REFUSED(KR_ERR_UNSUPPORTED,
                    kr_texts_bounds(texts, &probes.column, KR_TEXTS_FROM, lower, NULL, NULL, &err));
        check_texts(texts, place);
    }
    free_column(&probes);
    kr_texts_destroy(texts);
    if (failures > failed)
        printf("%u texts as %s, asked as %s, ordered %d, arrays in %s memory\n", held.n, kr_type_name(type),
               kr_type_name(asked_type), ordered, place ? "device" : "host");
}

static void check_all(void)
{
    static uint32_t turn;
    const kr_type types[] = {KR_STRING, KR_LARGE_STRING, KR_STRING_VIEW,
                             KR_BINARY, KR_LARGE_BINARY, KR_BINARY_VIEW};
    for (int ordered = 0; ordered < 2 && !failures; ++ordered, ++turn) {
        check_types(types[turn % 6], types[(turn / 2 + 1) % 6], ordered, 0, turn % 4 < 2 ? device : NULL);
        check_types(types[(turn + 3) % 6], types[turn / 3 % 6], ordered, 1, turn % 4 < 2 ? NULL : device);
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

static void random_texts(void)
{
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

static void real_texts(void)
{
    char text[128];
    static const char *const forms[] = {"Customer#%09u", "https://www.shop%02u.example.com/item/%08x",
                                        "%08x%08x"};
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
static void zero_bytes(void)
{
    static uint8_t zeros[64];
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
static void chains_of_prefixes(void)
{
    static uint8_t bytes[400];
    memset(bytes, 'a', sizeof bytes);
    clear(&held);
    for (uint32_t i = 0; i < 400; ++i)
        add(&held, bytes, (i * 37) % 400);
    check_held();
}

/* What each shares with the first one, and what all share, is found in steps of 256, 1024 and more bytes. */
static void long_shared_bytes(void)
{
    static uint8_t bytes[6000];
    static const uint32_t around[] = {5500, 1282, 1281, 1280, 1279, 265, 264, 263, 257, 256, 255};
    for (uint32_t form = 0; form < 3; ++form) {
        clear(&held);
        for (uint32_t i = 0; i < sizeof around / sizeof around[0]; ++i) {
            memset(bytes, 'a', sizeof bytes);
            if (form)
                bytes[around[i]] = (uint8_t)(form == 1 ? 'b' : 0);
            add(&held, bytes, form ? sizeof bytes : around[i]);
        }
        check_held();
    }
}

static void one_long_prefix(void)
{
    static uint8_t bytes[(1 << 20) + 8];
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

/* Several threads hash and compare these. Of one text, whose hash has one bit at first, half of the others
 * seem to be it: they differ in one byte, which each thread has to see. */
static void long_texts(void)
{
    enum { AT = KR_STRINGS_LONG };
    static const uint32_t lengths[] = {AT - 1,   AT,       AT + 1,   AT + 7,    AT + 8,
                                       AT + 255, AT + 256, AT + 263, 2 * AT - 1};
    static uint8_t bytes[1024];
    for (uint32_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        for (uint32_t j = 0; j < lengths[i]; ++j)
            bytes[j] = (uint8_t)kr_rng_next(&rng);
        clear(&held);
        add(&held, bytes, lengths[i]);
        clear(&asked);
        add(&asked, bytes, lengths[i]);
        add(&asked, bytes, lengths[i] - 1);
        for (uint32_t j = 0; j < lengths[i]; ++j) {
            bytes[j] ^= (uint8_t)(1 << j % 8);
            add(&asked, bytes, lengths[i]);
            bytes[j] ^= (uint8_t)(1 << j % 8);
        }
        check_all();
    }
}

/* Of one length, so that their bytes alone tell them apart, and some of them twice; short ones between them.
 */
static void long_texts_of_one_length(void)
{
    static uint8_t bytes[2 * KR_STRINGS_LONG];
    for (uint32_t n = KR_STRINGS_LONG + 3; n <= sizeof bytes; n += 200) {
        memset(bytes, 'x', sizeof bytes);
        clear(&held);
        for (uint32_t i = 0; i < 400; ++i) {
            bytes[i * 7 % n] ^= (uint8_t)(i % 3);
            add(&held, bytes, i % 5 ? n : i % 40);
        }
        check_held();
    }
}

static void few_texts(void)
{
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
    CHECK(kr_texts_create(device, column, NULL, NULL, &texts, &err) == KR_ERR_ARGUMENT && !texts);
    if (!strstr(err.text, text)) {
        ++failures;
        printf("FAILED: '%s' does not say '%s'\n", err.text, text);
    }
}

static void broken_offsets(void)
{
    const int32_t falls[] = {0, 2, 1, 3}, behind[] = {0, 2, 3, 4}, below[] = {-1, 0, 1, 2};
    const int64_t far[] = {0, 1, INT64_MAX, INT64_MAX};
    const uint64_t place = (uintptr_t) "abc";
    kr_column column = {.type = KR_STRING, .count = 3, .data = falls, .reserved_words = {place, 3}};
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

static void broken_views(void)
{
    const char bytes[] = "a text of more than twelve bytes";
    kr_text_buffer buffer = {bytes, sizeof bytes};
    int32_t view[4] = {20, 0, 0, 0};
    kr_column column = {
        .type = KR_STRING_VIEW, .count = 1, .data = view, .reserved_words = {(uintptr_t)&buffer, 1}};
    kr_texts *texts = NULL;
    _Alignas(8) int32_t good[4];
    memcpy(view + 1, bytes, 4);
    memcpy(good, view, sizeof good);
    column.data = good;
    WORKS(kr_texts_create(device, &column, NULL, NULL, &texts, &err));
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

static void no_texts(void)
{
    const uint32_t numbers[] = {1, 2};
    const kr_column column = {.type = KR_U32, .count = 2, .data = numbers};
    kr_texts *texts = NULL;
    REFUSED(KR_ERR_TYPE, kr_texts_create(device, &column, NULL, NULL, &texts, &err));
    REFUSED(KR_ERR_SPEC, kr_texts_create(device, &column, "ranges=maybe", NULL, &texts, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_texts_create(device, NULL, NULL, NULL, &texts, &err));
    kr_texts_destroy(NULL);
}

int main(int argc, char **argv)
{
    const int skipped = take_device_name(argc, argv);
    if (skipped)
        return skipped;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    random_texts();
    real_texts();
    zero_bytes();
    chains_of_prefixes();
    long_shared_bytes();
    one_long_prefix();
    long_texts();
    long_texts_of_one_length();
    few_texts();
    broken_offsets();
    broken_views();
    no_texts();
    kr_device_close(device);
    return failures != 0;
}
