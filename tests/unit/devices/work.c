/* kr_work: steps after one that failed do nothing, and memory is given back unless it was kept. */
#include "base/devices/work.h"
#include "base/devices/arena.h"
#include "failing_device.h"

static uint64_t in_use(void)
{
    return atomic_load(&device->in_use_nbytes);
}

static void memory_is_given_back(void **state)
{
    kr_work w = kr_work_on(device, NULL, NULL);
    (void)state;
    assert_null(kr_work_take(&w, 0, "nothing"));
    void *first = kr_work_take(&w, 256, "first"), *second = kr_work_take(&w, 512, "second");
    kr_buffer third = kr_work_buffer(&w, 1024, "third", NULL);
    assert_true(first && second && third.data && third.nbytes == 1024);
    assert_int_equal(in_use(), 1792);
    kr_work_give(&w, second);
    kr_work_give(&w, NULL);
    kr_work_give(&w, &w); /* not the work's */
    assert_int_equal(in_use(), 1280);
    third = kr_work_keep(&w, third.data);
    assert_int_equal(third.nbytes, 1024);
    assert_int_equal(kr_work_end(&w), KR_OK);
    assert_int_equal(in_use(), 1024);
    kr_buffer_release(device, &third, NULL);
    assert_int_equal(in_use(), 0);
}

static void counters_are_zero(void **state)
{
    kr_work w = kr_work_on(device, NULL, NULL);
    uint64_t read[3] = {1, 2, 3};
    (void)state;
    const uint64_t *counters = kr_work_counters(&w, 3);
    kr_work_read(&w, read, counters, sizeof read);
    assert_true(!read[0] && !read[1] && !read[2]);
    assert_int_equal(kr_work_end(&w), KR_OK);
}

static void constants_are_written(void **state)
{
    kr_work w = kr_work_on(device, NULL, NULL);
    uint64_t given[2] = {3, 5}, read[2] = {0, 0};
    (void)state;
    assert_null(kr_work_take_constants(&w, 0, "nothing", NULL));
    void *constants = kr_work_take_constants(&w, sizeof given, "constants", NULL);
    kr_work_write_constants(&w, constants, given, sizeof given);
    given[0] = 7; /* the copy is the work's */
    kr_work_read(&w, read, constants, sizeof read);
    assert_true(read[0] == 3 && read[1] == 5);
    fail_at = 1;
    kr_error err = {0};
    w.err = &err;
    assert_null(kr_work_take_constants(&w, 64, "more constants", "ask for fewer"));
    assert_non_null(strstr(err.text, "more constants"));
    assert_non_null(strstr(err.text, "ask for fewer"));
    kr_work_write_constants(&w, constants, given, sizeof given);
    assert_int_equal(((const uint64_t *)constants)[0], 3);
    assert_int_equal(kr_work_end(&w), KR_ERR_DEVICE_MEMORY);
    assert_int_equal(in_use(), 0);
}

static void marks(void **state)
{
    kr_work w = kr_work_on(device, NULL, NULL);
    (void)state;
    kr_work_take(&w, 256, "first");
    const uint32_t mark = kr_work_mark(&w);
    kr_work_take(&w, 512, "second");
    kr_buffer third = kr_work_buffer(&w, 1024, "third", NULL);
    kr_work_take(&w, 2048, "fourth");
    third = kr_work_keep(&w, third.data);
    kr_work_give_since(&w, mark);
    assert_int_equal(in_use(), 256 + 1024);
    assert_int_equal(kr_work_end(&w), KR_OK);
    assert_int_equal(in_use(), 1024);
    kr_buffer_release(device, &third, NULL);
}

/* What a prepared run does: twelve numbers in descending order, sorted, and summed in front of each. */
static kr_status prepared_run(kr_arena *arena, uint64_t *last, void **taken)
{
    static const uint64_t given[12] = {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    kr_work w = kr_work_on(device, NULL, NULL);
    w.arena = arena;
    arena->next = 0;
    uint64_t *constants = kr_work_take_constants(&w, sizeof given, "constants", NULL);
    kr_work_write_constants(&w, constants, given, sizeof given);
    void *passing = kr_work_take(&w, 640, "in passing");
    kr_work_give(&w, passing);
    uint64_t *sorted = kr_work_take(&w, sizeof given, "sorted");
    uint32_t *rows = kr_work_take(&w, 12 * sizeof *rows, "rows");
    const kr_sort sort = {64, 0, 64, 12, constants, sorted, NULL, rows};
    kr_work_sort(&w, &sort);
    kr_work_sum(&w, sorted, 12);
    kr_work_read(&w, last, sorted + 11, sizeof *last);
    *taken = sorted;
    return kr_work_end(&w);
}

static void an_arena_serves(void **state)
{
    kr_arena arena = {.device = device};
    void *before, *filling, *served;
    uint64_t last = 0;
    (void)state;
    assert_int_equal(prepared_run(&arena, &last, &before), KR_OK);
    assert_int_equal(last, 55);
    assert_int_equal(in_use(), 0);
    assert_int_equal(kr_arena_settle(&arena, NULL, NULL), KR_OK);
    assert_true(kr_arena_has_constants(&arena));
    assert_int_equal(in_use(), arena.memory.nbytes);
    assert_int_equal(prepared_run(&arena, &last, &filling), KR_OK);
    kr_arena_filled(&arena);
    fail_at = 1; /* nothing is allocated any more */
    last = 0;
    assert_int_equal(prepared_run(&arena, &last, &served), KR_OK);
    fail_at = 0;
    assert_true(last == 55 && served == filling && kr_arena_owns(&arena, served));
    kr_work other = kr_work_on(device, NULL, NULL);
    other.arena = &arena;
    arena.next = 0;
    assert_null(kr_work_take(&other, 4096, "another size"));
    assert_int_equal(kr_work_end(&other), KR_ERR_INTERNAL);
    kr_arena_release(&arena);
    assert_int_equal(in_use(), 0);
}

static void steps_stop_at_the_first_failure(void **state)
{
    kr_error err = {0};
    kr_work w = kr_work_on(device, NULL, &err);
    uint32_t word = 7, calls = 0;
    (void)state;
    uint32_t *there = kr_work_take(&w, sizeof *there, "a word");
    kr_work_copy(&w, there, &word, sizeof word);
    fail_at = 1;
    assert_null(kr_work_take_or(&w, 64, "more words", "ask for fewer"));
    assert_false(kr_work_goes_on(&w));
    assert_non_null(strstr(err.text, "more words"));
    assert_non_null(strstr(err.text, "ask for fewer"));
    const kr_error first = err;
    assert_null(kr_work_take(&w, 64, "words"));
    assert_null(kr_work_counters(&w, 1));
    assert_null(kr_work_object(&w, 64, "an object"));
    kr_work_fill(&w, there, 0, sizeof word);
    kr_work_read(&w, &word, there, sizeof word);
    KR_STEP(&w, (++calls, kr_fail(&err, KR_ERR_LIMIT, "never")));
    assert_true(word == 7 && calls == 0 && *there == 7);
    assert_null(kr_work_keep(&w, there).data);
    assert_memory_equal(&first, &err, sizeof err);
    assert_int_equal(kr_work_end(&w), KR_ERR_DEVICE_MEMORY);
    assert_int_equal(in_use(), 0);
}

static void host_memory(void **state)
{
    kr_error err = {0};
    kr_work w = kr_work_on(device, NULL, &err);
    uint64_t *array = kr_work_array(&w, 3, sizeof *array, "numbers");
    (void)state;
    assert_true(array && !array[0] && !array[1] && !array[2]);
    free(array);
    assert_null(kr_work_array(&w, UINT64_C(1) << 62, sizeof *array, "numbers"));
    assert_string_equal(err.text, "no host memory for numbers: 4611686018427387904 elements of 8 bytes");
    assert_int_equal(kr_work_end(&w), KR_ERR_HOST_MEMORY);
}

static void more_pieces_than_there_is_room_for(void **state)
{
    kr_error err = {0};
    kr_work w = kr_work_on(device, NULL, &err);
    (void)state;
    for (int i = 0; i < KR_WORK_TAKEN_MOST; ++i)
        assert_non_null(kr_work_take(&w, 256, "a piece"));
    assert_null(kr_work_take(&w, 256, "one too many"));
    assert_int_equal(kr_work_end(&w), KR_ERR_INTERNAL);
    assert_int_equal(in_use(), 0);
}

/* Two calls at once on one stream, one of them with a call within and a stream of its own. */
static void each_call_has_its_peak(void **state)
{
    kr_work outer = kr_work_on(device, NULL, NULL), other = kr_work_on(device, NULL, NULL);
    kr_peak of_outer, of_inner, of_other;
    (void)state;
    void *before = kr_work_take(&outer, 4096, "before");
    kr_work_peak_begin(&outer, &of_outer);
    kr_work_peak_begin(&other, &of_other);
    void *first = kr_work_take(&outer, 256, "first");
    kr_work_take(&other, 512, "of the other");
    kr_work inner = kr_work_beside(&outer, NULL);
    kr_work_peak_begin(&inner, &of_inner);
    kr_work_take(&inner, 1024, "within");
    kr_stream *stream = kr_work_fork(&inner);
    kr_work forked = kr_work_on(device, stream, NULL);
    kr_work_take(&forked, 2048, "on another stream");
    assert_true(kr_device_charge(device, inner.stream, 8192));
    assert_true(kr_device_charge(device, inner.stream, -8192));
    assert_int_equal(kr_work_end(&forked), KR_OK);
    kr_stream_destroy(stream);
    assert_int_equal(kr_work_peak_end(&inner, &of_inner), 1024 + 2048 + 8192);
    assert_ptr_equal(inner.stream, &of_outer.stream);
    assert_int_equal(kr_work_end(&inner), KR_OK);
    kr_work_give(&outer, first);
    kr_work_take(&outer, 16384, "alone");
    assert_int_equal(kr_work_peak_end(&outer, &of_outer), 16384);
    assert_null(outer.stream);
    kr_work_give(&outer, before);
    assert_int_equal(kr_work_peak_end(&other, &of_other), 512);
    assert_int_equal(kr_work_end(&outer), KR_OK);
    assert_int_equal(kr_work_end(&other), KR_OK);
    assert_int_equal(in_use(), 0);
}

static void laps(void **state)
{
    kr_stopwatch watch;
    kr_work w = kr_work_on(device, NULL, NULL);
    (void)state;
    kr_stopwatch_start(&watch, device, NULL);
    w.watch = &watch;
    kr_work_lap(&w, "one");
    kr_stopwatch *kept = kr_work_unwatch(&w);
    kr_work_lap(&w, "inside");
    w.watch = kept;
    kr_work_lap(&w, "two");
    kr_stopwatch_stop(&watch);
    assert_int_equal(watch.phases.n, 2);
    assert_string_equal(kr_phases_name(&watch.phases, 1), "two");
    assert_int_equal(kr_work_end(&w), KR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_given_back),
        cmocka_unit_test(counters_are_zero),
        cmocka_unit_test(constants_are_written),
        cmocka_unit_test(marks),
        cmocka_unit_test(an_arena_serves),
        cmocka_unit_test(steps_stop_at_the_first_failure),
        cmocka_unit_test(host_memory),
        cmocka_unit_test(more_pieces_than_there_is_room_for),
        cmocka_unit_test(each_call_has_its_peak),
        cmocka_unit_test(laps),
    };
    open_device();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kr_device_close(device);
    return failed;
}
