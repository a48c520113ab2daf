/* The merge of two sides that ascend, in vectors. A left vector of keys is compared with all keys of a right
 * one: how many are less says where each left key belongs. No branch depends on a single key, so random gaps
 * cost no more than even ones. Where the right side has many keys between two left ones, they are skipped by
 * searches in doubling steps. */
#include "index/sorted/gallop.h"
#include "join/sort_merge.h"

/* The compiler takes vectors that the instruction set lacks apart. */
#if KR_ISA == 2
#define VECTOR_NBYTES 64
#elif KR_ISA == 1
#define VECTOR_NBYTES 32
#else
#define VECTOR_NBYTES 16
#endif
enum { LANES = VECTOR_NBYTES / sizeof(kr_key) };
typedef kr_key lanes __attribute__((vector_size(VECTOR_NBYTES)));

typedef uint32_t rows_lanes __attribute__((vector_size(4 * LANES)));

/* A column whose codes are read in vectors. */
typedef struct side {
    const void *data;
    uint64_t n;
    kr_key bias;
    uint32_t type, plain; /* plain: codes are the values, but for the bias */
} side;

KR_BODY side side_of(uint32_t type, const void *data, uint64_t n)
{
    const int plain = kr_type_width(type) == sizeof(kr_key) && type != KR_F32 && type != KR_F64;
    return (side){data, n, (kr_key)kr_type_bias(type), type, (uint32_t)plain};
}

/* What few vectors need stays out of the programs, which would all hold a copy: these took a tenth of the
 * time of a build. */
#define OUTLINED static __attribute__((noinline))

/* Of any type, and up to the end of the column. */
OUTLINED void load_each(const side *s, uint64_t at, lanes *out)
{
    kr_key codes[LANES];
    for (uint32_t k = 0; k < LANES; ++k)
        codes[k] = at + k < s->n ? (kr_key)kr_code_load_key(s->type, s->data, at + k) : (kr_key) ~(kr_key)0;
    kr_copy_bytes(out, codes, sizeof *out);
}

/* The codes of rows at .. at + LANES - 1; past the end, the largest code. */
KR_BODY void load_lanes(const side *s, uint64_t at, lanes *out)
{
    if (s->plain && at + LANES <= s->n) {
        kr_copy_bytes(out, (const kr_key *)s->data + at, sizeof *out);
        *out ^= s->bias;
    } else {
        load_each(s, at, out);
    }
}

KR_BODY int is_any(const lanes *mask)
{
    uint64_t words[VECTOR_NBYTES / 8], all = 0;
    kr_copy_bytes(words, mask, sizeof words);
    for (uint32_t k = 0; k < VECTOR_NBYTES / 8; ++k)
        all |= words[k];
    return all != 0;
}

/* ---- Whether a column ascends: read until a row is below the one before -------------------------- */

enum { CHECKED = 4096 };

KR_BODY void check_part(const join_order_params *p, uint64_t first, uint64_t end)
{
    const side column = side_of((uint32_t)p->type, p->data, p->n);
    lanes falls = {0}, repeats = {0}, before, here;
    uint64_t i = first;
    for (; i + LANES <= end; i += LANES) {
        load_lanes(&column, i - 1, &before);
        load_lanes(&column, i, &here);
        falls |= (lanes)(before > here);
        repeats |= (lanes)(before == here);
    }
    int fell = is_any(&falls), repeated = is_any(&repeats);
    for (; i < end; ++i) {
        const kr_key last = kr_code_load_key(column.type, p->data, i - 1);
        const kr_key key = kr_code_load_key(column.type, p->data, i);
        fell |= last > key;
        repeated |= last == key;
    }
    if (fell)
        kr_atomic_add64(p->falls, 1);
    if (repeated)
        kr_atomic_add64(p->repeats, 1);
}

KR_BODY void check_rows(const join_order_params *p, uint64_t first, uint64_t end)
{
    for (uint64_t at = first; at < end && !kr_atomic_load32((const uint32_t *)p->falls); at += CHECKED)
        check_part(p, at ? at : 1, end - at < CHECKED ? end : at + CHECKED);
}
KR_CPU_PROGRAM(join_order, join_order_params, check_rows);

/* ---- Where left keys belong among the right ones ------------------------------------------------ */

/* A place in the right keys, which only moves on. All right keys before `at` are smaller than the left keys
 * that are still to come. */
typedef struct cursor {
    lanes window; /* the right keys from `at` on */
    side right;
    uint64_t at;
    uint32_t n;
} cursor;

/* The most windows that are compared with one vector of left keys. If these keys reach farther, the place of
 * each is searched for instead (rank_each), which skips the right keys in between without comparing them. */
enum { WINDOWS = 8 };

KR_BODY kr_key cursor_key(const cursor *c, uint32_t position)
{
    return kr_code_load_key(c->right.type, c->right.data, position);
}
KR_SEARCHES(cursor, cursor, cursor_key);

KR_BODY void cursor_move(cursor *c, uint64_t at)
{
    c->at = at;
    load_lanes(&c->right, at, &c->window);
}

/* The place of a left key is before the first right key that is >= it or, with `behind`, that is > it.
 * Returns 1 if this right key is before that place. */
KR_BODY int is_before(kr_key right, kr_key left, int behind)
{
    return behind ? right <= left : right < left;
}

OUTLINED uint32_t cursor_search(const cursor *c, uint32_t at, kr_key key, int behind)
{
    return behind ? cursor_behind(c, c->n, at, key) : cursor_from(c, c->n, at, key);
}

KR_BODY void cursor_begin(cursor *c, const join_merge_params *p, const void *data, kr_key key, int behind)
{
    const kr_key from = (kr_key)(key + (kr_key)behind);
    c->right = side_of(p->right_type, data, p->n_right);
    c->n = (uint32_t)p->n_right;
    cursor_move(c, from < key ? c->n : cursor_between(c, 0, c->n, from));
}

/* Skips right keys that are before all of the left ones. */
KR_BODY void cursor_skip(cursor *c, kr_key first, int behind)
{
    if (!is_before(c->window[LANES - 1], first, behind))
        return;
    cursor_move(c, c->at + LANES < c->n ? c->at + LANES : c->n);
    if (is_before(c->window[LANES - 1], first, behind))
        cursor_move(c, cursor_search(c, (uint32_t)c->at, first, behind));
}

/* One key after the other, from place `at` on. */
OUTLINED void rank_each(cursor *c, const lanes *keys, uint64_t at, int behind, lanes *places)
{
    uint32_t place = (uint32_t)at;
    for (uint32_t k = 0; k < LANES; ++k) {
        place = cursor_search(c, place, (*keys)[k], behind);
        (*places)[k] = place;
    }
    cursor_move(c, place);
}

/* Whether the window has the places of all keys up to `last`. */
KR_BODY int is_enough(const cursor *c, kr_key last, int behind)
{
    return !is_before(c->window[LANES - 1], last, behind) || c->at + LANES >= c->n;
}

/* places[k] := the place of keys[k], which ascend. */
KR_BODY void cursor_rank(cursor *c, const lanes *keys, int behind, lanes *places)
{
    lanes count = {0};
    cursor_skip(c, (*keys)[0], behind);
    const uint64_t begin = c->at;
    for (uint32_t windows = 1;; ++windows) {
        for (uint32_t k = 0; k < LANES; ++k)
            count -= behind ? (lanes)(c->window[k] <= *keys) : (lanes)(c->window[k] < *keys);
        if (is_enough(c, (*keys)[LANES - 1], behind))
            break;
        if (windows == WINDOWS) {
            rank_each(c, keys, begin, behind, places);
            return;
        }
        cursor_move(c, c->at + LANES);
    }
    const kr_key most = (kr_key)(c->n - begin); /* what is past the end was counted, too */
    const lanes fits = (lanes)(count < most);
    *places = ((count & fits) | (most & ~fits)) + (kr_key)begin;
}

/* found[k] := all bits set if a right key equals keys[k], which ascend; places[k] := its place, if right keys
 * are distinct. */
KR_BODY void cursor_find(cursor *c, const lanes *keys, lanes *places, lanes *found)
{
    cursor_skip(c, (*keys)[0], 0);
    const uint64_t begin = c->at;
    *places = *found = (lanes){0};
    for (uint32_t windows = 1;; ++windows) {
        lanes equal = {0}, number = {0};
        if (c->at + LANES <= c->n) {
            for (uint32_t k = 0; k < LANES; ++k)
                number |= (lanes)(c->window[k] == *keys) & (kr_key)(k + 1);
        } else {
            for (uint32_t k = 0; c->at + k < c->n; ++k)
                number |= (lanes)(c->window[k] == *keys) & (kr_key)(k + 1);
        }
        equal = (lanes)(number != 0);
        *found |= equal;
        *places |= equal & (number + (kr_key)(c->at - 1));
        if (is_enough(c, (*keys)[LANES - 1], 0))
            return;
        if (windows == WINDOWS)
            break;
        cursor_move(c, c->at + LANES);
    }
    rank_each(c, keys, begin, 0, places);
    for (uint32_t k = 0; k < LANES; ++k) {
        const uint32_t place = (uint32_t)(*places)[k];
        (*found)[k] = (kr_key)0 - (kr_key)(place < c->n && cursor_key(c, place) == (*keys)[k]);
    }
}

/* ---- Pieces of the left side -------------------------------------------------------------------- */

/* A vector of left rows: of row first + k, the right rows from[k] .. from[k] + matches[k] - 1. */
typedef struct left_rows {
    cursor lower, upper;
    side left;
    lanes from, matches;
    uint64_t first, end; /* left rows of the piece that are to come */
    uint32_t n;          /* left rows of the vector */
} left_rows;

KR_BODY void rows_begin(left_rows *rows, const join_merge_params *p, uint64_t piece, int single)
{
    rows->left = side_of(p->type, p->left, p->n_left);
    rows->first = piece * p->each;
    rows->end = rows->first + p->each < p->n_left ? rows->first + p->each : p->n_left;
    rows->n = 0;
    const kr_key key = kr_code_load_key(p->type, p->left, rows->first);
    cursor_begin(&rows->upper, p, p->upper, key, 0);
    if (!single)
        cursor_begin(&rows->lower, p, p->lower, key, 1);
}

/* The next vector of the piece; 0: there is none. */
KR_BODY int rows_next(left_rows *rows, int single)
{
    lanes keys, found, behind;
    rows->first += rows->n;
    if (rows->first >= rows->end)
        return 0;
    rows->n = rows->end - rows->first < LANES ? (uint32_t)(rows->end - rows->first) : LANES;
    load_lanes(&rows->left, rows->first, &keys);
    if (single) {
        cursor_find(&rows->upper, &keys, &rows->from, &found);
        rows->matches = found & 1;
    } else {
        cursor_rank(&rows->upper, &keys, 0, &rows->from);
        cursor_rank(&rows->lower, &keys, 1, &behind);
        rows->matches = (lanes)(behind > rows->from) & (behind - rows->from);
    }
    return 1;
}

/* The numbers of a vector's rows, the right rows, and their numbers of matches, one after the other. */
KR_BODY void left_numbers(const left_rows *rows, uint32_t out[LANES])
{
    for (uint32_t k = 0; k < LANES; ++k)
        out[k] = (uint32_t)rows->first + k;
}

KR_BODY void spread(const lanes *values, uint32_t out[LANES])
{
    const rows_lanes narrow = __builtin_convertvector(*values, rows_lanes);
    kr_copy_bytes(out, &narrow, sizeof narrow);
}

/* ---- Left rows ---------------------------------------------------------------------------------- */

KR_BODY void write_rows(const join_merge_params *p, uint64_t piece, int single)
{
    left_rows rows;
    rows_begin(&rows, p, piece, single);
    uint32_t *to = p->left_rows + rows.first;
    uint64_t n = 0;
    while (rows_next(&rows, single)) {
        lanes others = p->without ? (lanes)(rows.matches != 0) : (lanes)(rows.matches == 0);
        if (rows.n == LANES && !is_any(&others)) {
            left_numbers(&rows, to + n);
            n += LANES;
            continue;
        }
        kr_key is_other[LANES];
        kr_copy_bytes(is_other, &others, sizeof others);
        for (uint32_t k = 0; k < rows.n; ++k) {
            to[n] = (uint32_t)rows.first + k;
            n += is_other[k] == 0;
        }
    }
    p->counts[piece] = n;
}

KR_BODY void merge_rows(const join_merge_params *p, uint64_t first, uint64_t end)
{
    for (uint64_t piece = first; piece < end; ++piece)
        if (p->single)
            write_rows(p, piece, 1);
        else
            write_rows(p, piece, 0);
}
KR_CPU_PIECE_PROGRAM(join_merge_rows, join_merge_params, merge_rows);

/* ---- Pairs, at most one of a left row ------------------------------------------------------------ */

/* Writes the pairs of a vector; returns how many. */
KR_BODY uint64_t write_single(const left_rows *rows, uint32_t outer, uint32_t *left, uint32_t *right)
{
    const lanes alone = (lanes)(rows->matches == 0);
    const lanes partners = rows->from | alone; /* KR_NO_ROW has all bits set */
    if (rows->n == LANES && (outer || !is_any(&alone))) {
        left_numbers(rows, left);
        spread(&partners, right);
        return LANES;
    }
    uint32_t to[LANES], is_alone[LANES];
    uint64_t n = 0;
    spread(&partners, to);
    spread(&alone, is_alone);
    for (uint32_t k = 0; k < rows->n; ++k) {
        left[n] = (uint32_t)rows->first + k;
        right[n] = to[k];
        n += (is_alone[k] == 0) | outer;
    }
    return n;
}

KR_BODY void merge_single(const join_merge_params *p, uint64_t first, uint64_t end)
{
    for (uint64_t piece = first; piece < end; ++piece) {
        left_rows rows;
        rows_begin(&rows, p, piece, 1);
        uint32_t *left = p->left_rows + rows.first, *right = p->right_rows + rows.first;
        uint64_t n = 0;
        while (rows_next(&rows, 1))
            n += write_single(&rows, p->outer, left + n, right + n);
        p->counts[piece] = n;
    }
}
KR_CPU_PIECE_PROGRAM(join_merge_single, join_merge_params, merge_single);

/* ---- Pairs, any number of a left row ------------------------------------------------------------- */

KR_BODY void count_pairs(const join_merge_params *p, uint64_t first, uint64_t end)
{
    for (uint64_t piece = first; piece < end; ++piece) {
        left_rows rows;
        uint32_t matches[LANES];
        uint64_t n = 0;
        rows_begin(&rows, p, piece, 0);
        while (rows_next(&rows, 0)) {
            spread(&rows.matches, matches);
            for (uint32_t k = 0; k < rows.n; ++k)
                n += matches[k] ? matches[k] : p->outer;
        }
        p->counts[piece] = n;
    }
}
KR_CPU_PIECE_PROGRAM(join_merge_count, join_merge_params, count_pairs);

/* Few pairs are written as if they were AT_ONCE, where there is room: the next ones overwrite what is too
 * many. So no branch depends on their number. */
enum { AT_ONCE = 8 };

KR_BODY void write_run(const join_merge_params *p, uint64_t at, uint32_t row, uint32_t from, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i) {
        p->left_rows[at + i] = row;
        p->right_rows[at + i] = from + i;
    }
}

KR_BODY uint64_t write_pairs(const join_merge_params *p, const left_rows *rows, uint64_t at, uint64_t end)
{
    uint32_t from[LANES], matches[LANES];
    spread(&rows->from, from);
    spread(&rows->matches, matches);
    for (uint32_t k = 0; k < rows->n; ++k) {
        const uint32_t row = (uint32_t)rows->first + k;
        if (!matches[k] && p->outer) {
            p->left_rows[at] = row;
            p->right_rows[at++] = KR_NO_ROW;
            continue;
        }
        if (matches[k] <= AT_ONCE && at + AT_ONCE <= end)
            write_run(p, at, row, from[k], AT_ONCE);
        else
            write_run(p, at, row, from[k], matches[k]);
        at += matches[k];
    }
    return at;
}

KR_BODY void merge_pairs(const join_merge_params *p, uint64_t first, uint64_t end)
{
    for (uint64_t piece = first; piece < end; ++piece) {
        left_rows rows;
        uint64_t at = p->counts[piece];
        rows_begin(&rows, p, piece, 0);
        while (rows_next(&rows, 0))
            at = write_pairs(p, &rows, at, p->counts[piece + 1]);
    }
}
KR_CPU_PIECE_PROGRAM(join_merge_pairs, join_merge_params, merge_pairs);
