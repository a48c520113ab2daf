/* The parallel radix sort of (key, row) pairs; see README.md. */
#ifndef KEYRAY_BASE_DEVICES_CPU_SORT_H
#define KEYRAY_BASE_DEVICES_CPU_SORT_H

#include "base/devices/device.h"

/* sort_width.c, once per width. `temp` needs no alignment. */
uint64_t kr_cpu_sort_temp_u32(uint32_t threads, uint64_t n, uint32_t bits);
uint64_t kr_cpu_sort_temp_u64(uint32_t threads, uint64_t n, uint32_t bits);
kr_status kr_cpu_sort_u32(uint32_t threads, const kr_progress *progress, const kr_sort *sort, void *temp,
                          kr_error *err);
kr_status kr_cpu_sort_u64(uint32_t threads, const kr_progress *progress, const kr_sort *sort, void *temp,
                          kr_error *err);

#endif
