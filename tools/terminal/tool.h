/* What every sub-command shares: errors and memory. Functions that can fail return an exit status: 0 for
 * success; otherwise they have printed the reason on standard error. */
#ifndef KEYRAY_TERMINAL_TOOL_H
#define KEYRAY_TERMINAL_TOOL_H

#include <keyray/keyray.h>

#include <stddef.h>

/* FAILED: an error at run time. USAGE: an unknown command, flag, kind, option or value. */
enum { DONE = 0, FAILED = 1, USAGE = 2, INTERRUPTED = 130 };

/* The sub-command, whose name begins every error, and its examples, one per line, of which the one that has
 * most of the flags that an error names ends it. Of examples for several operands only those of `operand`
 * count. */
void tool_set_command(const char *command, const char *examples, const char *operand);

/* Prints "NAME: what, where, what to do", then the example, and returns `code`. */
int tool_fail(int code, const char *text, ...) __attribute__((format(printf, 2, 3)));

/* The same with FAILED where the machine, and not the command line, is the cause: no example. */
int tool_fail_machine(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* The same where standard output could not be written; `error` is the errno of the call that failed. Where
 * nobody reads any more, SIGPIPE ends the process. */
int tool_fail_print(int error);

/* The same for a status of the library; 0 for KR_OK. */
int tool_check(kr_status status, const kr_error *err);

/* Replaces the word `field`, the library's name, by `option`. */
void tool_rename(kr_error *err, const char *field, const char *option);

/* Refuses a wrong spec before anything is read. */
int tool_check_spec(const char *spec);

/* Refuses the file of an option whose folder is not there, before anything is read or measured. NULL and
 * files that are there pass. */
int tool_check_folder(const char *option, const char *path);

/* malloc that prints what it failed to get memory for; never NULL for 0 elements. */
void *tool_alloc(uint64_t n, uint64_t each, const char *what);

#endif
