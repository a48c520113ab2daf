/* Which streams have work that uses an object, so that a change of it, or its end, waits for them and not for
 * the whole device.
 *
 * A stream has a lane. Whoever enqueues work on a stream notes its lane with the object before. The wait
 * records an event on each lane that was noted, and waits for it: so it also waits for what else was enqueued
 * there until then. A lane outlives its stream, and says that it is over.
 *
 * A stream of the caller's, which keyray only wraps, may be gone without a word. So its event is recorded
 * behind each call that enqueues (kr_users_mark), and no wait touches the stream.
 *
 * On devices that are the host nothing is outstanding, and nothing is noted. A stream that is being captured
 * cannot be waited for. */
#ifndef KEYRAY_BASE_DEVICES_USERS_H
#define KEYRAY_BASE_DEVICES_USERS_H

#include "base/devices/device.h"

/* All zero: nobody uses the object. */
typedef struct kr_users {
    _Atomic uint64_t id; /* of the list since it was last emptied; 0: it is empty */
    struct kr_lane **lanes;
    uint32_t n, room;
    uint32_t are_unknown; /* 1: some could not be noted, so the wait is for the device */
} kr_users;

/* Any number of threads may note at the same time. `stream` NULL: the device's own. */
void kr_users_note(kr_device *device, kr_users *users, kr_stream *stream);
/* After a call has enqueued all of its work. */
void kr_users_mark(kr_device *device, kr_stream *stream);
/* With exclusive access to the object, whose list is empty afterwards. */
void kr_users_wait(kr_device *device, kr_users *users);
/* The same by a call that goes on to change the object on `stream`, which is noted then. */
void kr_users_take(kr_device *device, kr_users *users, kr_stream *stream);

/* Of a new stream, which is wrapped unless `owned`. On a device that is the host, or without memory, it has
 * no lane. */
void kr_users_open_lane(kr_stream *stream);
/* Before the stream ends; one that is owned was waited for. */
void kr_users_close_lane(kr_stream *stream);

#endif
