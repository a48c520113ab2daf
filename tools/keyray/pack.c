#include "pack.h"

#include "tool.h"

#include <stdlib.h>
#include <string.h>

/* A float's bits as an unsigned number in the order of keys: -0 equals 0, and all NaNs are equal and above
 * everything. `sign` is its sign bit. */
static uint64_t order_float(uint64_t bits, int is_zero, int is_nan, uint64_t sign)
{
    if (is_nan)
        return sign | (sign - 1);
    if (is_zero)
        bits = 0;
    return bits & sign ? ~bits & (sign | (sign - 1)) : bits | sign;
}

/* The element as an unsigned number in the order of its type. */
static uint64_t encode(const kr_column *column, uint64_t row)
{
    const uint64_t top32 = (uint64_t)1 << 31, top64 = (uint64_t)1 << 63;
    const void *data = column->data;
    uint64_t bits64;
    uint32_t bits32;
    switch (column->type) {
    case KR_U8: return ((const uint8_t *)data)[row];
    case KR_U16: return ((const uint16_t *)data)[row];
    case KR_U32: return ((const uint32_t *)data)[row];
    case KR_U64: return ((const uint64_t *)data)[row];
    case KR_I8: return (uint64_t)((const int8_t *)data)[row] ^ top64;
    case KR_I16: return (uint64_t)((const int16_t *)data)[row] ^ top64;
    case KR_I32:
    case KR_DATE32: return (uint64_t)((const int32_t *)data)[row] ^ top64;
    case KR_I64:
    case KR_TIMESTAMP64: return (uint64_t)((const int64_t *)data)[row] ^ top64;
    case KR_F32: {
        const float value = ((const float *)data)[row];
        memcpy(&bits32, &value, sizeof bits32);
        return order_float(bits32, value == 0, value != value, top32);
    }
    case KR_F64: {
        const double value = ((const double *)data)[row];
        memcpy(&bits64, &value, sizeof bits64);
        return order_float(bits64, value == 0, value != value, top64);
    }
    }
    return 0;
}

static void widen_bounds(const kr_column *column, uint64_t *low, uint64_t *high)
{
    for (uint64_t row = 0; row < column->count; ++row) {
        if (!column_row_is_valid(column, row))
            continue;
        const uint64_t value = encode(column, row);
        *low = value < *low ? value : *low;
        *high = value > *high ? value : *high;
    }
}

static int open_packed(uint64_t count, struct packed *packed)
{
    packed->data = tool_alloc(count, sizeof *packed->data, "composite keys");
    packed->validity = packed->data ? tool_alloc(count / 8 + 1, 1, "a validity bitmap") : NULL;
    if (!packed->validity)
        return FAILED;
    memset(packed->data, 0, count * sizeof *packed->data);
    memset(packed->validity, 0xff, count / 8 + 1);
    packed->view =
        (kr_column){.type = KR_U64, .count = count, .data = packed->data, .validity = packed->validity};
    return DONE;
}

/* Appends one column, minus its least value, below the existing bits. */
static void append(struct packed *packed, const kr_column *column, uint64_t low, uint32_t width)
{
    for (uint64_t row = 0; row < column->count; ++row) {
        const uint64_t above = width < 64 ? packed->data[row] << width : 0;
        if (column_row_is_valid(column, row))
            packed->data[row] = above | (encode(column, row) - low);
        else
            packed->validity[row / 8] &= (uint8_t) ~(1u << (row % 8));
    }
}

static int check_counts(const struct column *columns, uint32_t n)
{
    int code = DONE;
    for (uint32_t i = 1; i < n && !code; ++i)
        code = column_check_counts(&columns[0], &columns[i], "a composite key takes columns of one table");
    return code;
}

int pack_columns(const struct column *left, const struct column *right, uint32_t n,
                 struct packed *packed_left, struct packed *packed_right)
{
    uint32_t used = 0, widest = 0, widest_bits = 0;
    if (check_counts(left, n) || check_counts(right, n) || open_packed(left[0].view.count, packed_left) ||
        open_packed(right[0].view.count, packed_right))
        return FAILED;
    for (uint32_t i = 0; i < n; ++i) {
        uint64_t low = UINT64_MAX, high = 0;
        widen_bounds(&left[i].view, &low, &high);
        widen_bounds(&right[i].view, &low, &high);
        const uint32_t width = high > low ? 64 - (uint32_t)__builtin_clzll(high - low) : 0;
        used += width;
        if (width > widest_bits) {
            widest = i;
            widest_bits = width;
        }
        if (used > 64)
            return tool_fail(
                FAILED,
                "the composite key takes more than 64 bits, of which %s takes %u; join on fewer or "
                "narrower columns",
                left[widest].source, widest_bits);
        append(packed_left, &left[i].view, low, width);
        append(packed_right, &right[i].view, low, width);
    }
    return DONE;
}

void pack_close(struct packed *packed)
{
    free(packed->validity);
    free(packed->data);
}
