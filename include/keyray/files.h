/** keyray: column files. Include <keyray/keyray.h>. */
#ifndef KEYRAY_FILES_H
#define KEYRAY_FILES_H

#include <keyray/common.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/** 1 if it is a ":str" column, 0 for every other. */
KR_API int kr_file_is_text(const kr_file *file);

/**
 * Writes a .npy of shape (rows,) or, for columns > 1, (rows, columns) from host memory.
 *
 * Writes to a temporary file beside `path`, which is renamed when complete and removed on any error. A file
 * that is replaced keeps its permissions; links are followed; devices and pipes are refused. date32 is
 * written as datetime64[D] (8 bytes), timestamp64 as int64.
 */
KR_API kr_status kr_file_write(const char *path, kr_type type, uint64_t rows, uint32_t columns,
                               const void *data, const kr_progress *progress, kr_error *err);

/** Files that appear together, or not at all. Threads: one at a time. */
typedef struct kr_output kr_output;

KR_API kr_status kr_output_create(kr_output **output, kr_error *err);
/** Writes a temporary file beside `path`; arguments and errors as kr_file_write. After an error, destroy the
 *  output. */
KR_API kr_status kr_output_add_column(kr_output *output, const char *path, kr_type type, uint64_t rows,
                                      uint32_t columns, const void *data, const kr_progress *progress,
                                      kr_error *err);
/** The same with bytes of any format. */
KR_API kr_status kr_output_add_bytes(kr_output *output, const char *path, const void *data, uint64_t nbytes,
                                     const kr_progress *progress, kr_error *err);
/** Renames all temporary files, once. On an error every target is as it was before; KR_ERR_ARGUMENT if an add
 *  failed or the output was committed before. */
KR_API kr_status kr_output_commit(kr_output *output, kr_error *err);
/** Removes the temporary files that were not renamed. */
KR_API void kr_output_destroy(kr_output *output);

#ifdef __cplusplus
}
#endif
#endif
