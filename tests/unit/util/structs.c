/* Structs that may grow, byte by byte: how a library of one version handles callers of older and newer
 * ones. */
#include "base/util/structs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* The struct of this version; the first release ended after `first`. */
typedef struct sample {
    size_t struct_size;
    uint64_t first, later;
} sample;

static const kr_struct type = {"kr_sample", sizeof(sample), offsetof(sample, later)};

enum { ROOM = 64, FILL = 0xA5 };

typedef union caller {
    sample known;
    unsigned char bytes[ROOM];
} caller;

/* A caller's struct of this many bytes: all fields that it knows are 7, arbitrary bytes follow its end. */
static caller of_size(size_t nbytes)
{
    caller c;
    memset(c.bytes, FILL, ROOM);
    if (nbytes > sizeof(size_t) && nbytes <= ROOM)
        memset(c.bytes + sizeof(size_t), 0, nbytes - sizeof(size_t));
    c.known.struct_size = nbytes;
    c.known.first = 7;
    if (nbytes >= sizeof(sample))
        c.known.later = 7;
    return c;
}

static void inputs_of_any_version(void **state)
{
    (void)state;
    sample read;
    kr_error err = {0};
    for (size_t nbytes = type.first_nbytes; nbytes <= ROOM; ++nbytes) {
        const caller c = of_size(nbytes);
        assert_int_equal(kr_struct_read(&type, &c, &read, &err), KR_OK);
        assert_true(read.struct_size == sizeof(sample) && read.first == 7);
        if (nbytes == type.first_nbytes || nbytes >= sizeof(sample))
            assert_true(read.later == (nbytes < sizeof(sample) ? 0 : 7));
    }
    for (size_t nbytes = 0; nbytes < type.first_nbytes; ++nbytes) {
        const caller c = of_size(nbytes);
        assert_int_equal(kr_struct_read(&type, &c, &read, &err), KR_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, "kr_sample.struct_size"));
    }
}

/* Any non-zero byte that this version does not know. */
static void inputs_with_unknown_fields(void **state)
{
    (void)state;
    sample read;
    kr_error err = {0};
    for (size_t i = sizeof(sample); i < ROOM; ++i) {
        caller c = of_size(ROOM);
        c.bytes[i] = 1;
        assert_int_equal(kr_struct_read(&type, &c, &read, &err), KR_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, "kr_sample has a field at byte"));
        c.known.struct_size = i; /* the caller's struct ends before it */
        assert_int_equal(kr_struct_read(&type, &c, &read, &err), KR_OK);
    }
}

static void outputs_of_any_version(void **state)
{
    (void)state;
    const sample from = {sizeof(sample), 1, 2};
    kr_error err = {0};
    for (size_t nbytes = type.first_nbytes; nbytes <= ROOM; ++nbytes) {
        caller c;
        memset(c.bytes, FILL, ROOM);
        c.known.struct_size = nbytes;
        assert_int_equal(kr_struct_check(&type, &c, &err), KR_OK);
        kr_struct_write(&type, &from, &c);
        assert_true(c.known.struct_size == nbytes && c.known.first == 1);
        if (nbytes >= sizeof(sample))
            assert_true(c.known.later == 2);
        for (size_t i = sizeof(sample); i < nbytes; ++i)
            assert_int_equal(c.bytes[i], 0);
        for (size_t i = nbytes; i < ROOM; ++i)
            assert_int_equal(c.bytes[i], FILL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_of_any_version),
        cmocka_unit_test(inputs_with_unknown_fields),
        cmocka_unit_test(outputs_of_any_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
