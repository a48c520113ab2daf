/* Seconds on a clock that only runs forward. */
#ifndef KEYRAY_TERMINAL_CLOCK_H
#define KEYRAY_TERMINAL_CLOCK_H

double tool_now(void);

#endif
