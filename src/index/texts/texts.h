/* Dictionaries: the distinct texts of a column, each with a code. Points are found by their hashes, bounds by
 * slices of eight bytes (README.md). */
#ifndef KEYRAY_INDEX_TEXTS_TEXTS_H
#define KEYRAY_INDEX_TEXTS_TEXTS_H

#include "index/kinds/index.h"
#include "index/texts/column.h"
#include "index/texts/distinct_params.h"
#include "index/texts/layers.h"
#include <keyray/texts.h>

/* What bounds are found by: the slices of all runs one behind the other, levels above them, and which slices
 * have a run of their own behind them. */
typedef struct kr_texts_layers {
    kr_buffer slices; /* uint64_t, with the levels behind */
    kr_buffer runs;   /* texts_run */
    kr_buffer marks;  /* texts_mark, of 64 slices each */
    uint64_t n_slices, n_runs;
} kr_texts_layers;

struct kr_texts {
    kr_device *device;
    _Atomic uint32_t sharers; /* that release it, but for one */
    uint32_t is_ordered;      /* 1: codes are in the order of the texts */
    uint32_t reseeds;         /* seeds that were given up since texts shared a hash */
    uint64_t n;               /* texts */
    uint64_t n_bytes;         /* of all */
    uint32_t each;            /* bytes of every text, if all have as many, else 0 */
    uint32_t has_long;        /* 1: some rows that it was made of may be long (KR_STRINGS_LONG) */
    uint64_t id;              /* kr_column.dictionary of its codes */
    kr_buffer offsets;        /* int64_t, n + 1 */
    kr_buffer bytes;          /* padded by 8 */
    kr_strings_seed seed;
    uint64_t hash_mask;     /* ones; less only in tests */
    kr_index *table;        /* from hashes to codes; NULL without texts */
    kr_texts_layers layers; /* of an ordered one */
    kr_phases phases;
    uint64_t peak_nbytes;
};

/* How a dictionary is made. */
typedef struct kr_texts_design {
    uint32_t is_ordered;
    uint64_t first_mask; /* of the first seed's hashes, for tests of texts that share one; 0: all bits */
    const char *what;    /* the column's name in errors; NULL: "texts" */
    uint32_t *codes;     /* NULL, or device memory that gets the code of each row; KR_NO_ROW of NULL */
} kr_texts_design;

/* "ranges=on", "ranges=off"; NULL or "": ranges=on. */
kr_status kr_texts_parse(const char *spec, kr_texts_design *design, kr_error *err);

/* kr_texts_create with checked arguments. */
kr_status kr_texts_make(kr_device *device, const kr_texts_design *design, const kr_column *strings,
                        kr_stream *stream, kr_texts **texts, kr_error *err);
/* One more that releases it. */
kr_texts *kr_texts_share(const kr_texts *texts);
/* Waits for `stream` if it is given; other work with it is done. */
void kr_texts_release(kr_texts *texts, kr_stream *stream);
/* What kr_texts_make takes for a column, all of whose texts are counted as distinct. */
kr_need kr_texts_need(const kr_column *strings);

/* What a dictionary keeps, for files: the texts alone. Loading makes *texts, which the caller releases, also
 * after a failure. */
void kr_texts_image(kr_image *image, kr_texts **texts);

uint64_t kr_texts_nbytes(const kr_texts *texts);
uint64_t kr_texts_id(const kr_texts *texts);

/* The texts in the order of their codes. */
kr_strings kr_texts_strings(const kr_texts *texts);

/* A secret that no caller knows. */
kr_strings_seed kr_texts_secret(void);

/* ---- Steps of a work ---------------------------------------------------------------------------- */

/* codes[i] := the code of row i, KR_NO_ROW where it is NULL or not there; device memory. Piece by piece;
 * blocks, since broken rows fail. `what` NULL: they have no code, and where the device reaches all arrays
 * this only enqueues. */
void kr_texts_find(kr_work *work, const kr_texts *texts, const kr_column *strings, const char *what,
                   uint32_t *codes);

/* counts[i] := the number of texts that `which`, a KR_COUNT_*, says; device memory; `missing` for NULL and
 * broken rows. As kr_texts_find. */
void kr_texts_count(kr_work *work, const kr_texts *texts, const kr_column *strings, uint32_t which,
                    uint32_t missing, const char *what, uint32_t *counts);
/* The KR_COUNT_* of either end of a kr_texts_bound. */
uint32_t kr_texts_end(uint32_t how, int is_upper);

/* The first row of a column that is not NULL and whose code, in device memory, is none of a dictionary of n
 * texts, as KR_NO_ROW; UINT64_MAX: there is none. Blocks. */
uint64_t kr_texts_first_missing(kr_work *work, uint64_t n, const kr_column *column, const uint32_t *codes);
/* The same of a column of codes wherever it is; piece by piece where it is brought to the device. */
uint64_t kr_texts_find_missing(kr_work *work, uint64_t n, const kr_column *codes);

/* Adds codes low .. high; 0: there is no memory, which it has reported. */
typedef struct kr_texts_runs {
    int (*add)(void *ctx, uint32_t low, uint32_t high);
    void *ctx;
} kr_texts_runs;
/* The runs of codes among first .. first + n - 1 whose texts match a pattern of LIKE in host memory: bytes,
 * KR_STRINGS_ANY, KR_STRINGS_ONE. Ascending, with other codes between them. Blocks. */
void kr_texts_match(kr_work *work, const kr_texts *texts, const uint16_t *pattern, uint64_t n_pattern,
                    uint32_t first, uint32_t n, const kr_texts_runs *runs);

/* A dictionary of the same order of these texts and more; NULL after a failure. With ranges=off codes of
 * `texts` stay. `what` is the column's name in errors. Blocks. */
kr_texts *kr_texts_merge(kr_work *work, const kr_texts *texts, const kr_column *strings, const char *what);
/* n codes of `from`, in device memory, become those of `to`: KR_NO_ROW of texts that `to` has not,
 * and of codes of no text. */
void kr_texts_recode(kr_work *work, const kr_texts *from, const kr_texts *to, uint32_t *codes, uint64_t n);

/* KR_ERR_INVARIANT if a text is not found where it is. Blocks. */
void kr_texts_verify(kr_work *work, const kr_texts *texts);

/* The texts in the order of their codes, in device memory. */
kr_column kr_texts_column(const kr_texts *texts);

/* ---- Inside of this folder ----------------------------------------------------------------------- */

/* offsets[0 .. n] := where the texts of the rows begin if they lie one behind the other; returns their bytes.
 * KR_NO_ROW has an empty text; other rows are below n_rows, or this fails. Blocks. */
uint64_t kr_texts_measure_rows(kr_work *work, const kr_strings *strings, uint64_t n_rows,
                               const uint32_t *rows, uint64_t n, uint64_t *offsets);
/* The bytes of each of n > 0 texts if all have as many, else 0. Blocks. */
uint32_t kr_texts_length_of_all(kr_work *work, const uint64_t *offsets, uint64_t n, uint64_t nbytes);
/* Where all texts of n rows have one length: rows->each, so that no offset is read again. Blocks. */
void kr_texts_measure_all(kr_work *work, kr_strings *rows, uint64_t n);
void kr_texts_copy_rows(kr_work *work, const kr_strings *strings, const uint32_t *rows, uint64_t n,
                        uint64_t *offsets, uint8_t *bytes);

/* rows[] := a row of each distinct text, in the order of its first one; the sum of their bytes. `hashes` are
 * those of all rows, UINT64_MAX of NULLs. 0: two texts share a hash, and another seed should be tried. */
typedef struct kr_texts_distinct {
    uint32_t *rows; /* scratch memory */
    uint64_t n;
} kr_texts_distinct;
int kr_texts_find_distinct(kr_work *work, const kr_texts *texts, const kr_strings *strings, uint64_t n,
                           const uint64_t *hashes, kr_texts_distinct *distinct);
/* Of texts that are not long; others get UINT64_MAX, which no code has. notes: TEXTS_NOTES counters. */
void kr_texts_hash_rows(kr_work *work, const kr_texts *texts, const kr_strings *strings, uint64_t n,
                        uint64_t *hashes, uint64_t *notes);
/* Then those of the long texts, if the dictionary can have any: others are found without a hash. */
void kr_texts_hash_long(kr_work *work, const kr_texts *texts, const kr_strings *strings, uint64_t n,
                        uint64_t *hashes);
/* The codes of rows of the column that the dictionary was made of, by their hashes alone: equal ones are of
 * one text. `rows` says which of the n rows are NULL. */
void kr_texts_find_hashed(kr_work *work, const kr_texts *texts, const kr_strings *rows, uint64_t *hashes,
                          uint64_t n, uint32_t *codes);
/* Where each level begins, and the end of the last. */
void kr_texts_level_starts(uint64_t n_slices, uint64_t starts[KR_TEXTS_LEVELS + 1]);
/* Orders rows[0 .. n - 1] of distinct texts by these, and makes the layers, scratch memory of the work. */
void kr_texts_order(kr_work *work, const kr_strings *strings, uint32_t *rows, uint64_t n,
                    kr_texts_layers *layers);

#endif
