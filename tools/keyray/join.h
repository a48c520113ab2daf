/* The job of one call of join. */
#ifndef KEYRAY_JOIN_H
#define KEYRAY_JOIN_H

#include "answers.h"
#include "nearest.h"
#include "saved.h"
#include "shown.h"
#include "tools/columns/column.h"
#include "tools/terminal/device.h"
#include "tools/terminal/facts.h"
#include "tools/terminal/options.h"
#include "tools/terminal/output.h"

typedef struct join_options {
    option_texts left, right, left_by, right_by, show_left, show_right;
    nearest_options asof;
    const char *right_lower, *right_upper, *left_end, *right_end, *output, *index;
    uint32_t overlap, count;
    uint32_t type, inverse, unordered, no_rows, verify;
    uint64_t limit;
} join_options;

typedef struct join_job {
    join_options options;
    device_options where;
    output_options printing;
    const kr_progress *progress;
    struct column left[OPTION_TEXTS_MOST],
        right[OPTION_TEXTS_MOST]; /* of a range join: right[0] to right[1] */
    struct column left_by[OPTION_TEXTS_MOST], right_by[OPTION_TEXTS_MOST], left_end, right_end;
    saved_file saved; /* of --index FILE.krx, which is the right side */
    kr_device *device;
    kr_index *index;
    index_facts opened;
    kr_join *join;
    kr_join_info info;
    uint64_t n_out; /* rows that are written: info.pairs, or those that --limit leaves */
    facts phases;
    answers_form form;
    shown shown_left, shown_right;
    double load, open, run, write;
} join_job;

/* 1: the join has pairs, and not left rows alone. */
int join_has_pairs(const join_job *j);
/* To the file or the terminal. */
int join_write(join_job *j);

#endif
