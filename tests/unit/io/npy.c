#include "files.h"

/* A .npy of that version; `tail` elements follow the header, which is padded to 64 bytes. */
static void put_npy(const char *name, int version, const char *header, const void *tail, size_t tail_nbytes)
{
    unsigned char all[4096];
    size_t begin = version == 1 ? 10 : 12, n = strlen(header), total = (begin + n + 1 + 63) / 64 * 64;
    assert_true(total + tail_nbytes <= sizeof all);
    memset(all, ' ', total);
    memcpy(all, "\x93NUMPY", 6);
    all[6] = (unsigned char)version;
    all[7] = 0;
    uint32_t length = (uint32_t)(total - begin);
    memcpy(all + 8, &length, begin - 8);
    memcpy(all + begin, header, n);
    all[total - 1] = '\n';
    if (tail_nbytes)
        memcpy(all + total, tail, tail_nbytes);
    put_bytes(name, all, total + tail_nbytes);
}

static void put_array(const char *dtype, const char *shape, const void *tail, size_t tail_nbytes)
{
    char header[512];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", dtype, shape);
    put_npy("a.npy", 1, header, tail, tail_nbytes);
}

static void every_dtype(void **state)
{
    (void)state;
    static const struct {
        const char *dtype;
        kr_type type;
    } dtypes[] = {
        {"|u1", KR_U8},  {"|i1", KR_I8},  {"<u1", KR_U8},  {"<i1", KR_I8},  {"<u2", KR_U16}, {"<i2", KR_I16},
        {"<u4", KR_U32}, {"<i4", KR_I32}, {"<u8", KR_U64}, {"<i8", KR_I64}, {"<f4", KR_F32}, {"<f8", KR_F64},
    };
    unsigned char data[24];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 37 + 200);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        put_array(dtypes[i].dtype, "(3,)", data, 3 * kr_type_nbytes(dtypes[i].type));
        must_hold("a.npy", dtypes[i].type, 3, data);
        put_array(dtypes[i].dtype, "(0,)", NULL, 0);
        must_hold("a.npy", dtypes[i].type, 0, data);
    }
}

static void headers_of_every_version(void **state)
{
    (void)state;
    const int32_t data[] = {-5, 6};
    static const char *const headers[] = {
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }",
        "{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<i4\"}",
        " { 'shape' : ( 2L , ) , 'descr' : '<i4' , 'fortran_order' : True } ",
    };
    for (int version = 1; version <= 3; version++)
        for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
            put_npy("a.npy", version, headers[i], data, sizeof data);
            must_hold("a.npy", KR_I32, 2, data);
        }
    put_npy("b.NPY", 1, headers[0], data, sizeof data);
    must_hold("b.NPY", KR_I32, 2, data);
}

static void days(void **state)
{
    (void)state;
    const int64_t data[] = {0, INT64_MIN, INT32_MAX, INT32_MIN, 9204};
    put_array("<M8[D]", "(5,)", data, sizeof data);
    kr_file *file = must_read("a.npy");
    const kr_column *column = kr_file_column(file);
    assert_int_equal(column->type, KR_DATE32);
    assert_int_equal(column->count, 5);
    for (uint64_t i = 0; i < 5; i++) {
        assert_int_equal(is_valid(column, i), i != 1);
        assert_int_equal(((const int32_t *)column->data)[i], i == 1 ? 0 : data[i]);
    }
    assert_null(kr_file_string(file, 0, NULL));
    kr_file_close(file);

    const int32_t known[] = {0, INT32_MAX};
    const int64_t clean[] = {0, INT32_MAX};
    put_array("<M8[D]", "(2,)", clean, sizeof clean);
    must_hold("a.npy", KR_DATE32, 2, known);

    const int64_t outside[][2] = {{0, (int64_t)INT32_MAX + 1}, {0, (int64_t)INT32_MIN - 1}};
    for (int i = 0; i < 2; i++) {
        put_array("<M8[D]", "(2,)", outside[i], sizeof outside[i]);
        must_fail("a.npy", KR_ERR_FORMAT,
                  i ? "a.npy\trow 1\tday -2147483649" : "a.npy\trow 1\tday 2147483648\tdate32");
    }
}

static void other_dtypes_are_named(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"|b1", ">i4", ">f8",     "<c16",    "<f2", "<f16",   "|S5",
                                         "<U3", "|O",  "<M8[us]", "<M8[ns]", "<M8", "<m8[D]", ">M8[D]",
                                         "<i3", "=i4", "i4",      "|i4",     ""};
    const uint64_t zeros[8] = {0};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "a.npy\t'%s'", dtypes[i]);
        put_array(dtypes[i], "(2,)", zeros, 16);
        must_fail("a.npy", KR_ERR_FORMAT, wanted);
    }
    put_npy("a.npy", 1,
            "{'descr': [('a', '<i4'), ('b', '<f8', (2,))], 'fortran_order': False, 'shape': (1,), }", zeros,
            20);
    must_fail("a.npy", KR_ERR_FORMAT, "a.npy\t[('a', '<i4'), ('b', '<f8', (2,))]");
}

static void other_shapes_are_named(void **state)
{
    (void)state;
    const uint64_t zeros[8] = {0};
    static const char *const shapes[] = {"()", "(2, 2)", "(1,4,)", "(4, 0)"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "a.npy\t%s", shapes[i]);
        put_array("<i4", shapes[i], zeros, 16);
        must_fail("a.npy", KR_ERR_FORMAT, wanted);
    }
    put_npy("a.npy", 1, "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 2), }", zeros, 16);
    must_fail("a.npy", KR_ERR_FORMAT, "a.npy\t(2, 2)\tFortran");
}

static void malformed_headers(void **state)
{
    (void)state;
    const uint64_t zeros[8] = {0};
    static const char *const headers[] = {
        "",
        "{",
        "}",
        "{}",
        "{,}",
        "[]",
        "{'descr': '<i4', 'fortran_order': False}",
        "{'descr': '<i4', 'shape': (2,)}",
        "{'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2,)} x",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2,)",
        "{'descr': '<i4' 'fortran_order': False, 'shape': (2,)}",
        "{'descr' '<i4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<i4, 'fortran_order': False, 'shape': (2,)}",
        "{'descr': [('a', '<i4'), 'fortran_order': False, 'shape': (2,)}",
        "{'descr': 4, 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<i4', 'fortran_order': False, 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), 'shape': (2,)}",
        "{'descr': '<i4', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': 2}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2 2)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2.5,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (18446744073709551616,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        put_npy("a.npy", 1, headers[i], zeros, 8);
        must_fail("a.npy", KR_ERR_FORMAT, "a.npy\tmalformed .npy header");
    }
}

static void lying_counts(void **state)
{
    (void)state;
    const uint64_t zeros[8] = {0};
    static const char *const shapes[] = {
        "(3,)", "(1,)", "(0,)", "(4611686018427387906,)", "(18446744073709551615,)", "(9000000000000,)"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        put_array("<i4", shapes[i], zeros, 8);
        must_fail("a.npy", KR_ERR_FORMAT, "a.npy\tof 4 bytes\t8 bytes follow");
        put_array("<M8[D]", shapes[i], zeros, 16);
        must_fail("a.npy", KR_ERR_FORMAT, "a.npy\tof 8 bytes\t16 bytes follow");
    }
    put_array("<i4", "(2,)", zeros, 7);
    must_fail("a.npy", KR_ERR_FORMAT, "a.npy\t2 elements\t7 bytes follow");
}

static void short_and_wrong_beginnings(void **state)
{
    (void)state;
    put_bytes("a.npy", "", 0);
    must_fail("a.npy", KR_ERR_FORMAT, "a.npy\tnot a .npy file");
    put_text("a.npy", "1,2,3\n4,5,6\n7,8,9\n");
    must_fail("a.npy", KR_ERR_FORMAT, "a.npy\tnot a .npy file");
    static const char whole[] = "\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr'";
    for (size_t n = 1; n < 8; n++) {
        put_bytes("a.npy", whole, n);
        must_fail("a.npy", KR_ERR_FORMAT, "a.npy\tnot a .npy file");
    }
    for (size_t n = 8; n < sizeof whole; n++) {
        put_bytes("a.npy", whole, n);
        must_fail("a.npy", KR_ERR_FORMAT, "a.npy\tends within its .npy header");
    }
    put_bytes("a.npy", "\x93NUMPY\x04\x00\x02\x00{}", 12);
    must_fail("a.npy", KR_ERR_FORMAT, "a.npy\tversion 4.0");
    put_bytes("a.npy", "\x93NUMPY\x03\x75\x02\x00{}", 12);
    must_fail("a.npy", KR_ERR_FORMAT, "a.npy\tversion 3.117");

    char *huge = calloc(1, 100000);
    memcpy(huge, "\x93NUMPY\x02\x00\x01\x00\x01\x00", 12); /* 65537 */
    put_bytes("a.npy", huge, 100000);
    free(huge);
    must_fail("a.npy", KR_ERR_FORMAT, "a.npy\t65537 bytes");
}

static void more_than_one_chunk(void **state)
{
    (void)state;
    enum { ROWS = 1200000 };
    int32_t *written = malloc(ROWS * sizeof *written);
    for (int32_t i = 0; i < ROWS; i++)
        written[i] = i * 1789 - 5;
    kr_error err;
    assert_int_equal(kr_file_write(in_folder("big.npy"), KR_DATE32, ROWS, 1, written, NULL, &err), KR_OK);
    must_hold("big.npy", KR_DATE32, ROWS, written);
    assert_int_equal(kr_file_write(in_folder("big.npy"), KR_I32, ROWS, 1, written, NULL, &err), KR_OK);
    must_hold("big.npy", KR_I32, ROWS, written);
    free(written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype),
        cmocka_unit_test(headers_of_every_version),
        cmocka_unit_test(days),
        cmocka_unit_test(other_dtypes_are_named),
        cmocka_unit_test(other_shapes_are_named),
        cmocka_unit_test(malformed_headers),
        cmocka_unit_test(lying_counts),
        cmocka_unit_test(short_and_wrong_beginnings),
        cmocka_unit_test(more_than_one_chunk),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
