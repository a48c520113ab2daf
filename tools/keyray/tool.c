#include "tool.h"

#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *name = "";

void tool_set_name(const char *command)
{
    name = command;
}

int tool_fail(int code, const char *text, ...)
{
    va_list arguments;
    progress_clear();
    fprintf(stderr, "keyray%s%s: ", *name ? " " : "", name);
    va_start(arguments, text);
    vfprintf(stderr, text, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return code;
}

int tool_check(kr_status status, const kr_error *err)
{
    switch (status) {
    case KR_OK: return DONE;
    case KR_ERR_CANCELLED: return tool_fail(INTERRUPTED, "interrupted; nothing was written");
    case KR_ERR_SPEC: return tool_fail(USAGE, "%s", err->text);
    case KR_ERR_TYPE:
        return tool_fail(FAILED, "%s; a type may follow a text column: FILE.csv:NAME:u32", err->text);
    default: return tool_fail(FAILED, "%s", err->text[0] ? err->text : kr_status_name(status));
    }
}

void *tool_alloc(uint64_t n, uint64_t each, const char *what)
{
    uint64_t nbytes = 0;
    void *memory = NULL;
    if (!__builtin_mul_overflow(n, each, &nbytes) && nbytes <= SIZE_MAX / 2)
        memory = malloc(nbytes ? (size_t)nbytes : 1);
    if (!memory)
        tool_fail(FAILED, "no host memory for %s: %llu elements of %llu bytes", what, (unsigned long long)n,
                  (unsigned long long)each);
    return memory;
}
