/** keyray: kinds of index, spec strings, and indexes. Include <keyray/keyray.h>. */
#ifndef KEYRAY_INDEXES_H
#define KEYRAY_INDEXES_H

#include <keyray/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Kinds and spec strings ---------------------------------------------------------------- */

/*
 * A spec names an index: "array", "array:layout=aos", "rx:bits=23:23:18,probes=sorted". The first ':' ends
 * the kind, ',' separates options; further ':' belong to a value. Options left out take their defaults, or
 * values that fit the options given. An unknown kind, option or value is KR_ERR_SPEC; the text lists the
 * known ones.
 */

/** Room for any spec with every option filled in. */
#define KR_SPEC_NBYTES 512

/** Capabilities of a kind: bits. */
enum {
    KR_CAN_POINT = 1,
    KR_CAN_RANGE = 2,
    KR_CAN_UPDATE = 4,   /**< kr_index_update, with some kinds only under an option */
    KR_CAN_SET_KEYS = 8, /**< kr_index_set_keys */
    KR_CAN_SCAN = 16,    /**< kr_table_create; such a kind makes no index */
    KR_CAN_NEAREST = 32  /**< kr_index_nearest, kr_join_create_asof */
};

/** Output: a kind. All pointers are to static memory. */
typedef struct kr_kind_info {
    size_t struct_size; /**< sizeof(kr_kind_info), set by the caller */
    const char *name;
    const char *summary;   /**< one line */
    const char *source;    /**< paper and section */
    uint32_t capabilities; /**< KR_CAN_* */
    uint32_t option_count;
} kr_kind_info;

/** How many kinds of index this library has. */
KR_API uint32_t kr_kind_count(void);
/** Describes kind `ordinal`; KR_ERR_SPEC past the last. */
KR_API kr_status kr_kind_query(uint32_t ordinal, kr_kind_info *info, kr_error *err);

typedef enum kr_option_form {
    KR_OPTION_CHOICE = 1, /**< one of a few words */
    KR_OPTION_INTEGER,
    KR_OPTION_TRIPLE,  /**< three integers: "23:23:18" */
    KR_OPTION_PAIR,    /**< two integers: "15:25"; or a word */
    KR_OPTION_DECIMAL, /**< at most three decimals: "0.5"; or a word */
    KR_OPTION_TEXT     /**< up to 239 characters, commas included: "a+b,c"; or a word */
} kr_option_form;

/** Output: an option of a kind. All pointers are to static memory. */
typedef struct kr_option_info {
    size_t struct_size; /**< sizeof(kr_option_info), set by the caller */
    const char *name;
    const char *help;    /**< one line */
    const char *choices; /**< the words, "soa|aos"; NULL: none */
    kr_option_form form;
    uint32_t is_common;      /**< 1: every kind has this option */
    double minimum, maximum; /**< of each number; CHOICE: 0 */
    char standard[32];       /**< the default, as in a spec */
    char values[128];        /**< all values: "soa|aos", "2..33", "0..25:0..25|on|off" */
} kr_option_info;

/** Describes option `option` of kind `kind`, both by ordinal; KR_ERR_SPEC past the last. */
KR_API kr_status kr_option_query(uint32_t kind, uint32_t option, kr_option_info *info, kr_error *err);

/**
 * Writes the spec with every option filled in; "best" becomes the kind that a GPU gets for keys of which
 * nothing is known. kr_index_create looks at the keys and may take another one.
 *
 * Errors:  KR_ERR_SPEC; KR_ERR_LIMIT if it does not fit text_nbytes.
 */
KR_API kr_status kr_spec_complete(const char *spec, char *text, size_t text_nbytes, kr_error *err);
/** Writes the spec without the options that it does not need: kr_spec_complete makes the same of both. */
KR_API kr_status kr_spec_shorten(const char *spec, char *text, size_t text_nbytes, kr_error *err);

/* ---- Before a build ------------------------------------------------------------------------ */

/** Output: upper bounds of memory. */
typedef struct kr_estimate {
    size_t struct_size;        /**< sizeof(kr_estimate), set by the caller */
    uint64_t footprint_nbytes; /**< bytes kept */
    uint64_t peak_nbytes;      /**< most bytes during the build, the footprint included */
} kr_estimate;

/**
 * Estimates the memory of a build: upper bounds. They depend on the type and count of `keys`, on whether
 * there is validity, and on whether `keys` are in host or device memory. Keys are never read: `data` may be
 * NULL, which counts as memory of the device.
 *
 * docs/memory-and-streams.md, "Estimates", says how close they are. For "best" they hold whatever kind the
 * keys make of it, so kr_index_explain, which looks at keys, may say less. The bounds do not include row ids
 * that the caller gives: up to 16 bytes per row at the peak, and 4 for a copy from host memory. They do not
 * include later changes.
 *
 * Errors:  as kr_index_create.
 */
KR_API kr_status kr_index_estimate(kr_device *device, const char *spec, const kr_column *keys,
                                   kr_estimate *estimate, kr_error *err);

typedef enum kr_operation { KR_OP_POINT = 1, KR_OP_RANGE, KR_OP_BUILD, KR_OP_JOIN } kr_operation;

/** Output: what would be done. */
typedef struct kr_explanation {
    size_t struct_size;        /**< sizeof(kr_explanation), set by the caller */
    char spec[KR_SPEC_NBYTES]; /**< every option filled in */
    char device[16];
    char tracer[64];      /**< what casts rays; "none" for kinds that cast none */
    char reason[256];     /**< why this kind, one sentence */
    char probe_order[96]; /**< how the batch would be searched, and why; an index that turns out smaller than
                               its estimate may decide otherwise (kr_report_order_name) */
    uint64_t footprint_nbytes, peak_nbytes; /**< as in kr_estimate */
    double memory_accesses_per_probe;       /**< dependent memory accesses of one probe */
    double rays_per_probe;                  /**< a lower bound: ranges may need more; 0: casts none */
} kr_explanation;

/**
 * Describes what would be done for `n_probes` probes, without doing it. `spec` may be "best". `keys` as in
 * kr_index_estimate, but that "best" looks at them unless `data` is NULL or they are texts: then the kind is
 * the one that suits these keys, and the reason says what they are like: how many there are without NULLs,
 * the lowest and the highest (dates and times as numbers), one in how many values, whether they ascend, and
 * distinct or repeated where that was seen. kr_index_create looks again, so that keys may change meanwhile.
 * For KR_OP_BUILD and KR_OP_JOIN, `n_probes` is the number of later probes.
 *
 * Memory:  a look takes 40 bytes of device memory, and a copy of keys that the device does not reach.
 * Stream:  a look blocks; keys in device memory must be there already.
 * Errors:  as kr_index_create.
 */
KR_API kr_status kr_index_explain(kr_device *device, kr_operation operation, const char *spec,
                                  const kr_column *keys, uint64_t n_probes, kr_explanation *explanation,
                                  kr_error *err);

/* ---- Build --------------------------------------------------------------------------------- */

/**
 * Builds an index over `keys`: at most 2^32 - 2 rows. Keys may be texts of any of the six types; probes are
 * texts then. The index makes a dictionary and keeps it (texts.h).
 *
 * Stream:  `keys` and `row_ids` in device memory are read in the order of `stream`. Returns when the index
 *          can be used from any stream: it carries a ready event that later calls wait for.
 * Errors:  KR_ERR_SPEC, KR_ERR_TYPE, KR_ERR_ARGUMENT, KR_ERR_LIMIT, KR_ERR_UNSUPPORTED, KR_ERR_DEVICE_MEMORY
 *          (the text names the bytes needed and the option that helps), KR_ERR_CANCELLED.
 *
 * @param spec     kind and options; "best" lets the library choose, by the keys and by what it is told, too
 * (docs/choosing.md): "best:updates=on" a kind that takes kr_index_update of any keys, "best:ranges=off" one
 * for points alone. What is chosen without updates=on for keys that are close together takes updates, too,
 * but may refuse keys far from the others, or no multiple of their step (KR_ERR_LIMIT)
 * @param row_ids  keys->count distinct ids below 2^32 - 1, or NULL: the positions 0, 1, 2, ...
 */
KR_API kr_status kr_index_create(kr_device *device, const char *spec, const kr_column *keys,
                                 const uint32_t *row_ids, kr_stream *stream, kr_index **index, kr_error *err);

/**
 * Builds an index over several columns, as kr_index_create over one: keys are in the order of the first
 * column, then of the second, and so on. A row with a NULL in any of them is not indexed.
 * kr_index_lookup_columns looks up; examples/columns.c shows it.
 *
 * The columns become one key of u32 or u64, whose type kr_index_info.type is. While the ranges of their
 * values take at most 64 bits together, with room for up to 16 times as large ranges where there is some,
 * this costs 4 or 8 bytes per row during the build, and nothing later. Else columns become ranks among their
 * values first, which takes up to 8 bytes per row for each such column, kept as "ranks of columns", and two
 * more binary searches for each probe.
 *
 * Calls for one column (kr_index_lookup, kr_index_update, kr_join_create_prepared, ...) refuse the index.
 *
 * Memory:  upper bounds are those of kr_index_estimate for a column of u64 with validity, and 9 bytes for
 *          each row; of columns that become ranks 28 more at the peak.
 * Stream:  as kr_index_create.
 * Errors:  as kr_index_create; KR_ERR_LIMIT for more than 8 columns; KR_ERR_ARGUMENT for KR_NO_ROW as a code
 * of a dictionary (kr_column.dictionary), in a row that is not NULL.
 *
 * @param columns  n_columns columns of any types and of one length
 */
KR_API kr_status kr_index_create_columns(kr_device *device, const char *spec, const kr_column *columns,
                                         uint32_t n_columns, const uint32_t *row_ids, kr_stream *stream,
                                         kr_index **index, kr_error *err);
/**
 * Releases the index. Waits for the streams on which lookups in it were enqueued, prepared ones included, and
 * for no other work of the device. Replays of graphs of the caller's own cannot be seen: wait for them first.
 * A stream that is being captured is not waited for: none on which lookups were enqueued may be under
 * capture.
 */
KR_API void kr_index_destroy(kr_index *index);

/* ---- Facts --------------------------------------------------------------------------------- */

/** Output: what an index is. */
typedef struct kr_index_info {
    size_t struct_size;        /**< sizeof(kr_index_info), set by the caller */
    char spec[KR_SPEC_NBYTES]; /**< every option filled in; "auto" stays "auto" */
    char device[16];
    char tracer[64];    /**< what casts rays; "none" for kinds that cast none */
    kr_type type;       /**< of the keys; of several columns that of the key that they become, u32 or u64 */
    uint32_t n_columns; /**< of kr_index_create_columns; 0: one, of kr_index_create */
    uint64_t rows;      /**< indexed rows; NULL rows are not */
    uint64_t next_row;  /**< row id of the next inserted key, above every row id given so far */
    uint64_t footprint_nbytes, peak_nbytes; /**< peak: of the build or the last change, of device memory */
} kr_index_info;

/** Describes an index. */
KR_API kr_status kr_index_query(const kr_index *index, kr_index_info *info, kr_error *err);

/* Lists by ordinal. Names are static strings; past the last, a name is NULL and a number 0. */

/** Phases of the build or the last change, on the host's clock: "copy", "sort", ... */
KR_API uint32_t kr_index_phase_count(const kr_index *index);
KR_API const char *kr_index_phase_name(const kr_index *index, uint32_t ordinal);
KR_API double kr_index_phase_seconds(const kr_index *index, uint32_t ordinal);

/**
 * Components of the footprint: "keys", "row ids", "bvh", "host memory" (of keep=host on a GPU), ... Their
 * bytes sum to footprint_nbytes.
 */
KR_API uint32_t kr_index_component_count(const kr_index *index);
KR_API const char *kr_index_component_name(const kr_index *index, uint32_t ordinal);
KR_API uint64_t kr_index_component_nbytes(const kr_index *index, uint32_t ordinal);

/**
 * Counters of a kind's structure; most kinds have none.
 *
 * - `btree`: "leaves", "leaf room" (leaves that there is memory for), "leaf slots" (the most entries of one),
 *   "levels" (above the leaves) and "leaf fill percent" (of all slots).
 * - `hash` and `chain`: "buckets", "nodes behind buckets" (`chain`), "slots of a node", "keys", "nodes read
 *   to find all keys" (each once), "rows aside" (of keys with several rows), "seeds given up" (because keys
 *   collided) and "built by inserting" (`hash:build=insert`: 1, or 0 where keys with several rows or
 *   collisions made it sort).
 * - `cgrx:updates=on`: "lists", "nodes" (in all lists), "node room" (nodes that there is memory for), "node
 *   entries" (the most that a node holds) and "longest list" (its nodes).
 */
KR_API uint32_t kr_index_counter_count(const kr_index *index);
KR_API const char *kr_index_counter_name(const kr_index *index, uint32_t ordinal);
KR_API uint64_t kr_index_counter_value(const kr_index *index, uint32_t ordinal);

/**
 * Checks every invariant of the index; KR_ERR_INVARIANT names the first that is broken.
 *
 * Cost:    a pass over the index and 4 bytes of device memory for each slot (a row, or a place that may hold
 *          one); if row ids are sparse, a sort of the row ids and about 24 bytes for each slot.
 * Stream:  none; the call blocks until its work is done.
 */
KR_API kr_status kr_index_validate(kr_index *index, kr_error *err);

/* ---- Changes ------------------------------------------------------------------------------- */

/**
 * Changes the keys of rows: row row_ids[i] gets keys->data[i].
 *
 * Afterwards the index answers as if it had been created from the changed column. The kind's option `update`
 * selects how. On an error the index is as it was, unless the device was lost. For texts see kr_index_update.
 *
 * Memory:  `row_ids` and `keys` may each be host or device memory; both may be freed afterwards. Takes, in
 *          addition to the index, about as much as a build at its peak.
 * Stream:  arrays in device memory are read in the order of `stream`. Waits for the streams on which
 *          lookups in this index were enqueued, and for no other work of the device; returns when done.
 * Threads: requires exclusive access to the index.
 * Errors:  KR_ERR_UNSUPPORTED (the kind cannot), KR_ERR_TYPE, KR_ERR_ARGUMENT (a row id that is not in the
 *          index or given twice, a NULL key), KR_ERR_LIMIT (a key that the kind cannot hold),
 *          KR_ERR_HOST_MEMORY, KR_ERR_DEVICE_MEMORY, KR_ERR_DEVICE, KR_ERR_DEVICE_LOST, KR_ERR_CANCELLED.
 * Source:  Henneberg and Schuhknecht, "RTIndeX", 3.6.
 *
 * @param row_ids  keys->count distinct row ids of rows that are indexed (not NULL)
 * @param keys     of the index's type, without NULLs; an empty column succeeds
 */
KR_API kr_status kr_index_set_keys(kr_index *index, const uint32_t *row_ids, const kr_column *keys,
                                   kr_stream *stream, kr_error *err);

/**
 * Deletes rows by their keys, then inserts others. examples/update.c shows it.
 *
 * First every row whose key is among `delete_keys` is deleted; absent and repeated keys are not errors. Then
 * insert_keys->data[i] becomes row insert_rows[i]. So a key that is both deleted and inserted keeps only the
 * inserted rows. Afterwards the index answers as if it had been created from the rows that are left. On an
 * error the index is as it was, unless the device was lost.
 *
 * Kinds `array`, `pivot` and `eytzinger` merge the sorted batch into all of their entries, and so does
 * `dense`, which makes its bits anew; `btree` changes the leaves that it concerns, `cgrx:updates=on` the
 * buckets, `hash` and `chain` the slots. The last four make all anew where that is needed. Kind `rx` cannot.
 *
 * Keys may be texts if those of the index are. Texts that are new to an index that answers ranges make the
 * dictionary, all codes and the index anew, in the time and memory of kr_index_create; with other kinds the
 * dictionary alone. After an error the index answers as it did, but its dictionary may have more texts.
 *
 * In addition to the index, a call takes memory of the device:
 *
 * - `array`, `pivot`, `eytzinger`: old and new entries at once, the sorted batch, 4 bytes for each inserted
 *   key and 20 for each deleted one.
 * - `dense`: its rows as sorted keys and row ids, twice, the sorted batch as above, and the new bits.
 * - `btree`: up to 24 bytes for each leaf and the sorted batch, or, when it makes all leaves anew, their
 *   entries twice.
 * - `array`, `pivot`, `btree` that keep no row ids, as keys ascended: 4 bytes for each row while the call
 * runs; for good where the order breaks, and in `btree` with the first change in its leaves.
 * - `hash`, `chain`: the sorted batch, 16 bytes for each inserted key and 8 for each deleted one, and what
 *   more rows and nodes need; when they make the table anew, all entries twice and a second table.
 * - `cgrx:updates=on`: the sorted batch, 24 bytes for each list and 4 for each node; where it rebuilds the
 *   index, the sorted rows, twice for a moment, and a second scene. Its nodes begin half empty (the option
 *   `fill`), and an eighth more of them is kept as room. Growing holds the old and the new nodes at once.
 *   Deletes release nothing: to shrink, create the index anew.
 *
 * Value columns of later lookups must hold a value for every row id below kr_index_info.next_row.
 *
 * Memory:  each array may be host or device memory; all may be freed afterwards.
 * Stream:  arrays in device memory are read in the order of `stream`. Waits for the streams on which
 *          lookups in this index were enqueued, and for no other work of the device; returns when done.
 * Threads: requires exclusive access to the index.
 * Errors:  KR_ERR_UNSUPPORTED (the kind cannot, or not with its options: the text names what allows it),
 *          KR_ERR_TYPE, KR_ERR_ARGUMENT (row ids without keys, KR_NO_ROW as a row id, to an index with a
 *          dictionary a code of no text), KR_ERR_LIMIT (more rows or higher row ids than an index holds, or,
 *          of `dense`, keys that lie too far from the others, or are no multiple of their step),
 * KR_ERR_HOST_MEMORY, KR_ERR_DEVICE_MEMORY, KR_ERR_DEVICE, KR_ERR_DEVICE_LOST, KR_ERR_CANCELLED. Source:
 * Henneberg, Schuhknecht, Kharal and Brown, "cgRX", 4, with deletes before inserts.
 *
 * @param insert_keys  of the index's type, or NULL: none; NULL keys take a row id and are not indexed
 * @param insert_rows  insert_keys->count distinct row ids, none of a row that stays (only kr_index_validate
 *                     checks this); or NULL: kr_index_info.next_row and those after it. After row id 2^32 - 2
 *                     was given, only given row ids can be inserted
 * @param delete_keys  of the index's type, or NULL: none; NULL keys delete nothing
 */
KR_API kr_status kr_index_update(kr_index *index, const kr_column *insert_keys, const uint32_t *insert_rows,
                                 const kr_column *delete_keys, kr_stream *stream, kr_error *err);

/**
 * As kr_index_update, of an index of kr_index_create_columns: rows are deleted that equal one of the given
 * ones in all columns.
 *
 * Rows are inserted whose values lie where keys have room: within the ranges of the columns that the index
 * was made of, or as far beyond them as there was room, or, of columns that became ranks, among their values.
 * If a row does not, nothing changes.
 *
 * Memory:  in addition 4 to 9 bytes for each row given, and copies of columns in host memory.
 * Errors:  as kr_index_update; KR_ERR_LIMIT for rows that there is no room for: create the index anew.
 *
 * @param insert_columns  as many columns as the index has, of one length, or NULL: none
 * @param delete_columns  the same
 */
KR_API kr_status kr_index_update_columns(kr_index *index, const kr_column *insert_columns,
                                         const uint32_t *insert_rows, const kr_column *delete_columns,
                                         kr_stream *stream, kr_error *err);

/* ---- Versions ------------------------------------------------------------------------------ */

/**
 * Makes *next, the index as kr_index_update would leave it, and leaves `index` as it is: lookups in it go on,
 * and so do prepared ones. examples/versions.c shows it.
 *
 * The two are indexes of their own. Each is destroyed by its owner when its readers are done, in any order. A
 * version may be made of a version as often as wanted: none refers to an older one.
 *
 * Kinds `array`, `pivot`, `eytzinger` and `dense` write all entries anew in an update, too, so a version
 * costs what an update costs. The others copy the index and update the copy: `btree`, `hash` and `chain`
 * their arrays, without the room that updates had left in them; `cgrx:updates=on`, which also builds its
 * scene again. An update that changes nothing makes a copy. Dictionaries of texts are shared until one takes
 * new texts; what kr_index_create_columns made of the columns is shared.
 *
 * Memory:  arrays as in kr_index_update. Both versions count against the cap, and shared memory counts once;
 *          kr_index_info.footprint_nbytes of each counts all that it holds. In addition to both, what
 *          kr_index_update takes. kr_index_info.peak_nbytes is what this call took.
 * Stream:  arrays in device memory are read in the order of `stream`. Waits for the work on `stream`, and for
 *          no lookup in `index`; returns when done.
 * Threads: any number may look up in `index` and make versions of it meanwhile; nobody may change or destroy
 *          it before the call returns. Other threads see *next as your program publishes it.
 * Errors:  as kr_index_update. KR_ERR_DEVICE_MEMORY and KR_ERR_HOST_MEMORY if there is no memory for both.
 *          `index` is as it was, and *next is not written.
 * Source:  multiversion concurrency control: Reed, "Naming and Synchronization in a Decentralized Computer
 *          System", 1978.
 *
 * @param insert_keys, insert_rows, delete_keys  as in kr_index_update
 * @param next  receives the version; kr_index_destroy releases it
 */
KR_API kr_status kr_index_next_version(const kr_index *index, const kr_column *insert_keys,
                                       const uint32_t *insert_rows, const kr_column *delete_keys,
                                       kr_stream *stream, kr_index **next, kr_error *err);

/**
 * As kr_index_next_version, of an index of kr_index_create_columns.
 *
 * Memory:  as kr_index_update_columns and kr_index_next_version.
 * Errors:  likewise.
 *
 * @param insert_columns, insert_rows, delete_columns  as in kr_index_update_columns
 */
KR_API kr_status kr_index_next_version_columns(const kr_index *index, const kr_column *insert_columns,
                                               const uint32_t *insert_rows, const kr_column *delete_columns,
                                               kr_stream *stream, kr_index **next, kr_error *err);

#ifdef __cplusplus
}
#endif
#endif
