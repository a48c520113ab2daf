/* Indexes of codes that share a dictionary, codes of no text, and what indexes over texts refuse. */
#include "device_name.h"
#include "texts.h"

static kr_device *device;

/* ---- Dictionaries that are shared ---------------------------------------------------------------- */

/* As for Arrow's dictionary columns: a dictionary of the values, and codes of rows. */
static void shared(void)
{
    const char bytes[] = "antbeecat";
    const int32_t ends[] = {0, 3, 6, 9};
    const kr_column values = {
        .type = KR_STRING, .count = 3, .data = ends, .reserved_words = {(uintptr_t)bytes, 9}};
    const kr_column other = {
        .type = KR_STRING, .count = 2, .data = ends, .reserved_words = {(uintptr_t)bytes, 9}};
    kr_texts_info info = {.struct_size = sizeof info};
    uint32_t data[] = {2, 0, 2, 1}, found[3] = {0};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = found};
    kr_texts *texts = NULL, *strange = NULL;
    kr_index *one = NULL, *two = NULL;
    WORKS(kr_texts_create(device, &values, NULL, NULL, &texts, &err));
    WORKS(kr_texts_create(device, &other, NULL, NULL, &strange, &err));
    WORKS(kr_texts_query(texts, &info, &err));
    const kr_column codes = {.type = KR_U32, .count = 4, .data = data, .dictionary = info.dictionary};
    WORKS(kr_index_create(device, "array", &codes, NULL, NULL, &one, &err));
    WORKS(kr_index_create(device, "hash", &codes, NULL, NULL, &two, &err));
    REFUSED(KR_ERR_TYPE, kr_index_lookup(one, &values, &sink, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_lookup_texts(one, &values, KR_TEXTS_PREFIX, &sink, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_set_texts(one, strange, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_set_texts(one, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_set_texts(NULL, texts, &err));
    WORKS(kr_index_set_texts(one, texts, &err));
    WORKS(kr_index_set_texts(two, texts, &err));
    CHECK(kr_index_texts(one) == texts && kr_index_texts(two) == texts && !kr_index_texts(NULL));
    kr_texts_destroy(strange);
    kr_texts_destroy(texts);
    WORKS(kr_index_lookup(one, &values, &sink, NULL, &err));
    CHECK(found[0] == 1 && found[1] == 3 && found[2] == 0);
    kr_index_destroy(one);
    WORKS(kr_index_lookup(two, &values, &sink, NULL, &err));
    CHECK(found[0] == 1 && found[1] == 3 && found[2] == 0);
    kr_index_destroy(two);
}

static void refuse(void)
{
    static const uint32_t numbers[] = {1, 2};
    static const int32_t ends[] = {0, 1, 2}, broken[] = {0, 2, 1};
    static uint32_t found[2];
    const kr_column
        texts = {.type = KR_STRING, .count = 2, .data = ends, .reserved_words = {(uintptr_t) "ab", 2}},
        bad = {.type = KR_STRING, .count = 2, .data = broken, .reserved_words = {(uintptr_t) "ab", 2}},
        keys = {.type = KR_U32, .count = 2, .data = numbers};
    const kr_nearest_options either = {.struct_size = sizeof either, .side = KR_NEAREST_EITHER},
                             limited = {.struct_size = sizeof limited, .limited = 1, .tolerance = 1};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = found};
    kr_index *index = NULL, *of_numbers = NULL, *none = NULL;
    WORKS(kr_index_create(device, "array", &texts, NULL, NULL, &index, &err));
    WORKS(kr_index_create(device, "array", &keys, NULL, NULL, &of_numbers, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_create(device, "array", &bad, NULL, NULL, &none, &err));
    REFUSED(KR_ERR_TYPE, kr_index_lookup(index, &keys, &sink, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_lookup(of_numbers, &texts, &sink, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_lookup_texts(of_numbers, &texts, KR_TEXTS_FROM, &sink, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_lookup_texts(index, &keys, KR_TEXTS_FROM, &sink, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_texts(index, &texts, (kr_texts_bound)9, &sink, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup(index, &bad, &sink, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_range(index, &texts, &bad, &sink, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_update(index, &keys, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_update(of_numbers, &texts, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_update(index, &bad, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_UNSUPPORTED, kr_index_set_keys(index, numbers, &texts, NULL, &err));
    REFUSED(KR_ERR_UNSUPPORTED, kr_index_nearest(index, &texts, &either, &sink, NULL, &err));
    REFUSED(KR_ERR_UNSUPPORTED, kr_index_nearest(index, &texts, &limited, &sink, NULL, &err));
    WORKS(kr_index_lookup(index, &texts, &sink, NULL, &err));
    CHECK(found[0] == 0 && found[1] == 1 && !none);
    kr_index_destroy(of_numbers);
    kr_index_destroy(index);
}

/* ---- Codes of no text ---------------------------------------------------------------------------- */

static const char letters[] = "antbeecat";
static const int32_t letter_ends[] = {0, 3, 6, 9};
static const kr_column animals = {
    .type = KR_STRING, .count = 3, .data = letter_ends, .reserved_words = {(uintptr_t)letters, 9}};

static const char *const kinds[] = {"array", "btree", "eytzinger", "pivot",           "hash",
                                    "chain", "rx",    "cgrx",      "cgrx:updates=on", "array:keep=host"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* An index over n codes of a dictionary of three texts; NULL: the kind does not run here. */
static kr_index *create(const char *kind, const uint32_t *codes, uint64_t n, const uint8_t *validity,
                        kr_texts **texts)
{
    kr_texts_info info = {.struct_size = sizeof info};
    kr_index *index = NULL;
    WORKS(kr_texts_create(device, &animals, NULL, NULL, texts, &err));
    WORKS(kr_texts_query(*texts, &info, &err));
    const kr_column column = {
        .type = KR_U32, .count = n, .data = codes, .validity = validity, .dictionary = info.dictionary};
    kr_error said = {0};
    const kr_status status = kr_index_create(device, kind, &column, NULL, NULL, &index, &said);
    CHECK(status == KR_OK || status == KR_ERR_UNSUPPORTED || status == KR_ERR_SPEC);
    return index;
}

static void check_strange(const char *kind)
{
    static const uint32_t above[] = {0, 2, 2, 3, 1}, missing[] = {KR_NO_ROW, 1};
    const uint8_t all_but[] = {0x17}; /* all of `above` but row 3 */
    kr_texts *texts = NULL;
    kr_index *index = create(kind, above, 5, NULL, &texts);
    kr_error said = {0};
    if (index) {
        CHECK(kr_index_set_texts(index, texts, &said) == KR_ERR_ARGUMENT && strstr(said.text, "KR_NO_ROW"));
        CHECK(strstr(said.text, "largest key is 3") || strstr(said.text, "1 of its rows"));
        CHECK(!kr_index_texts(index));
    }
    kr_index_destroy(index);
    kr_texts_destroy(texts);
    index = create(kind, missing, 2, NULL, &texts);
    if (index)
        REFUSED(KR_ERR_ARGUMENT, kr_index_set_texts(index, texts, &err));
    kr_index_destroy(index);
    kr_texts_destroy(texts);
    index = create(kind, above, 5, all_but, &texts);
    if (index) {
        WORKS(kr_index_set_texts(index, texts, &err));
        WORKS(kr_index_validate(index, &err));
    }
    kr_index_destroy(index);
    kr_texts_destroy(texts);
    index = create(kind, above, 0, NULL, &texts);
    if (index)
        WORKS(kr_index_set_texts(index, texts, &err));
    kr_index_destroy(index);
    kr_texts_destroy(texts);
}

static uint64_t dictionary_of(const kr_index *index)
{
    kr_texts_info info = {.struct_size = sizeof info};
    WORKS(kr_texts_query(kr_index_texts(index), &info, &err));
    return info.dictionary;
}

static void check_first(kr_index *index, const uint32_t want[3])
{
    uint32_t found[3] = {0};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = found};
    WORKS(kr_index_lookup(index, &animals, &sink, NULL, &err));
    CHECK(memcmp(found, want, sizeof found) == 0);
    WORKS(kr_index_validate(index, &err));
}

/* Codes that changes bring: of no text; and of a dictionary that the same call makes anew. */
static void check_changed(const char *kind)
{
    static const uint32_t codes[] = {1, 2}, strange[] = {1, 3};
    static const int32_t ends[] = {0, 3};
    kr_texts *texts = NULL;
    kr_index *index = create(kind, codes, 2, NULL, &texts); /* bee, cat */
    kr_error said = {0};
    if (index)
        WORKS(kr_index_set_texts(index, texts, &err));
    const kr_column first = {
        .type = KR_STRING, .count = 1, .data = ends, .reserved_words = {(uintptr_t) "abc", 3}};
    kr_column keys = {.type = KR_U32, .count = 2, .data = strange};
    if (index)
        keys.dictionary = dictionary_of(index);
    kr_status status = index ? kr_index_update(index, &keys, NULL, NULL, NULL, &said) : KR_ERR_UNSUPPORTED;
    CHECK(status == KR_ERR_UNSUPPORTED ||
          (status == KR_ERR_ARGUMENT && strstr(said.text, "row 1: 3 is no code")));
    const uint32_t ids[] = {0, 1};
    const kr_status set = index ? kr_index_set_keys(index, ids, &keys, NULL, NULL) : KR_ERR_UNSUPPORTED;
    CHECK(set == KR_ERR_UNSUPPORTED || set == KR_ERR_ARGUMENT);
    if (status == KR_ERR_ARGUMENT) {
        keys.count = 1; /* bee: a third row of it, behind the others */
        WORKS(kr_index_update(index, &keys, NULL, NULL, NULL, &err));
        check_first(index, (const uint32_t[]){KR_NO_ROW, 0, 1});
        /* abc becomes the first code, so that bee's old code is another text's. */
        WORKS(kr_index_update(index, &first, NULL, &keys, NULL, &err));
        check_first(index, (const uint32_t[]){KR_NO_ROW, KR_NO_ROW, 1});
        REFUSED(KR_ERR_TYPE, kr_index_update(index, &keys, NULL, NULL, NULL, &err)); /* codes of before */
    }
    kr_index_destroy(index);
    kr_texts_destroy(texts);
}

int main(int argc, char **argv)
{
    const int skipped = take_device_name(argc, argv);
    if (skipped)
        return skipped;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    shared();
    for (uint32_t k = 0; k < KINDS; ++k) {
        const int before = failures;
        check_strange(kinds[k]);
        check_changed(kinds[k]);
        if (failures > before)
            printf("%s\n", kinds[k]);
    }
    refuse();
    kr_device_close(device);
    return failures != 0;
}
