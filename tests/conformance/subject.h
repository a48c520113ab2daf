/* An index that takes batches of rows, and the rows that it should have after each. */
#ifndef KEYRAY_TESTS_SUBJECT_H
#define KEYRAY_TESTS_SUBJECT_H

#include "batches.h"

typedef struct kr_subject {
    kr_suite *suite;
    const kr_suite_device *on;
    kr_model model;
    uint32_t probes;    /* of a check; 0: 40 */
    kr_fixture fixture; /* the questions, and what they should get */
    uint64_t next_row;  /* above all row ids that were given, those of NULLs too */
    kr_index *index;
    uint64_t before; /* bytes in use without the index */
    int is_mapped; /* 1: until it is changed, its footprint has bytes of a file that the device does not hold
                    */
} kr_subject;

/* Builds the index of the model's scene. 0 on an error; kr_subject_end is due in any case. */
int kr_subject_begin(kr_subject *s, const kr_suite_device *on, kr_error *err);
void kr_subject_end(kr_subject *s);

/* Rows for the model, and the answers that follow. ids NULL: those from next_row on. */
void kr_subject_insert(kr_subject *s, const kr_column *keys, const uint32_t *ids);
void kr_subject_apply(kr_subject *s, const kr_update_batch *batch);
void kr_subject_refresh(kr_subject *s);

/* The index is valid, answers as the model and accounts for its memory; 0 when not. Lookups, not the rest,
 * may end with `allowed`. */
int kr_subject_check(kr_subject *s, kr_status allowed);

/* One batch, to the index and to the model, and the check; 0 when one failed. */
int kr_subject_try(kr_subject *s, const kr_update_batch *batch, const char *name, kr_stream *stream);

#endif
