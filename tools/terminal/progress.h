/* The progress line, Ctrl-C and other signals that end a program. */
#ifndef KEYRAY_TERMINAL_PROGRESS_H
#define KEYRAY_TERMINAL_PROGRESS_H

#include <keyray/keyray.h>

/* Takes over SIGINT, SIGTERM, SIGHUP and SIGQUIT. Outside of progress_writing() they end the process at once,
 * since there is nothing to clean up; inside the first one makes the callback ask the library to stop, and
 * more are ignored. */
void progress_start(void);

/* Between (1) and (0) there may be temporary or unfinished files. */
void progress_writing(int writing);

/* The signal that came while files were written, or 0. */
int progress_interrupted(void);

/* The callback to give to the library. Draws only on a terminal, after a second, and not with `quiet`. */
const kr_progress *progress_callback(uint32_t quiet);

/* Erases the line, before anything else is printed. */
void progress_clear(void);

#endif
