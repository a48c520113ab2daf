#include "commands.h"
#include "tools/terminal/help.h"
#include "tools/terminal/output.h"
#include "tools/terminal/tool.h"

#include <string.h>

static const struct capability {
    uint32_t bit;
    const char *name;
} capabilities[] = {{KR_CAN_POINT, "point"},   {KR_CAN_RANGE, "range"},       {KR_CAN_NEAREST, "nearest"},
                    {KR_CAN_UPDATE, "update"}, {KR_CAN_SET_KEYS, "set-keys"}, {KR_CAN_SCAN, "scan"}};

enum { N_CAPABILITIES = sizeof capabilities / sizeof *capabilities };

enum { HELP_COLUMN = 37 };

static void print_option(output *out, const kr_option_info *option)
{
    char label[256], help[512];
    if (!out->json) {
        snprintf(label, sizeof label, "      %s=%s", option->name, option->values);
        fprintf(out->to, "%-*s ", HELP_COLUMN - 1, label);
        snprintf(help, sizeof help, "%s [%s]", option->help, option->standard);
        help_print_wrapped(out->to, help, HELP_COLUMN, HELP_COLUMN);
        return;
    }
    output_begin(out, NULL, '{');
    output_text(out, "name", option->name);
    output_text(out, "values", option->values);
    output_text(out, "default", option->standard);
    output_text(out, "help", option->help);
    output_end(out, '}');
}

/* The kind's own options, or those of every kind. */
static void print_options(output *out, uint32_t kind, const kr_kind_info *info, uint32_t is_common)
{
    kr_option_info option = {.struct_size = sizeof option};
    for (uint32_t i = 0; i < info->option_count; ++i)
        if (kr_option_query(kind, i, &option, NULL) == KR_OK && option.is_common == is_common)
            print_option(out, &option);
}

static void print_json(output *out, uint32_t kind, const kr_kind_info *info)
{
    output_begin(out, NULL, '{');
    output_text(out, "name", info->name);
    output_text(out, "summary", info->summary);
    output_text(out, "source", info->source);
    output_begin(out, "capabilities", '[');
    for (int i = 0; i < N_CAPABILITIES; ++i)
        if (info->capabilities & capabilities[i].bit)
            output_text(out, NULL, capabilities[i].name);
    output_end(out, ']');
    output_begin(out, "options", '[');
    print_options(out, kind, info, 0);
    print_options(out, kind, info, 1);
    output_end(out, ']');
    output_end(out, '}');
}

static int is_same(const kr_option_info *a, const kr_option_info *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->values, b->values) == 0 &&
           strcmp(a->standard, b->standard) == 0 && strcmp(a->help, b->help) == 0;
}

/* 1: the kind has this very option. */
static int has_option(uint32_t kind, const kr_option_info *wanted)
{
    kr_option_info option = {.struct_size = sizeof option};
    for (uint32_t i = 0; kr_option_query(kind, i, &option, NULL) == KR_OK; ++i)
        if (is_same(&option, wanted))
            return 1;
    return 0;
}

/* The names of the kinds that have the option, "array, pivot"; their number. */
static uint32_t list_kinds(const kr_option_info *option, char *names, size_t nbytes)
{
    kr_kind_info info = {.struct_size = sizeof info};
    uint32_t n = 0;
    names[0] = '\0';
    for (uint32_t kind = 0; kr_kind_query(kind, &info, NULL) == KR_OK; ++kind)
        if (has_option(kind, option)) {
            const size_t used = strlen(names);
            snprintf(names + used, nbytes - used, "%s%s", n++ ? ", " : "", info.name);
        }
    return n;
}

enum { NAMES_NBYTES = 512 };

/* The kind's options that other kinds have, too: their names. */
static void print_shared(output *out, uint32_t kind, const kr_kind_info *info)
{
    kr_option_info option = {.struct_size = sizeof option};
    char names[NAMES_NBYTES], line[NAMES_NBYTES] = "and, listed at the end:";
    const size_t begin = strlen(line);
    for (uint32_t i = 0; i < info->option_count; ++i)
        if (kr_option_query(kind, i, &option, NULL) == KR_OK &&
            list_kinds(&option, names, sizeof names) > 1) {
            const size_t used = strlen(line);
            snprintf(line + used, sizeof line - used, "%s %s", used > begin ? "," : "", option.name);
        }
    if (line[begin]) {
        fprintf(out->to, "      ");
        help_print_wrapped(out->to, line, 6, 6);
    }
}

/* The options that several kinds have, each once, those of the same kinds together. */
static void print_options_of_several(output *out)
{
    kr_kind_info info = {.struct_size = sizeof info};
    kr_option_info option = {.struct_size = sizeof option};
    char names[NAMES_NBYTES], last[NAMES_NBYTES] = "";
    fprintf(out->to, "\nOptions that several kinds have [default]:\n");
    for (uint32_t kind = 0; kr_kind_query(kind, &info, NULL) == KR_OK; ++kind)
        for (uint32_t i = 0; i < info.option_count; ++i) {
            int is_new = kr_option_query(kind, i, &option, NULL) == KR_OK &&
                         list_kinds(&option, names, sizeof names) > 1;
            for (uint32_t before = 0; before < kind && is_new; ++before)
                is_new = !has_option(before, &option);
            if (!is_new)
                continue;
            if (strcmp(names, last) != 0) {
                fprintf(out->to, "    ");
                help_print_wrapped(out->to, names, 4, 4);
            }
            memcpy(last, names, sizeof last);
            print_option(out, &option);
        }
}

/* Of all kinds: options that several have are left out. */
static void print_options_of_one(output *out, uint32_t kind, const kr_kind_info *info)
{
    kr_option_info option = {.struct_size = sizeof option};
    char names[NAMES_NBYTES];
    for (uint32_t i = 0; i < info->option_count; ++i)
        if (kr_option_query(kind, i, &option, NULL) == KR_OK && list_kinds(&option, names, sizeof names) == 1)
            print_option(out, &option);
    print_shared(out, kind, info);
}

static void print_head(output *out, const kr_kind_info *info)
{
    fprintf(out->to, "%s: %s\n    source: %s\n    can:", info->name, info->summary, info->source);
    for (int i = 0; i < N_CAPABILITIES; ++i)
        if (info->capabilities & capabilities[i].bit)
            fprintf(out->to, " %s", capabilities[i].name);
    fprintf(out->to, "\n    options [default]:\n");
}

static void print_short(output *out, uint32_t kind, const kr_kind_info *info)
{
    print_head(out, info);
    print_options_of_one(out, kind, info);
}

static void print_text(output *out, uint32_t kind, const kr_kind_info *info)
{
    print_head(out, info);
    print_options(out, kind, info, 0);
    if (info->capabilities & KR_CAN_SCAN)
        return;
    fprintf(out->to, "    options of every kind of index:\n");
    print_options(out, kind, info, 1);
}

/* Which kind it stands for depends on the kinds of the build. */
static int refuse_best(void)
{
    char text[KR_SPEC_NBYTES];
    kr_error err = {0};
    if (kr_spec_complete("best", text, sizeof text, &err) != KR_OK)
        return tool_fail(USAGE, "%s", err.text);
    text[strcspn(text, ":")] = '\0';
    return tool_fail(
        USAGE,
        "'best' stands for %s: see keyray kinds %s, and keyray explain point --keys COL --index best, "
        "or --index best:updates=on when rows are inserted and deleted, best:ranges=off for points alone",
        text, text);
}

static int run(const command *self, int argc, char **argv)
{
    output_options printing = {0};
    const option_group groups[] = {{"Output", output_list_rows, &printing}};
    const char *wanted = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
    const int skip = wanted ? 1 : 0;
    const int code = options_parse(self, groups, 1, argc - skip, argv + skip);
    if (code != OPTIONS_GO_ON)
        return code;

    kr_error err = {0};
    char text[KR_SPEC_NBYTES];
    if (wanted && strpbrk(wanted, ":,="))
        return tool_fail(USAGE, "'%s' is a spec; give only the kind, which stands before the ':'", wanted);
    if (wanted && strcmp(wanted, "best") == 0)
        return refuse_best();
    /* It fails with the list of known kinds. */
    if (wanted && kr_spec_complete(wanted, text, sizeof text, &err) != KR_OK)
        return tool_fail(USAGE, "%s", err.text);
    kr_kind_info info = {.struct_size = sizeof info};
    output out = output_begin_report(stdout, printing.json);
    if (out.json)
        output_begin(&out, "kinds", '[');
    for (uint32_t i = 0; kr_kind_query(i, &info, NULL) == KR_OK; ++i)
        if (!wanted || strcmp(wanted, info.name) == 0)
            (out.json ? print_json : wanted ? print_text : print_short)(&out, i, &info);
    if (!out.json && !wanted)
        print_options_of_several(&out);
    if (out.json)
        output_end(&out, ']');
    output_end(&out, '}');
    return DONE;
}

const command command_kinds = {
    "kinds",
    "[KIND]",
    "the kinds of index and of scans, what they answer, and their options",
    "Lists the kinds of index and of scans: what each of them can do, and its options with their "
    "values and defaults. Options that several kinds share are listed once, at the end; keyray kinds "
    "KIND lists all options of one kind.",
    "keyray kinds array",
    run,
    "A SPEC names a kind with its options, as in array or array:layout=aos,probes=sorted. best lets "
    "keyray choose; best:updates=on does so for indexes that take inserts and deletes, best:ranges=off for "
    "those that answer points alone. best may be told more: lookups=N, how many keys are looked up before "
    "the index is built anew; batch=N, the most probes of a call; hits=PERCENT, how many of the probes find "
    "a key. keyray explain says what it chooses, and why. The first ':' ends the kind, and ',' ends an "
    "option; further ':' belong to a value, as in bits=23:23:18.",
};
