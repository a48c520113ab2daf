#include "output.h"

#include "progress.h"

#include <math.h>
#include <string.h>

const option_row output_rows[] = {
    {"format", 0, 0, OPTION_CHOICE, offsetof(output_options, json), "text|json",
     "form of the report on standard output [text]", 0, 0},
    {"quiet", 0, 0, OPTION_FLAG, offsetof(output_options, quiet), NULL,
     "no progress on the terminal and no report in text form", 0, 0},
    {0},
};

enum { LABEL_COLUMN = 14 };

static void write_quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (const unsigned char *at = (const unsigned char *)text; *at; ++at)
        if (*at == '"' || *at == '\\')
            fprintf(to, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(to, "\\u%04x", *at);
        else
            fputc(*at, to);
    fputc('"', to);
}

/* What stands before a value: the comma, the indentation, the key. A value of one line is aligned. */
static void write_key(output *out, const char *key, int opens)
{
    const int indent = 2 * (int)out->depth;
    if (out->json) {
        fprintf(out->to, "%s%s%*s", out->members[out->depth]++ ? "," : "", out->depth ? "\n" : "", indent,
                "");
        if (key) {
            write_quoted(out->to, key);
            fputs(": ", out->to);
        }
    } else if (out->depth) {
        fprintf(out->to, "%*s%-*s", indent - 2, "", opens ? 0 : LABEL_COLUMN - indent + 2, key ? key : "-");
        if (!opens)
            fputc(' ', out->to);
    }
}

void output_begin(output *out, const char *key, char bracket)
{
    write_key(out, key, 1);
    if (out->json)
        fputc(bracket, out->to);
    else if (out->depth)
        fputc('\n', out->to);
    out->members[++out->depth] = 0;
}

void output_end(output *out, char bracket)
{
    out->depth--;
    if (out->json && out->members[out->depth + 1])
        fprintf(out->to, "\n%*s", 2 * (int)out->depth, "");
    if (out->json)
        fputc(bracket, out->to);
    if (out->json && out->depth == 0)
        fputc('\n', out->to);
}

output output_begin_report(FILE *to, uint32_t json)
{
    output out = {.to = to, .json = json};
    progress_clear();
    output_begin(&out, NULL, '{');
    return out;
}

static void end_line(output *out)
{
    if (!out->json)
        fputc('\n', out->to);
}

void output_text(output *out, const char *key, const char *text)
{
    write_key(out, key, 0);
    if (out->json)
        write_quoted(out->to, text);
    else
        fputs(text, out->to);
    end_line(out);
}

void output_number(output *out, const char *key, uint64_t number)
{
    write_key(out, key, 0);
    fprintf(out->to, "%llu", (unsigned long long)number);
    end_line(out);
}

void output_signed(output *out, const char *key, int64_t number)
{
    write_key(out, key, 0);
    fprintf(out->to, "%lld", (long long)number);
    end_line(out);
}

const char *output_size(char text[32], uint64_t nbytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double size = (double)nbytes;
    unsigned unit = 0;
    for (; size >= 1024 && unit < 4; ++unit)
        size /= 1024;
    snprintf(text, 32, unit ? "%.1f %s" : "%.0f %s", size, units[unit]);
    return text;
}

void output_bytes(output *out, const char *key, uint64_t nbytes)
{
    char text[32];
    if (out->json)
        output_number(out, key, nbytes);
    else
        output_text(out, key, output_size(text, nbytes));
}

void output_real(output *out, const char *key, double number)
{
    write_key(out, key, 0);
    if (!isfinite(number))
        fputs(out->json ? "null" : "-", out->to);
    else
        fprintf(out->to, out->json ? "%.9g" : "%.6g", number);
    end_line(out);
}

void output_seconds(output *out, const char *key, double seconds)
{
    if (out->json) {
        output_real(out, key, seconds);
        return;
    }
    char text[32];
    snprintf(text, sizeof text, "%.6f s", seconds);
    output_text(out, key, text);
}

void output_truth(output *out, const char *key, int truth)
{
    write_key(out, key, 0);
    fputs(truth ? "true" : "false", out->to);
    end_line(out);
}

void output_phases(output *out, const char *key, const kr_phase *phases, uint32_t n)
{
    output_begin(out, key, '{');
    for (uint32_t i = 0; i < n; ++i)
        output_seconds(out, phases[i].name, phases[i].seconds);
    output_end(out, '}');
}

void output_node_fields(output *out, const kr_node_stats *nodes)
{
    output_number(out, "lists", nodes->lists);
    output_number(out, "nodes", nodes->nodes);
    output_number(out, "room", nodes->room);
    output_number(out, "node_entries", nodes->node_entries);
    output_number(out, "longest", nodes->longest);
    output_real(out, "fill", nodes->fill);
    output_real(out, "mean_length", nodes->mean_length);
}

void output_nodes(output *out, const kr_node_stats *nodes)
{
    if (!nodes->lists)
        return;
    output_begin(out, "nodes", '{');
    output_node_fields(out, nodes);
    output_end(out, '}');
}
