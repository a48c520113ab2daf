/* The sub-commands: one file each, listed in main.c, which also has that of tools/bench. */
#ifndef KEYRAY_COMMANDS_H
#define KEYRAY_COMMANDS_H

#include "tools/terminal/options.h"

extern const command command_info, command_kinds, command_explain, command_gen, command_lookup, command_range,
    command_update, command_join, command_scan, command_index, command_report, command_advise;

#endif
