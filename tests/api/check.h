/* Checks for tests: each prints what failed and goes on. */
#ifndef KEYRAY_TESTS_CHECK_H
#define KEYRAY_TESTS_CHECK_H

#include <keyray/keyray.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77 };

static int failures __attribute__((unused));

#define CHECK(truth)                                                  \
    do {                                                              \
        if (!(truth)) {                                               \
            ++failures;                                               \
            printf("FAILED %s:%d: %s\n", __FILE__, __LINE__, #truth); \
        }                                                             \
    } while (0)

/* The call failed with this status and says so in one line. */
#define REFUSED(want, call)                                                                 \
    do {                                                                                    \
        kr_error err = {0};                                                                 \
        const kr_status got = (call);                                                       \
        if (got != (want) || err.status != got || !err.text[0] || strchr(err.text, '\n')) { \
            ++failures;                                                                     \
            printf("FAILED %s:%d: %s: want %s, got %s '%s'\n", __FILE__, __LINE__, #call,   \
                   kr_status_name(want), kr_status_name(got), err.text);                    \
        }                                                                                   \
    } while (0)

#define WORKS(call)                                                                                          \
    do {                                                                                                     \
        kr_error err = {0};                                                                                  \
        const kr_status got = (call);                                                                        \
        if (got != KR_OK) {                                                                                  \
            ++failures;                                                                                      \
            printf("FAILED %s:%d: %s: %s '%s'\n", __FILE__, __LINE__, #call, kr_status_name(got), err.text); \
        }                                                                                                    \
    } while (0)

#endif
