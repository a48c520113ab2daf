#include "commands.h"
#include "targets.h"
#include "tools/bench/workload.h"
#include "tools/columns/column.h"
#include "tools/terminal/clock.h"
#include "tools/terminal/output.h"
#include "tools/terminal/progress.h"
#include "tools/terminal/tool.h"

#include <stdlib.h>

typedef struct gen_options {
    const char *output, *keys;
    uint64_t count, seed, threads;
    uint32_t order;
} gen_options;

#define AT(field) offsetof(gen_options, field)

static const option_row gen_rows[] = {
    {"output", 'o', 1, OPTION_TEXT, AT(output), "OUT.npy",
     "the file to write; ranges are written to OUT.lower.npy and OUT.upper.npy", 0, 0},
    {"count", 0, 1, OPTION_NUMBER, AT(count), "N", "how many to generate", 0, UINT32_MAX},
    {"seed", 0, 0, OPTION_NUMBER, AT(seed), "N",
     "the same seed gives the same bytes on every machine; 0 is 42 [42]", 0, UINT64_MAX},
    {"threads", 0, 0, OPTION_NUMBER, AT(threads), "N", "how many threads generate; 0: one per core [0]", 0,
     1024},
    {0},
};

static const option_row keys_rows[] = {
    {"order", 0, 0, OPTION_CHOICE, AT(order), "random|ascending", "the order of the keys [random]", 0, 0},
    {0},
};

static const option_row from_keys_rows[] = {
    {"keys", 0, 1, OPTION_TEXT, AT(keys), "COL", "the key set to draw from", 0, 0},
    {"order", 0, 0, OPTION_CHOICE, AT(order), WORKLOAD_ORDERS,
     "the order of probes or ranges; half: every second one ascends [random]", 0, 0},
    {0},
};

enum { GEN_KEYS, GEN_PROBES, GEN_RANGES };

/* What was generated: one column, or two for ranges. */
typedef struct generated {
    kr_type type;
    uint64_t n;
    void *data[2];
} generated;

static int generate(int what, const gen_options *options, workload *w, const struct column *keys,
                    generated *made)
{
    const uint32_t threads = (uint32_t)options->threads;
    kr_error err = {0};
    kr_status status;
    made->n = options->count;
    made->type = what == GEN_KEYS ? workload_type(w) : keys->view.type;
    for (int i = 0; i <= (what == GEN_RANGES); ++i)
        if (!(made->data[i] = tool_alloc(made->n, kr_type_nbytes(made->type), "what is generated")))
            return FAILED;
    w->count = w->probes = options->count;
    w->order = options->order;
    w->seed = options->seed;
    if (what == GEN_KEYS) {
        kr_keys_spec spec = workload_keys(w);
        spec.sorted = options->order == KR_PROBES_ASCENDING;
        status = kr_generate_keys(&spec, threads, made->data[0], &err);
    } else if (what == GEN_PROBES) {
        if (workload_check_probes(w))
            return USAGE;
        const kr_probes_spec spec = workload_probes(w);
        status = kr_generate_probes(&spec, made->type, keys->view.count, keys->view.data, threads,
                                    made->data[0], NULL, &err);
    } else {
        const kr_ranges_spec spec = workload_ranges(w);
        status = kr_generate_ranges(&spec, made->type, keys->view.count, keys->view.data, threads,
                                    made->data[0], made->data[1], &err);
    }
    return workload_check(status, &err, what == GEN_KEYS ? USAGE : FAILED);
}

/* Checks that probes can be drawn from the keys. */
static int check_keys(const gen_options *options, const kr_column *keys)
{
    if (keys->validity)
        return tool_fail(FAILED, "--keys %s has NULLs (%s); draw from a column without empty fields",
                         options->keys, kr_type_name(keys->type));
    if (keys->type == KR_F32 || keys->type == KR_F64)
        return tool_fail(FAILED, "--keys %s is %s; draw from integer or date keys", options->keys,
                         kr_type_name(keys->type));
    if (!keys->count && options->count)
        return tool_fail(FAILED, "--keys %s is empty: there is nothing to draw from", options->keys);
    return DONE;
}

static int write_out(int what, const gen_options *options, const generated *made, const kr_progress *progress)
{
    const column_file one[] = {{"", made->type, 1, made->n, made->data[0]}};
    const column_file two[] = {{".lower", made->type, 1, made->n, made->data[0]},
                               {".upper", made->type, 1, made->n, made->data[1]}};
    return what == GEN_RANGES ? column_write(options->output, two, 2, progress)
                              : column_write(options->output, one, 1, progress);
}

static int generate_and_write(int what, const gen_options *options, workload *w,
                              const output_options *printing)
{
    const kr_progress *progress = progress_callback(printing->quiet);
    const double begin = tool_now();
    struct column keys = {0};
    generated made = {0};
    int code = what == GEN_KEYS ? DONE : column_load(&keys, "--keys", options->keys, progress);
    if (!code && what != GEN_KEYS)
        code = check_keys(options, &keys.view);
    if (!code)
        code = generate(what, options, w, &keys, &made);
    const double halfway = tool_now();
    if (!code)
        code = write_out(what, options, &made, progress);
    if (!code && (printing->json || !printing->quiet)) {
        output out = output_begin_report(stdout, printing->json);
        output_text(&out, "output", options->output);
        output_text(&out, "type", kr_type_name(made.type));
        output_number(&out, "count", made.n);
        output_begin(&out, "seconds", '{');
        output_seconds(&out, "generate", halfway - begin);
        output_seconds(&out, "write", tool_now() - halfway);
        output_end(&out, '}');
        output_end(&out, '}');
    }
    free(made.data[1]);
    free(made.data[0]);
    column_close(&keys);
    return code;
}

static int run(const command *self, int argc, char **argv)
{
    gen_options options = {.seed = 42};
    workload w = WORKLOAD_DEFAULTS;
    output_options printing = {0};
    enum { OPTIONS, OUTPUT, KEYS, KEYS_KIND, DRAWN, PROBES_KIND, RANGES_KIND, INPUT, N_GROUPS };
    const option_group all[N_GROUPS] = {{"Options", gen_rows, &options},
                                        {"Output", output_rows, &printing},
                                        {"Keys", keys_rows, &options},
                                        {"Kinds of keys", workload_keys_rows, &w},
                                        {"Probes and ranges", from_keys_rows, &options},
                                        {"Kinds of probes", workload_probes_rows, &w},
                                        {"Kinds of ranges", workload_ranges_rows, &w},
                                        {"Input", column_rows, &column_input}};
    static const int of[][2] = {{KEYS, KEYS_KIND}, {DRAWN, PROBES_KIND}, {DRAWN, RANGES_KIND}};
    int code = DONE;
    const int what = options_operand(self, all, N_GROUPS, argc, argv, &code);
    if (what < 0)
        return code;
    const option_group groups[] = {all[OPTIONS], all[OUTPUT], all[of[what][0]], all[of[what][1]], all[INPUT]};
    const uint32_t n_groups = what == GEN_KEYS ? 4 : 5;
    code = options_parse(self, groups, n_groups, argc - 1, argv + 1);
    if (code != OPTIONS_GO_ON)
        return code;
    code = column_check_output(options.output, "-o is a file name ending in .npy");
    if (!code)
        code = what == GEN_RANGES
                   ? targets_check("-o", options.output, (const char *const[]){".lower", ".upper"}, 2, groups,
                                   n_groups)
                   : targets_check("-o", options.output, (const char *const[]){""}, 1, groups, n_groups);
    return code ? code : generate_and_write(what, &options, &w, &printing);
}

const command command_gen = {
    "gen",
    "keys|probes|ranges",
    "workloads of the papers: key sets, probes and ranges",
    "Generates the workloads of the papers behind the indexes: a column of keys, probes that are "
    "drawn from a column of keys, or ranges over such a column. It writes .npy files.",
    "keyray gen keys --count 2^20 --uniformity 50 -o keys.npy\n"
    "keyray gen probes --keys keys.npy --count 2^20 --hit-rate 80 -o probes.npy\n"
    "keyray gen ranges --keys keys.npy --count 2^20 --hits 16 -o ranges.npy\n",
    run,
    "The same seed gives the same bytes on every machine. Keys are in random order, or ascend. With "
    "--order half, the probes at even positions ascend and the others stay as they were drawn.",
};
