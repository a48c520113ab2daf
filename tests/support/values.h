/* The values of column elements: the order of keyray.h, independent of the library's encodings. */
#ifndef KEYRAY_TESTS_VALUES_H
#define KEYRAY_TESTS_VALUES_H

#include <keyray/keyray.h>

enum { KR_N_TYPES = 12 }; /* kr_type runs from 1 to this */

/* <0, 0, >0: integers by value, -0 equal to +0, NaN equal to NaN and above everything. */
int kr_value_compare(kr_type type, const void *a, const void *b);

/* Here, since the oracle asks for values more often than for all else. */
static inline const void *kr_value_at(const kr_column *column, uint64_t row)
{
    static const uint8_t nbytes[KR_N_TYPES + 1] = {
        [KR_U8] = 1,  [KR_I8] = 1,  [KR_U16] = 2, [KR_I16] = 2, [KR_U32] = 4,    [KR_I32] = 4,
        [KR_U64] = 8, [KR_I64] = 8, [KR_F32] = 4, [KR_F64] = 8, [KR_DATE32] = 4, [KR_TIMESTAMP64] = 8};
    return (const char *)column->data + row * nbytes[column->type];
}

static inline int kr_value_is_valid(const kr_column *column, uint64_t row)
{
    const uint64_t bit = column->validity_offset + row;
    return !column->validity || (column->validity[bit / 8] >> bit % 8 & 1);
}

/* What KR_RESULT_SUM adds: integers sign-extended, modulo 2^64. */
uint64_t kr_value_integer(kr_type type, const void *element);
double kr_value_float(kr_type type, const void *element);

int kr_type_is_float(kr_type type);
int kr_type_is_signed(kr_type type);
/* The type of a KR_RESULT_SUM over values of this type: u64, i64 or f64. */
kr_type kr_type_of_sum(kr_type type);

/* The low bytes of `bits` as element `row`. */
void kr_value_store_bits(kr_type type, void *data, uint64_t row, uint64_t bits);
uint64_t kr_value_bits(kr_type type, const void *element);
/* The number as the type can hold it: floats round, integers keep the low bits. */
void kr_value_store_number(kr_type type, void *data, uint64_t row, int64_t number);

/* The library orders values by unsigned codes of 32 or 64 bits: integers by their distance from the smallest,
 * so that u8 and i8 have codes below 256; floats by their bits, negative ones flipped. By the definition,
 * apart from the library's own encoding. */
uint64_t kr_value_code(kr_type type, const void *element);
/* The bits of the value with this code, or of the lowest one where none has it (below -infinity). */
uint64_t kr_value_of_code(kr_type type, uint64_t code);

/* Bit patterns at the edges of a type: extremes, zeros, infinities, NaNs, denormals, neighbours of powers of
 * two. Every number is legal; they repeat from some number on. */
uint64_t kr_value_extreme(kr_type type, uint64_t number);

/* "-5", "3.5", "nan (0x7fc00001)" */
const char *kr_value_print(kr_type type, const void *element, char text[48]);

#endif
