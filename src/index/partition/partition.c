#include "index/partition/partition.h"
#include "index/partition/partition_body.h"

void kr_partition_back(kr_work *w, const kr_partition *partition, const void *answers, uint32_t nbytes,
                       void *out)
{
    const kr_program *program = nbytes == 1   ? &partition_back_8
                                : nbytes == 2 ? &partition_back_16
                                : nbytes == 4 ? &partition_back_32
                                : nbytes == 8 ? &partition_back_64
                                              : &partition_back_128;
    const uint32_t element = nbytes < sizeof(uint64_t) ? nbytes : (uint32_t)sizeof(uint64_t);
    const uint32_t tile = partition->tile, bits = partition->view.bits;
    const back_params params = {.marks = partition->marks,
                                .bases = partition->bases,
                                .answers = answers,
                                .out = out,
                                .blocks = {tile * element + (sizeof(uint32_t) << bits), 0},
                                .n = partition->n,
                                .tile = tile,
                                .bits = bits};
    kr_work_run(w, program, &params, (partition->n + tile - 1) / tile);
}
