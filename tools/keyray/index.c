/* index: builds an index or a table and saves it, says what a file holds, and checks all of one. */
#include "commands.h"
#include "saved.h"
#include "targets.h"
#include "tools/terminal/clock.h"
#include "tools/terminal/device.h"
#include "tools/terminal/facts.h"
#include "tools/terminal/output.h"
#include "tools/terminal/progress.h"
#include "tools/terminal/tool.h"

#include <string.h>

typedef struct build_options {
    const char *keys, *index, *output;
    option_texts columns;
} build_options;

#define AT(field) offsetof(build_options, field)

static const option_row build_rows[] = {
    {"keys", 0, 0, OPTION_TEXT, AT(keys), "COL", "the column to index", 0, 0},
    {"column", 0, 0, OPTION_NAMES, AT(columns), "[NAME=]COL,...",
     "instead of --keys: the columns of a table for keyray scan, named as there", 0, 0},
    {"index", 0, 0, OPTION_TEXT, AT(index), "SPEC", "kind and options, see keyray kinds [best]", 0, 0},
    {"output", 'o', 0, OPTION_TEXT, AT(output), "FILE.krx",
     "the file to write; one that is there is replaced when the new one is complete", 0, 0},
    {0},
};

typedef struct job {
    build_options options;
    const char *path; /* of info and check */
    device_options where;
    output_options printing;
    const kr_progress *progress;
    struct column keys;
    struct table table;
    saved_file saved;
    uint32_t n_texts;
    kr_device *device;
    kr_index *index;
    index_facts built; /* of a table, too, as far as it has such facts */
    double load, build, save, check, validate;
} job;

/* ---- build ------------------------------------------------------------------------------------ */

static int load(job *j)
{
    const build_options *o = &j->options;
    const double begin = tool_now();
    const int code = o->columns.n ? table_load(&j->table, &o->columns, j->progress)
                                  : column_load(&j->keys, "--keys", o->keys, j->progress);
    j->load = tool_now() - begin;
    return code;
}

static int build(job *j)
{
    kr_error err = {0};
    const double begin = tool_now();
    const int code = j->table.n ? table_create(&j->table, j->device, j->options.index)
                                : tool_check(kr_index_create(j->device, j->options.index, &j->keys.view, NULL,
                                                             NULL, &j->index, &err),
                                             &err);
    j->build = tool_now() - begin;
    return code;
}

static int save(job *j)
{
    const char *path = j->options.output;
    const double begin = tool_now();
    const int code = j->index ? saved_write_index(j->index, &j->keys, &j->saved, path, j->progress)
                              : saved_write_table(&j->table, path, j->progress);
    j->save = tool_now() - begin;
    return code;
}

static int take_facts(job *j)
{
    return j->index ? index_facts_take(j->index, &j->built) : table_facts_take(j->table.table, &j->built);
}

static int run_build(job *j)
{
    int code = load(j);
    if (!code)
        code = device_open(&j->where, j->progress, &j->device);
    if (!code)
        code = build(j);
    if (!code)
        code = save(j);
    if (!code)
        code = take_facts(j);
    return code ? code : saved_open(&j->saved, j->options.output, (kr_saved_what)0, KR_VERIFY_HEADER, NULL);
}

static void print_nulls(const job *j, output *out)
{
    column_nulls all[OPTION_TEXTS_MOST] = {{"keys", &j->keys, 1}};
    for (uint32_t c = 0; c < j->table.n; ++c)
        all[c] = (column_nulls){j->table.names[c], &j->table.columns[c], 1};
    column_print_nulls(out, all, j->table.n ? j->table.n : 1);
}

static void print_build(const job *j, output *out)
{
    const kr_index_info *info = &j->built.info;
    output_text(out, "file", j->options.output);
    output_spec(out, "spec", info->spec);
    output_text(out, "device", info->device);
    output_text(out, "tracer", info->tracer);
    if (j->index)
        output_text(out, "type", kr_type_name(info->type));
    else
        output_number(out, "columns", j->table.n);
    output_number(out, "rows", j->saved.info.rows);
    output_number(out, "next_row", j->saved.info.next_row);
    print_nulls(j, out);
    output_bytes(out, "footprint", info->footprint_nbytes);
    output_bytes(out, "peak", info->peak_nbytes);
    output_bytes(out, "file_size", j->saved.info.nbytes);
    output_begin(out, "seconds", '{');
    output_seconds(out, "load", j->load);
    output_seconds(out, "build", j->build);
    output_seconds(out, "save", j->save);
    output_end(out, '}');
    output_phases(out, "build_phases", j->index ? &j->built.phases : &j->table.phases);
}

/* ---- info ------------------------------------------------------------------------------------- */

/* "timestamp64[us]", "str". */
static const char *type_text(kr_type type, kr_unit unit, int has_texts, char text[32])
{
    static const char *const units[] = {[KR_UNIT_NONE] = "",
                                        [KR_UNIT_S] = "[s]",
                                        [KR_UNIT_MS] = "[ms]",
                                        [KR_UNIT_US] = "[us]",
                                        [KR_UNIT_NS] = "[ns]"};
    snprintf(text, 32, "%s%s", has_texts ? "str" : kr_type_name(type), has_texts ? "" : units[unit]);
    return text;
}

static void print_column(const job *j, uint32_t i, output *out)
{
    const char *name = NULL;
    kr_type type = KR_U32;
    kr_unit unit = KR_UNIT_NONE;
    int has_texts = 0;
    char text[32];
    kr_saved_column(j->saved.file, i, &name, &type, NULL, &has_texts, NULL);
    saved_unit(&j->saved, i, &unit);
    type_text(type, unit, has_texts, text);
    if (!out->json) {
        output_text_of(out, *name ? name : "keys", text);
        return;
    }
    output_begin(out, NULL, '{');
    output_text(out, "name", name);
    output_text(out, "type", text);
    output_end(out, '}');
}

static void print_file(const job *j, output *out)
{
    const kr_saved_info *info = &j->saved.info;
    output_text(out, "file", j->path);
    output_text(out, "what", info->what == KR_SAVED_INDEX ? "index" : "table");
    output_spec(out, "spec", info->spec);
    output_number(out, "format", info->format);
    output_text(out, "library", info->version);
    output_number(out, "rows", info->rows);
    output_number(out, "next_row", info->next_row);
    output_bytes(out, "file_size", info->nbytes);
}

static void print_info(const job *j, output *out)
{
    const char *name;
    uint64_t nbytes = 0;
    print_file(j, out);
    output_begin(out, "columns", out->json ? '[' : '{');
    for (uint32_t i = 0; i < j->saved.info.n_columns; ++i)
        print_column(j, i, out);
    output_end(out, out->json ? ']' : '}');
    if (j->n_texts || (out->json && j->saved.info.what == KR_SAVED_INDEX)) /* a table has its own */
        output_number(out, "texts", j->n_texts);
    if (out->json || j->saved.info.n_attachments)
        output_begin(out, "attachments", '{');
    for (uint32_t i = 0; (name = kr_saved_attachment_name(j->saved.file, i)); ++i) {
        kr_saved_attachment(j->saved.file, name, &nbytes);
        output_number_of(out, name, nbytes);
    }
    if (out->json || j->saved.info.n_attachments)
        output_end(out, '}');
}

/* What is printed is there. */
static int run_info(job *j)
{
    kr_unit unit;
    int code = saved_open(&j->saved, j->path, (kr_saved_what)0, KR_VERIFY_HEADER, NULL);
    for (uint32_t i = 0; !code && i < j->saved.info.n_columns; ++i)
        code = saved_unit(&j->saved, i, &unit);
    return code ? code : saved_count_texts(&j->saved, &j->n_texts);
}

/* ---- check ------------------------------------------------------------------------------------ */

/* Columns of texts need no texts for that. */
static int load_file(job *j)
{
    const double begin = tool_now();
    int code = DONE;
    if (j->saved.info.what == KR_SAVED_INDEX)
        code = saved_load_index(&j->saved, j->device, &j->index);
    else
        code = saved_load_table(&j->saved, j->device, &j->table);
    j->load = tool_now() - begin;
    return code;
}

static int validate(job *j)
{
    kr_error err = {0};
    const double begin = tool_now();
    const kr_status status =
        j->index ? kr_index_validate(j->index, &err) : kr_table_validate(j->table.table, &err);
    j->validate = tool_now() - begin;
    return tool_check(status, &err);
}

/* Loading compares checksums, too, but not those of attachments, and not what lies between arrays. */
static int run_check(job *j)
{
    kr_error err = {0};
    const double begin = tool_now();
    int code = saved_open(&j->saved, j->path, (kr_saved_what)0, KR_VERIFY_ALL, j->progress);
    if (!code)
        code = tool_check(kr_saved_check(j->saved.file, &err), &err);
    j->check = tool_now() - begin;
    if (!code)
        code = device_open(&j->where, j->progress, &j->device);
    if (!code)
        code = load_file(j);
    if (!code)
        code = validate(j);
    return code ? code : take_facts(j);
}

static void print_check(const job *j, output *out)
{
    print_file(j, out);
    output_text(out, "device", j->built.info.device);
    output_text(out, "tracer", j->built.info.tracer);
    output_begin(out, "checked", '{');
    output_text(out, "checksums", "good, of all bytes");
    output_text(out, "structure", "valid, loaded on the device");
    output_end(out, '}');
    output_begin(out, "seconds", '{');
    output_seconds(out, "checksums", j->check);
    output_seconds(out, "open", j->load);
    output_seconds(out, "validate", j->validate);
    output_end(out, '}');
    output_phases(out, "open_phases", j->index ? &j->built.phases : &j->table.phases);
}

/* ---- All -------------------------------------------------------------------------------------- */

enum { BUILD, INFO, CHECK };

static int check_build(const job *j, const option_group *groups, uint32_t n_groups)
{
    const build_options *o = &j->options;
    if (!o->keys && !o->columns.n)
        return tool_fail(USAGE, "--keys COL is missing; give it, or --column COL,... for a table");
    if (o->keys && o->columns.n)
        return tool_fail(USAGE, "give --keys COL for an index or --column COL,... for a table, not both");
    if (!o->output)
        return tool_fail(USAGE, "-o FILE.krx is missing; see keyray index --help");
    int code = saved_check_output("-o", o->output);
    if (!code && saved_is_name(o->index))
        code = tool_fail(USAGE, "--index %s is built already; give a SPEC, as in --index array", o->index);
    if (!code && !(o->columns.n && strcmp(o->index, "best") == 0)) /* another kind for a table */
        code = tool_check_spec(o->index);
    return code ? code : targets_check_saved("-o", o->output, groups, n_groups);
}

/* Moves FILE.krx, which stands behind the operand, before it. */
static int take_path(job *j, int argc, char **argv)
{
    char *operand = argv[1];
    if (argc < 3 || (*argv[2] == '-' && argv[2][1]))
        return tool_fail(USAGE, "FILE.krx is missing: it comes first, as in keyray index %s orders.krx",
                         operand);
    j->path = argv[2];
    argv[1] = argv[2];
    argv[2] = operand;
    return DONE;
}

static int perform(job *j, int operation)
{
    static int (*const runs[])(job *) = {[BUILD] = run_build, [INFO] = run_info, [CHECK] = run_check};
    static void (*const prints[])(const job *, output *) = {
        [BUILD] = print_build, [INFO] = print_info, [CHECK] = print_check};
    const int code = runs[operation](j);
    if (!code && (j->printing.json || operation == INFO || !j->printing.quiet)) {
        output out = output_begin_report(stdout, j->printing.json);
        prints[operation](j, &out);
        output_end(&out, '}');
    }
    kr_index_destroy(j->index);
    table_close(&j->table);
    kr_device_close(j->device);
    column_close(&j->keys);
    saved_close(&j->saved);
    return code;
}

static int is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0 || strcmp(argument, "--man") == 0;
}

static int run(const command *self, int argc, char **argv)
{
    job j = {.options = {.index = "best"}, .where = DEVICE_DEFAULTS};
    const option_group all[] = {{"keyray index build", build_rows, &j.options},
                                {"Input of build", column_rows, &column_input},
                                {"Device of build and check", device_rows, &j.where},
                                {"Output", output_rows, &j.printing}};
    int code = DONE;
    const int operation = options_operand(self, all, 4, argc, argv, &code);
    if (operation < 0)
        return code;
    const option_group *groups = operation == BUILD ? all : operation == CHECK ? all + 2 : all + 3;
    const uint32_t n = (uint32_t)(all + 4 - groups);
    const int has_path = operation != BUILD && !(argc > 2 && is_help(argv[2]));
    if (has_path)
        code = take_path(&j, argc, argv);
    if (!code)
        code = options_parse(self, groups, n, argc - 1 - has_path, argv + 1 + has_path);
    if (code != OPTIONS_GO_ON)
        return code;
    code = operation == BUILD ? check_build(&j, groups, n) : DONE;
    j.progress = progress_callback(j.printing.quiet);
    return code ? code : perform(&j, operation);
}

const command command_index = {
    "index",
    "build|info|check",
    "build an index or a table and save it, say what a saved one is, and check it",
    "keyray index build builds an index over the column --keys, or a table of --column, and writes it to a "
    "file. --index FILE.krx of lookup, range, update and join opens an index, that of scan a table: with no "
    "build, on any device, and on a CPU in memory that all processes share. keyray index info FILE.krx says "
    "what a file holds. keyray index check FILE.krx reads all of it, compares checksums, loads it on the "
    "device and validates what searches rely on.",
    "keyray index build --keys orders.csv:order -o orders.krx\n"
    "keyray index build --keys orders.csv:customer --index array -o customers.krx\n"
    "keyray index build --column orders.csv:day,amount,customer -o table.krx\n"
    "keyray index info orders.krx\n"
    "keyray index check orders.krx --device cpu\n",
    run,
    "A file has the unit of times and the texts of its columns, too, so that probes are converted to them. "
    "It has no values to show: with --index FILE.krx, --show and --values need all of COL, as in "
    "orders.csv:amount. keyray update --index FILE.krx --save FILE.krx changes an index.",
    NULL,
};
