/* Lookups with host memory on a device that does not reach it: the batch is answered in pieces, on a few
 * streams in turn, so that copies in, work and copies out of neighbouring pieces overlap. */
#include "lookup/query.h"
#include "util/copy.h"

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
    kr_buffer device[LANES];
    void *pinned[LANES];
    uint64_t first, count; /* of the piece in flight; count 0: none */
} staged_turn;

typedef struct staged {
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
    kr_device *device = s->whole->index->device;
    const uint32_t bits = 8 * kr_type_nbytes(lower->type);
    s->lanes[LOWER] = make_lane(device, lower->data, 0, bits, 0, s->n);
    s->lanes[LOWER_VALIDITY] = make_lane(device, lower->validity, 0, 1, lower->validity_offset, s->n);
    if (upper) {
        s->lanes[UPPER] = make_lane(device, upper->data, 0, bits, 0, s->n);
        s->lanes[UPPER_VALIDITY] = make_lane(device, upper->validity, 0, 1, upper->validity_offset, s->n);
    }
    s->lanes[OUT] = make_lane(device, s->sink->out, 1, kr_result_bits(s->sink), 0, s->n);
    s->lanes[VALID] = make_lane(device, s->sink->valid, 1, 1, 0, s->n);
}

static kr_status open_turn(staged *s, staged_turn *turn, kr_error *err)
{
    kr_device *device = s->whole->index->device;
    kr_status status = kr_stream_create(device, &turn->stream, err);
    if (status == KR_OK)
        status = kr_index_await(s->whole->index, turn->stream, err);
    for (int i = 0; i < LANES && status == KR_OK; ++i) {
        const staged_lane *lane = &s->lanes[i];
        const uint64_t nbytes = lane_nbytes(lane, s->piece);
        if (!lane->from && !lane->to)
            continue;
        status = kr_buffer_allocate(device, nbytes, turn->stream, "a piece of the batch", NULL,
                                    &turn->device[i], err);
        if (status == KR_OK && nbytes >= PINNED_FROM && !lane->is_pinned &&
            !(turn->pinned[i] = device->ops->stage(device, nbytes, err)))
            status = KR_ERR_HOST_MEMORY;
    }
    return status;
}

static void close_turn(staged *s, staged_turn *turn)
{
    kr_device *device = s->whole->index->device;
    if (turn->stream)
        kr_device_sync(device, turn->stream, NULL);
    for (int i = 0; i < LANES; ++i) {
        if (turn->pinned[i])
            device->ops->unstage(device, turn->pinned[i]);
        kr_buffer_release(device, &turn->device[i], turn->stream);
    }
    kr_stream_destroy(turn->stream);
}

/* Waits for the piece of a turn and copies its results to the caller. */
static kr_status finish(staged *s, staged_turn *turn, kr_error *err)
{
    if (turn->count == 0)
        return KR_OK;
    kr_status status = kr_device_sync(s->whole->index->device, turn->stream, err);
    for (int i = 0; i < LANES && status == KR_OK; ++i) {
        const staged_lane *lane = &s->lanes[i];
        if (lane->to && turn->pinned[i])
            kr_host_copy(lane->to + lane_offset(lane, turn->first), turn->pinned[i],
                         lane_nbytes(lane, turn->count));
    }
    turn->count = 0;
    return status;
}

static kr_status copy_in(staged *s, staged_turn *turn, kr_error *err)
{
    kr_status status = KR_OK;
    for (int i = 0; i < LANES && status == KR_OK; ++i) {
        const staged_lane *lane = &s->lanes[i];
        if (!lane->from)
            continue;
        const uint64_t nbytes = lane_nbytes(lane, turn->count);
        const void *from = lane->from + lane_offset(lane, turn->first);
        if (turn->pinned[i]) {
            kr_host_copy(turn->pinned[i], from, nbytes);
            from = turn->pinned[i];
        }
        status =
            kr_device_copy(s->whole->index->device, turn->device[i].data, from, nbytes, turn->stream, err);
    }
    return status;
}

static kr_status copy_out(staged *s, staged_turn *turn, kr_error *err)
{
    kr_status status = KR_OK;
    for (int i = 0; i < LANES && status == KR_OK; ++i) {
        const staged_lane *lane = &s->lanes[i];
        if (!lane->to)
            continue;
        void *to = turn->pinned[i] ? turn->pinned[i] : (void *)(lane->to + lane_offset(lane, turn->first));
        status = kr_device_copy(s->whole->index->device, to, turn->device[i].data,
                                lane_nbytes(lane, turn->count), turn->stream, err);
    }
    return status;
}

/* Where the device finds the piece's part of lane i. */
static void *piece_pointer(const staged *s, const staged_turn *turn, int i)
{
    const staged_lane *lane = &s->lanes[i];
    return lane->there ? lane->there + lane_offset(lane, turn->first) : turn->device[i].data;
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

static kr_status run_piece(staged *s, staged_turn *turn, kr_error *err)
{
    const kr_column lower = piece_column(s, turn, LOWER), upper = piece_column(s, turn, UPPER);
    kr_sink sink = *s->sink;
    sink.out = piece_pointer(s, turn, OUT);
    sink.valid = piece_pointer(s, turn, VALID);
    kr_status status = copy_in(s, turn, err);
    if (status != KR_OK)
        return status;
    const kr_query query = kr_query_over(s->whole, &lower, s->is_range ? &upper : NULL, turn->stream);
    status = kr_query_answer(&query, &sink, s->values, err);
    return status == KR_OK ? copy_out(s, turn, err) : status;
}

kr_status kr_staged_answer(const kr_query *whole, const kr_column *lower, const kr_column *upper,
                           const kr_sink *sink, const kr_column *values, kr_error *err)
{
    kr_query unwatched = *whole; /* pieces overlap, so phases could not be told apart */
    unwatched.watch = NULL;
    staged s = {
        .whole = &unwatched,
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
    kr_status status = kr_device_sync(whole->index->device, whole->stream, err);
    for (int i = 0; i < turns && status == KR_OK; ++i)
        status = open_turn(&s, &s.turns[i], err);
    for (uint64_t c = 0; c < pieces && status == KR_OK; ++c) {
        staged_turn *turn = &s.turns[c % TURNS];
        status = finish(&s, turn, err);
        turn->first = c * PIECE;
        turn->count = s.n - turn->first < PIECE ? s.n - turn->first : PIECE;
        if (status == KR_OK)
            status = run_piece(&s, turn, err);
        if (status != KR_OK)
            turn->count = 0; /* its results must not reach the caller */
        if (status == KR_OK)
            status = kr_progress_report(&whole->index->device->options.progress, "lookup",
                                        (double)(c + 1) / (double)pieces, err);
    }
    for (uint64_t i = 0; i < TURNS; ++i) { /* the oldest piece first; turns without a piece do nothing */
        const kr_status end = finish(&s, &s.turns[(pieces + i) % TURNS], status == KR_OK ? err : NULL);
        status = status == KR_OK ? end : status;
    }
    for (int i = turns; i-- > 0;)
        close_turn(&s, &s.turns[i]);
    return status;
}
