/* Filling a caller's kr_error. The function that first knows the cause writes the text; callers forward
 * the status. */
#ifndef KEYRAY_BASE_UTIL_ERROR_H
#define KEYRAY_BASE_UTIL_ERROR_H

#include <keyray/keyray.h>

/* Writes `text` (what, where, what to do; one line) to `err` when there is one, and returns `status`:
 *     return kr_fail(err, KR_ERR_IO, "cannot open %s: %s", path, strerror(errno));                     */
kr_status kr_fail(kr_error *err, kr_status status, const char *text, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a failed call of a vendor's library or the system, with its code kept. */
kr_status kr_fail_call(kr_error *err, kr_status status, const char *call, int code, const char *text, ...)
    __attribute__((format(printf, 5, 6)));

/* Host memory, allocated in one place so that the error reads the same everywhere. `what` names the use.
 * n * each is checked for overflow; n * each of 0 gives a pointer that may be freed. Zeroed. */
void *kr_host_calloc(uint64_t n, uint64_t each, const char *what, kr_error *err);

/* A number that no other dictionary of texts has: kr_column.dictionary. Never 0. */
uint64_t kr_host_identity(void);

/* KR_ERR_ARGUMENT if reserved words of `progress` (or NULL) are set. `what` names it. */
kr_status kr_progress_check(const kr_progress *progress, const char *what, kr_error *err);
/* Calls the progress callback; KR_ERR_CANCELLED when it asks to stop. */
kr_status kr_progress_report(const kr_progress *progress, const char *phase, double fraction, kr_error *err);

#endif
