#include "files.h"

#include "base/values/values.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>

static void accept(kr_type type, const char *text, const void *wanted)
{
    unsigned char got[8] = {0};
    if (kr_value_parse(type, KR_UNIT_US, text, strlen(text), got) != KR_VALUE_OK)
        fail_msg("'%s' is refused as %s", text, kr_type_name(type));
    if (memcmp(got, wanted, kr_type_nbytes(type)) != 0)
        fail_msg("'%s' is read wrongly as %s", text, kr_type_name(type));
}

static void refuse(kr_type type, const char *text, kr_value_result wanted)
{
    unsigned char untouched[8] = {1, 2, 3, 4, 5, 6, 7, 8}, got[8];
    memcpy(got, untouched, sizeof got);
    if (kr_value_parse(type, KR_UNIT_US, text, strlen(text), got) != wanted)
        fail_msg("'%s' as %s is not refused as it should", text, kr_type_name(type));
    assert_memory_equal(got, untouched, sizeof got);
}

static void integers_of_every_width(void **state)
{
    (void)state;
    static const struct {
        kr_type type;
        const char *lowest, *below, *highest, *above;
    } bounds[] = {
        {KR_U8, "0", "-1", "255", "256"},
        {KR_I8, "-128", "-129", "127", "128"},
        {KR_U16, "0", "-1", "65535", "65536"},
        {KR_I16, "-32768", "-32769", "32767", "32768"},
        {KR_U32, "0", "-1", "4294967295", "4294967296"},
        {KR_I32, "-2147483648", "-2147483649", "2147483647", "2147483648"},
        {KR_U64, "0", "-1", "18446744073709551615", "18446744073709551616"},
        {KR_I64, "-9223372036854775808", "-9223372036854775809", "9223372036854775807",
         "9223372036854775808"},
        {KR_TIMESTAMP64, "-9223372036854775808", "-9223372036854775809", "9223372036854775807",
         "9223372036854775808"},
    };
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        kr_type type = bounds[i].type;
        int64_t lowest = strtoll(bounds[i].lowest, NULL, 10);
        uint64_t highest = strtoull(bounds[i].highest, NULL, 10);
        accept(type, bounds[i].lowest, &lowest);
        accept(type, bounds[i].highest, &highest);
        refuse(type, bounds[i].below, KR_VALUE_RANGE);
        refuse(type, bounds[i].above, KR_VALUE_RANGE);
        refuse(type, "99999999999999999999999999999999999999999", KR_VALUE_RANGE);
        static const char *const malformed[] = {"",   "-",   "+",   "+-1", "1-",    " 1",
                                                "1 ", "1.0", "1e3", "0x1", "1,000", "x"};
        for (size_t k = 0; k < sizeof malformed / sizeof *malformed; k++)
            refuse(type, malformed[k], KR_VALUE_MALFORMED);
    }
    const uint8_t seven = 7, zero = 0;
    accept(KR_U8, "+0000000000000000000000000000000007", &seven);
    accept(KR_U8, "-0", &zero);
}

static void accept_decimal(const char *text)
{
    const double wide = strtod(text, NULL);
    const float narrow = strtof(text, NULL);
    accept(KR_F64, text, &wide);
    if (isinf(narrow))
        refuse(KR_F32, text, KR_VALUE_RANGE);
    else
        accept(KR_F32, text, &narrow);
}

static void decimals_as_strtod_reads_them(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "0.0",
        "-0.000e99999999999999999999",
        "1",
        "1.",
        ".5",
        "-.5",
        "+2.5e0",
        "1e22",
        "1e-22",
        "1e23",
        "123456789012345",
        "1234567890123456",
        "9007199254740993",
        "9007199254740992.99999999999999999999",
        "9007199254740993.00000000000000000000000000000000000000000000000001",
        "0.1",
        "0.3",
        "3.14159265358979323846",
        "16777217",
        "16777217.0000000000000001",
        "8589973001.99999999999999999",
        "1.17549435e-38",
        "1e-45",
        "1e-46",
        "7.006492321624085e-46",
        "3.4028235e38",
        "0.00000000000000000000000000000000000001e38",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        accept_decimal(texts[i]);

    uint64_t random = 42;
    for (int i = 0; i < 20000; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        char text[64];
        int exponent = (int)(random >> 40 & 63) - 32;
        snprintf(text, sizeof text, "%s%" PRIu64 ".%" PRIu64 "e%d", random >> 63 ? "-" : "",
                 (random >> 11) % ((uint64_t)1 << (random >> 58)), random >> (random >> 50 & 63), exponent);
        accept_decimal(text);
    }
}

static void doubles_round_once(void **state)
{
    (void)state;
    /* Half way between two doubles, and a little more than that past all the digits that are kept. */
    char text[2000] = "9007199254740993.";
    size_t n = strlen(text);
    memset(text + n, '0', 1500);
    text[n + 1500] = '\0';
    const double even = 9007199254740992.0, above = 9007199254740994.0;
    accept(KR_F64, text, &even);
    text[n + 1499] = '1';
    accept(KR_F64, text, &above);

    /* Every f64 printed with 17 digits comes back. */
    uint64_t random = 7;
    for (int i = 0; i < 20000; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint64_t bits = random ^ random >> 29;
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        char printed[40];
        snprintf(printed, sizeof printed, "%.17g", value);
        accept(KR_F64, printed, &value);
    }
    const double smallest = 5e-324, tiny = 1e-300;
    accept(KR_F64, "4.9406564584124654e-324", &smallest);
    char zeros[700];
    memset(zeros, '0', sizeof zeros);
    memcpy(zeros, "0.", 2);
    strcpy(zeros + 660, "1e359");
    accept(KR_F64, zeros, &tiny);
}

static void special_floats(void **state)
{
    (void)state;
    const double infinite = INFINITY, below = -INFINITY;
    const float narrow = INFINITY;
    accept(KR_F64, "inf", &infinite);
    accept(KR_F64, "+Infinity", &infinite);
    accept(KR_F64, "-INF", &below);
    accept(KR_F32, "inf", &narrow);
    double wide = 0;
    assert_int_equal(kr_value_parse(KR_F64, KR_UNIT_NONE, "NaN", 3, &wide), KR_VALUE_OK);
    assert_true(isnan(wide));
    refuse(KR_F64, "1e309", KR_VALUE_RANGE);
    refuse(KR_F64, "-1e99999999999999999999999", KR_VALUE_RANGE);
    refuse(KR_F32, "3.5e38", KR_VALUE_RANGE);
    static const char *const malformed[] = {"",   "-",  ".",     "e5",   "1e", "1e+", "1.2.3",
                                            "1 ", " 1", "0x1p3", "nano", "in", "1,5", "1e5.0"};
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        refuse(KR_F64, malformed[i], KR_VALUE_MALFORMED);
        refuse(KR_F32, malformed[i], KR_VALUE_MALFORMED);
    }
}

static void locale_does_not_matter(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    bool set = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !set; i++)
        set = setlocale(LC_ALL, names[i]) != NULL;
    if (!set)
        print_message("no locale with a decimal comma is installed: the C locale was tested alone\n");
    const double wanted = 3.14159265358979323846;
    accept(KR_F64, "3.14159265358979323846", &wanted);
    setlocale(LC_ALL, "C");
}

static void dates(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int32_t days;
    } known[] = {
        {"1970-01-01", 0},
        {"1969-12-31", -1},
        {"1995-03-15", 9204},
        {"2000-02-29", 11016},
        {"2000-03-01", 11017},
        {"0000-01-01", -719528},
        {"0000-02-29", -719469},
        {"9999-12-31", 2932896},
        {"1900-03-01", -25508},
        {"+10002-06-22", 2933800},
        {"-0044-03-15", -735525},
        {"+2000-02-29", 11016},
        {"+000000002000-02-29", 11016},
        {"-0004-02-29", -720930},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        accept(KR_DATE32, known[i].text, &known[i].days);

    int32_t expected = -719528;
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    for (int year = 0; year < 10000; year++)
        for (int month = 1; month <= 12; month++) {
            bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
            int last = lengths[month - 1] + (month == 2 && leap);
            char text[40];
            snprintf(text, sizeof text, "%04d-%02d-01", year, month);
            accept(KR_DATE32, text, &expected);
            expected += last;
            snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, last + 1);
            refuse(KR_DATE32, text, KR_VALUE_RANGE);
        }
    refuse(KR_DATE32, "1995-13-01", KR_VALUE_RANGE);
    refuse(KR_DATE32, "1995-00-01", KR_VALUE_RANGE);
    refuse(KR_DATE32, "1995-01-00", KR_VALUE_RANGE);
    static const char *const malformed[] = {
        "",           "1995-3-15",  "95-03-15",    "1995/03/15",  "1995-03-15 ", "19950315",
        "1995-03-1x", "-995-03-15", "10002-06-22", "+10002-6-22", "+10002",      "+-0044-03-15",
        "-",          "+",          "+20x4-01-01", "-0044-03-1",  "--044-03-15"};
    static const char *const beyond[] = {"+5881580-07-12",
                                         "-5877641-06-22",
                                         "+999999999999-01-01",
                                         "-999999999999-12-31",
                                         "+9999999999999999999999-01-01",
                                         "-0001-02-29",
                                         "+10001-00-01"};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        refuse(KR_DATE32, beyond[i], KR_VALUE_RANGE);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        refuse(KR_DATE32, malformed[i], KR_VALUE_MALFORMED);
}

static void timestamps(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t micros;
    } known[] = {
        {"1970-01-01 00:00:00", 0},
        {"1970-01-01T00:00:01", 1000000},
        {"1969-12-31 23:59:59.999999", -1},
        {"1995-03-15T12:30:45.5", 795270645500000},
        {"1995-03-15 12:30:45.000001000", 795270645000001},
        {"12345678901234567", 12345678901234567},
        {"1995-03-15", 795225600000000},
        {"1995-03-15T12:30", 795270600000000},
        {"1995-03-15 12:30:45Z", 795270645000000},
        {"1995-03-15 12:30:45z", 795270645000000},
        {"1995-03-15 12:30:45.5 UTC", 795270645500000},
        {"1995-03-15 12:30:45+02", 795263445000000},
        {"1995-03-15 12:30:45-02:30", 795279645000000},
        {"1995-03-15 12:30-0230", 795279600000000},
        {"1970-01-01 00:30+01:00", -1800000000},
        {"-5", -5},
        {"+10002-06-22T01:00+01:00", 253480320000000000},
        {"-0044-03-15 12:00:00.25", -63549316799750000},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        accept(KR_TIMESTAMP64, known[i].text, &known[i].micros);
    static const char *const range[] = {"1995-02-29 00:00:00",
                                        "1995-03-15 24:00:00",
                                        "1995-03-15 00:60:00",
                                        "1995-03-15 00:00:60",
                                        "1995-02-29",
                                        "1995-13-01T00:00Z",
                                        "1995-03-15 00:00+24:00",
                                        "1995-03-15 00:00:00+01:60",
                                        "+294248-01-01",
                                        "-290309-01-01 00:00",
                                        "+292277026596-12-04 15:30:08",
                                        "-999999999999-01-01"};
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        refuse(KR_TIMESTAMP64, range[i], KR_VALUE_RANGE);
    static const char *const malformed[] = {"1995-03-15 ",
                                            "1995-03-15T12",
                                            "1995-03-15T12:30:",
                                            "1995-03-15 12:30:45.",
                                            "1995-03-15x12:30:45",
                                            "1995-03-15 1:30:45",
                                            "1.5",
                                            "1995-03-15Z",
                                            "1995-03-15 12:30:45ZZ",
                                            "1995-03-15 12:30:45+",
                                            "1995-03-15 12:30:45+1",
                                            "1995-03-15 12:30:45+1:00",
                                            "1995-03-15 12:30 +01",
                                            "1995-03-15 12:30:45 CET",
                                            "1995-03-15 12:30.5",
                                            "1995-03-15 12:30:45+01.00"};
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        refuse(KR_TIMESTAMP64, malformed[i], KR_VALUE_MALFORMED);
    refuse(KR_TIMESTAMP64, "1995-03-15 00:00:00.0000001", KR_VALUE_INEXACT);
    refuse(KR_TIMESTAMP64, "1995-03-15 00:00:00.0000000001", KR_VALUE_INEXACT);

    int64_t steps = 7;
    static const char text[] = "1969-12-31 23:59:59.5";
    static const struct {
        kr_unit unit;
        kr_value_result result;
        int64_t steps;
    } units[] = {{KR_UNIT_NONE, KR_VALUE_NO_UNIT, 7},
                 {KR_UNIT_S, KR_VALUE_INEXACT, 7},
                 {KR_UNIT_MS, KR_VALUE_OK, -500},
                 {KR_UNIT_US, KR_VALUE_OK, -500000},
                 {KR_UNIT_NS, KR_VALUE_OK, -500000000}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        assert_int_equal(kr_value_parse(KR_TIMESTAMP64, units[i].unit, text, strlen(text), &steps),
                         units[i].result);
        assert_int_equal(steps, units[i].steps);
        steps = 7;
    }
}

static void times_as_dates(void **state)
{
    (void)state;
    const int32_t day = 9204;
    accept(KR_DATE32, "1995-03-15 00:00:00", &day);
    accept(KR_DATE32, "1995-03-15T00:00:00.000Z", &day);
    accept(KR_DATE32, "1995-03-14 22:00-02:00", &day);
    refuse(KR_DATE32, "1995-03-15 00:00:00.001", KR_VALUE_INEXACT);
    refuse(KR_DATE32, "1995-03-15 00:00+01:00", KR_VALUE_INEXACT);
    refuse(KR_DATE32, "1995-03-15 00:00:0", KR_VALUE_MALFORMED);
}

static void calendar(void **state)
{
    (void)state;
    for (int64_t days = -1500000; days < 4000000; days += 97) {
        int64_t year;
        int month, day;
        kr_value_days_to_civil(days, &year, &month, &day);
        assert_true(month >= 1 && month <= 12 && day >= 1 && day <= 31);
        assert_int_equal(kr_value_days_from_civil(year, month, day), days);
    }
}

/* What is printed reads back as the same value. */
static void prints(kr_type type, kr_unit unit, const void *value, const char *wanted)
{
    char text[KR_VALUE_NBYTES];
    unsigned char back[8] = {0};
    const uint32_t nbytes = kr_value_text(type, unit, value, text);
    assert_string_equal(text, wanted);
    assert_int_equal(nbytes, strlen(text));
    assert_int_equal(kr_value_parse(type, unit, text, nbytes, back), KR_VALUE_OK);
    assert_memory_equal(back, value, kr_type_nbytes(type));
}

static void values_as_text(void **state)
{
    (void)state;
    prints(KR_U8, KR_UNIT_NONE, &(uint8_t){255}, "255");
    prints(KR_I8, KR_UNIT_NONE, &(int8_t){-128}, "-128");
    prints(KR_U16, KR_UNIT_NONE, &(uint16_t){65535}, "65535");
    prints(KR_I16, KR_UNIT_NONE, &(int16_t){-1}, "-1");
    prints(KR_U32, KR_UNIT_NONE, &(uint32_t){UINT32_MAX}, "4294967295");
    prints(KR_I32, KR_UNIT_NONE, &(int32_t){-5}, "-5");
    prints(KR_U64, KR_UNIT_NONE, &(uint64_t){UINT64_MAX}, "18446744073709551615");
    prints(KR_I64, KR_UNIT_NONE, &(int64_t){INT64_MIN}, "-9223372036854775808");
    prints(KR_F32, KR_UNIT_NONE, &(float){0.1f}, "0.1");
    prints(KR_F64, KR_UNIT_NONE, &(double){0.1}, "0.1");
    prints(KR_F64, KR_UNIT_NONE, &(double){-1e300}, "-1e+300");
    prints(KR_F64, KR_UNIT_NONE, &(double){1.0 / 3}, "0.3333333333333333");
    prints(KR_F64, KR_UNIT_NONE, &(double){20}, "20");
    prints(KR_F32, KR_UNIT_NONE, &(float){-INFINITY}, "-inf");
    prints(KR_DATE32, KR_UNIT_NONE, &(int32_t){9204}, "1995-03-15");
    prints(KR_DATE32, KR_UNIT_NONE, &(int32_t){INT32_MAX}, "+5881580-07-11");
    prints(KR_DATE32, KR_UNIT_NONE, &(int32_t){INT32_MIN}, "-5877641-06-23");
    prints(KR_DATE32, KR_UNIT_NONE, &(int32_t){2932897}, "+10000-01-01");
    prints(KR_DATE32, KR_UNIT_NONE, &(int32_t){2932896}, "9999-12-31");
    prints(KR_DATE32, KR_UNIT_NONE, &(int32_t){-719529}, "-0001-12-31");
    prints(KR_DATE32, KR_UNIT_NONE, &(int32_t){-719528}, "0000-01-01");
    prints(KR_TIMESTAMP64, KR_UNIT_NONE, &(int64_t){-5}, "-5");
    prints(KR_TIMESTAMP64, KR_UNIT_S, &(int64_t){-1}, "1969-12-31 23:59:59");
    prints(KR_TIMESTAMP64, KR_UNIT_MS, &(int64_t){-1}, "1969-12-31 23:59:59.999");
    prints(KR_TIMESTAMP64, KR_UNIT_US, &(int64_t){1}, "1970-01-01 00:00:00.000001");
    prints(KR_TIMESTAMP64, KR_UNIT_NS, &(int64_t){INT64_MIN}, "1677-09-21 00:12:43.145224192");
    prints(KR_TIMESTAMP64, KR_UNIT_NS, &(int64_t){INT64_MAX}, "2262-04-11 23:47:16.854775807");
    prints(KR_TIMESTAMP64, KR_UNIT_S, &(int64_t){INT64_MAX}, "+292277026596-12-04 15:30:07");
    prints(KR_TIMESTAMP64, KR_UNIT_S, &(int64_t){INT64_MIN}, "-292277022657-01-27 08:29:52");
    prints(KR_TIMESTAMP64, KR_UNIT_US, &(int64_t){INT64_MIN}, "-290308-12-21 19:59:05.224192");
    prints(KR_TIMESTAMP64, KR_UNIT_MS, &(int64_t){-62198668800500}, "-0001-01-01 23:59:59.5");
    /* Fractions are as short as they read back. */
    prints(KR_TIMESTAMP64, KR_UNIT_US, &(int64_t){487000}, "1970-01-01 00:00:00.487");
    prints(KR_TIMESTAMP64, KR_UNIT_NS, &(int64_t){500000000}, "1970-01-01 00:00:00.5");
    prints(KR_TIMESTAMP64, KR_UNIT_NS, &(int64_t){1000}, "1970-01-01 00:00:00.000001");
    prints(KR_TIMESTAMP64, KR_UNIT_MS, &(int64_t){10010}, "1970-01-01 00:00:10.01");
    char text[KR_VALUE_NBYTES] = "x";
    assert_int_equal(kr_value_text((kr_type)99, KR_UNIT_NONE, "", text), 0);
    assert_int_equal(kr_value_text(KR_U8, (kr_unit)9, "", text), 0);
    assert_string_equal(text, "");
}

/* Of any size: steps of all units, and days. */
static void dates_and_times_read_back(void **state)
{
    uint64_t random = 88172645463325252;
    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[KR_VALUE_NBYTES];
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        const int64_t steps = (int64_t)random >> (i % 64);
        const int32_t days = (int32_t)steps;
        const kr_unit unit = (kr_unit)(KR_UNIT_S + i % 4);
        int64_t back = 0;
        int32_t back_days = 0;
        uint32_t nbytes = kr_value_text(KR_TIMESTAMP64, unit, &steps, text);
        assert_true(nbytes < KR_VALUE_NBYTES);
        assert_int_equal(kr_value_parse(KR_TIMESTAMP64, unit, text, nbytes, &back), KR_VALUE_OK);
        assert_int_equal(back, steps);
        nbytes = kr_value_text(KR_DATE32, KR_UNIT_NONE, &days, text);
        assert_int_equal(kr_value_parse(KR_DATE32, KR_UNIT_NONE, text, nbytes, &back_days), KR_VALUE_OK);
        assert_int_equal(back_days, days);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_of_every_width),
        cmocka_unit_test(decimals_as_strtod_reads_them),
        cmocka_unit_test(doubles_round_once),
        cmocka_unit_test(special_floats),
        cmocka_unit_test(locale_does_not_matter),
        cmocka_unit_test(dates),
        cmocka_unit_test(timestamps),
        cmocka_unit_test(times_as_dates),
        cmocka_unit_test(calendar),
        cmocka_unit_test(values_as_text),
        cmocka_unit_test(dates_and_times_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
