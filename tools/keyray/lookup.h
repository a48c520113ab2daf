/* What lookup, range and update share: the job of one call. */
#ifndef KEYRAY_LOOKUP_H
#define KEYRAY_LOOKUP_H

#include "answers.h"
#include "nearest.h"
#include "result.h"
#include "saved.h"
#include "shown.h"
#include "tools/columns/column.h"
#include "tools/terminal/device.h"
#include "tools/terminal/facts.h"
#include "tools/terminal/output.h"

typedef struct lookup_options {
    const char *keys, *probes, *probe, *lower, *upper, *output, *index;
    const char *insert, *insert_rows, *delete, *save;
    option_texts values, show;
    option_choices results;
    uint32_t order, no_rows, verify;
    uint64_t limit;
    nearest_options nearest;
} lookup_options;

/* Results that take values have one for each column of these. */
enum { LOOKUP_RESULTS_MOST = OPTION_CHOICES_MOST + 3 * OPTION_TEXTS_MOST };

typedef struct lookup_job {
    lookup_options options;
    device_options where;
    output_options printing;
    int is_range, is_update;
    const kr_progress *progress;
    saved_file saved;                 /* of --index FILE.krx */
    struct column keys, lower, upper; /* the probes of a lookup are in `lower` */
    struct column values[OPTION_TEXTS_MOST];
    struct column insert, insert_rows, delete;
    kr_device *device;
    kr_index *index;
    index_facts built, now; /* before and after the update, if there is one */
    report_facts did;       /* of all results together */
    struct result results[LOOKUP_RESULTS_MOST];
    uint32_t n_results;
    uint8_t *exists; /* which probes matched, if a result hides it */
    kr_nearest_options nearest;
    answers_form form;
    shown shown;
    double load, build, update, search, save, write; /* `build`: or the index's loading */
} lookup_job;

/* The result of that kind; NULL if there is none. */
const struct result *lookup_find_result(const lookup_job *j, kr_result kind);

/* All results, of one search but for row lists, and which probes matched. */
int lookup_search(lookup_job *j);
/* To the file or the terminal. */
int lookup_write(lookup_job *j);

#endif
