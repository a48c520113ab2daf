/* A forked child opens a device of its own and works on several threads, whatever its parent did before. */
#include "many_threads.h"

#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 60 };

/* Exit status 0: the child did its work. A child that hangs is ended by its alarm. */
static int child_status(void)
{
    int status = -1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        failures = 0;
        use_many_threads("array");
        use_many_threads("pivot");
        fflush(stdout);
        _exit(failures != 0);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    CHECK(child_status() == 0);
    use_many_threads("array");
    CHECK(child_status() == 0); /* the parent's threads are not the child's */
    use_many_threads("array");
    CHECK(child_status() == 0);
    return failures != 0;
}
