/* Saving from and loading to a device that is not the host: a CPU that says it is none, and whose copies are
 * done as late as they may be, when somebody waits for them. So what reuses a pinned buffer too early, or
 * reads one that is not filled, shows. */
#include "index/kinds/index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 10 << 20, MOST = 64, PROBES = 500 };

static kr_device *device;
static const kr_device_ops *near_ops;
static kr_device_ops far_ops;
static uint32_t *keys;
static kr_index *original;
static char path[64];

/* ---- Copies that wait --------------------------------------------------------------------------- */

static struct {
    void *to;
    const void *from;
    uint64_t n;
} waiting[MOST];
static uint64_t enqueued, done; /* copies */
static int staged;              /* pinned buffers that are held */

static void finish(uint64_t until)
{
    for (; done < until; ++done)
        memcpy(waiting[done % MOST].to, waiting[done % MOST].from, waiting[done % MOST].n);
}

static kr_status copy_late(kr_device *of, void *to, const void *from, uint64_t nbytes, void *stream,
                           kr_error *err)
{
    (void)of, (void)stream, (void)err;
    if (enqueued - done == MOST)
        finish(done + 1);
    waiting[enqueued % MOST].to = to;
    waiting[enqueued % MOST].from = from;
    waiting[enqueued++ % MOST].n = nbytes;
    return KR_OK;
}

static kr_status create_event(kr_device *of, void **event, kr_error *err)
{
    (void)of, (void)err;
    *event = calloc(1, sizeof(uint64_t));
    return *event ? KR_OK : KR_ERR_HOST_MEMORY;
}

static void destroy_event(kr_device *of, void *event)
{
    (void)of;
    free(event);
}

static kr_status record_event(kr_device *of, void *event, void *stream, kr_error *err)
{
    (void)of, (void)stream, (void)err;
    *(uint64_t *)event = enqueued;
    return KR_OK;
}

static kr_status sync_event(kr_device *of, void *event, kr_error *err)
{
    (void)of, (void)err;
    finish(*(uint64_t *)event);
    return KR_OK;
}

static kr_status sync_stream(kr_device *of, void *stream, kr_error *err)
{
    (void)of, (void)stream, (void)err;
    finish(enqueued);
    return KR_OK;
}

static void drain(kr_device *of)
{
    (void)of;
    finish(enqueued);
}

static kr_status fill_after(kr_device *of, void *to, int byte, uint64_t nbytes, void *stream, kr_error *err)
{
    finish(enqueued);
    return near_ops->fill(of, to, byte, nbytes, stream, err);
}

static kr_status run_after(kr_device *of, const kr_program *program, const void *params, uint64_t n,
                           void *stream, kr_error *err)
{
    finish(enqueued);
    return near_ops->run(of, program, params, n, stream, err);
}

static void *stage(kr_device *of, uint64_t nbytes, kr_error *err)
{
    ++staged;
    return near_ops->stage(of, nbytes, err);
}

static void unstage(kr_device *of, void *memory)
{
    --staged;
    near_ops->unstage(of, memory);
}

static void move_away(void)
{
    far_ops = *near_ops;
    far_ops.is_host = 0;
    far_ops.copy = copy_late;
    far_ops.event_create = create_event;
    far_ops.event_destroy = destroy_event;
    far_ops.event_record = record_event;
    far_ops.event_sync = sync_event;
    far_ops.stream_sync = sync_stream;
    far_ops.drain = drain;
    far_ops.fill = fill_after;
    far_ops.run = run_after;
    far_ops.stage = stage;
    far_ops.unstage = unstage;
    device->ops = &far_ops;
}

static void move_back(void)
{
    finish(enqueued);
    device->ops = near_ops;
    assert_int_equal(staged, 0);
}

/* ---- Indexes ------------------------------------------------------------------------------------ */

static uint64_t in_use(void)
{
    return atomic_load(&device->in_use_nbytes);
}

/* All pieces; the caller frees them. */
static unsigned char *bytes_of(const kr_index *index, uint64_t *nbytes)
{
    kr_pieces *pieces = NULL;
    const void *data = NULL;
    uint64_t n = 0, position = 0;
    assert_int_equal(kr_index_pieces(index, NULL, &pieces, NULL), KR_OK);
    *nbytes = kr_pieces_nbytes(pieces);
    unsigned char *bytes = malloc(*nbytes);
    for (;; position += n) {
        assert_int_equal(kr_pieces_next(pieces, &data, &n, NULL, NULL), KR_OK);
        if (n == 0)
            break;
        assert_true(position + n <= *nbytes);
        memcpy(bytes + position, data, n);
    }
    assert_int_equal(position, *nbytes);
    kr_pieces_destroy(pieces);
    return bytes;
}

/* Asked where it is; an index that is loaded has an event only on a device that is not the host. */
static void assert_same(kr_index *loaded)
{
    uint32_t rows[PROBES], want[PROBES];
    const kr_column probes = {.type = KR_U32, .count = PROBES, .data = keys};
    kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = want};
    assert_int_equal(kr_index_lookup(original, &probes, &sink, NULL, NULL), KR_OK);
    sink.out = rows;
    assert_int_equal(kr_index_lookup(loaded, &probes, &sink, NULL, NULL), KR_OK);
    assert_memory_equal(rows, want, sizeof rows);
    assert_int_equal(kr_index_validate(loaded, NULL), KR_OK);
}

static kr_status load_far(kr_saved *saved, kr_index **index, kr_error *err)
{
    move_away();
    const kr_status status = kr_index_load(device, saved, NULL, index, err);
    finish(enqueued);
    return status;
}

/* Loads, compares, and saves the loaded one again: the bytes are the same. */
static void load_and_save_far(kr_saved *saved, const unsigned char *bytes, uint64_t nbytes)
{
    kr_index *loaded = NULL;
    kr_error err = {0};
    uint64_t again_nbytes = 0;
    if (load_far(saved, &loaded, &err) != KR_OK)
        fail_msg("%s", err.text);
    unsigned char *again = bytes_of(loaded, &again_nbytes);
    assert_int_equal(again_nbytes, nbytes);
    assert_memory_equal(again, bytes, nbytes);
    free(again);
    assert_null(loaded->mapped);
    void *ready = loaded->ready;
    loaded->ready = NULL; /* the other operations do not know it */
    move_back();
    assert_same(loaded);
    free(ready);
    kr_index_destroy(loaded);
}

static void every_byte_comes_and_goes(void **state)
{
    (void)state;
    uint64_t nbytes = 0, far_nbytes = 0;
    const uint64_t before = in_use();
    kr_saved *saved = NULL;
    unsigned char *bytes = bytes_of(original, &nbytes);
    move_away();
    unsigned char *far_bytes = bytes_of(original, &far_nbytes);
    move_back();
    assert_int_equal(nbytes, far_nbytes);
    assert_memory_equal(bytes, far_bytes, nbytes);
    for (int verify = KR_VERIFY_ALL; verify <= KR_VERIFY_HEADER; ++verify) {
        const kr_saved_options options = {.struct_size = sizeof options, .verify = (kr_verify)verify};
        assert_int_equal(kr_saved_open_memory(bytes, nbytes, &options, &saved, NULL), KR_OK);
        load_and_save_far(saved, bytes, nbytes);
        kr_saved_close(saved);
        assert_int_equal(kr_index_save(original, path, NULL, NULL, NULL), KR_OK);
        assert_int_equal(kr_saved_open(path, &options, &saved, NULL), KR_OK);
        load_and_save_far(saved, bytes, nbytes);
        kr_saved_close(saved);
    }
    assert_int_equal(in_use(), before);
    free(far_bytes);
    free(bytes);
}

/* In the last block of the last array, so that all others are under way. */
static void damage_is_found(void **state)
{
    (void)state;
    uint64_t nbytes = 0;
    const uint64_t before = in_use();
    kr_saved *saved = NULL;
    kr_index *loaded = NULL;
    kr_error err = {0};
    unsigned char *bytes = bytes_of(original, &nbytes);
    assert_int_equal(kr_saved_open_memory(bytes, nbytes, NULL, &saved, NULL), KR_OK);
    const uint64_t directory = (uint64_t)bytes[24] | (uint64_t)bytes[25] << 8 | (uint64_t)bytes[26] << 16 |
                               (uint64_t)bytes[27] << 24;
    bytes[directory - 1] ^= 0x10;
    assert_int_equal(load_far(saved, &loaded, &err), KR_ERR_FORMAT);
    move_back();
    assert_non_null(strstr(err.text, "block 39 of array 'kind.rows'"));
    assert_null(loaded);
    assert_int_equal(in_use(), before);
    kr_saved_close(saved);
    free(bytes);
}

/* A GPU reads the file and not its mapping, so that a file that was cut off is an error and no signal. */
static void a_file_that_was_cut_off(void **state)
{
    (void)state;
    const uint64_t before = in_use();
    kr_saved *saved = NULL;
    kr_index *loaded = NULL;
    kr_error err = {0};
    assert_int_equal(kr_index_save(original, path, NULL, NULL, NULL), KR_OK);
    assert_int_equal(kr_saved_open(path, NULL, &saved, NULL), KR_OK);
    assert_int_equal(truncate(path, 60 << 20), 0);
    assert_int_equal(load_far(saved, &loaded, &err), KR_ERR_IO);
    move_back();
    assert_non_null(strstr(err.text, "cut off while it was open"));
    assert_int_equal(in_use(), before);
    kr_saved_close(saved);
}

/* A change while a copy of the next piece is under way. */
static void a_change_meanwhile(void **state)
{
    (void)state;
    kr_pieces *pieces = NULL;
    const void *data = NULL;
    uint64_t n = 0;
    kr_error err = {0};
    move_away();
    assert_int_equal(kr_index_pieces(original, NULL, &pieces, NULL), KR_OK);
    for (int i = 0; i < 3; ++i)
        assert_int_equal(kr_pieces_next(pieces, &data, &n, NULL, NULL), KR_OK);
    ++original->version;
    assert_int_equal(kr_pieces_next(pieces, &data, &n, NULL, &err), KR_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "the index was changed"));
    kr_pieces_destroy(pieces);
    move_back();
}

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "pinned-%ld.krx", (long)getpid());
    keys = malloc(N * sizeof *keys);
    for (uint32_t i = 0; i < N; ++i)
        keys[i] = i * 2654435761u;
    const kr_column column = {.type = KR_U32, .count = N, .data = keys};
    if (kr_device_open("cpu", NULL, &device, NULL) != KR_OK)
        return 1;
    near_ops = device->ops;
    return kr_index_create(device, "array", &column, NULL, NULL, &original, NULL) != KR_OK;
}

static int tear_down(void **state)
{
    (void)state;
    kr_index_destroy(original);
    kr_device_close(device);
    free(keys);
    remove(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_comes_and_goes),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(a_file_that_was_cut_off),
        cmocka_unit_test(a_change_meanwhile),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
