#include "table/condition/literal.h"
#include "base/key/key.h"
#include "base/values/convert.h"

#include <stdio.h>
#include <string.h>

const char *kr_literal_place_text(const kr_condition *condition, const kr_node *node, uint64_t at,
                                  char text[KR_PLACE_NBYTES])
{
    enum { SHOWN = 60 };
    const char *source = condition->is_combined && at ? condition->texts + node->source : NULL;
    text[0] = '\0';
    if (at)
        snprintf(text, KR_PLACE_NBYTES, " at character %llu%s%.*s%s%s", (unsigned long long)at,
                 source ? " of \"" : "", SHOWN, source ? source : "",
                 source && strlen(source) > SHOWN ? "..." : "", source ? "\"" : "");
    return text;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* Exact, though an integer may have more digits than a double. */
static int compare_integer(double x, const kr_literal *integer)
{
    const int negative = x < 0;
    const double size = negative ? -x : x;
    if (x != x || negative != (integer->negative && integer->bits))
        return negative ? -1 : 1;
    if (size >= 0x1p64)
        return negative ? -1 : 1;
    const uint64_t whole = (uint64_t)size;
    const int order = whole != integer->bits ? (whole > integer->bits ? 1 : -1) : size > (double)whole;
    return negative ? -order : order;
}

static int compare_real(double x, double y)
{
    if (x != x || y != y) /* NaN equals NaN and is above all others */
        return (x != x) - (y != y);
    return (x > y) - (x < y);
}

static uint64_t encode_float(uint32_t type, double x)
{
    const float narrow = (float)x;
    uint64_t bits = 0;
    uint32_t narrow_bits = 0;
    memcpy(&bits, &x, sizeof bits);
    memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
    return type == KR_F32 ? kr_encode_f32(narrow_bits) : kr_encode_f64(bits);
}

/* The nearest float may be below the literal or above it; then it is its neighbour. */
static kr_bound find_float(uint32_t type, const kr_literal *literal)
{
    double x = 0;
    if (literal->kind == KR_LITERAL_INTEGER)
        x = literal->negative ? -(double)literal->bits : (double)literal->bits;
    else
        memcpy(&x, &literal->bits, sizeof x);
    const uint64_t code = encode_float(type, x);
    const double nearest = kr_code_float(type, code);
    const int order = literal->kind == KR_LITERAL_INTEGER ? compare_integer(nearest, literal)
                      : literal->beyond                   ? (x > 0 ? 1 : -1) /* infinities lie further out */
                                                          : compare_real(nearest, x);
    return (kr_bound){order < 0 ? code + 1 : code, order == 0, 0};
}

static kr_bound find_integer(uint32_t type, const kr_literal *literal)
{
    const uint64_t bias = kr_type_bias(type), most = kr_plan_most_code(type);
    if (literal->kind == KR_LITERAL_HUGE)
        return literal->negative ? (kr_bound){0, 0, 0} : (kr_bound){most, 0, 1};
    if (literal->negative && literal->bits)
        return literal->bits > bias ? (kr_bound){0, 0, 0} : (kr_bound){bias - literal->bits, 1, 0};
    return literal->bits > most - bias ? (kr_bound){most, 0, 1} : (kr_bound){literal->bits + bias, 1, 0};
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static kr_status find_text(const kr_plan_columns *columns, uint32_t column, const char *text, uint64_t nbytes,
                           kr_bound *bound)
{
    uint32_t code = 0;
    const int found = columns->find_text(columns->ctx, column, text, nbytes, &code);
    *bound = (kr_bound){code, found == 1, 0};
    return KR_OK;
}

int kr_literal_is_text_column(const kr_plan_columns *columns, uint32_t column)
{
    uint32_t code;
    if (kr_plan_has_texts(columns, column))
        return 1;
    return columns->find_text && columns->columns[column].type == KR_U32 &&
           columns->find_text(columns->ctx, column, "", 0, &code) >= 0;
}

/* 'YYYY-MM-DD' and the like, as a value of the type. */
static kr_value_result read_text(uint32_t type, kr_unit unit, const char *text, uint64_t nbytes,
                                 kr_literal *literal)
{
    int32_t days = 0;
    int64_t time = 0;
    if (type != KR_DATE32 && type != KR_TIMESTAMP64)
        return KR_VALUE_MALFORMED;
    const kr_value_result result =
        kr_value_parse(type, unit, text, nbytes, type == KR_DATE32 ? (void *)&days : (void *)&time);
    if (result == KR_VALUE_OK)
        *literal = (kr_literal){.kind = type == KR_DATE32 ? KR_LITERAL_DATE : KR_LITERAL_TIME,
                                .bits = type == KR_DATE32 ? (uint64_t)(int64_t)days : (uint64_t)time};
    return result;
}

/* A value that the column's type holds, too: a date as a timestamp, 5.0 as an integer. */
static kr_value_result convert(uint32_t type, kr_unit unit, kr_literal *literal)
{
    const int is_integer = type != KR_F32 && type != KR_F64 && type != KR_DATE32 && type != KR_TIMESTAMP64;
    kr_value_result result = KR_VALUE_OK;
    if (literal->kind == KR_LITERAL_DATE && type == KR_TIMESTAMP64) {
        const int32_t days = (int32_t)literal->bits;
        result = kr_value_convert(KR_DATE32, KR_UNIT_NONE, &days, type, unit, &literal->bits);
        literal->kind = KR_LITERAL_TIME;
    } else if (literal->kind == KR_LITERAL_REAL && is_integer) {
        double real;
        memcpy(&real, &literal->bits, sizeof real);
        const double size = real < 0 ? -real : real;
        result = kr_value_convert(KR_F64, KR_UNIT_NONE, &size, KR_U64, KR_UNIT_NONE, &literal->bits);
        if (result == KR_VALUE_OK || result == KR_VALUE_RANGE)
            *literal = (kr_literal){.kind = result == KR_VALUE_OK ? KR_LITERAL_INTEGER : KR_LITERAL_HUGE,
                                    .negative = real < 0,
                                    .bits = literal->bits};
        result = result == KR_VALUE_RANGE ? KR_VALUE_OK : result;
    }
    return result;
}

/* ---- All ------------------------------------------------------------------------------------- */

/* "an integer", "the text 'fig'" */
static const char *name_of(const kr_condition *condition, const kr_literal *literal, char text[64])
{
    static const char *const names[] = {"NULL",   "an integer", "an integer", "a number with decimals",
                                        "a date", "a time",     "a text"};
    enum { SHOWN = 40 };
    if (literal->kind != KR_LITERAL_TEXT)
        return names[literal->kind];
    snprintf(text, 64, "the text '%.*s%s'", SHOWN, condition->texts + literal->bits,
             literal->nbytes > SHOWN ? "..." : "");
    return text;
}

static kr_status other_type(const kr_plan_columns *columns, uint32_t column, const kr_condition *condition,
                            const kr_node *node, const kr_literal *literal, kr_error *err)
{
    char place[KR_PLACE_NBYTES], shown[64];
    const uint32_t type = columns->columns[column].type;
    const int text = kr_literal_is_text_column(columns, column);
    const int is_number = !text && type != KR_DATE32 && type != KR_TIMESTAMP64;
    return kr_fail(err, KR_ERR_TYPE, "column '%s' is %s, but it is compared with %s%s; give %s%s",
                   columns->names[column], text ? "text" : kr_type_name((kr_type)type),
                   name_of(condition, literal, shown),
                   kr_literal_place_text(condition, node, literal->at, place),
                   text                               ? "a text in single quotes"
                   : type == KR_DATE32                ? "a date: '1998-12-01'"
                   : type == KR_TIMESTAMP64           ? "an integer, a date or a time: '1998-12-01 12:00:00'"
                   : type == KR_F32 || type == KR_F64 ? "a number"
                                                      : "an integer",
                   is_number && literal->kind == KR_LITERAL_TEXT ? " without quotes" : "");
}

/* The column's type has no such value. */
static kr_status no_value(const kr_plan_columns *columns, uint32_t column, const kr_condition *condition,
                          const kr_node *node, const kr_literal *literal, const char *text, uint64_t nbytes,
                          kr_value_result result, kr_error *err)
{
    char place[KR_PLACE_NBYTES], problem[KR_PROBLEM_NBYTES];
    const kr_type type = columns->columns[column].type;
    kr_value_problem(result, type, kr_plan_unit(columns, column), problem);
    if (result == KR_VALUE_RANGE && literal->kind == KR_LITERAL_TEXT && kr_value_is_time(text, nbytes))
        snprintf(problem, sizeof problem, "does not exist%s",
                 type == KR_DATE32 ? "" : ", or is out of range for timestamp64 of this unit");
    return kr_fail(err, KR_ERR_TYPE, "column '%s' is compared with '%.*s'%s, which %s",
                   columns->names[column], nbytes < 64 ? (int)nbytes : 64, text,
                   kr_literal_place_text(condition, node, literal->at, place), problem);
}

/* Whether a literal of that kind may be compared with the type. */
static int fits(uint32_t type, uint32_t kind)
{
    const int is_float = type == KR_F32 || type == KR_F64;
    switch (kind) {
    case KR_LITERAL_INTEGER:
    case KR_LITERAL_HUGE: return type != KR_DATE32;
    case KR_LITERAL_REAL: return is_float;
    case KR_LITERAL_DATE: return type == KR_DATE32;
    case KR_LITERAL_TIME: return type == KR_TIMESTAMP64;
    default: return 0;
    }
}

kr_status kr_literal_find(const kr_plan_columns *columns, uint32_t column, const kr_condition *condition,
                          const kr_node *node, const kr_literal *literal, kr_bound *bound, kr_error *err)
{
    const uint32_t type = columns->columns[column].type;
    const kr_unit unit = kr_plan_unit(columns, column);
    kr_literal value = *literal;
    if (literal->kind == KR_LITERAL_TEXT) {
        const char *text = condition->texts + literal->bits;
        if (kr_literal_is_text_column(columns, column))
            return find_text(columns, column, text, literal->nbytes, bound);
        const kr_value_result result = read_text(type, unit, text, literal->nbytes, &value);
        if (result != KR_VALUE_OK)
            return result == KR_VALUE_MALFORMED ? other_type(columns, column, condition, node, literal, err)
                                                : no_value(columns, column, condition, node, literal, text,
                                                           literal->nbytes, result, err);
    }
    const kr_value_result result = convert(type, unit, &value);
    if (result == KR_VALUE_NO_UNIT || result == KR_VALUE_RANGE) { /* of a date */
        char date[KR_VALUE_NBYTES];
        const int32_t days = (int32_t)literal->bits;
        const uint32_t n = kr_value_text(KR_DATE32, KR_UNIT_NONE, &days, date);
        return no_value(columns, column, condition, node, literal, date, n, result, err);
    }
    if (!fits(type, value.kind) || (kr_literal_is_text_column(columns, column) && !node->dictionary))
        return other_type(columns, column, condition, node, literal, err);
    if (value.kind == KR_LITERAL_DATE || value.kind == KR_LITERAL_TIME) {
        const uint32_t negative = (uint32_t)(value.bits >> 63);
        value = (kr_literal){
            .kind = KR_LITERAL_INTEGER, .negative = negative, .bits = negative ? 0 - value.bits : value.bits};
    }
    *bound = type == KR_F32 || type == KR_F64 ? find_float(type, &value) : find_integer(type, &value);
    return KR_OK;
}
