#include "index/results/bitmap.h"
#include "index/results/bitmap_body.h"

void kr_bitmap_pack(kr_work *w, const uint8_t *flags, uint64_t n, uint8_t *bitmap)
{
    const pack_params params = {flags, bitmap, n};
    kr_work_run(w, &bitmap_pack, &params, (n + 7) / 8);
}

void kr_bitmap_mark(kr_work *w, const uint32_t *ids, uint64_t n, uint32_t *bitmap)
{
    const mark_params params = {ids, bitmap};
    kr_work_run(w, &bitmap_mark, &params, n);
}

uint32_t *kr_select_list(kr_work *w, const kr_selection *selection, uint64_t *count)
{
    const uint64_t n = selection->n, nbytes = (n + 1) * sizeof(uint64_t);
    uint64_t *places = kr_work_take(w, nbytes, "places of rows"), found = 0;
    select_params params = {selection->bitmap, selection->offsets, places, NULL, selection->wanted, 0};
    kr_work_fill(w, places, 0, nbytes);
    kr_work_run(w, &bitmap_select_count, &params, n);
    kr_work_sum(w, places, n + 1);
    kr_work_read(w, &found, KR_PLACE_IN(places, n), sizeof found);
    params.rows = kr_work_take(w, found * sizeof *params.rows, "selected rows");
    kr_work_run(w, &bitmap_select_write, &params, n);
    kr_work_give(w, places);
    *count = found;
    return params.rows;
}
