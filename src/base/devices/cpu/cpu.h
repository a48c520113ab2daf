/* Shared by the files of the CPU back end. */
#ifndef KEYRAY_BASE_DEVICES_CPU_CPU_H
#define KEYRAY_BASE_DEVICES_CPU_CPU_H

#include "base/devices/device.h"

/* Threads that a call on this device uses. */
uint32_t kr_cpu_threads(const kr_device *device);

/* Entries of the table. */
uint64_t kr_cpu_sort_temp(kr_device *device, const kr_sort *sort);
kr_status kr_cpu_sort_pairs(kr_device *device, const kr_sort *sort, void *temp, uint64_t temp_nbytes,
                            void *stream, kr_error *err);

#endif
