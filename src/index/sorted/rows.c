#include "index/sorted/rows.h"
#include "index/results/row_ids.h"
#include "index/sorted/rows_body.h"
#include "index/sorted/sorted.h"

void kr_sorted_rows_give(kr_work *w, const kr_row_list *list)
{
    kr_work_give(w, list->ids);
    kr_work_give(w, list->index);
}

/* The positions of valid rows, by a stable one-bit sort of the NULL flags. */
static kr_row_list skip_nulls(kr_work *w, const kr_build *build)
{
    const uint64_t n = build->keys.count, nbytes = n * sizeof(uint32_t);
    uint64_t *counters = kr_work_counters(w, 1), valid = 0;
    uint32_t *flags = kr_work_take(w, nbytes, "NULL flags");
    uint32_t *sorted = kr_work_take(w, nbytes, "sorted NULL flags");
    uint32_t *index = kr_work_take(w, nbytes, "positions of valid rows");
    const null_flags_params params = {build->keys.validity, build->keys.validity_offset, flags, counters};
    kr_work_run(w, &sorted_null_flags, &params, n);
    const kr_sort sort = {32, 0, 1, n, flags, sorted, NULL, index};
    kr_work_sort(w, &sort);
    kr_work_read(w, &valid, counters, sizeof valid);
    kr_work_give(w, sorted);
    kr_work_give(w, flags);
    kr_work_give(w, counters);
    return (kr_row_list){.n = valid, .index = index, .rows = index};
}

/* Whether the ids ascend; fails if one is KR_NO_ROW. */
static int ascend(kr_work *w, const kr_row_list *list)
{
    uint64_t found[2] = {0};
    kr_row_ids_check(w, list->rows, list->n, found);
    if (found[1])
        KR_STEP(w,
                kr_fail(w->err, KR_ERR_ARGUMENT, "%llu row ids are 4294967295 (KR_NO_ROW); give ids below it",
                        (unsigned long long)found[1]));
    return found[0] == 0;
}

/* Sorts ids, and the positions with them. */
static void order_ids(kr_work *w, kr_row_list *list)
{
    const uint64_t nbytes = list->n * sizeof(uint32_t);
    uint32_t *ids = kr_work_take(w, nbytes, "ordered row ids");
    uint32_t *index = kr_work_take(w, nbytes, "their positions");
    const kr_sort sort = {32, 0, 32, list->n, list->rows, ids, list->index, index};
    kr_work_sort(w, &sort);
    kr_sorted_rows_give(w, list);
    list->ids = ids;
    list->index = index;
    list->rows = ids;
}

static void use_ids(kr_work *w, const kr_build *build, kr_row_list *list)
{
    list->rows = build->row_ids;
    if (list->index) {
        list->ids = kr_work_take(w, list->n * sizeof *list->ids, "row ids");
        const gather_params params = {build->row_ids, list->index, list->ids};
        kr_work_run(w, &sorted_gather, &params, list->n);
        list->rows = list->ids;
    }
    if (!build->rows_ascend && !ascend(w, list))
        order_ids(w, list);
}

kr_row_list kr_sorted_rows_make(kr_work *w, const kr_build *build)
{
    kr_row_list list = {.n = build->keys.count};
    if (build->keys.validity)
        list = skip_nulls(w, build);
    if (build->row_ids)
        use_ids(w, build, &list);
    return list;
}
