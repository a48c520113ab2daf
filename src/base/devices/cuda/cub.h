/* The part of the back end that is C++, behind C functions that return a cudaError_t and work on the current
 * GPU. As in CUB itself, temp NULL writes the size of the scratch memory to *temp_nbytes and does nothing
 * else. */
#ifndef KEYRAY_BASE_DEVICES_CUDA_CUB_H
#define KEYRAY_BASE_DEVICES_CUDA_CUB_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

int kr_cub_sort_u32(void *temp, size_t *temp_nbytes, const uint32_t *keys_in, uint32_t *keys_out,
                    const uint32_t *rows_in, uint32_t *rows_out, uint64_t n, int first_bit, int end_bit,
                    cudaStream_t stream);
int kr_cub_sort_u64(void *temp, size_t *temp_nbytes, const uint64_t *keys_in, uint64_t *keys_out,
                    const uint32_t *rows_in, uint32_t *rows_out, uint64_t n, int first_bit, int end_bit,
                    cudaStream_t stream);
int kr_cub_exclusive_sum(void *temp, size_t *temp_nbytes, uint64_t *values, uint64_t n, cudaStream_t stream);

/* rows[i] := i */
int kr_cub_count_up(uint32_t *rows, uint64_t n, cudaStream_t stream);

/* Fails where the library holds no code that the current GPU runs. */
int kr_cub_probe(void);

#ifdef __cplusplus
}
#endif
#endif
