/* The conformance suite: one list of cases, run for every kind, key type and device. */
#ifndef KEYRAY_TESTS_SUITE_H
#define KEYRAY_TESTS_SUITE_H

#include "memory.h"
#include "nearest.h"

enum { KR_MAX_SPECS = 1024, KR_MAX_REASONS = 64 };

typedef struct kr_suite_device {
    kr_device *device;
    kr_device_info info;
    int is_host; /* device memory is host memory here */
} kr_suite_device;

/* A spec of the list. The list as a whole decides which tests a spec takes, so a part of the list that runs
 * alone takes the same tests. */
typedef struct kr_listed {
    char text[KR_SPEC_NBYTES];
    uint8_t is_brief;           /* lookups only, of the reduced list and in device memory */
    uint8_t is_first_of_kind;   /* of the specs that hold keys of u32 */
    uint8_t is_first_to_update; /* of the specs of its kind */
    uint8_t is_first_stored;    /* of the specs of its kind that keep the same in memory */
    uint8_t is_for_gpu;         /* on a CPU it is the same program as a spec before it */
} kr_listed;

typedef struct kr_spec_list {
    uint32_t n;
    kr_listed at[KR_MAX_SPECS];
} kr_spec_list;

/* What a call of the runner asks for. */
typedef struct kr_settings {
    const char *filter; /* a test runs when its name contains this */
    const char *kind;   /* only this kind's specs are made up; NULL: every kind's */
    uint64_t seed;
    int reduced, exhaustive;
    double deadline; /* by kr_test_clock; no test begins after it; 0: none */
} kr_settings;

/* One spec on one device, and the tests of it that ran. Each belongs to one thread. */
typedef struct kr_suite {
    const kr_settings *settings;
    uint64_t seed;
    int reduced, exhaustive;
    const kr_suite_device *on;
    const kr_listed *listed;
    const char *spec; /* its text */
    int can_run;      /* 0: not known yet; 1: the device runs the spec; -1: it does not */
    kr_error refusal; /* why not */
    int was_cut;      /* the deadline came before the last test began */
    /* the test that runs */
    char name[512];
    int has_failed;
    /* what came out */
    uint64_t passed, failed, skipped;
} kr_suite;

/* ---- suite.c: one test is begin, any number of failures or one skip, end -------------------- */

/* 0 when the filter leaves this test out or there is no time left; the name is its address. */
int kr_test_begin(kr_suite *suite, const char *name, ...) __attribute__((format(printf, 2, 3)));
/* Prints the first failure of a test. */
void kr_test_fail(kr_suite *suite, const char *text, ...) __attribute__((format(printf, 2, 3)));
void kr_test_end(kr_suite *suite);
/* 1 when no further test may begin. */
int kr_test_is_late(kr_suite *suite);
/* Instead of begin and end; prints every reason once in all. */
void kr_test_skip(kr_suite *suite, const char *name, const char *reason);
/* Fails the test unless `truth`; returns it. */
int kr_test_expect(kr_suite *suite, int truth, const char *what);
/* Fails the test unless the call succeeded; returns whether it did. */
int kr_test_ok(kr_suite *suite, kr_status status, const kr_error *err, const char *call);
/* Fails the test unless the call failed with `want` and said why in one line. */
int kr_test_refused(kr_suite *suite, kr_status want, kr_status status, const kr_error *err, const char *call);
/* 1 when the filter lets a test of this name run. */
int kr_test_wanted(const kr_suite *suite, const char *name);

/* Seconds since some moment of the past. */
double kr_test_clock(void);

uint64_t kr_in_use(kr_device *device);
/* The counters of a lookup's report; all 0 if nothing was counted. */
typedef struct kr_test_work {
    uint64_t rays, hits, filtered, repaired, untraced;
} kr_test_work;
kr_test_work kr_test_work_of(const kr_report *report);

/* Opens the device once more, with other options. */
kr_status kr_open_like(const kr_suite_device *on, const kr_device_options *options, kr_device **device,
                       kr_error *err);

/* Bytes of all components of an index, and of that in host memory, which no cap counts. */
uint64_t kr_component_sum(const kr_index *index);
uint64_t kr_component_on_host(const kr_index *index);

/* ---- specs.c -------------------------------------------------------------------------------- */

/* All kinds with every choice and some values of every option, one at a time; then, as brief specs, pairs of
 * options that change how answers are found. Combinations that the library refuses are left out. */
void kr_expand_specs(const kr_settings *settings, kr_spec_list *list);
void kr_add_spec(kr_spec_list *list, const char *spec, int brief);
/* Finds which specs are the first of their sort, once the list is complete. Specs that the caller names one
 * by one take all tests that they are not too slow for. */
void kr_compare_specs(kr_spec_list *list, int are_named);
/* 1: kr_index_update works on indexes of this spec. */
int kr_spec_can_update(const char *spec);
/* What the kind of a spec can do. */
uint32_t kr_spec_capabilities(const char *spec);

/* ---- fits.c: what a spec can hold ------------------------------------------------------------ */

/* KR_OK, or the status with which these keys are refused and the text that the error must hold. */
kr_status kr_spec_refuses(const char *spec, const kr_column *keys, const char **must_name);
/* The type, or a smaller one where the spec does not hold all of its values. */
kr_type kr_fitting_type(const char *spec, kr_type type);
/* 1: the spec holds keys that lie near each other, and no floats (kr_keys_lie). */
int kr_spec_wants_near(const char *spec);
/* 1: entries are kept in host memory, so that the footprint is more than any device holds. */
int kr_spec_keeps_on_host(const char *spec);
/* Types go through the same few lines whatever the options: a spec with options takes u32, u64
 * and by its text either {i16, f64} or {u8, i64, f32}, as the reduced list does; the exhaustive one all
 * twelve. */
int kr_type_is_wanted(const kr_suite *suite, const char *spec, kr_type type);
/* Of joins, whose code asks an index but does not see its options: a spec with options takes u32 or u64, by
 * its text, and in the reduced list only if it is the first of its kind. */
int kr_join_type_is_wanted(const kr_suite *suite, const char *spec, kr_type type);
/* The value of an option in the completed spec, e.g. "3d"; "" if the kind has no such option. */
const char *kr_spec_option(const char *spec, const char *option, char value[32]);

/* ---- cases.c: lookups ----------------------------------------------------------------------- */

typedef struct kr_case {
    const char *name;
    kr_pattern pattern;
    uint64_t keys, probes;
    kr_nulls nulls, probe_nulls;
    kr_row_ids row_ids;
    uint32_t shift; /* elements by which every buffer misses its natural alignment */
    int reduced;    /* 1: also in the reduced list */
    int large;      /* 1: with options varied, only for keys of u32 and u64 */
} kr_case;

enum { KR_N_QUESTIONS = 13 };
enum { KR_ASK_POINT, KR_ASK_RANGE, KR_ASK_NEAREST, KR_N_ASKS };

/* A case for one key type: its columns, and the right answers. */
typedef struct kr_case_data {
    const kr_case *test;
    kr_type type;
    kr_test_column keys, values, lower[KR_N_ASKS], upper;
    uint32_t *row_ids;
    int has_duplicates;
    kr_nearest_options nearest;            /* of KR_ASK_NEAREST, by chance */
    kr_question questions[KR_N_QUESTIONS]; /* values: NULL where row ids are too high for a column */
    kr_answer answers[KR_N_ASKS][KR_N_QUESTIONS];
} kr_case_data;

/* NULL past the last. */
const kr_case *kr_case_at(const kr_suite *suite, uint32_t number);
void kr_case_data_make(const kr_suite *suite, const kr_case *test, uint32_t number, kr_type type,
                       kr_case_data *data);
/* The same with these keys, whose memory and that of the row ids it takes over. */
void kr_case_data_of(const kr_suite *suite, const kr_case *test, uint32_t number, kr_test_column *keys,
                     uint32_t *row_ids, kr_case_data *data);
void kr_case_data_free(kr_case_data *data);
/* The data of case `number` for a type, which all threads read: made when the first asks for it, kept until
 * kr_case_data_drop_shared. */
const kr_case_data *kr_case_data_shared(const kr_suite *suite, const kr_case *test, uint32_t number,
                                        kr_type type);
void kr_case_data_drop_shared(void);
/* One lookup of what = KR_ASK_*. */
kr_status kr_case_call(const kr_case_data *data, kr_index *index, uint32_t what, const kr_column *lower,
                       const kr_column *upper, const kr_sink *sink, kr_error *err);
extern const uint32_t kr_ask_needs[KR_N_ASKS]; /* KR_CAN_* */
/* 0 for a question that this case cannot ask. */
int kr_case_asks(const kr_case_data *data, uint32_t question);

/* ---- The areas: each runs its tests of the suite's spec on the suite's device ---------------- */

void kr_run_lookups(kr_suite *suite);
void kr_run_nearest(kr_suite *suite);
void kr_run_chunks(kr_suite *suite);
void kr_run_streams(kr_suite *suite);
void kr_run_joins(kr_suite *suite);
void kr_run_asof(kr_suite *suite);
void kr_run_overlap(kr_suite *suite);
void kr_run_misuse(kr_suite *suite);
void kr_run_limits(kr_suite *suite);
void kr_run_every_key(kr_suite *suite);
void kr_run_counts(kr_suite *suite);
void kr_run_heavy(kr_suite *suite);
void kr_run_set_keys(kr_suite *suite);
void kr_run_updates(kr_suite *suite);
void kr_run_cancels(kr_suite *suite);
void kr_run_saved(kr_suite *suite);
void kr_run_growth(kr_suite *suite);
void kr_run_work(kr_suite *suite);

/* Tests of all specs as strings and of the tables of kinds; they need no device. */
void kr_run_specs(kr_suite *suite, const kr_spec_list *list);

void kr_heavy_drop_shared(void);

void kr_print_support(const kr_suite_device *on, const kr_spec_list *list);
void kr_print_performance(const kr_suite_device *on, const kr_spec_list *list, uint64_t seed);

#endif
