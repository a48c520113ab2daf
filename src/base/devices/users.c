#include "base/devices/users.h"

#include <pthread.h>
#include <stdlib.h>

enum { NOTED = 4 };

/* Under `lock`, but for what is atomic or never changes. */
typedef struct kr_lane {
    void *native;
    void *event;      /* of a wrapped stream: behind all work of keyray's there; NULL: the stream is owned */
    int is_over;      /* 1: the stream is gone, and one that was owned has no work left */
    uint32_t holders; /* the stream, and lists */
    _Atomic uint64_t noted[NOTED]; /* lists that have the lane, by their numbers, so that no lock is needed */
} kr_lane;

/* Of all lists and lanes: it is taken when a stream meets an object, and when streams and objects end. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Lanes ------------------------------------------------------------------------------------ */

void kr_users_open_lane(kr_stream *stream)
{
    kr_device *device = stream->device;
    if (device->ops->is_host)
        return;
    kr_lane *lane = calloc(1, sizeof *lane);
    if (lane && !stream->owned && device->ops->event_create(device, &lane->event, NULL) != KR_OK) {
        free(lane);
        lane = NULL;
    }
    if (lane) {
        lane->native = stream->native;
        lane->holders = 1;
    }
    stream->lane = lane;
}

/* Nobody has it. */
static void release(kr_device *device, kr_lane *lane)
{
    if (lane->event)
        device->ops->event_destroy(device, lane->event);
    free(lane);
}

static void leave(kr_device *device, kr_lane *lane)
{
    pthread_mutex_lock(&lock);
    const int is_last = --lane->holders == 0;
    pthread_mutex_unlock(&lock);
    if (is_last)
        release(device, lane);
}

static int is_capturing(kr_device *device, void *native)
{
    return device->ops->is_capturing && device->ops->is_capturing(device, native);
}

/* An event behind all work of a stream that is not captured; NULL: there is none. */
static void *mark(kr_device *device, void *native)
{
    void *event = NULL;
    if (is_capturing(device, native) || device->ops->event_create(device, &event, NULL) != KR_OK)
        return NULL;
    if (device->ops->event_record(device, event, native, NULL) == KR_OK)
        return event;
    device->ops->event_destroy(device, event);
    return NULL;
}

void kr_users_mark(kr_device *device, kr_stream *stream)
{
    const kr_lane *lane = stream ? stream->lane : NULL;
    if (lane && lane->event && !is_capturing(device, lane->native))
        device->ops->event_record(device, lane->event, lane->native, NULL);
}

void kr_users_close_lane(kr_stream *stream)
{
    kr_lane *lane = stream->lane;
    if (!lane)
        return;
    pthread_mutex_lock(&lock);
    lane->is_over = 1;
    pthread_mutex_unlock(&lock);
    stream->lane = NULL;
    leave(stream->device, lane);
}

/* ---- Lists ------------------------------------------------------------------------------------ */

static int has(const kr_users *users, const kr_lane *lane)
{
    uint32_t i = 0;
    while (i < users->n && users->lanes[i] != lane)
        ++i;
    return i < users->n;
}

static int is_done(kr_device *device, const kr_lane *lane)
{
    return lane->is_over &&
           (!lane->event || (device->ops->event_done && device->ops->event_done(device, lane->event)));
}

/* Lanes of streams that are gone, whose work is done, need not stay. */
static void drop_done(kr_device *device, kr_users *users)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < users->n; ++i) {
        kr_lane *lane = users->lanes[i];
        if (!is_done(device, lane))
            users->lanes[kept++] = lane;
        else if (--lane->holders == 0)
            release(device, lane);
    }
    users->n = kept;
}

/* 0: there is no memory. */
static int make_room(kr_device *device, kr_users *users)
{
    if (users->n == users->room)
        drop_done(device, users);
    if (users->n < users->room)
        return 1;
    const uint32_t room = users->room ? 2 * users->room : 4;
    kr_lane **lanes = realloc(users->lanes, room * sizeof *lanes);
    if (!lanes)
        return 0;
    users->lanes = lanes;
    users->room = room;
    return 1;
}

static void add(kr_device *device, kr_users *users, kr_lane *lane)
{
    static uint64_t last_id;
    if (!lane || (!has(users, lane) && !make_room(device, users))) {
        users->are_unknown = 1;
        return;
    }
    if (!has(users, lane)) {
        users->lanes[users->n++] = lane;
        ++lane->holders;
    }
    uint64_t id = atomic_load(&users->id);
    if (!id)
        atomic_store(&users->id, id = ++last_id);
    atomic_store(&lane->noted[id % NOTED], id);
}

void kr_users_note(kr_device *device, kr_users *users, kr_stream *stream)
{
    if (device->ops->is_host)
        return;
    kr_lane *lane = stream ? stream->lane : device->own.lane;
    const uint64_t id = atomic_load_explicit(&users->id, memory_order_acquire);
    if (lane && id && atomic_load_explicit(&lane->noted[id % NOTED], memory_order_acquire) == id)
        return;
    pthread_mutex_lock(&lock);
    add(device, users, lane);
    pthread_mutex_unlock(&lock);
}

/* The stream may end meanwhile, so its event is recorded under the lock, and the wait comes after. */
static void wait_for(kr_device *device, kr_lane *lane)
{
    void *made = NULL;
    pthread_mutex_lock(&lock);
    if (!lane->event && !lane->is_over)
        made = mark(device, lane->native);
    pthread_mutex_unlock(&lock);
    void *event = lane->event ? lane->event : made;
    if (event)
        device->ops->event_sync(device, event, NULL);
    if (made)
        device->ops->event_destroy(device, made);
    leave(device, lane);
}

void kr_users_wait(kr_device *device, kr_users *users)
{
    if (device->ops->is_host)
        return;
    pthread_mutex_lock(&lock);
    kr_lane **lanes = users->lanes;
    const uint32_t n = users->n, are_unknown = users->are_unknown;
    users->lanes = NULL;
    users->n = users->room = users->are_unknown = 0;
    atomic_store(&users->id, 0);
    pthread_mutex_unlock(&lock);
    if (are_unknown)
        kr_device_drain(device);
    for (uint32_t i = 0; i < n; ++i)
        wait_for(device, lanes[i]);
    free(lanes);
}

void kr_users_take(kr_device *device, kr_users *users, kr_stream *stream)
{
    kr_users_wait(device, users);
    kr_users_note(device, users, stream);
}
