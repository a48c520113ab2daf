/* The launch options of lookups: what is refused, and the launch that results. A kind of the test's own
 * replaces the registry. */
#include "index/lightweight/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../kinds/spec_text.h"

enum { K = KR_SEARCH_OPTIONS, OPTIONS };

static const kr_option options[OPTIONS] = {
    KR_SEARCH_OPTION_ROWS,
    [K] = {"k", KR_OPTION_INTEGER, NULL, 2, 33, 2, "fan-out"},
};

static kr_status settle(kr_spec *spec, kr_error *err)
{
    return kr_search_settle(spec, spec->options[K], err);
}

static const kr_family family = {.probes = {.launches = kr_search_launches}};

static const kr_kind toy = {
    .name = "toy",
    .n_options = OPTIONS,
    .options = options,
    .settle = settle,
    .family = &family,
};

const kr_kind *kr_kind_at(uint32_t ordinal)
{
    return ordinal == 0 ? &toy : NULL;
}

const char *kr_kind_left_out_at(uint32_t ordinal)
{
    (void)ordinal;
    return NULL;
}

static kr_launch launch_of(const char *text, uint32_t key_nbytes, const uint64_t *level_pins,
                           uint32_t n_levels)
{
    const kr_spec spec = parsed(text);
    return kr_search_launch(&spec, 226 * 1024, spec.options[K], key_nbytes, level_pins, n_levels);
}

static void refuses_what_cannot_be_launched(void **state)
{
    (void)state;
    refuse("toy:threads=100", "threads=100", "give 96");
    refuse("toy:group=k-1", "group=k-1", "k=2");
    refuse("toy:group=k-1,k=4", "group=k-1", "k=4");
    refuse("toy:group=k-1,k=32", "group=k-1", "k=32");
    refuse("toy:threads=1024,per_thread=9,reorder=lookup", "reorder=", "per_thread=9");
    refuse("toy:threads=1024,per_thread=32,reorder=double", "8192", "32768");
    refuse("toy:threads=1024,per_thread=5,reorder=sort", "reorder=sort", "4096");
    refuse("toy:threads=128,per_thread=17,reorder=sort-double", "16 of a thread", "per_thread=17");
    refuse("toy:reorder=double,threads=1024,per_thread=8,shared=79", "shared=79", "give shared=80");
    refuse("toy:reorder=sort,shared=2", "shared=2", "give shared=");
    refuse("toy:pin=full,shared=227", "shared", "226");
    refuse("toy:shared=0", "shared=0", "give one of these");
    refuse("toy:shared=8,threads=64", "pin=", "leave out shared");
    refuse("toy:reorder=sort,probes=partitioned", "probes=partitioned", "reorder=");
}

static void accepts_the_rest(void **state)
{
    (void)state;
    const kr_launch plain = launch_of("toy", 4, NULL, 0);
    const kr_launch all =
        launch_of("toy:schedule=static,threads=1024,per_thread=8,reorder=double", 4, NULL, 0);
    const kr_launch many = launch_of("toy:threads=1024,per_thread=32", 4, NULL, 0);
    assert_true(plain.threads == 256 && plain.per_thread == 1 && !plain.is_static && plain.n_pins == 0 &&
                plain.reorder == KR_REORDER_NONE && plain.group == 1);
    assert_true(all.threads == 1024 && all.per_thread == 8 && all.is_static == 1 &&
                all.reorder == KR_REORDER_DOUBLE);
    assert_int_equal(kr_launch_probes(&many), 32768);
    assert_int_equal(launch_of("toy:reorder=sort,threads=1024,per_thread=4", 4, NULL, 0).reorder,
                     KR_REORDER_SORT);
    assert_int_equal(launch_of("toy:reorder=sort-double,group=k-1,k=33,per_thread=32", 4, NULL, 0).reorder,
                     KR_REORDER_SORT_DOUBLE);
    for (uint32_t bits = 1; bits <= 5; ++bits) {
        char text[64];
        snprintf(text, sizeof text, "toy:group=k-1,k=%u,threads=32,reorder=lookup", (1u << bits) + 1);
        const kr_launch launch = launch_of(text, 4, NULL, 0);
        assert_int_equal(launch.group, 1u << bits);
        assert_int_equal(kr_launch_probes(&launch), 32u >> bits);
    }
}

/* Levels of 1, 3, 7, ... words: whole ones, and as much of the last as fits. */
static void pins_what_fits(void **state)
{
    uint64_t levels[24];
    (void)state;
    for (uint32_t i = 0; i < 24; ++i)
        levels[i] = ((uint64_t)2 << i) - 1;
    assert_int_equal(launch_of("toy:pin=none", 4, levels, 24).n_pins, 0);
    assert_int_equal(launch_of("toy:pin=steps", 4, levels, 24).n_pins, 16383);
    assert_int_equal(launch_of("toy:pin=steps", 8, levels, 24).n_pins, 8191);
    assert_int_equal(launch_of("toy:pin=full", 4, levels, 24).n_pins, KR_LAUNCH_SHARED / 4);
    assert_int_equal(launch_of("toy:pin=full", 8, levels, 24).n_pins, KR_LAUNCH_SHARED / 8);
    assert_int_equal(launch_of("toy:pin=full,shared=0", 4, levels, 24).n_pins, 226 * 1024 / 4);
    assert_int_equal(launch_of("toy:pin=steps,shared=0", 8, levels, 24).n_pins, 16383);
    assert_int_equal(launch_of("toy:pin=full,shared=0", 4, levels, 24).shared_nbytes, 226 * 1024);
    assert_int_equal(launch_of("toy:pin=full,shared=1", 4, levels, 24).n_pins, 256);
    assert_int_equal(launch_of("toy:pin=steps,shared=1", 4, levels, 24).n_pins, 255);
    assert_int_equal(launch_of("toy:pin=steps", 4, levels, 5).n_pins, 31);
    assert_int_equal(launch_of("toy:pin=full", 4, levels, 5).n_pins, 31);
    assert_int_equal(launch_of("toy:pin=full", 4, levels, 0).n_pins, 0);
}

/* What a block sorts with comes first. */
static void leaves_room_for_reordering(void **state)
{
    static const char *const specs[] = {
        "toy:pin=full,reorder=double",
        "toy:pin=full,reorder=lookup,threads=1024,per_thread=8",
        "toy:pin=steps,reorder=lookup,threads=512,per_thread=7",
        "toy:pin=full,reorder=double,threads=96,per_thread=31",
        "toy:pin=full,reorder=double,threads=32,group=k-1,k=33",
        "toy:pin=full,reorder=sort,threads=1024,per_thread=4",
        "toy:pin=full,reorder=sort-double,shared=0",
        "toy:pin=full,reorder=double,shared=3",
        "toy:pin=full,reorder=sort-double,threads=256,per_thread=16",
        "toy:pin=full,reorder=sort-double,threads=96,per_thread=3",
        "toy:pin=steps,reorder=sort,threads=1024,group=k-1,k=33",
    };
    const uint64_t levels[] = {1, 100, 5000, (uint64_t)1 << 40};
    (void)state;
    for (uint32_t i = 0; i < sizeof specs / sizeof specs[0]; ++i)
        for (uint32_t key_nbytes = 4; key_nbytes <= 8; key_nbytes += 4) {
            const kr_launch launch = launch_of(specs[i], key_nbytes, levels, 4);
            const uint64_t pins = ((uint64_t)launch.n_pins * key_nbytes + 7) / 8 * 8;
            const uint64_t both = pins + kr_launch_order_nbytes(&launch, key_nbytes);
            const uint32_t room = kr_launch_shared(&launch);
            assert_true(both <= room);
            if (strstr(specs[i], "pin=full"))
                assert_true(both + 16 > room);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_cannot_be_launched),
        cmocka_unit_test(accepts_the_rest),
        cmocka_unit_test(pins_what_fits),
        cmocka_unit_test(leaves_room_for_reordering),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
