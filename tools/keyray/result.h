/* Memory for the answers of one call, a summary of them, and their files. */
#ifndef KEYRAY_RESULT_H
#define KEYRAY_RESULT_H

#include "answers.h"

#include <keyray/keyray.h>

/* The choices of --result, in the order of kr_result. */
#define RESULT_CHOICES "row|count|sum-rows|sum|min|max|rows|exists"

struct result {
    kr_result kind;
    uint64_t n; /* probes */
    void *out;
    uint8_t *valid; /* of MIN, MAX, and of SUM over values with NULLs: which probes have a value */
    uint32_t *rows;
    uint64_t n_rows;
    const uint8_t *exists;       /* which probes matched, for results that hide it; not the result's own */
    const struct column *values; /* of SUM, MIN, MAX */
    char name[COLUMN_NAME_NBYTES + 8];
    uint64_t found;   /* probes with a match */
    uint64_t matches; /* of COUNT and ROWS: in all */
};

/* One of the choices, in `name`. */
enum { RESULT_NAME_NBYTES = 16 };
const char *result_name(kr_result kind, char name[RESULT_NAME_NBYTES]);
/* 1: SUM, MIN, MAX. */
int result_needs_values(kr_result kind);

/* What the library is asked for: sums of integers in 128 bits, two words for each. */
kr_result result_asked(const struct result *result);
/* The type of the elements that `-o` writes. */
kr_type result_type(const struct result *result);
/* Bytes of kr_sink.out. */
uint64_t result_nbytes(const struct result *result);

/* `values` NULL: none; `is_one_of`: there are several of these, and the name of the result has theirs. */
int result_open(struct result *result, kr_result kind, const struct column *values, int is_one_of,
                uint64_t n);
/* Room for the row ids, once `out` holds the offsets. */
int result_open_rows(struct result *result);
void result_close(struct result *result);

/* Sets found and matches; results that hide matches must have `exists`. */
void result_count(struct result *result);
/* Lines of text: one per probe; of ROWS one per match, and one for each probe without a match. */
uint64_t result_lines(const struct result *result);
/* Adds its column. Where there is no match, or no value that is not NULL, the cell of a sum is empty, too. */
void result_add(const struct result *result, answers *all);
/* Sets the bits of the probes that matched, by a result that shows it. */
void result_matches(const struct result *result, uint8_t *exists);
/* 1: the answers do not show whether a probe matched: a sum of 0 may be a match. */
int result_hides_matches(kr_result kind);

/* The files OUT<suffix>.npy of a result; returns how many there are. */
enum { RESULT_FILES_MOST = 2 };
uint32_t result_files(kr_result kind, const char *suffixes[RESULT_FILES_MOST]);
int result_write(const struct result *result, const char *path, const kr_progress *progress);

#endif
