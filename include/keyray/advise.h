/** keyray: which kind suits a column or a table, measured on this machine. Include <keyray/keyray.h>. */
#ifndef KEYRAY_ADVISE_H
#define KEYRAY_ADVISE_H

#include <keyray/indexes.h>
#include <keyray/scans.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What was measured of the kinds, best first, and the spec to use. */
typedef struct kr_advice kr_advice;

/** Input: what will be asked of the index or of the table, and how long may be measured. */
typedef struct kr_advise_options {
    size_t struct_size; /**< sizeof(kr_advise_options) */
    /**
     * Lookups that are like those to come: of the keys' type, in host or device memory, in their order; NULL
     * rows are left out, and of more than 2^22 (2^24 on a GPU) the first are taken. NULL: made of the keys,
     * the same ones in each call.
     */
    const kr_column *probes;
    const kr_column *lower, *upper; /**< ranges that are like those to come, likewise */
    /**
     * KR_CAN_POINT, KR_CAN_RANGE, or both: then half of the lookups are ranges. 0: what is given, so points
     * unless `lower` or `range_hits` is given, and both if `probes` is given, too.
     */
    uint32_t operations;
    uint32_t reserved;     /**< 0 */
    uint64_t batch;        /**< lookups of a call, which waits for its answers; 0: 2^16, 2^24 on a GPU, fewer
                              with less than 5 seconds. Calls have fewer where there are no more probes, or
                              the time does not suffice: kr_advice_info.reason says so */
    uint64_t range_hits;   /**< rows of a range that is made of the keys; 0: 16 */
    double miss_percent;   /**< of points that are made of the keys, how many match no row: 0 to 100 */
    double update_percent; /**< of 100 rows that are handed to the index, how many are inserted or deleted, as
                              many of both, between two calls of lookups: 0 to 99 */
    uint64_t memory_cap_nbytes; /**< the most bytes that an index or a table may keep; 0: no cap */
    double seconds;             /**< about how long the call may take; 0: 10 */
    kr_progress progress;       /**< called before each step, beside that of the device */
} kr_advise_options;

/** How far a kind came. */
typedef enum kr_advice_state {
    KR_ADVICE_MEASURED = 1, /**< measured with as many rows as the best */
    KR_ADVICE_SLOWER,       /**< measured with fewer rows, and left out since it was slower there */
    KR_ADVICE_LATE,         /**< left out since its build and lookups would not have ended in time */
    KR_ADVICE_OVER_CAP,     /**< it keeps more than memory_cap_nbytes */
    KR_ADVICE_FAILED        /**< it failed: `status` and `note` say how */
} kr_advice_state;

/** Output: the advice. */
typedef struct kr_advice_info {
    size_t struct_size;        /**< sizeof(kr_advice_info), set by the caller */
    char spec[KR_SPEC_NBYTES]; /**< what to use: for kr_index_create, or kr_table_create */
    char device[16];
    char reason[256]; /**< what it is better than, one sentence */
    char sample[512]; /**< "", or which rows were measured instead of all of them, and what the number of rows
                         adds to the time of a lookup */
    /** What paid_lookups compares with: the cheapest build; of that one "no index", or "". */
    char paid_against[KR_SPEC_NBYTES];
    uint32_t candidates;    /**< kr_advice_candidate_query takes ordinals below it */
    uint32_t operations;    /**< KR_CAN_POINT, KR_CAN_RANGE; of a table KR_CAN_SCAN */
    uint64_t rows;          /**< of the column or table */
    uint64_t measured_rows; /**< of them, with how many the best was measured */
    uint64_t batch;         /**< lookups of a call as measured */
    uint64_t updated_rows;  /**< rows inserted and deleted by an update as measured; 0: none */
    /**
     * After how many lookups (of a table: scans) the build and they have taken no more time than the cheapest
     * build and as many lookups there, or than scans of the column without an index; UINT64_MAX: never.
     */
    uint64_t paid_lookups;
    double hit_percent;  /**< of points: how many matched a row, as measured */
    double range_hits;   /**< rows of a range, on average; of a table the rows of a scan */
    double scan_seconds; /**< one lookup or scan without an index; 0: not measured */
    double seconds;      /**< that the call took */
} kr_advice_info;

/** Output: what was measured of one kind. Numbers that were not measured are 0. */
typedef struct kr_advice_candidate {
    size_t struct_size;        /**< sizeof(kr_advice_candidate), set by the caller */
    char spec[KR_SPEC_NBYTES]; /**< without options that it does not need */
    kr_advice_state state;
    kr_status status; /**< of KR_ADVICE_FAILED; else KR_OK */
    char note[512];   /**< why it was left out, or how it failed; else "" */
    uint64_t rows;    /**< with how many rows it was measured: all numbers below are of them */
    /**
     * Of one lookup with its share of updates: the order of the list. But of a sample, a spec of the same
     * kind that is nearly as fast and takes at most 0.8 times the memory goes before the fastest.
     */
    double lookup_seconds;
    double points_per_second, ranges_per_second, scans_per_second;
    double build_seconds;
    double update_seconds;                  /**< of one call of kr_advice_info.updated_rows rows */
    uint64_t footprint_nbytes, peak_nbytes; /**< kept, and the most during the build */
    uint64_t paid_lookups;                  /**< as in kr_advice_info, of this kind */
    double whole_lookup_seconds; /**< what to expect of all rows; as lookup_seconds if all were measured */
    uint64_t whole_footprint_nbytes;
} kr_advice_candidate;

/**
 * Tries the kinds of index that can do what is asked, with a few options each, on the column itself, and says
 * which is the fastest here.
 *
 * Each kind is built, answers the same lookups as the others, which are compared, and is timed in turn with
 * them; the least time of several runs counts. Points are asked for their row (KR_RESULT_ROW), ranges for the
 * sum of their row ids. Lookups and answers lie in memory of the device. All kinds begin with a few rows;
 * those that are much slower are left out, the others go on with more, up to the whole column where the time
 * suffices. A sample has all rows whose keys are within an interval, so it is as dense, as often repeated and
 * in the same order as the column. Of texts, codes are measured: the dictionary takes the same time and
 * memory with every kind.
 *
 * Memory:  the kinds that are compared stand beside each other while that takes at most half of the memory
 *          that the device has left. Without a GPU 8 bytes for each row of a sample and each lookup, on a GPU
 *          also a copy of the column in host memory.
 * Stream:  none; the call blocks until its work is done, and columns in device memory must be there already.
 * Threads: any number; but what else the machine does meanwhile changes what is measured.
 * Errors:  KR_ERR_ARGUMENT (a column without keys, options that do not fit each other, misses of a column
 *          that has all values of its type), KR_ERR_TYPE, KR_ERR_LIMIT (more rows than an index holds),
 *          KR_ERR_DEVICE_MEMORY (also if no kind fits
 *          memory_cap_nbytes: the text names the smallest), KR_ERR_HOST_MEMORY, KR_ERR_CANCELLED,
 *          KR_ERR_INTERNAL if answers of two kinds differ, which is a fault in keyray. A kind that fails is
 *          no error: its candidate says how; unless all do, then it is the error of the first.
 *
 * @param keys     as of kr_index_create
 * @param options  NULL: points that all hit
 * @param advice   receives the advice; kr_advice_destroy releases it
 */
KR_API kr_status kr_advise(kr_device *device, const kr_column *keys, const kr_advise_options *options,
                           kr_advice **advice, kr_error *err);

/**
 * As kr_advise, of the kinds that scan tables. Each condition is a scan of its own, whose rows are counted;
 * the order is by the mean of all. A sample has rows of 16 places of the table.
 *
 * Errors:  as kr_advise, and those of kr_table_create and kr_scan of the conditions.
 *
 * @param columns, names, n_columns, table_options  as of kr_table_create
 * @param conditions  1 to 64 conditions
 * @param options     NULL: defaults; what belongs to lookups and updates must be 0
 */
KR_API kr_status kr_advise_table(kr_device *device, const kr_column *columns, const char *const *names,
                                 uint32_t n_columns, const kr_table_options *table_options,
                                 const kr_condition *const *conditions, uint32_t n_conditions,
                                 const kr_advise_options *options, kr_advice **advice, kr_error *err);

/** Describes the advice. */
KR_API kr_status kr_advice_query(const kr_advice *advice, kr_advice_info *info, kr_error *err);
/** Describes candidate `ordinal`, the best first, those that failed last; KR_ERR_ARGUMENT past the last. */
KR_API kr_status kr_advice_candidate_query(const kr_advice *advice, uint32_t ordinal,
                                           kr_advice_candidate *candidate, kr_error *err);
/** Releases the advice. */
KR_API void kr_advice_destroy(kr_advice *advice);

#ifdef __cplusplus
}
#endif
#endif
