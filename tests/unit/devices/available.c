/* Available memory, read from made-up system files. */
#include "base/devices/cpu/available.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GIB = 1 << 30 };

static char root[64];

static void put(const char *path, const char *text)
{
    char command[512], whole[256];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    snprintf(command, sizeof command, "mkdir -p \"$(dirname %s)\"", whole);
    assert_int_equal(system(command), 0);
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_root(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/keyray-available-XXXXXX");
    return mkdtemp(root) ? 0 : 1;
}

static int remove_root(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

static void without_files(void **state)
{
    (void)state;
    assert_int_equal(kr_cpu_available_nbytes(root), 0);
}

static void of_the_machine(void **state)
{
    (void)state;
    put("/proc/meminfo", "MemTotal: 9437184 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\n");
    assert_int_equal(kr_cpu_available_nbytes(root), (uint64_t)8 * GIB);
}

/* The strictest group above counts, without cached files. */
static void of_groups_version_2(void **state)
{
    of_the_machine(state);
    put("/proc/self/cgroup", "0::/outer/inner\n");
    put("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
    put("/sys/fs/cgroup/outer/inner/memory.current", "1\n");
    assert_int_equal(kr_cpu_available_nbytes(root), (uint64_t)8 * GIB);
    put("/sys/fs/cgroup/outer/memory.max", "4294967296\n");
    put("/sys/fs/cgroup/outer/memory.current", "3221225472\n");
    put("/sys/fs/cgroup/outer/memory.stat", "anon 5\ninactive_file 1073741824\n");
    assert_int_equal(kr_cpu_available_nbytes(root), (uint64_t)2 * GIB);
    put("/sys/fs/cgroup/memory.max", "1073741824\n"); /* a container's own root */
    put("/sys/fs/cgroup/memory.current", "0\n");
    assert_int_equal(kr_cpu_available_nbytes(root), (uint64_t)GIB);
    put("/sys/fs/cgroup/memory.current", "2073741824\n"); /* over its limit: nothing is left */
    assert_int_equal(kr_cpu_available_nbytes(root), 1);
}

static void of_groups_version_1(void **state)
{
    of_the_machine(state);
    put("/proc/self/cgroup", "12:cpu,cpuacct:/a\n7:memory:/docker\n1:name=systemd:/x\n0::/x\n");
    put("/sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "3221225472\n");
    put("/sys/fs/cgroup/memory/docker/memory.usage_in_bytes", "2147483648\n");
    put("/sys/fs/cgroup/memory/docker/memory.stat", "cache 7\ntotal_inactive_file 1073741824\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "8589934592\n");
    assert_int_equal(kr_cpu_available_nbytes(root), (uint64_t)2 * GIB);
}

static void of_this_machine(void **state)
{
    (void)state;
    assert_true(kr_cpu_available_nbytes("") > 1 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_files, make_root, remove_root),
        cmocka_unit_test_setup_teardown(of_the_machine, make_root, remove_root),
        cmocka_unit_test_setup_teardown(of_groups_version_2, make_root, remove_root),
        cmocka_unit_test_setup_teardown(of_groups_version_1, make_root, remove_root),
        cmocka_unit_test(of_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
