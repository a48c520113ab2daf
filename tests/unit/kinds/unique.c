/* Validation finds that keys repeat where the build, or the kind, took them to be distinct: joins then take
 * one row of a key, searches stop at the first, and rays end there. */
#include "index/kinds/index.h"

#include <keyray/keyray.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 5000, BLOCKS = 200 };

static const char *const specs[] = {
    "array", "array:layout=aos", "eytzinger:k=3",       "pivot:k=9", "btree", "cgrx", "cgrx:updates=on",
    "rx",    "rx:order=row",     "hash:probing=double", "chain",
};

/* ---- Memory that the test can damage ---------------------------------------------------------- */

typedef struct memory {
    struct {
        void *at;
        size_t nbytes;
    } blocks[BLOCKS];
} memory;

static void *allocate(void *ctx, size_t nbytes, void *native_stream)
{
    memory *m = ctx;
    uint32_t b = 0;
    (void)native_stream;
    while (b < BLOCKS && m->blocks[b].at)
        ++b;
    void *at = b < BLOCKS ? aligned_alloc(256, (nbytes + 255) / 256 * 256) : NULL;
    if (at) {
        m->blocks[b].at = at;
        m->blocks[b].nbytes = nbytes;
    }
    return at;
}

static void release(void *ctx, void *at, size_t nbytes, void *native_stream)
{
    memory *m = ctx;
    (void)nbytes;
    (void)native_stream;
    for (uint32_t b = 0; b < BLOCKS; ++b)
        if (m->blocks[b].at == at)
            m->blocks[b].at = NULL;
    free(at);
}

/* Every word `from` becomes `to`; says how many there were. */
static uint32_t replace(const memory *m, uint32_t from, uint32_t to)
{
    uint32_t n = 0;
    for (uint32_t b = 0; b < BLOCKS; ++b) {
        uint32_t *words = m->blocks[b].at;
        for (uint64_t w = 0; words && w < m->blocks[b].nbytes / sizeof *words; ++w)
            if (words[w] == from) {
                words[w] = to;
                ++n;
            }
    }
    return n;
}

/* ---- Indexes ---------------------------------------------------------------------------------- */

/* Keys that are unlike any other word of an index. */
static uint32_t key_of(uint64_t row)
{
    return 0x5A000000u + (uint32_t)row * 1009u;
}

static kr_device *open_device(memory *m)
{
    const kr_device_options options = {
        .struct_size = sizeof options, .allocate = allocate, .release = release, .allocator_ctx = m};
    kr_device *device = NULL;
    assert_int_equal(kr_device_open("cpu", &options, &device, NULL), KR_OK);
    return device;
}

/* Of the last two rows the keys are the same, or all are distinct. NULL: nothing casts rays. */
static kr_index *make(kr_device *device, const char *spec, kr_type type, int repeats)
{
    static uint64_t wide[ROWS];
    static uint32_t narrow[ROWS];
    kr_index *index = NULL;
    kr_error err = {0};
    for (uint64_t r = 0; r < ROWS; ++r)
        wide[r] = narrow[r] = key_of(repeats && r == ROWS - 1 ? r - 1 : r);
    const kr_column keys = {
        .type = type, .count = ROWS, .data = type == KR_U32 ? (const void *)narrow : (const void *)wide};
    const kr_status status = kr_index_create(device, spec, &keys, NULL, NULL, &index, &err);
    if (status != KR_OK && status != KR_ERR_UNSUPPORTED)
        fail_msg("%s: %s", spec, err.text);
    if (status != KR_OK)
        print_message("skipped: %s\n", err.text);
    return index;
}

static void expect_damage(kr_index *index, const char *text)
{
    kr_error err = {0};
    assert_int_equal(kr_index_validate(index, &err), KR_ERR_INVARIANT);
    if (!strstr(err.text, text))
        fail_msg("%s: '%s', not '%s'", index->info.spec, err.text, text);
}

static void find_what_the_build_got_wrong(void **state)
{
    memory m = {0};
    kr_device *device = open_device(&m);
    (void)state;
    for (uint32_t i = 0; i < 2 * sizeof specs / sizeof *specs; ++i)
        for (int repeats = 0; repeats < 2; ++repeats) {
            kr_index *index = make(device, specs[i / 2], i % 2 ? KR_U64 : KR_U32, repeats);
            if (!index)
                continue;
            assert_int_equal(index->is_unique, !repeats);
            assert_int_equal(kr_index_validate(index, NULL), KR_OK);
            index->is_unique = 1;
            if (repeats)
                expect_damage(index, "keys were distinct after the build, and are not");
            index->is_unique = 0; /* as after a change */
            assert_int_equal(kr_index_validate(index, NULL), KR_OK);
            kr_index_destroy(index);
        }
    kr_device_close(device);
}

/* A key of an index becomes that of the row before it. */
static void find_keys_that_changed(void **state)
{
    static const struct {
        const char *spec, *says;
    } of[] = {{"array", "keys were distinct after the build, and are not"},
              {"eytzinger:stop=hit", "searches stop at the first key, but keys repeat"},
              {"rx:answer=rays", "rays end at the first row of a key, but keys repeat"}};
    memory m = {0};
    kr_device *device = open_device(&m);
    (void)state;
    for (uint32_t i = 0; i < sizeof of / sizeof *of; ++i) {
        kr_index *index = make(device, of[i].spec, KR_U32, 0);
        if (!index)
            continue;
        assert_int_equal(replace(&m, key_of(1234), key_of(1233)), 1);
        expect_damage(index, of[i].says);
        kr_index_destroy(index);
    }
    kr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(find_what_the_build_got_wrong),
        cmocka_unit_test(find_keys_that_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
