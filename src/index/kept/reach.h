/* Arrays of a lookup where the side that searches reaches them: the index's device, or the CPU. */
#ifndef KEYRAY_INDEX_KEPT_REACH_H
#define KEYRAY_INDEX_KEPT_REACH_H

#include "index/kept/divided.h"

typedef struct reach {
    const kr_divided *of;
    kr_work *callers; /* of the index's device */
    kr_work *work;    /* of the side that searches: the caller's, or `host` */
    kr_work host;
} reach;

/* Begins the work of a side; what the caller's work has enqueued is done then. Must not be moved. */
void reach_begin(reach *r, const kr_divided *d, kr_work *callers, int on_host);
/* Ends it, so that a failure becomes the caller's. */
void reach_end(reach *r);

int reach_has(const reach *r, const void *array);
/* The column, or a copy in scratch memory of the work. */
kr_column reach_column(reach *r, const kr_column *column, const char *what);
/* Between an array and another place; done when it returns. */
void reach_copy(reach *r, void *to, const void *from, uint64_t nbytes);

/* 1: parts lie in the memory of the device, so that none travels. */
int reach_is_host(const kr_divided *d);
/* 1: the CPU answers n probes sooner than the parts travel that they can fall into. */
int reach_prefers_host(const kr_divided *d, uint64_t n);
/* Bytes that a batch may take where it is searched. */
uint64_t reach_room(const reach *r);

#endif
