/* Lookups with host memory on a device that does not reach it: the batch is answered in pieces, on a few
 * streams in turn, so that copies in, work and copies out of neighbouring pieces overlap. */
#include "base/util/copy.h"
#include "index/lookup/kept.h"

enum { PIECE = 1 << 22, TURNS = 3, LANES = 6, PINNED_FROM = 1 << 20 };

/* One array of the lookup, split by probes. Bitmaps have 1 bit per element and may start within a byte. */
typedef struct staged_lane {
    const char *from; /* input in host memory, or NULL */
    char *to;         /* output in host memory, or NULL */
    char *there;      /* the array, where the device reaches it */
    uint32_t bits;
    uint32_t first_bit; /* 0 .. 7 */
    uint32_t is_pinned; /* host memory that needs no buffer */
} staged_lane;

enum { LOWER, LOWER_VALIDITY, UPPER, UPPER_VALIDITY, OUT, VALID };

typedef struct staged_turn {
    kr_stream *stream;
    kr_work work; /* on that stream; ends with the turn */
    void *device[LANES];
    void *pinned[LANES];
    uint64_t first, count; /* of the piece in flight; count 0: none */
} staged_turn;

typedef struct staged {
    kr_work *work; /* of the lookup; fails with any turn */
    const kr_query *whole;
    const kr_sink *sink;
    const kr_column *values;
    kr_type type;
    int is_range;
    uint64_t n, piece;
    staged_lane lanes[LANES];
    staged_turn turns[TURNS];
} staged;

static uint64_t lane_nbytes(const staged_lane *lane, uint64_t count)
{
    return (lane->first_bit + lane->bits * count + 7) / 8;
}

static uint64_t lane_offset(const staged_lane *lane, uint64_t first)
{
    return lane->bits * first / 8; /* pieces are multiples of 8 probes */
}

static staged_lane make_lane(kr_device *device, const void *pointer, int is_output, uint32_t bits,
                             uint64_t first_bit, uint64_t n)
{
    staged_lane made = {.bits = bits, .first_bit = (uint32_t)(first_bit % 8)};
    if (!pointer)
        return made;
    char *at = (char *)(uintptr_t)pointer + first_bit / 8;
    made.is_pinned = kr_device_pins(device, at, (made.first_bit + bits * n + 7) / 8) != 0;
    if (kr_device_reaches(device, pointer))
        made.there = at;
    else if (is_output)
        made.to = at;
    else
        made.from = at;
    return made;
}

static void fill_lanes(staged *s, const kr_column *lower, const kr_column *upper)
{
    kr_device *device = s->work->device;
    const uint32_t bits = 8 * kr_type_nbytes(lower->type);
    s->lanes[LOWER] = make_lane(device, lower->data, 0, bits, 0, s->n);
    s->lanes[LOWER_VALIDITY] = make_lane(device, lower->validity, 0, 1, lower->validity_offset, s->n);
    if (upper) {
        s->lanes[UPPER] = make_lane(device, upper->data, 0, bits, 0, s->n);
        s->lanes[UPPER_VALIDITY] = make_lane(device, upper->validity, 0, 1, upper->validity_offset, s->n);
    }
    s->lanes[OUT] = make_lane(device, s->sink->out, 1, kr_query_result_bits(s->sink), 0, s->n);
    s->lanes[VALID] = make_lane(device, s->sink->valid, 1, 1, 0, s->n);
}

static void open_turn(staged *s, staged_turn *turn)
{
    kr_device *device = s->work->device;
    kr_work *w = &turn->work;
    turn->stream = kr_work_fork(s->work);
    *w = kr_work_on(device, turn->stream, s->work->err);
    w->status = s->work->status;
    KR_STEP(w, kr_index_await(s->whole->index, turn->stream, w->err));
    for (int i = 0; i < LANES && kr_work_goes_on(w); ++i) {
        const staged_lane *lane = &s->lanes[i];
        const uint64_t nbytes = lane_nbytes(lane, s->piece);
        if (!lane->from && !lane->to)
            continue;
        turn->device[i] = kr_work_take(w, nbytes, "a piece of the batch");
        if (kr_work_goes_on(w) && nbytes >= PINNED_FROM && !lane->is_pinned &&
            !(turn->pinned[i] = device->ops->stage(device, nbytes, w->err)))
            KR_STEP(w, KR_ERR_HOST_MEMORY);
    }
    KR_STEP(s->work, w->status);
}

static void close_turn(staged *s, staged_turn *turn)
{
    kr_device *device = s->work->device;
    if (turn->stream)
        kr_device_sync(device, turn->stream, NULL);
    for (int i = 0; i < LANES; ++i)
        if (turn->pinned[i])
            device->ops->unstage(device, turn->pinned[i]);
    if (turn->stream)
        kr_work_end(&turn->work);
    kr_stream_destroy(turn->stream);
}

/* Waits for the piece of a turn and copies its results to the caller; also when another turn has failed. */
static void finish(staged *s, staged_turn *turn)
{
    kr_work *w = &turn->work;
    if (turn->count == 0)
        return;
    w->err = kr_work_goes_on(s->work) ? s->work->err : NULL;
    kr_work_sync(w);
    for (int i = 0; i < LANES && kr_work_goes_on(w); ++i) {
        const staged_lane *lane = &s->lanes[i];
        if (lane->to && turn->pinned[i])
            kr_host_copy(lane->to + lane_offset(lane, turn->first), turn->pinned[i],
                         lane_nbytes(lane, turn->count));
    }
    turn->count = 0;
    KR_STEP(s->work, w->status);
}

static void copy_in(staged *s, staged_turn *turn)
{
    for (int i = 0; i < LANES && kr_work_goes_on(&turn->work); ++i) {
        const staged_lane *lane = &s->lanes[i];
        if (!lane->from)
            continue;
        const uint64_t nbytes = lane_nbytes(lane, turn->count);
        const void *from = lane->from + lane_offset(lane, turn->first);
        if (turn->pinned[i]) {
            kr_host_copy(turn->pinned[i], from, nbytes);
            from = turn->pinned[i];
        }
        kr_work_copy(&turn->work, turn->device[i], from, nbytes);
    }
}

static void copy_out(staged *s, staged_turn *turn)
{
    for (int i = 0; i < LANES; ++i) {
        const staged_lane *lane = &s->lanes[i];
        void *to = turn->pinned[i] ? turn->pinned[i] : (void *)(lane->to + lane_offset(lane, turn->first));
        if (lane->to)
            kr_work_copy(&turn->work, to, turn->device[i], lane_nbytes(lane, turn->count));
    }
}

/* Where the device finds the piece's part of lane i. */
static void *piece_pointer(const staged *s, const staged_turn *turn, int i)
{
    const staged_lane *lane = &s->lanes[i];
    return lane->there ? lane->there + lane_offset(lane, turn->first) : turn->device[i];
}

static kr_column piece_column(const staged *s, const staged_turn *turn, int data)
{
    return (kr_column){
        .type = s->type,
        .count = turn->count,
        .data = piece_pointer(s, turn, data),
        .validity = piece_pointer(s, turn, data + 1),
        .validity_offset = s->lanes[data + 1].first_bit,
    };
}

/* After a failure the results must not reach the caller. */
static void run_piece(staged *s, staged_turn *turn, uint64_t first)
{
    kr_work *w = &turn->work;
    turn->first = first;
    turn->count = s->n - first < PIECE ? s->n - first : PIECE;
    const kr_column lower = piece_column(s, turn, LOWER), upper = piece_column(s, turn, UPPER);
    kr_sink sink = *s->sink;
    sink.out = piece_pointer(s, turn, OUT);
    sink.valid = piece_pointer(s, turn, VALID);
    const kr_query query = kr_query_over(s->whole, &lower, s->is_range ? &upper : NULL);
    copy_in(s, turn);
    kr_query_answer(w, &query, &sink, s->values);
    copy_out(s, turn);
    if (!kr_work_goes_on(w))
        turn->count = 0;
    KR_STEP(s->work, w->status);
}

static void run_pieces(staged *s, uint64_t pieces)
{
    kr_work *w = s->work;
    for (uint64_t c = 0; c < pieces && kr_work_goes_on(w); ++c) {
        staged_turn *turn = &s->turns[c % TURNS];
        finish(s, turn);
        if (kr_work_goes_on(w))
            run_piece(s, turn, c * PIECE);
        KR_STEP(w, kr_progress_report(&w->device->options.progress, "lookup",
                                      (double)(c + 1) / (double)pieces, w->err));
    }
    for (uint64_t i = 0; i < TURNS; ++i) /* the oldest piece first; turns without a piece do nothing */
        finish(s, &s->turns[(pieces + i) % TURNS]);
}

/* A divided index takes as many probes at a time as it can. */
static void answer_kept(kr_work *w, const kr_query *whole, const kr_column *lower, const kr_column *upper,
                        const kr_sink *sink, const kr_column *values)
{
    kr_sink asked = *sink;
    asked.values = values;
    const kr_kept_answers job = {whole, lower, upper, &asked, 1};
    whole->index->ops->kept->answer(w, &job);
}

/* Pieces overlap, so phases could not be told apart: turns have no watch. */
void kr_staged_answer(kr_work *w, const kr_query *whole, const kr_column *lower, const kr_column *upper,
                      const kr_sink *sink, const kr_column *values)
{
    if (!kr_work_goes_on(w))
        return;
    if (kr_query_is_kept(whole)) {
        answer_kept(w, whole, lower, upper, sink, values);
        return;
    }
    staged s = {
        .work = w,
        .whole = whole,
        .sink = sink,
        .values = values,
        .type = lower->type,
        .is_range = upper != NULL,
        .n = lower->count,
        .piece = lower->count < PIECE ? lower->count : PIECE,
    };
    fill_lanes(&s, lower, upper);
    const uint64_t pieces = (s.n + PIECE - 1) / PIECE;
    const int turns = pieces < TURNS ? (int)pieces : TURNS;
    kr_work_sync(w);
    for (int i = 0; i < turns && kr_work_goes_on(w); ++i)
        open_turn(&s, &s.turns[i]);
    run_pieces(&s, pieces);
    for (int i = turns; i-- > 0;)
        close_turn(&s, &s.turns[i]);
}
