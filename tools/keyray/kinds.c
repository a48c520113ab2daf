#include "commands.h"
#include "output.h"
#include "tool.h"

#include <string.h>

static const struct capability {
    uint32_t bit;
    const char *name;
} capabilities[] = {{KR_CAN_POINT, "point"},
                    {KR_CAN_RANGE, "range"},
                    {KR_CAN_UPDATE, "update"},
                    {KR_CAN_SET_KEYS, "set-keys"}};

enum { N_CAPABILITIES = sizeof capabilities / sizeof *capabilities };

static void name_choice(const char *choices, int64_t position, char text[64])
{
    for (; position > 0 && strchr(choices, '|'); --position)
        choices = strchr(choices, '|') + 1;
    snprintf(text, 64, "%.*s", (int)strcspn(choices, "|"), choices);
}

/* Thousandths without zeros at the end. */
static void name_decimal(int64_t thousandths, char text[64])
{
    snprintf(text, 64, "%.10g", (double)thousandths / 1000);
}

static void name_value(const kr_option *option, int64_t value, char text[64])
{
    const int a = (int)(value & 0xFF), b = (int)(value >> 8 & 0xFF), c = (int)(value >> 16 & 0xFF);
    switch (option->form) {
    case KR_OPTION_CHOICE: name_choice(option->choices, value, text); break;
    case KR_OPTION_TRIPLE: snprintf(text, 64, "%d:%d:%d", a, b, c); break;
    case KR_OPTION_PAIR: snprintf(text, 64, "%d:%d", a, b); break;
    case KR_OPTION_DECIMAL:
        if (value < 0)
            name_choice(option->choices, -1 - value, text);
        else
            name_decimal(value, text);
        break;
    default: snprintf(text, 64, "%lld", (long long)value);
    }
}

/* All values: "soa|aos", "2..33", "0..23:0..23:0..23", "0..25:0..25|on|off", "1.1..1000|auto|never". */
static void name_values(const kr_option *option, char text[192])
{
    const int repeats = option->form == KR_OPTION_TRIPLE ? 3 : option->form == KR_OPTION_PAIR ? 2 : 1;
    char least[64], most[64];
    snprintf(least, sizeof least, "%lld", (long long)option->minimum);
    snprintf(most, sizeof most, "%lld", (long long)option->maximum);
    if (option->form == KR_OPTION_DECIMAL) {
        name_decimal(option->minimum, least);
        name_decimal(option->maximum, most);
    }
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < repeats && option->form != KR_OPTION_CHOICE; ++i)
        used += (size_t)snprintf(text + used, 192 - used, "%s%s..%s", i ? ":" : "", least, most);
    if (option->choices)
        snprintf(text + used, 192 - used, "%s%s", used ? "|" : "", option->choices);
}

enum { HELP_COLUMN = 36, LINE_MOST = 100 };

/* The words of `text` from HELP_COLUMN on, where the line already is, in lines of at most LINE_MOST. */
static void print_wrapped(FILE *to, const char *text)
{
    size_t column = HELP_COLUMN;
    for (size_t length; *text; text += length, text += *text == ' ') {
        length = strcspn(text, " ");
        if (column + 1 + length > LINE_MOST) {
            fprintf(to, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        }
        fprintf(to, " %.*s", (int)length, text);
        column += 1 + length;
    }
    fputc('\n', to);
}

static void print_option(output *out, const kr_option *option)
{
    char standard[64], values[192], label[288], help[512];
    name_value(option, option->standard, standard);
    name_values(option, values);
    if (!out->json) {
        snprintf(label, sizeof label, "      %s=%s", option->name, values);
        fprintf(out->to, "%-*s", HELP_COLUMN, label);
        snprintf(help, sizeof help, "%s [%s]", option->help, standard);
        print_wrapped(out->to, help);
        return;
    }
    output_begin(out, NULL, '{');
    output_text(out, "name", option->name);
    output_text(out, "values", values);
    output_text(out, "default", standard);
    output_text(out, "help", option->help);
    output_end(out, '}');
}

static void print_json(output *out, const kr_kind_info *info)
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
    for (uint32_t i = 0; i < info->n_options; ++i)
        print_option(out, &info->options[i]);
    for (uint32_t i = 0; i < info->n_common_options; ++i)
        print_option(out, &info->common_options[i]);
    output_end(out, ']');
    output_end(out, '}');
}

static void print_text(output *out, const kr_kind_info *info)
{
    fprintf(out->to, "%s: %s\n    source: %s\n    can:", info->name, info->summary, info->source);
    for (int i = 0; i < N_CAPABILITIES; ++i)
        if (info->capabilities & capabilities[i].bit)
            fprintf(out->to, " %s", capabilities[i].name);
    fprintf(out->to, "\n    options [default]:\n");
    for (uint32_t i = 0; i < info->n_options; ++i)
        print_option(out, &info->options[i]);
    fprintf(out->to, "    options of every kind:\n");
    for (uint32_t i = 0; i < info->n_common_options; ++i)
        print_option(out, &info->common_options[i]);
}

static int run(const command *self, int argc, char **argv)
{
    output_options printing = {0};
    const option_group groups[] = {{"Output", output_rows, &printing}};
    const char *wanted = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
    const int skip = wanted ? 1 : 0;
    const int code = options_parse(self, groups, 1, argc - skip, argv + skip);
    if (code != OPTIONS_GO_ON)
        return code;

    kr_error err = {0};
    char text[512];
    if (wanted && strpbrk(wanted, ":,="))
        return tool_fail(USAGE, "'%s' is a spec; give only the kind, which stands before the ':'", wanted);
    if (wanted && strcmp(wanted, "best") == 0)
        return tool_fail(USAGE,
                         "'best' stands for array on a GPU and pivot on a CPU: see keyray kinds array, "
                         "and keyray explain --index best");
    /* It fails with the list of known kinds. */
    if (wanted && kr_spec_print(wanted, text, sizeof text, &err) != KR_OK)
        return tool_fail(USAGE, "%s", err.text);
    kr_kind_info info;
    output out = output_begin_report(stdout, printing.json);
    if (out.json)
        output_begin(&out, "kinds", '[');
    for (uint32_t i = 0; kr_kind_list(i, &info, NULL) == KR_OK; ++i)
        if (!wanted || strcmp(wanted, info.name) == 0)
            (out.json ? print_json : print_text)(&out, &info);
    if (out.json)
        output_end(&out, ']');
    output_end(&out, '}');
    return DONE;
}

const command command_kinds = {
    "kinds", "[KIND]", "the kinds of index, what they answer, and their options", "keyray kinds array", run,
};
