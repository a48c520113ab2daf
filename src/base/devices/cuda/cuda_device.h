/* What the files of the CUDA back end share. */
#ifndef KEYRAY_BASE_DEVICES_CUDA_CUDA_DEVICE_H
#define KEYRAY_BASE_DEVICES_CUDA_CUDA_DEVICE_H

#include "base/devices/cuda/cuda_check.h"
#include "base/devices/device.h"

#include <pthread.h>

/* Freeing pinned memory waits for the GPU, so there is a place for each block of many threads. */
enum { KR_CUDA_STAGED = 128 };

/* A pinned block of stage.c. */
typedef struct kr_cuda_staged {
    void *memory;
    uint64_t nbytes;
    int busy;
} kr_cuda_staged;

typedef struct kr_cuda_device {
    kr_device head;
    int number;
    cudaMemPool_t pool;  /* NULL: the GPU has no memory pools, cudaMalloc serves */
    kr_device_info info; /* as of opening */
    pthread_mutex_t stage_lock;
    kr_cuda_staged staged[KR_CUDA_STAGED];
} kr_cuda_device;

static inline kr_cuda_device *kr_cuda_device_of(kr_device *device)
{
    return (kr_cuda_device *)device;
}

static inline kr_cuda_calls kr_cuda_enter_device(kr_device *device)
{
    return kr_cuda_enter(kr_cuda_device_of(device)->number);
}

/* info.c */
kr_status kr_cuda_count(uint32_t *count, kr_error *err);
kr_status kr_cuda_describe(uint32_t number, kr_device_info *info, kr_error *err);

/* memory.c */
void *kr_cuda_allocate(kr_device *device, uint64_t nbytes, void *stream, kr_error *err);
void kr_cuda_release(kr_device *device, void *memory, uint64_t nbytes, void *stream);
uint64_t kr_cuda_available(kr_device *device);
/* 1: to give memory to a stream, the pool may make it wait for another one that still uses it. */
void kr_cuda_let_streams_wait(kr_cuda_device *cuda, kr_cuda_calls *calls, int may_wait);
kr_status kr_cuda_pin(kr_device *device, void *memory, uint64_t nbytes, kr_error *err);
void kr_cuda_unpin(kr_device *device, void *memory);
kr_place kr_cuda_place(kr_device *device, const void *pointer);
kr_status kr_cuda_copy(kr_device *device, void *to, const void *from, uint64_t nbytes, void *stream,
                       kr_error *err);
kr_status kr_cuda_fill(kr_device *device, void *to, int byte, uint64_t nbytes, void *stream, kr_error *err);

/* stage.c */
void *kr_cuda_stage(kr_device *device, uint64_t nbytes, kr_error *err);
void kr_cuda_unstage(kr_device *device, void *memory);
void kr_cuda_unstage_all(kr_device *device);

/* stream.c */
kr_status kr_cuda_stream_create(kr_device *device, void **stream, kr_error *err);
void kr_cuda_stream_destroy(kr_device *device, void *stream);
kr_status kr_cuda_stream_sync(kr_device *device, void *stream, kr_error *err);
kr_status kr_cuda_event_create(kr_device *device, void **event, kr_error *err);
void kr_cuda_event_destroy(kr_device *device, void *event);
kr_status kr_cuda_event_record(kr_device *device, void *event, void *stream, kr_error *err);
kr_status kr_cuda_event_wait(kr_device *device, void *event, void *stream, kr_error *err);
int kr_cuda_event_done(kr_device *device, void *event);
int kr_cuda_is_capturing(kr_device *device, void *stream);
kr_status kr_cuda_event_sync(kr_device *device, void *event, kr_error *err);
void *kr_cuda_stamp(kr_device *device, void *stream);
double kr_cuda_stamp_seconds(kr_device *device, void *from, void *to);
void kr_cuda_drain(kr_device *device);

/* recording.c. Held for reading while work is recorded, in whatever device of the process, and for writing
 * while a GPU is waited for: CUDA refuses that meanwhile, and what was recorded would be lost. */
extern pthread_rwlock_t kr_cuda_recordings;
kr_status kr_cuda_record_begin(kr_device *device, void *stream, kr_error *err);
kr_status kr_cuda_record_end(kr_device *device, void *stream, void **recording, kr_error *err);
kr_status kr_cuda_replay(kr_device *device, void *recording, void *stream, kr_error *err);
void kr_cuda_recording_destroy(kr_device *device, void *recording);

/* sort.c */
uint64_t kr_cuda_sort_temp_nbytes(kr_device *device, const kr_sort *sort);
kr_status kr_cuda_sort_pairs(kr_device *device, const kr_sort *sort, void *temp, uint64_t temp_nbytes,
                             void *stream, kr_error *err);
uint64_t kr_cuda_scan_temp_nbytes(kr_device *device, uint64_t n);
kr_status kr_cuda_exclusive_sum(kr_device *device, uint64_t *values, uint64_t n, void *temp,
                                uint64_t temp_nbytes, void *stream, kr_error *err);

/* cuda.c */
extern const kr_device_ops kr_cuda_ops;

#endif
