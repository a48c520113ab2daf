/** keyray: dictionaries of texts, which give each distinct text a code. Include <keyray/keyray.h>. */
#ifndef KEYRAY_TEXTS_H
#define KEYRAY_TEXTS_H

#include <keyray/indexes.h>
#include <keyray/lookups.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A dictionary: the distinct texts of a column. The code of a text is its position among them, a uint32_t.
 *
 * With `ranges=on` codes are in the order of the bytes of the texts, so that codes compare as their texts do.
 * With `ranges=off` they are in the order of the first rows, and there are no bounds, which take memory.
 */
typedef struct kr_texts kr_texts;

/**
 * Makes a dictionary of the texts of `strings`: at most 2^32 - 2 rows. NULL rows are left out.
 *
 * Memory:  any array of the column may be host or device memory, and is not needed afterwards. For each
 *          distinct text the dictionary keeps its bytes, 8 bytes of offsets, about 16 for its hash, and with
 *          `ranges=on` 9 to 18 for slices; up to its own bytes where many long texts begin as another one.
 *          While it is made, it takes about 40 bytes more for each row and 100 for each distinct text.
 * Stream:  arrays in device memory are read in the order of `stream`. Returns when the dictionary can be
 *          used from any stream.
 * Errors:  KR_ERR_TYPE (the column is no text), KR_ERR_ARGUMENT (a row is broken: the text names it and
 *          says why), KR_ERR_SPEC, KR_ERR_LIMIT, KR_ERR_DEVICE_MEMORY, KR_ERR_HOST_MEMORY,
 *          KR_ERR_CANCELLED.
 *
 * @param spec  "ranges=on" or "ranges=off"; NULL: "ranges=on"
 */
KR_API kr_status kr_texts_create(kr_device *device, const kr_column *strings, const char *spec,
                                 kr_stream *stream, kr_texts **texts, kr_error *err);

/**
 * Writes the code of each row of `strings`, which may have another text type than the dictionary was made of.
 *
 * Memory:  `codes` and each array of the column may be host or device memory. Works piece by piece.
 * Stream:  arrays in device memory are read in the order of `stream`. Returns when done.
 * Threads: any number of threads may use one dictionary at the same time.
 * Errors:  as kr_texts_create.
 *
 * @param codes  strings->count codes; KR_NO_ROW for NULL, and for a text that is not in the dictionary
 */
KR_API kr_status kr_texts_encode(const kr_texts *texts, const kr_column *strings, uint32_t *codes,
                                 kr_stream *stream, kr_error *err);

/** Which texts kr_texts_bounds asks for. */
typedef enum kr_texts_bound {
    KR_TEXTS_FROM = 1, /**< the text of the row and those above it: `>=` */
    KR_TEXTS_ABOVE,    /**< `>` */
    KR_TEXTS_TO,       /**< the text of the row and those below it: `<=` */
    KR_TEXTS_BELOW,    /**< `<` */
    KR_TEXTS_PREFIX    /**< those that begin with it: LIKE 'ab%' */
} kr_texts_bound;

/**
 * Writes for each row of `strings` which codes satisfy it: those from lower[i] to below upper[i]. The texts
 * of the rows need not be in the dictionary. None: both are equal, as for a NULL.
 *
 * Memory, stream, threads: as kr_texts_encode.
 * Errors:  as kr_texts_create; KR_ERR_UNSUPPORTED for a dictionary with ranges=off.
 *
 * @param lower, upper  strings->count numbers each; one of both may be NULL
 */
KR_API kr_status kr_texts_bounds(const kr_texts *texts, const kr_column *strings, kr_texts_bound how,
                                 uint32_t *lower, uint32_t *upper, kr_stream *stream, kr_error *err);

/**
 * Writes the texts of codes, one behind the other: text i is at bytes[offsets[i]] to below bytes[offsets[i +
 * 1]]. That of KR_NO_ROW is empty. So both arrays are a column of KR_LARGE_STRING.
 *
 * Memory:  each array may be host or device memory.
 * Stream:  returns when done.
 * Threads: as kr_texts_encode.
 * Errors:  KR_ERR_ARGUMENT (a code that no text has), KR_ERR_LIMIT (the texts need more than capacity_nbytes;
 *          the text says how many), KR_ERR_DEVICE_MEMORY, KR_ERR_CANCELLED.
 *
 * @param offsets  n_codes + 1 numbers
 * @param bytes    NULL: only offsets are written, whose last one is how many bytes the texts need
 */
KR_API kr_status kr_texts_decode(const kr_texts *texts, const uint32_t *codes, uint64_t n_codes,
                                 int64_t *offsets, void *bytes, uint64_t capacity_nbytes, kr_stream *stream,
                                 kr_error *err);

/** Output: what a dictionary is. */
typedef struct kr_texts_info {
    size_t struct_size; /**< sizeof(kr_texts_info), set by the caller */
    char spec[32];      /**< "ranges=on" or "ranges=off" */
    char device[16];
    uint64_t count;            /**< distinct texts; codes are below it */
    uint64_t text_nbytes;      /**< of all of them */
    uint64_t dictionary;       /**< kr_column.dictionary of a column of its codes */
    uint64_t footprint_nbytes; /**< bytes kept */
    uint64_t peak_nbytes;      /**< most bytes while it was made */
    uint64_t seeds_given_up;   /**< since two texts had the same hash */
} kr_texts_info;

/** Describes a dictionary. */
KR_API kr_status kr_texts_query(const kr_texts *texts, kr_texts_info *info, kr_error *err);

/**
 * The dictionary of an index over texts: its own (kr_index_create of a column of texts), or one that
 * kr_index_set_texts gave to it; NULL: it has none. The index keeps it. It is there until the index is
 * destroyed, or changed by rows with texts that are new to it.
 */
KR_API const kr_texts *kr_index_texts(const kr_index *index);

/**
 * Gives a dictionary to an index of its codes: a column of u32 whose `dictionary` is that of kr_texts_info.
 * All calls of the index then take texts, too. Each key must have a text: leave rows NULL where
 * kr_texts_encode gave KR_NO_ROW. Several indexes may share one dictionary; it lives until
 * kr_texts_destroy was called and all of them are gone. kr_index_update with texts that the dictionary has
 * not gives the index a dictionary of its own.
 *
 * Threads: no other call may use the index meanwhile.
 * Errors:  KR_ERR_TYPE (keys of the index are other codes, or none), KR_ERR_ARGUMENT (another device, a key
 *          without a text), KR_ERR_HOST_MEMORY, KR_ERR_DEVICE_MEMORY.
 */
KR_API kr_status kr_index_set_texts(kr_index *index, const kr_texts *texts, kr_error *err);

/**
 * Looks up the texts that each probe says by one bound or a prefix: `>=`, `>`, `<=`, `<`, LIKE 'ab%'. For
 * both bounds, use kr_index_range. A NULL has no answer.
 *
 * Memory, stream, threads: as kr_index_range.
 * Errors:  as kr_index_range; KR_ERR_TYPE if keys of the index, or the probes, are no texts;
 *          KR_ERR_UNSUPPORTED for a dictionary with ranges=off.
 */
KR_API kr_status kr_index_lookup_texts(kr_index *index, const kr_column *probes, kr_texts_bound how,
                                       const kr_sink *sink, kr_stream *stream, kr_error *err);

/**
 * Releases a dictionary. Its own calls are done when they return; indexes and tables that share it keep it,
 * and wait for what was enqueued on them.
 */
KR_API void kr_texts_destroy(kr_texts *texts);

#ifdef __cplusplus
}
#endif
#endif
