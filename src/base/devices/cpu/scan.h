/* The parallel prefix sum. */
#ifndef KEYRAY_BASE_DEVICES_CPU_SCAN_H
#define KEYRAY_BASE_DEVICES_CPU_SCAN_H

#include <stdint.h>

uint64_t kr_cpu_scan_temp(uint64_t n);
/* values[i] := sum of the values before i. */
void kr_cpu_exclusive_sum(uint32_t threads, uint64_t *values, uint64_t n, void *temp);

#endif
