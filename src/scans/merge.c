#include "scans/merge.h"
#include "scans/merge_body.h"

kr_status kr_bitmap_or(kr_device *device, uint32_t *to, const uint32_t *from, uint64_t n_words,
                       kr_stream *stream, kr_error *err)
{
    const merge_params params = {to, from, n_words * 32};
    return kr_device_run(device, &scan_merge_or, &params, n_words, stream, err);
}

kr_status kr_bitmap_and(kr_device *device, uint32_t *to, const uint32_t *from, uint64_t n_words,
                        kr_stream *stream, kr_error *err)
{
    const merge_params params = {to, from, n_words * 32};
    return kr_device_run(device, &scan_merge_and, &params, n_words, stream, err);
}

kr_status kr_bitmap_clear(kr_device *device, uint32_t *to, const uint32_t *from, uint64_t n_words,
                          kr_stream *stream, kr_error *err)
{
    const merge_params params = {to, from, n_words * 32};
    return kr_device_run_whole(device, &scan_merge_clear, &params, n_words, stream, err);
}

kr_status kr_bitmap_begin(kr_device *device, uint32_t *to, const uint32_t *alive, uint64_t n,
                          kr_stream *stream, kr_error *err)
{
    const merge_params params = {to, alive, n};
    return kr_device_run(device, &scan_merge_begin, &params, (n + 31) / 32, stream, err);
}
