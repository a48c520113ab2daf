#include "oracle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    uint64_t code;
    uint32_t at, row;
} entry;

/* Keeps the order of entries whose digits are the same. */
static void sort_by_digit(const entry *from, entry *to, uint64_t n, int by_row, int shift)
{
    uint64_t next[257] = {0};
    for (uint64_t i = 0; i < n; ++i)
        ++next[((by_row ? from[i].row : from[i].code) >> shift & 0xFF) + 1];
    for (int d = 0; d < 256; ++d)
        next[d + 1] += next[d];
    for (uint64_t i = 0; i < n; ++i)
        to[next[(by_row ? from[i].row : from[i].code) >> shift & 0xFF]++] = from[i];
}

/* By (code, row), a byte at a time from the last of the row on. Bytes in which no two entries differ are left
 * out. The suite sorts so much that the C library's sort was a fifth of its time. */
static void sort_entries(entry **entries, uint64_t n)
{
    entry *other = kr_test_calloc(n, sizeof *other);
    uint64_t codes = 0, rows = 0;
    for (uint64_t i = 1; i < n; ++i) {
        codes |= (*entries)[i].code ^ (*entries)[0].code;
        rows |= (uint64_t)((*entries)[i].row ^ (*entries)[0].row);
    }
    for (int digit = 0; digit < 12; ++digit) {
        const int by_row = digit < 4, shift = 8 * (by_row ? digit : digit - 4);
        entry *const from = *entries;
        if (((by_row ? rows : codes) >> shift & 0xFF) == 0)
            continue;
        sort_by_digit(from, other, n, by_row, shift);
        *entries = other;
        other = from;
    }
    free(other);
}

/* Codes only make the sort fast: the values themselves say what is in order. */
static void expect_order(const kr_column *keys, const entry *entries, uint64_t n)
{
    for (uint64_t i = 1; i < n; ++i) {
        const int order = kr_value_compare(keys->type, kr_value_at(keys, entries[i - 1].at),
                                           kr_value_at(keys, entries[i].at));
        if (order > 0 || (order == 0) != (entries[i - 1].code == entries[i].code)) {
            fprintf(stderr, "the oracle's codes of %s are not in the order of the values\n",
                    kr_type_name(keys->type));
            abort();
        }
    }
}

static void sort_many_rows(uint32_t *rows, uint64_t n)
{
    entry *entries = kr_test_calloc(n, sizeof *entries);
    for (uint64_t i = 0; i < n; ++i)
        entries[i].row = rows[i];
    sort_entries(&entries, n);
    for (uint64_t i = 0; i < n; ++i)
        rows[i] = entries[i].row;
    free(entries);
}

/* Rows of one key ascend as they are, and most ranges are short. */
static void sort_rows(uint32_t *rows, uint64_t n)
{
    uint64_t sorted = n ? 1 : 0;
    for (; sorted < n && sorted < 32; ++sorted) {
        const uint32_t row = rows[sorted];
        uint64_t at = sorted;
        for (; at > 0 && rows[at - 1] > row; --at)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
    while (sorted < n && rows[sorted - 1] <= rows[sorted])
        ++sorted;
    if (sorted < n)
        sort_many_rows(rows, n);
}

kr_oracle kr_oracle_make(const kr_column *keys, const uint32_t *row_ids)
{
    kr_oracle oracle = {.keys = *keys};
    entry *entries = kr_test_calloc(keys->count, sizeof *entries);
    for (uint64_t i = 0; i < keys->count; ++i)
        if (kr_value_is_valid(keys, i))
            entries[oracle.n++] = (entry){kr_value_code(keys->type, kr_value_at(keys, i)), (uint32_t)i,
                                          row_ids ? row_ids[i] : (uint32_t)i};
    sort_entries(&entries, oracle.n);
    expect_order(keys, entries, oracle.n);
    oracle.rows = kr_test_calloc(oracle.n, sizeof *oracle.rows);
    oracle.at = kr_test_calloc(oracle.n, sizeof *oracle.at);
    for (uint64_t i = 0; i < oracle.n; ++i) {
        oracle.rows[i] = entries[i].row;
        oracle.at[i] = entries[i].at;
    }
    free(entries);
    return oracle;
}

void kr_oracle_free(kr_oracle *oracle)
{
    free(oracle->rows);
    free(oracle->at);
    *oracle = (kr_oracle){0};
}

/* The first entry whose key is at least `bound`, or above it. */
static uint64_t find(const kr_oracle *oracle, const void *bound, int above)
{
    uint64_t first = 0, last = oracle->n;
    while (first < last) {
        const uint64_t middle = first + (last - first) / 2;
        const int order =
            kr_value_compare(oracle->keys.type, kr_value_at(&oracle->keys, oracle->at[middle]), bound);
        if (order < 0 || (above && order == 0))
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

void kr_oracle_span(const kr_oracle *oracle, const void *lower, const void *upper, uint64_t *first,
                    uint64_t *last)
{
    *first = *last = find(oracle, lower, 0);
    if (kr_value_compare(oracle->keys.type, lower, upper) <= 0)
        *last = find(oracle, upper, 1);
}

int kr_result_has_values(kr_result result)
{
    return result == KR_RESULT_SUM || result == KR_RESULT_SUM_WIDE || result == KR_RESULT_MIN ||
           result == KR_RESULT_MAX;
}

kr_type kr_answer_type(const kr_question *question)
{
    switch (question->result) {
    case KR_RESULT_ROW: return KR_U32;
    case KR_RESULT_COUNT:
    case KR_RESULT_SUM_ROWS:
    case KR_RESULT_SUM_WIDE:
    case KR_RESULT_ROWS: return KR_U64;
    case KR_RESULT_SUM: return kr_type_of_sum(question->values->type);
    case KR_RESULT_MIN:
    case KR_RESULT_MAX: return question->values->type;
    case KR_RESULT_EXISTS: break;
    }
    return KR_U8;
}

uint64_t kr_answer_length(kr_result result, uint64_t n)
{
    switch (result) {
    case KR_RESULT_EXISTS: return (n + 7) / 8;
    case KR_RESULT_ROWS: return n + 1;
    case KR_RESULT_SUM_WIDE: return 2 * n;
    default: return n;
    }
}

uint64_t kr_answer_nbytes(const kr_question *question, uint64_t n)
{
    return kr_answer_length(question->result, n) * kr_type_nbytes(kr_answer_type(question));
}

static void set_bit(uint8_t *bits, uint64_t i)
{
    bits[i / 8] |= (uint8_t)(1 << i % 8);
}

static void answer_rows(const kr_oracle *oracle, uint64_t first, uint64_t last, uint64_t i,
                        const kr_question *question, kr_answer *answer)
{
    const uint64_t n = last - first, kept = question->limit && question->limit < n ? question->limit : n;
    ((uint64_t *)answer->out)[i + 1] = answer->n_rows + kept;
    if (n == 0)
        return;
    if (answer->n_rows + n > answer->capacity) {
        answer->capacity = 2 * (answer->n_rows + n) + 64;
        uint32_t *more = kr_test_calloc(answer->capacity, sizeof *more);
        if (answer->n_rows)
            memcpy(more, answer->rows, answer->n_rows * sizeof *more);
        free(answer->rows);
        answer->rows = more;
    }
    memcpy(answer->rows + answer->n_rows, oracle->rows + first, n * sizeof *answer->rows);
    if (question->order == KR_ORDER_ROW)
        sort_rows(answer->rows + answer->n_rows, n);
    answer->n_rows += kept;
}

static void answer_sum(const kr_oracle *oracle, uint64_t first, uint64_t last, const kr_column *values,
                       void *out)
{
    uint64_t sum = 0;
    double real = 0;
    for (uint64_t k = first; k < last; ++k) {
        const uint32_t row = oracle->rows[k];
        if (!kr_value_is_valid(values, row))
            continue;
        if (kr_type_is_float(values->type))
            real += kr_value_float(values->type, kr_value_at(values, row));
        else
            sum += kr_value_integer(values->type, kr_value_at(values, row));
    }
    if (kr_type_is_float(values->type))
        memcpy(out, &real, sizeof real);
    else
        memcpy(out, &sum, sizeof sum);
}

/* By the compiler's own integers of 128 bits, not by words and carries. */
static void answer_wide(const kr_oracle *oracle, uint64_t first, uint64_t last, const kr_column *values,
                        uint64_t *out)
{
    __extension__ __int128 sum = 0;
    for (uint64_t k = first; k < last; ++k) {
        const uint32_t row = oracle->rows[k];
        if (!kr_value_is_valid(values, row))
            continue;
        const uint64_t integer = kr_value_integer(values->type, kr_value_at(values, row));
        if (kr_type_is_signed(values->type))
            sum += (int64_t)integer;
        else
            sum += integer;
    }
    out[0] = (uint64_t)sum;
    out[1] = (uint64_t)(sum >> 64);
}

/* sign -1: the smallest value, +1: the largest. */
static void answer_extreme(const kr_oracle *oracle, uint64_t first, uint64_t last, uint64_t i, int sign,
                           const kr_column *values, kr_answer *answer)
{
    const void *best = NULL;
    for (uint64_t k = first; k < last; ++k) {
        const void *value = kr_value_at(values, oracle->rows[k]);
        if (kr_value_is_valid(values, oracle->rows[k]) &&
            (!best || sign * kr_value_compare(values->type, value, best) > 0))
            best = value;
    }
    if (!best)
        return;
    kr_value_store_bits(values->type, answer->out, i, kr_value_bits(values->type, best));
    set_bit(answer->valid, i);
}

static void answer_one(const kr_oracle *oracle, uint64_t first, uint64_t last, uint64_t i,
                       const kr_question *question, kr_answer *answer)
{
    uint64_t sum = 0;
    uint32_t row = KR_NO_ROW;
    for (uint64_t k = first; k < last; ++k) {
        sum += oracle->rows[k];
        row = row < oracle->rows[k] ? row : oracle->rows[k];
    }
    switch (question->result) {
    case KR_RESULT_ROW: ((uint32_t *)answer->out)[i] = row; break;
    case KR_RESULT_COUNT: ((uint64_t *)answer->out)[i] = last - first; break;
    case KR_RESULT_SUM_ROWS: ((uint64_t *)answer->out)[i] = sum; break;
    case KR_RESULT_SUM: answer_sum(oracle, first, last, question->values, (uint64_t *)answer->out + i); break;
    case KR_RESULT_SUM_WIDE:
        answer_wide(oracle, first, last, question->values, (uint64_t *)answer->out + 2 * i);
        break;
    case KR_RESULT_MIN: answer_extreme(oracle, first, last, i, -1, question->values, answer); break;
    case KR_RESULT_MAX: answer_extreme(oracle, first, last, i, 1, question->values, answer); break;
    case KR_RESULT_ROWS: answer_rows(oracle, first, last, i, question, answer); break;
    case KR_RESULT_EXISTS:
        if (first < last)
            set_bit(answer->out, i);
        break;
    }
}

kr_answer kr_oracle_answer(const kr_oracle *oracle, const kr_column *lower, const kr_column *upper,
                           const kr_question *question)
{
    kr_answer answer = {.n = lower->count};
    answer.out = kr_test_calloc(kr_answer_nbytes(question, lower->count), 1);
    answer.valid = kr_test_calloc(lower->count / 8 + 1, 1);
    for (uint64_t i = 0; i < lower->count; ++i) {
        const kr_column *high = upper ? upper : lower;
        uint64_t first = 0, last = 0;
        if (kr_value_is_valid(lower, i) && kr_value_is_valid(high, i))
            kr_oracle_span(oracle, kr_value_at(lower, i), kr_value_at(high, i), &first, &last);
        answer_one(oracle, first, last, i, question, &answer);
    }
    return answer;
}

void kr_answer_free(kr_answer *answer)
{
    free(answer->out);
    free(answer->valid);
    free(answer->rows);
    *answer = (kr_answer){0};
}

static int bit(const uint8_t *bits, uint64_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static int extremes_differ(const kr_question *question, const kr_answer *want, const kr_answer *got,
                           char *text, size_t text_nbytes)
{
    const kr_column a = {.type = question->values->type, .data = want->out};
    const kr_column b = {.type = a.type, .data = got->out};
    char x[48] = "invalid", y[48] = "invalid";
    for (uint64_t i = 0; i < want->n; ++i) {
        const int valid = bit(want->valid, i);
        if (valid == bit(got->valid, i) &&
            (!valid || kr_value_compare(a.type, kr_value_at(&a, i), kr_value_at(&b, i)) == 0))
            continue;
        if (valid)
            kr_value_print(a.type, kr_value_at(&a, i), x);
        if (bit(got->valid, i))
            kr_value_print(a.type, kr_value_at(&b, i), y);
        snprintf(text, text_nbytes, "probe %" PRIu64 ": want %s, got %s", i, x, y);
        return 1;
    }
    return 0;
}

static int elements_differ(kr_type type, const char *what, uint64_t n, const void *want, const void *got,
                           char *text, size_t text_nbytes)
{
    const kr_column a = {.type = type, .data = want}, b = {.type = type, .data = got};
    char x[48], y[48];
    for (uint64_t i = 0; i < n; ++i) {
        if (kr_value_compare(type, kr_value_at(&a, i), kr_value_at(&b, i)) == 0)
            continue;
        snprintf(text, text_nbytes, "%s %" PRIu64 ": want %s, got %s", what, i,
                 kr_value_print(type, kr_value_at(&a, i), x), kr_value_print(type, kr_value_at(&b, i), y));
        return 1;
    }
    return 0;
}

int kr_answer_differs(const kr_question *question, const kr_answer *want, const kr_answer *got, char *text,
                      size_t text_nbytes)
{
    const char *what = question->result == KR_RESULT_ROWS       ? "offset"
                       : question->result == KR_RESULT_EXISTS   ? "byte"
                       : question->result == KR_RESULT_SUM_WIDE ? "word"
                                                                : "probe";
    if (question->result == KR_RESULT_MIN || question->result == KR_RESULT_MAX)
        return extremes_differ(question, want, got, text, text_nbytes);
    if (elements_differ(kr_answer_type(question), what, kr_answer_length(question->result, want->n),
                        want->out, got->out, text, text_nbytes))
        return 1;
    return got->rows && elements_differ(KR_U32, "row", got->n_rows, want->rows, got->rows, text, text_nbytes);
}

void kr_pairs_sort(kr_pairs *pairs)
{
    entry *entries = kr_test_calloc(pairs->n, sizeof *entries);
    for (uint64_t i = 0; i < pairs->n; ++i)
        entries[i] = (entry){.code = pairs->pairs[i][0], .row = pairs->pairs[i][1]};
    sort_entries(&entries, pairs->n);
    for (uint64_t i = 0; i < pairs->n; ++i) {
        pairs->pairs[i][0] = (uint32_t)entries[i].code;
        pairs->pairs[i][1] = entries[i].row;
    }
    free(entries);
}

static int matches(const kr_column *left, uint64_t i, const kr_column *lower, const kr_column *upper,
                   uint64_t j)
{
    return kr_value_is_valid(left, i) && kr_value_is_valid(lower, j) && kr_value_is_valid(upper, j) &&
           kr_value_compare(left->type, kr_value_at(left, i), kr_value_at(lower, j)) >= 0 &&
           kr_value_compare(left->type, kr_value_at(left, i), kr_value_at(upper, j)) <= 0;
}

/* Nested loops: the definition, for columns of a few hundred rows. */
kr_pairs kr_oracle_join(const kr_column *left, const kr_column *lower, const kr_column *upper,
                        kr_join_type type)
{
    const kr_column *high = upper ? upper : lower;
    kr_pairs result = {0};
    result.pairs = kr_test_calloc((left->count + 1) * (lower->count + 1), sizeof *result.pairs);
    for (uint64_t i = 0; i < left->count; ++i) {
        const uint64_t before = result.n;
        uint64_t found = 0;
        for (uint64_t j = 0; j < lower->count; ++j) {
            if (!matches(left, i, lower, high, j))
                continue;
            ++found;
            if (type != KR_JOIN_SEMI && type != KR_JOIN_ANTI) {
                result.pairs[result.n][0] = (uint32_t)i;
                result.pairs[result.n++][1] = (uint32_t)j;
            }
        }
        if ((type == KR_JOIN_SEMI && found) || (type == KR_JOIN_ANTI && !found) ||
            ((type == KR_JOIN_LEFT || type == KR_JOIN_FULL) && !found)) {
            result.pairs[before][0] = (uint32_t)i;
            result.pairs[before][1] = KR_NO_ROW;
            result.n = before + 1;
        }
    }
    for (uint64_t j = 0; j < lower->count && (type == KR_JOIN_RIGHT || type == KR_JOIN_FULL); ++j) {
        uint64_t i = 0;
        while (i < left->count && !matches(left, i, lower, high, j))
            ++i;
        if (i < left->count)
            continue;
        result.pairs[result.n][0] = KR_NO_ROW;
        result.pairs[result.n++][1] = (uint32_t)j;
    }
    return result;
}
