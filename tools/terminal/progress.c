#include "progress.h"

#include "clock.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CLEAR "\r\033[K"

static volatile sig_atomic_t writing_files, signal_seen;
static volatile sig_atomic_t visible;
static double started, drawn;

static void on_signal(int number)
{
    if (writing_files) {
        /* Only the way out removes unfinished files, so whatever comes after the first signal must not cut it
         * short: timeout(1) and shells that end send two. */
        if (!signal_seen)
            signal_seen = number;
        return;
    }
    if (visible && write(STDERR_FILENO, CLEAR, sizeof CLEAR - 1) < 0)
        visible = 0; /* nothing more can be done here */
    signal(number, SIG_DFL);
    raise(number);
}

void progress_start(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action, inherited;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    /* Signals that were ignored at the start (nohup, a background job of a script) stay ignored. */
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
        if (sigaction(numbers[i], NULL, &inherited) == 0 && inherited.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* the write fails and says so */
    started = tool_now();
}

void progress_writing(int writing)
{
    writing_files = writing;
}

int progress_interrupted(void)
{
    return signal_seen;
}

static int watch(void *quiet, const char *phase, double fraction)
{
    const double now = tool_now();
    if (!quiet && now - started >= 1 && now - drawn >= 0.1 && isatty(STDERR_FILENO)) {
        visible = 1; /* before it is drawn: a signal may come in between */
        fprintf(stderr, "\r%s %3.0f%%\033[K", phase, fraction * 100);
        drawn = now;
    }
    return signal_seen != 0;
}

const kr_progress *progress_callback(uint32_t quiet)
{
    static kr_progress progress;
    progress.call = watch;
    progress.ctx = quiet ? &progress : NULL;
    return &progress;
}

void progress_clear(void)
{
    if (visible)
        fputs(CLEAR, stderr);
    visible = 0;
}
