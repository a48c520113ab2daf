#include "lookup/partition.h"
#include "lookup/partition_body.h"

void kr_partition_release(kr_device *device, kr_partition *partition, kr_stream *stream)
{
    kr_buffer_release(device, &partition->work, stream);
    kr_buffer_release(device, &partition->order, stream);
    kr_buffer_release(device, &partition->bases, stream);
    kr_buffer_release(device, &partition->marks, stream);
    kr_buffer_release(device, &partition->codes, stream);
}

kr_status kr_partition_back(kr_device *device, const kr_partition *partition, const void *answers,
                            uint32_t nbytes, void *out, kr_stream *stream, kr_error *err)
{
    const kr_program *program = nbytes == 1   ? &partition_back_8
                                : nbytes == 2 ? &partition_back_16
                                : nbytes == 4 ? &partition_back_32
                                : nbytes == 8 ? &partition_back_64
                                              : &partition_back_128;
    const uint32_t element = nbytes < sizeof(uint64_t) ? nbytes : (uint32_t)sizeof(uint64_t);
    const uint32_t tile = partition->tile, bits = partition->view.bits;
    const back_params params = {.marks = partition->marks.data,
                                .bases = partition->bases.data,
                                .answers = answers,
                                .out = out,
                                .blocks = {tile * element + (sizeof(uint32_t) << bits), 0},
                                .n = partition->n,
                                .tile = tile,
                                .bits = bits};
    return kr_device_run(device, program, &params, (partition->n + tile - 1) / tile, stream, err);
}
