#include "index/kept/divided.h"
#include "index/kept/travel.h"
#include "index/results/dense.h"
#include "index/results/row_ids.h"

#include <stdlib.h>
#include <string.h>

void divided_fail_on_host(kr_work *w, kr_status status)
{
    if (status == KR_ERR_DEVICE_MEMORY) { /* of the device "cpu": it is the host's */
        status = KR_ERR_HOST_MEMORY;
        if (w->err)
            w->err->status = status;
    }
    KR_STEP(w, status);
}

void divided_open(kr_work *w, kr_divided *d, const kr_spec *spec, uint32_t type)
{
    const kr_device_options *options = &w->device->options;
    const kr_device_options host = {
        .struct_size = sizeof host, .threads = options->threads, .progress = options->progress};
    kr_device_info info = {.units = 1};
    d->device = w->device;
    d->family = kr_family_ops_of(spec->kind->family, type);
    d->spec = *spec;
    d->type = type;
    d->key_bits = kr_type_key_bits(type);
    KR_STEP(w, kr_device_open("cpu", &host, &d->host, w->err));
    KR_STEP(w, kr_device_read(d->host, &info, w->err));
    d->threads = info.units ? info.units : 1;
}

static uint32_t differing_bits(uint64_t a, uint64_t b)
{
    uint32_t bits = 0;
    for (uint64_t differing = a ^ b; differing; differing >>= 1)
        ++bits;
    return bits;
}

void divided_describe_part(const kr_divided *d, uint32_t part, kr_device *device, void *self, kr_index *index)
{
    const kept_part *p = &d->parts[part];
    memset(index, 0, sizeof *index);
    index->device = device;
    index->ops = d->family;
    index->spec = d->spec;
    index->self = self;
    index->row_limit = KR_NO_ROW;
    index->key_bits = differing_bits(p->ends[KEPT_LOWEST], p->ends[KEPT_HIGHEST]);
    index->info.type = divided_code_type(d);
    index->info.rows = p->n;
    index->info.footprint_nbytes = p->nbytes;
}

/* ---- Operations that a family has --------------------------------------------------------------- */

static void release_part(kr_divided *d, kept_part *part)
{
    if (part->on_host)
        d->family->destroy(d->host, part->on_host->self, NULL);
    free(part->on_host);
    kr_field_list_release(&part->fields);
    if (part->is_pinned)
        d->device->ops->unpin(d->device, part->memory.data);
    kr_buffer_release(d->host, &part->memory, NULL);
}

static void destroy(kr_device *device, void *self, kr_stream *stream)
{
    kr_divided *d = self;
    (void)device, (void)stream;
    for (uint32_t i = 0; d->parts && i < d->n_parts; ++i)
        release_part(d, &d->parts[i]);
    free(d->parts);
    kr_device_close(d->host);
    free(d);
}

/* Only their number: no walk reads them. */
static kr_rows rows(const void *self)
{
    const kr_divided *d = self;
    return (kr_rows){.n_rows = d->n, .n_slots = d->n};
}

static void key_range(const void *self, uint64_t *lowest, uint64_t *highest)
{
    const kr_divided *d = self;
    *lowest = d->n ? d->parts[0].ends[KEPT_LOWEST] : 0;
    *highest = d->n ? d->parts[d->n_parts - 1].ends[KEPT_HIGHEST] : 0;
}

/* index/partition/partition.h counts the cuts below a code. So a cut is the code before the lowest of a part,
 * and those of parts that there are not are above all codes. */
static void cuts(kr_work *w, const void *self, uint32_t bits, void *keys)
{
    const kr_divided *d = self;
    const uint32_t n = 1u << bits;
    uint64_t *wide = kr_work_array(w, n, sizeof *wide, "the keys that cut an index");
    uint32_t *narrow = (uint32_t *)wide;
    for (uint32_t i = 0; wide && i < n; ++i) {
        const uint64_t cut = i == 0 ? 0 : i < d->n_parts ? d->parts[i].ends[KEPT_LOWEST] - 1 : UINT64_MAX;
        if (d->key_bits == 64)
            wide[i] = cut;
        else
            narrow[i] = (uint32_t)cut;
    }
    kr_work_copy(w, keys, wide, (uint64_t)n * divided_key_nbytes(d));
    free(wide);
}

static uint32_t components(const void *self, kr_component components[KR_COMPONENTS_MOST])
{
    components[0] = (kr_component){"host memory", ((const kr_divided *)self)->nbytes};
    return 1;
}

static uint32_t counters(const void *self, kr_counter counters[KR_COUNTERS_MOST])
{
    const kr_divided *d = self;
    counters[0] = (kr_counter){"parts", d->n_parts};
    counters[1] = (kr_counter){"bytes of the largest part", d->largest_nbytes};
    return 2;
}

static void refuse_change(kr_work *w, const void *self, const char *takes)
{
    KR_STEP(w, kr_fail(w->err, KR_ERR_UNSUPPORTED,
                       "a divided index, which keep=host makes on a GPU, %s: build it again of "
                       "the changed column, or use %s with keep=device",
                       takes, ((const kr_divided *)self)->spec.kind->name));
}

static void update(kr_work *w, void *self, const kr_update *job)
{
    (void)job;
    refuse_change(w, self, "takes no updates");
}

static void set_keys(kr_work *w, void *self, const kr_set_keys *job)
{
    (void)job;
    refuse_change(w, self, "gives rows no other keys");
}

/* ---- Validation ---------------------------------------------------------------------------------- */

/* Returns 1 if no key is given twice. */
static int validate_part(kr_work *w, const kr_divided *d, uint32_t p)
{
    const kept_part *part = &d->parts[p];
    const kr_index *index = part->on_host;
    uint64_t lowest = 0, highest = 0;
    const int is_unique = d->family->validate(w, index->self);
    kr_work_give_since(w, 0);
    d->family->ordered->key_range(index->self, &lowest, &highest);
    if (kr_work_goes_on(w) && d->family->rows(index->self).n_rows != part->n)
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "part %u has %llu rows, and %llu by its directory", p,
                           (unsigned long long)d->family->rows(index->self).n_rows,
                           (unsigned long long)part->n));
    if (kr_work_goes_on(w) && part->n &&
        (lowest != part->ends[KEPT_LOWEST] || highest != part->ends[KEPT_HIGHEST] ||
         part->ends[KEPT_SECOND] < lowest || part->ends[KEPT_LAST_BUT_ONE] > highest ||
         (p && lowest <= d->parts[p - 1].ends[KEPT_HIGHEST])))
        KR_STEP(w,
                kr_fail(w->err, KR_ERR_INVARIANT, "the keys of part %u are not those between its cuts", p));
    return is_unique;
}

static kr_rows_summary check_rows(kr_work *w, const void *self, int distinct)
{
    const kr_divided *d = self;
    kr_work host = kr_work_on(d->host, NULL, w->err);
    kr_rows_summary all = {0};
    if (!kr_work_goes_on(w))
        return all;
    kr_rows *rows_of = kr_work_array(&host, d->n_parts, sizeof *rows_of, "the rows of parts");
    for (uint32_t p = 0; rows_of && p < d->n_parts; ++p)
        rows_of[p] = d->family->rows(d->parts[p].on_host->self);
    if (rows_of)
        all = kr_row_ids_check_all(&host, rows_of, d->n_parts, distinct);
    free(rows_of);
    divided_fail_on_host(w, kr_work_end(&host));
    return all;
}

/* By the CPU, where the parts lie. */
static int validate(kr_work *w, const void *self)
{
    int is_unique = 1;
    const kr_divided *d = self;
    kr_work host = kr_work_on(d->host, NULL, w->err);
    if (!kr_work_goes_on(w))
        return 0;
    for (uint32_t p = 0; p < d->n_parts && kr_work_goes_on(&host); ++p)
        is_unique &= validate_part(&host, d, p);
    divided_fail_on_host(w, kr_work_end(&host));
    return is_unique;
}

/* ---- Before a build ------------------------------------------------------------------------------ */

static kr_status runs_on(kr_device *device, const kr_spec *spec, kr_error *err)
{
    return kr_index_runs_on(spec->kind->family->u32, device, spec, err); /* both widths need the same */
}

static double touches(const kr_shape *shape)
{
    return kr_family_ops_of(shape->spec->kind->family, shape->type)->touches(shape);
}

extern const kr_family_ops kr_divided_ops;
const kr_family_ops kr_divided_ops = {
    .kept = &(const kr_kept_ops){divided_explain, divided_answer, divided_list},
    .estimate = divided_estimate,
    .build = divided_build,
    .destroy = destroy,
    .rows = rows,
    .ordered = &(const kr_ordered_ops){key_range, cuts},
    .components = components,
    .validate = validate,
    .check_rows = check_rows,
    .image = divided_image,
    .touches = touches,
    .runs_on = runs_on,
    .update = update,
    .set_keys = set_keys,
    .counters = counters,
};
