/* `keyray bench scan`. */
#ifndef KEYRAY_TOOL_BENCH_SCAN_H
#define KEYRAY_TOOL_BENCH_SCAN_H

#include "job.h"

enum { BENCH_SCAN_COLUMNS = 8 };
/* The positions of kr_distribution and of bench_options.scan_result. */
#define BENCH_SCAN_DISTRIBUTIONS "uniform|distinct|zipf|normal|small"
#define BENCH_SCAN_RESULTS "bitmap|count|rows|sum"

extern const option_row bench_scan_rows[]; /* of the workload */

/* One measurement. */
typedef struct bench_scan_run {
    const bench_options *options;
    const workload *w;
    kr_device *device;
    kr_table *table;
    kr_condition **conditions; /* of all calls */
    uint64_t *constants;
    uint32_t *doomed;       /* in host memory: the ids of rows that are deleted; ascending, all different */
    uint32_t *doomed_there; /* where the library reads them */
    void *out, *rows;       /* where the library writes: a result for each condition of a call */
    uint64_t out_nbytes;
} bench_scan_run;

/* Rows of the table when it is scanned, deleted ones included. */
static inline uint64_t bench_scan_total(const workload *w)
{
    return w->rows + w->append;
}

/* Rows first .. first + count - 1 of the columns, where the library reads them. */
void bench_scan_columns(const workload *w, uint64_t first, uint64_t count,
                        kr_column columns[BENCH_SCAN_COLUMNS]);

/* Makes the table; with --append and --delete as often as asked, and changes it (append.c). */
int bench_scan_make(bench_scan_run *run, const char *spec, bench_row *row);
/* Before anything is made. */
int bench_scan_check_changes(const workload *w);
void bench_scan_close_changes(bench_scan_run *run);
void bench_print_changes_json(output *out, const bench_row *row);
void bench_print_changes_text(const bench_row *row, FILE *to);

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
