/* Leaves and plans as text. */
#include "table/condition/describe.h"
#include "base/key/key.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kr_leaf_text_add(char *text, size_t nbytes, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, nbytes - used, format, args);
    va_end(args);
}

/* One end of an interval, as an operand. */
typedef struct bound {
    int is_open; /* 1: the value itself is outside */
    char value[64];
} bound;

/* ---- Floats ---------------------------------------------------------------------------------- */

/* A few codes below the first and above the infinite have no value. */
static int is_value(uint32_t type, uint64_t code)
{
    return type == KR_F32 ? kr_encode_f32(kr_decode_f32((uint32_t)code)) == code
                          : kr_encode_f64(kr_decode_f64(code)) == code;
}

/* Rounded to so many digits: 50, not 5e+01. Returns the number that it shows. */
static double print_digits(double x, int digits, char value[64])
{
    snprintf(value, 64, "%.*g", digits, x);
    const double shown = strtod(value, NULL);
    if (digits <= 15)
        snprintf(value, 64, "%.15g", shown);
    return shown;
}

static void print_exactly(double x, char value[64])
{
    int digits = 1;
    while (print_digits(x, digits, value) != x && digits < 17)
        ++digits;
}

/* Whether t is above the value of code `below` and below the next, or equal to that of `code`. */
static int parts(uint32_t type, uint64_t code, uint64_t below, double t)
{
    const double low = kr_code_float(type, below), high = kr_code_float(type, below + 1);
    return t == kr_code_float(type, code) ||
           ((!is_value(type, below) || t > low) && (!is_value(type, below + 1) || t < high));
}

/* The value of `code` in as many digits as part the codes up to `below` from those above. */
static void print_parting(uint32_t type, uint64_t code, uint64_t below, char value[64])
{
    const double x = kr_code_float(type, code);
    int digits = 1;
    while (!parts(type, code, below, print_digits(x, digits, value)) && x == x && digits < 17)
        ++digits;
}

/* `price < 50` and `price <= 49.99999999999999` are the same for doubles; the shorter one is shown. */
static bound float_bound(uint32_t type, uint64_t code, int is_low)
{
    const uint64_t outside = is_low ? code - 1 : code + 1, below = is_low ? outside : code;
    bound closed = {0, ""}, open = {1, ""};
    if (is_value(type, code))
        print_parting(type, code, below, closed.value);
    if (is_value(type, outside))
        print_parting(type, outside, below, open.value);
    return !closed.value[0] || (open.value[0] && strlen(open.value) < strlen(closed.value)) ? open : closed;
}

/* ---- Dates and times ------------------------------------------------------------------------- */

/* In quotes; as an integer where it is not in such a form. */
static void print_time(uint32_t type, kr_unit unit, int64_t integer, char value[64])
{
    char text[KR_VALUE_NBYTES];
    const int32_t days = (int32_t)integer;
    kr_value_text((kr_type)type, unit, type == KR_DATE32 ? (const void *)&days : &integer, text);
    snprintf(value, 64, type == KR_DATE32 || unit != KR_UNIT_NONE ? "'%s'" : "%s", text);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/* Whether the text of this code is known, if the column has texts. */
static int is_known(const kr_leaf *leaf, uint64_t code, int has_texts)
{
    uint64_t i = 0;
    while (i < leaf->n_labels && (!leaf->labels[i].exact || leaf->labels[i].code != code))
        ++i;
    return has_texts || !leaf->n_labels || i < leaf->n_labels;
}

/* In single quotes; these are doubled inside. Bytes that end a line are shown as '?'. */
static void quote(const char *text, uint64_t nbytes, char value[64])
{
    enum { SHOWN = 48, ROOM = 58 };
    uint32_t n = 0;
    uint64_t i = 0;
    value[n++] = '\'';
    for (; i < nbytes && i < SHOWN && n < ROOM; ++i) {
        if (text[i] == '\'')
            value[n++] = '\'';
        value[n++] = (unsigned char)text[i] < ' ' ? '?' : text[i];
    }
    snprintf(value + n, 64 - n, "%s'", i < nbytes ? "..." : "");
}

/* The text of a code, from the dictionary of the table. */
static void show_code(const kr_plan_columns *columns, const kr_leaf *leaf, uint64_t code, char value[64])
{
    char text[64] = "";
    uint64_t nbytes = UINT64_MAX;
    if (kr_plan_has_texts(columns, leaf->column) &&
        code < columns->texts->count(columns->of_texts, leaf->column))
        nbytes = columns->texts->show(columns->of_texts, leaf->column, (uint32_t)code, text, sizeof text);
    if (nbytes == UINT64_MAX)
        snprintf(value, 64, "text number %llu", (unsigned long long)code);
    else
        quote(text, nbytes, value);
}

/* The text in the condition that this end comes from, else that of the dictionary; codes say nothing to a
 * reader. */
static bound text_bound(const kr_plan_columns *columns, const kr_leaf *leaf, uint64_t code, int is_low,
                        int is_equal)
{
    bound made = {0, ""};
    for (uint64_t i = 0; i < leaf->n_labels; ++i) {
        const kr_label *label = leaf->labels + i;
        const int is_it = label->exact && label->code == code;
        const int is_next = is_low ? label->code + label->exact == code : label->code == code + 1;
        if (!is_it && (is_equal || !is_next))
            continue;
        made.is_open = !is_it;
        quote(label->text, label->nbytes, made.value);
        return made;
    }
    show_code(columns, leaf, code, made.value);
    return made;
}

/* ---- Intervals ------------------------------------------------------------------------------- */

static bound bound_of(const kr_plan_columns *columns, const kr_leaf *leaf, uint64_t code, int is_low,
                      int is_equal)
{
    const uint32_t type = columns->columns[leaf->column].type;
    const int64_t integer = (int64_t)kr_code_integer(type, code);
    bound made = {0, ""};
    if (leaf->n_labels || kr_plan_has_texts(columns, leaf->column))
        return text_bound(columns, leaf, code, is_low, is_equal);
    if (type == KR_F32 || type == KR_F64) {
        if (!is_equal)
            return float_bound(type, code, is_low);
        print_exactly(kr_code_float(type, code), made.value);
    } else if (type == KR_DATE32 || type == KR_TIMESTAMP64) {
        print_time(type, leaf->unit, integer, made.value);
    } else if (kr_type_in(type, KR_TYPES_SIGNED)) {
        snprintf(made.value, sizeof made.value, "%lld", (long long)integer);
    } else {
        snprintf(made.value, sizeof made.value, "%llu", (unsigned long long)code);
    }
    return made;
}

static void add_interval(char *text, size_t nbytes, const kr_plan_columns *columns, const kr_leaf *leaf,
                         kr_interval at)
{
    const char *name = columns->names[leaf->column];
    const int has_texts = kr_plan_has_texts(columns, leaf->column);
    const uint64_t count = has_texts ? columns->texts->count(columns->of_texts, leaf->column) : 0;
    /* Codes behind those of all texts do not occur. */
    const uint64_t most = count ? count - 1 : kr_plan_most_code(columns->columns[leaf->column].type);
    const int is_equal = at.low == at.high && is_known(leaf, at.low, has_texts), has_low = at.low > 0;
    const int has_high = at.high < most;
    bound low = {0, ""}, high = {0, ""};
    if (has_low || is_equal)
        low = bound_of(columns, leaf, at.low, 1, is_equal);
    if (has_high && !is_equal)
        high = bound_of(columns, leaf, at.high, 0, 0);
    if (is_equal)
        kr_leaf_text_add(text, nbytes, "%s = %s", name, low.value);
    else if (!has_low && !has_high)
        kr_leaf_text_add(text, nbytes, "%s is not null", name);
    else if (has_low && has_high && !low.is_open && !high.is_open)
        kr_leaf_text_add(text, nbytes, "%s between %s and %s", name, low.value, high.value);
    else if (has_low)
        kr_leaf_text_add(text, nbytes, "%s %s %s%s", name, low.is_open ? ">" : ">=", low.value,
                         has_high ? " and " : "");
    if (!is_equal && has_high && (!has_low || low.is_open || high.is_open))
        kr_leaf_text_add(text, nbytes, "%s %s %s", name, high.is_open ? "<" : "<=", high.value);
}

void kr_leaf_describe(const kr_leaf *leaf, const kr_plan_columns *columns, char *text, size_t nbytes)
{
    static const char *const symbols[] = {"", "<", "<=", ">", ">=", "=", "<>"};
    const char *name = columns->names[leaf->column];
    enum { SHOWN = 3 };
    text[0] = '\0';
    if (leaf->other != KR_NO_COLUMN) {
        kr_leaf_text_add(text, nbytes, "%s %s %s", name, symbols[leaf->compare], columns->names[leaf->other]);
        return;
    }
    for (uint64_t i = 0; i < leaf->n_intervals && i < SHOWN; ++i) {
        kr_leaf_text_add(text, nbytes, "%s", i ? " or " : "");
        add_interval(text, nbytes, columns, leaf, leaf->intervals[i]);
    }
    if (leaf->n_intervals > SHOWN)
        kr_leaf_text_add(text, nbytes, " or %s in %llu more ranges", name,
                         (unsigned long long)leaf->n_intervals - SHOWN);
    if (leaf->nulls)
        kr_leaf_text_add(text, nbytes, "%s%s is null", leaf->n_intervals ? " or " : "", name);
}
