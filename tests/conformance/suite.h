/* The conformance suite: one list of cases, run for every kind, key type and device. */
#ifndef KEYRAY_TESTS_SUITE_H
#define KEYRAY_TESTS_SUITE_H

#include "memory.h"
#include "oracle.h"

enum { KR_MAX_SPECS = 256, KR_MAX_DEVICES = 9, KR_MAX_REASONS = 64, KR_SPEC_NBYTES = 192 };

typedef struct kr_suite_device {
    kr_device *device;
    kr_device_info info;
    int is_host; /* device memory is host memory here */
} kr_suite_device;

typedef struct kr_suite {
    const char *filter; /* a test runs when its name contains this */
    uint64_t seed;
    int reduced;
    uint32_t n_specs, n_devices;
    char specs[KR_MAX_SPECS][KR_SPEC_NBYTES];
    kr_suite_device devices[KR_MAX_DEVICES];
    /* the test that runs */
    char name[512];
    int has_failed;
    /* what came out */
    uint64_t passed, failed, skipped;
    uint32_t n_reasons;
    char reasons[KR_MAX_REASONS][192];
} kr_suite;

/* ---- suite.c: one test is begin, any number of failures or one skip, end -------------------- */

/* 0 when the filter leaves this test out; the name is its address. */
int kr_test_begin(kr_suite *suite, const char *name, ...) __attribute__((format(printf, 2, 3)));
/* Prints the first failure of a test. */
void kr_test_fail(kr_suite *suite, const char *text, ...) __attribute__((format(printf, 2, 3)));
void kr_test_end(kr_suite *suite);
/* Instead of begin and end; prints every reason once. */
void kr_test_skip(kr_suite *suite, const char *name, const char *reason);
/* Fails the test unless `truth`; returns it. */
int kr_test_expect(kr_suite *suite, int truth, const char *what);
/* Fails the test unless the call succeeded; returns whether it did. */
int kr_test_ok(kr_suite *suite, kr_status status, const kr_error *err, const char *call);
/* Fails the test unless the call failed with `want` and said why in one line. */
int kr_test_refused(kr_suite *suite, kr_status want, kr_status status, const kr_error *err, const char *call);
/* 1 when the filter lets a test of this name run. */
int kr_test_wanted(const kr_suite *suite, const char *name);

uint64_t kr_in_use(kr_device *device);

/* ---- specs.c -------------------------------------------------------------------------------- */

/* All kinds with every choice and some numbers, one at a time, and their own options two at a time. */
void kr_expand_specs(kr_suite *suite);
void kr_add_spec(kr_suite *suite, const char *spec);
/* What the kind of a spec can do. */
uint32_t kr_spec_capabilities(const char *spec);

/* ---- cases.c: lookups ----------------------------------------------------------------------- */

typedef struct kr_case {
    const char *name;
    kr_pattern pattern;
    uint64_t keys, probes;
    kr_nulls nulls, probe_nulls;
    kr_row_ids row_ids;
    uint32_t shift; /* elements by which every buffer misses its natural alignment */
    int reduced;    /* 1: also in the reduced list */
} kr_case;

enum { KR_N_QUESTIONS = 9 };
enum { KR_ASK_POINT, KR_ASK_RANGE, KR_N_ASKS };

/* A case for one key type: its columns, and the right answers. */
typedef struct kr_case_data {
    const kr_case *test;
    kr_type type;
    kr_test_column keys, values, lower[KR_N_ASKS], upper;
    uint32_t *row_ids;
    kr_question questions[KR_N_QUESTIONS]; /* values: NULL where row ids are too high for a column */
    kr_answer answers[KR_N_ASKS][KR_N_QUESTIONS];
} kr_case_data;

/* NULL past the last. */
const kr_case *kr_case_at(const kr_suite *suite, uint32_t number);
void kr_case_data_make(const kr_suite *suite, const kr_case *test, uint32_t number, kr_type type,
                       kr_case_data *data);
void kr_case_data_free(kr_case_data *data);
/* 0 for a question that this case cannot ask. */
int kr_case_asks(const kr_case_data *data, uint32_t question);

/* ---- The parts of the list ------------------------------------------------------------------ */

void kr_run_lookups(kr_suite *suite);
void kr_run_chunks(kr_suite *suite);
void kr_run_streams(kr_suite *suite);
void kr_run_joins(kr_suite *suite);
void kr_run_misuse(kr_suite *suite);
void kr_run_limits(kr_suite *suite);
void kr_run_specs(kr_suite *suite);

void kr_print_support(kr_suite *suite);
void kr_print_performance(kr_suite *suite);

#endif
