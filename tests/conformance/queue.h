/* Units of work, a spec on a device each, handed out to threads. */
#ifndef KEYRAY_TESTS_QUEUE_H
#define KEYRAY_TESTS_QUEUE_H

#include "suite.h"

enum { KR_MAX_JOBS = 256 };

typedef struct kr_queue_options {
    const char *device; /* "cpu", "cuda" or "all" */
    uint32_t threads;   /* of a device on the CPU; 0: one and two, in turn of the specs */
    uint32_t jobs;      /* threads that take units */
    uint32_t shard, n_shards;
    uint64_t order_seed; /* 0: the order of the list */
    double seconds;      /* 0: until all is done */
    uint64_t part_rows;  /* of parts of indexes of keep=host (kr_keeping); 0: as the memory wants */
} kr_queue_options;

typedef struct kr_totals {
    uint64_t passed, failed, skipped;
    uint32_t left; /* units that did not run, or not to their end, when the time was over */
} kr_totals;

/* Opens the devices that the options ask for, at most `most`, into `devices`. Their number; 0: an error was
 * printed. */
uint32_t kr_open_devices(const kr_queue_options *options, uint32_t threads, uint32_t most,
                         kr_suite_device *devices);
void kr_close_devices(kr_suite_device *devices, uint32_t n);

/* Runs all areas of every unit and prints a line for each spec when it ends. 0, or the exit status. */
int kr_run_queue(kr_settings *settings, const kr_spec_list *list, const kr_queue_options *options,
                 kr_totals *totals);

#endif
