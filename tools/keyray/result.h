/* Memory for the answers of one call, a summary of them, and their files. */
#ifndef KEYRAY_RESULT_H
#define KEYRAY_RESULT_H

#include <keyray/keyray.h>

/* The choices of --result, in the order of kr_result. */
#define RESULT_CHOICES "row|count|sum-rows|sum|min|max|rows|exists"

struct result {
    kr_result kind;
    kr_type value_type; /* of SUM, MIN, MAX */
    uint64_t n;         /* probes */
    void *out;
    uint8_t *valid;
    uint32_t *rows;
    uint64_t n_rows;
    uint64_t found;   /* probes with a match */
    uint64_t matches; /* of COUNT and ROWS: in all */
};

/* 1: SUM, MIN, MAX. */
int result_needs_values(kr_result kind);

/* The type of the elements that `-o` writes. */
kr_type result_type(const struct result *result);
/* Bytes of kr_sink.out. */
uint64_t result_nbytes(const struct result *result);

int result_open(struct result *result, kr_result kind, kr_type value_type, uint64_t n);
/* Room for the row ids, once `out` holds the offsets. */
int result_open_rows(struct result *result);
void result_close(struct result *result);

/* Sets found and matches. `exists` is the bitmap of matches for results that hide them, see below. */
void result_count(struct result *result, const uint8_t *exists);
/* 1: the answers do not show whether a probe matched: a sum of 0 may be a match. */
int result_hides_matches(kr_result kind);

int result_write(const struct result *result, const char *path, const kr_progress *progress);

#endif
