/* The CPU back end: memory is host memory, and every call is done when it returns. */
#include "base/devices/cpu/cpu.h"

#include "base/devices/cpu/available.h"
#include "base/devices/cpu/isa.h"
#include "base/devices/cpu/scan.h"
#include "base/program/block.h"
#include "base/util/pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef struct cpu_device {
    kr_device head;
    uint32_t threads;
    uint32_t isa;        /* KR_ISA_* */
    kr_device_info info; /* as of opening */
} cpu_device;

uint32_t kr_cpu_threads(const kr_device *device)
{
    return ((const cpu_device *)device)->threads;
}

/* ---- Memory -------------------------------------------------------------------------------- */

enum { ALIGNMENT = 256, HUGE_PAGE = 2 << 20, LARGE = 2 * HUGE_PAGE };

static uint64_t machine_nbytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page_nbytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_nbytes > 0 ? (uint64_t)pages * (uint64_t)page_nbytes : 0;
}

/* With 4 KiB pages, random probes of a large array miss the TLB at every step, so large blocks ask for huge
 * pages. Of the last page `more` is taken than was asked for if half of it is needed: small pages in its
 * place take longer to get. The system promises more memory than it has, and would kill the process later: so
 * no block is larger than the machine's memory. */
static void *allocate(kr_device *device, uint64_t nbytes, void *stream, kr_error *err)
{
    void *memory = NULL;
    const int large = nbytes >= LARGE;
    const uint64_t tail = nbytes % HUGE_PAGE, more = large && tail >= HUGE_PAGE / 2 ? HUGE_PAGE - tail : 0;
    const uint64_t most = large ? machine_nbytes() : 0; /* a system call, which small blocks do without */
    int code = ENOMEM;
    (void)device, (void)stream;
    if (!most || nbytes <= most)
        code = posix_memalign(&memory, large ? HUGE_PAGE : ALIGNMENT, (size_t)(nbytes + more));
    if (code) {
        kr_fail_call(err, KR_ERR_DEVICE_MEMORY, "posix_memalign", code, "the machine has %llu bytes in all",
                     (unsigned long long)machine_nbytes());
        return NULL;
    }
    if (large)
        madvise(memory, (size_t)(nbytes + more), MADV_HUGEPAGE);
    return memory;
}

static void release(kr_device *device, void *memory, uint64_t nbytes, void *stream)
{
    (void)device, (void)nbytes, (void)stream;
    free(memory);
}

static void *stage(kr_device *device, uint64_t nbytes, kr_error *err)
{
    return allocate(device, nbytes, NULL, err);
}

static void unstage(kr_device *device, void *memory)
{
    (void)device;
    free(memory);
}

static kr_place place(kr_device *device, const void *pointer)
{
    (void)device, (void)pointer;
    return KR_PLACE_HERE;
}

enum { COPY_GRAIN = 1 << 20 };

typedef struct transfer {
    char *to;
    const char *from;
    int byte;
} transfer;

static void copy_piece(void *ctx, uint32_t worker, uint64_t first, uint64_t end)
{
    const transfer *job = ctx;
    (void)worker;
    memcpy(job->to + first, job->from + first, (size_t)(end - first));
}

static void fill_piece(void *ctx, uint32_t worker, uint64_t first, uint64_t end)
{
    const transfer *job = ctx;
    (void)worker;
    memset(job->to + first, job->byte, (size_t)(end - first));
}

static kr_status copy(kr_device *device, void *to, const void *from, uint64_t nbytes, void *stream,
                      kr_error *err)
{
    transfer job = {.to = to, .from = from};
    (void)stream, (void)err;
    kr_pool_run(kr_cpu_threads(device), nbytes, COPY_GRAIN, copy_piece, &job);
    return KR_OK;
}

static kr_status fill(kr_device *device, void *to, int byte, uint64_t nbytes, void *stream, kr_error *err)
{
    transfer job = {.to = to, .byte = byte};
    (void)stream, (void)err;
    kr_pool_run(kr_cpu_threads(device), nbytes, COPY_GRAIN, fill_piece, &job);
    return KR_OK;
}

/* ---- Streams and events: nothing is ever outstanding ---------------------------------------- */

static kr_status make_nothing(kr_device *device, void **made, kr_error *err)
{
    (void)device, (void)err;
    *made = NULL;
    return KR_OK;
}

static void destroy_nothing(kr_device *device, void *made)
{
    (void)device, (void)made;
}

static kr_status within(kr_device *device, kr_status (*work)(void *ctx, kr_error *err), void *ctx,
                        kr_error *err)
{
    (void)device;
    return work(ctx, err);
}

static kr_status stream_sync(kr_device *device, void *stream, kr_error *err)
{
    (void)device, (void)stream, (void)err;
    return KR_OK;
}

static void drain(kr_device *device)
{
    (void)device;
}

static kr_status event_sync(kr_device *device, void *event, kr_error *err)
{
    (void)device, (void)event, (void)err;
    return KR_OK;
}

static kr_status order_event(kr_device *device, void *event, void *stream, kr_error *err)
{
    (void)device, (void)event, (void)stream, (void)err;
    return KR_OK;
}

/* ---- Work ---------------------------------------------------------------------------------- */

static uint64_t scan_temp_nbytes(kr_device *device, uint64_t n)
{
    (void)device;
    return kr_cpu_scan_temp(n);
}

static kr_status exclusive_sum(kr_device *device, uint64_t *values, uint64_t n, void *temp,
                               uint64_t temp_nbytes, void *stream, kr_error *err)
{
    (void)stream;
    if (temp_nbytes < kr_cpu_scan_temp(n))
        return kr_fail(err, KR_ERR_INTERNAL, "prefix sum: %llu bytes of scratch memory given, %llu needed",
                       (unsigned long long)temp_nbytes, (unsigned long long)kr_cpu_scan_temp(n));
    kr_cpu_exclusive_sum(kr_cpu_threads(device), values, n, temp);
    return KR_OK;
}

/* Elements of a task, at least and at most. Tasks are short because the work of one element may be long (a
 * wide range), and multiples of 64 because bodies write whole bitmap words. */
enum { TASK_LEAST = 256, TASK_MOST = 8192, TASKS_A_THREAD = 32 };
/* Waking helpers takes so long that a batch of few cheap elements is done sooner without. */
enum { FEW_ELEMENTS = 2048, TASK_WORD = 64 };
#define WAKING_SECONDS 20e-6

/* The work of a block is long, but neighbours read neighbouring memory. */
enum { BLOCKS_A_TASK = 4, BLOCK_TASKS_A_THREAD = 8 };

/* Elements between two progress reports: few at first, since it is not known how long one takes, then twice
 * as many while they take less than REPORT_SECONDS. */
enum { REPORT_LEAST = 1 << 12, REPORT_MOST = 1 << 22 };
#define REPORT_SECONDS 0.02

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct running {
    kr_cpu_call *call;
    const void *params;
    uint64_t n, base;
} running;

static void run_piece(void *ctx, uint32_t worker, uint64_t first, uint64_t end)
{
    const running *job = ctx;
    (void)worker;
    job->call(job->params, job->base + first, job->base + end, job->n);
}

static kr_cpu_call *executor(kr_device *device, const kr_program *program)
{
    const uint32_t isa = ((const cpu_device *)device)->isa;
    return isa != KR_ISA_PLAIN && program->cpu_isa[isa - 1] ? program->cpu_isa[isa - 1] : program->cpu;
}

static int can_run(kr_device *device, const kr_program *program)
{
    (void)device;
    return program->cpu != NULL;
}

static uint64_t between(uint64_t x, uint64_t least, uint64_t most)
{
    return x < least ? least : x > most ? most : x;
}

/* Does elements of few on this thread until they have taken as long as waking helpers does, in steps of 64,
 * 128 and then 256; returns how many. */
static uint64_t begin_alone(running *job, uint64_t count)
{
    const double begin = seconds();
    uint64_t done = 0, step = TASK_WORD;
    while (done < count && seconds() - begin < WAKING_SECONDS) {
        const uint64_t end = count - done < step ? count : done + step;
        kr_pool_run(1, end - done, end - done, run_piece,
                    &(running){job->call, job->params, job->n, job->base + done});
        step = step < TASK_LEAST ? 2 * step : step;
        done = end;
    }
    return done;
}

static void run_pieces(const running *job, uint32_t threads, uint64_t count, int blocks)
{
    running rest = *job;
    uint64_t grain = blocks ? between(count / (threads * BLOCK_TASKS_A_THREAD), 1, BLOCKS_A_TASK)
                            : between(count / (threads * TASKS_A_THREAD) / 64 * 64, TASK_LEAST, TASK_MOST);
    if (!blocks && threads > 1 && count > TASK_LEAST && count <= FEW_ELEMENTS) {
        const uint64_t done = begin_alone(&rest, count);
        rest.base += done;
        count -= done;
        grain = TASK_WORD;
    }
    kr_pool_run(threads, count, grain, run_piece, &rest);
}

static kr_status run(kr_device *device, const kr_program *program, const void *params, uint64_t n,
                     void *stream, kr_error *err)
{
    const uint32_t threads = kr_cpu_threads(device);
    const int reports = device->options.progress.call != NULL && !program->whole;
    uint64_t most = !reports ? UINT64_MAX : program->blocks ? 1 : REPORT_LEAST;
    running job = {executor(device, program), params, n, 0};
    (void)stream;
    while (job.base < n) {
        const uint64_t count = n - job.base < most ? n - job.base : most;
        const double begin = reports ? seconds() : 0;
        run_pieces(&job, threads, count, program->blocks != 0);
        job.base += count;
        if (reports && most < REPORT_MOST && seconds() - begin < REPORT_SECONDS)
            most *= 2;
        else if (reports &&
                 kr_progress_report(&device->options.progress, "working", (double)job.base / (double)n, err))
            return KR_ERR_CANCELLED;
    }
    return KR_OK;
}

/* ---- Description --------------------------------------------------------------------------- */

static void read_model(char *model, size_t nbytes)
{
    char line[256];
    snprintf(model, nbytes, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *text = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !text)
            continue;
        text += 1 + strspn(text + 1, " \t");
        snprintf(model, nbytes, "%.*s", (int)strcspn(text, "\n"), text);
        break;
    }
    if (file)
        fclose(file);
}

static void describe_with(uint32_t threads, uint32_t isa, kr_device_info *info)
{
    read_model(info->description, sizeof info->description);
    snprintf(info->software, sizeof info->software, "%u thread%s, %s", threads, threads == 1 ? "" : "s",
             kr_cpu_isa_name(isa));
    info->memory_nbytes = machine_nbytes();
    info->units = threads;
    info->rt_cores = 0;
}

static kr_status query(kr_device *device, kr_device_info *info, kr_error *err)
{
    (void)err;
    *info = ((const cpu_device *)device)->info;
    return KR_OK;
}

static kr_status describe(uint32_t number, kr_device_info *info, kr_error *err)
{
    uint32_t isa;
    const kr_status status = kr_cpu_isa(&isa, err);
    (void)number;
    if (status == KR_OK)
        describe_with(kr_pool_cores(), isa, info);
    return status;
}

static kr_status count_one(uint32_t *count, kr_error *err)
{
    (void)err;
    *count = 1;
    return KR_OK;
}

static void close_device(kr_device *device)
{
    free(device);
}

static const kr_device_ops ops = {
    .is_host = 1,
    .group_threads = 1,
    .close = close_device,
    .within = within,
    .query = query,
    .allocate = allocate,
    .release = release,
    .stage = stage,
    .unstage = unstage,
    .place = place,
    .copy = copy,
    .fill = fill,
    .stream_create = make_nothing,
    .stream_destroy = destroy_nothing,
    .stream_sync = stream_sync,
    .event_create = make_nothing,
    .event_destroy = destroy_nothing,
    .event_record = order_event,
    .event_wait = order_event,
    .event_sync = event_sync,
    .drain = drain,
    .sort_temp_nbytes = kr_cpu_sort_temp,
    .sort_pairs = kr_cpu_sort_pairs,
    .scan_temp_nbytes = scan_temp_nbytes,
    .exclusive_sum = exclusive_sum,
    .can_run = can_run,
    .run = run,
};

static kr_status open_device(uint32_t number, const kr_device_options *options, kr_device **device,
                             kr_error *err)
{
    uint32_t isa;
    const kr_status status = kr_cpu_isa(&isa, err);
    (void)number;
    if (status != KR_OK)
        return status;
    cpu_device *opened = kr_host_calloc(1, sizeof *opened, "a device", err);
    if (!opened)
        return KR_ERR_HOST_MEMORY;
    opened->head.ops = &ops;
    opened->head.block_nbytes = KR_BLOCK_NBYTES_CPU;
    opened->threads = options->threads ? options->threads : kr_pool_cores();
    opened->isa = isa;
    describe_with(opened->threads, isa, &opened->info);
    *device = &opened->head;
    return KR_OK;
}

static uint64_t cap(void)
{
    return kr_cpu_available_nbytes("");
}

const kr_backend kr_backend_cpu = {"cpu", 0, count_one, describe, open_device, cap};
