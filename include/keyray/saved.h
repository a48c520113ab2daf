/** keyray: indexes and tables in files. Include <keyray/keyray.h>. */
#ifndef KEYRAY_SAVED_H
#define KEYRAY_SAVED_H

#include <keyray/files.h>
#include <keyray/scans.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One format for all kinds and devices (docs/format.md): what a GPU saved, a CPU loads, and the other way
 * round. docs/saving.md says what is checked, what is shared between processes, and what it costs.
 */

/* ---- Saving -------------------------------------------------------------------------------- */

/** Bytes of the caller's that a file keeps beside the index or table, under a name. */
typedef struct kr_attachment {
    const char *name; /**< 1 to 63 characters, another one for each */
    const void *data; /**< host memory, read until the file is saved */
    uint64_t nbytes;
} kr_attachment;

/** Input: what a file has beside the index or table. */
typedef struct kr_save_options {
    size_t struct_size;               /**< sizeof(kr_save_options) */
    const kr_attachment *attachments; /**< NULL: none */
    uint32_t n_attachments;
    uint32_t reserved; /**< 0 */
} kr_save_options;

/**
 * Writes an index to a file: all that lookups and changes need, with row ids, next_row and counters as they
 * are. Kinds with scenes write what these are built from.
 *
 * Writes to a temporary file beside `path`, which is renamed when complete and removed on any error, as
 * kr_file_write does. So the old file is whole until the new one is, also where an index is mapped from it.
 * Prepared lookups and joins are not saved, nor are phases and times.
 *
 * Threads: as a lookup: others may go on, but nothing may change the index meanwhile.
 * Errors:  KR_ERR_IO, KR_ERR_ARGUMENT, KR_ERR_HOST_MEMORY, KR_ERR_CANCELLED.
 *
 * @param options   NULL: no attachments
 * @param progress  NULL: no callback
 */
KR_API kr_status kr_index_save(const kr_index *index, const char *path, const kr_save_options *options,
                               const kr_progress *progress, kr_error *err);
/**
 * As kr_index_save, of a table: its columns, also those that it references, their names and units, the texts
 * of its dictionaries, also of those that it shares, which rows were deleted, and what the kind built. Row
 * ids stay.
 */
KR_API kr_status kr_table_save(const kr_table *table, const char *path, const kr_save_options *options,
                               const kr_progress *progress, kr_error *err);

/** The bytes of a saved index or table, piece by piece: for memory, streams and kr_output_add_pieces. */
typedef struct kr_pieces kr_pieces;

/**
 * Begins to save an index. It must not change, nor be destroyed, until the pieces are destroyed.
 *
 * Memory:  on a GPU two pinned buffers of 16 MiB.
 */
KR_API kr_status kr_index_pieces(const kr_index *index, const kr_save_options *options, kr_pieces **pieces,
                                 kr_error *err);
/** As kr_index_pieces, of a table; columns that it references must stay, too. */
KR_API kr_status kr_table_pieces(const kr_table *table, const kr_save_options *options, kr_pieces **pieces,
                                 kr_error *err);
/**
 * The next piece: a kr_next_piece, whose `ctx` is the kr_pieces. Pieces are in host memory.
 *
 * Threads: one at a time.
 * Errors:  KR_ERR_ARGUMENT if the index or table has changed since the pieces were begun.
 */
KR_API kr_status kr_pieces_next(void *pieces, const void **data, uint64_t *nbytes, double *fraction,
                                kr_error *err);
/** How many bytes all pieces have together. */
KR_API uint64_t kr_pieces_nbytes(const kr_pieces *pieces);
/** Releases them, at any time. */
KR_API void kr_pieces_destroy(kr_pieces *pieces);

/* ---- Saved files --------------------------------------------------------------------------- */

/** A saved index or table that is open. */
typedef struct kr_saved kr_saved;

/** What of a file is checked. Head and directory are in any case. */
typedef enum kr_verify {
    /**
     * Checksums of all bytes, and when an index or table is loaded, all that searches rely on: whatever the
     * file holds, there is an error and no crash. Reads all of it once.
     */
    KR_VERIFY_ALL = 0,
    /** Nothing else: the file is trusted. Of a mapped index only what lookups touch is read. */
    KR_VERIFY_HEADER
} kr_verify;

/** Input: how a file is opened. */
typedef struct kr_saved_options {
    size_t struct_size; /**< sizeof(kr_saved_options) */
    kr_verify verify;
    uint32_t n_dictionaries; /**< 0 or the number of columns */
    /**
     * kr_column.dictionary of each column with codes of a caller's texts, which then belong to it; 0 of
     * others, also where the file has the texts. NULL: all are 0. KR_ERR_ARGUMENT when a column with such
     * codes is loaded without. Copied by the call.
     */
    const uint64_t *dictionaries;
    const kr_progress *progress; /**< called while bytes are read and checked; NULL: no callback. Copied */
} kr_saved_options;

/**
 * Opens a saved file. It is mapped, and read when something is loaded.
 *
 * An index or table that a CPU loads is not copied: it stays in the mapped file, so that all processes that
 * map the file share one copy in memory. A file may be replaced meanwhile, as kr_index_save does; what was
 * mapped stays as it was. A mapped file must not be overwritten in place or cut off: whoever then reads what
 * is gone gets the signal SIGBUS.
 *
 * Errors:  KR_ERR_IO, KR_ERR_FORMAT (what is damaged, and at which byte; another byte order or format),
 *          KR_ERR_ARGUMENT, KR_ERR_HOST_MEMORY, KR_ERR_CANCELLED.
 *
 * @param options  NULL: all is verified, no texts
 */
KR_API kr_status kr_saved_open(const char *path, const kr_saved_options *options, kr_saved **saved,
                               kr_error *err);
/** As kr_saved_open, of bytes in host memory that stay until kr_saved_close. What is loaded is a copy. */
KR_API kr_status kr_saved_open_memory(const void *data, uint64_t nbytes, const kr_saved_options *options,
                                      kr_saved **saved, kr_error *err);

typedef enum kr_saved_what { KR_SAVED_INDEX = 1, KR_SAVED_TABLE } kr_saved_what;

/** Output: what a file holds. */
typedef struct kr_saved_info {
    size_t struct_size; /**< sizeof(kr_saved_info), set by the caller */
    kr_saved_what what;
    uint32_t format;           /**< version of the format */
    char version[32];          /**< of the library that saved it */
    char spec[KR_SPEC_NBYTES]; /**< every option filled in */
    uint64_t rows;             /**< of an index: indexed ones; of a table: deleted ones included */
    uint64_t next_row;         /**< the row id that the first row to be added gets */
    uint64_t nbytes;           /**< of the file */
    uint32_t n_columns;        /**< of an index 1, or those of kr_index_create_columns */
    uint32_t n_attachments;
} kr_saved_info;

/** Describes what a file holds. */
KR_API kr_status kr_saved_query(const kr_saved *saved, kr_saved_info *info, kr_error *err);
/**
 * Describes column `i`: its name ("" of an index), which lives as long as `saved`, type, unit, and whether it
 * has codes of texts: 0: no; 1: of a caller's texts; 2: of texts that the file has, too. The type is that of
 * the texts of an index that has them (kr_index_info.type), else that of the codes. Each output may be NULL.
 */
KR_API kr_status kr_saved_column(const kr_saved *saved, uint32_t i, const char **name, kr_type *type,
                                 kr_unit *unit, int *has_texts, kr_error *err);
/** The name of attachment `i`; NULL past the last. Lives as long as `saved`. */
KR_API const char *kr_saved_attachment_name(const kr_saved *saved, uint32_t i);
/** The bytes of an attachment, which live as long as `saved`; NULL: there is none of that name. */
KR_API const void *kr_saved_attachment(const kr_saved *saved, const char *name, uint64_t *nbytes);
/**
 * Compares all checksums, whatever kr_verify says, and loads nothing.
 *
 * Errors:  KR_ERR_FORMAT, naming the array and the byte where the damaged block begins, KR_ERR_CANCELLED.
 */
KR_API kr_status kr_saved_check(const kr_saved *saved, kr_error *err);

/**
 * Makes an index of a saved file, on any device that its kind runs on. It is as it was when it was saved.
 * kr_index_info.footprint_nbytes counts the bytes of a mapped index, kr_device_options.memory_cap_nbytes does
 * not. A change makes it a copy first, which the cap must allow.
 *
 * Phases:  `read` (bytes read, checksums compared), `bvh` (scenes built; what is made for them, as
 *          `triangles` and `boxes`, is named as in a build), `verify` (what searches rely on).
 * Stream:  work is done there. Returns when the index can be used from any stream.
 * Threads: several may load from one file at a time.
 * Errors:  KR_ERR_FORMAT (also where the file holds a table), KR_ERR_SPEC (a kind or an option that this
 *          library lacks), KR_ERR_UNSUPPORTED, KR_ERR_DEVICE_MEMORY, KR_ERR_HOST_MEMORY, KR_ERR_IO,
 *          KR_ERR_ARGUMENT, KR_ERR_CANCELLED.
 */
KR_API kr_status kr_index_load(kr_device *device, const kr_saved *saved, kr_stream *stream, kr_index **index,
                               kr_error *err);
/**
 * As kr_index_load, of a table. A CPU leaves columns in a mapped file, too, unless `options` ask for
 * KR_COPY_ALWAYS; KR_COPY_NEVER is refused where they are copied. kr_table_validate also compares with the
 * columns all that was built of them, which loading does not: of a crafted file a scan may give wrong rows.
 * Appending rows and deleting some makes a mapped table a copy first.
 *
 * Dictionaries are made anew of the texts of the file, and are the table's own.
 *
 * @param options  as in kr_table_create, NULL: defaults. find_text is given again; units and texts must be
 *                 NULL, since the file has them
 */
KR_API kr_status kr_table_load(kr_device *device, const kr_saved *saved, const kr_table_options *options,
                               kr_stream *stream, kr_table **table, kr_error *err);

/** Closes a file, before or after what was loaded from it is destroyed. */
KR_API void kr_saved_close(kr_saved *saved);

#ifdef __cplusplus
}
#endif
#endif
