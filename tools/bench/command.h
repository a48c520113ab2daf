/* `keyray bench`: all that the command needs of this folder but workload.h. */
#ifndef KEYRAY_TOOLS_BENCH_COMMAND_H
#define KEYRAY_TOOLS_BENCH_COMMAND_H

#include "tools/terminal/options.h"

extern const command command_bench;

#endif
