/* Checks a sort and hands it to the code of its key width. */
#include "base/devices/cpu/sort.h"

#include "base/devices/cpu/cpu.h"

/* Below this many pairs, waking a team and waiting at its barriers costs more than it saves. */
enum { ONE_THREAD_BELOW = 1 << 17 };

static uint32_t threads_for(kr_device *device, const kr_sort *sort)
{
    return sort->n < ONE_THREAD_BELOW ? 1 : kr_cpu_threads(device);
}

uint64_t kr_cpu_sort_temp(kr_device *device, const kr_sort *sort)
{
    const uint32_t threads = threads_for(device, sort), bits = sort->end_bit - sort->first_bit;
    return sort->key_bits == 32 ? kr_cpu_sort_temp_u32(threads, sort->n, bits)
                                : kr_cpu_sort_temp_u64(threads, sort->n, bits);
}

kr_status kr_cpu_sort_pairs(kr_device *device, const kr_sort *sort, void *temp, uint64_t temp_nbytes,
                            void *stream, kr_error *err)
{
    const uint32_t threads = threads_for(device, sort);
    const uint64_t needed = kr_cpu_sort_temp(device, sort);
    (void)stream;
    if ((sort->key_bits != 32 && sort->key_bits != 64) || sort->end_bit > sort->key_bits ||
        sort->first_bit > sort->end_bit)
        return kr_fail(err, KR_ERR_INTERNAL, "sort: no bits %u to %u in keys of %u bits", sort->first_bit,
                       sort->end_bit, sort->key_bits);
    if (temp_nbytes < needed)
        return kr_fail(err, KR_ERR_INTERNAL, "sort: %llu bytes of scratch memory given, %llu needed",
                       (unsigned long long)temp_nbytes, (unsigned long long)needed);
    return (sort->key_bits == 32 ? kr_cpu_sort_u32 : kr_cpu_sort_u64)(threads, &device->options.progress,
                                                                      sort, temp, err);
}
