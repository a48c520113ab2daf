/**
 * keyray: version, status, errors, progress and columns, which all other headers use.
 *
 * Include <keyray/keyray.h>, which includes everything and states the rules of the interface.
 */
#ifndef KEYRAY_COMMON_H
#define KEYRAY_COMMON_H

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

typedef struct kr_device kr_device;
typedef struct kr_stream kr_stream;
typedef struct kr_index kr_index;

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
    /* not available here: choose another device or kind */
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
    KR_ERR_FORMAT = 51, /**< the file is malformed; the text names file, line and column */
    /* the rest */
    KR_ERR_INVARIANT = 60, /**< kr_index_validate found a broken invariant */
    KR_ERR_CANCELLED = 70, /**< the progress callback asked to stop */
    KR_ERR_INTERNAL = 90
} kr_status;

/** The name of a status as written above ("KR_ERR_SPEC"); never NULL. */
KR_API const char *kr_status_name(kr_status status);

/** Error text, owned by the caller. Written only when a call fails. This struct never grows. */
typedef struct kr_error {
    kr_status status;     /**< what the call returned */
    int32_t vendor_code;  /**< the CUDA error, errno or 0 */
    char vendor_call[64]; /**< the call that failed, or "" */
    char text[512];       /**< what, where, what to do: one line, no newline at its end */
    uint64_t reserved[4]; /**< 0 */
} kr_error;

/**
 * Called by long calls, on the calling thread: after every 2^22 elements of most steps, so short calls never
 * call it. On "cpu" also before each step of a scan, and of a table's build or change, over 2^22 rows or
 * more, and every 20 ms or so of a step that takes longer. If several threads call the library, several may
 * call it at once. This struct never grows.
 *
 * On a GPU work is enqueued, and what is enqueued cannot be cancelled. There it is called while columns are
 * copied from host memory, between the parts of a refit, and between the pieces of calls that work in pieces:
 * lookups in host memory, and chunks. Other lookups and scans, wherever their arrays are, and deletions by
 * condition do not call it.
 *
 * `fraction` runs from 0 to 1 within `phase`, a short static string. Return nonzero to stop: the call then
 * ends with KR_ERR_CANCELLED and leaves indexes, tables and files as they were; arrays of results may hold a
 * part of them.
 */
typedef struct kr_progress {
    int (*call)(void *ctx, const char *phase, double fraction); /**< NULL: no callback */
    void *ctx;
    uint64_t reserved[2]; /**< 0 */
} kr_progress;

/* ---- Columns ------------------------------------------------------------------------------- */

/**
 * Element types. The order of keys: integers by value; floats by value, -0 equal to +0, all NaNs equal and
 * after everything else. Every bit pattern is a legal key. Texts: by their bytes, the shorter first where one
 * begins with the other.
 *
 * The types from KR_STRING on are texts, as Arrow lays them out; kr_column says where their bytes are. What
 * they hold is bytes: strings and binaries are treated alike, need not be UTF-8, and may hold byte 0. An
 * empty text is not NULL.
 */
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
    KR_DATE32,       /**< int32_t, days since 1970-01-01 (Arrow's date32) */
    KR_TIMESTAMP64,  /**< int64_t in any unit; conditions know it from kr_table_options.units */
    KR_STRING,       /**< texts: `data` is count + 1 int32_t offsets into the bytes */
    KR_LARGE_STRING, /**< texts: `data` is count + 1 int64_t offsets into the bytes */
    KR_STRING_VIEW,  /**< texts: `data` is count views of 16 bytes, aligned to 8 */
    KR_BINARY,       /**< as KR_STRING */
    KR_LARGE_BINARY, /**< as KR_LARGE_STRING */
    KR_BINARY_VIEW   /**< as KR_STRING_VIEW */
} kr_type;

/** What one step of a timestamp64 is, counted from 1970-01-01 00:00:00 UTC. */
typedef enum kr_unit {
    KR_UNIT_NONE = 0, /**< not known, or not a timestamp64 */
    KR_UNIT_S,
    KR_UNIT_MS,
    KR_UNIT_US,
    KR_UNIT_NS
} kr_unit;

/** Bytes of one element; 0 of texts, and if `type` is not a valid kr_type. */
KR_API uint32_t kr_type_nbytes(kr_type type);
/** "u8" ... "timestamp64", "string" ... "binary_view"; NULL if `type` is not a valid kr_type. */
KR_API const char *kr_type_name(kr_type type);

/** A buffer that views of texts point into. This struct never grows. */
typedef struct kr_text_buffer {
    const void *data; /**< nbytes bytes; may be NULL when nbytes is 0 */
    uint64_t nbytes;
} kr_text_buffer;

/**
 * A borrowed view of a column. This struct never grows. A zeroed one is an empty column without a type, which
 * no call accepts as keys.
 *
 * Texts are codes of a dictionary, which kr_file_column names in `dictionary`. The same code says another
 * text in another dictionary, so columns that are compared must have the same one: else KR_ERR_TYPE. A copy
 * of the codes, in device memory for example, takes `dictionary` along. A program that numbers texts itself
 * sets 0.
 *
 * NULL rows are not indexed, and a NULL probe matches nothing. The arrays must stay valid until the call, or
 * the stream it was enqueued on, is done. An index keeps no pointer into its keys.
 */
typedef struct kr_column {
    kr_type type;
    uint32_t reserved;        /**< 0 */
    uint64_t count;           /**< rows */
    const void *data;         /**< count elements, aligned to their size; may be NULL when count is 0 */
    const uint8_t *validity;  /**< Arrow's bitmap, 1 is valid, least significant bit first; or NULL */
    uint64_t validity_offset; /**< the bit of row 0 in `validity` (the offset of a sliced Arrow array) */
    uint64_t dictionary;      /**< which dictionary the codes of texts (u32) belong to; 0: no texts */
    /**
     * Of texts where their bytes are: of offsets [0] is the address of the bytes and [1] their number; of
     * views [0] is the address of an array of kr_text_buffer in host memory, and [1] its length. Others: 0.
     */
    uint64_t reserved_words[2];
} kr_column;

/** "No row": the answer of KR_RESULT_ROW to a probe without a match. No row id has this value. */
#define KR_NO_ROW UINT32_C(0xFFFFFFFF)

#ifdef __cplusplus
}
#endif
#endif
