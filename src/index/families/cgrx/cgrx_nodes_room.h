/* Memory for new lists of nodes beside the existing ones, so that running out of it changes nothing. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_NODES_ROOM_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_NODES_ROOM_H

#include "index/families/cgrx/cgrx_nodes.h"

/* What lists must have room for. */
typedef struct cgrx_want {
    uint64_t n_nodes, n_rows;
    uint32_t n_lists, node, layout;
    int splits; /* apply=split */
} cgrx_want;

/* New buffers for those that are too small; the others are empty. */
typedef struct cgrx_room {
    cgrx_storage storage;
    cgrx_nodes nodes;
} cgrx_room;

/* Nodes to allocate where n_nodes are needed: an eighth more. */
uint64_t cgrx_room_of(uint64_t n_nodes);

/* Scratch memory of the work. KR_ERR_LIMIT: more nodes than 32 bits can number. */
cgrx_room KR_W(cgrx_room_make)(kr_work *work, const cgrx_want *want, const cgrx_nodes *nodes);
/* New buffers are kept and take the place of the old ones, if no step has failed. */
void cgrx_room_adopt(kr_work *work, const cgrx_room *room, cgrx_storage *storage, cgrx_nodes *nodes);

#endif
