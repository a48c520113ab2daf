/* How a call of either extension fails. */
#ifndef KEYRAY_DUCKDB_FAIL_H
#define KEYRAY_DUCKDB_FAIL_H

#include <keyray/keyray.h>

/* Writes status and text, and returns the status. */
kr_status fail(kr_error *err, kr_status status, const char *text, ...) __attribute__((format(printf, 3, 4)));

#endif
