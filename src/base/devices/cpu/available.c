#include "base/devices/cpu/available.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PATH_NBYTES = 512, LINE_NBYTES = 256 };

/* The number behind `name` at the beginning of a line; name "": the first number of the file. Files that are
 * not there, and words in place of a number ("max"), are 0. */
static uint64_t read_number(const char *root, const char *path, const char *name)
{
    char whole[PATH_NBYTES], line[LINE_NBYTES];
    const size_t length = strlen(name);
    uint64_t number = 0;
    snprintf(whole, sizeof whole, "%s%s", root, path);
    FILE *file = fopen(whole, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, length) == 0 && sscanf(line + length, "%" SCNu64, &number) == 1)
            break;
    if (file)
        fclose(file);
    return number;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a && a < b ? a : b;
}

/* What is left of one group. Cached files can be dropped and are not counted as taken. */
static uint64_t left_in(const char *root, const char *group, const char *limit, const char *usage,
                        const char *cached)
{
    char path[PATH_NBYTES];
    snprintf(path, sizeof path, "%.480s/%s", group, limit);
    const uint64_t most = read_number(root, path, "");
    if (!most)
        return UINT64_MAX;
    snprintf(path, sizeof path, "%.480s/%s", group, usage);
    const uint64_t used = read_number(root, path, "");
    snprintf(path, sizeof path, "%.480s/memory.stat", group);
    const uint64_t droppable = read_number(root, path, cached);
    const uint64_t taken = used > droppable ? used - droppable : 0;
    return most > taken ? most - taken : 1;
}

/* The group and all above it, up to the folder where groups are mounted. */
static uint64_t left_above(const char *root, const char *mount, const char *group, const char *limit,
                           const char *usage, const char *cached)
{
    char path[PATH_NBYTES];
    uint64_t left = UINT64_MAX;
    snprintf(path, sizeof path, "%s%s", mount, strcmp(group, "/") ? group : "");
    for (;;) {
        left = lesser(left_in(root, path, limit, usage, cached), left);
        char *last = strrchr(path, '/');
        if (strlen(path) <= strlen(mount) || !last)
            return left;
        *last = '\0';
    }
}

/* Lines of /proc/self/cgroup: "0::/group" of version 2, "7:memory:/group" of version 1. */
static uint64_t left_in_groups(const char *root)
{
    char path[PATH_NBYTES], line[LINE_NBYTES];
    uint64_t left = UINT64_MAX;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        const char *names = strchr(line, ':');
        const char *group = names ? strchr(names + 1, ':') : NULL;
        if (!group)
            continue;
        if (strncmp(line, "0::", 3) == 0)
            left = lesser(left_above(root, "/sys/fs/cgroup", group + 1, "memory.max", "memory.current",
                                     "inactive_file"),
                          left);
        else if (strncmp(names, ":memory:", 8) == 0)
            left = lesser(left_above(root, "/sys/fs/cgroup/memory", group + 1, "memory.limit_in_bytes",
                                     "memory.usage_in_bytes", "total_inactive_file"),
                          left);
    }
    if (file)
        fclose(file);
    return left;
}

uint64_t kr_cpu_available_nbytes(const char *root)
{
    const uint64_t kib = read_number(root, "/proc/meminfo", "MemAvailable:");
    const uint64_t left = lesser(left_in_groups(root), kib ? kib * 1024 : UINT64_MAX);
    return left == UINT64_MAX ? 0 : left;
}
