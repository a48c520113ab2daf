/* Sort and prefix sum: how the scratch memory is laid out; cub.cu does the work. */
#include "base/devices/cuda/cub.h"
#include "base/devices/cuda/cuda_device.h"

/* Scratch memory of a sort: the row ids 0, 1, 2, ... if they are not given, then CUB's. */
static uint64_t count_up_nbytes(const kr_sort *sort)
{
    return sort->rows_in ? 0 : (sort->n * sizeof(uint32_t) + 255) / 256 * 256;
}

static int call_sort(const kr_sort *sort, const uint32_t *rows, void *temp, size_t *nbytes, void *stream)
{
    const int first = (int)sort->first_bit, end = (int)sort->end_bit;
    return sort->key_bits == 32 ? kr_cub_sort_u32(temp, nbytes, sort->keys_in, sort->keys_out, rows,
                                                  sort->rows_out, sort->n, first, end, stream)
                                : kr_cub_sort_u64(temp, nbytes, sort->keys_in, sort->keys_out, rows,
                                                  sort->rows_out, sort->n, first, end, stream);
}

/* CUB fails here only where no kernel of it can run; the sort itself then reports that. */
uint64_t kr_cuda_sort_temp_nbytes(kr_device *device, const kr_sort *sort)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    size_t nbytes = 0;
    KR_CUDA(&calls, call_sort(sort, sort->rows_in, NULL, &nbytes, NULL));
    (void)kr_cuda_leave(&calls, NULL, "sizing a sort");
    return count_up_nbytes(sort) + (nbytes ? nbytes : 1);
}

kr_status kr_cuda_sort_pairs(kr_device *device, const kr_sort *sort, void *temp, uint64_t temp_nbytes,
                             void *stream, kr_error *err)
{
    const uint64_t used = count_up_nbytes(sort);
    const uint32_t *rows = sort->rows_in;
    kr_cuda_calls calls;
    size_t left;
    if (sort->n == 0)
        return KR_OK;
    if (temp_nbytes <= used)
        return kr_fail(err, KR_ERR_INTERNAL, "%llu bytes of scratch memory are too few to sort %llu pairs",
                       (unsigned long long)temp_nbytes, (unsigned long long)sort->n);
    left = temp_nbytes - used;
    calls = kr_cuda_enter_device(device);
    if (!rows) {
        rows = temp;
        KR_CUDA(&calls, kr_cub_count_up(temp, sort->n, stream));
    }
    KR_CUDA(&calls, call_sort(sort, rows, (char *)temp + used, &left, stream));
    if (calls.code != cudaSuccess)
        calls.call = "cub::DeviceRadixSort";
    return kr_cuda_leave(&calls, err, "sorting %llu pairs", (unsigned long long)sort->n);
}

uint64_t kr_cuda_scan_temp_nbytes(kr_device *device, uint64_t n)
{
    kr_cuda_calls calls = kr_cuda_enter_device(device);
    size_t nbytes = 0;
    KR_CUDA(&calls, kr_cub_exclusive_sum(NULL, &nbytes, NULL, n, NULL));
    (void)kr_cuda_leave(&calls, NULL, "sizing a prefix sum");
    return nbytes ? nbytes : 1;
}

kr_status kr_cuda_exclusive_sum(kr_device *device, uint64_t *values, uint64_t n, void *temp,
                                uint64_t temp_nbytes, void *stream, kr_error *err)
{
    kr_cuda_calls calls;
    size_t nbytes = temp_nbytes;
    if (n == 0)
        return KR_OK;
    if (!temp)
        return kr_fail(err, KR_ERR_INTERNAL, "a prefix sum of %llu values got no scratch memory",
                       (unsigned long long)n);
    calls = kr_cuda_enter_device(device);
    KR_CUDA(&calls, kr_cub_exclusive_sum(temp, &nbytes, values, n, stream));
    if (calls.code != cudaSuccess)
        calls.call = "cub::DeviceScan";
    return kr_cuda_leave(&calls, err, "summing %llu values", (unsigned long long)n);
}
