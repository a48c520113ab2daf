#include "arrow.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char last_error[1024];

char *arrow_error(void)
{
    return last_error;
}

bool arrow_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_error, sizeof last_error, format, args);
    va_end(args);
    return false;
}

void *scratch_take(scratch *s, size_t nbytes)
{
    void *block = s->n < SCRATCH_MAX ? calloc(1, nbytes ? nbytes : 1) : NULL;
    if (!block) {
        arrow_fail("keyray: no memory for %zu bytes beside the probes: use smaller batches", nbytes);
        return NULL;
    }
    s->blocks[s->n++] = block;
    return block;
}

void scratch_free(scratch *s)
{
    while (s->n > 0)
        free(s->blocks[--s->n]);
}

static bool bit_of(const uint8_t *bits, uint64_t i)
{
    return bits[i / 8] >> (i % 8) & 1;
}

/* ---- Formats ------------------------------------------------------------------------------- */

enum { BOOLS = 100, NULLS }; /* no kr_type has these numbers */

static const struct {
    const char *format;
    uint32_t type, unit, nbytes;
} formats[] = {
    {"C", KR_U8, 0, 1},
    {"c", KR_I8, 0, 1},
    {"S", KR_U16, 0, 2},
    {"s", KR_I16, 0, 2},
    {"I", KR_U32, 0, 4},
    {"i", KR_I32, 0, 4},
    {"L", KR_U64, 0, 8},
    {"l", KR_I64, 0, 8},
    {"f", KR_F32, 0, 4},
    {"g", KR_F64, 0, 8},
    {"tdD", KR_DATE32, 0, 4},
    {"u", KR_STRING, 0, 4},
    {"U", KR_LARGE_STRING, 0, 8},
    {"vu", KR_STRING_VIEW, 0, 16},
    {"z", KR_BINARY, 0, 4},
    {"Z", KR_LARGE_BINARY, 0, 8},
    {"vz", KR_BINARY_VIEW, 0, 16},
    {"b", BOOLS, 0, 0},
    {"n", NULLS, 0, 0},
    {"tss:", KR_TIMESTAMP64, KR_UNIT_S, 8},
    {"tsm:", KR_TIMESTAMP64, KR_UNIT_MS, 8},
    {"tsu:", KR_TIMESTAMP64, KR_UNIT_US, 8},
    {"tsn:", KR_TIMESTAMP64, KR_UNIT_NS, 8},
};

/* The row of `formats` for a schema, or -1. A time zone behind the unit of a timestamp changes no value. */
static int find_format(const ArrowSchema *field)
{
    for (int i = 0; i < (int)(sizeof formats / sizeof *formats); ++i) {
        const char *format = formats[i].format;
        bool timestamp = strncmp(format, "ts", 2) == 0;
        if (timestamp ? strncmp(field->format, format, 4) == 0 : strcmp(field->format, format) == 0)
            return i;
    }
    return -1;
}

static bool is_integer(uint32_t type)
{
    return (type >= KR_U8 && type <= KR_I64) || type == BOOLS;
}
static bool is_text(uint32_t type)
{
    return type >= KR_STRING && type <= KR_BINARY_VIEW;
}

static const char *unit_name(uint32_t unit)
{
    static const char *const names[] = {"", " of s", " of ms", " of us", " of ns"};
    return unit < 5 ? names[unit] : "";
}

static const char *type_name(uint32_t type)
{
    static const char *const names[] = {"?",   "u8",  "i8",  "u16", "i16",    "u32",        "i32",
                                        "u64", "i64", "f32", "f64", "date32", "timestamp64"};
    return is_text(type) ? "texts" : type == BOOLS ? "bool" : type <= KR_TIMESTAMP64 ? names[type] : "?";
}

/* ---- Integers of another type ---------------------------------------------------------------- */

static __int128 load_integer(uint32_t type, const void *data, uint64_t i)
{
    switch (type) {
    case KR_U8: return ((const uint8_t *)data)[i];
    case KR_I8: return ((const int8_t *)data)[i];
    case KR_U16: return ((const uint16_t *)data)[i];
    case KR_I16: return ((const int16_t *)data)[i];
    case KR_U32: return ((const uint32_t *)data)[i];
    case KR_I32: return ((const int32_t *)data)[i];
    case KR_U64: return ((const uint64_t *)data)[i];
    case BOOLS: return bit_of(data, i);
    default: return ((const int64_t *)data)[i];
    }
}

static void store_integer(void *data, uint64_t i, uint32_t nbytes, uint64_t value)
{
    memcpy((char *)data + i * nbytes, &value, nbytes); /* keyray runs on little-endian machines only */
}

static uint32_t integer_nbytes(uint32_t type)
{
    return 1u << ((type - KR_U8) / 2);
}

/* Converts by value. `from` is the row where the column begins in `data` and in its validity. */
static bool convert_integers(uint32_t type, const void *data, int64_t from, const column_type *want,
                             bool exact, scratch *s, kr_column *column)
{
    uint32_t nbytes = integer_nbytes(want->type);
    bool is_signed = (want->type - KR_U8) % 2;
    __int128 one = 1, high = (one << (8 * nbytes - is_signed)) - 1, low = is_signed ? -high - 1 : 0;
    void *values = scratch_take(s, column->count * nbytes);
    uint8_t *valid = scratch_take(s, column->count / 8 + 1);
    if (!values || !valid)
        return false;
    for (uint64_t i = 0; i < column->count; ++i) {
        if (column->validity && !bit_of(column->validity, column->validity_offset + i))
            continue;
        __int128 value = load_integer(type, data, (uint64_t)from + i);
        if (value >= low && value <= high) {
            store_integer(values, i, nbytes, (uint64_t)value);
            valid[i / 8] |= (uint8_t)(1u << (i % 8));
        } else if (exact) {
            return arrow_fail(
                "keyray: probe %llu (%lld) is outside of %s, the type of the keys, and has no nearest "
                "key there: make the index of a wider type",
                (unsigned long long)i, (long long)value, type_name(want->type));
        }
    }
    column->data = values;
    column->validity = valid;
    column->validity_offset = 0;
    return true;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/* Where the bytes of texts are: behind offsets one buffer, of views any number, whose sizes come last. */
static bool place_texts(const ArrowArray *array, bool views, uint64_t bytes_end, scratch *s,
                        kr_column *column)
{
    if (!views) {
        column->reserved_words[0] = (uint64_t)(uintptr_t)array->buffers[2];
        column->reserved_words[1] = bytes_end;
        return true;
    }
    uint64_t n = array->n_buffers > 3 ? (uint64_t)array->n_buffers - 3 : 0;
    kr_text_buffer *buffers = scratch_take(s, (n + 1) * sizeof *buffers);
    if (!buffers)
        return false;
    const int64_t *sizes = n ? array->buffers[array->n_buffers - 1] : NULL;
    for (uint64_t i = 0; i < n; ++i)
        buffers[i] = (kr_text_buffer){array->buffers[2 + i], (uint64_t)sizes[i]};
    column->reserved_words[0] = (uint64_t)(uintptr_t)buffers;
    column->reserved_words[1] = n;
    return true;
}

static bool texts_column(uint32_t type, const ArrowArray *array, int64_t from, scratch *s, kr_column *column)
{
    bool views = type == KR_STRING_VIEW || type == KR_BINARY_VIEW;
    bool large = type == KR_LARGE_STRING || type == KR_LARGE_BINARY;
    size_t nbytes = views ? 16 : large ? 8 : 4;
    const char *data = array->buffers[1];
    column->type = (kr_type)type;
    column->data = data ? data + (size_t)from * nbytes : NULL;
    uint64_t end = 0;
    if (!views && column->data)
        end = large ? (uint64_t)((const int64_t *)column->data)[column->count]
                    : (uint64_t)((const int32_t *)column->data)[column->count];
    return place_texts(array, views, end, s, column);
}

/* ---- Columns --------------------------------------------------------------------------------- */

/* A column of polars' type Null: as many rows, each NULL. */
static bool nulls_column(const column_type *want, scratch *s, kr_column *column)
{
    bool text = is_text(want->type);
    column->type = text ? KR_STRING_VIEW : (kr_type)want->type;
    column->data = scratch_take(s, (column->count + 1) * 16);
    column->validity = scratch_take(s, column->count / 8 + 1);
    column->validity_offset = 0;
    if (text)
        column->reserved_words[0] = (uint64_t)(uintptr_t)scratch_take(s, sizeof(kr_text_buffer));
    return column->data && column->validity && (!text || column->reserved_words[0]);
}

static bool wrong_type(const char *format, uint32_t type, uint32_t unit, const column_type *want)
{
    if (type == 0)
        return arrow_fail(
            "keyray: probes of Arrow's type \"%s\" are no keys, the index has %s%s: cast them in polars",
            format, type_name(want->type), unit_name(want->unit));
    return arrow_fail("keyray: probes are %s%s, keys of the index are %s%s: cast one of them in polars",
                      type_name(type), unit_name(unit), type_name(want->type), unit_name(want->unit));
}

bool arrow_column(const ArrowSchema *field, const ArrowArray *array, int64_t from, uint64_t count,
                  const column_type *want, bool exact, scratch *s, kr_column *column)
{
    int at = find_format(field);
    if (field->dictionary)
        return arrow_fail("keyray: probes are a Categorical or an Enum, whose codes say nothing in an index: "
                          "cast them to String in polars");
    if (at < 0)
        return wrong_type(field->format, 0, 0, want);
    uint32_t type = formats[at].type, unit = formats[at].unit;
    *column = (kr_column){.type = (kr_type)want->type, .count = count};
    if (type == NULLS)
        return nulls_column(want, s, column);
    if (array->null_count != 0 && array->buffers[0]) {
        column->validity = array->buffers[0];
        column->validity_offset = (uint64_t)from;
    }
    if (is_text(type) && is_text(want->type))
        return texts_column(type, array, from, s, column);
    if (is_integer(type) && is_integer(want->type) && type != want->type)
        return convert_integers(type, array->buffers[1], from, want, exact, s, column);
    if (type != want->type || (type == KR_TIMESTAMP64 && want->unit && unit != want->unit))
        return wrong_type(field->format, type, unit, want);
    column->data = (const char *)array->buffers[1] + (size_t)from * formats[at].nbytes;
    return true;
}

bool arrow_within(const ArrowArray *parent, uint64_t count, scratch *s, kr_column *column)
{
    const uint8_t *outer = parent->null_count != 0 ? parent->buffers[0] : NULL;
    if (!outer)
        return true;
    uint8_t *both = scratch_take(s, count / 8 + 1);
    if (!both)
        return false;
    for (uint64_t i = 0; i < count; ++i) {
        bool valid = bit_of(outer, (uint64_t)parent->offset + i) &&
                     (!column->validity || bit_of(column->validity, column->validity_offset + i));
        both[i / 8] |= (uint8_t)((unsigned)valid << (i % 8));
    }
    column->validity = both;
    column->validity_offset = 0;
    return true;
}
