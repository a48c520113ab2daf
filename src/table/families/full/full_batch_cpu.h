/* The executor of full_batch_simd_width_body.h on CPUs; included by it only. 512 rows at a time: their codes,
 * the edges' words and the lanes' words stay in the first-level cache. */
#ifndef KEYRAY_TABLE_FAMILIES_FULL_FULL_BATCH_CPU_H
#define KEYRAY_TABLE_FAMILIES_FULL_FULL_BATCH_CPU_H

/* Columns with more edges are searched: about where that was as fast as to compare each value with all edges,
 * measured with 4 to 64 conditions on three columns. */
#if defined(KR_ISA) && KR_ISA == 2
enum { FULL_EDGES_COMPARED = 128 };
#elif defined(KR_ISA) && KR_ISA == 1
enum { FULL_EDGES_COMPARED = 96 };
#else
enum { FULL_EDGES_COMPARED = 8 };
#endif
enum { FULL_PIECE_WORDS = 16, FULL_PIECE_ROWS = 32 * FULL_PIECE_WORDS };

typedef struct full_piece {
    uint32_t lanes[FULL_LANES][FULL_PIECE_WORDS];
    uint32_t held[FULL_LANES][FULL_PIECE_WORDS]; /* by one column */
    uint32_t up_to[FULL_EDGES_COMPARED][FULL_PIECE_WORDS];
    uint32_t valid[FULL_PIECE_WORDS];
    uint32_t rows[FULL_PIECE_WORDS]; /* of the table, and alive */
    uint32_t left[FULL_PIECE_ROWS / FULL_BATCH_MINE][FULL_HALVES][FULL_BATCH_MINE];
    kr_key codes[FULL_PIECE_ROWS], others[FULL_PIECE_ROWS];
    uint32_t is_searched; /* 1: `left` is filled */
} full_piece;

/* Codes of the rows from `row` on: where they are, or in `room`. Of rows past the last, 0. */
KR_BODY const kr_key *full_piece_codes(uint32_t type, const void *data, uint64_t row, uint64_t n,
                                       kr_key *room)
{
    const kr_key bias = (kr_key)kr_type_bias(type);
    if (!full_is_float(type) && !bias && kr_type_width(type) == sizeof(kr_key) &&
        row + FULL_PIECE_ROWS <= n) {
        const kr_key *codes = (const kr_key *)data + row;
        for (uint32_t i = 0; i < FULL_PIECE_ROWS; i += 64 / sizeof(kr_key))
            kr_prefetch(codes + i + FULL_AHEAD_NBYTES / sizeof(kr_key));
        return codes;
    }
    for (uint32_t k = 0; k < FULL_PIECE_ROWS; k += 32) {
        if (row + k + 32 <= n)
            full_convert(type, data, row + k, room + k);
        else
            for (uint32_t j = 0; j < 32; ++j)
                room[k + j] = row + k + j < n ? full_value(type, data, row + k + j) : 0;
    }
    if (bias)
        for (uint32_t k = 0; k < FULL_PIECE_ROWS; ++k)
            room[k] += bias;
    return room;
}

KR_BODY void full_piece_valid(const full_batch_params *p, const uint8_t *validity, uint32_t offset,
                              uint64_t row, uint32_t valid[FULL_PIECE_WORDS])
{
    for (uint32_t w = 0; validity && w < FULL_PIECE_WORDS; ++w)
        if (row + 32 * w < p->n)
            valid[w] &= full_bytes(validity, offset + row + 32 * w, offset + p->n);
}

/* ---- Compared with each edge ----------------------------------------------------------------- */

KR_BODY void full_words_fill(uint32_t to[FULL_PIECE_WORDS], uint32_t word)
{
    for (uint32_t w = 0; w < FULL_PIECE_WORDS; ++w)
        to[w] = word;
}

/* `from` is another array, so that compilers make vectors of the loop. */
KR_BODY void full_words_xor(uint32_t *kr_restrict to, const uint32_t *kr_restrict from)
{
    for (uint32_t w = 0; w < FULL_PIECE_WORDS; ++w)
        to[w] ^= from[w];
}

/* Which codes are not above the edge. */
#if defined(KR_ISA) && KR_ISA == 2 && KR_KEY_BITS == 32
KR_BODY void full_words_up_to(uint32_t to[FULL_PIECE_WORDS], const uint32_t *codes, uint32_t edge)
{
    const __m512i most = _mm512_set1_epi32((int)edge);
    for (uint32_t w = 0; w < FULL_PIECE_WORDS; w += 2) {
        const uint32_t *at = codes + 32 * w;
        const __mmask32 low = _mm512_kunpackw(_mm512_cmple_epu32_mask(_mm512_loadu_si512(at + 16), most),
                                              _mm512_cmple_epu32_mask(_mm512_loadu_si512(at), most));
        const __mmask32 high = _mm512_kunpackw(_mm512_cmple_epu32_mask(_mm512_loadu_si512(at + 48), most),
                                               _mm512_cmple_epu32_mask(_mm512_loadu_si512(at + 32), most));
        _store_mask64((__mmask64 *)(to + w), _mm512_kunpackd(high, low));
    }
}
#else
KR_BODY void full_words_up_to(uint32_t to[FULL_PIECE_WORDS], const kr_key *codes, kr_key edge)
{
    for (uint32_t w = 0; w < FULL_PIECE_WORDS; ++w)
        to[w] = full_in_interval(codes + 32 * w, 0, edge);
}
#endif

KR_BODY void full_piece_compare(const full_batch_column *column, const char *tables, const kr_key *codes,
                                uint32_t up_to[][FULL_PIECE_WORDS])
{
    const kr_key *nodes = (const kr_key *)(tables + column->tables);
    for (uint32_t s = 0; s + 2 < column->n_slots; ++s)
        full_words_up_to(up_to[s], codes, nodes[full_node_of(column->levels, s)]);
}

/* Where the masks of neighbouring slots differ in a lane, the lane has the edge between them. From the last
 * slot on, each edge that is not below a code changes what the lane says of it. */
KR_BODY void full_piece_hold(const full_batch_column *column, const char *tables, full_piece *piece)
{
    const uint32_t last = column->n_slots - 2;
    for (uint32_t h = 0; h < FULL_HALVES; ++h) {
        if (!column->uses[h])
            continue;
        const uint32_t *masks = full_masks(column, tables) + h * column->n_slots;
        for (uint32_t bits = column->uses[h]; bits; bits &= bits - 1) {
            const uint32_t lane = kr_ctz32(bits);
            full_words_fill(piece->held[32 * h + lane], masks[last] >> lane & 1 ? 0xFFFFFFFFu : 0);
        }
        for (uint32_t s = 0; s < last; ++s)
            for (uint32_t bits = masks[s] ^ masks[s + 1]; bits; bits &= bits - 1)
                full_words_xor(piece->held[32 * h + kr_ctz32(bits)], piece->up_to[s]);
    }
}

KR_BODY void full_words_and(uint32_t *kr_restrict to, const uint32_t *kr_restrict held)
{
    for (uint32_t w = 0; w < FULL_PIECE_WORDS; ++w)
        to[w] &= held[w];
}

/* Rows whose value is NULL are in a lane if `nulls` is all ones. */
KR_BODY void full_words_correct(uint32_t *kr_restrict held, const uint32_t *kr_restrict valid, uint32_t nulls)
{
    for (uint32_t w = 0; w < FULL_PIECE_WORDS; ++w)
        held[w] = (held[w] & valid[w]) | (nulls & ~valid[w]);
}

/* The lanes lose the rows for which the column's leaf does not hold. */
KR_BODY void full_piece_and(const full_batch_column *column, const char *tables, full_piece *piece)
{
    for (uint32_t h = 0; h < FULL_HALVES; ++h) {
        const uint32_t nulls =
            column->uses[h] ? full_masks(column, tables)[(h + 1) * column->n_slots - 1] : 0;
        for (uint32_t bits = column->uses[h]; bits; bits &= bits - 1) {
            const uint32_t bit = kr_ctz32(bits), lane = 32 * h + bit;
            if (column->validity)
                full_words_correct(piece->held[lane], piece->valid, 0 - (nulls >> bit & 1));
            full_words_and(piece->lanes[lane], piece->held[lane]);
        }
    }
}

/* Whether a row is left in a lane. */
KR_BODY uint32_t full_piece_any(const full_batch_params *p, const full_piece *piece)
{
    uint32_t words[FULL_PIECE_WORDS] = {0}, any = 0;
    for (uint32_t lane = 0; lane < p->n_lanes; ++lane)
        for (uint32_t w = 0; w < FULL_PIECE_WORDS; ++w)
            words[w] |= piece->lanes[lane][w];
    for (uint32_t w = 0; w < FULL_PIECE_WORDS; ++w)
        any |= words[w];
    return any;
}

/* ---- Searched -------------------------------------------------------------------------------- */

KR_BODY void full_piece_search(const full_batch_params *p, const full_batch_column *column,
                               const kr_key *codes, const kr_key *others, full_piece *piece)
{
    const uint32_t halves = p->n_lanes > 32 ? 2 : 1;
    for (uint32_t at = 0; at < FULL_PIECE_ROWS; at += FULL_SEARCHED) {
        uint32_t(*left)[FULL_BATCH_MINE] = piece->left[at / FULL_BATCH_MINE];
        const uint32_t from = at % FULL_BATCH_MINE, valid = piece->valid[at / 32] >> (at - from) % 32;
        uint32_t slots[FULL_SEARCHED];
        for (uint32_t j = from; !piece->is_searched && j < from + FULL_SEARCHED; ++j)
            left[0][j] = left[1][j] = 0xFFFFFFFFu;
        if (column->other)
            for (uint32_t j = 0; j < FULL_SEARCHED; ++j)
                slots[j] = full_order(codes[at + j], others[at + j]);
        else
            full_slots(column, p->tables, codes + at, slots);
        if (halves == 1)
            full_rule_out(1, from, column, p->tables, slots, valid, left);
        else
            full_rule_out(2, from, column, p->tables, slots, valid, left);
    }
    piece->is_searched = 1;
}

/* Turns the rows' masks into words of lanes. */
KR_BODY void full_piece_turn(const full_batch_params *p, full_piece *piece)
{
    for (uint32_t g = 0; g < FULL_PIECE_ROWS / FULL_BATCH_MINE; ++g) {
        const uint32_t w = g / 4, shift = 8 * (g % 4);
        for (uint32_t h = 0; 32 * h < p->n_lanes; ++h) {
            full_turn_rows(piece->left[g][h]);
            for (uint32_t lane = 0; lane < 32; ++lane)
                piece->lanes[32 * h + lane][w] &=
                    (piece->left[g][h][lane % 8] >> 8 * (lane / 8) & 0xFF) << shift | ~(0xFFu << shift);
        }
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

KR_BODY void full_piece_column(const full_batch_params *p, const full_batch_column *column, uint64_t row,
                               full_piece *piece)
{
    const kr_group alone = {0, 1};
    const uint32_t slot = full_zone_slot(column, p->tables, row / FULL_TILE);
    full_batch_count(alone, p, slot < column->n_slots ? p->spared : p->compared, FULL_PIECE_ROWS);
    for (uint32_t w = 0; w < FULL_PIECE_WORDS; ++w)
        piece->valid[w] = 0xFFFFFFFFu;
    full_piece_valid(p, column->validity, column->validity_offset, row, piece->valid);
    full_piece_valid(p, column->other_validity, column->other_offset, row, piece->valid);
    if (slot < column->n_slots) {
        for (uint32_t lane = 0; lane < p->n_lanes; ++lane) {
            const uint32_t mask = full_masks(column, p->tables)[lane / 32 * column->n_slots + slot];
            full_words_fill(piece->held[lane], 0 - (mask >> lane % 32 & 1));
        }
        full_piece_and(column, p->tables, piece);
        return;
    }
    const kr_key *codes = full_piece_codes(column->type, column->data, row, p->n, piece->codes);
    if (column->other || column->n_slots - 2 > FULL_EDGES_COMPARED) {
        const kr_key *others = codes;
        if (column->other)
            others = full_piece_codes(column->type, column->other, row, p->n, piece->others);
        full_piece_search(p, column, codes, others, piece);
        return;
    }
    full_piece_compare(column, p->tables, codes, piece->up_to);
    full_piece_hold(column, p->tables, piece);
    full_piece_and(column, p->tables, piece);
}

KR_BODY void full_piece_store(const full_batch_params *p, uint64_t first_word, full_piece *piece)
{
    const uint32_t *folds = (const uint32_t *)(p->tables + FULL_LANES * sizeof(uint32_t *));
    const uint64_t left = (p->n + 31) / 32 - first_word;
    const uint32_t n = left < FULL_PIECE_WORDS ? (uint32_t)left : FULL_PIECE_WORDS;
    for (uint32_t h = 0; h < FULL_HALVES; ++h)
        for (uint32_t bits = p->inverts[h]; bits; bits &= bits - 1) {
            uint32_t *lane = piece->lanes[32 * h + kr_ctz32(bits)];
            for (uint32_t w = 0; w < FULL_PIECE_WORDS; ++w)
                lane[w] = ~lane[w];
        }
    for (uint32_t i = 0; i < p->folds[FULL_BATCH_TEAMS]; ++i) {
        uint32_t *to = piece->lanes[folds[i] >> 8 & 0xFF];
        const uint32_t *from = piece->lanes[folds[i] & 0xFF];
        for (uint32_t w = 0; w < FULL_PIECE_WORDS; ++w)
            to[w] = full_folded(folds[i], to[w], from[w]);
    }
    for (uint32_t lane = 0; lane < p->n_lanes; ++lane) {
        uint32_t *to = full_batch_result(p->tables, lane);
        const uint32_t *from = piece->lanes[lane];
        if (to && n == FULL_PIECE_WORDS)
            for (uint32_t w = 0; w < FULL_PIECE_WORDS; ++w)
                to[first_word + w] = from[w] & piece->rows[w];
        else if (to)
            for (uint32_t w = 0; w < n; ++w)
                to[first_word + w] = from[w] & piece->rows[w];
    }
}

KR_BODY void full_piece_answer(const full_batch_params *p, uint64_t row, full_piece *piece)
{
    const kr_group alone = {0, 1};
    uint32_t any = 0;
    piece->is_searched = 0;
    for (uint32_t w = 0; w < FULL_PIECE_WORDS; ++w) {
        piece->rows[w] = full_batch_alive(p, row / 32 + w);
        any |= piece->rows[w];
    }
    for (uint32_t lane = 0; lane < p->n_lanes; ++lane)
        full_words_fill(piece->lanes[lane], 0xFFFFFFFFu);
    for (uint32_t c = 0; c < p->n_columns; ++c) {
        if (any) {
            full_piece_column(p, p->columns + c, row, piece);
            any = !p->skips || full_piece_any(p, piece);
        } else {
            full_batch_count(alone, p, p->spared, FULL_PIECE_ROWS);
        }
    }
    if (piece->is_searched)
        full_piece_turn(p, piece);
    full_piece_store(p, row / 32, piece);
}

/* One thread's work. Others are there where a check gives blocks of a CPU several. */
KR_BODY void full_batch_elements(kr_block block, char *shared, const full_batch_params *p, uint64_t end)
{
    full_piece *piece = (full_piece *)shared;
    for (uint64_t e = block.index; block.rank == 0 && e < end; e += block.count)
        for (uint64_t row = e * FULL_BATCH_ROWS; row < (e + 1) * FULL_BATCH_ROWS && row < p->n;
             row += FULL_PIECE_ROWS)
            full_piece_answer(p, row, piece);
}
kr_assert_fits(full_piece, KR_BLOCK_NBYTES_CPU);

#endif
