#include "results/counts.h"
#include "results/counts_body.h"

kr_status kr_counts_of(kr_device *device, const kr_match *matches, uint64_t n, uint64_t *out,
                       kr_stream *stream, kr_error *err)
{
    const counts_params params = {matches, out};
    return kr_device_run(device, &counts_of_matches, &params, n, stream, err);
}

kr_status kr_counts_flag(kr_device *device, const kr_match *matches, uint64_t n, uint8_t *flags,
                         kr_stream *stream, kr_error *err)
{
    const counts_params params = {matches, flags};
    return kr_device_run(device, &counts_flag_matches, &params, n, stream, err);
}
