#include "join/partners.h"
#include "index/results/bitmap.h"
#include "index/results/found.h"
#include "join/partners_body.h"

#define HELP "join parts of the left side"

kr_partners kr_partners_make(kr_work *w, uint64_t n)
{
    const uint64_t nbytes = (n / 32 + 1) * sizeof(uint32_t);
    const kr_partners made = {kr_work_take_or(w, nbytes, "marks of rows", HELP)};
    kr_work_fill(w, made.marks, 0, nbytes);
    return made;
}

void kr_partners_mark(kr_work *w, const kr_partners *p, const uint32_t *answers, uint64_t n)
{
    const partners_params params = {(uint32_t *)(uintptr_t)answers, p->marks};
    kr_work_run(w, &partners_mark, &params, n);
}

/* The first row of each indexed row's key; KR_NO_ROW for NULL. */
static void find_firsts(kr_work *w, const kr_index *index, const kr_column *indexed, uint32_t *firsts)
{
    const kr_sink sink = {.result = KR_RESULT_ROW, .out = firsts};
    kr_query query = {.n = 0};
    kr_query_make(w, index, indexed, NULL, &query);
    if (!query.n)
        return;
    kr_stopwatch *watch = kr_work_unwatch(w);
    if (kr_column_is_reached(w->device, indexed))
        kr_query_locate(w, &query, KR_PUT_ROW, firsts);
    else
        kr_staged_answer(w, &query, indexed, NULL, &sink, NULL);
    w->watch = watch;
}

/* Where keys are not distinct. */
static uint32_t *list_by_firsts(kr_work *w, const kr_partners *p, const kr_index *index,
                                const kr_partners_part *part, uint64_t *count)
{
    const uint64_t n = part->rows.count;
    uint32_t *firsts = kr_work_take_or(w, n * sizeof *firsts, "first rows of keys", HELP);
    const partners_params params = {firsts, p->marks};
    const kr_found_job job = {.answers = firsts, .n = n, .wanted = (uint32_t)part->wanted, .help = HELP};
    find_firsts(w, index, &part->rows, firsts);
    kr_work_run(w, &partners_keep, &params, n);
    const kr_found found = kr_found_list(w, &job);
    kr_work_give(w, firsts);
    *count = found.n;
    return found.probes;
}

uint32_t *kr_partners_list(kr_work *w, const kr_partners *p, const kr_index *index,
                           const kr_partners_part *part, uint64_t *count)
{
    const kr_selection selection = {.bitmap = KR_PLACE_IN(p->marks, part->first / 32),
                                    .n = part->rows.count,
                                    .wanted = (uint32_t)part->wanted};
    return index->is_unique ? kr_select_list(w, &selection, count) : list_by_firsts(w, p, index, part, count);
}
