/* `keyray bench scan`. */
#ifndef KEYRAY_TOOL_BENCH_SCAN_H
#define KEYRAY_TOOL_BENCH_SCAN_H

#include "job.h"

enum { BENCH_SCAN_COLUMNS = 8 };
/* The positions of kr_distribution and of bench_options.scan_result. */
#define BENCH_SCAN_DISTRIBUTIONS "uniform|distinct|zipf|normal|small"
#define BENCH_SCAN_RESULTS "bitmap|count|rows|sum"

extern const option_row bench_scan_rows[]; /* of the workload */

/* Measures the workload of a row with one spec. Columns are kept for the next call. */
int bench_scan(const bench_options *options, kr_device *device, uint32_t threads, const char *spec,
               bench_row *row);
/* Before the device is closed. */
void bench_scan_close(void);

/* "bitmap", ... */
const char *bench_scan_result(const bench_options *options);
void bench_print_scan_json(output *out, const bench_report *report, const bench_row *row);
void bench_print_scan_text(const bench_report *report, FILE *to);

#endif
