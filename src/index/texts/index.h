/* Indexes over a column of texts: the family's structure has codes, and the index has the dictionary. */
#ifndef KEYRAY_INDEX_TEXTS_INDEX_H
#define KEYRAY_INDEX_TEXTS_INDEX_H

#include "index/texts/texts.h"

/* kr_index_create of texts, with checked arguments. Codes are in the order of the texts where the kind
 * answers ranges. */
kr_status kr_texts_make_index(kr_device *device, const kr_spec *spec, const kr_column *strings,
                              const uint32_t *row_ids, kr_stream *stream, kr_index **index, kr_error *err);
/* What such a build needs. `codes`: the need of an index of so many u32 keys. */
kr_need kr_texts_index_need(const kr_column *strings, kr_need codes);
/* 1: the dictionary of an index of this spec has an order. */
int kr_texts_are_ordered(const kr_spec *spec);

/* kr_index_update and kr_index_set_keys of an index with a dictionary, with checked arguments. Keys are
 * texts, or codes, which KR_ERR_ARGUMENT refuses if they are of no text. New texts get codes: with ranges=off
 * behind the others, else all codes are made anew, and the structure with them. Block. */
kr_status kr_texts_update_index(kr_index *index, const kr_update *wanted, kr_stream *stream, kr_error *err);
kr_status kr_texts_set_index_keys(kr_index *index, const uint32_t *row_ids, const kr_column *wanted,
                                  kr_stream *stream, kr_error *err);

/* 1: keys of the index are no codes of `texts`; `strange` says which. The structure is whole. Blocks. */
int kr_texts_has_strange_keys(kr_work *work, const kr_index *index, const kr_texts *texts, char strange[64]);

/* The index of codes of this dictionary takes texts from now on. */
void kr_texts_give_index(kr_index *index, const kr_texts *texts);

#endif
