/* The options of the workload generators, shared by gen and bench. */
#ifndef KEYRAY_TOOLS_BENCH_WORKLOAD_H
#define KEYRAY_TOOLS_BENCH_WORKLOAD_H

#include "bench/bench.h"
#include "tools/terminal/options.h"

/* Numbers as given on the command line. */
typedef struct workload {
    /* keys */
    uint64_t count, uniformity, multiplicity, stride, spread, seed;
    uint32_t bits_64, dense_centre, keys_sorted, texts;
    /* probes and ranges */
    uint64_t probes, hit_rate, outliers, zipf, hits, multiplier, batches;
    uint32_t outside, order;
    /* updates */
    uint64_t changes, waves, wave_rows, growth;
    uint32_t by_rank, wave_form; /* WAVES_* */
    /* loads, which have no keys */
    uint64_t entries, lanes, steps, group;
    uint32_t aligned;
    /* scans, which have values instead of keys */
    uint64_t rows, append, deleted, predicates, value_zipf, sigma, selectivity, queries, conditions,
        value_seed;
    uint32_t distribution, wide, ascending;
    uint64_t scale; /* of TPC-H, hundredths */
    uint32_t tpch;  /* BENCH_TPCH_* */
} workload;

enum { WORKLOAD_WAVES_MOST = 64, WORKLOAD_GROWTH = 220 }; /* the default, hundredths */

#define BENCH_SCAN_RANDOM UINT64_MAX /* no selectivity was given */
#define WORKLOAD_DEFAULTS                                                                                 \
    {                                                                                                     \
        .multiplicity = 1, .stride = 1, .seed = 42, .hit_rate = 100, .hits = 1, .multiplier = 1,          \
        .batches = 1, .changes = 1, .growth = WORKLOAD_GROWTH, .entries = 1 << 28, .lanes = 1 << 16,      \
        .steps = 1024, .rows = 1 << 22, .predicates = 3, .value_zipf = 110, .sigma = 1 << 26,             \
        .selectivity = BENCH_SCAN_RANDOM, .queries = 100, .conditions = 1, .value_seed = 42, .scale = 100 \
    }

/* The options of key sets, probes, ranges and updates, except counts and order. */
extern const option_row workload_keys_rows[], workload_probes_rows[], workload_ranges_rows[],
    workload_updates_rows[];

/* The positions of WORKLOAD_WAVE_FORMS. */
enum { WAVES_GROW, WAVES_ALTERNATE, WAVES_CHURN };
#define WORKLOAD_WAVE_FORMS "grow|alternate|churn"

#define WORKLOAD_ORDERS "random|ascending|descending|half"

static inline kr_type workload_type(const workload *w)
{
    return w->bits_64 ? KR_U64 : KR_U32;
}

kr_keys_spec workload_keys(const workload *w);
int workload_check_probes(const workload *w); /* which options go together */
kr_probes_spec workload_probes(const workload *w);
kr_ranges_spec workload_ranges(const workload *w);
kr_swaps_spec workload_swaps(const workload *w);
/* How `keyray bench OPERAND` makes what an option of other commands reads from a file; NULL for other
 * options. */
const char *workload_instead(const char *operand, const char *option);
/* All keys of an update: those at first, and those that waves insert. */
uint64_t workload_grown(const workload *w);

/* tool_check for a generator's status; `code` is the exit status for options that conflict. */
int workload_check(kr_status status, const kr_error *err, int code);

#endif
