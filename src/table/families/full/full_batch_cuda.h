/* The executor of full_batch_simd_width_body.h on GPUs; included by it only. A warp has 256 rows: eight words
 * of every result, a sector of memory each. Thread r has rows 8 r .. 8 r + 7. */
#ifndef KEYRAY_TABLE_FAMILIES_FULL_FULL_BATCH_CUDA_H
#define KEYRAY_TABLE_FAMILIES_FULL_FULL_BATCH_CUDA_H

enum { FULL_WARP_ROWS = 32 * FULL_BATCH_MINE, FULL_WARP_WORDS = FULL_WARP_ROWS / 32 };

/* The codes of four rows, from `row` on. Of rows past the last, any. */
KR_BODY void full_load_four(uint32_t type, uint32_t load, const void *data, uint64_t row, uint64_t n,
                            kr_key codes[4])
{
    const kr_key bias = (kr_key)kr_type_bias(type);
    if (row + 4 > n || load == FULL_LOAD_ONE_BY_ONE) {
        KR_UNROLL
        for (uint32_t k = 0; k < 4; ++k)
            codes[k] = row + k < n ? (kr_key)full_bits_at(type, data, row + k) : 0;
    } else if (load == FULL_LOAD_4) {
        full_load(FULL_LOAD_4, type, data, row, codes);
    } else if (load == FULL_LOAD_2) {
        full_load(FULL_LOAD_2, type, data, row, codes);
    } else if (load == FULL_LOAD_1) {
        full_load(FULL_LOAD_1, type, data, row, codes);
    } else {
        full_load(FULL_LOAD_8, type, data, row, codes);
    }
    if (full_is_float(type)) {
        KR_UNROLL
        for (uint32_t k = 0; k < 4; ++k)
            codes[k] = full_value_of(type, codes[k]);
    }
    KR_UNROLL
    for (uint32_t k = 0; k < 4; ++k)
        codes[k] ^= bias;
}

/* Of eight rows; most columns are 32 bits wide and in place, which is one branch. */
KR_BODY void full_load_codes(uint32_t type, uint32_t load, const void *data, uint64_t row, uint64_t n,
                             kr_key codes[FULL_BATCH_MINE])
{
    if (load == FULL_LOAD_4 && row + FULL_BATCH_MINE <= n && type == KR_U32) {
        full_load(FULL_LOAD_4, type, data, row, codes);
        full_load(FULL_LOAD_4, type, data, row + 4, codes + 4);
        return;
    }
    full_load_four(type, load, data, row, n, codes);
    full_load_four(type, load, data, row + 4, n, codes + 4);
}

/* Bit j: row `row` + j is not NULL. */
KR_BODY uint32_t full_valid_mine(const uint8_t *validity, uint32_t offset, uint64_t row, uint64_t n)
{
    const uint64_t first = offset + row, end = offset + n;
    if (!validity || row >= n)
        return 0xFF;
    uint32_t bits = kr_load(validity + first / 8);
    if (first % 8 && first / 8 * 8 + 8 < end)
        bits |= (uint32_t)kr_load(validity + first / 8 + 1) << 8;
    return bits >> first % 8;
}

/* A column whose tables are at `tables`, which the compiler knows to be shared memory or not. */
KR_BODY void full_warp_column(kr_group group, uint32_t halves, const full_batch_params *p,
                              const full_batch_column *column, const char *tables, uint64_t first,
                              uint32_t left[FULL_HALVES][FULL_BATCH_MINE])
{
    const uint64_t row = first + FULL_BATCH_MINE * group.rank;
    const uint32_t valid =
        full_valid_mine(column->validity, column->validity_offset, row, p->n) &
        (column->other ? full_valid_mine(column->other_validity, column->other_offset, row, p->n) : 0xFFu);
    const uint32_t slot = full_zone_slot(column, tables, first / FULL_TILE);
    kr_key codes[FULL_BATCH_MINE];
    uint32_t slots[FULL_SEARCHED];
    full_batch_count(group, p, slot < column->n_slots ? p->spared : p->compared, FULL_WARP_ROWS);
    if (slot == column->n_slots)
        full_load_codes(column->type, column->load, column->data, row, p->n, codes);
    KR_UNROLL
    for (uint32_t from = 0; from < FULL_BATCH_MINE; from += FULL_SEARCHED) {
        kr_key others[FULL_SEARCHED];
        if (column->other)
            full_load_four(column->type, column->load, column->other, row + from, p->n, others);
        else if (slot == column->n_slots)
            full_slots(column, tables, codes + from, slots);
        KR_UNROLL
        for (uint32_t j = 0; j < FULL_SEARCHED; ++j)
            slots[j] = column->other            ? full_order(codes[from + j], others[j])
                       : slot < column->n_slots ? slot
                                                : slots[j];
        full_rule_out(halves, from, column, tables, slots, valid, left);
    }
}

/* A thread has eight rows of 32 lanes, each word with bytes of four lanes; then thread r has word r / 4 of
 * lanes 8 (r % 4) .. 8 (r % 4) + 7: four threads exchange bytes. */
KR_BODY void full_turn_warp(kr_group group, uint32_t x[8])
{
    const uint32_t near = group.rank & 1 ? 0x3715u : 0x6240u, far = group.rank & 2 ? 0x3276u : 0x5410u;
    full_turn_rows(x);
    KR_UNROLL
    for (uint32_t i = 0; i < 8; ++i) {
        x[i] = __byte_perm(x[i], __shfl_xor_sync(KR_WARP, x[i], 1), near);
        x[i] = __byte_perm(x[i], __shfl_xor_sync(KR_WARP, x[i], 2), far);
    }
}

KR_BODY void full_warp_store(kr_group group, const full_batch_params *p, const char *shared, uint64_t word,
                             uint32_t rows, uint32_t h, const uint32_t x[8])
{
    KR_UNROLL
    for (uint32_t i = 0; i < 8; ++i) {
        const uint32_t lane = 32 * h + 8 * (group.rank % 4) + i;
        uint32_t *to = lane < p->n_lanes ? full_batch_result(shared, lane) : NULL;
        if (to && word * 32 < p->n)
            kr_store_once(to + word, x[i] & rows);
    }
}

/* Lanes folded in the warp's part of shared memory: eight words each, one for each thread of a team. */
KR_BODY void full_warp_fold(kr_group group, const full_batch_params *p, const char *shared, uint32_t *lanes)
{
    const uint32_t *folds = (const uint32_t *)(shared + FULL_LANES * sizeof(uint32_t *));
    const uint32_t team = group.rank / FULL_WARP_WORDS, w = group.rank % FULL_WARP_WORDS;
    for (uint32_t i = p->folds[team]; i < p->folds[team + 1]; ++i) {
        uint32_t *to = lanes + (folds[i] >> 8 & 0xFF) * FULL_WARP_WORDS + w;
        *to = full_folded(folds[i], *to, lanes[(folds[i] & 0xFF) * FULL_WARP_WORDS + w]);
    }
}

KR_BODY void full_warp_finish(kr_group group, uint32_t halves, const full_batch_params *p, char *shared,
                              uint32_t *lanes, uint64_t first, uint32_t rows,
                              uint32_t left[FULL_HALVES][FULL_BATCH_MINE])
{
    const uint32_t w = group.rank / 4, quarter = 8 * (group.rank % 4), folds = p->folds[FULL_BATCH_TEAMS];
    KR_UNROLL
    for (uint32_t h = 0; h < halves; ++h) {
        KR_UNROLL
        for (uint32_t j = 0; j < FULL_BATCH_MINE; ++j)
            left[h][j] ^= p->inverts[h];
        full_turn_warp(group, left[h]);
        if (!folds) {
            full_warp_store(group, p, shared, first / 32 + w, rows, h, left[h]);
            continue;
        }
        KR_UNROLL
        for (uint32_t i = 0; i < 8; ++i)
            lanes[(32 * h + quarter + i) * FULL_WARP_WORDS + w] = left[h][i];
    }
    if (!folds)
        return;
    kr_group_sync(group);
    full_warp_fold(group, p, shared, lanes);
    kr_group_sync(group);
    KR_UNROLL
    for (uint32_t h = 0; h < halves; ++h) {
        KR_UNROLL
        for (uint32_t i = 0; i < 8; ++i)
            left[h][i] = lanes[(32 * h + quarter + i) * FULL_WARP_WORDS + w];
        full_warp_store(group, p, shared, first / 32 + w, rows, h, left[h]);
    }
    kr_group_sync(group);
}

KR_BODY int full_warp_any(kr_group group, uint32_t halves, uint32_t left[FULL_HALVES][FULL_BATCH_MINE])
{
    uint32_t mine = 0;
    KR_UNROLL
    for (uint32_t j = 0; j < FULL_BATCH_MINE; ++j)
        mine |= halves > 1 ? left[0][j] | left[1][j] : left[0][j];
    return kr_group_ballot(group, mine != 0) != 0;
}

/* 256 rows; `halves` is a constant. */
KR_BODY void full_warp_rows(kr_group group, uint32_t halves, const full_batch_params *p, char *shared,
                            uint32_t *lanes, uint64_t first)
{
    const uint32_t rows = full_batch_alive(p, first / 32 + group.rank / 4);
    uint32_t left[FULL_HALVES][FULL_BATCH_MINE];
    int any = kr_group_ballot(group, rows != 0) != 0;
    KR_UNROLL
    for (uint32_t h = 0; h < halves; ++h) {
        KR_UNROLL
        for (uint32_t j = 0; j < FULL_BATCH_MINE; ++j)
            left[h][j] = 0xFFFFFFFFu;
    }
    for (uint32_t c = 0; c < p->n_columns; ++c) {
        const full_batch_column *column = p->columns + c;
        if (!any) {
            full_batch_count(group, p, p->spared, FULL_WARP_ROWS);
            continue;
        }
        if (column->end <= p->shared_nbytes)
            full_warp_column(group, halves, p, column, shared, first, left);
        else
            full_warp_column(group, halves, p, column, p->tables, first, left);
        if (p->skips)
            any = full_warp_any(group, halves, left);
    }
    full_warp_finish(group, halves, p, shared, lanes, first, rows, left);
}

/* Each warp has the same rows of an element. */
KR_BODY void full_batch_elements(kr_block block, char *shared, const full_batch_params *p, uint64_t end)
{
    const kr_group group = kr_block_group(block);
    const uint32_t warp = block.rank / 32;
    uint32_t *lanes = (uint32_t *)(shared + p->shared_nbytes) + warp * FULL_LANES * FULL_WARP_WORDS;
    for (uint32_t i = block.rank; i < p->shared_nbytes / sizeof(uint64_t); i += block.size)
        ((uint64_t *)shared)[i] = kr_load((const uint64_t *)p->tables + i);
    kr_block_sync(block);
    for (uint64_t e = block.index; e < end; e += block.count) {
        const uint64_t first = e * FULL_BATCH_ROWS + warp * FULL_WARP_ROWS;
        if (first >= p->n)
            continue;
        if (p->n_lanes > 32)
            full_warp_rows(group, 2, p, shared, lanes, first);
        else
            full_warp_rows(group, 1, p, shared, lanes, first);
    }
}

#endif
