/* What the files of this folder share: an opened input, the file under construction, one reader per
 * format. See README.md for the invariants. */
#ifndef KEYRAY_IO_IO_H
#define KEYRAY_IO_IO_H

#include <keyray/keyray.h>

#include <stdbool.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "column files are little-endian, and are written without swapping bytes"
#endif

/* Bytes read or written between two calls of the progress callback. */
#define KR_IO_BUFFER_NBYTES ((size_t)4 << 20)

/* Text of a file or a path as an error shows it: printable and short. */
#define KR_IO_SHOWN_NBYTES 160
void kr_io_show(char shown[KR_IO_SHOWN_NBYTES], const char *text, size_t nbytes);

/* Grows or shrinks memory from kr_host_calloc to n * each bytes; new bytes are not zeroed. NULL: `memory` is
 * unchanged, and the error reads as that of kr_host_calloc. */
void *kr_io_resize(void *memory, uint64_t n, uint64_t each, const char *what, kr_error *err);

/* ---- Strings of a ":str" column (dictionary.c) --------------------------------------------- */

struct kr_dictionary;

struct kr_dictionary *kr_dictionary_create(kr_error *err);
/* Of n strings that ascend: string i, which gets code i, is from bytes[offsets[i]] to before
 * bytes[offsets[i + 1]]. */
struct kr_dictionary *kr_dictionary_create_of(const char *bytes, const uint64_t *offsets, uint32_t n,
                                              kr_error *err);
/* One more owner; each calls kr_dictionary_destroy. */
struct kr_dictionary *kr_dictionary_share(struct kr_dictionary *dictionary);
void kr_dictionary_destroy(struct kr_dictionary *dictionary);
/* kr_column.dictionary: a number that no other dictionary of the process has. */
uint64_t kr_dictionary_identity(const struct kr_dictionary *dictionary);
/* The code of a string, in order of first appearance. */
kr_status kr_dictionary_code(struct kr_dictionary *dictionary, const char *text, size_t nbytes,
                             uint32_t *code, kr_error *err);
/* Renumbers in byte order, once, when all strings are in; `rank` (caller frees) maps old codes to new. */
kr_status kr_dictionary_sort(struct kr_dictionary *dictionary, uint32_t **rank, kr_error *err);
/* The code of a string among sorted ones; false if it is not there. */
bool kr_dictionary_find(const struct kr_dictionary *dictionary, const char *text, size_t nbytes,
                        uint32_t *code);
/* NULL past the last code. A NUL follows the string. */
const char *kr_dictionary_string(const struct kr_dictionary *dictionary, uint32_t code, size_t *nbytes);

/* ---- The file that a reader fills (file.c) ------------------------------------------------- */

struct kr_file {
    kr_column column;              /* data and validity are the two below */
    kr_unit unit;                  /* of a timestamp64 */
    char name[KR_IO_SHOWN_NBYTES]; /* the source or the list, for errors */
    void *data;
    uint8_t *validity;
    struct kr_dictionary *dictionary; /* of codes of texts, else NULL */
    char *bytes;                      /* of texts that are spelled, else NULL */
};

/* spell.c: the texts of codes take their place, with the validity that column.validity names. */
kr_status kr_file_spell(struct kr_file *file, kr_error *err);
bool kr_file_is_spelled(const struct kr_file *file);

/* Marks a row NULL. The first call makes the bitmap: `capacity` rows, all ones. */
kr_status kr_file_set_null(struct kr_file *file, uint64_t row, uint64_t capacity, kr_error *err);

/* Columns of files begin at bit 0 of their validity. */
static inline bool kr_io_is_null(const kr_column *column, uint64_t row)
{
    return column->validity && !(column->validity[row / 8] >> (row % 8) & 1);
}

/* kr_file_convert to a type that the one does compare with; like->name may be "". */
kr_status kr_file_recast(struct kr_file *file, const struct kr_file *like, kr_error *err);

/* ---- Input (input.c) ----------------------------------------------------------------------- */

/* How many bytes there are is not known before they are read. */
#define KR_IO_UNKNOWN UINT64_MAX

struct kr_gzip;

struct kr_input {
    int fd;
    uint64_t nbytes;   /* when it was opened; KR_IO_UNKNOWN: compressed, or a pipe */
    uint64_t position; /* bytes handed out so far */
    uint64_t file_nbytes,
        file_position; /* of the file itself, which may be compressed; KR_IO_UNKNOWN as above */
    uint64_t begin;    /* where standard input stood, if it is a file */
    bool is_standard;
    struct kr_gzip *gzip; /* or NULL */
    const kr_progress *progress;
    const char *nulls;             /* words for NULL in text, or NULL */
    char name[KR_IO_SHOWN_NBYTES]; /* for errors */
};

/* Opens a regular file, or standard input for the path "-"; nothing to close on failure. */
kr_status kr_input_open(struct kr_input *input, const char *path, bool gzip, const kr_progress *progress,
                        kr_error *err);
void kr_input_close(struct kr_input *input);
/* Reads the next nbytes, fewer only at the end. A file that became shorter than it was when it was opened is
 * an error, so a caller that stays within input->nbytes always gets all it asked for. */
kr_status kr_input_read(struct kr_input *input, void *to, uint64_t nbytes, uint64_t *got, kr_error *err);

/* ---- gzip (gzip.c) ------------------------------------------------------------------------- */

/* Reads the next packed bytes, up to nbytes; 0 at their end. */
typedef kr_status (*kr_gzip_reader)(void *from, void *to, size_t nbytes, size_t *got, kr_error *err);

/* Unpacks what `read` gives. `name` is for errors; it and `from` stay until kr_gzip_close. KR_ERR_UNSUPPORTED
 * in a build without zlib. */
kr_status kr_gzip_open(const char *name, kr_gzip_reader read, void *from, struct kr_gzip **gzip,
                       kr_error *err);
void kr_gzip_close(struct kr_gzip *gzip);
/* The next unpacked bytes, up to nbytes; 0 at their end. */
kr_status kr_gzip_read(struct kr_gzip *gzip, void *to, size_t nbytes, size_t *got, kr_error *err);

/* ---- Readers: one per format, listed in file.c --------------------------------------------- */

/* `selector` is what follows the path and its ':' in the source, "" when nothing does. On failure the
 * caller frees what was put into *file. */
kr_status kr_read_npy(struct kr_input *input, const char *selector, struct kr_file *file, kr_error *err);
kr_status kr_read_bin(struct kr_input *input, const char *selector, struct kr_file *file, kr_error *err);
/* .csv finds its separator in the header; .tsv has tabs. */
kr_status kr_read_csv(struct kr_input *input, const char *selector, struct kr_file *file, kr_error *err);
kr_status kr_read_tsv(struct kr_input *input, const char *selector, struct kr_file *file, kr_error *err);
kr_status kr_read_tbl(struct kr_input *input, const char *selector, struct kr_file *file, kr_error *err);

/* Reads count elements of `type`, the file's next bytes, into a new column; KR_IO_UNKNOWN: all that follow.
 * Where the end is not known, memory is taken as bytes come in, so that a header's lie costs nothing. */
kr_status kr_read_elements(struct kr_input *input, kr_type type, uint64_t count, struct kr_file *file,
                           kr_error *err);

/* For error texts. */
#define KR_IO_TYPE_NAMES "u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 date32 timestamp64 timestamp64[s|ms|us|ns]"
/* The type of that name, 0 for none; "timestamp64[ms]" names a unit, too. */
kr_type kr_io_type_named(const char *name, kr_unit *unit);

#endif
