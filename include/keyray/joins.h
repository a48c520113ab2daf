/** keyray: joins of two columns. Include <keyray/keyray.h>. */
#ifndef KEYRAY_JOINS_H
#define KEYRAY_JOINS_H

#include <keyray/indexes.h>
#include <keyray/lookups.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Which rows a join gives. */
typedef enum kr_join_type {
    KR_JOIN_INNER = 1, /**< pairs */
    KR_JOIN_SEMI,      /**< left rows with a partner */
    KR_JOIN_ANTI,      /**< left rows without one */
    KR_JOIN_LEFT,      /**< pairs, and left rows without a partner */
    KR_JOIN_RIGHT,     /**< pairs, and right rows without a partner */
    KR_JOIN_FULL       /**< pairs, and rows of either side without a partner */
} kr_join_type;

/** Which side is indexed: see kr_join_options. */
typedef enum kr_join_inverse { KR_INVERSE_AUTO = 0, KR_INVERSE_ON, KR_INVERSE_OFF } kr_join_inverse;

/** Input: how two sides are joined. */
typedef struct kr_join_options {
    size_t struct_size; /**< sizeof(kr_join_options) */
    kr_join_type type;  /**< 0: inner */

    /**
     * AUTO merges what ascends, or indexes the cheaper side by rule; ON indexes the left, OFF the right. With
     * "best" a side that may be indexed is looked at: keys that are close together are addressed (`dense`).
     */
    kr_join_inverse inverse;
    uint32_t unordered; /**< 1: pairs in any order, which saves a sort if the left side was indexed */
    uint32_t reserved;  /**< 0 */
    /**
     * Of kr_join_create_range and kr_join_create_overlap: n_by group columns of each side, at most 8, in
     * pairs of one type, one row for each row of the side. Only rows that are equal in all of them are
     * partners; a NULL equals nothing. Other calls take columns of their own, and refuse these.
     */
    const kr_column *left_by, *right_by;
    uint32_t n_by;
    uint32_t reserved_by; /**< 0 */
} kr_join_options;

/** Output: what a join did. */
typedef struct kr_join_info {
    size_t struct_size;        /**< sizeof(kr_join_info), set by the caller */
    char spec[KR_SPEC_NBYTES]; /**< every option filled in */
    char device[16];
    char tracer[64]; /**< what casts rays; "none" for kinds that cast none */
    char indexed[8]; /**< "left", "right", "both" (intervals), or "none": the sides were merged */
    uint64_t pairs;  /**< rows of the result: pairs, or the left rows of semi and anti joins */
    uint64_t footprint_nbytes, peak_nbytes;
    /** The rule's seconds with either side indexed (of one thread on a CPU): to compare, not to predict. */
    double cost_left, cost_right;
} kr_join_info;

typedef struct kr_join kr_join;

/* Columns of all joins may be texts (KR_STRING and others): then what they are compared with is texts, too,
 * of any of these types. They become codes of one dictionary while the join runs: of the smaller side, or of
 * the values if there are ranges. It takes what kr_texts_create says, and 4 bytes for each row of both sides,
 * of joins in chunks too. Ranges, intervals and nearest values go by the order of bytes; texts have no
 * distance, so as-of joins of them take neither KR_NEAREST_EITHER nor a tolerance. A broken row is
 * KR_ERR_ARGUMENT.
 * Codes of a dictionary (kr_column.dictionary) are compared as numbers, but for KR_NO_ROW, the code of a text
 * that is not there: it is as a NULL. */

/** n pairs of a join, in host memory, valid during the call. Return nonzero to stop. */
typedef int (*kr_pairs_chunk)(void *ctx, uint64_t n, const uint32_t *left_rows, const uint32_t *right_rows);

/**
 * Joins two columns of one type on equal values and holds the result, in device memory.
 *
 * inner, left, right and full: pairs (left row, right row), sorted by both unless unordered. A row without a
 * partner stands beside KR_NO_ROW; so right rows without one come last. semi and anti: left rows, ascending.
 * NULL equals nothing: a NULL row has no partner. NaN equals NaN.
 *
 * On a CPU, sides that ascend already are merged and no index is built, whatever the kind
 * (kr_join_info.indexed is "none"): inner, left, semi and anti joins with `inverse` AUTO, of a left side
 * without a validity bitmap. One pass over each side finds out; it ends at the first row that is below the
 * one before. A right side in no order, or with a validity bitmap, is sorted and merged where it would have
 * been indexed. Merged pairs come out sorted, unordered ones, too.
 *
 * Semi and anti joins make no index of a side whose values are close together, with "best" either side, with
 * "dense" the right one: right values become bits, and each left row reads one (kr_join_info.indexed is
 * "right"; footprint_nbytes are the bits, and threads of a CPU take a copy each while they set them). Not
 * with `inverse` ON, with columns in host memory on a GPU, nor where "best" would build another kind for so
 * few left rows (docs/choosing.md).
 *
 * Memory:  a merge takes at most 8 bytes per left row beside the result, and what a build of kind `array`
 *          takes if the right side is sorted.
 * Stream:  none; the call blocks until its work is done.
 * Errors:  as kr_index_create and kr_index_lookup.
 * Source:  inverse mapping: Wu, "Fast Database Join on Ray-tracing Core Equipped GPU", sections 3.5 and 4.3.
 *
 * @param options  NULL: defaults
 */
KR_API kr_status kr_join_create(kr_device *device, const char *spec, const kr_column *left,
                                const kr_column *right, const kr_join_options *options, kr_join **join,
                                kr_error *err);

/**
 * Hands over the rows of kr_join_create or kr_join_create_range in chunks of at most cap_nbytes (and 64 MiB),
 * 8 bytes per pair, in any order: for a result, or a side, that is larger than device memory.
 *
 * One side is indexed, as `inverse` and its rule say (of ranges the left one), though both may ascend. It
 * must fit on the device, or with keep=host in host memory. The other side may be as large as host memory; it
 * is read in pieces of 2^22 rows, or with keep=host in pieces that fill the device. Semi and anti joins hand
 * over left rows; `right_rows` is NULL then. `unordered` changes nothing.
 *
 * On a GPU, one piece is copied in while the pairs of the one before are copied out; pinned memory
 * (kr_memory_pin) is copied with no buffer in between.
 *
 * Memory:  the index, 36 bytes for each row of three pieces (80 for semi and anti joins with ranges), two
 *          chunks. If indexed rows with or without a partner are listed: a bit for each indexed row, and 12
 *          bytes for each while they are listed, with keep=host for a piece of them at a time.
 * Stream:  none; the call blocks until its work is done.
 * Errors:  as kr_join_create; KR_ERR_LIMIT for a cap below 8 bytes, KR_ERR_CANCELLED if `chunk` returned
 *          nonzero.
 *
 * @param right_upper  NULL: equality; else `right` has the lower bounds of ranges, and this the upper ones
 * @param options      NULL: defaults
 * @param chunk        NULL: the result is only counted, in 64 bits
 * @param pairs        receives how many pairs or rows there are; may be NULL if `chunk` is not
 */
KR_API kr_status kr_join_chunks(kr_device *device, const char *spec, const kr_column *left,
                                const kr_column *right, const kr_column *right_upper,
                                const kr_join_options *options, uint64_t cap_nbytes, kr_pairs_chunk chunk,
                                void *ctx, uint64_t *pairs, kr_error *err);

/**
 * Joins rows that are equal in all of n_columns columns; otherwise as kr_join_create. A row with a NULL in
 * any of them equals nothing.
 *
 * The columns become one key if the ranges of the right side's values take at most 64 bits together, which
 * takes 4 or 8 bytes per row of either side; else numbers that the right rows give them, which takes an index
 * of each column, one at a time, and 24 bytes per row. NULL rows and left values outside the right side's
 * ranges get keys without a partner.
 *
 * Errors:  as kr_join_create; KR_ERR_LIMIT for more than 8 columns.
 *
 * @param left, right  n_columns columns of each side, in pairs of one type; all of a side have one length
 */
KR_API kr_status kr_join_create_columns(kr_device *device, const char *spec, const kr_column *left,
                                        const kr_column *right, uint32_t n_columns,
                                        const kr_join_options *options, kr_join **join, kr_error *err);

/**
 * Joins a column with ranges, a range for each right row: a left row and right row i are a pair if the left
 * value is between right_lower[i] and right_upper[i], both included. Otherwise as kr_join_create.
 *
 * One side is indexed: the left rows (`inverse` ON), or the ranges (OFF): then by their lower bounds, and a
 * tree of their upper bounds skips those that end too early, however they overlap or nest. AUTO takes what
 * costs less; where ranges may be it, 512 rows of each column say about how many pairs there are. Merges if
 * the left side and both columns of bounds ascend and have no validity bitmap.
 *
 * Errors:  as kr_join_create; KR_ERR_UNSUPPORTED for `inverse` OFF with kinds without KR_CAN_NEAREST (`rx`).
 *
 * @param options  NULL: defaults
 */
KR_API kr_status kr_join_create_range(kr_device *device, const char *spec, const kr_column *left,
                                      const kr_column *right_lower, const kr_column *right_upper,
                                      const kr_join_options *options, kr_join **join, kr_error *err);

/**
 * Joins a column with an index that exists, which is the right side: as often as you like, with no build.
 * Right rows are the row ids of the index, whatever its kind, and as its last change left them.
 *
 * Results are those of kr_join_create and, with `left_upper`, pairs of each left range and the right rows
 * whose keys it holds, both ends included. The index may be destroyed before the join. Of kr_join_info,
 * footprint_nbytes is that of the index, and the costs are 0.
 *
 * Stream:  none; the call blocks until its work is done.
 * Threads: as kr_index_lookup; several may join with one index at once.
 * Errors:  as kr_index_lookup and kr_index_range; KR_ERR_UNSUPPORTED for `inverse` ON and for right and full
 *          joins, which would need the rows that no probe finds.
 *
 * @param left        probes, or the lower bounds of ranges
 * @param left_upper  NULL, or their upper bounds
 * @param options     NULL: defaults
 */
KR_API kr_status kr_join_create_prepared(kr_index *right, const kr_column *left, const kr_column *left_upper,
                                         const kr_join_options *options, kr_join **join, kr_error *err);

/**
 * Makes an as-of join: each left row is paired with the one right row whose time is nearest to its own, among
 * the right rows whose group columns equal its own. Quotes and trades: the last quote of the symbol at or
 * before each trade.
 *
 * `nearest` says which time is nearest, as for kr_index_nearest: from below (a backward as-of join), from
 * above (forward) or from either side, strict or not, within a tolerance. Of right rows with the same group
 * and time, the last one answers from below and the first one from above, as in data frames. Neither a
 * neighbour nor a tolerance reaches into another group.
 *
 * inner: pairs of the left rows that have a partner. left: a pair for every left row, with KR_NO_ROW where
 * there is none. semi and anti: left rows with or without a partner. There is no right or full type. Results
 * are in the order of the left rows; `unordered` changes nothing. A NULL equals nothing, in groups too; NaN
 * equals NaN in groups, and has no nearest time.
 *
 * Group and time become one key if their ranges take at most 64 bits together; else both become ranks first,
 * which takes two more indexes, one at a time. On a CPU, sides that ascend already are merged and no index is
 * built (kr_join_info.indexed is "none"); with group columns, sides that ascend by groups and times, or by
 * times alone, if there are not more groups than rows of both sides: then 4 bytes for each group and thread.
 *
 * Memory:  columns may be host or device memory each. Takes the index of the right side, its keys and those
 *          of the left one (4 or 8 bytes per row), and 4 bytes per left row.
 * Stream:  none; the call blocks until its work is done.
 * Errors:  as kr_index_create and kr_index_nearest; KR_ERR_UNSUPPORTED for `inverse` ON and for kinds without
 *          KR_CAN_NEAREST; KR_ERR_LIMIT for more than 8 group columns.
 * Source:  the search is that of the kind; the rules are those of data frames' as-of joins.
 *
 * @param left, right        the times, of one type
 * @param left_by, right_by  n_by group columns of each side, in pairs of one type, one row for each time
 * @param nearest            NULL: the last time at or before
 * @param options            NULL: inner
 */
KR_API kr_status kr_join_create_asof(kr_device *device, const char *spec, const kr_column *left,
                                     const kr_column *right, const kr_column *left_by,
                                     const kr_column *right_by, uint32_t n_by,
                                     const kr_nearest_options *nearest, const kr_join_options *options,
                                     kr_join **join, kr_error *err);

/** Whether intervals that only touch overlap. */
typedef enum kr_interval_ends {
    KR_ENDS_CLOSED = 1, /**< [start, end]: they do */
    KR_ENDS_OPEN        /**< [start, end), (start, end] or (start, end): they do not */
} kr_interval_ends;

/**
 * Joins intervals that overlap: pairs of rows whose larger start is at most (KR_ENDS_OPEN: is less than) the
 * smaller end. Every pair comes once, whatever the intervals.
 *
 * An interval whose start is above its end, or with KR_ENDS_OPEN not below it, is empty and overlaps nothing.
 * So does one with a NULL or NaN as start or end. Results are those of kr_join_create: inner and left joins
 * give pairs sorted by left and right row unless unordered, semi and anti joins left rows. There is no right
 * or full type.
 *
 * The time is O(n log n + pairs). Both sides are indexed by their starts: a pair has its left start in the
 * right interval, or its right start in the left one behind the start. How many pairs there are is known, in
 * 64 bits, before memory for them is asked for; kr_join_overlap_chunks hands over more of them than fit.
 *
 * Memory:  columns may be host or device memory each. Takes two indexes, 16 to 32 bytes for each row of
 *          either side, and the result; to sort it, as much again.
 * Stream:  none; the call blocks until its work is done.
 * Errors:  as kr_index_create and kr_index_range; KR_ERR_UNSUPPORTED for kinds without KR_CAN_RANGE and for
 *          `inverse` other than AUTO; KR_ERR_DEVICE_MEMORY, naming the bytes, for more pairs than fit.
 * Source:  the two lookups are those of sweeps over sorted starts, as for joins of intervals in databases.
 *
 * @param left_start, left_end  columns of one type: a start and an end for each left row
 * @param right_start, right_end  the same of the right side
 * @param ends     0: closed
 * @param options  NULL: inner, sorted
 */
KR_API kr_status kr_join_create_overlap(kr_device *device, const char *spec, const kr_column *left_start,
                                        const kr_column *left_end, const kr_column *right_start,
                                        const kr_column *right_end, kr_interval_ends ends,
                                        const kr_join_options *options, kr_join **join, kr_error *err);

/**
 * Hands over the pairs of an inner kr_join_create_overlap, in chunks of at most cap_nbytes, 8 bytes per pair,
 * in any order.
 *
 * Stream:  none; the call blocks until its work is done.
 * Errors:  as kr_join_create_overlap; KR_ERR_LIMIT for a cap below 8 bytes, KR_ERR_CANCELLED if `chunk`
 *          returned nonzero.
 *
 * @param chunk  NULL: pairs are only counted
 * @param pairs  receives how many pairs there are; may be NULL if `chunk` is not
 */
KR_API kr_status kr_join_overlap_chunks(kr_device *device, const char *spec, const kr_column *left_start,
                                        const kr_column *left_end, const kr_column *right_start,
                                        const kr_column *right_end, kr_interval_ends ends,
                                        uint64_t cap_nbytes, kr_pairs_chunk chunk, void *ctx, uint64_t *pairs,
                                        kr_error *err);

/**
 * For each left row adds up the right rows that equal it, or counts them; no pairs are made.
 *
 * sink->out receives left->count answers, 64 bits each, in the order of the left rows: KR_RESULT_COUNT,
 * KR_RESULT_SUM_ROWS (of right row ids) or KR_RESULT_SUM (of sink->values, one for each right row; NULLs are
 * skipped; integers modulo 2^64, floats as doubles). 0 where nothing is equal. NULL equals nothing.
 *
 * `inverse` OFF indexes the right side and looks the left rows up. ON indexes the left side: the right one is
 * sorted, each distinct key of it is looked up once, and one thread adds up its rows and writes the total to
 * every left row that matches; so it is slow where single keys are very frequent. AUTO takes what costs less,
 * and OFF for floats, whose sums must not depend on it.
 *
 * Memory:  columns and sink->out may be host or device memory each. Takes the index, and copies of values in
 *          host memory; with `inverse` ON the sorted right side (8 or 12 bytes per row; for a moment what its
 *          sort takes, too), 8 bytes per right row, and 8 per left row if the answers go to host memory.
 * Stream:  none; the call blocks until its work is done.
 * Errors:  as kr_join_create; KR_ERR_UNSUPPORTED for other results and for a report; KR_ERR_TYPE for floats
 *          with `inverse` ON; KR_ERR_ARGUMENT for a type other than inner, and for unordered.
 * Source:  Wu, "Fast Database Join on Ray-tracing Core Equipped GPU", section 4.3, Algorithm 6.
 *
 * @param options  NULL: defaults
 * @param info     may be NULL; `pairs` becomes 0
 */
KR_API kr_status kr_join_sums(kr_device *device, const char *spec, const kr_column *left,
                              const kr_column *right, const kr_join_options *options, const kr_sink *sink,
                              kr_join_info *info, kr_error *err);

/** Releases the join and its result. */
KR_API void kr_join_destroy(kr_join *join);

/**
 * Says which side kr_join_create would index for sides of so many rows, and what the rule counts for either:
 * fills spec, device, indexed, cost_left and cost_right of *info; the others become 0. Reads no column, so
 * `indexed` is the side that is indexed unless the sides are merged or "best" takes another kind once it has
 * looked at them: ask with the spec that kr_index_explain gives for a column.
 *
 * Errors:  KR_ERR_SPEC, KR_ERR_ARGUMENT, KR_ERR_UNSUPPORTED.
 *
 * @param options  NULL: defaults
 */
KR_API kr_status kr_join_explain(kr_device *device, const char *spec, uint64_t left_rows, uint64_t right_rows,
                                 const kr_join_options *options, kr_join_info *info, kr_error *err);

/** Describes a join. */
KR_API kr_status kr_join_query(const kr_join *join, kr_join_info *info, kr_error *err);
/** Phases of the join by ordinal; past the last, the name is NULL and the seconds 0. */
KR_API uint32_t kr_join_phase_count(const kr_join *join);
KR_API const char *kr_join_phase_name(const kr_join *join, uint32_t ordinal);
KR_API double kr_join_phase_seconds(const kr_join *join, uint32_t ordinal);

/** Copies result rows first .. first + count - 1. Semi and anti joins do not use `right_rows`. Blocks. */
KR_API kr_status kr_join_read(kr_join *join, uint64_t first, uint64_t count, uint32_t *left_rows,
                              uint32_t *right_rows, kr_error *err);

#ifdef __cplusplus
}
#endif
#endif
