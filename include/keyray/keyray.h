/**
 * keyray: indexes over database columns in GPU or CPU memory, answering lookups in bulk.
 *
 * Rules that hold for every function, unless its comment says otherwise:
 *
 * Shapes:    counts are numbers of elements (uint64_t), sizes end in _nbytes and are bytes.
 * Memory:    a pointer inside a kr_column, a kr_sink or a row id array may be host or device memory
 *            of the index's device; the library finds out which. Data must be aligned to its element.
 * Ownership: the caller keeps what it passes in; objects returned through a pointer are released by
 *            the function of the same object named _close, _destroy or _release. NULL is accepted there.
 * Streams:   NULL means the device's own stream. A call whose pointers are all device memory
 *            enqueues its work and returns; with any host pointer it returns when done.
 * Threads:   any number of threads may look up in one index at the same time; creating and
 *            destroying an object needs that object alone. There is no global state.
 * Errors:    outputs are written only on success (KR_OK, which is 0); the arrays of a kr_sink may be
 *            partly written when a lookup fails or is cancelled under way. `err` may be NULL,
 *            and is left alone on success.
 * Options:   option structs begin with struct_size; all other fields zero means default.
 *
 * docs/errors.md, docs/memory-and-streams.md and docs/threads.md say more.
 */
#ifndef KEYRAY_KEYRAY_H
#define KEYRAY_KEYRAY_H

#include <stddef.h>
#include <stdint.h>

#define KR_VERSION_MAJOR 0
#define KR_VERSION_MINOR 1
#define KR_VERSION_PATCH 0
#define KR_VERSION_STRING "0.1.0"

#if defined(_WIN32)
#define KR_API
#else
#define KR_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The version of the library that is loaded, e.g. "0.1.0"; compare with KR_VERSION_STRING. */
KR_API const char *kr_version(void);

/** The commit the library was built from, or "unknown". */
KR_API const char *kr_build_commit(void);

/* ---- Status and error ---------------------------------------------------------------------- */

/** Grouped by what a caller can do about it; the numbers are stable. See docs/errors.md. */
typedef enum kr_status {
    KR_OK = 0,
    /* the call is wrong: correct it */
    KR_ERR_ARGUMENT = 10, /**< a null pointer, misaligned data, lengths that differ */
    KR_ERR_TYPE = 11,     /**< keys and probes have different types */
    KR_ERR_SPEC = 12,     /**< an unknown kind, option or value; the text lists the known ones */
    KR_ERR_LIMIT = 13,    /**< more rows, or a larger result, than this call can hold */
    /* it cannot be had here: choose another device or kind */
    KR_ERR_UNSUPPORTED = 20, /**< this kind cannot do that on this device */
    KR_ERR_NO_DEVICE = 21,   /**< no such device on this machine */
    /* memory: free some, raise the cap, or use the option the text names */
    KR_ERR_HOST_MEMORY = 30,
    KR_ERR_DEVICE_MEMORY = 31,
    /* the device failed: DEVICE may be tried again, DEVICE_LOST needs a new process */
    KR_ERR_DEVICE = 40,
    KR_ERR_DEVICE_LOST = 41,
    /* files */
    KR_ERR_IO = 50,     /**< the system refused: open, read, write, rename */
    KR_ERR_FORMAT = 51, /**< the file says something wrong; file, line and column are named */
    /* the rest */
    KR_ERR_INVARIANT = 60, /**< kr_index_validate found a broken invariant */
    KR_ERR_CANCELLED = 70, /**< the progress callback asked to stop */
    KR_ERR_INTERNAL = 90
} kr_status;

/** The name of a status as written above ("KR_ERR_SPEC"); never NULL. */
KR_API const char *kr_status_name(kr_status status);

/** Caller-owned error text. The status returned is the truth; this says what, where, what to do. */
typedef struct kr_error {
    kr_status status;
    int32_t vendor_code;  /**< the CUDA error, errno or 0 */
    char vendor_call[64]; /**< the call that failed, or "" */
    char text[512];       /**< one line, no newline at its end */
} kr_error;

/**
 * Called now and then by long calls, on the calling thread.
 *
 * `fraction` runs from 0 to 1 within `phase`, a short static string. Return nonzero to stop: the call
 * ends with KR_ERR_CANCELLED and leaves nothing half done.
 */
typedef struct kr_progress {
    int (*call)(void *ctx, const char *phase, double fraction); /**< NULL: no callback */
    void *ctx;
} kr_progress;

/* ---- Columns ------------------------------------------------------------------------------- */

/** Element types. The order of keys: integers by value; floats by value, -0 equal to +0, all NaNs
 *  equal and after everything. Every bit pattern is a legal key. */
typedef enum kr_type {
    KR_U8 = 1,
    KR_I8,
    KR_U16,
    KR_I16,
    KR_U32,
    KR_I32,
    KR_U64,
    KR_I64,
    KR_F32,
    KR_F64,
    KR_DATE32,     /**< int32_t, days since 1970-01-01 (Arrow's date32) */
    KR_TIMESTAMP64 /**< int64_t in any unit */
} kr_type;

/** Bytes of one element, 0 for a number that is no type. */
KR_API uint32_t kr_type_nbytes(kr_type type);
/** "u8" ... "date32", "timestamp64"; NULL for a number that is no type. */
KR_API const char *kr_type_name(kr_type type);

/**
 * A borrowed view of a column; all-zero is an empty column of no type, which is never legal as keys.
 *
 * NULL rows are not indexed, and a NULL probe matches nothing. Must stay valid until the call, or the
 * stream it was enqueued on, is done; an index keeps no pointer into its keys.
 */
typedef struct kr_column {
    kr_type type;
    uint32_t reserved;        /**< 0 */
    uint64_t count;           /**< rows */
    const void *data;         /**< count elements; may be NULL when count is 0 */
    const uint8_t *validity;  /**< Arrow's bitmap, 1 is valid, least significant bit first; or NULL */
    uint64_t validity_offset; /**< the bit of row 0 in `validity` (a sliced Arrow array's offset) */
} kr_column;

/** "No row": the answer of KR_RESULT_ROW to a probe without a match. No row id has this value. */
#define KR_NO_ROW UINT32_C(0xFFFFFFFF)

/* ---- Devices and streams ------------------------------------------------------------------- */

typedef struct kr_device kr_device;
typedef struct kr_stream kr_stream;
typedef struct kr_index kr_index;

typedef struct kr_device_options {
    size_t struct_size; /**< sizeof(kr_device_options) */
    uint32_t threads;   /**< "cpu": threads a call may use; 0: one per core */
    uint32_t reserved;  /**< 0 */
    /** Bytes of device memory in use at once; 0: no cap. What was released may stay with the GPU's memory
     *  pool until the device closes, and counts no longer. */
    uint64_t memory_cap_nbytes;
    /**
     * The caller's allocator for device memory (host memory on "cpu"), e.g. a pool; all three or none.
     * Must be callable from any thread, aligned to 256 bytes. `native_stream` is the cudaStream_t in
     * whose order the memory is used, NULL on "cpu". Return NULL when there is none.
     */
    void *(*allocate)(void *ctx, size_t nbytes, void *native_stream);
    void (*release)(void *ctx, void *memory, size_t nbytes, void *native_stream);
    void *allocator_ctx;
    kr_progress progress; /**< of every long call on this device */
} kr_device_options;

typedef struct kr_device_info {
    char name[16];          /**< what opens it: "cpu", "cuda:0" */
    char description[96];   /**< "NVIDIA H200", "AMD EPYC ..." */
    char software[96];      /**< driver and runtime, or OpenMP and its thread count */
    uint64_t memory_nbytes; /**< in all */
    uint64_t in_use_nbytes; /**< held by keyray through this kr_device (0 when listed, not opened) */
    uint64_t peak_nbytes;   /**< the most ever held through this kr_device */
    uint32_t units;         /**< multiprocessors, or threads */
    int32_t rt_cores;       /**< 1 hardware ray tracing, 0 none, -1 not known */
    char tracer[64];        /**< what casts rays here, or "none: " and why */
} kr_device_info;

/**
 * Opens a device: "cpu", "cuda" (the first GPU), "cuda:1", or "auto" (a GPU if there is one, else the
 * CPU). Each name but "auto" means just that and fails where it is not to be had.
 *
 * Cost: "cuda" creates the driver's context on its first use in the process.
 * Errors: KR_ERR_NO_DEVICE, KR_ERR_ARGUMENT, KR_ERR_HOST_MEMORY, KR_ERR_DEVICE.
 */
KR_API kr_status kr_device_open(const char *name, const kr_device_options *options, kr_device **device,
                                kr_error *err);
/** Every index, join and stream of the device must be gone before; used afterwards, they are undefined. */
KR_API void kr_device_close(kr_device *device);
/** Never blocks; may be called while lookups run. */
KR_API kr_status kr_device_query(kr_device *device, kr_device_info *info, kr_error *err);

/**
 * Describes device number `ordinal` of this machine (0 is the CPU, GPUs follow) without creating a
 * CUDA context. KR_ERR_NO_DEVICE past the last; its text says why there is no GPU where there is none.
 */
KR_API kr_status kr_device_list(uint32_t ordinal, kr_device_info *info, kr_error *err);

/** A new stream of the device; the CPU runs every call at once, its streams are placeholders. */
KR_API kr_status kr_stream_create(kr_device *device, kr_stream **stream, kr_error *err);
/** Waits for what was enqueued, unless the stream is the caller's own and only wrapped. */
KR_API void kr_stream_destroy(kr_stream *stream);
/** Waits for the stream (NULL: the device's own); faults of enqueued work are reported here. */
KR_API kr_status kr_sync(kr_device *device, kr_stream *stream, kr_error *err);

/**
 * Memory of the device, counted against its cap and in its peak.
 *
 * On "cpu" plain host memory. Freed in stream order; release takes the same nbytes.
 * Errors: KR_ERR_DEVICE_MEMORY, which names the bytes needed, in use and allowed.
 */
KR_API kr_status kr_memory_allocate(kr_device *device, uint64_t nbytes, kr_stream *stream, void **memory,
                                    kr_error *err);
KR_API void kr_memory_release(kr_device *device, void *memory, uint64_t nbytes, kr_stream *stream);
/** Copies in any direction; blocks when either side is host memory. */
KR_API kr_status kr_memory_copy(kr_device *device, void *to, const void *from, uint64_t nbytes,
                                kr_stream *stream, kr_error *err);

/* ---- Kinds and spec strings ---------------------------------------------------------------- */

/* A spec names an index: "array", "array:layout=aos", "rx:bits=23:23:18,probes=sorted". The first ':' ends
 * the kind, ',' the options; others belong to a value. Options left out take their defaults, or what goes
 * with those given; an unknown kind, option or value is KR_ERR_SPEC and lists what is known. */

/** Room for any spec with every option filled in. */
#define KR_SPEC_NBYTES 256

typedef enum kr_option_form {
    KR_OPTION_CHOICE = 1, /**< one of `choices` */
    KR_OPTION_INTEGER,    /**< minimum <= value <= maximum */
    KR_OPTION_TRIPLE,     /**< "a:b:c", each minimum to maximum; its value is a | b << 8 | c << 16 */
    KR_OPTION_PAIR,   /**< "a:b", the same without c, or one of `choices`: "on" is the default, "off" 0:0 */
    KR_OPTION_DECIMAL /**< thousandths: "0.5" is 500; or one of `choices`, whose values are -1, -2, ... */
} kr_option_form;

/** One row of the table that parses specs and prints `keyray kinds`. */
typedef struct kr_option {
    const char *name;
    kr_option_form form;
    const char *choices;      /**< CHOICE: "soa|aos", whose values are 0, 1, ...; PAIR, DECIMAL: or NULL */
    int64_t minimum, maximum; /**< all but CHOICE: bounds, inclusive */
    int64_t standard;         /**< the default: a value */
    const char *help;         /**< one line */
} kr_option;

enum {
    KR_CAN_POINT = 1,
    KR_CAN_RANGE = 2,
    KR_CAN_UPDATE = 4,  /**< rows come and go: kr_index_update, perhaps with an option only */
    KR_CAN_SET_KEYS = 8 /**< rows get other keys: kr_index_set_keys */
};

typedef struct kr_kind_info {
    const char *name;
    const char *summary;   /**< one line */
    const char *source;    /**< paper and section */
    uint32_t capabilities; /**< KR_CAN_* */
    uint32_t n_options;
    const kr_option *options; /**< the kind's own; static */
    uint32_t n_common_options;
    const kr_option *common_options; /**< those of every kind; static */
} kr_kind_info;

/** Describes kind number `ordinal`; KR_ERR_SPEC past the last. All pointers are static. */
KR_API kr_status kr_kind_list(uint32_t ordinal, kr_kind_info *info, kr_error *err);

/** Writes the spec with every option filled in ("best": a GPU's); KR_ERR_LIMIT if it does not fit. */
KR_API kr_status kr_spec_print(const char *spec, char *text, size_t text_nbytes, kr_error *err);

/* ---- Indexes ------------------------------------------------------------------------------- */

typedef struct kr_estimate {
    uint64_t footprint_nbytes; /**< bytes kept */
    uint64_t peak_nbytes;      /**< bytes at the worst moment of the build, the footprint included */
} kr_estimate;

/**
 * Upper bounds of a build, at most 1.5 times the real figures when no key is NULL; scenes may turn out
 * smaller still, where equal keys share a primitive, parts hold few keys, the driver compacts well, or rows
 * and planes need few marks (cgrx: up to 3 times; its lists of nodes: up to 1.6). Only type and count of
 * `keys` are looked at, and whether there is validity, in host or device memory. Row ids of the caller's own
 * are not counted: up to 16 bytes a row at the peak, and 4 for a copy from host memory. Nor are changes:
 * kr_index_set_keys needs about both of old and new.
 */
KR_API kr_status kr_index_estimate(kr_device *device, const char *spec, const kr_column *keys,
                                   kr_estimate *estimate, kr_error *err);

typedef enum kr_operation { KR_OP_POINT = 1, KR_OP_RANGE, KR_OP_BUILD, KR_OP_JOIN } kr_operation;

typedef struct kr_explanation {
    char spec[KR_SPEC_NBYTES]; /**< every option filled in */
    char device[16];
    char tracer[64];
    char reason[256]; /**< why this kind, one sentence */
    kr_estimate estimate;
    double touches_per_probe; /**< dependent memory accesses of one probe */
    double rays_per_probe;    /**< at least, as ranges may span more; 0 for kinds that cast none */
    char probe_order[96];     /**< what probes=auto does here, and why */
} kr_explanation;

/** What would be done for `n_probes` probes, without doing it. `spec` may be "best". */
KR_API kr_status kr_explain(kr_device *device, kr_operation operation, const char *spec,
                            const kr_column *keys, uint64_t n_probes, kr_explanation *explanation,
                            kr_error *err);

/**
 * Builds an index over `keys`.
 *
 * Entries are ordered by (key, row id). At most 2^32 - 1 rows.
 *
 * Stream: `keys` and `row_ids` in device memory are read in the order of `stream`. Returns when the
 *         index can be used from any stream: it carries a ready event that later calls wait for.
 * Errors: KR_ERR_SPEC, KR_ERR_TYPE, KR_ERR_ARGUMENT, KR_ERR_LIMIT, KR_ERR_UNSUPPORTED, KR_ERR_DEVICE_MEMORY
 *         (naming the bytes needed, there, and the option that helps), KR_ERR_CANCELLED.
 *
 * @param spec     kind and options; "best" lets the library choose
 * @param row_ids  keys->count distinct ids below 2^32 - 1, or NULL: the positions 0, 1, 2, ...
 */
KR_API kr_status kr_index_create(kr_device *device, const char *spec, const kr_column *keys,
                                 const uint32_t *row_ids, kr_stream *stream, kr_index **index, kr_error *err);
/** Waits for lookups that were enqueued in it. */
KR_API void kr_index_destroy(kr_index *index);

#define KR_STATS_PARTS 8
#define KR_STATS_PHASES 16

/** Seconds of one phase of a build or a lookup. */
typedef struct kr_phase {
    char name[16];
    double seconds;
} kr_phase;

/** Of kinds whose entries lie in lists of nodes; all 0 for others. */
typedef struct kr_node_stats {
    uint64_t lists;
    uint64_t nodes;        /**< in all lists; a list has at least one */
    uint64_t room;         /**< nodes that there is memory for */
    uint32_t node_entries; /**< entries that a node holds at most */
    uint32_t longest;      /**< nodes of the longest list */
    double fill;           /**< entries in nodes, as a share of what they could hold */
    double mean_length;    /**< nodes a list */
} kr_node_stats;

typedef struct kr_index_info {
    char spec[KR_SPEC_NBYTES]; /**< every option filled in */
    char device[16];
    char tracer[64]; /**< "none" for kinds that cast no rays */
    kr_type type;    /**< of the keys */
    uint32_t n_parts, n_phases;
    uint64_t rows;                          /**< indexed: NULL rows are not */
    uint64_t next_row;                      /**< row id of the next inserted key: above all that were given */
    uint64_t footprint_nbytes, peak_nbytes; /**< peak: of the build or the last change */
    struct {
        char name[16];
        uint64_t nbytes;
    } parts[KR_STATS_PARTS];          /**< sum to footprint_nbytes */
    kr_phase phases[KR_STATS_PHASES]; /**< of the build or the last change; on the host's clock */
    kr_node_stats nodes;
} kr_index_info;

KR_API kr_status kr_index_stats(const kr_index *index, kr_index_info *info, kr_error *err);

/**
 * Checks every invariant of the index; KR_ERR_INVARIANT names the first that is broken.
 * Blocks. Cost: a pass over the index and 4 bytes a row of device memory, or a
 * sort of the row ids and about 24 bytes a row where they are sparse.
 */
KR_API kr_status kr_index_validate(kr_index *index, kr_error *err);

/**
 * Gives rows of the index other keys: row row_ids[i] gets keys->data[i].
 *
 * Afterwards the index answers as if it had been created from the changed column. How it gets there is
 * the kind's option `update`. Needs the index alone; waits for all work of the device, and returns when
 * done. On an error the index is as it was, unless the device was lost.
 *
 * Memory: `row_ids` and `keys` may be host or device memory, each; both may be freed afterwards. Takes about
 *         what a build takes at its peak, in bytes, beside the index.
 * Stream: arrays in device memory are read in the order of `stream`.
 * Errors: KR_ERR_UNSUPPORTED (the kind cannot), KR_ERR_TYPE, KR_ERR_ARGUMENT (a row id that is not in the
 *         index or given twice, a NULL key), KR_ERR_LIMIT (a key that the kind cannot hold),
 *         KR_ERR_HOST_MEMORY, KR_ERR_DEVICE_MEMORY, KR_ERR_DEVICE, KR_ERR_DEVICE_LOST, KR_ERR_CANCELLED.
 * Source: Henneberg and Schuhknecht, "RTIndeX", 3.6.
 *
 * @param row_ids  keys->count distinct row ids of rows that are indexed (not NULL)
 * @param keys     of the index's type, without NULLs; none at all succeed
 */
KR_API kr_status kr_index_set_keys(kr_index *index, const uint32_t *row_ids, const kr_column *keys,
                                   kr_stream *stream, kr_error *err);

/**
 * Deletes rows by their keys, then inserts others.
 *
 * Every row whose key is among `delete_keys` and that was there before the call goes; absent and repeated
 * keys are no error. Then insert_keys->data[i] becomes row insert_rows[i]. So a key that is both deleted and
 * inserted ends with the inserted rows only. Afterwards the index answers as if it had been created from the
 * rows that are left. Needs the index alone; waits for all work of the device, and returns when done. On an
 * error the index is as it was, unless the device was lost.
 *
 * Value columns of later lookups hold a value for every row id below kr_index_info.next_row.
 *
 * Memory: all arrays may be host or device memory, each; all may be freed afterwards. Nodes begin half empty
 *         (the option `fill`), and an eighth more of them is kept as room. Growing holds the old and the new
 *         slots at once. Deletes give nothing back: to shrink, create the index anew. A call takes the sorted
 *         batch, 24 bytes a list and 4 a node beside the index, and where it builds the index anew the sorted
 *         rows and a second scene.
 * Stream: arrays in device memory are read in the order of `stream`.
 * Errors: KR_ERR_UNSUPPORTED (the kind cannot, or not with its options: the text says which allows it),
 *         KR_ERR_TYPE, KR_ERR_ARGUMENT (row ids without keys, KR_NO_ROW as a row id), KR_ERR_LIMIT (more rows
 *         or higher row ids than an index holds), KR_ERR_HOST_MEMORY, KR_ERR_DEVICE_MEMORY, KR_ERR_DEVICE,
 *         KR_ERR_DEVICE_LOST, KR_ERR_CANCELLED.
 * Source: Henneberg, Schuhknecht, Kharal and Brown, "cgRX", 4, with deletes before inserts.
 *
 * @param insert_keys  of the index's type, or NULL for none; NULLs in it take a row id and are not indexed
 * @param insert_rows  insert_keys->count row ids, distinct and given to no row that stays (kr_index_validate
 *                     finds it), or NULL for kr_index_info.next_row and those after it
 * @param delete_keys  of the index's type, or NULL for none; NULLs in it delete nothing
 */
KR_API kr_status kr_index_update(kr_index *index, const kr_column *insert_keys, const uint32_t *insert_rows,
                                 const kr_column *delete_keys, kr_stream *stream, kr_error *err);

/* ---- Lookups ------------------------------------------------------------------------------- */

/** What is wanted per probe, and the shape of kr_sink.out for n probes. */
typedef enum kr_result {
    KR_RESULT_ROW = 1,  /**< uint32_t[n]: smallest matching row id, or KR_NO_ROW */
    KR_RESULT_COUNT,    /**< uint64_t[n] */
    KR_RESULT_SUM_ROWS, /**< uint64_t[n]: sum of the matching row ids, the papers' aggregate */
    KR_RESULT_SUM,      /**< uint64_t, int64_t or double [n] for unsigned, signed (dates too), float
                             values; integers modulo 2^64 */
    KR_RESULT_MIN,      /**< the value type [n], 0 where nothing matched, and `valid` */
    KR_RESULT_MAX,      /**< the same */
    KR_RESULT_ROWS,     /**< uint64_t[n + 1] offsets, and `rows` */
    KR_RESULT_EXISTS    /**< bitmap of n bits in ceil(n / 8) bytes, unused bits of the last byte 0 */
} kr_result;

/** Optional report on one lookup; asking for it makes the call wait for its end. */
typedef struct kr_report {
    char device[16];
    char tracer[64];
    /** What was done to the probes: "as-is", "sorted" or "partitioned"; where it was not the same for all,
     *  each with its number of probes: "partitioned 8388608, as-is 5". */
    char probe_order[96];
    uint64_t probes;
    /** 0 unless kr_sink.count_work asked, and for kinds that cast no rays: rays cast, primitives they met,
     * those of them that the real keys ruled out, probes whose candidate was wrong and was put right by
     * search, ranges that were answered without rays, wholly or from some row on. */
    uint64_t rays, hits, filtered, repaired, untraced;
    uint32_t n_phases;
    /** "copy", "sort", "search", "reduce", ...; batches in host memory on a GPU overlap all of them and give
     *  one phase, "copy+search". */
    kr_phase phases[KR_STATS_PHASES];
} kr_report;

enum {
    KR_ORDER_ROW = 0, /**< ROWS: row ids ascend within a probe */
    KR_ORDER_KEY = 1  /**< ROWS: by (key, row id), the order of the scan; spares a sort of wide ranges */
};

/**
 * Where the answers go. Results stand in probe order and are the same on every device (float sums may
 * differ in rounding). Not written beyond the shapes above.
 */
typedef struct kr_sink {
    size_t struct_size; /**< sizeof(kr_sink) */
    kr_result result;
    uint32_t order;          /**< ROWS: KR_ORDER_* */
    const kr_column *values; /**< SUM, MIN, MAX: one value per row id; NULL values are skipped */
    void *out;
    uint8_t *valid; /**< MIN, MAX: bitmap of n bits, 0 where nothing matched */
    /**
     * ROWS: NULL to count only (offsets are written), else room for rows_capacity row ids. With any host
     * pointer, too little room is KR_ERR_LIMIT and names what is needed. With device memory only, nothing
     * waits for the size: offsets[n] tells it, row ids that do not fit are left out (of a range that is
     * cut in the middle, any of its row ids may be those that fit), and room that is not needed may be
     * overwritten.
     */
    uint32_t *rows;
    uint64_t rows_capacity;
    kr_report *report;   /**< or NULL; host memory */
    uint32_t count_work; /**< 1: `report`, if there is one, counts rays and hits, which costs time */
    uint32_t reserved;   /**< 0 */
} kr_sink;

/**
 * Looks up every probe.
 *
 * A missing key is a result, not an error. Zero probes succeed.
 * Errors: KR_ERR_TYPE (probes->type differs from the keys'), KR_ERR_ARGUMENT, KR_ERR_LIMIT,
 *         KR_ERR_UNSUPPORTED, KR_ERR_DEVICE_MEMORY, KR_ERR_CANCELLED.
 */
KR_API kr_status kr_lookup(kr_index *index, const kr_column *probes, const kr_sink *sink, kr_stream *stream,
                           kr_error *err);

/**
 * Finds, for every i, the keys between lower[i] and upper[i], both inclusive. lower > upper, or a NULL
 * bound, is an empty range. Both columns have the keys' type and the same count.
 * Errors: as kr_lookup.
 */
KR_API kr_status kr_range(kr_index *index, const kr_column *lower, const kr_column *upper,
                          const kr_sink *sink, kr_stream *stream, kr_error *err);

/** One chunk of a ROWS result, in host memory, valid during the call. Nonzero stops the lookup. */
typedef int (*kr_rows_chunk)(void *ctx, uint64_t first_probe, uint64_t n_probes, const uint64_t *offsets,
                             const uint32_t *rows);

/**
 * All matches in chunks of at most `cap_nbytes` of row ids, cut between probes, in probe order.
 *
 * offsets[0 .. n_probes] start at 0 in every chunk. `upper` NULL means point lookups. Blocks.
 * Errors: as kr_lookup; KR_ERR_LIMIT with the size needed when one probe alone exceeds the cap,
 *         KR_ERR_CANCELLED when the callback returned nonzero.
 */
KR_API kr_status kr_lookup_chunks(kr_index *index, const kr_column *lower, const kr_column *upper,
                                  uint32_t order, uint64_t cap_nbytes, kr_rows_chunk chunk, void *ctx,
                                  kr_error *err);

/* ---- Joins --------------------------------------------------------------------------------- */

typedef enum kr_join_type { KR_JOIN_INNER = 1, KR_JOIN_SEMI, KR_JOIN_ANTI, KR_JOIN_LEFT } kr_join_type;
typedef enum kr_join_inverse { KR_INVERSE_AUTO = 0, KR_INVERSE_ON, KR_INVERSE_OFF } kr_join_inverse;

typedef struct kr_join_options {
    size_t struct_size;      /**< sizeof(kr_join_options) */
    kr_join_type type;       /**< 0: inner */
    kr_join_inverse inverse; /**< AUTO indexes the smaller side; ON the left, OFF the right */
    uint32_t unordered;      /**< 1: pairs in any order, spares a sort when the left side was indexed */
    uint32_t reserved;       /**< 0 */
} kr_join_options;

typedef struct kr_join_info {
    char spec[KR_SPEC_NBYTES];
    char device[16];
    char tracer[64]; /**< "none" for kinds that cast no rays */
    char indexed[8]; /**< "left" or "right" */
    uint64_t pairs;  /**< rows of the result: pairs, or the left rows of semi and anti joins */
    uint64_t footprint_nbytes, peak_nbytes;
    uint32_t n_phases;
    kr_phase phases[KR_STATS_PHASES];
} kr_join_info;

typedef struct kr_join kr_join;

/**
 * Joins two columns of one type on equal values and holds the result, in device memory.
 *
 * inner and left: pairs (left row, right row), sorted by both unless unordered; the right row is
 * KR_NO_ROW where a left row has no partner. semi and anti: left rows, ascending. NULL equals nothing;
 * NULL left rows appear in anti and left joins. NaN equals NaN.
 * Blocks. Source: inverse mapping, from a thesis on joins by ray tracing (see src/joins/README.md).
 * Errors: as kr_index_create and kr_lookup.
 */
KR_API kr_status kr_join_create(kr_device *device, const char *spec, const kr_column *left,
                                const kr_column *right, const kr_join_options *options, kr_join **join,
                                kr_error *err);
/** The same with a range per right row: left values between right_lower[i] and right_upper[i]. Indexes
 *  the left side; `inverse` OFF is KR_ERR_UNSUPPORTED. */
KR_API kr_status kr_join_create_range(kr_device *device, const char *spec, const kr_column *left,
                                      const kr_column *right_lower, const kr_column *right_upper,
                                      const kr_join_options *options, kr_join **join, kr_error *err);
KR_API kr_status kr_join_stats(const kr_join *join, kr_join_info *info, kr_error *err);
/** Copies result rows first .. first + count - 1. `right_rows` is not
 * used for semi and anti. Blocks. */
KR_API kr_status kr_join_read(kr_join *join, uint64_t first, uint64_t count, uint32_t *left_rows,
                              uint32_t *right_rows, kr_error *err);
KR_API void kr_join_destroy(kr_join *join);

/* ---- Column files -------------------------------------------------------------------------- */

typedef struct kr_file kr_file;

/**
 * Reads one column into host memory.
 *
 * `source`: "file.npy" (1-D, C order, little-endian integers of 1, 2, 4, 8 bytes, f4, f8,
 * datetime64[D]); "file.csv:name" (header row, quotes as in RFC 4180); "file.tbl:3" (TPC-H's '|' files,
 * columns from 0); "file.bin:u32" (raw, little-endian). Text columns: integers are i64, decimals f64,
 * ISO dates date32, unless a type follows ("file.csv:name:u32", ":str" for a dictionary in byte order
 * with u32 codes). An empty field is NULL.
 *
 * Errors: KR_ERR_IO, KR_ERR_FORMAT (naming file, line and column), KR_ERR_ARGUMENT, KR_ERR_HOST_MEMORY,
 *         KR_ERR_CANCELLED.
 */
KR_API kr_status kr_file_read(const char *source, const kr_progress *progress, kr_file **file, kr_error *err);
/** Borrowed; lives as long as the file. */
KR_API const kr_column *kr_file_column(const kr_file *file);
/** The string behind a code of a ":str" column, and its length; NULL for other columns and codes. */
KR_API const char *kr_file_string(const kr_file *file, uint32_t code, size_t *nbytes);
KR_API void kr_file_close(kr_file *file);

/**
 * Writes a .npy of shape (rows,) or, for columns > 1, (rows, columns) from host memory.
 *
 * Goes to a temporary beside `path` and is renamed when whole; nothing is left on any error.
 * date32 is written as datetime64[D] (8 bytes), timestamp64 as int64.
 */
KR_API kr_status kr_file_write(const char *path, kr_type type, uint64_t rows, uint32_t columns,
                               const void *data, const kr_progress *progress, kr_error *err);

#ifdef __cplusplus
}
#endif
#endif
