/* Copies host memory with a few threads: one core cannot keep a bus busy. */
#ifndef KEYRAY_BASE_UTIL_COPY_H
#define KEYRAY_BASE_UTIL_COPY_H

#include <stdint.h>

void kr_host_copy(void *to, const void *from, uint64_t nbytes);

#endif
