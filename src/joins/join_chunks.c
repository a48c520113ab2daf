/* Joins of which a side or the result is larger than the memory of the device: one side is indexed, the other
 * comes in pieces, and so do the pairs. */
#include "joins/pair_chunks.h"
#include "results/bitmap.h"

enum { PIECE = 1 << 22, SMALLEST = 1 << 16 }; /* probing rows on the device; pairs that are only marked */

typedef struct streaming {
    const kr_join_job *job;
    int inverse; /* 1: the left side is indexed */
    kr_index *index;
    kr_query query; /* over a piece of the probing side */
    kr_matches matches;
    kr_pair_chunks chunks;
    kr_buffer marks; /* of indexed rows with a partner, if they are asked for */
    uint64_t result; /* pairs or rows so far */
} streaming;

/* 1 if the result has rows of that side without a partner. */
static int keeps(const streaming *s, int left)
{
    return s->job->type == KR_JOIN_FULL || s->job->type == (left ? KR_JOIN_LEFT : KR_JOIN_RIGHT);
}

/* 1 if the result is left rows, with or without a partner. */
static int wants_rows(const streaming *s)
{
    return !kr_join_has_pairs(s->job->type);
}

static kr_status open_marks(streaming *s, uint64_t n, kr_error *err)
{
    kr_device *device = s->job->device;
    if (!keeps(s, s->inverse) && !(wants_rows(s) && s->inverse))
        return KR_OK;
    kr_status status = kr_buffer_allocate(device, (n / 32 + 1) * 4, NULL, "marks of rows",
                                          "index the other side", &s->marks, err);
    if (status == KR_OK)
        status = kr_device_fill(device, s->marks.data, 0, s->marks.nbytes, NULL, err);
    s->chunks.marks = s->marks.data;
    return status;
}

static kr_status give_selection(streaming *s, const kr_selection *selection, int is_left, uint64_t first_row,
                                kr_error *err)
{
    kr_buffer rows = {0};
    uint64_t n = 0;
    kr_status status = kr_selection_list(s->job->device, selection, NULL, &rows, &n, err);
    s->result += n;
    if (status == KR_OK)
        status = kr_pair_chunks_give_alone(&s->chunks, &rows, n, is_left, wants_rows(s), first_row, err);
    kr_buffer_release(s->job->device, &rows, NULL);
    return status;
}

/* The pairs of a piece: marked, and handed over if the result has pairs. */
static kr_status give_pairs(streaming *s, uint64_t first, kr_error *err)
{
    kr_device *device = s->job->device;
    const kr_pairs_chunk chunk = s->chunks.chunk;
    const uint64_t *end = (const uint64_t *)s->matches.offsets.data + s->query.n;
    uint64_t found = 0;
    kr_status status = kr_device_copy(device, &found, end, sizeof found, NULL, err);
    if (status == KR_OK)
        status = kr_device_sync(device, NULL, err);
    if (wants_rows(s))
        s->chunks.chunk = NULL;
    else
        s->result += found;
    if (status == KR_OK && found && (s->chunks.chunk || s->chunks.marks))
        status = kr_pair_chunks_give(&s->chunks, &s->query, &s->matches, s->inverse, first, err);
    s->chunks.chunk = chunk;
    return status;
}

static kr_status give_piece(streaming *s, uint64_t first, kr_error *err)
{
    const int probing_left = !s->inverse, rows = wants_rows(s) && probing_left;
    kr_status status = kr_matches_find(&s->query, &s->matches, err);
    const kr_selection selection = {
        .offsets = s->matches.offsets.data, .n = s->query.n, .wanted = rows && s->job->type == KR_JOIN_SEMI};
    if (status == KR_OK && !rows)
        status = give_pairs(s, first, err);
    if (status == KR_OK && (rows || keeps(s, probing_left)))
        status = give_selection(s, &selection, probing_left, first, err);
    kr_matches_release(&s->query, &s->matches);
    return status;
}

static kr_column slice(const kr_column *column, uint64_t first, uint64_t n)
{
    kr_column part = *column;
    part.data = (const char *)column->data + first * kr_type_nbytes(column->type);
    part.validity_offset += first;
    part.count = n;
    return part;
}

static kr_status run_piece(streaming *s, const kr_column *lower, const kr_column *upper, uint64_t first,
                           uint64_t n, kr_error *err)
{
    kr_device *device = s->job->device;
    const kr_column low_part = slice(lower, first, n), high_part = slice(upper ? upper : lower, first, n);
    kr_resident low = {0}, high = {0};
    kr_status status = kr_resident_make(device, &low_part, "a piece of a side", NULL, &low, err);
    if (status == KR_OK && upper)
        status = kr_resident_make(device, &high_part, "a piece of a side", NULL, &high, err);
    if (status == KR_OK)
        status =
            kr_query_make(s->index, &low.column, upper ? &high.column : NULL, NULL, NULL, &s->query, err);
    if (status == KR_OK)
        status = give_piece(s, first, err);
    kr_resident_release(device, &high, NULL);
    kr_resident_release(device, &low, NULL);
    return status;
}

/* Indexed rows, once all pieces have left their marks. */
static kr_status give_indexed(streaming *s, uint64_t n, kr_error *err)
{
    const kr_selection selection = {
        .bitmap = s->marks.data, .n = n, .wanted = wants_rows(s) && s->job->type == KR_JOIN_SEMI};
    return s->marks.data ? give_selection(s, &selection, s->inverse, 0, err) : KR_OK;
}

static kr_status run(streaming *s, const kr_spec *spec, kr_error *err)
{
    const kr_join_job *job = s->job;
    const kr_column *indexed = s->inverse ? job->left : job->right;
    const kr_column *probes = s->inverse ? job->right : job->left;
    kr_status status = kr_join_check_probes(probes, err);
    if (status == KR_OK)
        status = kr_join_build(job, spec, indexed, &s->index, err);
    if (status == KR_OK)
        status = open_marks(s, indexed->count, err);
    if (status == KR_OK && (s->chunks.chunk || s->marks.data))
        status = kr_pair_chunks_open(&s->chunks, err);
    for (uint64_t first = 0, end; first < probes->count && status == KR_OK; first = end) {
        end = probes->count - first < PIECE ? probes->count : first + PIECE;
        status = run_piece(s, probes, job->upper, first, end - first, err);
        if (status == KR_OK)
            status = kr_progress_report(&job->device->options.progress, "join",
                                        (double)end / (double)probes->count, err);
    }
    return status == KR_OK ? give_indexed(s, indexed->count, err) : status;
}

kr_status kr_join_chunks_run(const kr_join_job *job, uint64_t cap_nbytes, kr_pairs_chunk chunk, void *ctx,
                             uint64_t *pairs, kr_error *err)
{
    const uint64_t most = chunk ? cap_nbytes / (2 * sizeof(uint32_t)) : SMALLEST;
    kr_spec spec;
    kr_join_info info;
    streaming s = {.job = job,
                   .chunks = {.device = job->device,
                              .most = most < UINT32_MAX ? most : UINT32_MAX,
                              .chunk = chunk,
                              .ctx = ctx}};
    kr_status status = kr_join_decide(job, &spec, &s.inverse, &info, err);
    if (status == KR_OK)
        status = run(&s, &spec, err);
    kr_pair_chunks_close(&s.chunks);
    kr_buffer_release(job->device, &s.marks, NULL);
    kr_index_destroy(s.index);
    if (status == KR_OK && pairs)
        *pairs = s.result;
    return status;
}
