/* Joins of which a side or the result is larger than the memory of the device. One side is indexed; the other
 * is brought to the device piece by piece, and the pairs are handed over chunk by chunk. */
#include "joins/covering.h"
#include "joins/join.h"
#include "joins/join_chunks_body.h"
#include "joins/pair_chunks.h"
#include "joins/partners.h"
#include "results/bitmap.h"

enum { PIECE = 1 << 22, SMALLEST = 1 << 16 }; /* probing rows on the device; pairs that are only marked */

/* A piece: rows of the side that is not indexed, which are looked up in the other. */
typedef struct streaming_piece {
    kr_stream *stream;
    kr_resident low, high;
    kr_query query;
    kr_matches matches;
    kr_buffer answers; /* instead of matches: the first row of each key */
    uint64_t first;    /* the side's row that the piece begins with */
    uint64_t *found;   /* in pinned memory: how many pairs the piece has */
    int is_open;
} streaming_piece;

/* So many pieces are open at a time: one whose pairs are copied out, one that is looked up, and one that is
 * copied in. */
enum { TURNS = 3 };

typedef struct streaming {
    const kr_join_job *job;
    int indexes_left; /* 1: the left side is indexed, 0: the right one */
    kr_index *index;
    streaming_piece pieces[TURNS];
    kr_pair_chunks chunks;
    kr_partners partners; /* indexed rows with a partner, if they are asked for */
    uint64_t result;      /* pairs or rows so far */
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

/* 1 if these are the indexed rows. */
static int lists_indexed(const streaming *s)
{
    return s->indexes_left && wants_rows(s);
}

static kr_status open_marks(streaming *s, uint64_t n, kr_error *err)
{
    if (!keeps(s, s->indexes_left) && !lists_indexed(s))
        return KR_OK;
    const kr_status status = kr_partners_open(&s->partners, s->job->device, n, err);
    s->chunks.marks = s->partners.marks.data;
    return status;
}

/* Rows without a partner beside them, which were listed on `stream`; releases them. */
static kr_status give_rows(streaming *s, kr_buffer *rows, uint64_t n, kr_stream *stream, int is_left,
                           uint64_t first_row, kr_error *err)
{
    kr_status status = kr_device_sync(s->job->device, stream, err); /* they leave on another stream */
    s->result += n;
    if (status == KR_OK)
        status = kr_pair_chunks_give_alone(&s->chunks, rows, n, is_left, wants_rows(s), first_row, err);
    kr_buffer_release(s->job->device, rows, stream);
    return status;
}

static kr_status give_selection(streaming *s, const kr_selection *selection, kr_stream *stream, int is_left,
                                uint64_t first_row, kr_error *err)
{
    kr_buffer rows = {0};
    uint64_t n = 0;
    const kr_status status = kr_selection_list(s->job->device, selection, stream, &rows, &n, err);
    return status == KR_OK ? give_rows(s, &rows, n, stream, is_left, first_row, err) : status;
}

/* The pairs of a piece: marked, and handed over if the result has pairs. */
static kr_status give_pairs(streaming *s, const streaming_piece *piece, kr_error *err)
{
    kr_status status = kr_device_sync(s->job->device, piece->stream, err);
    const uint64_t found = *piece->found;
    s->chunks.is_silent = wants_rows(s);
    if (!s->chunks.is_silent)
        s->result += found;
    if (status == KR_OK && (s->chunks.chunk || s->chunks.marks))
        status = kr_pair_chunks_give(&s->chunks, &piece->query, &piece->matches, found, s->indexes_left,
                                     piece->first, err);
    return status;
}

static void close_piece(const streaming *s, streaming_piece *piece)
{
    kr_device *device = s->job->device;
    if (piece->is_open)
        kr_matches_release(&piece->query, &piece->matches);
    kr_buffer_release(device, &piece->answers, piece->stream);
    kr_resident_release(device, &piece->high, piece->stream);
    kr_resident_release(device, &piece->low, piece->stream);
    piece->is_open = 0;
}

/* What a piece has found. */
static kr_status give_piece(streaming *s, streaming_piece *piece, kr_error *err)
{
    const int probing_left = !s->indexes_left, rows = wants_rows(s) && probing_left;
    const kr_selection selection = {.offsets = piece->matches.offsets.data,
                                    .n = piece->query.n,
                                    .wanted = rows && s->job->type == KR_JOIN_SEMI};
    kr_status status = KR_OK;
    if (!piece->is_open)
        return KR_OK;
    if (piece->answers.data)
        status = kr_device_sync(s->job->device, piece->stream, err);
    else if (!rows)
        status = give_pairs(s, piece, err);
    if (status == KR_OK && (rows || keeps(s, probing_left)))
        status = give_selection(s, &selection, piece->stream, probing_left, piece->first, err);
    close_piece(s, piece);
    return status;
}

/* Marks the rows that a piece of points finds. */
static kr_status mark_answers(streaming *s, streaming_piece *piece, kr_error *err)
{
    const uint64_t n = piece->query.n;
    kr_status status = kr_buffer_allocate(s->job->device, n * sizeof(uint32_t), piece->stream,
                                          "rows of partners", NULL, &piece->answers, err);
    if (status == KR_OK)
        status = kr_query_locate(&piece->query, KR_PUT_ROW, piece->answers.data, err);
    return status == KR_OK ? kr_partners_mark(&s->partners, piece->answers.data, n, piece->stream, err)
                           : status;
}

static kr_status find_matches(streaming *s, streaming_piece *piece, kr_error *err)
{
    const kr_status status = kr_matches_find(&piece->query, &piece->matches, err);
    if (status != KR_OK)
        return status;
    const join_chunks_params params = {(const uint64_t *)piece->matches.offsets.data + piece->query.n,
                                       piece->found};
    return kr_device_run(s->job->device, &join_chunks_found, &params, 1, piece->stream, err);
}

/* Brings n probing rows and enqueues their search. Ranges that only mark rows find none of them twice. */
static kr_status begin_piece(streaming *s, streaming_piece *piece, uint64_t first, uint64_t n, kr_error *err)
{
    kr_device *device = s->job->device;
    const kr_column *lower = s->indexes_left ? s->job->right : s->job->left, *upper = s->job->right_upper;
    const kr_column low = kr_column_slice(lower, first, n),
                    high = kr_column_slice(upper ? upper : lower, first, n);
    kr_status status = kr_resident_make(device, &low, "a piece of a side", piece->stream, &piece->low, err);
    if (status == KR_OK && upper)
        status = kr_resident_make(device, &high, "a piece of a side", piece->stream, &piece->high, err);
    if (status == KR_OK && upper && lists_indexed(s))
        status = kr_ranges_part(device, &s->index->spec, piece->stream, &piece->low, &piece->high, err);
    if (status == KR_OK)
        status = kr_query_make(s->index, &piece->low.column, upper ? &piece->high.column : NULL,
                               piece->stream, NULL, &piece->query, err);
    piece->first = first;
    piece->is_open = status == KR_OK;
    if (status != KR_OK)
        return status;
    return lists_indexed(s) && !upper ? mark_answers(s, piece, err) : find_matches(s, piece, err);
}

/* A piece's pairs leave after the next piece has come. */
static kr_status run_pieces(streaming *s, uint64_t all, kr_error *err)
{
    kr_status status = KR_OK;
    uint32_t turn = 0, last = 0;
    for (uint64_t first = 0, end; first < all && status == KR_OK; first = end) {
        end = all - first < PIECE ? all : first + PIECE;
        status = begin_piece(s, &s->pieces[turn], first, end - first, err);
        if (status == KR_OK && first)
            status = give_piece(s, &s->pieces[last], err);
        last = turn;
        turn = (turn + 1) % TURNS;
        if (status == KR_OK)
            status =
                kr_progress_report(&s->job->device->options.progress, "join", (double)end / (double)all, err);
    }
    if (status == KR_OK)
        status = give_piece(s, &s->pieces[last], err);
    return status == KR_OK ? kr_pair_chunks_drain(&s->chunks, err) : status;
}

/* On a host, the NULL stream is as good as any. */
static kr_status open_turns(streaming *s, kr_error *err)
{
    kr_device *device = s->job->device;
    kr_status status = kr_device_sync(device, NULL, err);
    for (int i = 0; i < TURNS && status == KR_OK; ++i) {
        streaming_piece *piece = &s->pieces[i];
        if (!(piece->found = device->ops->stage(device, sizeof *piece->found, NULL)))
            status = kr_fail(err, KR_ERR_HOST_MEMORY,
                             "no host memory for the number of pairs of a piece: free some and try again");
        if (status == KR_OK && !device->ops->is_host)
            status = kr_stream_create(device, &piece->stream, err);
        if (status == KR_OK)
            status = kr_index_await(s->index, piece->stream, err);
    }
    return status;
}

static void close_turns(streaming *s)
{
    for (int i = 0; i < TURNS; ++i) {
        close_piece(s, &s->pieces[i]);
        kr_stream_destroy(s->pieces[i].stream);
        if (s->pieces[i].found)
            s->job->device->ops->unstage(s->job->device, s->pieces[i].found);
    }
}

/* Indexed rows, once all pieces have left their marks. */
static kr_status give_indexed(streaming *s, uint64_t n, kr_error *err)
{
    const int wanted = s->job->type == KR_JOIN_SEMI;
    const kr_selection selection = {.bitmap = s->partners.marks.data, .n = n, .wanted = (uint32_t)wanted};
    kr_buffer rows = {0};
    uint64_t found = 0;
    if (!s->partners.marks.data)
        return KR_OK;
    if (!lists_indexed(s) || s->job->right_upper)
        return give_selection(s, &selection, NULL, s->indexes_left, 0, err);
    const kr_status status =
        kr_partners_list(&s->partners, s->index, s->job->left, wanted, &rows, &found, err);
    return status == KR_OK ? give_rows(s, &rows, found, NULL, 1, 0, err) : status;
}

static kr_status run(streaming *s, const kr_spec *spec, kr_error *err)
{
    const kr_join_job *job = s->job;
    const kr_column *indexed = s->indexes_left ? job->left : job->right;
    const kr_column *probes = s->indexes_left ? job->right : job->left;
    kr_status status = kr_join_check_rows(probes, NULL, "join parts of it", err);
    if (status == KR_OK)
        status = kr_join_build(job, spec, indexed, &s->index, err);
    if (status == KR_OK)
        status = open_marks(s, indexed->count, err);
    if (status == KR_OK && (s->chunks.chunk || s->partners.marks.data))
        status = kr_pair_chunks_open(&s->chunks, err);
    if (status == KR_OK)
        status = open_turns(s, err);
    if (status == KR_OK)
        status = run_pieces(s, probes->count, err);
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
    kr_status status = kr_join_decide(job, &spec, &s.indexes_left, &info, err);
    s.indexes_left |= job->right_upper != NULL; /* pieces of ranges, among left rows */
    if (status == KR_OK)
        status = run(&s, &spec, err);
    kr_pair_chunks_close(&s.chunks); /* waits for streams that close_turns destroys */
    close_turns(&s);
    kr_partners_close(&s.partners);
    kr_index_destroy(s.index);
    if (status == KR_OK && pairs)
        *pairs = s.result;
    return status;
}
