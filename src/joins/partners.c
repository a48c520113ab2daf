#include "joins/partners.h"
#include "joins/partners_body.h"
#include "results/bitmap.h"
#include "results/found.h"

#define HELP "join parts of the left side"

kr_status kr_partners_open(kr_partners *p, kr_device *device, uint64_t n, kr_error *err)
{
    *p = (kr_partners){.device = device, .n = n};
    const kr_status status = kr_buffer_allocate(device, (n / 32 + 1) * sizeof(uint32_t), NULL,
                                                "marks of rows", HELP, &p->marks, err);
    return status == KR_OK ? kr_device_fill(device, p->marks.data, 0, p->marks.nbytes, NULL, err) : status;
}

void kr_partners_close(kr_partners *p)
{
    if (p->device)
        kr_buffer_release(p->device, &p->marks, NULL);
}

kr_status kr_partners_mark(const kr_partners *p, const uint32_t *answers, uint64_t n, kr_stream *stream,
                           kr_error *err)
{
    const partners_params params = {(uint32_t *)(uintptr_t)answers, p->marks.data};
    return kr_device_run(p->device, &partners_mark, &params, n, stream, err);
}

/* The first row of each indexed row's key; KR_NO_ROW for NULL. */
static kr_status find_firsts(const kr_index *index, const kr_column *indexed, uint32_t *firsts, kr_error *err)
{
    const kr_sink sink = {.result = KR_RESULT_ROW, .out = firsts};
    kr_query query;
    const kr_status status = kr_query_make(index, indexed, NULL, NULL, NULL, &query, err);
    if (status != KR_OK || !query.n)
        return status;
    return kr_column_is_reached(index->device, indexed)
               ? kr_query_locate(&query, KR_PUT_ROW, firsts, err)
               : kr_staged_answer(&query, indexed, NULL, &sink, NULL, err);
}

/* Where keys are not distinct. */
static kr_status list_by_firsts(const kr_partners *p, const kr_index *index, const kr_column *indexed,
                                int wanted, kr_buffer *rows, uint64_t *count, kr_error *err)
{
    kr_buffer firsts = {0};
    kr_found found = {.n = 0};
    kr_status status = kr_buffer_allocate(p->device, p->n * sizeof(uint32_t), NULL, "first rows of keys",
                                          HELP, &firsts, err);
    const partners_params params = {firsts.data, p->marks.data};
    const kr_found_job job = {
        .device = p->device, .answers = &firsts, .n = p->n, .wanted = (uint32_t)wanted, .help = HELP};
    if (status == KR_OK)
        status = find_firsts(index, indexed, firsts.data, err);
    if (status == KR_OK)
        status = kr_device_run(p->device, &partners_keep, &params, p->n, NULL, err);
    if (status == KR_OK)
        status = kr_found_list(&job, &found, err);
    kr_buffer_release(p->device, &firsts, NULL);
    *rows = found.probes;
    *count = found.n;
    return status;
}

kr_status kr_partners_list(const kr_partners *p, const kr_index *index, const kr_column *indexed, int wanted,
                           kr_buffer *rows, uint64_t *count, kr_error *err)
{
    const kr_selection selection = {.bitmap = p->marks.data, .n = p->n, .wanted = (uint32_t)wanted};
    return index->is_unique ? kr_selection_list(p->device, &selection, NULL, rows, count, err)
                            : list_by_firsts(p, index, indexed, wanted, rows, count, err);
}
