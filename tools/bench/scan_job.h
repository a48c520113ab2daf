/* `keyray bench scan`. */
#ifndef KEYRAY_TOOLS_BENCH_SCAN_JOB_H
#define KEYRAY_TOOLS_BENCH_SCAN_JOB_H

#include "bench/bench.h"
#include "job.h"

enum { BENCH_SCAN_COLUMNS = 8 };
/* The positions of kr_distribution, of bench_options.scan_result and of workload.tpch. */
#define BENCH_SCAN_DISTRIBUTIONS "uniform|distinct|zipf|normal|small"
#define BENCH_SCAN_RESULTS "bitmap|count|rows|sum"
#define BENCH_SCAN_WORKLOADS "comparisons|q3|q6|q17"

/* Of the workload: the table, and what is asked. */
extern const option_row bench_scan_rows[], bench_query_rows[];

typedef struct bench_rival bench_rival; /* below */

/* One measurement. */
typedef struct bench_scan_run {
    const bench_options *options;
    const workload *w;
    kr_device *device;
    int on_gpu;
    kr_table *table;
    bench_rival *rival;        /* of a kind of index, instead of a table */
    kr_condition **conditions; /* of all calls */
    kr_bounds *bounds;         /* of each column of each condition */
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

/* ---- Tables (append.c) ------------------------------------------------------------------------- */

/* Makes the table; with --append and --delete as often as asked, and changes it. Without them it stays for
 * further calls with the same spec and columns, until bench_scan_drop_table. */
int bench_scan_make(bench_scan_run *run, const char *spec, bench_row *row);
void bench_scan_close_table(bench_scan_run *run); /* unless it stays */
void bench_scan_drop_table(void);
/* Before anything is made. */
int bench_scan_check_changes(const workload *w);
void bench_scan_close_changes(bench_scan_run *run);
void bench_print_changes_json(output *out, const bench_row *row);
void bench_print_changes_text(const bench_row *row, FILE *to);

/* Measures the workload of a row with one spec. Columns are kept for the next call. */
int bench_scan(const bench_options *options, kr_device *device, uint32_t threads, const char *spec,
               bench_row *row);

/* ---- Columns (scan_data.c) --------------------------------------------------------------------- */

/* In host memory and, unless `on_host`, where the device reads them; those of the last call if it was for the
 * same workload. */
int bench_scan_open_data(const workload *w, kr_device *device, int on_host, uint32_t threads);
/* Before the device is closed. */
void bench_scan_close(void);
/* Rows first .. first + count - 1 of the columns, where the library reads them. */
void bench_scan_columns(const workload *w, uint64_t first, uint64_t count,
                        kr_column columns[BENCH_SCAN_COLUMNS]);
/* All rows in host memory, or in the device's: its columns are NULL where there are none. */
kr_baseline_table bench_scan_table(const workload *w, int on_host);
/* The constant of comparison c of condition i: the value that the wanted share of a sample is below. */
uint64_t bench_scan_constant(const workload *w, uint64_t i, uint32_t c);

/* ---- Columns of files instead (scan_files.c) --------------------------------------------------- */

extern const option_row bench_scan_files_rows[]; /* of bench_options */

/* Reads them, unless they are open, and sets the rows and columns of the workload. Nothing, if there are
 * none. */
int bench_scan_files_open(const option_texts *columns, workload *w, kr_device *device, int on_host);
void bench_scan_files_close(void);
uint32_t bench_scan_files_count(void); /* 0: the table is generated */
const char *bench_scan_files_name(uint32_t c);
const struct column *bench_scan_files_source(uint32_t c);
kr_column bench_scan_files_column(uint32_t c); /* where the library reads it */
/* Codes of all rows, of 64 bits: those of NULL are above every constant. Codes of the n others, without NaN.
 */
const uint64_t *bench_scan_files_codes(uint32_t c);
const uint64_t *bench_scan_files_valid(uint32_t c, uint64_t *n);

/* ---- Columns and queries of TPC-H (scan_tpch.c) ------------------------------------------------ */

enum { BENCH_TPCH_COLUMNS = 3 };

/* Refuses options that this workload does not have; sets the rows and the columns. */
int bench_tpch_settle(workload *w);
const char *bench_tpch_name(const workload *w, uint32_t c);
kr_type bench_tpch_type(const workload *w, uint32_t c);
void bench_tpch_values(const workload *w, uint32_t c, uint32_t threads, uint32_t *values);
/* kr_table_options.find_text; ctx is the workload. */
int bench_tpch_find_text(void *ctx, uint32_t c, const char *text, size_t nbytes, uint32_t *code);
/* Condition i: the first as TPC-H's validation has it, others by its rules for random ones. */
kr_status bench_tpch_condition(const workload *w, uint64_t i, kr_bounds *bounds, kr_condition **condition,
                               kr_error *err);
/* Its text, of the first. */
void bench_tpch_text(const workload *w, char text[192]);

/* ---- Kinds of index as rivals (scan_rival.c) ---------------------------------------------------- */

/* A rival has an index for each column. A range lookup answers each predicate; its row ids become bits,
 * merged by AND. */

/* 1: the kind answers ranges and does not scan. */
int bench_rival_is(const char *spec);
/* Refuses a kind that neither scans nor answers ranges. */
int bench_rival_check(const char *spec);
/* `bounds`: of all queries, a pair for each column. Facts of all indexes go to `facts`. */
int bench_rival_open(kr_device *device, uint32_t threads, const char *spec, const kr_column *columns,
                     uint32_t n_columns, const kr_bounds *bounds, uint64_t n_queries, bench_rival **rival,
                     index_facts *facts);
/* The bitmap of a query. The work of its lookups is added to `report`, or NULL. */
int bench_rival_ask(bench_rival *rival, uint64_t query, uint32_t *bitmap, int in_host, report_facts *report);
void bench_rival_close(bench_rival *rival);

/* ---- Report (print_scan.c) ---------------------------------------------------------------------- */

/* "bitmap", ... */
const char *bench_scan_result(const bench_options *options);
void bench_print_scan_json(output *out, const bench_report *report, const bench_row *row);
void bench_print_scan_text(const bench_report *report, FILE *to);

#endif
