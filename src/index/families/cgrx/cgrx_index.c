#include "index/families/cgrx/cgrx_index.h"

void cgrx_index_release(kr_device *device, kr_stream *stream, cgrx_index *index)
{
    cgrx_scene_release(device, stream, &index->scene);
    kr_buffer_release(device, &index->filter, stream);
    cgrx_nodes_release(device, stream, &index->nodes);
    cgrx_storage_release(device, stream, &index->storage);
}

/* At least one word, so that an index that grows has a filter. */
uint64_t cgrx_filter_words(const cgrx_design *design, uint64_t n)
{
    return design->filter ? n * design->filter / 64 + 1 : 0;
}
