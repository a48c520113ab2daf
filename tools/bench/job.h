/* What the files of `keyray bench` share. */
#ifndef KEYRAY_TOOLS_BENCH_JOB_H
#define KEYRAY_TOOLS_BENCH_JOB_H

#include "tools/columns/column.h"
#include "tools/terminal/facts.h"
#include "tools/terminal/options.h"
#include "tools/terminal/output.h"
#include "workload.h"

#include <keyray/keyray.h>

#include <stdio.h>

enum { BENCH_POINT, BENCH_RANGE, BENCH_BUILD, BENCH_UPDATE, BENCH_SCAN, BENCH_LOADS, BENCH_JOIN };

/* What a number or a choice is that was not given; a result, too. */
enum { BENCH_NOT_GIVEN = 255 };

enum { BENCH_SAMPLES = 1 << 16, BENCH_BASELINE_PROBES = 1 << 20, BENCH_REPEAT_MOST = 1000 };

typedef struct bench_options {
    option_texts index;
    const char *sweep, *json, *rebuild, *save;
    uint64_t keys_log2, probes_log2, repeat, phases, checked, calls;
    uint32_t result, order, host, presorted_probes, baseline, scaling, scan_result;
    uint32_t join_type, inverse, unordered, asof; /* asof 0: on equal values; else kr_nearest_side */
    uint64_t groups, overlap, chunk; /* of as-of joins; of intervals: overlaps a row, 0: none; bytes */
    uint32_t cover, counted, points, streamed, sums, prepared, in_turn;
    const char *keys, *probes, *lower, *upper; /* columns of files, instead of generated ones */
    const char *left_end, *right_end;          /* both, of a join of intervals; or neither */
    option_texts columns;                      /* those of a table */
} bench_options;

typedef char bench_spec[KR_SPEC_NBYTES];

/* ---- The workload, in host memory and where the library reads it (data.c) ------------- */

enum {
    COLUMN_KEYS,
    COLUMN_VALUES, /* one per row, like the keys */
    COLUMN_LOWER,
    COLUMN_UPPER,
    /* Updates: pairs of rows that exchange their keys, the same pairs turned around, and the keys of the
       first */
    COLUMN_CHANGED_ROWS,
    COLUMN_CHANGED_BACK,
    COLUMN_CHANGED_KEYS,
    N_COLUMNS,
    /* Of files, a join of intervals: as many rows as probes, and as keys. */
    COLUMN_LEFT_END = COLUMN_UPPER,
    COLUMN_RIGHT_END = COLUMN_VALUES
};

/* What the checks of all runs share: the right answers to samples of the probes, and room for the answers of
 * a batch. */
typedef struct bench_checks {
    uint64_t n, answers[BENCH_SAMPLES]; /* n 0: nobody has asked yet */
    kr_result result;
    void *got;
    uint64_t got_nbytes;
} bench_checks;

/* A column as texts, where the library reads it. */
typedef struct bench_text_column {
    void *bytes, *offsets; /* offsets of 64 bits */
    uint64_t count;
} bench_text_column;

typedef struct bench_texts {
    uint32_t form; /* the position in BENCH_TEXTS; 0: keys and probes are numbers */
    bench_text_column columns[COLUMN_UPPER + 1];
} bench_texts;

#define BENCH_TEXTS "no|hex|customer|url"

typedef struct bench_files bench_files; /* columns.c */

typedef struct bench_data {
    kr_device *device; /* that holds `there`; NULL: `there` is host memory */
    int operation;
    kr_type type; /* of keys and probes, of files those of their codes; values are u32 */
    kr_keys_spec keys;
    uint64_t first_key, n_keys; /* those in the index: first_key to first_key + n_keys - 1 of the column */
    uint64_t n_grown;           /* all keys of the column: with those that waves insert */
    uint64_t n_probes, n_changed;
    uint64_t multiplicity, batches;
    void *host[N_COLUMNS];
    void *there[N_COLUMNS];
    uint32_t *known; /* per probe: the row it was drawn from, or KR_NO_ROW */
    void *sorted;    /* n_sorted in (key, row) order: the oracle and the baseline search them; or NULL */
    uint32_t *sorted_rows; /* and their rows */
    uint64_t n_sorted;     /* keys that are not NULL */
    bench_checks *checks;
    bench_texts texts;  /* what the library gets for keys and probes; oracles have the numbers */
    bench_files *files; /* or this; NULL: the numbers themselves */
} bench_data;

/* Which columns the library gets in host memory: none; the keys; all. */
enum { BENCH_ON_DEVICE, BENCH_KEYS_ON_HOST, BENCH_ALL_ON_HOST };
/* Of indexes that are kept on the host (keep=host), keys need not fit on the device. */
int bench_data_place(const bench_options *options);

/* Data that is already open with the same keys keeps them; the rest is made anew. */
int bench_data_open(bench_data *data, kr_device *device, int operation, const workload *w, int with_values,
                    int place, uint32_t threads);
/* Draws the probes anew, of the keys that are in the index. */
int bench_data_make_values(bench_data *data); /* of the rows, as --result sum adds them up */
int bench_data_draw(const bench_data *data, const workload *w);
void bench_data_close(bench_data *data);
/* Rows first ... first + count - 1 as a column where the library reads it. */
kr_column bench_data_column(const bench_data *data, int column, uint64_t first, uint64_t count);

/* ---- Texts (texts.c) ------------------------------------------------------------------ */

extern const option_row bench_texts_rows[]; /* of the workload */
int bench_texts_check(const bench_options *options, const workload *w);

/* What is made already stays. `count` rows of host[column]. */
int bench_texts_make(bench_data *data, int column, uint64_t count, uint32_t threads);
void bench_texts_close(bench_data *data, int column);
kr_column bench_texts_column(const bench_data *data, int column, uint64_t first, uint64_t count);

/* ---- Columns of files (columns.c) ------------------------------------------------------- */

/* They take the place of generated keys and probes: the library gets them as they are, and `host` of the data
 * has codes of u32 or u64 in the order of their values, which oracles compare. */

extern const option_row bench_files_rows[];
/* 1: a command line names columns of files. */
int bench_files_are_named(int argc, char **argv);
/* Before anything is read. */
int bench_files_check(const bench_options *options, int operation);
/* As bench_data_open; what is open stays. */
int bench_files_open(bench_data *data, const bench_options *options, kr_device *device, int operation,
                     uint64_t batches, uint32_t threads);
void bench_files_close(bench_data *data);
kr_column bench_files_column(const bench_data *data, int column, uint64_t first, uint64_t count);
/* The first key, in host memory; NULL where it is NULL. */
const kr_column *bench_files_keys(const bench_data *data);
/* 1: it is of files, and NULL. */
int bench_files_is_null(const bench_data *data, int column, uint64_t row);
/* Pairs of a probe and a key that are equal. */
uint64_t bench_files_pairs(const bench_data *data);

/* A copy of `from` in memory of a device; `to` has its type and count already. Given back also after a
 * failure. */
kr_status bench_files_bring(kr_device *device, const kr_column *from, kr_column *to, kr_error *err);
void bench_files_give(kr_device *device, const kr_column *from, const kr_column *to);

/* The code of a value (codes.c), and back: the first bytes of *value are one of the type. */
uint64_t bench_code_at(kr_type type, const void *data, uint64_t i);
void bench_code_value(kr_type type, uint64_t code, uint64_t *value);
int bench_code_is_nan(kr_type type, uint64_t code);

/* What a report says of them; all zero: they are generated. */
typedef struct bench_sources {
    kr_type type;
    int is_text;
    const char *of[COLUMN_UPPER + 1]; /* NULL: there is none */
    uint64_t nulls[COLUMN_UPPER + 1];
} bench_sources;
bench_sources bench_files_sources(const bench_data *data);

/* ---- The oracle (oracle.c) ----------------------------------------------------------- */

int bench_oracle_open(bench_data *data, uint32_t threads);
/* The right answer to probe i. Adds to *visited the matches that had to be looked at. */
uint64_t bench_oracle_answer(const bench_data *data, uint64_t i, kr_result result, uint64_t *visited);

/* ---- One measurement (answer.c, check.c, time.c, run.c, ...) */

enum { BENCH_TIMES_KEPT = 256 };

typedef struct bench_times {
    double minimum, median, maximum;
    uint64_t n;
    double each[BENCH_TIMES_KEPT]; /* in the order in which they ran, if there are no more */
} bench_times;

/* Sorts `seconds`. */
bench_times bench_summarize(double *seconds, uint64_t n);

/* Phases of rounds that do the same: each is noted, then the last has the medians of all. */
void bench_note_phases(const facts *phases, uint64_t round);
void bench_median_phases(facts *phases, uint64_t rounds);

enum { WAVE_INSERT, WAVE_DELETE, WAVE_REPLACE, N_WAVE_CHANGES };

/* One batch of inserted or deleted rows. */
typedef struct bench_wave {
    uint32_t change;                      /* WAVE_* */
    uint64_t changed, rows;               /* rows of the batch; rows of the index afterwards */
    uint64_t footprint_nbytes;            /* afterwards */
    uint64_t peak_nbytes;                 /* during the call, with the index */
    double seconds;                       /* of the call */
    facts phases;                         /* of the call */
    double rebuild;                       /* seconds of building the index of these rows anew */
    bench_times lookups, rebuilt_lookups; /* after each wave that grows or shrinks the index */
} bench_wave;

typedef struct bench_waves {
    uint32_t n, form; /* 0: there were none; WAVES_* */
    int is_rebuilt;   /* the index takes no updates: `seconds` are those of building anew */
    char why_rebuilt[sizeof(((kr_error *)0)->text)];
    bench_wave waves[2 * WORKLOAD_WAVES_MOST];
    bench_times changes[N_WAVE_CHANGES]; /* seconds of all waves of that sort; 0: there were none */
    index_facts moments[2]; /* that grow: after the inserts and the deletes; else before and after */
    /* Unless is_rebuilt. */
    char rebuild[KR_SPEC_NBYTES]; /* the spec of the index that was built anew */
    bench_times rebuilds, ratios; /* seconds, and as multiples of the same wave's update */
    index_facts fresh;            /* built anew after the last wave */
    bench_times fresh_lookups;
    double slowdown; /* last wave's lookup time, as a multiple of that after building anew */
} bench_waves;

/* One sort of change of a table, in tables that were made anew. */
typedef struct bench_change {
    uint64_t rows;     /* of the call; 0: there was none */
    double first;      /* seconds of the first call, in which memory may have to come from the system */
    bench_times times; /* of the others */
    index_facts facts; /* of the table after the last of them */
} bench_change;

/* What is timed of a saved index: it is saved; the file is read; pinned memory is copied; it is loaded; it is
 * opened unverified, and one key is looked up. */
enum { SAVED_SAVE, SAVED_READ, SAVED_PINNED, SAVED_LOAD, SAVED_TRUSTED, SAVED_TIMES };

typedef struct bench_saved {
    uint64_t nbytes; /* of the file; 0: not asked for */
    int has_pinned;
    bench_times times[SAVED_TIMES];
    index_facts facts; /* of the last that was loaded */
    char checked[192];
} bench_saved;

/* Of a divided index: what travelled for a run's probes, and copying as many bytes of pinned memory. */
typedef struct bench_kept {
    uint64_t parts, nbytes, on_host; /* parts and bytes that travelled; probes that the CPU answered */
    bench_times pinned;
} bench_kept;

/* A rival on the same data. */
typedef struct bench_baseline {
    char name[96];
    const char *version;       /* of its library, or "" where it is that of CUDA */
    uint64_t footprint_nbytes; /* what its lookups read, or its sort leaves */
    uint64_t n;                /* lookups or pairs of a run */
    bench_times times;         /* of runs */
    double build_seconds;      /* of a map that was looked up, else 0 */
} bench_baseline;

typedef struct bench_row {
    char swept[64]; /* "uniformity=20" or "" */
    workload workload;
    index_facts index;
    report_facts lookups;      /* of the last batch */
    bench_times times;         /* of all probes, of a build, of an update, or of a wave */
    bench_times enqueued;      /* of lookups: what the calls themselves took, without the wait */
    bench_times before, after; /* an update: of all probes; a scan: `after`, means of calls enqueued together,
                                  `before`, of adding up the columns, 0: not asked for */
    double build_seconds;      /* a scan */
    char step[200];            /* a join: its size, and which side is indexed */
    char (*steps)[200];        /* a scan: what answered the first call */
    uint32_t n_steps;
    bench_change builds, appends, deletes; /* a scan with --append or --delete */
    bench_waves waves;
    facts update_phases; /* an exchange of keys */
    bench_saved saved;   /* --save */
    int is_kept;
    bench_kept kept;   /* then */
    uint64_t per_run;  /* lookups, pairs or changed rows of one run */
    facts work;        /* of all probes, counted for kinds that cast rays */
    char checked[192]; /* what was compared before anything was timed */
    bench_baseline baselines[5];
    uint32_t n_baselines;
    double one_thread_rate; /* --scaling: the same with one thread, else 0 */
} bench_row;

typedef struct bench_run {
    const bench_options *options;
    const bench_data *data;
    kr_device *device;
    kr_index *index;
    kr_prepared *prepared; /* answers `result`; NULL: not asked for */
    kr_result result;
    uint32_t order; /* of row ids: KR_ORDER_* */
    void *out;      /* room for 8 bytes per probe and 8 more, where the library writes */
    void *rows;     /* KR_RESULT_ROWS: room for all row ids; NULL: they are only counted */
    uint64_t rows_capacity;
} bench_run;

/* --prepared: from now on bench_answer runs a prepared lookup, unless more than answers are wanted. */
int bench_prepare(bench_run *run);

/* Enqueues all batches. `lookups`, of the last batch, and `work`, of all of them, may be NULL. */
int bench_answer(const bench_run *run, kr_result result, report_facts *lookups, facts *work);

/* For KR_RESULT_ROWS only (rows.c): makes room for the row ids; compares them with their sums. */
int bench_rows_open(bench_run *run);
void bench_rows_close(bench_run *run);
int bench_rows_check(const bench_run *run, const uint64_t *sums);

/* How many runs tell the phases of a lookup. */
uint64_t bench_phase_runs(const bench_options *options);

/* NULL where memory ends. */
bench_checks *bench_checks_open(void);
void bench_checks_close(bench_checks *checks);

/* Compares all answers with the known rows and samples with the oracle, and says so in `checked`. */
int bench_check(const bench_run *run, char checked[192]);

/* The first round warms up and is not counted. Times are those of one call; `enqueued` may be NULL. */
int bench_time_lookups(const bench_run *run, bench_times *times, bench_times *enqueued);

/* The same for n runs, a round of each in turn. */
int bench_time_in_turn(const bench_run *runs, uint32_t n, bench_row *rows);

/* Makes run->index of the keys of run->data. */
int bench_build(bench_run *run, const char *spec, double *seconds);
/* Builds anew as often as asked; the first warms up and is not counted. */
int bench_time_builds(bench_run *run, const char *spec, bench_times *times);

/* What the bus carries: pinned memory, and memory of the device that it is copied to (pinned.c). Both are
 * NULL on a CPU, where nothing is copied. */
typedef struct bench_pinned {
    char *memory;
    void *there;
} bench_pinned;
/* bench_pinned_close is due in any case. */
int bench_pinned_open(const bench_run *run, const bench_row *row, bench_pinned *pinned);
int bench_pinned_copy(const bench_run *run, const bench_pinned *pinned, uint64_t nbytes);
void bench_pinned_close(const bench_run *run, bench_pinned *pinned);

/* What is reported of a divided index (kept.c); does nothing for others. */
int bench_keep(const bench_run *run, bench_row *row);
void bench_print_kept_json(output *out, const bench_row *row);
void bench_print_kept_text(const bench_row *row, FILE *to);

/* --save: saves run->index and loads it, and times both (saved.c). */
int bench_save(const bench_run *run, bench_row *row);

/* Lookups before an update, the update, and lookups after it, their answers checked. */
int bench_update(bench_run *run, bench_row *row);

/* Inserts and deletes in waves. Where they grow the index and then shrink it, with lookups and a build anew
 * after each; answers are checked after either half. Else one wave warms up, and lookups, a build anew and
 * the check come after the last. */
int bench_update_waves(bench_run *run, const char *spec, bench_row *row);

/* Builds, checks, warms up and times one spec on a device. */
int bench_measure(const bench_options *options, const bench_data *data, kr_device *device, const char *spec,
                  bench_row *row);

/* The same for n specs, whose lookups are timed in turn: all indexes are in memory at the same time. */
int bench_measure_in_turn(const bench_options *options, const bench_data *data, kr_device *device,
                          bench_spec *specs, uint32_t n, bench_row *rows);

/* Runs what the row is compared with. */
int bench_measure_baselines(const bench_options *options, const bench_data *data, kr_device *device,
                            bench_row *row);

/* ---- Joins (join.c) ------------------------------------------------------------------- */

extern const option_row bench_join_rows[], bench_saved_rows[]; /* of bench_options */

/* Joins the probes with the keys; the first round is checked and not timed. */
int bench_join(const bench_options *options, const bench_data *data, kr_device *device, const char *spec,
               bench_row *row);

/* The same, added up by kr_join_sums (sums.c): seconds of a round that is checked, and of `repeat` others. */
int bench_sums(const bench_run *run, const char *spec, double *seconds, bench_row *row);
/* Compares answers to the probes with the oracle's; *n is how many (check.c). */
int bench_check_samples(const bench_data *data, kr_result result, const void *got, uint64_t *n);

/* ---- Loads without an index (loads.c) ------------------------------------------------ */

extern const option_row bench_loads_rows[]; /* of the workload */
/* The default of `--sweep`, if --group is not given. */
#define BENCH_LOADS_SWEEP "group=1,2,4,8,16,32,64,128,256,512,1024"

/* Measures the workload of a row. */
int bench_loads(const bench_options *options, kr_device *device, uint32_t threads, bench_row *row);

/* ---- As-of joins (asof.c) -------------------------------------------------------------- */

/* The groups of rows of the data. */
int bench_asof_open(const bench_options *options, const bench_data *data);
void bench_asof_close(void);
kr_status bench_asof_create(const bench_run *run, const char *spec, const kr_column *left,
                            const kr_column *right, const kr_join_options *how, kr_join **join,
                            kr_error *err);
/* Whether a left row has a partner; whether `right` may be the one that it has. */
int bench_asof_has_partner(const bench_run *run, uint64_t left);
int bench_asof_is_right(const bench_run *run, uint64_t left, uint32_t right);

/* Looks at every pair of a chunk while it checks, and only counts them while it times. */
typedef struct bench_taken {
    const bench_run *run;
    uint64_t pairs;
    int checks, wrong;
} bench_taken;
int bench_join_take(void *taken, uint64_t n, const uint32_t *left,
                    const uint32_t *right); /* kr_pairs_chunk */

/* ---- Joins from pinned host memory (streamed.c) ------------------------------------------- */

int bench_streamed_open(const bench_data *data);
void bench_streamed_close(const bench_data *data);
kr_status bench_streamed_create(const bench_run *run, const char *spec, const kr_join_options *how,
                                kr_join **join, kr_error *err);
/* Hands over all pairs in chunks; fails if they are not as many as wanted, or wrong. */
int bench_streamed_chunks(const bench_run *run, const char *spec, int checks, uint64_t wanted);
/* Appends what the bus alone takes. */
void bench_streamed_step(const bench_run *run, uint64_t pairs, char *step, size_t room);

/* ---- Joins of intervals (overlap.c) ----------------------------------------------------- */

static inline int bench_overlaps(const bench_options *options)
{
    return options->overlap || options->left_end;
}

int bench_overlap_open(const bench_options *options, const bench_data *data);
void bench_overlap_close(const bench_data *data);
kr_status bench_overlap_create(const bench_run *run, const char *spec, const kr_join_options *how,
                               kr_join **join, kr_error *err);
/* Hands over all pairs in chunks, or counts them; fails if they are not as many as there are, or wrong. */
int bench_overlap_chunks(const bench_run *run, const char *spec, int checks);
uint64_t bench_overlap_pairs(void);
int bench_overlap_is_right(const bench_run *run, uint64_t left, uint64_t right);

/* ---- Report (print.c) ---------------------------------------------------------------- */

typedef struct bench_report {
    const bench_options *options;
    int operation;
    kr_device_info device;
    bench_sources sources;
    bench_row *rows;
    uint32_t n_rows;
} bench_report;

void bench_print(const bench_report *report, FILE *to, uint32_t json);

/* Of a row with waves (print_waves.c). */
void bench_print_waves_json(output *out, const bench_row *row);
void bench_print_waves_text(const bench_row *row, FILE *to);
void bench_print_saved_json(output *out, const bench_saved *of);
void bench_print_saved_text(const bench_saved *of, FILE *to);
void bench_print_times(output *out, const char *key, const bench_times *times);

/* Of loads (loads.c). */
void bench_print_loads_json(output *out, const bench_row *row);
void bench_print_loads_text(const bench_report *report, FILE *to);

#endif
