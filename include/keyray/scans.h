/** keyray: tables, conditions on their columns, and scans. Include <keyray/keyray.h>. */
#ifndef KEYRAY_SCANS_H
#define KEYRAY_SCANS_H

#include <keyray/indexes.h>
#include <keyray/lookups.h>
#include <keyray/texts.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kr_table kr_table;
typedef struct kr_condition kr_condition;

/* ---- Conditions ---------------------------------------------------------------------------- */

/*
 * A condition is true, false or unknown for a row, as in SQL: a comparison with NULL is unknown, and so is
 * NOT of it. A scan selects the rows for which the whole condition is true. NaN equals NaN and is above all
 * other numbers. Conditions name columns; only a scan looks these names up.
 */

/** How a column is compared, and with how many values. */
typedef enum kr_compare {
    KR_LESS = 1, /**< one value */
    KR_LESS_EQUAL,
    KR_GREATER,
    KR_GREATER_EQUAL,
    KR_EQUAL,
    KR_NOT_EQUAL,
    KR_BETWEEN, /**< two values, both inclusive; true for none if they are reversed */
    KR_IN,      /**< any number of values; none: false for every row, NULLs too */
    KR_IS_NULL, /**< no value; never unknown */
    KR_LIKE     /**< one text, a pattern: % is any text, _ one character of UTF-8, all else itself; or two,
                     the second of one character, the escape: behind it a character of the pattern is itself */
} kr_compare;

/**
 * Reads a condition: comparisons (< <= > >= = <> == !=), IS [NOT] NULL, [NOT] IN (x, ...), [NOT] BETWEEN x
 * AND y, [NOT] LIKE 'x%' [ESCAPE '!'], AND, OR, NOT and parentheses, nested to any depth; words in any case.
 *
 * Names of columns are words, or anything between double quotes. Values: 5, -1.5e3, nan, inf, NULL, and texts
 * in single quotes (a quote is doubled): '1998-12-01' for a date, '1998-12-01 12:30:00.5' for a timestamp,
 * any text for a column of texts. A date is the timestamp of its midnight in UTC, a time at midnight
 * a date, and 5.0 an integer; a value that the column's type lacks otherwise is an error. Times may end with
 * Z or +hh:mm and are turned to UTC. For a timestamp column, times and dates count in the unit that
 * kr_table_options.units gives it, microseconds since 1970-01-01 00:00:00 if it gives none; integers are
 * values of the column.
 *
 * A comparison may have the column on either side, or a column on both. "true" and "false" are conditions. An
 * empty text is "true".
 *
 * Texts are compared by their bytes, whatever of them the table has. LIKE tells upper from lower case. 'ab%'
 * is a range of the dictionary's codes; LIKE '50!%%' ESCAPE '!' finds what begins with 50%. Other patterns
 * read the dictionary, or the part of it that begins as the pattern does, once for each scan.
 *
 * Integers outside of the column's type are compared by value, so the comparison is true or false for all
 * rows that are not NULL. Decimals that are not integers go with float columns only. Numbers beyond the
 * largest double are finite: below inf, and equal to no value.
 *
 * Errors:  KR_ERR_FORMAT, naming the character, KR_ERR_HOST_MEMORY. A value of another type than its column
 *          is an error of the scan, which names the character of the value.
 */
KR_API kr_status kr_condition_parse(const char *text, kr_condition **condition, kr_error *err);

/**
 * Compares a column with values.
 *
 * Errors:  KR_ERR_ARGUMENT (another number of values than `compare` takes), KR_ERR_TYPE, KR_ERR_HOST_MEMORY.
 *
 * @param values  host memory, read before the call returns; NULL values are SQL's NULL. Of any type that goes
 *                with the column's: integers outside of its type are compared by value; floats that are not
 *                integers go with float columns only; dates go with dates and timestamps; timestamps and
 *                integers are in the unit of the column; texts of any text type go with columns of texts, as
 *                do codes of the same dictionary. NULL: no values
 */
KR_API kr_status kr_condition_compare(const char *column, kr_compare compare, const kr_column *values,
                                      kr_condition **condition, kr_error *err);

/**
 * Compares two columns of one type; `compare` is KR_LESS ... KR_NOT_EQUAL. Columns of texts are compared by
 * their codes, so they must have the same dictionary: kr_table_options.texts gives one to several.
 */
KR_API kr_status kr_condition_compare_columns(const char *left, kr_compare compare, const char *right,
                                              kr_condition **condition, kr_error *err);
/** All of n conditions; of none: true. Conditions are copied. */
KR_API kr_status kr_condition_and(const kr_condition *const *conditions, uint32_t n, kr_condition **condition,
                                  kr_error *err);
/** Any of n conditions; of none: false. */
KR_API kr_status kr_condition_or(const kr_condition *const *conditions, uint32_t n, kr_condition **condition,
                                 kr_error *err);
/** The opposite of a condition; unknown where it is unknown. The condition is copied. */
KR_API kr_status kr_condition_not(const kr_condition *negated, kr_condition **condition, kr_error *err);
/** Releases a condition. */
KR_API void kr_condition_destroy(kr_condition *condition);

/* ---- Tables -------------------------------------------------------------------------------- */

/** Whether a table copies its columns. */
typedef enum kr_copy {
    KR_COPY_AUTO = 0, /**< columns that the device reaches are referenced, others are copied */
    KR_COPY_ALWAYS,
    KR_COPY_NEVER /**< KR_ERR_ARGUMENT if the device does not reach a column */
} kr_copy;

/** Input: how a table is made. */
typedef struct kr_table_options {
    size_t struct_size; /**< sizeof(kr_table_options) */
    kr_copy copy;
    uint32_t reserved; /**< 0 */

    /**
     * For columns of dictionary codes in the order of their texts: *code := the first code whose text is not
     * below `text`. Returns 1 if it is that text, 0 if not, -1 if the column holds no texts. NULL: no column
     * does. Called by scans, on their threads.
     */
    int (*find_text)(void *ctx, uint32_t column, const char *text, size_t nbytes, uint32_t *code);
    void *ctx;

    /**
     * The unit of each timestamp64 column, n_columns of them, copied by the call; KR_UNIT_NONE where it is
     * not known: such a column is compared with integers only. NULL: all are of microseconds.
     */
    const kr_unit *units;

    /**
     * Dictionaries to share, n_columns of them, on the table's device. The array is copied, the dictionaries
     * are the caller's, who destroys them after the table. A column with one has texts, or u32 codes of it
     * (kr_column.dictionary), and all its texts are in it: a code of no text, as KR_NO_ROW, is refused in a
     * row that is not NULL. NULL, also of a column: columns of texts get a dictionary of their own.
     */
    const kr_texts *const *texts;
} kr_table_options;

/** Output: what a table is. */
typedef struct kr_table_info {
    size_t struct_size;        /**< sizeof(kr_table_info), set by the caller */
    char spec[KR_SPEC_NBYTES]; /**< every option filled in */
    char device[16];
    char tracer[64];     /**< what casts rays; "none" for kinds that cast none */
    char reason[256];    /**< why this kind, one sentence; of kr_table_create */
    uint64_t rows;       /**< row ids are below it; deleted rows included */
    uint64_t alive_rows; /**< rows that were not deleted */
    uint32_t columns;
    uint32_t copied_columns; /**< of them; the others are the caller's memory. After kr_table_append: all */
    uint64_t footprint_nbytes, peak_nbytes; /**< peak: of the creation or the last change */
} kr_table_info;

/**
 * Makes a table of columns of equal length, at most 2^32 - 2 rows, and builds what the kind scans with.
 *
 * A column of texts (KR_STRING and the other types of texts) becomes a column of u32 codes with a dictionary,
 * which the table makes with ranges=on and owns, unless kr_table_options.texts has one to share. The caller's
 * arrays of it are not needed afterwards. kr_table_texts gives the dictionary.
 *
 * Other columns that are referenced (kr_table_options.copy) must stay valid and unchanged until the table is
 * destroyed, or kr_table_append has copied them. `keyray kinds` lists the kinds of scans. "best" is bindex
 * with 128 or 32 vectors while that takes at most a quarter of the device's memory (or of the cap), else
 * full; kr_table_info.reason says which and why. "best" takes no options; rows are appended to and deleted
 * from tables of any kind.
 *
 * Stream:  columns in device memory are read in the order of `stream`. Returns when the table can be scanned
 *          from any stream.
 * Errors:  KR_ERR_SPEC, KR_ERR_TYPE, KR_ERR_ARGUMENT (lengths that differ, a name twice, texts or codes that
 * a shared dictionary has not), KR_ERR_LIMIT, KR_ERR_UNSUPPORTED, KR_ERR_HOST_MEMORY, KR_ERR_DEVICE_MEMORY,
 * KR_ERR_CANCELLED.
 *
 * @param names    one for each column; NULL: "c0", "c1", ...
 * @param options  NULL: defaults
 */
KR_API kr_status kr_table_create(kr_device *device, const char *spec, const kr_column *columns,
                                 const char *const *names, uint32_t n_columns,
                                 const kr_table_options *options, kr_stream *stream, kr_table **table,
                                 kr_error *err);
/**
 * Releases the table. Waits for the streams on which scans of it were enqueued, prepared ones included, and
 * for no other work of the device.
 */
KR_API void kr_table_destroy(kr_table *table);

/**
 * Estimates the memory that kr_table_create takes: upper bounds, copies of columns included; later changes
 * are not. Columns are not read: their data may be NULL, which counts as memory of the device.
 *
 * Errors:  as kr_table_create.
 */
KR_API kr_status kr_table_estimate(kr_device *device, const char *spec, const kr_column *columns,
                                   uint32_t n_columns, const kr_table_options *options, kr_estimate *estimate,
                                   kr_error *err);
/** Describes a table. */
KR_API kr_status kr_table_query(const kr_table *table, kr_table_info *info, kr_error *err);
/**
 * The dictionary of a column of texts, for kr_texts_decode of a KR_SCAN_MIN, say; NULL if the column has none
 * here. Of the table's own: stays until kr_table_append or kr_table_destroy.
 */
KR_API const kr_texts *kr_table_texts(const kr_table *table, uint32_t column);
/**
 * Describes a column of a table and lends its values, as the table keeps them: one for each row id, deleted
 * rows included. Of texts these are u32 codes of kr_table_texts, which kr_texts_decode makes texts of.
 *
 * Memory:  the name and the values, in memory of the device, stay until the table is changed or destroyed.
 * Threads: any number, while none changes the table.
 * Errors:  KR_ERR_ARGUMENT (no such column).
 *
 * @param name, unit, values  receive what they say; each may be NULL
 */
KR_API kr_status kr_table_column(const kr_table *table, uint32_t column, const char **name, kr_unit *unit,
                                 kr_column *values, kr_error *err);
/**
 * Checks every invariant of what was built, and that codes are those of texts; KR_ERR_INVARIANT names the
 * first that is broken. Blocks.
 */
KR_API kr_status kr_table_validate(kr_table *table, kr_error *err);

/* ---- Changes of tables --------------------------------------------------------------------- */

/**
 * Appends rows. Their ids count on from the rows that there were, deleted ones included.
 *
 * The table then owns copies of all its columns, also of those that it referenced: the caller's columns may
 * be freed or changed afterwards, those given here as well as those of kr_table_create. Its copies have room
 * for an eighth more rows (the component "spare room"), so that most later calls copy the new rows alone. A
 * column may have validity where the table's had none, and the other way round. Columns of codes of a
 * caller's dictionary keep it.
 *
 * To a column of texts texts of any text type are appended, or codes of its dictionary as it is before the
 * call. Texts that its
 * dictionary lacks make the dictionary and all codes of it anew, in the order of all texts, and then all that
 * the kind has built: the time and the memory of kr_table_create. A table that shares the dictionary refuses
 * such texts, and nothing is appended.
 *
 * Kinds `full` and `bindex` take the rows in: `full` looks at their zones, `bindex` makes a part of them, and
 * parts anew that are at most eight times as large as all rows behind them. So the append with which the rows
 * behind the first part reach an eighth of it builds all of `bindex` anew. For `rtscan`, `rtc1` and `rtc3`
 * every append does. Building anew on the device takes the time of kr_table_create. On an error the table is
 * as it was, unless the device was lost.
 *
 * Memory:  columns may be host or device memory. Where columns move to larger memory, or all is built anew,
 *          the old is released last: kr_table_info.peak_nbytes tells.
 * Stream:  columns in device memory are read in the order of `stream`. Waits for the streams on which
 *          scans of this table were enqueued, and for no other work of the device; returns when done.
 * Threads: requires exclusive access to the table.
 * Errors:  KR_ERR_ARGUMENT (another number of columns, lengths that differ, a text that a shared dictionary
 *          lacks, a code of no text), KR_ERR_TYPE, KR_ERR_LIMIT (more than 2^32 - 2 rows in all),
 * KR_ERR_HOST_MEMORY, KR_ERR_DEVICE_MEMORY, KR_ERR_DEVICE, KR_ERR_DEVICE_LOST, KR_ERR_CANCELLED. Source:
 * rebuilding: Lv et al., "RTScan", section 7.
 *
 * @param columns  one for each column of the table, in its order, of its type; 0 rows succeed,
 *                 change nothing and leave columns referenced that were
 */
KR_API kr_status kr_table_append(kr_table *table, const kr_column *columns, uint32_t n_columns,
                                 kr_stream *stream, kr_error *err);

/**
 * Deletes rows by their ids. No result of later scans has them, and no other row gets their ids.
 *
 * Deleted rows stay in the columns and in what the kind built; every scan reads one bit more for each row of
 * the table (the component "alive rows"). So a scan costs what one of all `rows` costs, however few of them
 * are alive: where alive_rows (kr_table_info) has fallen below half of rows, a table created anew of the
 * alive rows is scanned in less than half the time and takes half the memory. On an error the table is as it
 * was, unless the device was lost.
 *
 * Memory:  takes a bit for each row of the table, and a copy of ids in host memory.
 * Stream:  ids in device memory are read in the order of `stream`. Waits for the streams on which
 *          scans of this table were enqueued, and for no other work of the device; returns when done.
 * Threads: requires exclusive access to the table.
 * Errors:  KR_ERR_ARGUMENT (an id that is not a row of the table; nothing is deleted), KR_ERR_HOST_MEMORY,
 *          KR_ERR_DEVICE_MEMORY, KR_ERR_DEVICE, KR_ERR_DEVICE_LOST, KR_ERR_CANCELLED.
 *
 * @param rows       n row ids in host or device memory, in any order; ids given twice and rows deleted before
 *                   are not errors
 * @param n_deleted  host memory: how many rows were alive and no longer are; or NULL
 */
KR_API kr_status kr_table_delete(kr_table *table, const uint32_t *rows, uint64_t n, kr_stream *stream,
                                 uint64_t *n_deleted, kr_error *err);

/**
 * Deletes the rows for which a condition holds, those that a scan would select; NULL: every row. Otherwise as
 * kr_table_delete, with the errors of kr_scan.
 */
KR_API kr_status kr_table_delete_where(kr_table *table, const kr_condition *condition, kr_stream *stream,
                                       uint64_t *n_deleted, kr_error *err);

/* ---- Versions of tables -------------------------------------------------------------------- */

/**
 * Makes *next, the table as kr_table_append would leave it, and leaves `table` as it is: scans of it go on,
 * and so do prepared ones. examples/versions.c shows it with indexes.
 *
 * The two are tables of their own. Each is destroyed by its owner when its readers are done, in any order. A
 * version may be made of a version as often as wanted: none refers to an older one.
 *
 * Versions share what neither changes: the last one that has it releases it. New rows are written behind the
 * last one of the shared columns where there is room that no version has written to, else columns are copied
 * with more room, as kr_table_append does. Bitmaps of validity are copied. Of what the kind built, `full`
 * copies its zones and `bindex` all; the others build it anew, as in kr_table_append. Dictionaries are shared
 * until a version takes new texts.
 *
 * Memory:  columns as in kr_table_append. Shared memory counts once against the cap;
 *          kr_table_info.footprint_nbytes of each version counts all that it holds.
 * Stream:  columns in device memory are read in the order of `stream`. Returns when done. Waits for the work
 *          on `stream` and for no scan of `table`.
 * Threads: any number may scan `table` and make versions of it meanwhile; nobody may change or destroy it
 *          before the call returns. *next is seen by other threads as your program publishes it.
 * Errors:  as kr_table_append. `table` is as it was, and *next is not written.
 * Source:  multiversion concurrency control: Reed, "Naming and Synchronization in a Decentralized Computer
 *          System", 1978.
 *
 * @param columns, n_columns  as in kr_table_append
 * @param next                receives the version; kr_table_destroy releases it
 */
KR_API kr_status kr_table_next_append(const kr_table *table, const kr_column *columns, uint32_t n_columns,
                                      kr_stream *stream, kr_table **next, kr_error *err);

/**
 * As kr_table_next_append, with the rows deleted that kr_table_delete would delete. The version shares all
 * but the bitmap of alive rows, one bit for each row, with `table`, also columns of the caller that `table`
 * references.
 *
 * Errors:  as kr_table_delete. `table` is as it was, and *next is not written.
 *
 * @param rows, n, n_deleted  as in kr_table_delete
 */
KR_API kr_status kr_table_next_delete(const kr_table *table, const uint32_t *rows, uint64_t n,
                                      kr_stream *stream, uint64_t *n_deleted, kr_table **next, kr_error *err);

/** As kr_table_next_delete, with the rows deleted that kr_table_delete_where would delete, and its errors. */
KR_API kr_status kr_table_next_delete_where(const kr_table *table, const kr_condition *condition,
                                            kr_stream *stream, uint64_t *n_deleted, kr_table **next,
                                            kr_error *err);

/* ---- Facts of tables ----------------------------------------------------------------------- */

/* Lists by ordinal. Names are static strings; past the last, a name is NULL and a number 0. */

/** Phases of the creation or the last change. */
KR_API uint32_t kr_table_phase_count(const kr_table *table);
KR_API const char *kr_table_phase_name(const kr_table *table, uint32_t ordinal);
KR_API double kr_table_phase_seconds(const kr_table *table, uint32_t ordinal);

/**
 * Components of the footprint: "columns" (copies), "spare room" (for appended rows), "alive rows" (a bitmap,
 * after deletes), "texts" (dictionaries that the table owns), "vectors", "bvh", ...
 */
KR_API uint32_t kr_table_component_count(const kr_table *table);
KR_API const char *kr_table_component_name(const kr_table *table, uint32_t ordinal);
KR_API uint64_t kr_table_component_nbytes(const kr_table *table, uint32_t ordinal);
/** Counters of what the kind built. */
KR_API uint32_t kr_table_counter_count(const kr_table *table);
KR_API const char *kr_table_counter_name(const kr_table *table, uint32_t ordinal);
KR_API uint64_t kr_table_counter_value(const kr_table *table, uint32_t ordinal);

/* ---- Scans --------------------------------------------------------------------------------- */

/** The answer wanted for a condition, and the shape of kr_scan_sink.out. */
typedef enum kr_scan_result {
    KR_SCAN_BITMAP = 1, /**< uint32_t[ceil(rows / 32)]: bit i % 32 of word i / 32 is row i (on a little-endian
                             machine Arrow's bitmap); bits past the last row are 0 */
    KR_SCAN_ROWS,       /**< uint64_t: how many rows there are; and `rows`: their ids, ascending */
    KR_SCAN_COUNT,      /**< uint64_t */
    KR_SCAN_SUM,     /**< of a column over the rows whose value is not NULL: uint64_t, int64_t or double for
                          unsigned, signed (dates too), float values; integers modulo 2^64; and `valid`.
                          KR_ERR_TYPE for texts */
    KR_SCAN_MIN,     /**< of the column's type; NaN is the largest; and `valid`. Of texts a uint32_t, the code
                          in kr_table_texts, whose text kr_texts_decode gives */
    KR_SCAN_MAX,     /**< as MIN */
    KR_SCAN_SUM_WIDE /**< uint64_t[2]: the exact sum of integers (dates and times, too) in 128 bits: the low
                          word, then the high word; two's complement for signed values; and `valid`.
                          KR_ERR_TYPE for floats */
} kr_scan_result;

/**
 * Input: where the answer to one condition goes. Arrays may be host or device memory.
 *
 * ROWS with too little room: if an array of the call is in host memory, KR_ERR_LIMIT; call with rows NULL
 * first, then `out` is the room needed. If all are in device memory, the call does not wait for the size: row
 * ids that do not fit are left out.
 */
typedef struct kr_scan_sink {
    size_t struct_size; /**< sizeof(kr_scan_sink) */
    kr_scan_result result;
    uint32_t column; /**< sums, MIN, MAX: which column of the table */
    void *out;
    uint8_t *valid; /**< sums, MIN, MAX: 1 byte, 0 if there was no value (out is 0 then); may be NULL */
    uint32_t *rows; /**< ROWS; NULL: only the number is written */
    uint64_t rows_capacity;
} kr_scan_sink;

/** Input: of all conditions of a scan. */
typedef struct kr_scan_options {
    size_t struct_size;    /**< sizeof(kr_scan_options) */
    const uint32_t *alive; /**< a bitmap as KR_SCAN_BITMAP: only rows whose bit is 1 can match, if they were
                                not deleted; NULL: all. Bits past the last row are not read */
    kr_report *report;     /**< or NULL; asking for a report makes the call wait */
    uint32_t count_work;   /**< 1: count for the report, which costs time */
    uint32_t reserved;     /**< 0 */
} kr_scan_options;

/**
 * Answers n conditions at once, as n calls would. Up to 64 of them, of any form, share what the kind can
 * share: values that are read, launches, scenes; the steps of a report say what they shared. Deleted rows are
 * in no result.
 *
 * Stream:  with all arrays in device memory the call looks for the texts of its conditions, enqueues its
 *          work and returns.
 * Threads: any number may scan one table, while none changes it.
 * Errors:  KR_ERR_ARGUMENT (an unknown column), KR_ERR_TYPE (a value of another type than its column),
 *          KR_ERR_LIMIT, KR_ERR_UNSUPPORTED (the kind cannot answer it), KR_ERR_HOST_MEMORY,
 *          KR_ERR_DEVICE_MEMORY, KR_ERR_CANCELLED.
 *
 * @param conditions  NULL, or an element that is NULL: every row
 * @param sinks       one for each condition
 * @param options     NULL: defaults
 */
KR_API kr_status kr_scan(kr_table *table, const kr_condition *const *conditions,
                         const kr_scan_sink *const *sinks, uint32_t n, const kr_scan_options *options,
                         kr_stream *stream, kr_error *err);

/**
 * Writes how the table would answer the condition, a line for each step, cut off at text_nbytes: first the
 * condition in its normal form, such as "price < 50", then what answers it. Values are shown as in a
 * condition; texts are those of the condition, else of the dictionary. Behind a condition on texts comes
 * which codes of how many these are.
 *
 * Errors:  those of kr_scan.
 */
KR_API kr_status kr_scan_explain(const kr_table *table, const kr_condition *condition, char *text,
                                 size_t text_nbytes, kr_error *err);

#ifdef __cplusplus
}
#endif
#endif
