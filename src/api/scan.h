/* The checked arguments of a scan. */
#ifndef KEYRAY_API_SCAN_H
#define KEYRAY_API_SCAN_H

#include "table/run/answer.h"

#include <keyray/scans.h>

/* Fills an answer, and the options in this version's form; `call` names the function. The caller frees
 * *read, which the answer points to. */
kr_status kr_call_scan_read(kr_table *table, const kr_condition *const *conditions,
                            const kr_scan_sink *const *sinks, uint32_t n, const kr_scan_options *given,
                            const char *call, kr_answer *answer, kr_answer_sink **read,
                            kr_scan_options *options, kr_error *err);

#endif
