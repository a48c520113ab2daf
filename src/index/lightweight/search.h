/* What the kinds array, eytzinger and pivot share: the options of memory layout and launch, and the launches
 * that follow from them (Henneberg and Schuhknecht, "Is Binary Search Really All You Need?", sections 4.1 to
 * 4.4). */
#ifndef KEYRAY_INDEX_LIGHTWEIGHT_SEARCH_H
#define KEYRAY_INDEX_LIGHTWEIGHT_SEARCH_H

#include "base/program/launch.h"
#include "index/kinds/family.h"
#include "index/sorted/entries.h"

/* The first options of each of these kinds, in this order. A kind's own options follow from KR_SEARCH_OPTIONS
 * on. */
enum {
    KR_SEARCH_LAYOUT,
    KR_SEARCH_KEEP,
    KR_SEARCH_SCAN_THREADS,
    KR_SEARCH_SCHEDULE,
    KR_SEARCH_THREADS,
    KR_SEARCH_PER_THREAD,
    KR_SEARCH_GROUP,
    KR_SEARCH_PIN,
    KR_SEARCH_REORDER,
    KR_SEARCH_ENDS,
    KR_SEARCH_SHARED,
    KR_SEARCH_OPTIONS
};
enum { KR_SCHEDULE_DYNAMIC, KR_SCHEDULE_STATIC };
enum { KR_PIN_NONE, KR_PIN_STEPS, KR_PIN_FULL };
enum { KR_ENDS_SEARCH, KR_ENDS_SCAN };

/* The rows of a kind's option table, one per line. */
/* clang-format off */
#define KR_SEARCH_OPTION_ROWS \
    [KR_SEARCH_LAYOUT] = {"layout", KR_OPTION_CHOICE, "soa|aos", 0, 1, KR_LAYOUT_SOA, \
        "keys and row ids in two arrays, or side by side in one"}, \
    [KR_SEARCH_KEEP] = KR_KEEP_OPTION, \
    [KR_SEARCH_SCAN_THREADS] = {"scan_threads", KR_OPTION_CHOICE, "1|many", 0, 1, 1, \
        "GPU: threads that add up a long range: the one that found it, or several"}, \
    [KR_SEARCH_SCHEDULE] = {"schedule", KR_OPTION_CHOICE, "dynamic|static", 0, 1, KR_SCHEDULE_DYNAMIC, \
        "GPU: as many blocks as there is work for, or one per multiprocessor"}, \
    [KR_SEARCH_THREADS] = {"threads", KR_OPTION_INTEGER, NULL, 32, 1024, 256, \
        "GPU: threads of a block, a multiple of 32"}, \
    [KR_SEARCH_PER_THREAD] = {"per_thread", KR_OPTION_INTEGER, NULL, 1, 32, 1, \
        "GPU: probes that each thread takes of its block's share"}, \
    [KR_SEARCH_GROUP] = {"group", KR_OPTION_CHOICE, "1|k-1", 0, 1, 0, \
        "GPU: threads that search for one probe; k - 1, as in the paper's 3.4, with k = 3, 5, 9, 17 or 33"}, \
    [KR_SEARCH_PIN] = {"pin", KR_OPTION_CHOICE, "none|steps|full", 0, 2, KR_PIN_NONE, \
        "GPU: words of the first steps kept in shared memory: whole steps, or all that fit (the " \
        "paper's 4.2)"}, \
    [KR_SEARCH_REORDER] = {"reorder", KR_OPTION_CHOICE, "none|lookup|double|sort|sort-double", 0, \
        KR_REORDERS - 1, KR_REORDER_NONE, \
        "GPU: each block sorts its probes by leading bits, or (sort) by all, in registers, as in the paper's " \
        "4.3; double: puts results back in order before it writes them"}, \
    [KR_SEARCH_ENDS] = {"ends", KR_OPTION_CHOICE, "search|scan", 0, 1, KR_ENDS_SEARCH, \
        "where ranges end: found by a second search, or (scan) key by key while SUM of integers and SUM_ROWS " \
        "add them up, as in the paper's 5.7, without pin and reorder"}, \
    [KR_SEARCH_SHARED] = {"shared", KR_OPTION_INTEGER, NULL, 0, 226, KR_LAUNCH_SHARED / 1024, \
        "GPU: KiB of shared memory that a block may take for pin and reorder, with one of which it is given; 0: " \
        "all that it can have"}
/* clang-format on */

/* For a kind's settle: refuses meaningless combinations. `k` is the fan-out. */
kr_status kr_search_settle(const kr_spec *spec, int64_t k, kr_error *err);

/* A family's runs_on: whether the device has the shared memory that the options need. */
kr_status kr_search_runs_on(kr_device *device, const kr_spec *spec, kr_error *err);

/* The programs of a fan-out: with one thread per probe, and with k - 1 if group=k-1 allows this k. */
typedef struct kr_search_programs {
    uint32_t k; /* 0: any k, the last of a table */
    const kr_program *alone, *group;
} kr_search_programs;

/* The program of a lookup: from the first row of the table that fits k. On a CPU a group is one thread, which
 * compares a whole node at once. */
const kr_program *kr_search_program(const kr_device *device, const kr_spec *spec, int64_t k,
                                    const kr_search_programs *programs);

/* A family's `launches`: 1 if a launch option differs from its default. */
int kr_search_launches(const kr_spec *spec);

/* A family's `keeps_on_host`. */
int kr_search_keeps_on_host(const kr_spec *spec);

/* A family's `sums`, where its programs scan (index/lightweight/range.h). */
int kr_search_sums(const kr_spec *spec, int is_range);

/* How a lookup is launched on a device with this block_nbytes. `level_pins[i]` is the number of words that
 * the first i + 1 steps of the search read (ascending, n_levels numbers). pin=steps pins the largest number
 * that fits, pin=full as many of the last as fit. */
kr_launch kr_search_launch(const kr_spec *spec, uint32_t block_nbytes, int64_t k, uint32_t key_nbytes,
                           const uint64_t *level_pins, uint32_t n_levels);

#endif
