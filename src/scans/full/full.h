/* Kind `full`: every row is read. */
#ifndef KEYRAY_SCANS_FULL_FULL_H
#define KEYRAY_SCANS_FULL_FULL_H

#include "scans/family.h"
#include "scans/full/full_params.h"

enum { FULL_OPTION_LOGIC, FULL_OPTION_ZONES, FULL_OPTIONS };
enum { FULL_LOGIC_AND, FULL_LOGIC_BRANCHING, FULL_LOGIC_AUTO };
enum { FULL_ZONES_OFF, FULL_ZONES_ON };

extern const kr_program full_select_u32, full_select_u64;

#endif
