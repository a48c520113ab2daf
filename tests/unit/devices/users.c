/* What waits for what: an object's wait is for the streams that have work of it, and never for the device.
 * Streams and events of a device that only counts; then whole calls on a device that claims not to be the
 * host. */
#include "base/devices/users.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <keyray/keyray.h>

enum { STREAMS_MOST = 64 };

/* Stream i has native &natives[i]; an event knows the stream that it was recorded on. */
static struct {
    kr_device_ops ops;
    const kr_device_ops *real;
    char natives[STREAMS_MOST];
    uint32_t next;
    _Atomic uint32_t drains, waits[STREAMS_MOST], records[STREAMS_MOST];
    int capturing; /* the stream that is captured; -1: none */
} f;

static kr_status stream_create(kr_device *device, void **stream, kr_error *err)
{
    (void)device, (void)err;
    *stream = &f.natives[f.next++ % STREAMS_MOST];
    return KR_OK;
}

static void stream_destroy(kr_device *device, void *stream)
{
    (void)device, (void)stream;
}

static kr_status stream_sync(kr_device *device, void *stream, kr_error *err)
{
    (void)device, (void)stream, (void)err;
    return KR_OK;
}

static kr_status event_create(kr_device *device, void **event, kr_error *err)
{
    (void)device, (void)err;
    *event = calloc(1, sizeof(void *));
    return *event ? KR_OK : KR_ERR_HOST_MEMORY;
}

static void event_destroy(kr_device *device, void *event)
{
    (void)device;
    free(event);
}

static kr_status event_record(kr_device *device, void *event, void *stream, kr_error *err)
{
    (void)device, (void)err;
    *(void **)event = stream;
    if (stream)
        atomic_fetch_add(&f.records[(char *)stream - f.natives], 1);
    return KR_OK;
}

static kr_status event_wait(kr_device *device, void *event, void *stream, kr_error *err)
{
    (void)device, (void)event, (void)stream, (void)err;
    return KR_OK;
}

static kr_status event_sync(kr_device *device, void *event, kr_error *err)
{
    (void)device, (void)err;
    const char *stream = *(char **)event;
    if (stream) /* the device's own stream has none */
        atomic_fetch_add(&f.waits[stream - f.natives], 1);
    return KR_OK;
}

static int is_capturing(kr_device *device, void *stream)
{
    (void)device;
    return f.capturing >= 0 && stream == &f.natives[f.capturing];
}

static void drain(kr_device *device)
{
    (void)device;
    atomic_fetch_add(&f.drains, 1);
}

static kr_place place(kr_device *device, const void *pointer)
{
    (void)device, (void)pointer;
    return KR_PLACE_HERE;
}

static kr_device *open_device(void)
{
    kr_device *device = NULL;
    const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = UINT64_MAX};
    assert_int_equal(kr_device_open("cpu", &options, &device, NULL), KR_OK);
    memset(&f, 0, sizeof f);
    f.capturing = -1;
    f.real = device->ops;
    f.ops = *f.real;
    f.ops.is_host = 0;
    f.ops.stream_create = stream_create;
    f.ops.stream_destroy = stream_destroy;
    f.ops.stream_sync = stream_sync;
    f.ops.event_create = event_create;
    f.ops.event_destroy = event_destroy;
    f.ops.event_record = event_record;
    f.ops.event_wait = event_wait;
    f.ops.event_sync = event_sync;
    f.ops.is_capturing = is_capturing;
    f.ops.drain = drain;
    f.ops.place = place;
    device->ops = &f.ops;
    device->own.owned = 1;
    kr_users_open_lane(&device->own);
    return device;
}

static void close_device(kr_device *device)
{
    kr_users_close_lane(&device->own);
    device->own.owned = 0;
    device->ops = f.real;
    kr_device_close(device);
}

static kr_stream *new_stream(kr_device *device)
{
    kr_stream *stream = NULL;
    assert_int_equal(kr_stream_create(device, &stream, NULL), KR_OK);
    return stream;
}

static uint32_t waits_of(uint32_t stream)
{
    return atomic_load(&f.waits[stream]);
}

static void waits_for_streams_noted(void **state)
{
    (void)state;
    kr_device *device = open_device();
    kr_stream *streams[3];
    kr_users users = {0};
    for (int i = 0; i < 3; ++i)
        streams[i] = new_stream(device);
    for (int again = 0; again < 3; ++again) {
        kr_users_note(device, &users, streams[0]);
        kr_users_note(device, &users, streams[2]);
    }
    kr_users_wait(device, &users);
    assert_true(waits_of(0) == 1 && waits_of(1) == 0 && waits_of(2) == 1);
    kr_users_wait(device, &users); /* nobody is left */
    assert_true(waits_of(0) == 1 && waits_of(2) == 1);
    kr_users_note(device, &users, streams[2]); /* known from before, and noted again */
    kr_users_wait(device, &users);
    assert_true(waits_of(2) == 2 && atomic_load(&f.drains) == 0);
    for (int i = 0; i < 3; ++i)
        kr_stream_destroy(streams[i]);
    close_device(device);
}

static const uint32_t keys[6] = {1, 2, 3, 4, 5, 6};
static const kr_column column = {.type = KR_U32, .count = 6, .data = keys};

static void look_up(kr_index *index, kr_stream *stream)
{
    uint32_t rows[6] = {0};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    assert_int_equal(kr_index_lookup(index, &column, &sink, stream, NULL), KR_OK);
}

/* One that the library owns is done when it ends; of one of the caller's an event is behind each call. */
static void streams_may_end_before(void **state)
{
    (void)state;
    kr_device *device = open_device();
    kr_users users = {0};
    kr_stream *owned = new_stream(device);
    kr_stream wrapped = {.device = device, .native = &f.natives[f.next++]};
    kr_users_open_lane(&wrapped);
    kr_users_note(device, &users, owned);
    kr_users_note(device, &users, &wrapped);
    kr_users_mark(device, owned);
    kr_users_mark(device, &wrapped);
    kr_stream_destroy(owned);
    kr_users_close_lane(&wrapped);
    kr_users_wait(device, &users);
    assert_true(waits_of(0) == 0 && waits_of(1) == 1 && atomic_load(&f.drains) == 0);
    close_device(device);
}

/* The wait for a wrapped stream does not touch it: the caller may have destroyed it. */
static void wrapped_streams_are_not_touched(void **state)
{
    (void)state;
    kr_device *device = open_device();
    kr_index *index = NULL;
    kr_stream wrapped = {.device = device, .native = &f.natives[f.next++]};
    kr_users_open_lane(&wrapped);
    assert_int_equal(kr_index_create(device, "array", &column, NULL, NULL, &index, NULL), KR_OK);
    look_up(index, &wrapped);
    const uint32_t recorded = atomic_load(&f.records[0]);
    assert_int_equal(recorded, 1); /* behind the lookup */
    kr_index_destroy(index);
    assert_true(waits_of(0) == 1 && atomic_load(&f.records[0]) == recorded);
    kr_users_close_lane(&wrapped);
    assert_int_equal(atomic_load(&f.drains), 0);
    close_device(device);
}

/* Streams that are gone do not pile up. */
static void lists_stay_short(void **state)
{
    (void)state;
    kr_device *device = open_device();
    kr_users users = {0};
    for (int i = 0; i < 1000; ++i) {
        kr_stream *stream = new_stream(device);
        kr_users_note(device, &users, stream);
        kr_stream_destroy(stream);
    }
    assert_true(users.room <= 4);
    kr_users_wait(device, &users);
    assert_int_equal(atomic_load(&f.drains), 0);
    close_device(device);
}

static void captures_are_left_alone(void **state)
{
    (void)state;
    kr_device *device = open_device();
    kr_users users = {0};
    kr_stream *stream = new_stream(device);
    kr_users_note(device, &users, stream);
    f.capturing = 0;
    kr_users_wait(device, &users);
    assert_true(waits_of(0) == 0 && atomic_load(&f.drains) == 0);
    kr_stream_destroy(stream);
    close_device(device);
}

/* A stream without a lane, for which there was no memory: the wait is for the device. */
static void unknown_streams_drain(void **state)
{
    (void)state;
    kr_device *device = open_device();
    kr_users users = {0};
    kr_stream *stream = new_stream(device), bare = *stream;
    bare.lane = NULL;
    kr_users_note(device, &users, &bare);
    kr_users_wait(device, &users);
    assert_int_equal(atomic_load(&f.drains), 1);
    kr_users_wait(device, &users);
    assert_int_equal(atomic_load(&f.drains), 1);
    kr_stream_destroy(stream);
    close_device(device);
}

/* ---- Threads ------------------------------------------------------------------------------------- */

enum { THREADS = 8, OBJECTS = 9 };

typedef struct worker {
    pthread_t thread;
    kr_device *device;
    kr_stream *stream;
    kr_users *objects;
} worker;

static void *note_all(void *argument)
{
    worker *w = argument;
    for (uint32_t i = 0; i < 2000; ++i)
        kr_users_note(w->device, &w->objects[i % OBJECTS], w->stream);
    return NULL;
}

static void threads_note_at_once(void **state)
{
    (void)state;
    kr_device *device = open_device();
    kr_users objects[OBJECTS] = {{0}};
    worker workers[THREADS];
    for (int i = 0; i < THREADS; ++i) {
        workers[i] = (worker){.device = device, .stream = new_stream(device), .objects = objects};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, note_all, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; ++i)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < OBJECTS; ++i)
        kr_users_wait(device, &objects[i]);
    for (uint32_t i = 0; i < THREADS; ++i) {
        assert_int_equal(waits_of(i), OBJECTS);
        kr_stream_destroy(workers[i].stream);
    }
    assert_int_equal(atomic_load(&f.drains), 0);
    close_device(device);
}

/* ---- Whole calls ---------------------------------------------------------------------------------- */

/* Changes of an index and its end wait for the stream that looked up in it, not for another reader's. */
static void indexes_wait_for_their_own(void **state)
{
    (void)state;
    static const char *const specs[] = {"array", "btree", "hash"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; ++i) {
        kr_device *device = open_device();
        kr_stream *here = new_stream(device), *there = new_stream(device);
        kr_index *index = NULL, *other = NULL, *next = NULL;
        assert_int_equal(kr_index_create(device, specs[i], &column, NULL, NULL, &index, NULL), KR_OK);
        assert_int_equal(kr_index_create(device, specs[i], &column, NULL, NULL, &other, NULL), KR_OK);
        look_up(index, here);
        look_up(other, there);
        assert_int_equal(kr_index_next_version(index, &column, NULL, NULL, NULL, &next, NULL), KR_OK);
        assert_int_equal(waits_of(0), 0); /* a version waits for no reader */
        assert_int_equal(kr_index_update(index, &column, NULL, &column, NULL, NULL), KR_OK);
        assert_true(waits_of(0) == 1 && waits_of(1) == 0);
        look_up(index, here);
        kr_index_destroy(index);
        assert_true(waits_of(0) == 2 && waits_of(1) == 0);
        kr_index_destroy(next);
        assert_true(waits_of(0) == 2 && waits_of(1) == 0);
        kr_index_destroy(other);
        assert_int_equal(waits_of(1), 1);
        assert_int_equal(atomic_load(&f.drains), 0);
        kr_stream_destroy(here);
        kr_stream_destroy(there);
        close_device(device);
    }
}

static void prepared_lookups_wait_for_their_own(void **state)
{
    (void)state;
    kr_device *device = open_device();
    uint32_t rows[6];
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    kr_stream *here = new_stream(device), *there = new_stream(device);
    kr_index *index = NULL;
    kr_prepared *prepared = NULL;
    assert_int_equal(kr_index_create(device, "array", &column, NULL, NULL, &index, NULL), KR_OK);
    assert_int_equal(kr_prepare_lookup(index, &column, &sink, &prepared, NULL), KR_OK);
    assert_int_equal(kr_prepared_run(prepared, here, NULL), KR_OK);
    look_up(index, there);
    assert_int_equal(kr_prepared_rebind(prepared, index, NULL), KR_OK);
    assert_true(waits_of(0) == 1 && waits_of(1) == 0);
    assert_int_equal(kr_prepared_run(prepared, here, NULL), KR_OK);
    kr_prepared_destroy(prepared);
    assert_true(waits_of(0) == 2 && waits_of(1) == 0);
    kr_index_destroy(index); /* its runs were lookups in the index */
    assert_true(waits_of(0) == 3 && waits_of(1) == 1 && atomic_load(&f.drains) == 0);
    kr_stream_destroy(here);
    kr_stream_destroy(there);
    close_device(device);
}

static void scan(kr_table *table, kr_stream *stream)
{
    uint64_t count = 0;
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_COUNT, .out = &count};
    const kr_scan_sink *sinks[] = {&sink};
    assert_int_equal(kr_scan(table, NULL, sinks, 1, NULL, stream, NULL), KR_OK);
}

static void tables_wait_for_their_own(void **state)
{
    (void)state;
    kr_device *device = open_device();
    const uint32_t row = 0;
    kr_stream *here = new_stream(device), *there = new_stream(device);
    kr_table *table = NULL, *other = NULL, *next = NULL;
    assert_int_equal(kr_table_create(device, "full", &column, NULL, 1, NULL, NULL, &table, NULL), KR_OK);
    assert_int_equal(kr_table_create(device, "full", &column, NULL, 1, NULL, NULL, &other, NULL), KR_OK);
    scan(table, here);
    scan(other, there);
    assert_int_equal(kr_table_next_append(table, &column, 1, NULL, &next, NULL), KR_OK);
    assert_int_equal(waits_of(0), 0);
    assert_int_equal(kr_table_append(table, &column, 1, NULL, NULL), KR_OK);
    assert_true(waits_of(0) == 1 && waits_of(1) == 0);
    scan(table, here);
    assert_int_equal(kr_table_delete(table, &row, 1, NULL, NULL, NULL), KR_OK);
    assert_true(waits_of(0) == 2 && waits_of(1) == 0);
    scan(table, here);
    kr_table_destroy(table);
    assert_true(waits_of(0) == 3 && waits_of(1) == 0);
    kr_table_destroy(next);
    kr_table_destroy(other);
    assert_true(waits_of(0) == 3 && waits_of(1) == 1 && atomic_load(&f.drains) == 0);
    kr_stream_destroy(here);
    kr_stream_destroy(there);
    close_device(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_for_streams_noted),
        cmocka_unit_test(streams_may_end_before),
        cmocka_unit_test(wrapped_streams_are_not_touched),
        cmocka_unit_test(lists_stay_short),
        cmocka_unit_test(captures_are_left_alone),
        cmocka_unit_test(unknown_streams_drain),
        cmocka_unit_test(threads_note_at_once),
        cmocka_unit_test(indexes_wait_for_their_own),
        cmocka_unit_test(prepared_lookups_wait_for_their_own),
        cmocka_unit_test(tables_wait_for_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
