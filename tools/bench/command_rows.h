/* Options of `keyray bench` that are in no other file of this folder, and what its help says below them. */
#ifndef KEYRAY_TOOLS_BENCH_COMMAND_ROWS_H
#define KEYRAY_TOOLS_BENCH_COMMAND_ROWS_H

#include "tools/terminal/options.h"

/* Of the workload. */
extern const option_row bench_key_rows[], bench_probe_rows[], bench_batches_rows[];
/* Of bench_options. */
extern const option_row bench_lookup_rows[], bench_asking_rows[], bench_call_rows[], bench_update_rows[],
    bench_index_rows[], bench_common_rows[];
extern const char bench_notes[];

#endif
