/* A counter of a report by its name; UINT64_MAX: there is none. */
#ifndef KEYRAY_TESTS_REPORT_COUNTER_H
#define KEYRAY_TESTS_REPORT_COUNTER_H

#include <keyray/keyray.h>

#include <string.h>

static inline uint64_t report_counter(const kr_report *report, const char *name)
{
    for (uint32_t i = 0; i < kr_report_counter_count(report); ++i)
        if (strcmp(kr_report_counter_name(report, i), name) == 0)
            return kr_report_counter_value(report, i);
    return UINT64_MAX;
}

#endif
