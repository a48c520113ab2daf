#include "table/log.h"
#include "table/condition/grow.h"

#include <stdarg.h>
#include <stdio.h>

void kr_scans_log_step(kr_scan_log *log, const char *text, ...)
{
    va_list args;
    if (!log || !kr_condition_grow((void **)&log->steps, &log->room_steps, log->n_steps, 1,
                                   sizeof *log->steps, "a report", NULL))
        return;
    va_start(args, text);
    vsnprintf(log->steps[log->n_steps++], sizeof *log->steps, text, args);
    va_end(args);
}

void kr_scans_log_release(kr_scan_log *log)
{
    free(log->steps);
    *log = (kr_scan_log){0};
}
