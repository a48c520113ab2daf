/* Indexes over several columns of which some are texts: these are columns of codes, each of a dictionary that
 * the index has. */
#ifndef KEYRAY_INDEX_TEXTS_COLUMNS_H
#define KEYRAY_INDEX_TEXTS_COLUMNS_H

#include "index/lookup/composite.h"
#include "index/texts/texts.h"

/* 1: some of n columns are texts, or codes of a dictionary. */
int kr_texts_are_among(const kr_column *columns, uint32_t n);

/* kr_index_make_columns. Codes are in the order of the texts where the kind answers ranges. */
kr_status kr_texts_make_columns_index(kr_device *device, const kr_spec *spec, const kr_column *columns,
                                      uint32_t n, const uint32_t *row_ids, kr_stream *stream,
                                      kr_index **index, kr_error *err);
/* kr_index_update_columns_apply. Fails with KR_ERR_LIMIT for rows with texts that the index has not. */
kr_status kr_texts_update_columns(kr_index *index, const kr_column *inserted, const kr_column *deleted,
                                  const kr_update *wanted, kr_stream *stream, kr_error *err);

/* What codes of the dictionaries cannot answer: KR_ERR_UNSUPPORTED. */
kr_status kr_texts_check_columns(const kr_index *index, const kr_composite_probes *probes, kr_error *err);
/* Probes whose texts are codes, in scratch memory. `enqueues` as of kr_texts_probes. */
void kr_texts_make_columns(kr_work *work, const kr_index *index, const kr_composite_probes *probes,
                           uint32_t enqueues, kr_composite_probes *codes);

#endif
