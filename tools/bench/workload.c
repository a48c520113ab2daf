#include "workload.h"

#include "tools/terminal/tool.h"

#include <string.h>

#define AT(field) offsetof(workload, field)

const option_row workload_keys_rows[] = {
    {"bits", 0, 0, OPTION_CHOICE, AT(bits_64), "32|64", "width of the keys, which are u32 or u64 [32]", 0, 0},
    {"uniformity", 0, 0, OPTION_NUMBER, AT(uniformity), "PERCENT",
     "how many of the keys are drawn uniformly from above the dense part, in percent; the others are "
     "dense [0]",
     0, 100},
    {"dense-centre", 0, 0, OPTION_FLAG, AT(dense_centre), NULL,
     "the dense part lies in the middle of the values, not at 0", 0, 0},
    {"multiplicity", 0, 0, OPTION_NUMBER, AT(multiplicity), "N", "how often each distinct key appears [1]", 1,
     UINT32_MAX},
    {"stride", 0, 0, OPTION_NUMBER, AT(stride), "N", "the distance of neighbours in the dense part [1]", 1,
     UINT64_MAX},
    {"spread", 0, 0, OPTION_NUMBER, AT(spread), "N",
     "keys come from the lowest N values for each of them; with --uniformity 100, one in N values is a key; "
     "0: from all values [0]",
     0, UINT32_MAX},
    {0},
};

const option_row workload_probes_rows[] = {
    {"hit-rate", 0, 0, OPTION_NUMBER, AT(hit_rate), "PERCENT",
     "how many of the probes match a key, in percent [100]", 0, 100},
    {"outside", 0, 0, OPTION_FLAG, AT(outside), NULL,
     "misses lie outside the keys' value range, not in its gaps", 0, 0},
    {"outliers", 0, 0, OPTION_NUMBER, AT(outliers), "PERCENT",
     "how many of the misses lie outside, in percent; the others lie in gaps [0]", 0, 100},
    {"zipf", 0, 0, OPTION_DECIMAL, AT(zipf), "C",
     "Zipf coefficient of the keys drawn, with at most two decimals, 0: uniform [0]", 0, 500},
    {0},
};

const option_row workload_ranges_rows[] = {
    {"hits", 0, 0, OPTION_NUMBER, AT(hits), "N",
     "how many keys a range is expected to hit, if keys are dense [1]", 1, UINT64_MAX},
    {"multiplier", 0, 0, OPTION_NUMBER, AT(multiplier), "N", "makes each range this many times longer [1]", 1,
     UINT64_MAX},
    {0},
};

const option_row workload_updates_rows[] = {
    {"changes", 0, 0, OPTION_NUMBER, AT(changes), "N", "how many pairs of rows exchange their keys [1]", 1,
     UINT32_MAX / 2},
    {"pattern", 0, 0, OPTION_CHOICE, AT(by_rank), "positions|ranks",
     "the pairs are neighbours in the column, or in the order of the keys [positions]", 0, 0},
    {"waves", 0, 0, OPTION_NUMBER, AT(waves), "N",
     "instead of --changes: insert and delete rows in N waves, at most 64; not with --multiplicity; "
     "0: exchange keys [0]",
     0, WORKLOAD_WAVES_MOST},
    {"wave-form", 0, 0, OPTION_CHOICE, AT(wave_form), WORKLOAD_WAVE_FORMS,
     "what waves do. grow: N waves insert rows, then N waves delete them; alternate: each wave "
     "inserts rows, then deletes the oldest rows; churn: each wave deletes the oldest rows and "
     "inserts as many, in one call [grow]",
     0, 0},
    {"wave-rows", 0, 0, OPTION_NUMBER, AT(wave_rows), "N",
     "how many rows each wave inserts, and how many it deletes", 0, UINT32_MAX},
    {"growth", 0, 0, OPTION_DECIMAL, AT(growth), "C",
     "instead of --wave-rows, for --wave-form grow: the rows after all inserts, as a multiple of the "
     "rows before, from 1.01 to 100 [2.2]",
     101, 10000},
    {0},
};

/* The generators' names for the options. */
static const struct {
    const char *field, *option;
} names[] = {
    {"count", "--count"},
    {"stride", "--stride"},
    {"spread", "--spread"},
    {"uniformity", "--uniformity"},
    {"multiplicity", "--multiplicity"},
    {"miss_percent", "--hit-rate"},
    {"outlier_percent", "--outside"},
    {"pairs", "--changes"},
};

int workload_check(kr_status status, const kr_error *err, int code)
{
    kr_error renamed = *err;
    if (status != KR_ERR_ARGUMENT)
        return tool_check(status, err);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        tool_rename(&renamed, names[i].field, names[i].option);
    return tool_fail(code, "%s", renamed.text);
}

kr_keys_spec workload_keys(const workload *w)
{
    return (kr_keys_spec){.count = w->count,
                          .bits = w->bits_64 ? 64 : 32,
                          .uniformity = (uint32_t)w->uniformity,
                          .dense_centre = w->dense_centre,
                          .multiplicity = (uint32_t)w->multiplicity,
                          .stride = w->stride,
                          .spread = w->spread,
                          .seed = w->seed};
}

int workload_check_probes(const workload *w)
{
    return w->outside && w->outliers ? tool_fail(USAGE, "--outside is --outliers 100; leave out one of them")
                                     : DONE;
}

kr_probes_spec workload_probes(const workload *w)
{
    return (kr_probes_spec){.count = w->probes,
                            .miss_percent = 100 - (uint32_t)w->hit_rate,
                            .outlier_percent = w->outside ? 100 : (uint32_t)w->outliers,
                            .zipf_hundredths = (uint32_t)w->zipf,
                            .order = w->order,
                            .seed = w->seed};
}

kr_ranges_spec workload_ranges(const workload *w)
{
    return (kr_ranges_spec){
        .count = w->probes, .hits = w->hits, .multiplier = w->multiplier, .order = w->order, .seed = w->seed};
}

kr_swaps_spec workload_swaps(const workload *w)
{
    return (kr_swaps_spec){.pairs = w->changes, .by_rank = w->by_rank, .seed = w->seed};
}

uint64_t workload_grown(const workload *w)
{
    if (!w->waves)
        return w->count;
    if (w->wave_form != WAVES_GROW)
        return w->count + (w->waves + 1) * w->wave_rows; /* one wave warms up */
    return w->wave_rows ? w->count + w->waves * w->wave_rows : w->count * w->growth / 100;
}

const char *workload_instead(const char *operand, const char *option)
{
    static const char files[] =
        "keys|probe|probes|lower|upper|values|insert|delete|left|right|left-by|right-by|"
        "right-lower|right-upper|left-end|right-end|column|alive|where";
    static const char reads[] = "point|range|build|join";
    const int reads_columns = !*operand || options_choice(reads, operand, strlen(operand)) >= 0;
    if (options_choice(files, option, strlen(option)) < 0)
        return NULL;
    if (strcmp(operand, "scan") == 0)
        return "bench scan reads --column NAME=COL, or it generates its table: --rows, --predicates and "
               "--distribution say how; the report of keyray scan has the times of other conditions";
    if (strcmp(operand, "loads") == 0)
        return "bench loads reads no files, it generates its array: --entries says how large it is";
    if (!reads_columns)
        return "bench update reads no files, it generates its keys: --count, --bits, --uniformity, "
               "--multiplicity "
               "and --stride say how; the report of keyray update has the times of a file";
    if (strcmp(operand, "join") == 0)
        return "bench join reads --keys COL, right, and --probes COL, left; the report of keyray join has "
               "the times "
               "of other joins";
    return "bench point, range, build and join read --keys COL, and --probes COL, or --lower COL and --upper "
           "COL; the "
           "reports of other commands have the times of files";
}
