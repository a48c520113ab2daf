/* The operations of kind `dense` at one key width. */
#include "index/families/direct/direct.h"
#include "index/families/direct/direct_build.h"
#include "index/families/direct/direct_find_params.h"
#include "index/results/dense.h"
#include "index/sorted/merge.h"

#include <stdlib.h>

KR_PROGRAM_DECLARE(direct_point);
KR_PROGRAM_DECLARE(direct_range);
KR_PROGRAM_DECLARE(direct_nearest);

static void destroy(kr_device *device, void *self, kr_stream *stream)
{
    KR_W(direct_release)(device, self, stream);
    free(self);
}

static void locate(kr_work *w, const void *self, const kr_locate *job)
{
    direct_find_params params = {job->batch, job->put, ((const direct_index *)self)->view};
    const direct_view *v = &params.view;
    if (KR_W(direct_points_locate)(w, v, job))
        return;
    params.view.is_full = v->n && v->n_keys - 1 == v->span / v->step;
    const kr_program *program = job->batch.near.how ? &KR_W(direct_nearest)
                                : job->batch.upper  ? &KR_W(direct_range)
                                                    : &KR_W(direct_point);
    kr_work_run(w, program, &params, job->n);
}

static kr_rows rows(const void *self)
{
    const direct_view *v = &((const direct_index *)self)->view;
    return v->rows ? kr_dense_rows(v->rows, sizeof *v->rows, v->n) : kr_row_numbers(v->first_row, v->n);
}

static void key_range(const void *self, uint64_t *lowest, uint64_t *highest)
{
    const direct_view *v = &((const direct_index *)self)->view;
    *lowest = v->lowest;
    *highest = v->lowest + v->span;
}

static const kr_ordered_ops ordered = {.key_range = key_range};

static uint32_t components(const void *self, kr_component components[KR_COMPONENTS_MOST])
{
    const direct_index *index = self;
    components[0] = (kr_component){"bits", index->blocks.nbytes};
    components[1] = (kr_component){"starts", index->starts.nbytes};
    components[2] = (kr_component){"row ids", index->rows.nbytes};
    return 3;
}

/* ---- Changes -------------------------------------------------------------------------------------- */

/* The changed rows take the place of the old ones once their bits are made. */
static void replace(kr_work *w, direct_index *index, const kr_sorted *sorted)
{
    direct_index made = KR_W(direct_make)(w, &index->spec, sorted, 0, 0, index);
    if (!kr_work_goes_on(w))
        return;
    KR_W(direct_keep)(w, &made);
    KR_W(direct_release)(w->device, index, w->stream);
    *index = made;
}

static void next(kr_work *w, const void *self, const kr_update *job, void **made)
{
    const direct_index *index = self;
    const kr_sorted sorted = KR_W(direct_unfold)(w, index);
    const kr_entries old =
        kr_entries_of(KR_LAYOUT_SOA, sizeof(kr_key), sorted.keys.data, sorted.rows.data, sorted.n);
    const kr_changes changes = kr_changes_make(w, job, NULL);
    const kr_sorted merged = KR_W(kr_sorted_merge)(w, &changes, &old);
    kr_changes_give(w, &changes);
    KR_W(direct_unfold_give)(w, index, &sorted);
    direct_index changed = KR_W(direct_make)(w, &index->spec, &merged, 0, 0, index);
    direct_index *later = kr_work_object(w, sizeof *later, "an index");
    if (!later)
        return;
    KR_W(direct_keep)(w, &changed);
    *later = changed;
    *made = later;
}

static void set_keys(kr_work *w, void *self, const kr_set_keys *job)
{
    direct_index *index = self;
    const kr_sorted sorted = KR_W(direct_unfold)(w, index);
    const kr_sorted changed = kr_sorted_set_keys(w, &sorted, job);
    KR_W(direct_unfold_give)(w, index, &sorted);
    replace(w, index, &changed);
}

/* ---- Checks --------------------------------------------------------------------------------------- */

static void check(kr_work *w, const kr_program *program, direct_params *params, uint64_t n, const char *what)
{
    uint64_t found[DIRECT_FOUND] = {0};
    params->found = kr_work_counters(w, DIRECT_FOUND);
    kr_work_run(w, program, params, n);
    kr_work_read(w, found, params->found, sizeof found);
    kr_work_give(w, params->found);
    if (found[DIRECT_FOUND_WRONG])
        KR_STEP(w,
                kr_fail(w->err, KR_ERR_INVARIANT, what, (unsigned long long)found[DIRECT_FOUND_WRONG] - 1));
}

/* Bits first: what comes later relies on them. */
static int validate(kr_work *w, const void *self)
{
    const direct_view *v = &((const direct_index *)self)->view;
    direct_params params = {.view = *v};
    if (v->n == 0)
        return 1;
    check(w, &KR_W(direct_check_blocks), &params, v->n_blocks,
          "block %llu counts its keys or those before it wrongly, or has bits beyond the end keys");
    if (v->starts)
        check(w, &KR_W(direct_check_starts), &params, (uint64_t)v->n_keys + 1,
              "the rows of key %llu, by order, begin where another's do");
    if (v->starts && v->rows)
        check(w, &KR_W(direct_check_rows), &params, v->n,
              "row ids do not ascend within a key at position %llu");
    return !v->starts;
}

/* ---- Images --------------------------------------------------------------------------------------- */

/* A file may hold anything: the numbers must fit each other, so that arrays have the sizes that searches rely
 * on. */
static void check_numbers(kr_image *image, const direct_view *v)
{
    const uint64_t last = v->span / v->step;
    if (v->n == 0 ? v->span || v->n_keys
                  : v->n_keys == 0 || v->n_keys > v->n || v->n_keys - 1 > last || v->span % v->step ||
                        last >> DIRECT_VALUE_BITS || v->lowest + v->span < v->lowest ||
                        v->lowest + v->span > UINT64_MAX >> (64 - KR_KEY_BITS))
        kr_image_refuse(
            image, "%llu keys of %llu rows, from code %llu over %llu, in steps of %llu, make no index",
            (unsigned long long)v->n_keys, (unsigned long long)v->n, (unsigned long long)v->lowest,
            (unsigned long long)v->span, (unsigned long long)v->step);
}

static void image(kr_image *image, const kr_image_of *of, void **self)
{
    const uint64_t most = UINT64_MAX >> (64 - KR_KEY_BITS);
    direct_index *index = kr_image_object(image, self, sizeof *index);
    if (!index)
        return;
    direct_view *v = &index->view;
    uint64_t step = v->step;
    kr_image_u32(image, "n", &v->n, 0, KR_NO_ROW - 1);
    kr_image_u32(image, "keys", &v->n_keys, 0, KR_NO_ROW - 1);
    kr_image_u64(image, "lowest", &v->lowest, 0, most);
    kr_image_u64(image, "span", &v->span, 0, most);
    kr_image_u64(image, "step", &step, 1, most);
    kr_image_u32(image, "first_row", &v->first_row, 0, KR_NO_ROW - 1);
    if (kr_image_loads(image)) {
        index->spec = *of->spec;
        direct_set_step(v, step, KR_KEY_BITS);
        check_numbers(image, v);
        v->n_blocks = v->n ? (uint32_t)direct_blocks_of(v->span / v->step) : 0;
    }
    kr_image_buffer(image, "blocks", &index->blocks, (uint64_t)v->n_blocks * DIRECT_BLOCK_NBYTES);
    kr_image_buffer(image, "starts", &index->starts,
                    v->n_keys < v->n ? ((uint64_t)v->n_keys + 1) * sizeof *v->starts : 0);
    const int has_rows = kr_image_has(image, "has_rows", &index->rows);
    if (kr_image_loads(image) && v->n && !has_rows && (uint64_t)v->first_row + v->n > KR_NO_ROW)
        kr_image_refuse(image, "row ids from %u on are too high for %u rows", v->first_row, v->n);
    if (has_rows)
        kr_image_buffer(image, "rows", &index->rows, v->n * (uint64_t)sizeof *v->rows);
    if (kr_image_binds(image))
        KR_W(direct_bind)(index);
}

/* The block, where rows of keys begin, the row id: one of these may not be there. */
static double touches(const kr_shape *shape)
{
    (void)shape;
    return 2;
}

extern const kr_family_ops KR_W(direct_ops);
const kr_family_ops KR_W(direct_ops) = {
    .estimate = KR_W(direct_estimate),
    .build = KR_W(direct_build),
    .destroy = destroy,
    .locate = locate,
    .rows = rows,
    .ordered = &ordered,
    .components = components,
    .validate = validate,
    .touches = touches,
    .program = &KR_W(direct_point),
    .set_keys = set_keys,
    .next = next,
    .image = image,
};
