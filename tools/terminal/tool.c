#include "tool.h"

#include "progress.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *name = "", *examples = "", *operand = "";

void tool_set_command(const char *command, const char *its_examples, const char *its_operand)
{
    name = command;
    examples = its_examples;
    operand = its_operand;
}

/* How many of the flags that the error names the example has. */
static int count_flags(const char *example, size_t nbytes, const char *error)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";
    int n = 0;
    for (const char *flag = error; (flag = strstr(flag, "--")); flag += strspn(flag, letters)) {
        const size_t length = strspn(flag, letters);
        for (const char *at = example; at + length <= example + nbytes; ++at)
            if (memcmp(at, flag, length) == 0 && !strchr(letters, at[length])) {
                ++n;
                break;
            }
    }
    return n;
}

static void print_example(const char *error)
{
    char begin[64];
    const char *best = NULL;
    int most = -1;
    snprintf(begin, sizeof begin, "keyray %s %s ", name, operand);
    const char *only = strstr(examples, begin) ? begin : "";
    for (const char *line = examples; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const int n = count_flags(line, strcspn(line, "\n"), error);
        if (n > most && strncmp(line, only, strlen(only)) == 0) {
            most = n;
            best = line;
        }
    }
    if (best)
        fprintf(stderr, "Example: %.*s\n", (int)strcspn(best, "\n"), best);
}

static int fail(int code, int with_example, const char *text, va_list arguments)
{
    char line[8192];
    progress_clear();
    vsnprintf(line, sizeof line, text, arguments);
    for (char *at = line; *at; ++at) /* one line, whatever an argument held */
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    fprintf(stderr, "keyray%s%s: %s\n", *name ? " " : "", name, line);
    if (with_example)
        print_example(line);
    return code;
}

int tool_fail(int code, const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    fail(code, code != INTERRUPTED, text, arguments);
    va_end(arguments);
    return code;
}

int tool_fail_machine(const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    fail(FAILED, 0, text, arguments);
    va_end(arguments);
    return FAILED;
}

int tool_fail_print(int error)
{
    /* A reader that ended early, as in `keyray kinds | head -1`: end as a program does that SIGPIPE stops. */
    struct pollfd out = {.fd = STDOUT_FILENO};
    if (poll(&out, 1, 0) == 1 && out.revents & POLLERR) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    return tool_fail_machine("cannot write to standard output: %s", strerror(error));
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
    case KR_ERR_DEVICE_MEMORY:
        renamed = *err;
        tool_rename(&renamed, "memory_cap_nbytes", "--memory-cap");
        return tool_fail_machine("%s", renamed.text);
    case KR_ERR_HOST_MEMORY:
    case KR_ERR_DEVICE:
    case KR_ERR_DEVICE_LOST: return tool_fail_machine("%s", err->text);
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

int tool_check_folder(const char *option, const char *path)
{
    char folder[PATH_MAX];
    struct stat found;
    if (!path || stat(path, &found) == 0)
        return DONE;
    const char *slash = strrchr(path, '/');
    const int nbytes = !slash ? 0 : slash == path ? 1 : (int)(slash - path);
    snprintf(folder, sizeof folder, "%.*s", nbytes ? nbytes : 1, nbytes ? path : ".");
    errno = 0;
    if (stat(folder, &found) == 0 && S_ISDIR(found.st_mode))
        return DONE;
    return tool_fail_machine(errno == ENOENT ? "%s %s: there is no folder %s; make it, or give another name"
                                             : "%s %s: %s is no folder that can be read; give another name",
                             option, path, folder);
}

void *tool_alloc(uint64_t n, uint64_t each, const char *what)
{
    uint64_t nbytes = 0;
    void *memory = NULL;
    if (!__builtin_mul_overflow(n, each, &nbytes) && nbytes <= SIZE_MAX / 2)
        memory = malloc(nbytes ? (size_t)nbytes : 1);
    if (!memory)
        tool_fail_machine("no host memory for %s: %llu elements of %llu bytes", what, (unsigned long long)n,
                          (unsigned long long)each);
    return memory;
}
