#include "commands.h"
#include "tools/columns/column.h"
#include "tools/terminal/device.h"
#include "tools/terminal/output.h"
#include "tools/terminal/progress.h"
#include "tools/terminal/tool.h"

#include <string.h>

typedef struct explain_options {
    const char *keys, *index;
    uint64_t probes;
    uint32_t all;
} explain_options;

static const option_row explain_rows[] = {
    {"keys", 0, 1, OPTION_TEXT, offsetof(explain_options, keys), "COL",
     "the column to be indexed; for a join, its right side", 0, 0},
    {"probes", 0, 0, OPTION_NUMBER, offsetof(explain_options, probes), "N",
     "how many lookups the batch has, or how many left rows the join has [as many as keys]", 0, UINT64_MAX},
    {"index", 0, 0, OPTION_TEXT, offsetof(explain_options, index), "SPEC",
     "kind and options, see keyray kinds [best]", 0, 0},
    {"all", 0, 0, OPTION_FLAG, offsetof(explain_options, all), NULL,
     "print every option of the kind, not only those that differ from their defaults", 0, 0},
    {0},
};

/* `join`: NULL, or which side of a join would be indexed. */
static void print(const kr_explanation *explanation, const kr_join_info *join, const char *operation,
                  const struct column *keys, const explain_options *options, const output_options *printing)
{
    output out = output_begin_report(stdout, printing->json);
    char rays[32];
    output_text(&out, "operation", operation);
    (options->all ? output_text : output_spec)(&out, "spec", explanation->spec);
    output_text(&out, "reason", explanation->reason);
    output_text(&out, "device", explanation->device);
    output_text(&out, "tracer", explanation->tracer);
    output_text(&out, "type", kr_type_name(keys->view.type));
    output_number(&out, "keys", keys->view.count);
    column_print_nulls(&out, &(column_nulls){"keys", keys, 1}, 1);
    output_number(&out, "probes", options->probes);
    output_text(&out, "probe_order", explanation->probe_order);
    if (join)
        output_indexed(&out, join);
    output_real(&out, "memory_accesses_per_probe", explanation->memory_accesses_per_probe);
    if (out.json) {
        output_real(&out, "rays_per_probe", explanation->rays_per_probe);
    } else {
        snprintf(rays, sizeof rays, "at least %.6g", explanation->rays_per_probe);
        output_text(&out, "rays per probe", explanation->rays_per_probe > 0 ? rays : "0");
    }
    output_bytes(&out, "footprint", explanation->footprint_nbytes);
    output_bytes(&out, "peak", explanation->peak_nbytes);
    if (!out.json && join && strcmp(join->device, "cpu") == 0)
        output_text(&out, "note", "on a CPU, keyray merges two sides that both ascend, and indexes neither");
    if (!out.json)
        output_text(&out, "note", "memory accesses and rays do not compare kinds by time; keyray bench does");
    output_end(&out, '}');
}

/* The keys are the right side: the kind that suits them may cost less than the one that the left side, which
 * nobody has seen, would get. */
static int explain_join(kr_device *device, const explain_options *options, const kr_explanation *of_keys,
                        uint64_t keys, kr_join_info *join)
{
    kr_join_info right = {.struct_size = sizeof right};
    kr_error err = {0};
    int code =
        tool_check(kr_join_explain(device, options->index, options->probes, keys, NULL, join, &err), &err);
    if (!code)
        code = tool_check(kr_join_explain(device, of_keys->spec, options->probes, keys, NULL, &right, &err),
                          &err);
    join->cost_right = right.cost_right;
    snprintf(join->indexed, sizeof join->indexed, "%s",
             join->cost_left < join->cost_right ? "left" : "right");
    return code;
}

static int run(const command *self, int argc, char **argv)
{
    explain_options options = {.index = "best", .probes = UINT64_MAX};
    device_options where = DEVICE_DEFAULTS;
    output_options printing = {0};
    const option_group groups[] = {{"Options", explain_rows, &options},
                                   {"Input", column_rows, &column_input},
                                   {"Device", device_rows, &where},
                                   {"Output", output_rows, &printing}};
    int code = DONE;
    const int operation = options_operand(self, groups, 4, argc, argv, &code);
    if (operation < 0)
        return code;
    code = options_parse(self, groups, 4, argc - 1, argv + 1);
    if (code != OPTIONS_GO_ON)
        return code;

    const kr_progress *progress = progress_callback(printing.quiet);
    kr_explanation explanation = {.struct_size = sizeof explanation};
    kr_error err = {0};
    struct column keys = {0};
    kr_device *device = NULL;
    code = tool_check_spec(options.index);
    if (!code)
        code = column_load(&keys, "--keys", options.keys, progress);
    if (!code)
        code = device_open(&where, progress, &device);
    if (!code) {
        if (options.probes == UINT64_MAX)
            options.probes = keys.view.count;
        code = tool_check(kr_index_explain(device, (kr_operation)(operation + 1), options.index, &keys.view,
                                           options.probes, &explanation, &err),
                          &err);
    }
    kr_join_info join = {.struct_size = sizeof join};
    const int is_join = operation + 1 == KR_OP_JOIN;
    if (!code && is_join)
        code = explain_join(device, &options, &explanation, keys.view.count, &join);
    if (!code && (printing.json || !printing.quiet))
        print(&explanation, is_join ? &join : NULL, argv[1], &keys, &options, &printing);
    kr_device_close(device);
    column_close(&keys);
    return code;
}

const command command_explain = {
    "explain",
    "point|range|build|join",
    "the kind that would be used and why, its memory, its accesses per probe",
    "Says which kind of index would be used for a column and why, how much memory it would take, and "
    "how many memory accesses and rays each probe would take. It builds nothing and runs nothing. --index "
    "best "
    "looks at the column: the reason says how many keys there are, from the lowest to the highest, one in "
    "how many "
    "values, and whether they ascend and repeat. Dates and times are shown as numbers.",
    "keyray explain point --keys orders.csv:o_orderkey --device cpu",
    run,
    "Memory accesses are counted where each one waits for the one before it. They and the rays do "
    "not compare kinds by time; keyray bench does.",
};
