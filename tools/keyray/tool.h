/* What every sub-command shares: errors and memory. Functions that can fail return an exit status, 0 for
 * done, and have then said why on standard error. */
#ifndef KEYRAY_TOOL_H
#define KEYRAY_TOOL_H

#include <keyray/keyray.h>

#include <stddef.h>

/* FAILED is found at run time; USAGE an unknown command, flag, kind, option or value. */
enum { DONE = 0, FAILED = 1, USAGE = 2, INTERRUPTED = 130 };

/* "keyray lookup", which begins every error. */
void tool_set_name(const char *command);

/* Prints "NAME: what, where, what to do" and returns `code`. */
int tool_fail(int code, const char *text, ...) __attribute__((format(printf, 2, 3)));

/* The same for what the library answered; 0 for KR_OK. */
int tool_check(kr_status status, const kr_error *err);

/* Writes `option` for the whole word `field`, which is how the library calls it. */
void tool_rename(kr_error *err, const char *field, const char *option);

/* Refuses options of "best", which is no kind. */
int tool_check_spec(const char *spec);

/* malloc that says what it failed to get memory for; never NULL for 0 elements. */
void *tool_alloc(uint64_t n, uint64_t each, const char *what);

#endif
