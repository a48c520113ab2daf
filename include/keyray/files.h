/** keyray: column files. Include <keyray/keyray.h>. */
#ifndef KEYRAY_FILES_H
#define KEYRAY_FILES_H

#include <keyray/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A column in host memory, with its unit and its texts. */
typedef struct kr_file kr_file;

/** Input: how a file is read. */
typedef struct kr_file_options {
    size_t struct_size; /**< sizeof(kr_file_options) */

    /**
     * Words with ',' between them, as in "NA,NULL": a field of a text file that is one of them, not in
     * quotes, is NULL. An empty field is NULL in any case. NULL: no words.
     */
    const char *nulls;
    /**
     * 1: a column of texts has the texts themselves (KR_LARGE_STRING), which indexes, joins, tables and
     * kr_texts_create take, beside those of any other file. Takes the bytes of every row, and 8 for each. 0:
     * codes of a dictionary of the file's own (KR_U32), as kr_file_string and kr_file_convert need them.
     */
    uint32_t texts;
    uint32_t reserved; /**< 0 */
} kr_file_options;

/**
 * Reads one column into host memory.
 *
 * `source` names a file, and where it has several columns one of them:
 *
 * - "file.npy": one dimension; integers of 1, 2, 4 and 8 bytes, f2 (which becomes f32), f4, f8, bool (u8),
 *   and datetime64[D|s|ms|us|ns] of either byte order; NaT is NULL.
 * - "file.csv:name" (a header row, quotes as in RFC 4180; lines end with LF, CR LF or CR; ',', ';' or a tab
 *   separates the fields, whichever is most frequent in the header), "file.tsv:name" (tabs). "file.csv:0" or
 *   "file.csv:#0" is the column at that position, from 0, unless the header has a column of that name.
 * - "file.tbl:3": TPC-H's '|' files, columns from 0.
 * - "file.bin:u32": raw, little-endian.
 * - Any of these with ".gz" behind the extension, e.g. "file.csv.gz:name": gzip.
 * - "-.csv:name", "-.npy", ...: standard input; "-:name" is short for "-.csv:name". It is read from where it
 *   stands and, if it is a file, left there.
 *
 * Columns of text files: integers are i64, decimals f64, ISO dates date32, times timestamp64[us]. If the
 * first field that is not NULL is none of these, the column is texts: u32 codes of a dictionary in byte
 * order, or the texts themselves (kr_file_options.texts); a text behind numbers or dates is an error. A type
 * that follows says otherwise ("file.csv:name:u32",
 * ":timestamp64[ns]", ":str" for texts).
 * "timestamp64[s]", [ms], [us] and [ns] are of that unit; integers of "timestamp64" are of a unit that is not
 * known. Times may end with Z or +hh:mm and are turned to UTC. Years below 0 or above 9999 have a sign:
 * "-0044-03-15", "+12024-01-31", as in ISO 8601. The same types behind "file.npy" convert it exactly;
 * integers become timestamps of the unit named. An empty field is NULL, and so are the words of
 * kr_file_options.nulls.
 *
 * Rows count from 0, without the header.
 *
 * Threads: any.
 * Errors:  KR_ERR_IO, KR_ERR_FORMAT (naming file, line and column), KR_ERR_ARGUMENT, KR_ERR_TYPE (a .npy
 *          whose values the type lacks), KR_ERR_UNSUPPORTED (.gz in a build without zlib),
 *          KR_ERR_HOST_MEMORY, KR_ERR_CANCELLED.
 *
 * @param options   NULL: defaults
 * @param progress  NULL: no callback
 */
KR_API kr_status kr_file_read(const char *source, const kr_file_options *options, const kr_progress *progress,
                              kr_file **file, kr_error *err);

/**
 * Returns, and reads nothing for that, how many bytes of a source name its file, with the extension: what
 * stands before the ':' of the column; 0 if kr_file_read would refuse the source, as its name is not that of
 * a supported file.
 */
KR_API size_t kr_file_path_nbytes(const char *source);
/** The column. Borrowed; lives as long as the file, and as long as kr_file_convert does not change it. */
KR_API const kr_column *kr_file_column(const kr_file *file);
/** The unit of a timestamp64 column; KR_UNIT_NONE if it is not known, and for other types. */
KR_API kr_unit kr_file_unit(const kr_file *file);
/** The string behind a code of a column of codes, and its length; NULL for other columns and codes. */
KR_API const char *kr_file_string(const kr_file *file, uint32_t code, size_t *nbytes);
/** 1 if it is a column of texts, 0 for every other. */
KR_API int kr_file_is_text(const kr_file *file);
/** Releases the file, with its column and its texts. */
KR_API void kr_file_close(kr_file *file);

/**
 * Makes a column comparable with the column `like`: its values become those of like's type and unit.
 *
 * Values convert where the other type holds the same value, else the call fails and names the first that does
 * not. Numbers go by value. A date is the instant of its midnight in UTC, also where it is the upper bound of
 * a range. Only midnight times convert to dates. Units of timestamps convert into each other; a unit that is
 * not known goes with none that is. Numbers, dates and times, and texts do not compare with each other. A
 * column of texts takes over the dictionary of `like`, and its codes become the codes there; a text that is
 * not there has none, and the call fails. Columns of kr_file_options.texts stay as they are: they compare
 * with each other, and not with codes.
 *
 * Errors:  KR_ERR_TYPE, KR_ERR_ARGUMENT, KR_ERR_HOST_MEMORY; *file is then unchanged.
 */
KR_API kr_status kr_file_convert(kr_file *file, const kr_file *like, kr_error *err);

/**
 * Makes a column of values that are written by hand, of the type and unit of `like`.
 *
 * `text`: values with ',' between them, in single or double quotes where they hold a ',' (a quote inside is
 * doubled): "42,43", "2024-01-01", "'a, b',NULL". They convert as in kr_file_convert: 5.0 is an integer,
 * 2024-01-01 a timestamp. The word NULL, not in quotes, is NULL. Where `like` has texts, so has the
 * result; of codes with a dictionary of its own (see kr_file_convert). Close it with kr_file_close.
 *
 * Errors:  KR_ERR_ARGUMENT (naming the value), KR_ERR_HOST_MEMORY.
 */
KR_API kr_status kr_file_literals(const char *text, const kr_file *like, kr_file **file, kr_error *err);

/**
 * Makes a column without rows, to be `like` in kr_file_convert and kr_file_literals: where a type, a unit and
 * texts are known, and no file is there, as of an index that was saved.
 *
 * Texts make it a column of texts of KR_U32, with a dictionary of its own (kr_column.dictionary). Text i,
 * which gets code i, is from bytes[offsets[i]] to before bytes[offsets[i + 1]], as in Arrow's large_utf8.
 * They ascend byte by byte, each once, and are copied. Close it with kr_file_close.
 *
 * Errors:  KR_ERR_TYPE (also a unit of what is no timestamp, and texts of another type than KR_U32),
 *          KR_ERR_ARGUMENT (offsets that descend, texts that do not ascend: the text says which),
 *          KR_ERR_HOST_MEMORY.
 *
 * @param name     what errors call it; NULL: ""
 * @param offsets  n_texts + 1 of them; NULL: it has no texts
 */
KR_API kr_status kr_file_empty(const char *name, kr_type type, kr_unit unit, const char *bytes,
                               const uint64_t *offsets, uint32_t n_texts, kr_file **file, kr_error *err);

/** Room for a value as text, with its NUL. */
#define KR_VALUE_NBYTES 48

/**
 * Writes an element as text that kr_file_literals and CSV files read back as the same value, and a NUL;
 * returns its length, 0 for an unknown type or unit. Dates are YYYY-MM-DD; timestamps with a unit YYYY-MM-DD
 * HH:MM:SS[.fraction] in UTC, others integers; floats and fractions have as few digits as read back. Years
 * below 0 have a '-', those above 9999 a '+'. Does not depend on the locale.
 */
KR_API uint32_t kr_value_text(kr_type type, kr_unit unit, const void *value, char text[KR_VALUE_NBYTES]);

/**
 * Writes a .npy of shape (rows,) or, for columns > 1, (rows, columns) from host memory.
 *
 * Writes to a temporary file beside `path`, which is renamed when complete and removed on any error. A file
 * that is replaced keeps its permissions; links are followed; devices and pipes are refused. date32 is
 * written as datetime64[D] (8 bytes), timestamp64 as int64.
 */
KR_API kr_status kr_file_write(const char *path, kr_type type, uint64_t rows, uint32_t columns,
                               const void *data, const kr_progress *progress, kr_error *err);

/** Files that appear together, or not at all. One thread at a time may use it. */
typedef struct kr_output kr_output;

/** Makes an output that has no files yet. */
KR_API kr_status kr_output_create(kr_output **output, kr_error *err);

/**
 * Writes a column to a temporary file beside `path`; the arguments are those of kr_file_write. After an
 * error, destroy the output.
 *
 * Errors:  as kr_file_write.
 */
KR_API kr_status kr_output_add_column(kr_output *output, const char *path, kr_type type, uint64_t rows,
                                      uint32_t columns, const void *data, const kr_progress *progress,
                                      kr_error *err);
/** As kr_output_add_column, with bytes of any format. */
KR_API kr_status kr_output_add_bytes(kr_output *output, const char *path, const void *data, uint64_t nbytes,
                                     const kr_progress *progress, kr_error *err);

/**
 * A piece of a file: `*data` and `*nbytes`, valid until the next call; 0 bytes end the file. `*fraction` is 0
 * when it is called, and may be set to the share of the file that ends with this piece, for progress. Another
 * status than KR_OK stops the writing; kr_output_add_pieces returns it.
 */
typedef kr_status (*kr_next_piece)(void *ctx, const void **data, uint64_t *nbytes, double *fraction,
                                   kr_error *err);

/**
 * As kr_output_add_bytes, for a file that need not be in memory at once. `next` is called in the calling
 * thread, and no more after the end or an error.
 */
KR_API kr_status kr_output_add_pieces(kr_output *output, const char *path, kr_next_piece next, void *ctx,
                                      const kr_progress *progress, kr_error *err);

/**
 * Renames all temporary files, once. On an error every target is as it was before, or the text says which one
 * the system did not let be put back, and where its old content is.
 *
 * Errors:  KR_ERR_ARGUMENT if an add failed or the output was committed before; KR_ERR_IO.
 */
KR_API kr_status kr_output_commit(kr_output *output, kr_error *err);
/** Releases the output, and removes the temporary files that were not renamed. */
KR_API void kr_output_destroy(kr_output *output);

#ifdef __cplusplus
}
#endif
#endif
