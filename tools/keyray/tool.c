#include "tool.h"

#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *name = "";

void tool_set_name(const char *command)
{
    name = command;
}

int tool_fail(int code, const char *text, ...)
{
    char line[8192];
    va_list arguments;
    progress_clear();
    va_start(arguments, text);
    vsnprintf(line, sizeof line, text, arguments);
    va_end(arguments);
    for (char *at = line; *at; ++at) /* one line, whatever an argument held */
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    fprintf(stderr, "keyray%s%s: %s\n", *name ? " " : "", name, line);
    return code;
}

void tool_rename(kr_error *err, const char *field, const char *option)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_-";
    char text[sizeof err->text];
    const char *at = err->text, *found;
    size_t used = 0;
    while ((found = strstr(at, field)) && used < sizeof text) {
        const char *end = found + strlen(field);
        const int whole =
            (found == err->text || !strchr(letters, found[-1])) && (!*end || !strchr(letters, *end));
        used += (size_t)snprintf(text + used, sizeof text - used, "%.*s%s", (int)(found - at), at,
                                 whole ? option : field);
        at = end;
    }
    if (used < sizeof text)
        snprintf(text + used, sizeof text - used, "%s", at);
    memcpy(err->text, text, sizeof text);
}

int tool_check(kr_status status, const kr_error *err)
{
    kr_error renamed;
    switch (status) {
    case KR_OK: return DONE;
    case KR_ERR_CANCELLED: return tool_fail(INTERRUPTED, "interrupted; nothing was written");
    case KR_ERR_SPEC: return tool_fail(USAGE, "%s", err->text);
    case KR_ERR_TYPE:
        return tool_fail(FAILED, "%s; a type may follow a text column: FILE.csv:NAME:u32", err->text);
    case KR_ERR_DEVICE_MEMORY:
        renamed = *err;
        tool_rename(&renamed, "memory_cap_nbytes", "--memory-cap");
        return tool_fail(FAILED, "%s", renamed.text);
    case KR_ERR_NO_DEVICE: return tool_fail(FAILED, "%s; use --device cpu or auto", err->text);
    default: return tool_fail(FAILED, "%s", err->text[0] ? err->text : kr_status_name(status));
    }
}

int tool_check_spec(const char *spec)
{
    char complete[KR_SPEC_NBYTES];
    kr_error err = {0};
    return tool_check(kr_spec_complete(spec, complete, sizeof complete, &err), &err);
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
