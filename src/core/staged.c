/* Lookups with host memory on a device that does not reach it: the batch goes through in chunks, on a few
 * streams in turn, so that copies in, work and copies out of neighbouring chunks overlap. */
#include "core/query.h"
#include "util/copy.h"

enum { CHUNK = 1 << 22, SLOTS = 3, LANES = 6, PINNED_FROM = 1 << 20 };

/* One array of the lookup, split by probes. Bitmaps have 1 bit an element and may start within a byte. */
typedef struct staged_lane {
    const char *from; /* input in host memory, or NULL */
    char *to;         /* output in host memory, or NULL */
    char *there;      /* the array, where the device reaches it */
    uint32_t bits;
    uint32_t first_bit; /* 0 .. 7 */
} staged_lane;

enum { LOWER, LOWER_VALIDITY, UPPER, UPPER_VALIDITY, OUT, VALID };

typedef struct staged_slot {
    kr_stream *stream;
    kr_buffer device[LANES];
    void *pinned[LANES];
    uint64_t first, count; /* of the chunk in flight; count 0: none */
} staged_slot;

typedef struct staged {
    const kr_query *whole;
    const kr_sink *sink;
    const kr_column *values;
    kr_type type;
    int is_range;
    uint64_t n, chunk;
    staged_lane lanes[LANES];
    staged_slot slots[SLOTS];
} staged;

static uint64_t lane_nbytes(const staged_lane *lane, uint64_t count)
{
    return (lane->first_bit + lane->bits * count + 7) / 8;
}

static uint64_t lane_offset(const staged_lane *lane, uint64_t first)
{
    return lane->bits * first / 8; /* chunks are multiples of 8 probes */
}

static staged_lane make_lane(kr_device *device, const void *pointer, int is_output, uint32_t bits,
                             uint64_t first_bit)
{
    staged_lane made = {.bits = bits, .first_bit = (uint32_t)(first_bit % 8)};
    if (!pointer)
        return made;
    char *at = (char *)(uintptr_t)pointer + first_bit / 8;
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
    s->lanes[LOWER] = make_lane(device, lower->data, 0, bits, 0);
    s->lanes[LOWER_VALIDITY] = make_lane(device, lower->validity, 0, 1, lower->validity_offset);
    if (upper) {
        s->lanes[UPPER] = make_lane(device, upper->data, 0, bits, 0);
        s->lanes[UPPER_VALIDITY] = make_lane(device, upper->validity, 0, 1, upper->validity_offset);
    }
    s->lanes[OUT] = make_lane(device, s->sink->out, 1, kr_result_bits(s->sink), 0);
    s->lanes[VALID] = make_lane(device, s->sink->valid, 1, 1, 0);
}

static kr_status open_slot(staged *s, staged_slot *slot, kr_error *err)
{
    kr_device *device = s->whole->index->device;
    kr_status status = kr_stream_create(device, &slot->stream, err);
    if (status == KR_OK)
        status = kr_index_await(s->whole->index, slot->stream, err);
    for (int i = 0; i < LANES && status == KR_OK; ++i) {
        const staged_lane *lane = &s->lanes[i];
        const uint64_t nbytes = lane_nbytes(lane, s->chunk);
        if (!lane->from && !lane->to)
            continue;
        status = kr_buffer_allocate(device, nbytes, slot->stream, "a chunk of the batch", NULL,
                                    &slot->device[i], err);
        if (status == KR_OK && nbytes >= PINNED_FROM &&
            !(slot->pinned[i] = device->ops->stage(device, nbytes, err)))
            status = KR_ERR_HOST_MEMORY;
    }
    return status;
}

static void close_slot(staged *s, staged_slot *slot)
{
    kr_device *device = s->whole->index->device;
    if (slot->stream)
        kr_sync(device, slot->stream, NULL);
    for (int i = 0; i < LANES; ++i) {
        if (slot->pinned[i])
            device->ops->unstage(device, slot->pinned[i]);
        kr_buffer_release(device, &slot->device[i], slot->stream);
    }
    kr_stream_destroy(slot->stream);
}

/* Waits for the slot's chunk and hands its results over. */
static kr_status finish(staged *s, staged_slot *slot, kr_error *err)
{
    if (slot->count == 0)
        return KR_OK;
    kr_status status = kr_sync(s->whole->index->device, slot->stream, err);
    for (int i = 0; i < LANES && status == KR_OK; ++i) {
        const staged_lane *lane = &s->lanes[i];
        if (lane->to && slot->pinned[i])
            kr_host_copy(lane->to + lane_offset(lane, slot->first), slot->pinned[i],
                         lane_nbytes(lane, slot->count));
    }
    slot->count = 0;
    return status;
}

static kr_status copy_in(staged *s, staged_slot *slot, kr_error *err)
{
    kr_status status = KR_OK;
    for (int i = 0; i < LANES && status == KR_OK; ++i) {
        const staged_lane *lane = &s->lanes[i];
        if (!lane->from)
            continue;
        const uint64_t nbytes = lane_nbytes(lane, slot->count);
        const void *from = lane->from + lane_offset(lane, slot->first);
        if (slot->pinned[i]) {
            kr_host_copy(slot->pinned[i], from, nbytes);
            from = slot->pinned[i];
        }
        status =
            kr_device_copy(s->whole->index->device, slot->device[i].data, from, nbytes, slot->stream, err);
    }
    return status;
}

static kr_status copy_out(staged *s, staged_slot *slot, kr_error *err)
{
    kr_status status = KR_OK;
    for (int i = 0; i < LANES && status == KR_OK; ++i) {
        const staged_lane *lane = &s->lanes[i];
        if (!lane->to)
            continue;
        void *to = slot->pinned[i] ? slot->pinned[i] : (void *)(lane->to + lane_offset(lane, slot->first));
        status = kr_device_copy(s->whole->index->device, to, slot->device[i].data,
                                lane_nbytes(lane, slot->count), slot->stream, err);
    }
    return status;
}

/* Where the device finds the chunk's part of lane i. */
static void *chunk_pointer(const staged *s, const staged_slot *slot, int i)
{
    const staged_lane *lane = &s->lanes[i];
    return lane->there ? lane->there + lane_offset(lane, slot->first) : slot->device[i].data;
}

static kr_column chunk_column(const staged *s, const staged_slot *slot, int data)
{
    return (kr_column){
        .type = s->type,
        .count = slot->count,
        .data = chunk_pointer(s, slot, data),
        .validity = chunk_pointer(s, slot, data + 1),
        .validity_offset = s->lanes[data + 1].first_bit,
    };
}

static kr_status run_chunk(staged *s, staged_slot *slot, kr_error *err)
{
    const kr_column lower = chunk_column(s, slot, LOWER), upper = chunk_column(s, slot, UPPER);
    kr_sink sink = *s->sink;
    sink.out = chunk_pointer(s, slot, OUT);
    sink.valid = chunk_pointer(s, slot, VALID);
    kr_status status = copy_in(s, slot, err);
    if (status != KR_OK)
        return status;
    const kr_query query = kr_query_part(s->whole, &lower, s->is_range ? &upper : NULL, slot->stream);
    status = kr_query_answer(&query, &sink, s->values, err);
    return status == KR_OK ? copy_out(s, slot, err) : status;
}

kr_status kr_staged_answer(const kr_query *whole, const kr_column *lower, const kr_column *upper,
                           const kr_sink *sink, const kr_column *values, kr_error *err)
{
    kr_query unwatched = *whole; /* chunks overlap, so phases could not be told apart */
    unwatched.watch = NULL;
    staged s = {
        .whole = &unwatched,
        .sink = sink,
        .values = values,
        .type = lower->type,
        .is_range = upper != NULL,
        .n = lower->count,
        .chunk = lower->count < CHUNK ? lower->count : CHUNK,
    };
    fill_lanes(&s, lower, upper);
    const uint64_t chunks = (s.n + CHUNK - 1) / CHUNK;
    const int slots = chunks < SLOTS ? (int)chunks : SLOTS;
    kr_status status = kr_sync(whole->index->device, whole->stream, err);
    for (int i = 0; i < slots && status == KR_OK; ++i)
        status = open_slot(&s, &s.slots[i], err);
    for (uint64_t c = 0; c < chunks && status == KR_OK; ++c) {
        staged_slot *slot = &s.slots[c % SLOTS];
        status = finish(&s, slot, err);
        slot->first = c * CHUNK;
        slot->count = s.n - slot->first < CHUNK ? s.n - slot->first : CHUNK;
        if (status == KR_OK)
            status = run_chunk(&s, slot, err);
        if (status != KR_OK)
            slot->count = 0; /* nothing of it is to be handed over */
        if (status == KR_OK)
            status = kr_progress_report(&whole->index->device->options.progress, "lookup",
                                        (double)(c + 1) / (double)chunks, err);
    }
    for (uint64_t i = 0; i < SLOTS; ++i) { /* the oldest chunk first; slots without one have nothing to do */
        const kr_status end = finish(&s, &s.slots[(chunks + i) % SLOTS], status == KR_OK ? err : NULL);
        status = status == KR_OK ? end : status;
    }
    for (int i = slots; i-- > 0;)
        close_slot(&s, &s.slots[i]);
    return status;
}
