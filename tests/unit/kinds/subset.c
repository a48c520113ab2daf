/* A build with KEYRAY_KINDS: specs of kinds that it leaves out, what `best` is among the others, and what is
 * said where no kind is left. */
#include "index/kinds/choose.h"
#include "table/run/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

extern const kr_kind kr_kind_array, kr_kind_pivot, kr_kind_rx, kr_kind_cgrx, kr_kind_hash, kr_kind_full,
    kr_kind_bindex, kr_kind_rtc1;

/* In place of the registry: up to two kinds of these; the others are left out. */
static const kr_kind *const all[] = {&kr_kind_array, &kr_kind_pivot, &kr_kind_rx,     &kr_kind_cgrx,
                                     &kr_kind_hash,  &kr_kind_full,  &kr_kind_bindex, &kr_kind_rtc1};
static const char *here[2];

static int is_here(const kr_kind *kind)
{
    return (here[0] && !strcmp(kind->name, here[0])) || (here[1] && !strcmp(kind->name, here[1]));
}

static const kr_kind *kind_at(uint32_t ordinal, int wanted)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (is_here(all[i]) == wanted && ordinal-- == 0)
            return all[i];
    return NULL;
}

const kr_kind *kr_kind_at(uint32_t ordinal)
{
    return kind_at(ordinal, 1);
}

const char *kr_kind_left_out_at(uint32_t ordinal)
{
    const kr_kind *kind = kind_at(ordinal, 0);
    return kind ? kind->name : NULL;
}

static void build_has(const char *first, const char *second)
{
    here[0] = first;
    here[1] = second;
}

static void expect_text(const kr_error *err, const char *text)
{
    if (!strstr(err->text, text))
        fail_msg("the error has no \"%s\": %s", text, err->text);
}

static void refuses_kinds_that_are_left_out(void **state)
{
    kr_spec spec;
    kr_error err = {0};
    (void)state;
    build_has("array", "pivot");
    assert_int_equal(kr_spec_parse("array", &spec, &err), KR_OK);
    assert_int_equal(kr_spec_parse("hash:seed=3", &spec, &err), KR_ERR_SPEC);
    expect_text(&err, "this build has no kind 'hash': KEYRAY_KINDS lists array;pivot; name one of these, or");
    assert_int_equal(kr_spec_parse("hahs", &spec, &err), KR_ERR_SPEC);
    expect_text(&err, "unknown kind 'hahs'; known kinds: best, array, pivot");
}

/* Which spec "best" or "best:updates=on" is, or NULL and why not. */
static void expect_best(kr_device *device, const char *best, const char *wanted, const char *reason)
{
    kr_spec spec, same;
    kr_error err = {0};
    char text[KR_SPEC_NBYTES], wanted_text[KR_SPEC_NBYTES];
    const char *given = NULL;
    const kr_status status = kr_choose(device, best, &spec, &given, &err);
    if (!wanted) {
        assert_int_equal(status, KR_ERR_SPEC);
        expect_text(&err, reason);
        return;
    }
    if (status != KR_OK)
        fail_msg("%s", err.text);
    assert_int_equal(kr_spec_parse(wanted, &same, &err), KR_OK);
    assert_int_equal(kr_spec_format(&spec, text, sizeof text, &err), KR_OK);
    assert_int_equal(kr_spec_format(&same, wanted_text, sizeof wanted_text, &err), KR_OK);
    assert_string_equal(text, wanted_text);
    if (!strstr(given, reason))
        fail_msg("the reason has no \"%s\": %s", reason, given);
}

static void refuses_other_options(kr_device *device)
{
    static const char *const texts[][2] = {
        {"best:", "spec 'best:' ends where an option is expected"},
        {"best:,", "spec 'best:,' ends where an option is expected"},
        {"best:ranges=off,", "ends where an option is expected"},
        {"best:updates=on,updates=off,", "ends where an option is expected"},
        {"best:ranges", "option 'ranges' of best needs a value: ranges=..."},
        {"best:ranges=", "option 'ranges' is one of on|off, not ''"},
        {"best:ranges=maybe", "option 'ranges' is one of on|off, not 'maybe'"},
        {"best:updates=of", "option 'updates' is one of off|on, not 'of' (did you mean"},
        {"best:ranges=off,ranges=off", "option 'ranges' of best is given twice"},
        {"best:k=3",
         "best has no option 'k'; its options: updates, ranges, lookups, batch, hits; for an option "
         "of a kind, name the kind in place of best"},
        {"best:ranges=off,load=0.5", "best has no option 'load'"},
        {"best:lookup=5", "best has no option 'lookup' (did you mean lookups?)"},
        {"best:lookups=0", "option 'lookups' is a number from 1 to 1000000000000000, not '0'"},
        {"best:lookups=2^20", "option 'lookups' is a number from 1 to 1000000000000000, not '2^20'"},
        {"best:batch=-1", "option 'batch' is a number from 1 to 1000000000000000, not '-1'"},
        {"best:batch=99999999999999999999", "option 'batch' is a number from 1 to"},
        {"best:hits=101", "option 'hits' is a number from 0 to 100, not '101'"},
        {"best:hits=50%", "option 'hits' is a number from 0 to 100, not '50%'"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
        expect_best(device, texts[i][0], NULL, texts[i][1]);
}

static void chooses_among_the_others(void **state)
{
    kr_device *cpu;
    const char *without = "KEYRAY_KINDS leaves out pivot";
    (void)state;
    assert_int_equal(kr_device_open("cpu", NULL, &cpu, NULL), KR_OK);
    build_has("array", "pivot");
    expect_best(cpu, "best", "pivot", "a CPU compares all pivots of a node at once");
    expect_best(NULL, "best", "pivot:k=9", "partitions large batches");
    expect_best(cpu, "best:ranges=off", "array", "KEYRAY_KINDS leaves out hash");
    build_has("hash", "pivot");
    expect_best(cpu, "best:ranges=off", "hash", "about one cache miss");
    expect_best(NULL, "best:ranges=off", "hash", "one or two nodes");
    expect_best(cpu, "best:updates=on,ranges=off", "hash", "for points alone");
    expect_best(cpu, "best:ranges=off,updates=off", "hash", "for points alone");
    expect_best(cpu, "best:ranges=on", "pivot", "a CPU compares all pivots");
    expect_best(cpu, "best:ranges=on,updates=on", "pivot", "a CPU merges");
    expect_best(cpu, "best:lookups=10,batch=64,hits=0", "pivot", "a CPU compares all pivots");
    refuses_other_options(cpu);
    build_has("hash", "cgrx");
    expect_best(cpu, "best", "cgrx", without); /* it answers ranges, too */
    expect_best(NULL, "best:updates=on", "cgrx:updates=on", without);
    build_has("rx", "hash");
    expect_best(cpu, "best", "rx", without);
    expect_best(cpu, "best:updates=on", "hash", without);
    build_has("hash", NULL);
    expect_best(cpu, "best", "hash", without);
    build_has("rx", NULL);
    expect_best(cpu, "best:updates=on", NULL,
                "this build has no kind that best:updates=on could stand for: KEYRAY_KINDS lists rx; build "
                "with pivot");
    expect_best(cpu, "best:ranges=off,updates=on", NULL, "KEYRAY_KINDS lists rx; build with hash in it");
    build_has("full", NULL);
    expect_best(cpu, "best", NULL,
                "no kind that best could stand for: KEYRAY_KINDS lists full; build with pivot");
    kr_device_close(cpu);
}

static void says_that_no_kind_can(void **state)
{
    kr_error err = {0};
    (void)state;
    build_has("hash", "array");
    assert_int_equal(kr_kind_check(&kr_kind_hash, KR_CAN_RANGE, &err), KR_ERR_UNSUPPORTED);
    expect_text(&err, "create the index with a kind that can: array");
    build_has("hash", NULL);
    assert_int_equal(kr_kind_check(&kr_kind_hash, KR_CAN_RANGE, &err), KR_ERR_UNSUPPORTED);
    expect_text(
        &err, "kind 'hash' answers no range lookups, and this build has no kind that can: KEYRAY_KINDS lists "
              "hash; build with more kinds");
}

/* The kind of a table of three rows, or NULL and why there is none. */
static void expect_table(kr_device *device, const char *spec, const char *wanted, const char *reason)
{
    const uint32_t values[] = {3, 1, 2};
    const kr_column column = {.type = KR_U32, .count = 3, .data = values};
    const char *const name = "a";
    kr_table_job job = {
        .device = device, .columns = &column, .names = &name, .n_columns = 1, .seen = &column};
    kr_spec chosen;
    kr_error err = {0};
    const kr_status status = kr_table_choose(&job, spec, &chosen, &err);
    if (!wanted) {
        assert_true(status == KR_ERR_SPEC || status == KR_ERR_UNSUPPORTED);
        expect_text(&err, reason);
        return;
    }
    if (status != KR_OK)
        fail_msg("%s", err.text);
    assert_string_equal(chosen.kind->name, wanted);
    if (!strstr(job.reason, reason))
        fail_msg("the reason has no \"%s\": %s", reason, job.reason);
}

static void chooses_kinds_of_tables(void **state)
{
    kr_device *cpu;
    const char *without = "KEYRAY_KINDS leaves out bindex or full";
    (void)state;
    assert_int_equal(kr_device_open("cpu", NULL, &cpu, NULL), KR_OK);
    build_has("full", "bindex");
    expect_table(cpu, "best", "bindex", "faster than reading every row");
    expect_table(cpu, "array", NULL, "this build has no kind 'array': KEYRAY_KINDS lists full;bindex");
    expect_table(cpu, "arry", NULL, "unknown kind 'arry'; kinds of tables: best, full, bindex");
    build_has("array", "full");
    expect_table(cpu, "best", "full", without);
    expect_table(cpu, "array", NULL, "makes an index of one column, not a table; use full");
    build_has("array", "rtc1");
    expect_table(cpu, "best", "rtc1", without);
    build_has("array", NULL);
    expect_table(cpu, "best", NULL,
                 "this build has no kind that scans tables: KEYRAY_KINDS lists array; build with bindex");
    expect_table(cpu, "array", NULL, "not a table; build with bindex or full in KEYRAY_KINDS");
    kr_device_close(cpu);
}

/* A condition that compares two columns, on a kind that does not. */
static void says_that_no_kind_compares_columns(void **state)
{
    char a[] = "a", b[] = "b", *names[] = {a, b};
    kr_leaf leaf = {.column = 0, .other = 1};
    const kr_plan plan = {.leaves = &leaf, .n_leaves = 1};
    const kr_table table = {.ops = kr_kind_rtc1.scan->ops, .spec = {.kind = &kr_kind_rtc1}, .names = names};
    kr_error err = {0};
    (void)state;
    build_has("rtc1", "full");
    assert_int_equal(kr_scan_check_plan(&table, &plan, &err), KR_ERR_UNSUPPORTED);
    expect_text(&err, "kinds that do: full");
    build_has("rtc1", NULL);
    assert_int_equal(kr_scan_check_plan(&table, &plan, &err), KR_ERR_UNSUPPORTED);
    expect_text(&err, "kinds that do: none of this build, whose KEYRAY_KINDS leaves them out");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_kinds_that_are_left_out),
        cmocka_unit_test(chooses_among_the_others),
        cmocka_unit_test(says_that_no_kind_can),
        cmocka_unit_test(chooses_kinds_of_tables),
        cmocka_unit_test(says_that_no_kind_compares_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
