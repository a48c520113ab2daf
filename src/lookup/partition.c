#include "lookup/partition.h"
#include "lookup/partition_back.h"

void kr_partition_release(kr_device *device, kr_partition *partition, kr_stream *stream)
{
    kr_buffer_release(device, &partition->work, stream);
    kr_buffer_release(device, &partition->order, stream);
    kr_buffer_release(device, &partition->places, stream);
    kr_buffer_release(device, &partition->codes, stream);
}

kr_status kr_partition_back(kr_device *device, const kr_partition *partition, const void *answers,
                            uint32_t nbytes, void *out, kr_stream *stream, kr_error *err)
{
    const kr_program *program = nbytes == 1   ? &partition_back_8
                                : nbytes == 2 ? &partition_back_16
                                : nbytes == 4 ? &partition_back_32
                                              : &partition_back_64;
    const back_params params = {partition->places.data, answers, out, {0, 0}, partition->n};
    return kr_device_run(device, program, &params, (partition->n + BACK_TILE - 1) / BACK_TILE, stream, err);
}
