/* Batches of inserts and deletes for tests of kr_index_update, and the rows that should be left. */
#ifndef KEYRAY_TESTS_BATCHES_H
#define KEYRAY_TESTS_BATCHES_H

#include "fixture.h"

/* What an index is built of. */
typedef struct kr_scene_of_rows {
    kr_type type;
    kr_pattern pattern;
    uint64_t keys;
    kr_nulls nulls;
    kr_row_ids row_ids;
    int reduced;
} kr_scene_of_rows;

/* A row that should be in the index; keys by their codes. */
typedef struct kr_model_row {
    uint64_t code;
    uint32_t id;
} kr_model_row;

/* The rows that an index should have. */
typedef struct kr_model {
    const char *spec;
    kr_scene_of_rows scene;
    kr_model_row *rows; /* by code, then by id */
    uint64_t n;
    kr_rng rng;
} kr_model;

typedef struct kr_update_batch {
    kr_test_column inserts, deletes;
    uint32_t *ids; /* NULL: those from the index's next row on */
} kr_update_batch;

/* The name of the nth sort of batch, and how often it is repeated; NULL past the last. */
const char *kr_batch_name(uint32_t number, uint32_t *times);
enum { KR_BATCH_ALL_REPLACED = 14 };

/* Adds the rows of a column that are not NULL; `first` is the row id of the first one without ids. */
void kr_model_insert(kr_model *model, const kr_column *keys, const uint32_t *ids, uint64_t first);
void kr_model_delete(kr_model *model, const kr_column *keys);

/* A batch of these codes, a few of them NULL by chance; has_ids: with row ids that no remaining row has. */
void kr_batch_of(kr_model *model, const uint64_t *inserts, uint64_t n_inserts, const uint64_t *deletes,
                 uint64_t n_deletes, int has_ids, kr_update_batch *batch);
void kr_batch_make(kr_model *model, uint32_t number, kr_update_batch *batch);
void kr_batch_free(kr_update_batch *batch);

#endif
