/* CRC-32C (Castagnoli), as RFC 3720 and the instructions of x86 and Arm have it. */
#ifndef KEYRAY_BASE_IMAGE_CRC32C_H
#define KEYRAY_BASE_IMAGE_CRC32C_H

#include <stdint.h>

/* Of nbytes more, after those whose sum is `before`; 0: there were none. */
uint32_t kr_crc32c(uint32_t before, const void *data, uint64_t nbytes);
/* The same without special instructions, for machines without them and for tests. */
uint32_t kr_crc32c_plain(uint32_t before, const void *data, uint64_t nbytes);

#endif
