/* Kind `dense`: its options, its description and the sizes of its bits. direct_width.c has its operations. */
#include "index/families/direct/direct.h"

#include "base/key/divide.h"

#include <stdio.h>

/* 28 values for each key are 4 bytes for each key: as much as a sorted array keeps of 32-bit keys. Values
 * that are free keep small columns from being refused. */
enum { STANDARD_SPREAD = 28, SPREAD_MOST = 4096, FREE_VALUES = 65536 };

static const kr_option options[DIRECT_OPTIONS] = {
    [DIRECT_OPTION_SPREAD] =
        {"spread", KR_OPTION_INTEGER, NULL, 1, SPREAD_MOST, STANDARD_SPREAD,
         "the most values, of steps from the lowest key to the highest, for each row, beside "
         "65536 that are free; 7 of them take a byte; keys that lie farther apart are refused"},
    [DIRECT_OPTION_STEP] = {"step", KR_OPTION_CHOICE, "auto|1", 0, 1, DIRECT_STEP_AUTO,
                            "from a value to the next: the largest number that all differences of keys are a "
                            "multiple of (a day, of days in microseconds), or 1"},
    [DIRECT_OPTION_BUILD] =
        {"build", KR_OPTION_CHOICE, "auto|sort|scatter|parts", 0, 3, DIRECT_BUILD_AUTO,
         "how keys in any order get their bits: their rows are sorted first, or, as long as no key is found "
         "twice, each sets its bit, or they are grouped by bits; auto: parts on a GPU from 65536 rows on, "
         "else scatter"},
    [DIRECT_OPTION_KEEP] = KR_KEEP_OPTION,
};

static int keeps_on_host(const kr_spec *spec)
{
    return spec->options[DIRECT_OPTION_KEEP] == KR_KEEP_HOST;
}

static kr_status takes(uint32_t type, kr_error *err)
{
    if (type != KR_F32 && type != KR_F64)
        return KR_OK;
    return kr_fail(
        err, KR_ERR_UNSUPPORTED,
        "kind 'dense' numbers the values between two keys, so it holds integers, dates and times and "
        "no floats; use kind pivot");
}

/* How many parts suit direct_points_width.c: as few as fit shared memory with their row ids, of which a GPU
 * has about PIECE_NBYTES for each of two blocks; else MOST_BITS, if their bits alone fit; else FEW_BITS. Each
 * bit more makes runs of a partition shorter. H200, 2^27 lookups, one key in four values, G/s with 7, 8, 9,
 * 10, 11 bits: 2^24 keys 49.7, 58.8, 62.8, 69.2, 43.2; 2^26 keys 44.9, 44.6, 53.5, 55.3, 51.6; 2^28
 * keys 41.8, 41.5, 42.2, 41.5, 38.8. */
enum { PIECE_NBYTES = 100 * 1024, MOST_BITS = 10, FEW_BITS = 8 };

static uint32_t even_bits(uint64_t rows, uint64_t footprint_nbytes)
{
    const uint64_t ids = footprint_nbytes / sizeof(uint32_t) >= rows ? rows * sizeof(uint32_t) : 0;
    const uint64_t words = direct_piece_words_nbytes((footprint_nbytes - ids) / DIRECT_BLOCK_NBYTES);
    for (uint32_t bits = 1; bits <= MOST_BITS; ++bits)
        if ((words + ids) >> bits <= PIECE_NBYTES)
            return bits;
    return words >> MOST_BITS <= PIECE_NBYTES ? MOST_BITS : FEW_BITS;
}

static const kr_family family = {
    /* H200, 2^27 lookups as they are and partitioned, G/s: 18 MiB 75 and 74, 37 MiB (2^26 keys whose row ids
     * are not kept) 97.9 and 67, 293 MiB 22.7 and 55.3. */
    .probes = {.parts_from = {{{22, 22}}, {{22, 22}}},
               .parts_from_mib = 48,
               .even_bits = even_bits,
               .as_is_on_cpu = 1},
    .u32 = &direct_ops_u32,
    .u64 = &direct_ops_u64,
    .keeps_on_host = keeps_on_host,
    .takes = takes,
};

extern const kr_kind kr_kind_dense;
const kr_kind kr_kind_dense = {
    .name = "dense",
    .summary =
        "a bit for each value that a key can have and how many keys come before: keys are addressed, not "
        "searched",
    .source = "Jacobson, \"Space-efficient Static Trees and Graphs\", 2 (ranks of a bit vector)",
    .capabilities = KR_CAN_POINT | KR_CAN_RANGE | KR_CAN_UPDATE | KR_CAN_SET_KEYS | KR_CAN_NEAREST,
    .n_options = DIRECT_OPTIONS,
    .options = options,
    .family = &family,
};

uint64_t direct_blocks_of(uint64_t last)
{
    return last / DIRECT_VALUES + 1;
}

/* Values that an index of n rows may have, at most. */
static uint64_t values_most(const kr_spec *spec, uint64_t n)
{
    const uint64_t most = (uint64_t)spec->options[DIRECT_OPTION_SPREAD] * n + FREE_VALUES;
    return most < (uint64_t)1 << DIRECT_VALUE_BITS ? most : (uint64_t)1 << DIRECT_VALUE_BITS;
}

uint64_t direct_blocks_most(const kr_spec *spec, uint32_t type, uint64_t n)
{
    const uint32_t bits = kr_type_significant_bits(type);
    const uint64_t allowed = values_most(spec, n), all = bits < 64 ? (uint64_t)1 << bits : UINT64_MAX;
    return n ? direct_blocks_of((allowed < all ? allowed : all) - 1) : 0;
}

kr_status direct_check_spread(const kr_spec *spec, uint64_t n, uint64_t span, uint64_t step, kr_error *err)
{
    const uint64_t last = span / step, most = values_most(spec, n);
    const uint64_t enough = last < FREE_VALUES ? 1 : (last - FREE_VALUES) / n + 1;
    char help[64] = "";
    if (last < most)
        return KR_OK;
    if (enough <= SPREAD_MOST && last >> DIRECT_VALUE_BITS == 0)
        snprintf(help, sizeof help, "give spread=%llu, or ", (unsigned long long)enough);
    return kr_fail(
        err, KR_ERR_LIMIT,
        "kind 'dense': of %llu rows, the highest key is %llu steps of %llu above the lowest, whose bits "
        "would take %llu bytes; spread=%lld allows %llu steps; %suse kind pivot",
        (unsigned long long)n, (unsigned long long)last, (unsigned long long)step,
        (unsigned long long)direct_blocks_of(last) * DIRECT_BLOCK_NBYTES,
        (long long)spec->options[DIRECT_OPTION_SPREAD], (unsigned long long)most - 1, help);
}

void direct_set_step(direct_view *view, uint64_t step, uint32_t key_bits)
{
    view->step = step;
    kr_code_divisor(step, key_bits, &view->magic, &view->shift);
}
