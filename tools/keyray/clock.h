/* Seconds on a clock that only runs forward. */
#ifndef KEYRAY_CLOCK_H
#define KEYRAY_CLOCK_H

double tool_now(void);

#endif
