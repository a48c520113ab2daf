/* Programs: the work of one probe (or one element) as a small C body, and the executors that run it.
 *
 * A body is written once in a header NAME_body.h. NAME.c, which includes it, gets the CPU executor and the
 * kr_program that names both; NAME.cu, which includes it, gets the CUDA kernel and its launcher. CMake makes
 * these files, unless they are there.
 * Devices run a kr_program without knowing what it does (base/devices/device.h, run).
 *
 *   KR_MAP_PROGRAM(name, params_t, body)
 *       void body(const params_t *, uint64_t i)           for every i below n
 *   KR_GROUP_PROGRAM(name, params_t, body)
 *       void body(kr_group, const params_t *, uint64_t i, uint64_t n)
 *       All threads of a group enter together, thread `rank` with i = first + rank; i may be >= n.
 *   KR_PROBE_PROGRAM(name, params_t, state_t, begin, step, end)
 *       int  begin(const params_t *, uint64_t i, state_t *)   0: nothing to search
 *       int  step(const params_t *, state_t *)                0: done
 *       void end(const params_t *, uint64_t i, state_t *)     for every i, also after begin returned 0
 *       State of at most 32 bytes: it lives across a trace. The CPU keeps KR_IN_FLIGHT of them and
 *       steps them in turn, so that their cache misses overlap. index/kinds/lookup_program.h has the same
 *       with launch options.
 *   KR_PROBE_PROGRAM_AHEAD(name, ...)
 *       The same, with `end` in any order. A CPU keeps KR_MANY_IN_FLIGHT and begins a probe where one ends:
 *       for searches of a step or two, whose first place `begin` prefetches. Searches of many steps of
 *       different sorts are faster without, since the CPU foresees which sort comes next.
 *
 * For blocks of threads see base/program/block.h, for rays base/tracers/ray.h. For work that a CPU does
 * better in its own way, while a GPU runs another program:
 *
 *   KR_CPU_PROGRAM(name, params_t, run)
 *       void run(const params_t *, uint64_t first, uint64_t end)   for first <= i < end
 *   KR_CPU_PIECE_PROGRAM(name, params_t, run)
 *       The same, where an element is a piece of work that is worth a thread's turn.
 *   KR_MAP_OR_RUN_PROGRAM(name, params_t, body, run)
 *       On a GPU KR_MAP_PROGRAM with `body`, on a CPU KR_CPU_PROGRAM with `run`.
 *
 *   KR_PROBE_OR_RUN_PROGRAM(name, params_t, state_t, begin, step, end, run)
 *       The same with KR_PROBE_PROGRAM.
 *
 * Parameter blocks hold fixed-width integers and pointers, widest first, at most 4096 bytes. */
#ifndef KEYRAY_BASE_PROGRAM_PROGRAM_H
#define KEYRAY_BASE_PROGRAM_PROGRAM_H

#include "base/program/lang.h"

/* Instruction sets of a CPU; each includes those before it. */
enum { KR_ISA_PLAIN, KR_ISA_AVX2, KR_ISA_AVX512, KR_ISAS };

/* Works on first <= i < end; first is a multiple of 64, and so is end unless it is n. */
typedef void kr_cpu_call(const void *params, uint64_t first, uint64_t end, uint64_t n);

typedef struct kr_program {
    const char *name;
    uint64_t params_nbytes;
    kr_cpu_call *cpu;
    /* Enqueues all of n on a cudaStream_t; returns the cudaError_t. NULL: not built for CUDA. */
    int (*cuda)(const void *params, uint64_t n, void *cuda_stream);
    uint32_t whole; /* 1: must not be cancelled halfway (kr_device_run_whole) */
    /* 1: an element is the work of a whole block of threads, so CPU threads take few elements at a time. */
    uint32_t blocks;
    /* `cpu` compiled for the sets above KR_ISA_PLAIN, for programs in files named *_simd_width.c and
     * *_simd.c. */
    kr_cpu_call *cpu_isa[KR_ISAS - 1];
} kr_program;

/* Probes in flight: more pay off where a step is short. */
enum { KR_IN_FLIGHT = 32, KR_MANY_IN_FLIGHT = 64 };

/* Expands the arguments before `macro` pastes to them. */
#define KR_APPLY(macro, ...) macro(__VA_ARGS__)
#define KR_MAP_PROGRAM(name, params_t, body) KR_APPLY(KR_MAP_PROGRAM_, KR_W(name), params_t, body)
#define KR_PROBE_PROGRAM_AHEAD(name, params_t, state_t, begin, step, end) \
    KR_APPLY(KR_PROBE_PROGRAM_AHEAD_, KR_W(name), params_t, state_t, begin, step, end)
#define KR_PROBE_PROGRAM(name, params_t, state_t, begin, step, end) \
    KR_APPLY(KR_PROBE_PROGRAM_, KR_W(name), params_t, state_t, begin, step, end)
#define KR_CPU_PROGRAM(name, params_t, run) KR_APPLY(KR_CPU_PROGRAM_, KR_W(name), params_t, run)
#define KR_CPU_PIECE_PROGRAM(name, params_t, run) KR_APPLY(KR_CPU_PIECE_PROGRAM_, KR_W(name), params_t, run)
#define KR_MAP_OR_RUN_PROGRAM(name, params_t, body, run) \
    KR_APPLY(KR_MAP_OR_RUN_PROGRAM_, KR_W(name), params_t, body, run)
#define KR_PROBE_OR_RUN_PROGRAM(name, params_t, state_t, begin, step, end, run) \
    KR_APPLY(KR_PROBE_OR_RUN_PROGRAM_, KR_W(name), params_t, state_t, begin, step, end, run)
#define KR_GROUP_PROGRAM(name, params_t, body) KR_APPLY(KR_GROUP_PROGRAM_, KR_W(name), params_t, body)
/* For a host file that uses a program defined elsewhere. */
#define KR_PROGRAM_DECLARE(name) extern const kr_program KR_W(name)

#if KR_ON_CUDA
#include "base/program/program_cuda.h"
#else
#include "base/program/program_cpu.h"
#endif

#endif
