/** keyray: point and range lookups in an index. Include <keyray/keyray.h>. */
#ifndef KEYRAY_LOOKUPS_H
#define KEYRAY_LOOKUPS_H

#include <keyray/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The answer wanted for each probe, and the shape of kr_sink.out for n probes. */
typedef enum kr_result {
    KR_RESULT_ROW = 1,  /**< uint32_t[n]: smallest matching row id, or KR_NO_ROW */
    KR_RESULT_COUNT,    /**< uint64_t[n] */
    KR_RESULT_SUM_ROWS, /**< uint64_t[n]: sum of the matching row ids, the papers' aggregate */
    KR_RESULT_SUM,      /**< uint64_t, int64_t or double [n] for unsigned, signed (dates too), float values;
                             integers modulo 2^64; 0 where nothing matched */
    KR_RESULT_MIN,      /**< the value type [n], 0 where no value matched, and `valid`; NaN is the largest */
    KR_RESULT_MAX,      /**< as MIN */
    KR_RESULT_ROWS,     /**< uint64_t[n + 1] offsets, and `rows` */
    KR_RESULT_EXISTS,   /**< bitmap of n bits in ceil(n / 8) bytes, unused bits of the last byte 0 */
    KR_RESULT_SUM_WIDE  /**< uint64_t[2 * n]: exact sums of integers (dates and times, too) in 128 bits: the
                             low word of each probe, then its high word; two's complement for signed values;
                             0 where nothing matched. KR_ERR_TYPE for floats */
} kr_result;

/** kr_sink.order: the order of the rows of a probe. */
enum {
    KR_ORDER_ROW = 0, /**< ROWS: row ids ascend within a probe */
    KR_ORDER_KEY = 1  /**< ROWS: by (key, row id), the order of the scan; no sort of wide ranges */
};

/* ---- Reports ------------------------------------------------------------------------------- */

/** What a lookup did. Asking for a report makes the call wait until the lookup is done. */
typedef struct kr_report kr_report;

/**
 * Makes an empty report, to put in a kr_sink; each lookup that succeeds overwrites it.
 *
 * Threads: one lookup at a time.
 * Errors:  KR_ERR_HOST_MEMORY.
 */
KR_API kr_status kr_report_create(kr_report **report, kr_error *err);
/** Releases a report. */
KR_API void kr_report_destroy(kr_report *report);

/** How many probes the lookup had. */
KR_API uint64_t kr_report_probe_count(const kr_report *report);

/* Lists by ordinal. Names are static strings; past the last, a name is NULL and a number 0. */

/**
 * The orders in which probes were searched, and the probes of each: "as-is"; "sorted", by all or by leading
 * bits; "partitioned", grouped by parts of the index.
 */
KR_API uint32_t kr_report_order_count(const kr_report *report);
KR_API const char *kr_report_order_name(const kr_report *report, uint32_t ordinal);
KR_API uint64_t kr_report_order_probes(const kr_report *report, uint32_t ordinal);

/**
 * Steps of a scan, a line of text each: what answered which predicate. Texts live as long as the report,
 * until another call fills it.
 */
KR_API uint32_t kr_report_step_count(const kr_report *report);
KR_API const char *kr_report_step_text(const kr_report *report, uint32_t ordinal);

/**
 * Phases: "copy", "sort", "search", "reduce", ... Batches in host memory on a GPU overlap all of them and
 * have one phase, "copy+search".
 */
KR_API uint32_t kr_report_phase_count(const kr_report *report);
KR_API const char *kr_report_phase_name(const kr_report *report, uint32_t ordinal);
KR_API double kr_report_phase_seconds(const kr_report *report, uint32_t ordinal);

/**
 * Counters of what a lookup or scan did.
 *
 * Of lookups, if kr_sink.count_work is 1 and the kind casts rays: "rays" (cast), "hits" (primitives that rays
 * met), "filtered" (hits that the keys ruled out), "repaired" (probes whose hit was wrong, so that the keys
 * were searched), "untraced" (ranges answered without rays, wholly or from some row on).
 *
 * Of lookups in an index of keep=host that is divided: "parts that travelled" to the device, "bytes that
 * travelled", "probes answered by the CPU".
 *
 * Of scans, if kr_scan_options.count_work is 1: "rays", "primitives" (of scenes, that rays met; each stands
 * for one row or several), "intersections" (rows whose own cubes or triangles rays met), "rows compared"
 * (rows whose values were compared one by one), "rows skipped" (rows that needed no comparison, as vectors or
 * zones decided), "rays that met rows".
 */
KR_API uint32_t kr_report_counter_count(const kr_report *report);
KR_API const char *kr_report_counter_name(const kr_report *report, uint32_t ordinal);
KR_API uint64_t kr_report_counter_value(const kr_report *report, uint32_t ordinal);

/* ---- Lookups ------------------------------------------------------------------------------- */

/**
 * Input: where the answers go. Results are in probe order and the same on every device (float sums may differ
 * in rounding). Nothing is written beyond the shapes above.
 *
 * ROWS with too little room: if any array is in host memory, KR_ERR_LIMIT; call with rows NULL first, then
 * offsets[n] is the room needed. If all arrays are in device memory, the call does not wait for the size:
 * offsets[n] holds it, and row ids that do not fit are left out. Of a probe whose row ids fit only in part,
 * any of them may be kept. Room that is not needed may be overwritten. A prepared lookup leaves row ids out
 * on every device (kr_prepare_lookup).
 *
 * With a limit, offsets count the rows that are handed over. Ranges with a limit in KR_ORDER_ROW are gathered
 * whole, a few at a time, to find their smallest row ids: that waits for the stream and takes up to 24 bytes
 * of device memory for each row of 2^24, or of the widest range. All other lookups with a limit read only the
 * rows that they hand over.
 */
typedef struct kr_sink {
    size_t struct_size; /**< sizeof(kr_sink) */
    kr_result result;
    uint32_t order;          /**< ROWS: KR_ORDER_* */
    const kr_column *values; /**< SUM, SUM_WIDE, MIN, MAX: a value for each row id; NULLs are skipped */
    void *out;
    uint8_t *valid; /**< MIN, MAX: bitmap of n bits, required; 0 where no value matched that is not NULL */
    uint32_t *rows; /**< ROWS: room for rows_capacity row ids; NULL: only the offsets are written */
    uint64_t rows_capacity;
    kr_report *report;   /**< or NULL */
    uint32_t count_work; /**< 1: count for the report, which costs time */
    uint32_t reserved;   /**< 0 */
    /** ROWS: at most so many rows of each probe, the first in the order that `order` says; 0: all. */
    uint64_t limit;
} kr_sink;

/**
 * Looks up every probe.
 *
 * A missing key is a result, not an error. Zero probes succeed.
 *
 * Errors:  KR_ERR_TYPE (probes->type differs from the keys'), KR_ERR_ARGUMENT, KR_ERR_LIMIT,
 *          KR_ERR_UNSUPPORTED, KR_ERR_DEVICE_MEMORY, KR_ERR_CANCELLED.
 */
KR_API kr_status kr_index_lookup(kr_index *index, const kr_column *probes, const kr_sink *sink,
                                 kr_stream *stream, kr_error *err);

/**
 * Finds, for every i, the keys between lower[i] and upper[i], both inclusive. lower > upper, or a NULL bound,
 * is an empty range. Both columns have the keys' type and the same count.
 *
 * Errors:  as kr_index_lookup.
 */
KR_API kr_status kr_index_range(kr_index *index, const kr_column *lower, const kr_column *upper,
                                const kr_sink *sink, kr_stream *stream, kr_error *err);

/* ---- Nearest keys -------------------------------------------------------------------------- */

/** Which key answers a probe, if the search is not strict. */
typedef enum kr_nearest_side {
    KR_NEAREST_BELOW = 1, /**< the largest key <= probe */
    KR_NEAREST_ABOVE,     /**< the smallest key >= probe */
    KR_NEAREST_EITHER     /**< the nearer of both; of two equally near keys the one below */
} kr_nearest_side;

/** Input: which key is nearest. */
typedef struct kr_nearest_options {
    size_t struct_size;     /**< sizeof(kr_nearest_options) */
    kr_nearest_side side;   /**< 0: below */
    uint32_t strict;        /**< 1: exclude keys equal to the probe: < and > instead of <= and >= */
    uint32_t limited;       /**< 1: ignore keys farther away than the tolerance */
    uint32_t reserved;      /**< 0 */
    int64_t tolerance;      /**< for integers, dates (days) and timestamps, in their unit: 0 or more */
    double float_tolerance; /**< for f32 and f64: 0 or more */
} kr_nearest_options;

/**
 * Finds, for every probe, the row of the nearest key. Each probe has one row at most.
 *
 * Of rows with the same key, the one with the largest row id answers from below, the one with the smallest
 * from above, as the last and the first row do in as-of joins of data frames. A key equal to the probe counts
 * as below. The result is that of a lookup whose only match is this row: ROW is its row id or KR_NO_ROW,
 * COUNT is 0 or 1, SUM, SUM_WIDE, MIN and MAX are its value, ROWS lists it.
 *
 * Distances of integers are exact, up to 2^64 - 1. Those of floats are differences of doubles; an infinite
 * key is infinitely far from all others. NULL and NaN probes have no answer, and NaN keys answer nothing.
 *
 * Memory:  as kr_index_lookup.
 * Stream:  as kr_index_lookup.
 * Threads: as kr_index_lookup.
 * Errors:  as kr_index_lookup; KR_ERR_UNSUPPORTED (the kind lacks KR_CAN_NEAREST; keys are texts, or codes of
 * a dictionary, and a tolerance or KR_NEAREST_EITHER is asked for); KR_ERR_ARGUMENT for a tolerance that is
 * negative, is NaN, or is not for the type; KR_ERR_LIMIT for one that no two values of the type exceed.
 *
 * @param options  NULL: the largest key <= probe, however far
 */
KR_API kr_status kr_index_nearest(kr_index *index, const kr_column *probes, const kr_nearest_options *options,
                                  const kr_sink *sink, kr_stream *stream, kr_error *err);

/* ---- Several columns ----------------------------------------------------------------------- */

/** Input: probes for an index of kr_index_create_columns. */
typedef struct kr_column_probes {
    size_t struct_size; /**< sizeof(kr_column_probes) */
    /** Probes of the first n_columns columns of the index, each of its type, one row for each probe. */
    const kr_column *columns;
    uint32_t n_columns; /**< 1 to as many as the index has */
    /** Of texts in the last column: a kr_texts_bound that says which are asked for; 0: none of these. */
    uint32_t how;
    /** NULL, or upper bounds of the last of the columns, whose lower bounds are in `columns` then. */
    const kr_column *upper;
    /** NULL, or the last of the columns is asked for its nearest value; then `upper` is NULL. */
    const kr_nearest_options *nearest;
} kr_column_probes;

/**
 * Looks up every probe in an index over several columns: rows that equal it in all n_columns columns; or in
 * all but the last of these, in which they are within its bounds (`upper`) or nearest to it (`nearest`).
 * Columns of the index behind these may be anything. So the last quote of a symbol at or before a time is one
 * lookup in an index over (symbol, time).
 *
 * Answers are those of kr_index_lookup, kr_index_range and kr_index_nearest, and so are sinks; KR_ORDER_KEY
 * is the order of the columns. A NULL in any column of a probe matches nothing. Neither a neighbour nor a
 * tolerance reaches into another group of equal columns. Columns of the index that are texts take texts of
 * any type; a text that is not in the index matches nothing. In the last one, texts may have bounds, one
 * bound or a prefix (`how`), or a nearest text below or above. Where columns follow the one with nearest
 * values, the last row in their order answers from below, and the first from above.
 *
 * A tolerance takes a range lookup first, unless keys have room for all values of the column's type.
 *
 * Memory:  4 to 9 bytes of device memory for each probe, twice for ranges, up to 34 for a range lookup that
 *          comes first, and copies of columns in host memory.
 * Stream:  as kr_index_lookup.
 * Threads: as kr_index_lookup.
 * Errors:  as the calls for one column; KR_ERR_UNSUPPORTED with kinds without KR_CAN_RANGE for fewer columns
 *          than all and for bounds, and for KR_NEAREST_EITHER where keys do not tell distances: in a column
 *          that others follow, in one that became ranks, and in floats whose codes do not fit beside the
 *          other columns.
 */
KR_API kr_status kr_index_lookup_columns(kr_index *index, const kr_column_probes *probes, const kr_sink *sink,
                                         kr_stream *stream, kr_error *err);

/**
 * Answers several sinks with one search: what kr_index_lookup, kr_index_range or kr_index_nearest would
 * answer to each of them. Matches are found once, and every result is made of them. After an error the arrays
 * may hold a part of the answers. A report in a sink says what the one search did.
 *
 * Memory:  8 bytes of device memory per probe for the matches. Where an array lies in host memory that the
 *          device does not reach, the batch goes through it in pieces of 2^22 probes.
 * Stream:  as kr_index_lookup; the call blocks if the batch goes through in pieces.
 * Threads: as kr_index_lookup.
 * Errors:  as the single calls; KR_ERR_UNSUPPORTED for ROWS, which take a call of their own; KR_ERR_ARGUMENT
 *          for two sinks with one array or report; KR_ERR_LIMIT for more than 64 sinks.
 *
 * @param lower    probes, or lower bounds
 * @param upper    NULL, or upper bounds
 * @param nearest  NULL, or as for kr_index_nearest; then upper is NULL
 * @param sinks    n_sinks pointers, so that sinks can grow
 */
KR_API kr_status kr_index_lookup_many(kr_index *index, const kr_column *lower, const kr_column *upper,
                                      const kr_nearest_options *nearest, const kr_sink *const *sinks,
                                      uint32_t n_sinks, kr_stream *stream, kr_error *err);

/** One chunk of a ROWS result, in host memory, valid during the call. Return nonzero to stop. */
typedef int (*kr_rows_chunk)(void *ctx, uint64_t first_probe, uint64_t n_probes, const uint64_t *offsets,
                             const uint32_t *rows);

/**
 * Hands over all matches in chunks of at most `cap_nbytes` of row ids, cut between probes, in probe order.
 *
 * offsets[0 .. n_probes] start at 0 in every chunk.
 *
 * Stream:  none; the call blocks until its work is done.
 * Errors:  as kr_index_lookup; KR_ERR_LIMIT, naming the size needed, when one probe exceeds the cap,
 *          KR_ERR_CANCELLED when the callback returned nonzero.
 *
 * @param lower  probes, or lower bounds
 * @param upper  NULL, or upper bounds
 * @param order  KR_ORDER_*
 */
KR_API kr_status kr_index_lookup_chunks(kr_index *index, const kr_column *lower, const kr_column *upper,
                                        uint32_t order, uint64_t cap_nbytes, kr_rows_chunk chunk, void *ctx,
                                        kr_error *err);

#ifdef __cplusplus
}
#endif
#endif
