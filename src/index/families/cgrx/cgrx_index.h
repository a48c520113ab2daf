/* An index of kind `cgrx`. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_INDEX_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_INDEX_H

#include "index/families/cgrx/cgrx_nodes.h"
#include "index/families/cgrx/cgrx_params.h"
#include "index/families/cgrx/cgrx_scene.h"

typedef struct cgrx_index {
    cgrx_design design;
    cgrx_storage storage;
    cgrx_nodes nodes; /* updates=on */
    cgrx_scene scene; /* of the keys at the time of the build */
    kr_buffer filter; /* uint64_t words, or none */
    uint64_t n;       /* entries */
    uint64_t built;   /* entries at the time of the build */
    uint64_t lowest, highest;
} cgrx_index;

void cgrx_index_release(kr_device *device, kr_stream *stream, cgrx_index *index);

/* Makes all of the index but its design from `sorted`, scratch memory of the work, of which it may keep
 * arrays. On failure the index is as it was. */
void KR_W(cgrx_construct)(kr_work *work, const kr_sorted *sorted, cgrx_index *index);
void KR_W(cgrx_update)(kr_work *work, void *self, const kr_update *job);
void KR_W(cgrx_image)(kr_image *image, const kr_image_of *of, void **self);
cgrx_params KR_W(cgrx_params_of)(const cgrx_index *index);
/* Scratch memory of the work. */
kr_buffer KR_W(cgrx_filter_make)(kr_work *work, const cgrx_design *design, const kr_sorted *sorted);
uint64_t cgrx_filter_words(const cgrx_design *design, uint64_t n);

#endif
