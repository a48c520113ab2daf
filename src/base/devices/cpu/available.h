/* How much memory this process can have. */
#ifndef KEYRAY_BASE_DEVICES_CPU_AVAILABLE_H
#define KEYRAY_BASE_DEVICES_CPU_AVAILABLE_H

#include <stdint.h>

/* Bytes that the machine has available now without swapping, or what is left in the process's control groups
 * if that is less; 0 if the system does not tell. `root` goes before every path that is read: "" but in
 * tests. */
uint64_t kr_cpu_available_nbytes(const char *root);

#endif
