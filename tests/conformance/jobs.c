/* N processes side by side, each with every N-th spec. */
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void add(int from, kr_totals *sum)
{
    kr_totals one = {0};
    if (read(from, &one, sizeof one) != (ssize_t)sizeof one) {
        printf("FAILED: a process of the suite ended before its time\n");
        one.failed = 1;
    }
    sum->passed += one.passed;
    sum->failed += one.failed;
    sum->skipped += one.skipped;
}

static int fail(const char *what)
{
    perror(what);
    exit(1);
}

int kr_divide(uint32_t jobs, uint32_t *share, kr_totals *sum)
{
    int from[KR_MAX_JOBS];
    setvbuf(stdout, NULL, _IOLBF, 1 << 12); /* lines of several processes must not mix */
    for (uint32_t i = 0; i < jobs; ++i) {
        int ends[2];
        const int piped = pipe(ends);
        const pid_t child = piped ? -1 : fork();
        if (child < 0)
            fail("conformance: cannot start a process");
        if (child == 0) {
            close(ends[0]);
            *share = i;
            return ends[1];
        }
        close(ends[1]);
        from[i] = ends[0];
    }
    for (uint32_t i = 0; i < jobs; ++i)
        add(from[i], sum);
    while (wait(NULL) > 0) {
    }
    return -1;
}

void kr_hand_over(int to, const kr_totals *totals)
{
    if (write(to, totals, sizeof *totals) != (ssize_t)sizeof *totals)
        fail("conformance: cannot hand over the totals");
}
