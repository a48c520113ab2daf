/* Joins of which a side or the result is larger than the memory of the device. One side is indexed; the other
 * is brought to the device piece by piece, and the pairs are handed over chunk by chunk. */
#include "index/results/bitmap.h"
#include "join/covering.h"
#include "join/join.h"
#include "join/join_chunks_body.h"
#include "join/pair_chunks.h"
#include "join/partners.h"
#include "join/side.h"

enum { PIECE = 1 << 22, SMALLEST = 1 << 16 }; /* probing rows on the device; pairs that are only marked */

/* A piece: rows of the side that is not indexed, which are looked up in the other. */
typedef struct streaming_piece {
    kr_stream *stream;
    kr_work work; /* on that stream; ends with the piece */
    kr_query query;
    kr_matches matches;
    uint32_t *answers; /* instead of matches: the first row of each key */
    uint64_t first;    /* the side's row that the piece begins with */
    uint64_t *found;   /* in pinned memory: how many pairs the piece has */
    int is_open;
} streaming_piece;

/* So many pieces are open at a time: one whose pairs are copied out, one that is looked up, and one that is
 * copied in. */
enum { TURNS = 3 };

typedef struct streaming {
    kr_work *work; /* of all pieces; fails with any of them */
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
    return left ? kr_join_keeps_left(s->job->type) : kr_join_keeps_right(s->job->type);
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

static void open_marks(streaming *s, uint64_t n)
{
    if (!keeps(s, s->indexes_left) && !lists_indexed(s))
        return;
    s->partners = kr_partners_make(s->work, n);
    s->chunks.marks = s->partners.marks;
}

/* ---- What was found --------------------------------------------------------------------------- */

/* Rows without a partner beside them, which `from` has listed on its stream. */
static void give_rows(streaming *s, kr_work *from, const uint32_t *rows, uint64_t n, int is_left,
                      uint64_t first_row)
{
    kr_work_sync(from); /* they leave on another stream */
    s->result += n;
    KR_STEP(s->work, from->status);
    kr_pair_chunks_give_alone(s->work, &s->chunks, rows, n, is_left, wants_rows(s), first_row);
    kr_work_give(from, rows);
}

static void give_selection(streaming *s, kr_work *from, const kr_selection *selection, int is_left,
                           uint64_t first_row)
{
    uint64_t n = 0;
    const uint32_t *rows = kr_select_list(from, selection, &n);
    give_rows(s, from, rows, n, is_left, first_row);
}

/* The pairs of a piece: marked, and handed over if the result has pairs. */
static void give_pairs(streaming *s, streaming_piece *piece)
{
    kr_work *w = &piece->work;
    kr_work_sync(w);
    const uint64_t found = kr_work_goes_on(w) ? *piece->found : 0;
    s->chunks.is_silent = wants_rows(s);
    if (!s->chunks.is_silent)
        s->result += found;
    if (s->chunks.chunk || s->chunks.marks)
        kr_pair_chunks_give(w, &s->chunks, &piece->query, &piece->matches, found, s->indexes_left,
                            piece->first);
}

static void close_piece(streaming *s, streaming_piece *piece)
{
    if (!piece->is_open)
        return;
    const kr_status status = kr_work_end(&piece->work);
    KR_STEP(s->work, status);
    piece->is_open = 0;
}

/* What a piece has found. */
static void give_piece(streaming *s, streaming_piece *piece)
{
    const int probing_left = !s->indexes_left, rows = wants_rows(s) && probing_left;
    const kr_selection selection = {.offsets = piece->matches.offsets,
                                    .n = piece->query.n,
                                    .wanted = rows && kr_join_wants_partner(s->job->type)};
    if (!piece->is_open || !kr_work_goes_on(s->work))
        return;
    if (piece->answers)
        kr_work_sync(&piece->work);
    else if (!rows)
        give_pairs(s, piece);
    if (rows || keeps(s, probing_left))
        give_selection(s, &piece->work, &selection, probing_left, piece->first);
    close_piece(s, piece);
}

/* Some indexed rows, from a multiple of 64 on. */
static void give_indexed_part(streaming *s, const kr_column *indexed, uint64_t first, uint64_t n)
{
    const int wanted = kr_join_wants_partner(s->job->type);
    const kr_selection selection = {
        .bitmap = s->partners.marks + first / 32, .n = n, .wanted = (uint32_t)wanted};
    const kr_partners_part part = {kr_column_slice(indexed, first, n), first, wanted};
    uint64_t found = 0;
    if (!lists_indexed(s) || s->job->right_upper) {
        give_selection(s, s->work, &selection, s->indexes_left, first);
        return;
    }
    const uint32_t *rows = kr_partners_list(s->work, &s->partners, s->index, &part, &found);
    give_rows(s, s->work, rows, found, 1, first);
}

/* Indexed rows, once all pieces have left their marks: as many at a time as there is room for where not all
 * of them fit on the device. */
static void give_indexed(streaming *s, const kr_column *indexed)
{
    const uint64_t n = indexed->count;
    const uint64_t piece = kr_work_goes_on(s->work) ? kr_query_piece(s->index, n) : n;
    for (uint64_t first = 0; first < n && s->partners.marks && kr_work_goes_on(s->work); first += piece)
        give_indexed_part(s, indexed, first, n - first < piece ? n - first : piece);
}

/* ---- The pieces ------------------------------------------------------------------------------- */

/* Marks the rows that a piece of points finds. */
static void mark_answers(streaming *s, streaming_piece *piece)
{
    kr_work *w = &piece->work;
    const uint64_t n = piece->query.n;
    piece->answers = kr_work_take(w, n * sizeof *piece->answers, "rows of partners");
    kr_query_locate(w, &piece->query, KR_PUT_ROW, piece->answers);
    kr_partners_mark(w, &s->partners, piece->answers, n);
}

static void find_matches(streaming_piece *piece)
{
    kr_work *w = &piece->work;
    piece->matches = kr_matches_find(w, &piece->query);
    const join_chunks_params params = {KR_PLACE_IN(piece->matches.offsets, piece->query.n), piece->found};
    kr_work_run(w, &join_chunks_found, &params, 1);
}

/* Rows first .. first + n - 1 of a side, on the device. */
static kr_column bring_slice(kr_work *w, const kr_column *side, uint64_t first, uint64_t n)
{
    const kr_column slice = kr_column_slice(side, first, n);
    return kr_column_bring(w, &slice, "a piece of a side");
}

/* Brings n probing rows and enqueues their search. Ranges that only mark rows find none of them twice. */
static void begin_piece(streaming *s, streaming_piece *piece, uint64_t first, uint64_t n)
{
    const kr_column *lower = s->indexes_left ? s->job->right : s->job->left, *upper = s->job->right_upper;
    kr_work *w = &piece->work;
    *w = kr_work_on(s->work->device, piece->stream, s->work->err);
    piece->query = (kr_query){.n = 0};
    piece->answers = NULL;
    piece->first = first;
    piece->is_open = 1;
    kr_column low = bring_slice(w, lower, first, n), high = {.count = 0};
    if (upper)
        high = bring_slice(w, upper, first, n);
    if (upper && lists_indexed(s))
        kr_covering_ranges_part(w, &s->index->spec, &low, &high);
    kr_query_make(w, s->index, &low, upper ? &high : NULL, &piece->query);
    if (lists_indexed(s) && !upper)
        mark_answers(s, piece);
    else
        find_matches(piece);
    KR_STEP(s->work, w->status);
}

/* A piece's pairs leave after the next piece has come. */
static void run_pieces(streaming *s, uint64_t all)
{
    const uint64_t piece = kr_work_goes_on(s->work) ? kr_query_piece(s->index, PIECE) : PIECE;
    uint32_t turn = 0, last = 0;
    for (uint64_t first = 0, end; first < all && kr_work_goes_on(s->work); first = end) {
        end = all - first < piece ? all : first + piece;
        begin_piece(s, &s->pieces[turn], first, end - first);
        if (first)
            give_piece(s, &s->pieces[last]);
        last = turn;
        turn = (turn + 1) % TURNS;
        KR_STEP(s->work, kr_progress_report(&s->work->device->options.progress, "join",
                                            (double)end / (double)all, s->work->err));
    }
    give_piece(s, &s->pieces[last]);
    kr_pair_chunks_drain(s->work, &s->chunks);
}

static void open_turns(streaming *s)
{
    kr_work *w = s->work;
    const kr_device_ops *ops = w->device->ops;
    kr_work_sync(w);
    for (int i = 0; i < TURNS && kr_work_goes_on(w); ++i) {
        streaming_piece *piece = &s->pieces[i];
        if (!(piece->found = ops->stage(w->device, sizeof *piece->found, NULL)))
            KR_STEP(w, kr_fail(w->err, KR_ERR_HOST_MEMORY,
                               "no host memory for the number of pairs of a piece: free some and try again"));
        piece->stream = kr_work_fork(w);
        KR_STEP(w, kr_index_await(s->index, piece->stream, w->err));
    }
}

static void close_turns(streaming *s)
{
    for (int i = 0; i < TURNS; ++i) {
        close_piece(s, &s->pieces[i]);
        kr_stream_destroy(s->pieces[i].stream);
        if (s->pieces[i].found)
            s->work->device->ops->unstage(s->work->device, s->pieces[i].found);
    }
}

/* ---- The whole join --------------------------------------------------------------------------- */

uint64_t kr_join_chunks_run(kr_work *w, const kr_join_job *job, uint64_t cap_nbytes, kr_pairs_chunk chunk,
                            void *ctx)
{
    const uint64_t most = chunk ? cap_nbytes / (2 * sizeof(uint32_t)) : SMALLEST;
    kr_join_info info;
    kr_join_job sided = *job;
    streaming s = {
        .work = w,
        .job = job,
        .chunks = {
            .device = w->device, .most = most < UINT32_MAX ? most : UINT32_MAX, .chunk = chunk, .ctx = ctx}};
    if (job->right_upper) /* pieces of ranges */
        sided.index_side = KR_INVERSE_ON;
    kr_join_side side = kr_join_decide(w, &sided, &info);
    kr_join_look(w, &sided, 0, &side, &info);
    s.indexes_left = side.is_left;
    const kr_column *indexed = s.indexes_left ? job->left : job->right;
    const kr_column *probes = s.indexes_left ? job->right : job->left;
    kr_join_check_rows(w, probes, NULL, "join parts of it");
    s.index = kr_join_build(w, job, &side, &info);
    open_marks(&s, indexed->count);
    if (s.chunks.chunk || s.partners.marks)
        kr_pair_chunks_open(w, &s.chunks);
    open_turns(&s);
    run_pieces(&s, probes->count);
    give_indexed(&s, indexed);
    kr_pair_chunks_close(&s.chunks); /* waits for streams that close_turns destroys */
    close_turns(&s);
    kr_index_release(s.index, w->stream);
    return s.result;
}
