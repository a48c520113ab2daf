/* Which entry of a kind of scan answers what, and in how many launches; each answer against a loop over the
 * rows. */
#include "base/tracers/tracer.h"
#include "cpu_device.h"
#include "table/storage/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 70001, COLUMNS = 20, TEXT_NBYTES = 4096 };

static uint32_t values[COLUMNS][ROWS];
static char names[COLUMNS][4];

static void fill(void)
{
    uint64_t bits = 7;
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        snprintf(names[c], sizeof names[c], "c%u", c);
        for (uint32_t i = 0; i < ROWS; ++i) {
            bits = bits * 6364136223846793005u + 1442695040888963407u;
            values[c][i] = (uint32_t)(bits >> 33) % 100000;
        }
    }
}

/* A table of the first n columns; skips where the kind cannot run. */
static kr_table *make(const char *spec, uint32_t n)
{
    kr_column columns[COLUMNS];
    const char *pointers[COLUMNS];
    kr_table *table = NULL;
    kr_error err = {0};
    for (uint32_t c = 0; c < n; ++c) {
        columns[c] = (kr_column){.type = KR_U32, .count = ROWS, .data = values[c]};
        pointers[c] = names[c];
    }
    const kr_status status = kr_table_create(device, spec, columns, pointers, n, NULL, NULL, &table, &err);
    if (status == KR_ERR_UNSUPPORTED) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    if (status != KR_OK)
        fail_msg("%s", err.text);
    return table;
}

/* ---- Counted calls --------------------------------------------------------------------------- */

static const kr_scan_ops *real_ops;
static uint32_t n_selects, n_batches, n_casts;

static void count_select(kr_work *work, const void *self, const kr_select *job, const kr_scan_notes *notes)
{
    ++n_selects;
    real_ops->select(work, self, job, notes);
}

static void count_batch(kr_work *work, const void *self, kr_batch_job *jobs, uint32_t n,
                        const uint32_t *alive, const kr_scan_notes *notes)
{
    ++n_batches;
    real_ops->select_batch(work, self, jobs, n, alive, notes);
}

/* From here on calls of the table's kind are counted; `counting` outlives the table. */
static void count_calls(kr_table *table, kr_scan_ops *counting)
{
    real_ops = table->ops;
    *counting = *real_ops;
    counting->select = count_select;
    counting->select_batch = count_batch;
    table->ops = counting;
    n_selects = n_batches = 0;
}

static const kr_tracer_ops *real_tracer;

static void count_cast(kr_work *w, kr_tracer *tracer, const kr_ray_program *program, const void *params,
                       uint64_t n)
{
    ++n_casts;
    real_tracer->run(w, tracer, program, params, n);
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* Counts of n conditions, one call. */
static void count_rows(kr_table *table, const char *const *texts, uint32_t n, uint64_t *counts)
{
    kr_condition *parsed[KR_SELECTS_MOST];
    kr_scan_sink sinks[KR_SELECTS_MOST];
    const kr_scan_sink *pointers[KR_SELECTS_MOST];
    kr_error err = {0};
    for (uint32_t i = 0; i < n; ++i) {
        sinks[i] = (kr_scan_sink){.struct_size = sizeof *sinks, .result = KR_SCAN_COUNT, .out = counts + i};
        pointers[i] = sinks + i;
        if (kr_condition_parse(texts[i], parsed + i, &err) != KR_OK)
            fail_msg("%s: %s", err.text, texts[i]);
    }
    if (kr_scan(table, (const kr_condition *const *)parsed, pointers, n, NULL, NULL, &err) != KR_OK)
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < n; ++i)
        kr_condition_destroy(parsed[i]);
}

/* c0 < limit and c1 < limit and ..., of n columns. */
static uint64_t write_conjunction(char *text, uint32_t n, uint32_t limit)
{
    uint64_t count = 0;
    text[0] = '\0';
    for (uint32_t c = 0; c < n; ++c)
        sprintf(text + strlen(text), "%sc%u < %u", c ? " and " : "", c, limit);
    for (uint32_t i = 0; i < ROWS; ++i) {
        uint32_t holds = 1;
        for (uint32_t c = 0; c < n; ++c)
            holds &= values[c][i] < limit;
        count += holds;
    }
    return count;
}

/* c0 in (0, step, 2 step, ...), of n values. */
static uint64_t write_list(char *text, uint32_t n, uint32_t step)
{
    uint64_t count = 0;
    strcpy(text, "c0 in (0");
    for (uint32_t v = 1; v < n; ++v)
        sprintf(text + strlen(text), ", %u", v * step);
    strcat(text, ")");
    for (uint32_t i = 0; i < ROWS; ++i)
        count += values[0][i] % step == 0 && values[0][i] / step < n;
    return count;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* `select` gets it at once. An OR alone is offered to those that may know a better way. */
static void offer_no_lone_conjunction(void **state)
{
    kr_table *table = make(*state, 3);
    kr_scan_ops counting;
    char text[TEXT_NBYTES];
    const char *texts[] = {text, "c0 < 30 or c0 > 99000 and c1 < 5"};
    uint64_t counts[2];
    const uint64_t want = write_conjunction(text, 3, 60000);
    count_calls(table, &counting);
    count_rows(table, texts, 1, counts);
    assert_int_equal(counts[0], want);
    assert_int_equal(n_selects, 1);
    assert_int_equal(n_batches, 0);
    count_rows(table, texts + 1, 1, counts);
    assert_int_equal(n_batches, 1);
    count_rows(table, texts, 2, counts);
    assert_int_equal(counts[0], want);
    assert_int_equal(n_batches, 2);
    kr_table_destroy(table);
}

/* Conjunctions of more leaves than a pass has room for, beside short ones. */
static void take_long_conjunctions(void **state)
{
    kr_table *table = make("bindex", COLUMNS);
    kr_scan_ops counting;
    static char written[4][TEXT_NBYTES];
    const char *texts[4];
    uint64_t want[4], counts[4];
    (void)state;
    for (uint32_t i = 0; i < 4; ++i) {
        want[i] = write_conjunction(written[i], i % 2 ? 1 + i : COLUMNS - i, 90000);
        texts[i] = written[i];
        assert_true(want[i] > 0);
    }
    count_calls(table, &counting);
    for (uint32_t n = 1; n <= 4; ++n) {
        count_rows(table, texts, n, counts);
        assert_memory_equal(counts, want, n * sizeof *want);
    }
    assert_int_equal(n_selects, 1); /* the first alone */
    assert_int_equal(n_batches, 3);
    kr_table_destroy(table);
}

/* However many regions a list of values leaves to rays. */
static void cast_in_one_launch(void **state)
{
    kr_table *table = make("rtscan", 3);
    kr_tracer *tracer = NULL;
    kr_tracer_ops counting;
    char text[TEXT_NBYTES];
    const char *texts[] = {text};
    (void)state;
    assert_int_equal(kr_tracer_of(device, &tracer, NULL), KR_OK);
    real_tracer = tracer->ops;
    counting = *real_tracer;
    counting.run = count_cast;
    for (uint32_t n = 1; n <= 400; n += 133) {
        uint64_t count = 0;
        const uint64_t want = write_list(text, n, 241);
        n_casts = 0;
        tracer->ops = &counting;
        count_rows(table, texts, 1, &count);
        tracer->ops = real_tracer;
        assert_int_equal(count, want);
        assert_int_equal(n_casts, 1);
    }
    kr_table_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(offer_no_lone_conjunction, "full"),
        cmocka_unit_test_prestate(offer_no_lone_conjunction, "bindex"),
        cmocka_unit_test_prestate(offer_no_lone_conjunction, "rtscan"),
        cmocka_unit_test_prestate(offer_no_lone_conjunction, "rtc3"),
        cmocka_unit_test(take_long_conjunctions),
        cmocka_unit_test(cast_in_one_launch),
    };
    fill();
    return cmocka_run_group_tests(tests, open_device, close_device);
}
