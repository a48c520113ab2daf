#include "base/util/error.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_error(kr_error *err, kr_status status, const char *call, int code, const char *text,
                        va_list args)
{
    if (!err)
        return;
    memset(err, 0, sizeof *err);
    err->status = status;
    err->vendor_code = code;
    snprintf(err->vendor_call, sizeof err->vendor_call, "%s", call);
    vsnprintf(err->text, sizeof err->text, text, args);
    for (char *at = err->text; *at; ++at) /* keeps it one line, whatever strings went in */
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            *at = '?';
}

kr_status kr_fail(kr_error *err, kr_status status, const char *text, ...)
{
    va_list args;
    va_start(args, text);
    write_error(err, status, "", 0, text, args);
    va_end(args);
    return status;
}

kr_status kr_fail_call(kr_error *err, kr_status status, const char *call, int code, const char *text, ...)
{
    va_list args;
    va_start(args, text);
    write_error(err, status, call, code, text, args);
    va_end(args);
    return status;
}

uint64_t kr_host_identity(void)
{
    static _Atomic uint64_t last;
    return atomic_fetch_add(&last, 1) + 1;
}

void *kr_host_calloc(uint64_t n, uint64_t each, const char *what, kr_error *err)
{
    void *memory = NULL;
    if (each == 0 || n <= (SIZE_MAX / 2) / each)
        memory = calloc(n && each ? (size_t)(n * each) : 1, 1);
    if (!memory)
        kr_fail(err, KR_ERR_HOST_MEMORY, "no host memory for %s: %llu elements of %llu bytes", what,
                (unsigned long long)n, (unsigned long long)each);
    return memory;
}

kr_status kr_progress_check(const kr_progress *progress, const char *what, kr_error *err)
{
    if (progress && (progress->reserved[0] || progress->reserved[1]))
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: the reserved words must be 0; zero the struct first", what);
    return KR_OK;
}

kr_status kr_progress_report(const kr_progress *progress, const char *phase, double fraction, kr_error *err)
{
    if (progress && progress->call && progress->call(progress->ctx, phase, fraction))
        return kr_fail(err, KR_ERR_CANCELLED, "%s was cancelled", phase);
    return KR_OK;
}

const char *kr_status_name(kr_status status)
{
    switch (status) {
    case KR_OK: return "KR_OK";
    case KR_ERR_ARGUMENT: return "KR_ERR_ARGUMENT";
    case KR_ERR_TYPE: return "KR_ERR_TYPE";
    case KR_ERR_SPEC: return "KR_ERR_SPEC";
    case KR_ERR_LIMIT: return "KR_ERR_LIMIT";
    case KR_ERR_UNSUPPORTED: return "KR_ERR_UNSUPPORTED";
    case KR_ERR_NO_DEVICE: return "KR_ERR_NO_DEVICE";
    case KR_ERR_HOST_MEMORY: return "KR_ERR_HOST_MEMORY";
    case KR_ERR_DEVICE_MEMORY: return "KR_ERR_DEVICE_MEMORY";
    case KR_ERR_DEVICE: return "KR_ERR_DEVICE";
    case KR_ERR_DEVICE_LOST: return "KR_ERR_DEVICE_LOST";
    case KR_ERR_IO: return "KR_ERR_IO";
    case KR_ERR_FORMAT: return "KR_ERR_FORMAT";
    case KR_ERR_INVARIANT: return "KR_ERR_INVARIANT";
    case KR_ERR_CANCELLED: return "KR_ERR_CANCELLED";
    case KR_ERR_INTERNAL: return "KR_ERR_INTERNAL";
    }
    return "unknown status";
}
