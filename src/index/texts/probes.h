/* Probes that are texts: they become columns of codes, and then it is a lookup like any other. */
#ifndef KEYRAY_INDEX_TEXTS_PROBES_H
#define KEYRAY_INDEX_TEXTS_PROBES_H

#include "index/texts/texts.h"

/* What is asked. Broken rows fail, and the calls below wait to hear of them; `enqueues`: they have no answer,
 * and nothing waits where the device reaches all arrays. */
typedef struct kr_texts_probes {
    const kr_column *lower, *upper; /* texts; upper: of ranges, else NULL */
    uint32_t how;                   /* of one bound or a prefix: kr_texts_bound; else 0 */
    uint32_t enqueues;
} kr_texts_probes;

/* Columns of codes in scratch memory: keys[1] are upper bounds of ranges, and of `how`. */
void kr_texts_make_keys(kr_work *work, const kr_texts *texts, const kr_texts_probes *probes,
                        kr_column keys[2]);
/* For a lookup of the nearest key. *near is that of codes, which texts then have. */
void kr_texts_make_nearest(kr_work *work, const kr_texts *texts, const kr_texts_probes *probes,
                           kr_nearby *near, kr_column *key);

/* KR_ERR_UNSUPPORTED for what codes of the dictionary cannot answer. needs_order: ranges, `how` and nearest
 * texts do. */
kr_status kr_texts_check_probes(const kr_texts *texts, int needs_order, kr_error *err);

/* A column whose array of buffers is in device memory, so that calls only enqueue: fails if the device does
 * not reach another array. *buffers is the caller's to release. */
kr_status kr_texts_keep_probes(kr_device *device, const kr_column *strings, kr_column *kept,
                               kr_buffer *buffers, kr_error *err);

#endif
