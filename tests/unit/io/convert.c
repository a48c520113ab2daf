/* Values of one type as values of another: what converts, what does not, and what the errors say. */
#include "files.h"

#include "base/values/convert.h"

#include <inttypes.h>
#include <math.h>

static const kr_type numbers[] = {KR_U8,  KR_I8,  KR_U16, KR_I16, KR_U32,
                                  KR_I32, KR_U64, KR_I64, KR_F32, KR_F64};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

/* As exact as the C library's widest number, whose 64 bits of fraction hold every integer and every double.
 */
static long double widest(kr_type type, const void *value)
{
    char text[KR_VALUE_NBYTES];
    if (type == KR_F32)
        return (long double)*(const float *)value;
    if (type == KR_F64)
        return (long double)*(const double *)value;
    kr_value_text(type, KR_UNIT_NONE, value, text);
    return strtold(text, NULL);
}

static void numbers_convert_where_both_hold_them(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "1",
                                        "-1",
                                        "0.5",
                                        "127",
                                        "128",
                                        "-128",
                                        "-129",
                                        "255",
                                        "256",
                                        "32767",
                                        "32768",
                                        "-32769",
                                        "65535",
                                        "65536",
                                        "16777216",
                                        "16777217",
                                        "2147483647",
                                        "2147483648",
                                        "-2147483648",
                                        "-2147483649",
                                        "4294967295",
                                        "4294967296",
                                        "9007199254740992",
                                        "9007199254740993",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "-9223372036854775808",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "-9223372036854777856",
                                        "1e30",
                                        "3.4028234663852886e38",
                                        "1e300",
                                        "0.1",
                                        "inf",
                                        "-inf",
                                        "2.5"};
    unsigned converted = 0, refused = 0;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (int from = 0; from < N_NUMBERS; from++) {
            uint64_t value = 0;
            if (kr_value_parse(numbers[from], KR_UNIT_NONE, texts[t], strlen(texts[t]), &value) !=
                KR_VALUE_OK)
                continue;
            for (int to = 0; to < N_NUMBERS; to++) {
                uint64_t got = 0x55aa55aa55aa55aa;
                const kr_value_result result =
                    kr_value_convert(numbers[from], KR_UNIT_NONE, &value, numbers[to], KR_UNIT_NONE, &got);
                const long double wanted = widest(numbers[from], &value);
                if (result == KR_VALUE_OK) {
                    assert_true(widest(numbers[to], &got) == wanted);
                    converted++;
                    continue;
                }
                /* Refused: the nearest value of the type is another. */
                assert_true(got == 0x55aa55aa55aa55aa);
                const bool is_float = numbers[to] == KR_F32 || numbers[to] == KR_F64;
                if (is_float)
                    assert_true(numbers[to] == KR_F32 ? (long double)(float)wanted != wanted
                                                      : (long double)(double)wanted != wanted);
                else
                    assert_true(isinf(wanted) || wanted != rintl(wanted) || result == KR_VALUE_RANGE);
                refused++;
            }
        }
    assert_true(converted > 900 && refused > 300);
    const double nan = NAN;
    float narrow = 0;
    int32_t integer = 0;
    assert_int_equal(kr_value_convert(KR_F64, 0, &nan, KR_F32, 0, &narrow), KR_VALUE_OK);
    assert_true(isnan(narrow));
    assert_int_equal(kr_value_convert(KR_F64, 0, &nan, KR_I32, 0, &integer), KR_VALUE_INEXACT);
}

static void dates_and_times_convert(void **state)
{
    (void)state;
    static const kr_unit s = KR_UNIT_S, ms = KR_UNIT_MS, us = KR_UNIT_US, ns = KR_UNIT_NS,
                         none = KR_UNIT_NONE;
    const struct {
        kr_type from;
        kr_unit from_unit;
        int64_t value;
        kr_type to;
        kr_unit to_unit;
        kr_value_result result;
        int64_t wanted;
    } cases[] = {
        {KR_DATE32, none, 1, KR_TIMESTAMP64, s, KR_VALUE_OK, 86400},
        {KR_DATE32, none, -1, KR_TIMESTAMP64, ns, KR_VALUE_OK, -86400000000000},
        {KR_DATE32, none, 200000, KR_TIMESTAMP64, ns, KR_VALUE_RANGE, 0},
        {KR_DATE32, none, 1, KR_TIMESTAMP64, none, KR_VALUE_NO_UNIT, 0},
        {KR_TIMESTAMP64, us, -86400000000, KR_DATE32, none, KR_VALUE_OK, -1},
        {KR_TIMESTAMP64, us, -86400000001, KR_DATE32, none, KR_VALUE_INEXACT, 0},
        {KR_TIMESTAMP64, s, INT64_MAX / 86400 * 86400, KR_DATE32, none, KR_VALUE_RANGE, 0},
        {KR_TIMESTAMP64, s, 5, KR_TIMESTAMP64, ns, KR_VALUE_OK, 5000000000},
        {KR_TIMESTAMP64, ns, -5000000000, KR_TIMESTAMP64, s, KR_VALUE_OK, -5},
        {KR_TIMESTAMP64, ns, 5000000001, KR_TIMESTAMP64, s, KR_VALUE_INEXACT, 0},
        {KR_TIMESTAMP64, ms, INT64_MAX, KR_TIMESTAMP64, us, KR_VALUE_RANGE, 0},
        {KR_TIMESTAMP64, ms, 5, KR_TIMESTAMP64, none, KR_VALUE_NO_UNIT, 0},
        {KR_TIMESTAMP64, none, 5, KR_TIMESTAMP64, ms, KR_VALUE_NO_UNIT, 0},
        {KR_TIMESTAMP64, none, 5, KR_TIMESTAMP64, none, KR_VALUE_OK, 5},
        {KR_TIMESTAMP64, us, INT64_MIN, KR_TIMESTAMP64, us, KR_VALUE_OK, INT64_MIN},
        {KR_DATE32, none, 5, KR_I32, none, KR_VALUE_MALFORMED, 0},
        {KR_I64, none, 5, KR_TIMESTAMP64, us, KR_VALUE_MALFORMED, 0},
        {KR_F64, none, 0, KR_DATE32, none, KR_VALUE_MALFORMED, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t got = 0;
        const kr_value_result result = kr_value_convert(cases[i].from, cases[i].from_unit, &cases[i].value,
                                                        cases[i].to, cases[i].to_unit, &got);
        int32_t days = 0;
        memcpy(&days, &got, sizeof days);
        const int64_t value = cases[i].to == KR_DATE32 ? days : got;
        if (result != cases[i].result || value != cases[i].wanted)
            fail_msg("case %zu: result %d, value %" PRId64, i, (int)result, value);
    }
}

/* Converts column `from` to be compared with column `to`. */
static kr_file *converted(const char *from, const char *to, kr_status wanted, const char *parts)
{
    kr_file *file = must_read(from), *like = must_read(to);
    kr_error err = {0};
    const kr_column before = *kr_file_column(file);
    const kr_status status = kr_file_convert(file, like, &err);
    if (status != wanted)
        fail_msg("%s to %s: %s: %s", from, to, kr_status_name(status), err.text);
    char copy[512];
    snprintf(copy, sizeof copy, "%s", parts);
    for (char *rest = copy, *part; (part = strsep(&rest, "\t"));)
        if (!strstr(err.text, part))
            fail_msg("no '%s' in: %s", part, err.text);
    kr_file_close(like);
    if (status == KR_OK)
        return file;
    assert_memory_equal(&before, kr_file_column(file), sizeof before);
    kr_file_close(file);
    return NULL;
}

static void columns_convert_or_stay_as_they_are(void **state)
{
    (void)state;
    put_text("a.csv", "i,f,d,t,s,n\n1,1.0,2024-01-01,2024-01-01 "
                      "00:00:00,x,1\n,,,,,\n300,2.5,2024-01-02,2024-01-02 10:00,y,2\n");
    kr_file *file = converted("a.csv:i", "a.csv:f", KR_OK, "");
    const kr_column *column = kr_file_column(file);
    assert_int_equal(column->type, KR_F64);
    assert_true(((const double *)column->data)[2] == 300);
    assert_false(is_valid(column, 1));
    kr_file_close(file);
    file = converted("a.csv:d", "a.csv:t", KR_OK, "");
    assert_int_equal(kr_file_unit(file), KR_UNIT_US);
    assert_int_equal(((const int64_t *)kr_file_column(file)->data)[2], 19724 * 86400000000);
    kr_file_close(file);
    kr_file_close(converted("a.csv:s:str", "a.csv:s:str", KR_OK, ""));
    converted("a.csv:s:str", "a.csv:n:str", KR_ERR_TYPE,
              "a.csv:s:str: row 0 is 'x'\tnot among the texts of\ta.csv:n:str");
    converted("a.csv:i", "a.csv:n:u8", KR_ERR_TYPE, "a.csv:i: row 2 is 300\tout of range for u8\ta.csv:n:u8");
    converted("a.csv:f", "a.csv:i", KR_ERR_TYPE,
              "a.csv:f: row 2 is 2.5\tis not an integer; the column is i64");
    converted("a.csv:t", "a.csv:d", KR_ERR_TYPE,
              "a.csv:t: row 2 is 2024-01-02 10:00:00\ttime of day\t':timestamp64'");
    converted("a.csv:d", "a.csv:i:timestamp64", KR_ERR_TYPE,
              "a.csv:i:timestamp64 has timestamps whose unit is not known\t[ms]");
    converted("a.csv:i:timestamp64", "a.csv:t", KR_ERR_TYPE, "unit is not known");
    converted("a.csv:i", "a.csv:d", KR_ERR_TYPE, "a.csv:i is i64\ta.csv:d\tdate32\ta.csv:i:timestamp64[s]");
    converted("a.csv:s:str", "a.csv:i", KR_ERR_TYPE, "a.csv:s:str is str\ta.csv:i:str");
    converted("a.csv:i", "a.csv:s:str", KR_ERR_TYPE,
              "a.csv:i is i64\ta.csv:s:str, which is str\ta.csv:i:str");
    kr_error err;
    assert_int_equal(kr_file_convert(NULL, NULL, &err), KR_ERR_ARGUMENT);
}

/* ---- Lists --------------------------------------------------------------------------------- */

static kr_file *list(const char *text, const char *like_source)
{
    kr_file *like = must_read(like_source), *file = NULL;
    kr_error err = {0};
    if (kr_file_literals(text, like, &file, &err) != KR_OK)
        fail_msg("%s like %s: %s", text, like_source, err.text);
    assert_int_equal(kr_file_column(file)->type, kr_file_column(like)->type);
    assert_int_equal(kr_file_unit(file), kr_file_unit(like));
    kr_file_close(like);
    return file;
}

static void list_fails(const char *text, const char *like_source, const char *parts)
{
    kr_file *like = must_read(like_source), *file = NULL;
    kr_error err = {0};
    if (kr_file_literals(text, like, &file, &err) != KR_ERR_ARGUMENT)
        fail_msg("%s like %s is not refused", text, like_source);
    assert_null(file);
    kr_file_close(like);
    char copy[512];
    snprintf(copy, sizeof copy, "%s", parts);
    for (char *rest = copy, *part; (part = strsep(&rest, "\t"));)
        if (!strstr(err.text, part))
            fail_msg("no '%s' in: %s", part, err.text);
}

static void lists_hold(const char *text, const char *like_source, uint64_t count, const void *elements)
{
    kr_file *file = list(text, like_source);
    const kr_column *column = kr_file_column(file);
    assert_int_equal(column->count, count);
    assert_null(column->validity);
    if (memcmp(column->data, elements, count * kr_type_nbytes(column->type)) != 0)
        fail_msg("%s like %s holds other values", text, like_source);
    kr_file_close(file);
}

static void lists_of_values(void **state)
{
    (void)state;
    put_text("a.csv", "i,f,d,t,s\n1,0.5,2024-01-01,2024-01-01 00:00:00,x\n");
    lists_hold("42,43", "a.csv:i", 2, (const int64_t[]){42, 43});
    lists_hold(" 42 , -43\n", "a.csv:i:i8", 2, (const int8_t[]){42, -43});
    lists_hold("5.0,1e3,'6'", "a.csv:i:u16", 3, (const uint16_t[]){5, 1000, 6});
    lists_hold("5,0.1", "a.csv:f", 2, (const double[]){5, 0.1});
    lists_hold("0.1", "a.csv:f:f32", 1, (const float[]){0.1f});
    lists_hold("2024-01-01,'2024-01-02 00:00'", "a.csv:d", 2, (const int32_t[]){19723, 19724});
    lists_hold("2024-01-01,2024-01-01 10:00+02:00,7", "a.csv:t", 3,
               (const int64_t[]){19723 * 86400000000, 19723 * 86400000000 + 28800000000, 7});
    lists_hold("2024-01-01", "a.csv:t:timestamp64[s]", 1, (const int64_t[]){19723 * 86400});
    kr_file *file = list("NULL,5,''", "a.csv:i");
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(is_valid(kr_file_column(file), i), i == 1);
    kr_file_close(file);
    file = list("pear,'a, \"b\"',\"it's\",'it''s',NULL,'NULL',NA,null", "a.csv:s:str");
    const kr_column *column = kr_file_column(file);
    static const char *const wanted[] = {"pear", "a, \"b\"", "it's", "it's", NULL, "NULL", "NA", "null"};
    assert_int_equal(column->count, 8);
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(is_valid(column, i), wanted[i] != NULL);
        if (wanted[i])
            assert_string_equal(kr_file_string(file, ((const uint32_t *)column->data)[i], NULL), wanted[i]);
    }
    kr_file_close(file);
}

static void lists_that_are_wrong(void **state)
{
    (void)state;
    put_text("a.csv", "i,f,d,t,s\n1,0.5,2024-01-01,2024-01-01 00:00:00,x\n");
    list_fails("", "a.csv:i", "value 1 of the list is empty");
    list_fails("1,,2", "a.csv:i", "value 2 of the list is empty");
    list_fails("1,", "a.csv:i", "value 2 of the list is empty");
    list_fails("'x", "a.csv:s:str", "value 1 of the list has no closing quote");
    list_fails("'x'y,2", "a.csv:s:str", "value 1 of the list goes on behind its quotes");
    list_fails("1,x", "a.csv:i", "value 2 of the list, 'x', is not of type i64\tan integer");
    list_fails("2.5", "a.csv:i", "value 1 of the list, '2.5', is not an integer; the column is i64");
    list_fails("1e17", "a.csv:i", "'1e17', is not of type i64: expected an integer");
    list_fails("NA", "a.csv:i", "value 1 of the list, 'NA', is not of type i64");
    list_fails("300", "a.csv:i:u8", "'300', is out of range for u8");
    list_fails("1e9", "a.csv:i:u8", "'1e9', is out of range for u8");
    list_fails("nan", "a.csv:i", "'nan', is not an integer; the column is i64");
    list_fails("42", "a.csv:d", "'42', is not of type date32\ta date such as");
    list_fails("2024-01-01 10:00", "a.csv:d", "time of day\t':timestamp64'");
    list_fails("2024-01-01 10:00:00.5", "a.csv:t:timestamp64[s]", "finer than timestamp64[s]");
    list_fails("2024-01-01", "a.csv:i:timestamp64", "unit of these timestamps is not known\t[ms]");
    kr_error err;
    kr_file *file = NULL;
    assert_int_equal(kr_file_literals(NULL, NULL, &file, &err), KR_ERR_ARGUMENT);
    assert_int_equal(kr_file_literals("1", NULL, &file, &err), KR_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_convert_where_both_hold_them),
        cmocka_unit_test(dates_and_times_convert),
        cmocka_unit_test(columns_convert_or_stay_as_they_are),
        cmocka_unit_test(lists_of_values),
        cmocka_unit_test(lists_that_are_wrong),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
