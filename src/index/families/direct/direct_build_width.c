/* From sorted rows to bits, ranks, starts and row ids, and back. */
#include "index/families/direct/direct_build.h"
#include "index/families/direct/direct_build_width_body.h"
#include "index/kinds/look.h"

/* Rows from which on a GPU groups them, which takes 35 KiB besides and saves no time before. */
enum { PARTS_FROM = 1 << 16 };

/* How n keys in any order are built, as long as none is found twice: DIRECT_BUILD_*. Each is the fastest on
 * its device (README.md). */
static int way_of(const kr_device *device, const kr_spec *spec, uint64_t n)
{
    const int how = (int)spec->options[DIRECT_OPTION_BUILD],
              is_small = device->ops->is_host || n < PARTS_FROM;
    return how != DIRECT_BUILD_AUTO ? how : is_small ? DIRECT_BUILD_SCATTER : DIRECT_BUILD_PARTS;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Follows build allocation by allocation. The keys are not known: their bits are taken to be as many as the
 * spec allows, and keys to repeat. */
kr_status KR_W(direct_estimate)(const kr_shape *shape, kr_need *need, kr_error *err)
{
    const uint64_t n = shape->count, blocks = direct_blocks_most(shape->spec, shape->type, n),
                   ids = n * sizeof(uint32_t);
    const uint64_t bits = blocks * DIRECT_BLOCK_NBYTES, counts = n ? (blocks + 1) * sizeof(uint64_t) : 0;
    (void)err;
    kr_sorted_estimate(shape, need);
    const uint64_t sorted = need->footprint_nbytes, kept = bits + 2 * ids;
    const uint64_t built = sorted + bits + counts +
                           larger(n ? kr_device_scan_temp(shape->device, blocks + 1) : 0, ids) +
                           DIRECT_FOUND * sizeof(uint64_t);
    uint64_t listing = 0;
    const uint64_t listed = kr_sorted_estimate_codes(shape, &listing);
    const int how = way_of(shape->device, shape->spec, n);
    const uint64_t scattered = how == DIRECT_BUILD_SORT ? 0
                               : how == DIRECT_BUILD_PARTS
                                   ? listed + KR_W(direct_group_estimate)(shape, blocks)
                                   : listed + KR_W(direct_scatter_estimate)(shape, blocks);
    *need =
        (kr_need){kept, larger(larger(need->peak_nbytes, built), larger(kept, larger(listing, scattered)))};
    return KR_OK;
}

/* ---- Bits, ranks and starts ----------------------------------------------------------------------- */

static void fill(kr_work *w, direct_params *p, int is_unique)
{
    direct_view *v = &p->view;
    const uint64_t n_counts = (uint64_t)v->n_blocks + 1;
    uint64_t n_keys = v->n;
    v->blocks = kr_work_take_or(w, (uint64_t)v->n_blocks * DIRECT_BLOCK_NBYTES, "bits of keys", "kind pivot");
    if (!is_unique)
        p->counts = kr_work_take(w, n_counts * sizeof *p->counts, "counts of keys");
    kr_work_run(w, &KR_W(direct_fill), p, v->n_blocks);
    if (!is_unique) {
        kr_work_sum(w, p->counts, n_counts);
        kr_work_read(w, &n_keys, KR_PLACE_IN(p->counts, v->n_blocks), sizeof n_keys);
    }
    v->n_keys = (uint32_t)n_keys;
    if (v->n_keys < v->n)
        v->starts = kr_work_take(w, (n_keys + 1) * sizeof *v->starts, "where rows of keys begin");
    if (!is_unique)
        kr_work_run(w, &KR_W(direct_ranks), p, v->n_blocks);
    kr_work_give(w, p->counts);
}

/* Row ids that are consecutive in the order of the keys are not kept. */
static void number_rows(kr_work *w, direct_view *v)
{
    const uint32_t first = v->rows ? kr_sorted_first_row(w, v->rows, v->n) : KR_NO_ROW;
    if (first == KR_NO_ROW)
        return;
    kr_work_give(w, v->rows);
    v->rows = NULL;
    v->first_row = first;
}

static kr_column codes_of(const void *codes, uint64_t n)
{
    return (kr_column){.type = KR_KEY_BITS == 32 ? KR_U32 : KR_U64, .count = n, .data = codes};
}

/* The lowest key, the step and the number of blocks of keys in any order. `step`: 0 where it is not known.
 * Blocks. */
static direct_params measure(kr_work *w, const kr_spec *spec, const kr_sorted *of, uint64_t step,
                             const direct_index *before)
{
    direct_params p = {.view = {.n = (uint32_t)of->n, .lowest = of->lowest, .span = of->highest - of->lowest},
                       .keys = of->keys.data};
    const kr_column keys = codes_of(of->keys.data, of->n);
    if (spec->options[DIRECT_OPTION_STEP] == DIRECT_STEP_1 || !of->n)
        step = 1;
    else if (!step)
        step = kr_look_step(w, &keys, of->lowest, p.view.span, 0);
    direct_set_step(&p.view, step, KR_KEY_BITS);
    if (!of->n || !kr_work_goes_on(w))
        return p;
    const uint64_t n_blocks = direct_blocks_of(p.view.span / p.view.step);
    if (!before || n_blocks > before->view.n_blocks)
        KR_STEP(w, direct_check_spread(spec, of->n, p.view.span, p.view.step, w->err));
    p.view.n_blocks = (uint32_t)n_blocks;
    return p;
}

direct_index KR_W(direct_make)(kr_work *w, const kr_spec *spec, const kr_sorted *sorted, int is_unique,
                               uint64_t step, const direct_index *before)
{
    direct_index made = {.spec = *spec};
    direct_params p = measure(w, spec, sorted, step, before);
    p.view.rows = sorted->rows.data;
    p.view.first_row = sorted->rows.data ? 0 : sorted->first_row;
    if (sorted->n && kr_work_goes_on(w)) {
        fill(w, &p, is_unique);
        kr_work_give(w, p.keys);
        number_rows(w, &p.view);
        kr_work_lap(w, "bits");
    }
    made.view = p.view;
    return made;
}

/* ---- Of a column ---------------------------------------------------------------------------------- */

/* Codes that ascend: they and their rows are sorted as they are. */
static direct_index make_of_ordered(kr_work *w, const kr_spec *spec, kr_coded *codes, const kr_look *look)
{
    const uint32_t *rows = codes->list.rows;
    kr_sorted sorted = {.keys.data = (void *)codes->keys,
                        .n = codes->list.n,
                        .lowest = look->lowest,
                        .highest = look->highest};
    const uint32_t first = rows ? kr_sorted_first_row(w, rows, sorted.n) : 0;
    sorted.first_row = first;
    if (first == KR_NO_ROW) {
        sorted.rows = kr_work_buffer(w, sorted.n * sizeof *rows, "row ids", NULL);
        kr_work_copy(w, sorted.rows.data, rows, sorted.n * sizeof *rows);
    }
    codes->made = NULL; /* direct_make gives the keys back */
    kr_sorted_codes_give(w, codes);
    return KR_W(direct_make)(w, spec, &sorted, (int)look->is_distinct, look->step, NULL);
}

/* Codes in any order, of which none is known to be there twice. 0: some is, or they take too many bits. */
static int make_of_distinct(kr_work *w, const kr_spec *spec, const kr_coded *codes, const kr_look *look,
                            direct_index *made)
{
    const kr_sorted of = {.keys.data = (void *)codes->keys,
                          .n = codes->list.n,
                          .lowest = look->lowest,
                          .highest = look->highest};
    direct_params p = measure(w, spec, &of, look->step, NULL);
    const int groups = way_of(w->device, spec, codes->list.n) == DIRECT_BUILD_PARTS;
    if (!(groups ? KR_W(direct_group) : KR_W(direct_scatter))(w, codes, &p.view))
        return 0;
    kr_sorted_codes_give(w, codes);
    number_rows(w, &p.view);
    kr_work_lap(w, groups ? "parts" : "scatter");
    *made = (direct_index){.spec = *spec, .view = p.view};
    return 1;
}

/* Of rows with keys and is_unique, which it sets. A sort is left to columns in which a key is there twice. */
static direct_index make_of_column(kr_work *w, const kr_build *build)
{
    kr_coded codes = kr_sorted_codes(w, build);
    const kr_column keys = codes_of(codes.keys, codes.list.n);
    const kr_look look = kr_look_at(w, &keys);
    direct_index made;
    kr_work_lap(w, "look");
    *build->is_unique = kr_work_goes_on(w) && !look.repeats;
    if (look.ascends)
        return make_of_ordered(w, build->spec, &codes, &look);
    if (look.n && !look.repeats && way_of(w->device, build->spec, codes.list.n) != DIRECT_BUILD_SORT &&
        make_of_distinct(w, build->spec, &codes, &look, &made))
        return made;
    *build->is_unique = 0;
    const kr_sorted sorted = kr_sorted_build_codes(w, build, &codes);
    return KR_W(direct_make)(w, build->spec, &sorted, (int)*build->is_unique, look.step, NULL);
}

void KR_W(direct_keep)(kr_work *w, direct_index *made)
{
    made->blocks = kr_work_keep(w, made->view.blocks);
    made->starts = kr_work_keep(w, made->view.starts);
    made->rows = kr_work_keep(w, made->view.rows);
}

void KR_W(direct_release)(kr_device *device, direct_index *index, kr_stream *stream)
{
    kr_buffer_release(device, &index->rows, stream);
    kr_buffer_release(device, &index->starts, stream);
    kr_buffer_release(device, &index->blocks, stream);
}

void KR_W(direct_bind)(direct_index *index)
{
    index->view.blocks = index->blocks.data;
    index->view.starts = index->starts.data;
    index->view.rows = index->rows.data;
}

void KR_W(direct_build)(kr_work *w, const kr_build *build, void **self)
{
    direct_index *index = kr_work_object(w, sizeof *index, "an index");
    kr_build of = *build;
    uint32_t is_unique = 0;
    of.is_unique = &is_unique;
    direct_index made = make_of_column(w, &of);
    KR_W(direct_keep)(w, &made);
    if (build->is_unique)
        *build->is_unique = is_unique;
    if (kr_work_goes_on(w))
        *index = made;
    *self = index;
}

/* ---- Back to sorted rows -------------------------------------------------------------------------- */

kr_sorted KR_W(direct_unfold)(kr_work *w, const direct_index *index)
{
    const direct_view *v = &index->view;
    direct_params p = {.view = *v};
    kr_sorted made = {.n = v->n, .lowest = v->lowest, .highest = v->lowest + v->span};
    p.all = kr_work_take(w, v->n * sizeof *p.all, "keys of rows");
    p.keys = v->starts ? kr_work_take(w, v->n_keys * sizeof *p.keys, "distinct keys") : p.all;
    kr_work_run(w, &KR_W(direct_list), &p, v->n_blocks);
    if (v->starts) {
        kr_work_run(w, &KR_W(direct_repeat), &p, v->n);
        kr_work_give(w, p.keys);
    }
    made.keys.data = p.all;
    made.rows = v->rows ? (kr_buffer){.data = v->rows} : kr_sorted_number(w, v->first_row, v->n);
    return made;
}

void KR_W(direct_unfold_give)(kr_work *w, const direct_index *index, const kr_sorted *sorted)
{
    if (!index->view.rows)
        kr_work_give(w, sorted->rows.data);
    kr_work_give(w, sorted->keys.data);
}
