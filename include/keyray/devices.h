/** keyray: devices, streams and device memory. Include <keyray/keyray.h>. */
#ifndef KEYRAY_DEVICES_H
#define KEYRAY_DEVICES_H

#include <keyray/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Input: how a device is opened. */
typedef struct kr_device_options {
    size_t struct_size; /**< sizeof(kr_device_options) */
    uint32_t threads;   /**< "cpu": threads a call may use; 0: one for each core */
    uint32_t reserved;  /**< 0 */

    /**
     * The most bytes of device memory in use at once through this device: indexes, joins' results, scratch
     * memory. UINT64_MAX: no cap. 0: on "cpu" what the machine and the process's control groups have
     * available when the device opens, unless `allocate` is set; on a GPU no cap. The GPU's memory pool may
     * keep released bytes until the device closes; they do not count.
     */
    uint64_t memory_cap_nbytes;

    /**
     * The caller's allocator for device memory (host memory on "cpu"), e.g. a pool; set both functions or
     * neither. Must be callable from any thread and align memory to 256 bytes. `native_stream` is the
     * cudaStream_t in whose order the memory is used, NULL on "cpu". Returns NULL when there is no memory.
     */
    void *(*allocate)(void *ctx, size_t nbytes, void *native_stream);
    void (*release)(void *ctx, void *memory, size_t nbytes, void *native_stream);
    void *allocator_ctx;
    kr_progress progress; /**< called by the long calls on this device */
} kr_device_options;

/** Output: what a device is, and the memory that is in use there. */
typedef struct kr_device_info {
    size_t struct_size;         /**< sizeof(kr_device_info), set by the caller */
    char name[16];              /**< the name to open it by: "cpu", "cuda:0" */
    char description[96];       /**< "NVIDIA H200", "AMD EPYC ..." */
    char software[96];          /**< driver and runtime, or the threads of the CPU */
    char tracer[64];            /**< what casts rays here, or "none: " and the reason */
    uint64_t memory_nbytes;     /**< of the whole device */
    uint64_t in_use_nbytes;     /**< held by keyray through this kr_device; 0 from kr_device_describe */
    uint64_t peak_nbytes;       /**< the most ever held through this kr_device; 0 from kr_device_describe */
    uint32_t units;             /**< multiprocessors, or threads */
    int32_t rt_cores;           /**< 1: hardware ray tracing, 0: none, -1: not known */
    uint64_t memory_cap_nbytes; /**< that this kr_device keeps to; 0: none, and from kr_device_describe */
} kr_device_info;

/**
 * Opens a device: "cpu", "cuda" (the first GPU), "cuda:1", or "auto" (a GPU if there is one, else the CPU). A
 * name other than "auto" never opens another device.
 *
 * Cost:    "cuda" creates the driver's context on its first use in the process.
 * Errors:  KR_ERR_NO_DEVICE, KR_ERR_ARGUMENT, KR_ERR_HOST_MEMORY, KR_ERR_DEVICE.
 *
 * @param options  NULL: defaults
 */
KR_API kr_status kr_device_open(const char *name, const kr_device_options *options, kr_device **device,
                                kr_error *err);
/** Closes the device. Destroy every index, table, join and stream of it first. */
KR_API void kr_device_close(kr_device *device);
/** Describes an open device. Never blocks; may be called while lookups run. */
KR_API kr_status kr_device_query(kr_device *device, kr_device_info *info, kr_error *err);

/** How many devices this machine has; at least 1, the CPU. Creates no CUDA context. */
KR_API uint32_t kr_device_count(void);

/**
 * Describes device `ordinal` of this machine (0 is the CPU, GPUs follow) without creating a CUDA context.
 *
 * Errors:  KR_ERR_NO_DEVICE past the last device; where there is no GPU, the error text says why.
 */
KR_API kr_status kr_device_describe(uint32_t ordinal, kr_device_info *info, kr_error *err);

/** Waits for the stream (NULL: the device's own); errors of enqueued work are reported here. */
KR_API kr_status kr_device_sync(kr_device *device, kr_stream *stream, kr_error *err);

/** Makes a stream of the device. On the CPU every call is done when it returns; streams are placeholders. */
KR_API kr_status kr_stream_create(kr_device *device, kr_stream **stream, kr_error *err);

/** Releases a stream; waits for its work, unless it wraps a stream of the caller (keyray_cuda.h). */
KR_API void kr_stream_destroy(kr_stream *stream);

/**
 * Takes memory of the device, counted against its cap and in its peak. On "cpu" it is host memory.
 *
 * Stream:  usable in the order of `stream`.
 * Errors:  KR_ERR_DEVICE_MEMORY; the text names the bytes needed, in use and allowed.
 */
KR_API kr_status kr_memory_allocate(kr_device *device, uint64_t nbytes, kr_stream *stream, void **memory,
                                    kr_error *err);
/** Releases in the order of `stream`. `nbytes` as in kr_memory_allocate. */
KR_API void kr_memory_release(kr_device *device, void *memory, uint64_t nbytes, kr_stream *stream);

/**
 * Pins host memory of the caller: then lookups, builds and joins copy from it and to it with no buffer in
 * between, at the rate of the bus. Memory that CUDA's own calls have pinned needs no call. Does nothing on
 * "cpu". Pin once and use often: it takes about as long as writing the memory.
 *
 * Errors:  KR_ERR_HOST_MEMORY if the system pins no more; KR_ERR_ARGUMENT for device memory.
 */
KR_API kr_status kr_memory_pin(kr_device *device, void *memory, uint64_t nbytes, kr_error *err);

/**
 * Ends what kr_memory_pin began, and nothing else. Call it after all uses of the memory, before it is freed.
 */
KR_API void kr_memory_unpin(kr_device *device, void *memory);
/** Copies in any direction; blocks when either side is host memory. The two must not overlap. */
KR_API kr_status kr_memory_copy(kr_device *device, void *to, const void *from, uint64_t nbytes,
                                kr_stream *stream, kr_error *err);

#ifdef __cplusplus
}
#endif
#endif
