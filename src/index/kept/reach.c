#include "index/kept/reach.h"
#include "index/kept/travel.h"
#include "index/kinds/column.h"

/* What travels in the time in which one thread of the CPU answers a probe: a search of several cache misses,
 * many of them in flight. */
enum { PROBE_NBYTES = 8192, PROBE_NBYTES_LEAST = 256 };
#define ROOM_ON_HOST ((uint64_t)2 << 30)

void reach_begin(reach *r, const kr_divided *d, kr_work *callers, int on_host)
{
    r->of = d;
    r->callers = callers;
    r->work = on_host ? &r->host : callers;
    r->host = kr_work_on(d->host, NULL, callers->err);
    kr_work_sync(callers);
    r->host.status = callers->status;
}

void reach_end(reach *r)
{
    const kr_status status = kr_work_end(&r->host);
    if (r->work == &r->host && kr_work_goes_on(r->callers))
        divided_fail_on_host(r->callers, status);
}

int reach_has(const reach *r, const void *array)
{
    kr_device *device = r->of->device;
    return r->work == r->callers || device->ops->is_host ? kr_device_reaches(device, array)
                                                         : !kr_device_reaches(device, array);
}

void reach_copy(reach *r, void *to, const void *from, uint64_t nbytes)
{
    if (!kr_work_goes_on(r->work))
        return;
    kr_work_copy(r->callers, to, from, nbytes);
    kr_work_sync(r->callers);
    KR_STEP(r->work, r->callers->status);
}

static const void *bring(reach *r, const void *array, uint64_t nbytes, const char *what)
{
    void *copy = kr_work_take(r->work, nbytes, what);
    reach_copy(r, copy, array, nbytes);
    return copy;
}

kr_column reach_column(reach *r, const kr_column *column, const char *what)
{
    kr_column here = *column;
    if (r->work == r->callers)
        return kr_column_bring(r->work, column, what);
    if (column->data && !reach_has(r, column->data))
        here.data = bring(r, column->data, column->count * kr_type_nbytes(column->type), what);
    if (column->validity && !reach_has(r, column->validity)) {
        here.validity =
            bring(r, column->validity + column->validity_offset / 8, kr_column_validity_nbytes(column), what);
        here.validity_offset %= 8;
    }
    return here;
}

/* A device that divides nothing has loaded the index of a file. */
int reach_is_host(const kr_divided *d)
{
    return d->device->ops->is_host && !d->device->keeping.divides;
}

int reach_prefers_host(const kr_divided *d, uint64_t n)
{
    if (reach_is_host(d))
        return 1;
    const uint64_t touched = n < d->n_parts ? n : d->n_parts;
    const uint64_t given = d->device->keeping.probe_nbytes, shared = PROBE_NBYTES / d->threads;
    const uint64_t probe = given ? given : shared > PROBE_NBYTES_LEAST ? shared : PROBE_NBYTES_LEAST;
    return n <= d->nbytes / d->n_parts * touched / probe;
}

uint64_t reach_room(const reach *r)
{
    uint64_t left = ROOM_ON_HOST;
    if (r->work == r->callers) {
        const uint64_t slots = travel_nbytes(r->of);
        left = kr_device_left(r->of->device);
        left = left > slots ? left - slots : 0;
    }
    return left / 4 * 3;
}
