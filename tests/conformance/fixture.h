/* A small column, its oracle and questions: the data of the special cases. */
#ifndef KEYRAY_TESTS_FIXTURE_H
#define KEYRAY_TESTS_FIXTURE_H

#include "suite.h"

typedef struct kr_fixture {
    kr_suite *suite;
    kr_case test;
    kr_case_data data;
} kr_fixture;

/* Columns of `keys` keys and 50 probes. */
void kr_fixture_make(kr_suite *suite, kr_type type, kr_pattern pattern, uint64_t keys, kr_fixture *fixture);
/* The same with these keys, which it takes over. */
void kr_fixture_make_of(kr_suite *suite, kr_test_column *keys, uint64_t probes, kr_fixture *fixture);
void kr_fixture_free(kr_fixture *fixture);

/* With host memory. On KR_OK the caller frees the answer. */
kr_status kr_fixture_ask(const kr_fixture *fixture, kr_index *index, uint32_t what, uint32_t question,
                         kr_answer *got, kr_error *err);

/* Asks everything; each call succeeds with the right answer or ends with `allowed` (KR_OK: must succeed).
 * Adds to `refusals`. 0 when the test has failed. */
int kr_fixture_check(const kr_fixture *fixture, const char *spec, kr_index *index, kr_status allowed,
                     uint32_t *refusals);

/* The same with a build before, a join after, and memory counted at the end. */
int kr_fixture_check_all(const kr_fixture *fixture, kr_device *device, const char *spec, kr_status allowed,
                         uint32_t *refusals);

/* 0: the device cannot run the suite's spec, and the test that runs is counted as skipped with the library's
 * reason.
 */
int kr_device_runs(kr_suite *suite);

/* 1: the kind casts rays there. */
int kr_casts_rays(const kr_suite_device *on, const char *spec);

/* The test NAME/DEVICE/SPEC, unless the spec is brief. One that does not hold `keys`, the type of the test's
 * keys, is skipped; 0: the test takes a type that the spec holds. */
typedef void (*kr_special)(kr_suite *suite, const kr_suite_device *on, const char *spec);
void kr_test_special(kr_suite *suite, const char *name, kr_type keys, kr_special special);

#endif
