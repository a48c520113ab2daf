#include "join/bits.h"
#include "base/util/pool.h"
#include "index/results/found.h"
#include "join/bits_params.h"

#include <stdio.h>

extern const kr_program join_bits_set_u32, join_bits_set_u64;
extern const kr_program join_bits_test_u32, join_bits_test_u64;
extern const kr_program join_bits_stripes_u32, join_bits_stripes_u64;
extern const kr_program join_bits_unite_u32, join_bits_unite_u64;

static const kr_program *program_of(uint32_t type, const kr_program *narrow, const kr_program *wide)
{
    return kr_type_key_bits(type) == 64 ? wide : narrow;
}

static uint32_t *take_words(kr_work *w, uint64_t n, const char *what)
{
    return kr_work_take_or(w, n * sizeof(uint32_t), what, KR_JOIN_SMALLER);
}

static void set_side(bits_params *p, const kr_column *side)
{
    p->values = side->data;
    p->validity = side->validity;
    p->offset = side->validity_offset;
    p->n = side->count;
}

/* On a CPU: bits of their own for each thread, if all of them are no larger than the right side; 0: the
 * threads share one copy. */
static uint32_t stripes_of(const kr_device *device, uint64_t words, uint64_t rows)
{
    const uint32_t wanted = device->options.threads, threads = wanted ? wanted : kr_pool_cores();
    return device->ops->is_host && (threads == 1 || threads * words <= rows) ? threads : 0;
}

/* Threads that set bits of their own take turns of so many rows, before each of which the call may be
 * cancelled. */
enum { SLICE = 1 << 22 };

static void mark_stripes(kr_work *w, bits_params *p)
{
    const uint64_t slice = (uint64_t)SLICE * p->stripes;
    for (p->begin = 0; p->begin < p->n && kr_work_goes_on(w); p->begin = p->end) {
        p->end = p->n - p->begin < slice ? p->n : p->begin + slice;
        KR_STEP(w, kr_device_report(w->device, "bits", p->end - p->begin, (double)p->begin / (double)p->n,
                                    w->err));
        kr_work_run(w, program_of(p->type, &join_bits_stripes_u32, &join_bits_stripes_u64), p, p->stripes);
    }
}

static void mark(kr_work *w, const kr_column *right, bits_params *p)
{
    const uint32_t stripes = stripes_of(w->device, p->words, right->count);
    const uint64_t words = p->words * (stripes ? stripes : 1);
    p->stripes = stripes;
    p->bits = take_words(w, words, "bits of values");
    kr_work_fill(w, p->bits, 0, words * sizeof *p->bits);
    set_side(p, right);
    if (stripes)
        mark_stripes(w, p);
    else
        kr_work_run(w, program_of(p->type, &join_bits_set_u32, &join_bits_set_u64), p, kr_group_runs(p->n));
    if (stripes > 1)
        kr_work_run(w, program_of(p->type, &join_bits_unite_u32, &join_bits_unite_u64), p, p->words);
    kr_work_lap(w, "bits");
}

static void test(kr_work *w, const kr_column *left, bits_params *p)
{
    p->found = take_words(w, left->count / 32 + 1, "which rows have a partner");
    set_side(p, left);
    kr_work_run(w, program_of(p->type, &join_bits_test_u32, &join_bits_test_u64), p, kr_group_runs(p->n));
    kr_work_lap(w, "search");
}

void kr_join_bits_run(kr_work *w, const kr_join_job *job, const kr_look *near, kr_join *join)
{
    const uint64_t span = near->highest - near->lowest;
    bits_params p = {.lowest = near->lowest, .span = span, .words = span / 32 + 1, .type = near->type};
    kr_join_check_rows(w, job->left, job->right, "join parts of it");
    const kr_column left = kr_column_bring(w, job->left, "a copy of a side"),
                    right = kr_column_bring(w, job->right, "a copy of a side");
    kr_work_lap(w, "copy");
    mark(w, &right, &p);
    test(w, &left, &p);
    const kr_found_job list = {.bits = p.found,
                               .n = left.count,
                               .wanted = (uint32_t)kr_join_wants_partner(job->type),
                               .help = KR_JOIN_SMALLER};
    const kr_found found = kr_work_goes_on(w) ? kr_found_list(w, &list) : (kr_found){0};
    kr_join_keep(w, join, found.probes, NULL, found.n);
    kr_work_lap(w, "pairs");
    snprintf(join->info.tracer, sizeof join->info.tracer, "none");
    join->info.footprint_nbytes = p.words * sizeof *p.bits;
}
