/* Leaves and plans as text. */
#include "scans/describe.h"
#include "key/key.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void kr_text_add(char *text, size_t nbytes, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, nbytes - used, format, args);
    va_end(args);
}

static void add_code(char *text, size_t nbytes, uint32_t type, uint64_t code)
{
    if (type == KR_F32 || type == KR_F64)
        kr_text_add(text, nbytes, "%.9g", kr_code_float(type, code));
    else if (kr_type_in(type, KR_TYPES_SIGNED))
        kr_text_add(text, nbytes, "%lld", (long long)kr_code_integer(type, code));
    else
        kr_text_add(text, nbytes, "%llu", (unsigned long long)code);
}

static void add_interval(char *text, size_t nbytes, const char *name, uint32_t type, kr_interval at)
{
    const uint64_t most = ~(uint64_t)0 >> (64 - kr_type_significant_bits(type));
    const uint64_t one = at.low == at.high || !at.low ? at.high : at.low;
    if (at.low && at.high < most && at.low != at.high) {
        kr_text_add(text, nbytes, "%s between ", name);
        add_code(text, nbytes, type, at.low);
        kr_text_add(text, nbytes, " and ");
        add_code(text, nbytes, type, at.high);
        return;
    }
    if (!at.low && at.high == most && at.low != at.high) {
        kr_text_add(text, nbytes, "%s is not null", name);
        return;
    }
    kr_text_add(text, nbytes, "%s %s ", name, at.low == at.high ? "=" : at.low ? ">=" : "<=");
    add_code(text, nbytes, type, one);
}

void kr_leaf_describe(const kr_leaf *leaf, const kr_plan_columns *columns, char *text, size_t nbytes)
{
    static const char *const symbols[] = {"", "<", "<=", ">", ">=", "=", "<>"};
    const char *name = columns->names[leaf->column];
    enum { SHOWN = 3 };
    text[0] = '\0';
    if (leaf->other != KR_NO_COLUMN) {
        kr_text_add(text, nbytes, "%s %s %s", name, symbols[leaf->compare], columns->names[leaf->other]);
        return;
    }
    for (uint64_t i = 0; i < leaf->n_intervals && i < SHOWN; ++i) {
        kr_text_add(text, nbytes, "%s", i ? " or " : "");
        add_interval(text, nbytes, name, columns->columns[leaf->column].type, leaf->intervals[i]);
    }
    if (leaf->n_intervals > SHOWN)
        kr_text_add(text, nbytes, " or %s in %llu more ranges", name,
                    (unsigned long long)leaf->n_intervals - SHOWN);
    if (leaf->nulls)
        kr_text_add(text, nbytes, "%s%s is null", leaf->n_intervals ? " or " : "", name);
}
