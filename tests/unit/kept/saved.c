/* Divided indexes in files: saved part by part, loaded where they are divided and where not, mapped and from
 * memory, and damaged. */
#include "scene.h"

#include "saved_files.h"

enum { FEW = 90, FEW_ROWS = 25 };

static const scene scenes[] = {
    {.type = KR_U32, .different = 900, .nulls = 1, .keys = KEYS, .probes = PROBES},
    {.type = KR_F64, .row_ids = 1, .keys = KEYS, .probes = PROBES},
    {.type = KR_U64, .keys = 0, .probes = PROBES},
};
enum { SCENES = sizeof scenes / sizeof scenes[0] };
static const char *const specs[] = {"array:keep=host", "array:keep=host,layout=aos"};

static char path[] = "/tmp/keyray-kept-XXXXXX";

static kr_index *load(kr_device *device, kr_saved *saved)
{
    kr_error failed = {0};
    kr_index *index = NULL;
    if (kr_index_load(device, saved, NULL, &index, &failed))
        fail_msg("%s", failed.text);
    if (kr_index_validate(index, &failed))
        fail_msg("%s", failed.text);
    return index;
}

static void compare(kr_index *plain, kr_index *loaded, const columns *c)
{
    for (sort = POINT; sort <= RANGE; ++sort)
        compare_answers(plain, loaded, c);
    sort = NEAREST;
    nearest = (kr_nearest_options){.struct_size = sizeof nearest, .side = KR_NEAREST_EITHER, .strict = 1};
    compare_answers(plain, loaded, c);
}

/* A structure in parts takes no rows on any device; the text says what it is, and not where. */
static void refuse_update(kr_index *index, int is_divided, const columns *c)
{
    kr_error failed = {0};
    if (!is_divided)
        return;
    assert_int_equal(kr_index_update(index, &c->keys, NULL, NULL, NULL, &failed), KR_ERR_UNSUPPORTED);
    if (!strstr(failed.text, "divided index") || !strstr(failed.text, "keep=device"))
        fail_msg("%s", failed.text);
}

/* Loaded on both sorts of device, the file closed before the index is used, or after. */
static void check_loads(const char *spec, const scene *s, int from_memory, int divides)
{
    kr_device *device = open_device(PART_ROWS, TRAVEL, 0), *other = open_device(PART_ROWS, TRAVEL, 0);
    columns c = columns_of(s, 40 + (uint64_t)(s - scenes));
    kr_error failed = {0};
    kr_saved *saved = NULL;
    if (!divides)
        kr_divide_no_indexes(device);
    kr_index *made = build(device, spec, &c);
    assert_int_equal(kr_index_save(made, path, NULL, NULL, &failed), KR_OK);
    bytes file = read_bytes(path);
    assert_int_equal(from_memory ? kr_saved_open_memory(file.data, file.n, NULL, &saved, &failed)
                                 : kr_saved_open(path, NULL, &saved, &failed),
                     KR_OK);
    kr_index *there = load(other, saved);
    kr_divide_no_indexes(other);
    kr_index *here = load(other, saved);
    if (!from_memory)
        kr_saved_close(saved);
    kr_divide_no_indexes(device);
    kr_index *plain = build(device, "array", &c);
    compare(plain, here, &c);
    refuse_update(here, divides, &c);
    kr_divide_indexes(other, PART_ROWS, UINT64_MAX);
    compare(plain, there, &c);
    kr_divide_indexes(other, PART_ROWS, 1);
    compare(plain, there, &c);
    /* Saved once more, it is the same file. */
    const bytes again = bytes_of_index(there, NULL);
    if (divides) {
        assert_int_equal(again.n, file.n);
        assert_memory_equal(again.data, file.data, file.n);
    }
    if (from_memory)
        kr_saved_close(saved);
    free(again.data), free(file.data);
    kr_index_destroy(plain), kr_index_destroy(here), kr_index_destroy(there), kr_index_destroy(made);
    free_columns(&c);
    kr_device_close(other), kr_device_close(device);
}

static void test_saved_and_loaded(void **state)
{
    (void)state;
    for (int i = 0; i < SCENES; ++i)
        for (int from_memory = 0; from_memory < 2; ++from_memory) {
            check_loads(specs[i % 2], &scenes[i], from_memory, 1);
            check_loads(specs[i % 2], &scenes[i], from_memory, 0);
        }
}

/* A file of keep=device that does not fit: the text says what would. */
static void test_option_is_named(void **state)
{
    const scene s = {.type = KR_U32, .keys = 1 << 17, .probes = 8};
    kr_device *large = open_device(0, TRAVEL, 0), *small = open_device(0, TRAVEL, 256 << 10);
    columns c = columns_of(&s, 2);
    kr_index *made = build(large, "array", &c), *loaded = NULL;
    bytes file = bytes_of_index(made, NULL);
    kr_saved *saved = NULL;
    kr_error failed = {0};
    (void)state;
    assert_int_equal(kr_saved_open_memory(file.data, file.n, NULL, &saved, &failed), KR_OK);
    assert_int_equal(kr_index_load(small, saved, NULL, &loaded, &failed), KR_ERR_DEVICE_MEMORY);
    assert_non_null(strstr(failed.text, "with keep=host"));
    kr_saved_close(saved);
    free(file.data);
    kr_index_destroy(made);
    free_columns(&c);
    kr_device_close(small), kr_device_close(large);
}

/* ---- Damage under right checksums ---------------------------------------------------------------- */

static bytes few_bytes(kr_device *device, columns *c)
{
    const scene s = {.type = KR_U32, .keys = FEW, .probes = ASKED};
    *c = columns_of(&s, 9);
    kr_index *made = build(device, "array:keep=host", c);
    const bytes file = bytes_of_index(made, NULL);
    kr_index_destroy(made);
    return file;
}

static kr_status try(kr_device *device, bytes *file, const columns *c, kr_error *failed)
{
    kr_saved *saved = NULL;
    kr_index *index = NULL;
    mend(file);
    kr_status status = kr_saved_open_memory(file->data, file->n, NULL, &saved, failed);
    if (status == KR_OK)
        status = kr_index_load(device, saved, NULL, &index, failed);
    if (status == KR_OK)
        answers_of(index, &c->lower, &c->upper);
    kr_index_destroy(index);
    kr_saved_close(saved);
    return status;
}

typedef struct change {
    const char *field;
    uint64_t number;
    const char *says;
} change;

static const change changes[] = {
    {"kind.parts", 0, "may be"},
    {"kind.parts", 1 << 20, "may be"},
    {"kind.parts", 2, "field"},
    {"kind.part 1.n", 3, "rows"},
    {"kind.part 1.n", 0, "may be"},
    {"kind.part 1.n", UINT64_MAX, "may be"},
    {"kind.part 1.lowest", 0, "between its cuts"},
    {"kind.part 1.lowest", UINT64_MAX, "may be"},
    {"kind.part 0.highest", 5, "between its cuts"},
    {"kind.part 0.second", 0, "between its cuts"},
    {"kind.part 2.last but one", UINT32_MAX, "between its cuts"},
    {"rows", 3, "rows"},
};

/* Whatever a number or an element is: an error, or a file that can be used. */
static void try_other(kr_device *device, const bytes *file, bytes *copy, const columns *c, uint64_t at,
                      uint32_t nbytes, uint64_t number)
{
    kr_error failed = {0};
    memcpy(copy->data, file->data, file->n);
    put_number(copy, at, number, nbytes);
    const kr_status status = try(device, copy, c, &failed);
    assert_true(status == KR_OK || status == KR_ERR_FORMAT || status == KR_ERR_TYPE);
}

static void test_damaged(void **state)
{
    kr_device *device = open_device(FEW_ROWS, TRAVEL, 0);
    columns c;
    bytes file = few_bytes(device, &c), copy = {malloc(file.n + 1), file.n};
    kr_rng rng = {1};
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; ++i) {
        kr_error failed = {0};
        memcpy(copy.data, file.data, file.n);
        put_number(&copy, find_field(&copy, changes[i].field).value_at, changes[i].number, 8);
        assert_int_equal(try(device, &copy, &c, &failed), KR_ERR_FORMAT);
        if (!strstr(failed.text, changes[i].says))
            fail_msg("%s: '%s' does not say '%s'", changes[i].field, failed.text, changes[i].says);
    }
    uint64_t at = directory_at(&file) + 8;
    for (uint32_t i = 0; i < field_count(&file); ++i) {
        const file_field field = field_at(&file, &at);
        for (int number = 0; field.kind == 1 && number < 8; ++number)
            try_other(device, &file, &copy, &c, field.value_at, 8, kr_rng_next(&rng) >> 8 * number);
        for (uint64_t byte = 0; field.kind == 3 && byte < field.value; ++byte)
            try_other(device, &file, &copy, &c, field.offset + byte, 1, kr_rng_next(&rng));
    }
    free(copy.data), free(file.data);
    free_columns(&c);
    kr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_saved_and_loaded),
                                       cmocka_unit_test(test_option_is_named),
                                       cmocka_unit_test(test_damaged)};
    const int made = mkstemp(path);
    const int failed = made < 0 || cmocka_run_group_tests(tests, NULL, NULL);
    close(made);
    unlink(path);
    return failed;
}
