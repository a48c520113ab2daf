/* The instruction set that programs run in, chosen when a device is opened. */
#ifndef KEYRAY_BASE_DEVICES_CPU_ISA_H
#define KEYRAY_BASE_DEVICES_CPU_ISA_H

#include "base/program/program.h"
#include "base/util/error.h"

/* The largest set that this CPU has, or the one that the environment variable KEYRAY_ISA names. Fails if the
 * name is unknown or the CPU lacks the set. */
kr_status kr_cpu_isa(uint32_t *isa, kr_error *err);
/* As KEYRAY_ISA names it. */
const char *kr_cpu_isa_name(uint32_t isa);

#endif
