/* Parts on the device: two slots of memory take turns, so that a part travels while the one before it is
 * searched. */
#ifndef KEYRAY_INDEX_KEPT_TRAVEL_H
#define KEYRAY_INDEX_KEPT_TRAVEL_H

#include "index/kept/divided.h"

/* Makes kr_image read and fill arrays of a part: on the device into the memory at `to`, on the host where
 * they lie. */
typedef struct travel_source {
    kr_image_source source;
    char *to; /* NULL: arrays stay where they are */
    uint64_t used;
    uint32_t is_pinned; /* 1: copies need no buffer */
} travel_source;

/* Returns the structure of a part. Its arrays are there when the stream of the work comes to what is
 * enqueued next. NULL after a failure. */
void *travel_load(kr_work *work, const kr_divided *d, uint32_t part, void *to);

/* Searches a part that is there. What the work takes is given back afterwards. */
typedef void travel_search(void *ctx, kr_work *work, const kr_index *index, uint32_t part);

/* Which parts to search, and how. */
typedef struct travel_job {
    const kr_divided *of;
    const uint32_t *starts; /* n_parts + 1, in host memory: part p is searched if starts[p + 1] > starts[p] */
    travel_search *search;
    void *ctx;
    kr_probe_log *log; /* or NULL */
} travel_job;

/* Calls `search` for one part after the other, in their order. The work is of the index's device or of its
 * host, where nothing travels. What it has enqueued before is done. Blocks. */
void travel_parts(kr_work *work, const travel_job *job);
/* Memory that travel_parts takes on the device. */
uint64_t travel_nbytes(const kr_divided *d);

#endif
