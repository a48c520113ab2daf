#include "files.h"

#include <math.h>

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

/* The bytes of every element reversed. */
static void swap(void *data, size_t count, size_t each)
{
    unsigned char *bytes = data;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < each / 2; k++) {
            const unsigned char kept = bytes[i * each + k];
            bytes[i * each + k] = bytes[i * each + each - 1 - k];
            bytes[i * each + each - 1 - k] = kept;
        }
}

static void big_endian_elements(void **state)
{
    (void)state;
    static const struct {
        const char *dtype;
        kr_type type;
    } dtypes[] = {
        {">u1", KR_U8},  {">i1", KR_I8},  {">u2", KR_U16}, {">i2", KR_I16}, {">u4", KR_U32},
        {">i4", KR_I32}, {">u8", KR_U64}, {">i8", KR_I64}, {">f4", KR_F32}, {">f8", KR_F64},
    };
    unsigned char data[24], swapped[24];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 37 + 200);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        const size_t each = kr_type_nbytes(dtypes[i].type);
        memcpy(swapped, data, sizeof data);
        swap(swapped, 3, each);
        put_array(dtypes[i].dtype, "(3,)", swapped, 3 * each);
        must_hold("a.npy", dtypes[i].type, 3, data);
    }
    int64_t days[] = {0, 9204};
    swap(days, 2, 8);
    put_array(">M8[D]", "(2,)", days, sizeof days);
    must_hold("a.npy", KR_DATE32, 2, (const int32_t[]){0, 9204});
}

static void bools_and_halves(void **state)
{
    (void)state;
    put_array("|b1", "(4,)", "\0\1\2\xff", 4);
    must_hold("a.npy", KR_U8, 4, (const uint8_t[]){0, 1, 1, 1});
    /* Zeros, the smallest and largest subnormals, the smallest normal, 1, 1.5, the largest, infinities, a
     * NaN. */
    uint16_t halves[] = {0,      0x8000, 1,      0x83ff, 0x0400, 0x3c00,
                         0xbe00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e01};
    const float floats[] = {0.0f,  -0.0f,    0x1p-24f,  -0x1.ff8p-15f,   0x1p-14f,         1.0f,
                            -1.5f, 65504.0f, -65504.0f, (float)INFINITY, -(float)INFINITY, 0};
    put_array("<f2", "(12,)", halves, sizeof halves);
    for (int big = 0; big < 2; big++) {
        kr_file *file = must_read("a.npy");
        const kr_column *column = kr_file_column(file);
        assert_int_equal(column->type, KR_F32);
        assert_memory_equal(column->data, floats, 11 * sizeof *floats);
        assert_true(isnan(((const float *)column->data)[11]));
        kr_file_close(file);
        swap(halves, 12, 2);
        put_array(">f2", "(12,)", halves, sizeof halves);
    }
}

static void times(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"<M8[s]", "<M8[ms]", "<M8[us]", "<M8[ns]"};
    const int64_t data[] = {0, INT64_MIN, INT64_MAX, -1};
    for (int i = 0; i < 4; i++) {
        put_array(dtypes[i], "(4,)", data, sizeof data);
        kr_file *file = must_read("a.npy");
        const kr_column *column = kr_file_column(file);
        assert_int_equal(column->type, KR_TIMESTAMP64);
        assert_int_equal(kr_file_unit(file), KR_UNIT_S + i);
        for (uint64_t row = 0; row < 4; row++) {
            assert_int_equal(is_valid(column, row), row != 1);
            assert_int_equal(((const int64_t *)column->data)[row], row == 1 ? 0 : data[row]);
        }
        kr_file_close(file);
    }
}

static void types_behind_the_path(void **state)
{
    (void)state;
    const int64_t data[] = {1, 300};
    put_array("<i8", "(2,)", data, sizeof data);
    must_hold("a.npy:u16", KR_U16, 2, (const uint16_t[]){1, 300});
    must_hold("a.npy:f32", KR_F32, 2, (const float[]){1, 300});
    must_fail("a.npy:u8", KR_ERR_TYPE, "a.npy:u8: row 1 is 300\tout of range for u8");
    must_fail("a.npy:date32", KR_ERR_ARGUMENT, "a.npy is i64\tdate32");
    must_fail("a.npy:x", KR_ERR_ARGUMENT, "a.npy takes only a type\t'x'");
    must_fail("a.npy:str", KR_ERR_ARGUMENT, "a.npy takes only a type\t'str'");
    kr_file *file = must_read("a.npy:timestamp64[ms]");
    assert_int_equal(kr_file_column(file)->type, KR_TIMESTAMP64);
    assert_int_equal(kr_file_unit(file), KR_UNIT_MS);
    assert_int_equal(((const int64_t *)kr_file_column(file)->data)[1], 300);
    kr_file_close(file);
    put_array("<M8[D]", "(2,)", data, sizeof data);
    must_hold("a.npy:timestamp64", KR_TIMESTAMP64, 2, (const int64_t[]){86400000000, 300 * 86400000000});
    must_hold("a.npy:timestamp64[s]", KR_TIMESTAMP64, 2, (const int64_t[]){86400, 300 * 86400});
    put_array("<M8[ms]", "(2,)", data, sizeof data);
    must_hold("a.npy:timestamp64", KR_TIMESTAMP64, 2, data);
    must_hold("a.npy:timestamp64[us]", KR_TIMESTAMP64, 2, (const int64_t[]){1000, 300000});
    must_fail("a.npy:timestamp64[s]", KR_ERR_TYPE,
              "row 0 is 1970-01-01 00:00:00.001\tfiner than timestamp64[s]");
    must_fail("a.npy:date32", KR_ERR_TYPE, "row 0 is 1970-01-01 00:00:00.001\ttime of day\ttimestamp64");
}

static void other_dtypes_are_named(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"<c16",   "<f16",      "|S5", "<U3", "|O", "<M8", "<m8[D]",
                                         "<M8[h]", "<M8[ps]",   "<i3", "=i4", "i4", "|i4", "",
                                         "<",      "<M8[25us]", "|f2", ">",   "b1", ">>i4"};
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
        cmocka_unit_test(big_endian_elements),
        cmocka_unit_test(bools_and_halves),
        cmocka_unit_test(times),
        cmocka_unit_test(types_behind_the_path),
        cmocka_unit_test(other_dtypes_are_named),
        cmocka_unit_test(other_shapes_are_named),
        cmocka_unit_test(malformed_headers),
        cmocka_unit_test(lying_counts),
        cmocka_unit_test(short_and_wrong_beginnings),
        cmocka_unit_test(more_than_one_chunk),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
