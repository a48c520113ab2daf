/* The normal form: leaves folded, NOT at the leaves, constants gone, values of any type where they belong. */
#include "table/condition/plan.h"
#include "base/key/key.h"
#include "random.h"
#include "table/condition/describe.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* Columns with validity have names in capitals. */
static const uint8_t validity[1] = {0xFF};
static const kr_column columns[] = {
    {.type = KR_U8, .count = 8},     {.type = KR_U8, .count = 8, .validity = validity},
    {.type = KR_I32, .count = 8},    {.type = KR_I32, .count = 8, .validity = validity},
    {.type = KR_F32, .count = 8},    {.type = KR_F64, .count = 8},
    {.type = KR_U64, .count = 8},    {.type = KR_I64, .count = 8},
    {.type = KR_DATE32, .count = 8}, {.type = KR_TIMESTAMP64, .count = 8},
    {.type = KR_U32, .count = 8},
};
static const char *const names[] = {"a", "A", "i", "I", "f", "d", "u", "l", "day", "time", "text"};
enum { COLUMNS = sizeof columns / sizeof *columns, TEXT = COLUMNS - 1 };

/* The dictionary of column "text". */
static int find_text(void *ctx, uint32_t column, const char *text, size_t nbytes, uint32_t *code)
{
    static const char *const texts[] = {"apple", "fig", "pear"};
    (void)ctx;
    if (column != TEXT)
        return -1;
    *code = 0;
    while (*code < 3 && strncmp(texts[*code], text, nbytes + 1) < 0)
        ++*code;
    return *code < 3 && strcmp(texts[*code], text) == 0;
}

static const kr_plan_columns table = {COLUMNS, columns, names, find_text, NULL};

static kr_condition *parsed(const char *text)
{
    kr_condition *condition = NULL;
    kr_error err = {0};
    if (kr_condition_parse(text, &condition, &err) != KR_OK)
        fail_msg("%s: %s", text, err.text);
    return condition;
}

static kr_plan plan_of(const char *text)
{
    kr_condition *condition = parsed(text);
    kr_plan plan = {0};
    kr_error err = {0};
    if (kr_plan_make(condition, &table, &plan, &err) != KR_OK)
        fail_msg("%s: %s", text, err.text);
    kr_condition_destroy(condition);
    return plan;
}

static void append(char *to, size_t nbytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *to, size_t nbytes, const char *format, ...)
{
    const size_t used = strlen(to);
    va_list args;
    va_start(args, format);
    vsnprintf(to + used, nbytes - used, format, args);
    va_end(args);
}

/* "a[3,4][6,7]n": a leaf, n where NULL belongs to it; "&2", "|2": all or any of the two before. Integers as
 * values, "-" and "+" for the ends of the type; floats as codes. */
static void write_leaf(const kr_leaf *leaf, char *to, size_t nbytes)
{
    const kr_type type = columns[leaf->column].type;
    const uint64_t most = ~(uint64_t)0 >> (64 - kr_type_significant_bits(type));
    append(to, nbytes, "%s", names[leaf->column]);
    if (leaf->other != KR_NO_COLUMN) {
        append(to, nbytes, "?%u%s", leaf->compare, names[leaf->other]);
        return;
    }
    for (uint64_t i = 0; i < leaf->n_intervals; ++i) {
        const kr_interval at = leaf->intervals[i];
        append(to, nbytes, at.low ? "[%lld," : "[-,", (long long)kr_code_integer(type, at.low));
        append(to, nbytes, at.high != most ? "%lld]" : "+]", (long long)kr_code_integer(type, at.high));
    }
    append(to, nbytes, "%s", leaf->nulls ? "n" : "");
}

static void expect(const char *text, const char *want)
{
    char got[512] = "";
    kr_plan plan = plan_of(text);
    for (uint64_t i = 0; i < plan.n_nodes; ++i) {
        const kr_plan_node *node = plan.nodes + i;
        append(got, sizeof got, "%s", i ? " " : "");
        if (node->op == KR_PLAN_LEAF)
            write_leaf(plan.leaves + node->n, got, sizeof got);
        else
            append(got, sizeof got, "%c%u", node->op == KR_PLAN_AND ? '&' : '|', node->n);
    }
    if (strcmp(got, want) != 0)
        fail_msg("%s: %s, not %s", text, got, want);
    kr_plan_release(&plan);
}

static void folds_leaves(void **state)
{
    (void)state;
    expect("a < 5", "a[-,4]");
    expect("a >= 3 and a < 8 and a <> 5", "a[3,4][6,7]");
    expect("a = 3 or a = 4 or a > 250", "a[3,4][251,+]");
    expect("i between 3 and 7 and not i in (5, 6)", "i[3,4][7,7]");
    expect("a < 5 and i < 5", "a[-,4] i[-,4] &2");
    expect("a < 5 and i < 5 and a > 1", "a[2,4] i[-,4] &2");
    expect("a < 5 and (i < 5 and a > 1)", "a[2,4] i[-,4] &2");
    expect("a < 5 and (i < 5 or a > 9)", "a[-,4] i[-,4] a[10,+] |2 &2");
    expect("(a < 5 or a > 9) and i = 1", "a[-,4][10,+] i[1,1] &2");
    expect("a < 5 or (a < 9 and i = 1)", "a[-,4] a[-,8] i[1,1] &2 |2");
    expect("not (a < 5 and not i = 1)", "a[5,+] i[1,1] |2");
    expect("not not a < 5", "a[-,4]");
    expect("not (a < 5 or (a > 7 and i <> 3))", "a[5,+] a[-,7] i[3,3] |2 &2");
    expect("5 > a and -3 <= i", "a[-,4] i[-3,+] &2");
    expect("a < a", "a?1a");
    expect("not i <= I", "i?3I");
    expect("i between 7 and 3", "|0");
    expect("not i between 7 and 3", "&0");
}

static void folds_constants(void **state)
{
    (void)state;
    expect("", "&0");
    expect("true", "&0");
    expect("false", "|0");
    expect("not true", "|0");
    expect("a < 300", "&0");
    expect("a > 300", "|0");
    expect("a >= 0", "&0");
    expect("a < -1", "|0");
    expect("a = 1 and a = 2", "|0");
    expect("a < 5 or a >= 5", "&0");
    expect("a < 5 or true", "&0");
    expect("a < 5 or false", "a[-,4]");
    expect("a < 5 and (i = 1 or true)", "a[-,4]");
    expect("a < 5 and (i = 1 and false)", "|0");
    expect("a < 300 and i = 1", "i[1,1]");
    expect("a <> 99999999999999999999999999", "&0");
    expect("u <> -99999999999999999999999999", "&0");
    expect("u <= 18446744073709551615", "&0");
    expect("u = 18446744073709551615", "u[-1,+]");
    expect("u < 18446744073709551616", "&0");
    expect("l >= -9223372036854775808", "&0");
    expect("l < -9223372036854775808", "|0");
    expect("l > 9223372036854775807", "|0");
    expect("not l = -9223372036854775809", "&0");
}

static void knows_nulls(void **state)
{
    (void)state;
    expect("A < 300", "A[-,+]"); /* but not for NULL */
    expect("A > 300", "|0");
    expect("not A > 300", "A[-,+]");
    expect("A is null", "An");
    expect("A is not null", "A[-,+]");
    expect("not A is null", "A[-,+]");
    expect("a is null", "|0");
    expect("a is not null", "&0");
    expect("A is null or A = 3", "A[3,3]n");
    expect("A is null or A is not null", "&0");
    expect("A is null and A = 3", "|0");
    expect("A < 5 or A >= 5", "A[-,+]");
    expect("A = null", "|0");
    expect("not A = null", "|0");
    expect("a <> null", "|0");
    expect("A in ()", "|0");
    expect("A not in ()", "&0");
    expect("A in (1, null, 3)", "A[1,1][3,3]");
    expect("A not in (1, null, 3)", "|0");
    expect("not A in (1, null)", "|0");
    expect("A between null and 5", "|0");
    expect("not A between null and 5", "A[6,+]");
    expect("not A between 3 and null", "A[-,2]");
    expect("A not between null and null", "|0");
}

static void reads_types(void **state)
{
    (void)state;
    expect("day = '1970-01-02'", "day[1,1]");
    expect("day >= date '1969-12-31'", "day[-1,+]");
    expect("time < 5", "time[-,4]");
    expect("time = '1970-01-01 00:00:01'", "time[1000000,1000000]");
    expect("text = 'fig'", "text[1,1]");
    expect("text < 'fig'", "text[-,0]");
    expect("text <= 'fig'", "text[-,1]");
    expect("text > 'banana'", "text[1,+]");
    expect("text >= 'zucchini'", "text[3,+]");
    expect("text = 'banana'", "|0");
    expect("text <> 'banana'", "&0");
    expect("text in ('pear', 'apple', 'it''s')", "text[-,0][2,2]");
    expect("\"a\" < 5", "a[-,4]");
    expect("a<5 AND\ti=3", "a[-,4] i[3,3] &2");
}

/* Whether the value belongs to the only leaf. */
static int holds(const char *text, uint64_t code)
{
    kr_plan plan = plan_of(text);
    int found = plan.n_nodes == 1 && plan.nodes[0].op == KR_PLAN_AND; /* true */
    for (uint64_t i = 0; plan.n_leaves == 1 && i < plan.leaves[0].n_intervals; ++i)
        found |= plan.leaves[0].intervals[i].low <= code && code <= plan.leaves[0].intervals[i].high;
    kr_plan_release(&plan);
    return found;
}

static uint64_t code_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return kr_encode_f32(bits);
}

static uint64_t code_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return kr_encode_f64(bits);
}

/* Against the comparison of doubles, at and around every value. */
static void compares_floats(void **state)
{
    static const double values[] = {-INFINITY, -1e308,   -16777217, -2.5,   -0.1,  -0.0,     1e-320, 0.1,
                                    2.5,       16777216, 16777217,  3.5e38, 1e308, INFINITY, NAN};
    enum { N = sizeof values / sizeof *values };
    char text[64];
    (void)state;
    for (int v = 0; v < N; ++v)
        for (int x = 0; x < N; ++x) {
            const double literal = values[v];
            const float narrow = (float)values[x];
            const int below = values[x] < literal || (isnan(literal) && !isnan(values[x]));
            const int narrow_below = (double)narrow < literal || (isnan(literal) && !isnan(narrow));
            snprintf(text, sizeof text, "d < %.17g", literal);
            assert_int_equal(holds(text, code_f64(values[x])), below);
            snprintf(text, sizeof text, "f < %.17g", literal);
            assert_int_equal(holds(text, code_f32(narrow)), narrow_below);
            snprintf(text, sizeof text, "f = %.17g", literal);
            assert_int_equal(holds(text, code_f32(narrow)),
                             (double)narrow == literal || (isnan(narrow) && isnan(literal)));
        }
    assert_true(holds("d = nan", code_f64(NAN)) && holds("d > inf", code_f64(NAN)));
    assert_true(holds("d = 0", code_f64(-0.0)) && holds("d = -0.0", code_f64(0.0)));
    /* integers that no double has */
    assert_false(holds("d = 9007199254740993", code_f64(9007199254740992.0)));
    assert_true(holds("d < 9007199254740993", code_f64(9007199254740992.0)));
    assert_true(holds("d > 9007199254740993", code_f64(9007199254740994.0)));
    assert_false(holds("f >= 16777217", code_f32(16777216)));
    assert_true(holds("f >= 16777217", code_f32(16777218)));
    assert_true(holds("d > 99999999999999999999999", code_f64(1e24)));
    assert_false(holds("d > 99999999999999999999999", code_f64(1e22)));
}

/* Numbers beyond the largest double are finite: all doubles are below or above, and none is equal. */
static void compares_huge_numbers(void **state)
{
    static const double values[] = {-INFINITY, -3e38, -1, 0, 0.1, 3e38, INFINITY, NAN};
    static const char *const compares[] = {"<", "<=", "=", "<>", ">=", ">"};
    enum { N = sizeof values / sizeof *values };
    char digits[401], literal[404], text[440];
    (void)state;
    memset(digits, '9', 400);
    digits[400] = '\0';
    for (int sign = 0; sign < 2; ++sign)
        for (int form = 0; form < 2; ++form)
            for (int c = 0; c < 6; ++c)
                for (int v = 0; v < N; ++v) {
                    const float narrow = (float)values[v];
                    snprintf(literal, sizeof literal, "%s%s", sign ? "-" : "", form ? digits : "1e400");
                    const int above =
                        sign ? values[v] != -INFINITY : isnan(values[v]) || values[v] == INFINITY;
                    const int wanted = c < 2 ? !above : c == 2 ? 0 : c == 3 ? 1 : above;
                    snprintf(text, sizeof text, "d %s %s", compares[c], literal);
                    assert_int_equal(holds(text, code_f64(values[v])), wanted);
                    snprintf(text, sizeof text, "f %s %s", compares[c], literal);
                    assert_int_equal(holds(text, code_f32(narrow)), wanted);
                }
    assert_true(holds("d between -1e400 and 1e400", code_f64(1e308)));
    assert_false(holds("d between -1e400 and 1e400", code_f64(INFINITY)));
    assert_false(holds("d in (1e400, -1e400)", code_f64(0)));
}

/* ---- Texts of leaves ------------------------------------------------------------------------- */

/* The leaves of a condition as text, with "and" between them. */
static void describe(const char *condition, char *text, size_t nbytes)
{
    kr_condition *made = parsed(condition);
    kr_plan plan = {0};
    char line[256];
    kr_error err = {0};
    if (kr_plan_make(made, &table, &plan, &err) != KR_OK)
        fail_msg("%s: %s", condition, err.text);
    text[0] = '\0';
    for (uint64_t i = 0; i < plan.n_leaves; ++i) {
        kr_leaf_describe(plan.leaves + i, &table, line, sizeof line);
        append(text, nbytes, "%s%s", i ? " and " : "", line);
    }
    kr_plan_release(&plan);
    kr_condition_destroy(made);
}

static void describe_as(const char *condition, const char *want)
{
    char got[512];
    describe(condition, got, sizeof got);
    if (strcmp(got, want) != 0)
        fail_msg("%s: \"%s\", not \"%s\"", condition, got, want);
}

static void describes_leaves(void **state)
{
    (void)state;
    describe_as("a < 5 or a = 7 or a >= 9", "a <= 4 or a = 7 or a >= 9");
    describe_as("i between -3 and 7 and A is not null", "i between -3 and 7 and A is not null");
    describe_as("A = 3 or A is null", "A = 3 or A is null");
    describe_as("d < 50", "d < 50");
    describe_as("d <= 50", "d <= 50");
    describe_as("d > 49.7 and d <= 1e300", "d > 49.7 and d <= 1e+300");
    describe_as("d between -0.05 and 0.07", "d between -0.05 and 0.07");
    describe_as("d <> 0.1", "d < 0.1 or d > 0.1");
    describe_as("d = 0.1 and f = 0.5", "d = 0.1 and f = 0.5");
    describe_as("f < 0", "f < 0");
    describe_as("f > 0", "f > 0");
    describe_as("f <= -0.0", "f <= 0");
    describe_as("f < -inf", "f < -inf");
    describe_as("f >= -inf and d > inf", "f >= -inf and d > inf");
    describe_as("f < 1e400", "f < inf");
    describe_as("f < nan", "f < nan");
    describe_as("f <= 0.1", "f <= 0.1");
    describe_as("f > 16777217", "f >= 16777218");
    describe_as("day >= '1998-12-01' and day < '2000-02-29'", "day between '1998-12-01' and '2000-02-28'");
    describe_as("day = '1969-12-31'", "day = '1969-12-31'");
    describe_as("day <= '0000-01-01' or day >= '9999-12-31'", "day <= '0000-01-01' or day >= '9999-12-31'");
    describe_as("time >= '1999-12-31 23:59:59.5'", "time >= '1999-12-31 23:59:59.5'");
    describe_as("time = '1969-12-31 01:02:03'", "time = '1969-12-31 01:02:03'");
    describe_as("time >= 5", "time >= 5"); /* of any unit */
    describe_as("text < 'fig'", "text < 'fig'");
    describe_as("text > 'banana'", "text > 'banana'");
    describe_as("text between 'banana' and 'kiwi'", "text > 'banana' and text < 'kiwi'");
    describe_as("text >= 'fig' and text <= 'pear'", "text between 'fig' and 'pear'");
    describe_as("text <> 'fig'", "text < 'fig' or text > 'fig'");
    describe_as("text in ('pear', 'apple')", "text = 'apple' or text = 'pear'");
}

/* The condition that a text says selects the same values. */
static void describes_what_was_asked(void **state)
{
    static const char *const compares[] = {"<", "<=", "=", "<>", ">=", ">"};
    kr_rng rng = {5};
    (void)state;
    for (uint32_t i = 0; i < 20000; ++i) {
        char asked[200], said[512], again[512];
        const uint64_t bits = kr_rng_next(&rng);
        const char *column = i % 2 ? "d" : "f", *compare = compares[i / 2 % 6];
        float narrow;
        double x;
        const uint32_t narrow_bits = (uint32_t)bits;
        memcpy(&narrow, &narrow_bits, sizeof narrow);
        memcpy(&x, &bits, sizeof x);
        x = i % 3 ? i % 2 ? x : (double)narrow : (double)(bits >> 50) / 1000;
        if (x != x)
            continue;
        snprintf(asked, sizeof asked, "%s %s %.*g", column, compare, i % 5 ? 17 : 6, x);
        describe(asked, said, sizeof said);
        kr_plan want = plan_of(asked), got = plan_of(said[0] ? said : "false");
        if (want.n_leaves) {
            assert_int_equal(got.n_leaves, 1);
            if (want.leaves[0].n_intervals != got.leaves[0].n_intervals ||
                memcmp(want.leaves[0].intervals, got.leaves[0].intervals,
                       want.leaves[0].n_intervals * sizeof(kr_interval)) != 0)
                fail_msg("%s became %s", asked, said);
            describe(said, again, sizeof again);
            assert_string_equal(said, again);
        }
        kr_plan_release(&got);
        kr_plan_release(&want);
    }
}

/* ---- Size ------------------------------------------------------------------------------------ */

/* `open` n times, then `middle`, then `close` n times. */
static char *nested(uint64_t n, const char *open, const char *middle, const char *close)
{
    char *text = malloc(n * (strlen(open) + strlen(close)) + strlen(middle) + 1), *at = text;
    assert_non_null(text);
    for (uint64_t i = 0; i < n; ++i)
        at += sprintf(at, "%s", open);
    at += sprintf(at, "%s", middle);
    for (uint64_t i = 0; i < n; ++i)
        at += sprintf(at, "%s", close);
    return text;
}

static void nests_deep(void **state)
{
    (void)state;
    for (uint64_t n = 1000; n <= 100000; n *= 10) {
        char *text = nested(n, "(", "a < 5", ")");
        expect(text, "a[-,4]");
        free(text);
        text = nested(n, "not (", "a < 5", ")");
        expect(text, "a[-,4]");
        free(text);
        text = nested(n, "a < 5 and (i = 3 or (", "f = 1", "))");
        kr_plan plan = plan_of(text);
        assert_true(plan.n_leaves >= n);
        kr_plan_release(&plan);
        free(text);
    }
}

/* One operator nested on the left: an operand of a joined list is not linked again. */
static void joins_in_linear_time(void **state)
{
    enum {
        N = 400000,
        SECONDS = 20
    }; /* a tenth of a second; minutes if each level links all operands again */
    (void)state;
    char *text = nested(N, "(", "a <> 1", " and i <> 3)");
    const clock_t begin = clock();
    kr_plan plan = plan_of(text);
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < SECONDS);
    assert_int_equal(plan.n_leaves, 2);
    kr_plan_release(&plan);
    free(text);
}

static void folds_long_lists(void **state)
{
    enum { N = 100000 };
    char *text = malloc(N * 20), *at = text;
    (void)state;
    assert_non_null(text);
    at += sprintf(at, "i in (");
    for (uint32_t i = 0; i < N; ++i)
        at += sprintf(at, "%s%u", i ? "," : "", 2 * ((i * 7919u) % N));
    sprintf(at, ")");
    kr_plan plan = plan_of(text);
    assert_int_equal(plan.n_leaves, 1);
    assert_int_equal(plan.leaves[0].n_intervals, N);
    kr_plan_release(&plan);
    at = text;
    for (uint32_t i = 0; i < N; ++i)
        at += sprintf(at, "%si<>%u", i ? " and " : "", 2 * i);
    plan = plan_of(text);
    assert_int_equal(plan.n_leaves, 1);
    assert_int_equal(plan.leaves[0].n_intervals, N + 1);
    kr_plan_release(&plan);
    free(text);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static void refuse(const char *text, kr_status status, const char *says)
{
    kr_condition *condition = NULL;
    kr_plan plan = {0};
    kr_error err = {0};
    kr_status got = kr_condition_parse(text, &condition, &err);
    if (got == KR_OK)
        got = kr_plan_make(condition, &table, &plan, &err);
    if (got != status || !strstr(err.text, says))
        fail_msg("%s: %s, '%s', not '%s'", text, kr_status_name(got), err.text, says);
    kr_condition_destroy(condition);
    assert_true(!plan.leaves && !plan.nodes);
}

static void points_at_errors(void **state)
{
    (void)state;
    refuse("a <", KR_ERR_FORMAT, "character 4, its end: expected a value");
    refuse("a 5", KR_ERR_FORMAT, "character 3, at \"5\": expected a comparison");
    refuse("(a < 5", KR_ERR_FORMAT, "character 1, at \"(a < 5\": this parenthesis is not closed");
    refuse("a < 5)", KR_ERR_FORMAT, "character 6, at \")\": no parenthesis is open");
    refuse("a < 5 i = 3", KR_ERR_FORMAT, "character 7, at \"i = 3\": expected AND, OR or the end");
    refuse("a < 5 and", KR_ERR_FORMAT, "character 10, its end: expected a comparison, NOT or '('");
    refuse("and a < 5", KR_ERR_FORMAT, "character 1");
    refuse("()", KR_ERR_FORMAT, "character 2, at \")\"");
    refuse("a in (1, )", KR_ERR_FORMAT, "character 10, at \")\": expected a value");
    refuse("a in 1", KR_ERR_FORMAT, "character 6, at \"1\": expected '('");
    refuse("a in (1", KR_ERR_FORMAT, "character 8, its end: expected ')'");
    refuse("a between 1", KR_ERR_FORMAT, "expected 'and'");
    refuse("a not 1", KR_ERR_FORMAT, "expected BETWEEN, IN or LIKE");
    refuse("a is 1", KR_ERR_FORMAT, "expected 'null'");
    refuse("text = 'x", KR_ERR_FORMAT, "character 8, at \"'x\": this quote is not closed");
    refuse("a < 5 ; i", KR_ERR_FORMAT, "character 7, at \"; i\": no condition has this character");
    refuse("a < 1.2.3", KR_ERR_FORMAT, "character 5, at \"1.2.3\": this is not a number");
    refuse("a < 5x", KR_ERR_FORMAT, "character 5, at \"5x\": this is not a number");
    refuse("5 < 6", KR_ERR_FORMAT, "character 5, at \"6\": expected the name of a column");
    refuse("zz < 5", KR_ERR_ARGUMENT, "the table has no column 'zz' at character 1; its columns: a, A, i");
    refuse(
        "a < 2.5", KR_ERR_TYPE,
        "column 'a' is u8, but it is compared with a number with decimals at character 5; give an integer");
    refuse("i = 1 and a = 'x'", KR_ERR_TYPE,
           "column 'a' is u8, but it is compared with the text 'x' at character 15");
    refuse("i = 1 and a in (1, 2, 2.5)", KR_ERR_TYPE, "a number with decimals at character 23");
    refuse("a between 3 and 'x'", KR_ERR_TYPE, "the text 'x' at character 17");
    refuse("'x' = a", KR_ERR_TYPE, "the text 'x' at character 1");
    refuse("day < 5", KR_ERR_TYPE, "compared with an integer at character 7; give a date");
    refuse("day = 'tomorrow'", KR_ERR_TYPE,
           "is date32, but it is compared with the text 'tomorrow' at character 7; give a date");
    refuse("day in ('1970-01-02', date '1970-02-30')", KR_ERR_TYPE,
           "column 'day' is compared with '1970-02-30' at character 28, which does not exist");
    refuse("time < '2001-02-29 12:00:00'", KR_ERR_TYPE,
           "with '2001-02-29 12:00:00' at character 8, which does not exist");
    refuse("time < '2001-02-28 12:00:60'", KR_ERR_TYPE, "which does not exist, or is out of range");
    refuse("text = 5", KR_ERR_TYPE,
           "column 'text' is text, but it is compared with an integer at character 8");
    refuse("d = '5'", KR_ERR_TYPE,
           "is f64, but it is compared with the text '5' at character 5; give a number");
    refuse("a < i", KR_ERR_TYPE, "columns 'a' and 'i' at character 1 are u8 and i32");
    refuse("u = 1 and text = u", KR_ERR_TYPE, "columns 'text' and 'u' at character 11 are text and u64");
}

/* Texts, dates and times without their quotes: the place of the value, and how it is written. */
static void asks_for_quotes(void **state)
{
    (void)state;
    refuse("text = ERROR", KR_ERR_ARGUMENT,
           "no column 'ERROR' at character 8; put texts in single quotes: 'ERROR'; its columns: a, A");
    refuse("a = 1 and text = \"fig\"", KR_ERR_ARGUMENT,
           "no column 'fig' at character 18; put texts in single quotes: 'fig'");
    refuse("ERROR = text", KR_ERR_ARGUMENT, "no column 'ERROR' at character 1; put texts in single quotes");
    refuse("texd = ERROR", KR_ERR_ARGUMENT,
           "no column 'texd' at character 1 (did you mean 'text'?); its columns");
    refuse("a = 5 and 5 < zz", KR_ERR_ARGUMENT, "no column 'zz' at character 15; its columns");
    refuse("text in (fig, 'pear')", KR_ERR_FORMAT,
           "character 10, at \"fig, 'pear')\": expected a value; put texts in single quotes: 'fig'");
    refuse("text in (\"fig\")", KR_ERR_FORMAT,
           "expected a value; double quotes are for names of columns; put texts in single quotes: 'fig'");
    refuse("a = 1 and day > 2024-01-31 or a = 2", KR_ERR_FORMAT,
           "character 17, at \"2024-01-31 or a = 2\": put dates and times in single quotes: '2024-01-31'");
    refuse("time > 12:30", KR_ERR_FORMAT, "character 8, at \"12:30\": put dates and times in single quotes");
    refuse("a = '5'", KR_ERR_TYPE, "the text '5' at character 5; give an integer without quotes");
}

/* A condition that is made of several: a place alone would not say in which text. */
static void names_the_text(void **state)
{
    (void)state;
    kr_condition *parts[] = {parsed("a = 1"), parsed("i = 2 and text = ERROR")}, *both = NULL, *all = NULL;
    kr_plan plan = {0};
    kr_error err = {0};
    assert_int_equal(kr_condition_or((const kr_condition *const *)parts, 2, &both, &err), KR_OK);
    const kr_condition *const nested[] = {parts[0], both};
    assert_int_equal(kr_condition_and(nested, 2, &all, &err), KR_OK);
    assert_int_equal(kr_plan_make(all, &table, &plan, &err), KR_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "'ERROR' at character 18 of \"i = 2 and text = ERROR\"; put texts"));
    kr_condition_destroy(all);
    kr_condition_destroy(both);
    kr_condition_destroy(parts[0]);
    kr_condition_destroy(parts[1]);
    parts[0] = parsed("d = 1");
    parts[1] = parsed("day = 5");
    assert_int_equal(kr_condition_and((const kr_condition *const *)parts, 2, &both, &err), KR_OK);
    assert_int_equal(kr_plan_make(both, &table, &plan, &err), KR_ERR_TYPE);
    assert_non_null(strstr(err.text, "an integer at character 7 of \"day = 5\"; give a date"));
    kr_condition_destroy(both);
    kr_condition_destroy(parts[0]);
    kr_condition_destroy(parts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_leaves),     cmocka_unit_test(folds_constants),
        cmocka_unit_test(knows_nulls),      cmocka_unit_test(reads_types),
        cmocka_unit_test(compares_floats),  cmocka_unit_test(compares_huge_numbers),
        cmocka_unit_test(nests_deep),       cmocka_unit_test(joins_in_linear_time),
        cmocka_unit_test(describes_leaves), cmocka_unit_test(describes_what_was_asked),
        cmocka_unit_test(folds_long_lists), cmocka_unit_test(points_at_errors),
        cmocka_unit_test(asks_for_quotes),  cmocka_unit_test(names_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
