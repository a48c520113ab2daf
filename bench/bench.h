/**
 * Workload generators: the key sets, probes and ranges of the papers, shared by `keyray gen`,
 * `keyray bench` and the tests.
 *
 * Integers only (no libm), so the same seed gives the same bytes on every machine; tests pin hashes.
 */
#ifndef KEYRAY_BENCH_H
#define KEYRAY_BENCH_H

#include <keyray/keyray.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A key set. Zeroed fields mean the default in brackets. Row id = position after the shuffle. */
typedef struct kr_keys_spec {
    uint64_t count;        /**< keys in all, at most 2^32 - 1 */
    uint32_t bits;         /**< 32 or 64: u32 or u64 keys [32] */
    uint32_t uniformity;   /**< percent of the distinct keys, rounded down, that are drawn uniformly from
                                the values outside of the dense part [0: all dense] */
    uint32_t dense_centre; /**< 1: the dense part lies in the middle of the value range, the skewed key
                                set of RTIndeX (Henneberg and
                                Schuhknecht), section 4.8, not at 0 */
    uint32_t multiplicity; /**< how often every distinct key appears; divides count [1] */
    uint64_t stride;       /**< distance of neighbours in the dense part [1] */
    uint32_t sorted;       /**< 1: ascending, not shuffled */
    uint32_t reserved;
    uint64_t seed;   /**< [42] */
    uint64_t spread; /**< keys come from the lowest `spread` values for each distinct one [0: from all] */
} kr_keys_spec;

typedef enum kr_probe_order {
    KR_PROBES_RANDOM = 0,
    KR_PROBES_ASCENDING,
    KR_PROBES_DESCENDING,
    KR_PROBES_HALF /**< those at even positions ascend, those at odd ones stay as they were drawn */
} kr_probe_order;

/** Probes into a given key set. */
typedef struct kr_probes_spec {
    uint64_t count;
    uint32_t miss_percent;    /**< percent of probes, rounded down, that match nothing [0] */
    uint32_t outlier_percent; /**< percent of misses, rounded down, that lie outside the keys' value range,
                                 the others inside its gaps [0] */
    uint32_t zipf_hundredths; /**< Zipf coefficient times 100, at most 500 [0: uniform]; ranks 1 .. n_keys
                                   are dealt to the positions of the keys at random */
    uint32_t order;           /**< kr_probe_order */
    uint64_t seed;            /**< [42] */
} kr_probes_spec;

/** Inclusive ranges into a given key set. */
typedef struct kr_ranges_spec {
    uint64_t count;
    uint64_t hits;       /**< expected hits of one range on a dense key set: upper = lower + hits - 1 [1] */
    uint64_t multiplier; /**< key range multiplier: upper = lower + hits * multiplier - 1 [1] */
    uint32_t order;      /**< kr_probe_order, by lower bound */
    uint32_t reserved;
    uint64_t seed; /**< [42] */
} kr_ranges_spec;

/** Bytes of one key: 4 or 8. */
uint32_t kr_keys_nbytes(const kr_keys_spec *spec);

/**
 * Writes spec->count keys to `keys` (u32 or u64, host).
 *
 * Uses `threads` threads (0: all cores); the bytes do not depend on it. `sorted` takes as much memory
 * again while it runs.
 * Errors: KR_ERR_ARGUMENT for a set that cannot exist, e.g. more distinct keys than values, naming the
 * field; KR_ERR_LIMIT; KR_ERR_HOST_MEMORY.
 */
kr_status kr_generate_keys(const kr_keys_spec *spec, uint32_t threads, void *keys, kr_error *err);

/**
 * Writes spec->count probes of the keys' type to `probes`.
 *
 * `rows`, when not NULL, receives per probe the position in `keys` of the key that was drawn, or
 * KR_NO_ROW for a miss: with multiplicity 1 that is the right answer of a ROW lookup, known without any
 * index. Keys may have any integer or date type. Misses inside take two copies of the keys while it runs,
 * an order other than random a copy of the probes and rows.
 * Errors: KR_ERR_ARGUMENT when no miss of the wanted sort exists (say, inside misses of a dense set) or
 * there are no keys; KR_ERR_UNSUPPORTED for float keys; KR_ERR_LIMIT; KR_ERR_HOST_MEMORY.
 */
kr_status kr_generate_probes(const kr_probes_spec *spec, kr_type type, uint64_t n_keys, const void *keys,
                             uint32_t threads, void *probes, uint32_t *rows, kr_error *err);

/** Writes lower and upper bounds of the keys' type: lower is the key of a random row, upper saturates at
 *  the type's maximum. Types and errors as kr_generate_probes. */
kr_status kr_generate_ranges(const kr_ranges_spec *spec, kr_type type, uint64_t n_keys, const void *keys,
                             uint32_t threads, void *lower, void *upper, kr_error *err);

/** Sorts n keys of an integer or date type ascending, in place, and moves their rows with them; stable. Takes
 *  as much memory again while it runs. Threads, types and errors as kr_generate_probes. */
kr_status kr_sort_keys(kr_type type, uint64_t n, void *keys, uint32_t *rows, uint32_t threads, kr_error *err);

/** Pairs of rows that exchange their keys: the updates of RTIndeX (Henneberg and Schuhknecht), 3.6. */
typedef struct kr_swaps_spec {
    uint64_t pairs;   /**< at most half of the keys */
    uint32_t by_rank; /**< 1: neighbours in the order of the keys, else neighbours in the column */
    uint32_t reserved;
    uint64_t seed; /**< [42] */
} kr_swaps_spec;

/**
 * Writes 2 * spec->pairs distinct rows and the keys they get; rows 2 j and 2 j + 1 exchange theirs.
 *
 * Types as kr_generate_probes. Neighbours by rank take two copies of the keys and of their rows while it
 * runs. Errors: KR_ERR_ARGUMENT for more pairs than there are; as kr_generate_probes otherwise.
 */
kr_status kr_generate_swaps(const kr_swaps_spec *spec, kr_type type, uint64_t n_keys, const void *keys,
                            uint32_t threads, uint32_t *rows, void *new_keys, kr_error *err);

/** How a number is written: 16 hexadecimal digits, "Customer#" and a number, URLs of 48 shops. Texts of one
 * form and type have one length and the order of the numbers. */
typedef enum kr_text_form { KR_TEXTS_HEX = 1, KR_TEXTS_CUSTOMER, KR_TEXTS_URL } kr_text_form;

/** Bytes of each text. */
uint32_t kr_text_nbytes(kr_text_form form, kr_type type);

/**
 * The texts of `count` u32 or u64 numbers, one behind the other: count + 1 offsets, and count *
 * kr_text_nbytes bytes.
 */
void kr_generate_texts(kr_text_form form, kr_type type, uint64_t count, const void *numbers, uint32_t threads,
                       int64_t *offsets, char *bytes);

/** How the values of a column are distributed. */
typedef enum kr_distribution {
    KR_VALUES_UNIFORM = 0, /**< over all values of the type */
    KR_VALUES_DISTINCT,    /**< 0 .. count - 1, each once, shuffled */
    KR_VALUES_ZIPF,        /**< ranks 1 .. 2^32 - 2 of Zipf's law: what would lie above is drawn among them */
    KR_VALUES_NORMAL,      /**< around the middle of the type, as sums of twelve uniform numbers */
    KR_VALUES_SMALL        /**< 0 .. 63, uniform */
} kr_distribution;

/** A column of a table to scan. */
typedef struct kr_values_spec {
    uint64_t count;
    uint32_t bits; /**< 32 or 64: u32 or u64 */
    uint32_t distribution;
    uint32_t zipf_hundredths; /**< Zipf's exponent times 100 */
    uint32_t column;          /**< columns of one seed are independent */
    uint64_t sigma;           /**< of NORMAL: the standard deviation, at most 2^31 */
    uint64_t seed;            /**< [42] */
    uint32_t sorted;          /**< 1: ascending */
    uint32_t reserved;
} kr_values_spec;

/** Writes spec->count values; the bytes do not depend on `threads` (0: all cores).
 *  Errors: KR_ERR_ARGUMENT, KR_ERR_LIMIT, KR_ERR_HOST_MEMORY. */
kr_status kr_generate_values(const kr_values_spec *spec, uint32_t threads, void *values, kr_error *err);
/** The i-th random number for constants that such a column is compared with. */
uint64_t kr_values_random(uint64_t seed, uint64_t i);

/** Columns of TPC-H, clause 4.2.3, that a denormalised table has: a row for each line item. */
typedef enum kr_tpch_column {
    KR_TPCH_ORDERDATE = 0, /**< days since 1970, as KR_DATE32 */
    KR_TPCH_SHIPDATE,
    KR_TPCH_DISCOUNT, /**< 0 to 10, hundredths */
    KR_TPCH_QUANTITY, /**< 1 to 50 */
    KR_TPCH_SEGMENT,  /**< numbers of words, as kr_tpch_words has them */
    KR_TPCH_BRAND,
    KR_TPCH_CONTAINER
} kr_tpch_column;

/** TPC-H's scale factor times 100, at least 1; seed [42]. */
typedef struct kr_tpch_spec {
    uint64_t scale_hundredths, seed;
} kr_tpch_spec;

/** Line items: 1 to 7 for each of 1,500,000 orders at scale factor 1, so about 6,000,000. */
uint64_t kr_tpch_rows(const kr_tpch_spec *spec);
/** Writes a column, kr_tpch_rows long: the line items of an order are neighbours. The bytes do not depend on
 *  `threads` (0: all cores). */
void kr_generate_tpch(const kr_tpch_spec *spec, kr_tpch_column column, uint32_t threads, uint32_t *values);
/** The number of words of a column of texts, and word `i` of them, ascending; 0 for other columns. */
uint32_t kr_tpch_words(kr_tpch_column column);
void kr_tpch_word(kr_tpch_column column, uint32_t i, char text[16]);
/** The i-th random number for constants of TPC-H's queries, below n. */
uint64_t kr_tpch_random(uint64_t seed, uint64_t i, uint64_t n);

/* ---- Threads: for loops over workloads and over answers to them ------------------------------ */

#define KR_WORKLOAD_PARTS_MAX 256

/** Into how many parts, one per thread, `count` elements are cut; threads 0 means all cores. */
uint32_t kr_workload_parts(uint32_t threads, uint64_t count);

typedef void (*kr_part_work)(void *ctx, uint32_t part, uint64_t first, uint64_t end);

/**
 * Calls work(ctx, part, first, end) for every part of [0, count), each in a thread of its own; `parts` is at
 * most KR_WORKLOAD_PARTS_MAX.
 */
void kr_workload_run(uint32_t parts, uint64_t count, kr_part_work work, void *ctx);

/* ---- Baselines: what keyray is compared with, each one file in bench/baselines -------------- */

/** The standard library that the baselines of C++ use, as "libstdc++ 12". */
const char *kr_baseline_std_version(void);

/** Writes std::lower_bound of every probe to `positions`, on one thread of the CPU; returns the seconds.
 * `bits` is the width of keys and probes, 32 or 64. */
double kr_baseline_lower_bound(uint32_t bits, const void *sorted_keys, uint64_t n, const void *probes,
                               uint64_t n_probes, uint32_t *positions);

/** A map from key to row, on one thread of the CPU; of equal keys it keeps the first row. */
typedef struct kr_baseline_map {
    const void *keys;          /**< n of them, in row order */
    const void *probes;        /**< n_probes of them */
    uint64_t n, n_probes;      /**< n at most 2^32 - 2 */
    uint32_t bits;             /**< of keys and probes, 32 or 64 */
    uint32_t builds, runs;     /**< timed, in build_seconds and seconds; at least one build */
    double *build_seconds;     /**< of reserving memory, where the map can, and of all inserts */
    double *seconds;           /**< of looking up all probes */
    uint32_t *answers;         /**< a row for each probe, or KR_NO_ROW */
    uint64_t footprint_nbytes; /**< output: what the map took from its allocator */
} kr_baseline_map;

/** std::unordered_map, absl::flat_hash_map and absl::btree_map. Nonzero on failure, with one line in `text`.
 * Those of Abseil only in builds that found it. */
int kr_baseline_unordered_map(kr_baseline_map *job, char *text, size_t text_nbytes);
int kr_baseline_flat_hash_map(kr_baseline_map *job, char *text, size_t text_nbytes);
int kr_baseline_btree_map(kr_baseline_map *job, char *text, size_t text_nbytes);

/** A table with a row for each value from the lowest key to the highest: a plain gather. Nonzero on failure,
 * with one line in `text`. */
int kr_baseline_gather(kr_baseline_map *job, char *text, size_t text_nbytes);

/**
 * Runs CUB's radix sort of (key, u32 row) pairs `runs` times, with all memory allocated beforehand; the
 * seconds by the GPU's own clock go to `seconds`. `device_keys` is CUDA memory and stays as it is; at most
 * 2^32 - 1 keys. Nonzero on failure, with one line in `text`. Only in builds with CUDA.
 */
int kr_baseline_cub_sort(uint32_t bits, const void *device_keys, uint64_t n, uint32_t runs, double *seconds,
                         char *text, size_t text_nbytes);

/** A batch of point lookups for a rival on a GPU. */
typedef struct kr_baseline_batch {
    const void *keys;        /**< CUDA memory: n of them, in row order */
    const void *sorted_keys; /**< host: the same, ascending */
    const void *probes;      /**< CUDA memory: n_probes of them */
    uint64_t n, n_probes;    /**< n at most 2^32 - 2 */
    uint64_t first, count;   /**< the probes whose answers are wanted back */
    uint32_t bits;           /**< of keys and probes, 32 or 64 */
    uint32_t runs;           /**< timed, in seconds[0 ... runs - 1], by the GPU's own clock */
    uint32_t calls;          /**< back to back in a run; the seconds are those of one */
    uint32_t reserved;
    double *seconds;           /**< host */
    uint32_t *answers;         /**< host: `count` of them */
    uint64_t footprint_nbytes; /**< output: device memory that the lookups read */
    char setting[48];          /**< output: what was chosen for this batch, or "" */
} kr_baseline_batch;

/** A table with a row for each value, of distinct keys; an answer is the key's row or KR_NO_ROW. Nonzero on
 * failure, with one line in `text`. Only in builds with CUDA. */
int kr_baseline_gather_cuda(kr_baseline_batch *batch, char *text, size_t text_nbytes);

/** thrust::lower_bound over the sorted keys; an answer is a position. Nonzero on failure, with one line in
 * `text`. Only in builds with KEYRAY_PEERS, as it takes long to compile. */
int kr_baseline_thrust(kr_baseline_batch *batch, char *text, size_t text_nbytes);

/** cuCollections' static_map from key to row; an answer is the key's row or KR_NO_ROW. Keys must be distinct.
 * _default: its authors' setting, four threads per probe, at their examples' load of 0.5. _best: one, two or
 * four threads, at load 0.5 or 0.75, whichever is fastest. Nonzero on failure. Only in builds with
 * KEYRAY_PEERS. */
int kr_baseline_static_map_default(kr_baseline_batch *batch, char *text, size_t text_nbytes);
int kr_baseline_static_map_best(kr_baseline_batch *batch, char *text, size_t text_nbytes);

/**
 * Random loads of u32 entries by groups of lanes, "Is Binary Search Really All You Need?" (Henneberg and
 * Schuhknecht), section 3.4: in every step a group draws a position, and lane i of it loads the i-th entry
 * from there on.
 */
typedef struct kr_loads_spec {
    uint64_t entries; /**< at least `group`, at most 2^32 */
    uint64_t seed;
    uint32_t lanes;   /**< a multiple of `group`; threads of a GPU */
    uint32_t steps;   /**< loads of each lane; they do not wait for one another */
    uint32_t group;   /**< a power of two */
    uint32_t aligned; /**< 1: positions are multiples of `group` */
} kr_loads_spec;

/**
 * Fills `entries`, then loads `runs` times on `threads` threads of the CPU (0: all cores). The seconds
 * go to `seconds`, each lane's sum of what it loaded to `sums`.
 */
void kr_baseline_loads_cpu(const kr_loads_spec *spec, uint32_t threads, uint32_t *entries, uint32_t runs,
                           double *seconds, uint32_t *sums);

/** The same on a GPU, by its own clock; `device_entries` is CUDA memory, `sums` the host's. Nonzero on
 * failure, with one line in `text`. Only in builds with CUDA. */
int kr_baseline_loads_cuda(const kr_loads_spec *spec, uint32_t *device_entries, uint32_t runs,
                           double *seconds, uint32_t *sums, char *text, size_t text_nbytes);

/** What the sum of a lane must be. */
uint32_t kr_baseline_loads_sum(const kr_loads_spec *spec, uint32_t lane);

/* Scans. */

/** Values v with lower <= v < upper. */
typedef struct kr_bounds {
    uint64_t lower, upper;
} kr_bounds;

/** A table in host memory, of unsigned columns. */
typedef struct kr_baseline_table {
    const void *const *columns;
    uint32_t n_columns, bits; /**< 32 or 64 */
    uint64_t n_rows;
} kr_baseline_table;

/** A loop over the rows: bit i % 32 of word i / 32 is 1 if all values of row i lie in the bounds of their
 * columns. Bits past the last row are 0. `threads` of the CPU, 0: all cores. */
void kr_baseline_scan(const kr_baseline_table *table, const kr_bounds *bounds, uint32_t threads,
                      uint32_t *bitmap);

/** Adds up all 32-bit words of the columns, `runs` times; the seconds go to `seconds`. Reading cannot be
 * faster. Returns the sum. */
uint64_t kr_baseline_sum_cpu(const kr_baseline_table *table, uint32_t threads, uint32_t runs,
                             double *seconds);
/** The same on a GPU, by its own clock; columns are CUDA memory. Nonzero on failure, with one line in `text`.
 * Only in builds with CUDA. */
int kr_baseline_sum_cuda(const kr_baseline_table *table, uint32_t runs, double *seconds, uint64_t *sum,
                         char *text, size_t text_nbytes);

/** The row ids that a range lookup gave, as bits of a table. */
typedef struct kr_baseline_marks {
    const uint32_t *rows;  /**< distinct, *count of them */
    const uint64_t *count; /**< at most n_rows */
    uint64_t n_rows;       /**< of the table */
    uint32_t *bitmap;      /**< output: ceil(n_rows / 32) words */
    uint32_t *scratch; /**< as many words: the marks are merged with `bitmap` by AND; NULL: they replace it */
} kr_baseline_marks;

/** In host memory, on `threads` threads of the CPU (0: all cores). */
void kr_baseline_marks_cpu(const kr_baseline_marks *marks, uint32_t threads);
/** In CUDA memory; enqueued on a CUDA stream. Nonzero on failure, with one line in `text`. Only in builds
 * with CUDA. */
int kr_baseline_marks_cuda(const kr_baseline_marks *marks, void *cuda_stream, char *text, size_t text_nbytes);

#ifdef __cplusplus
}
#endif
#endif
