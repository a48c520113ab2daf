#include "output.h"

#include "progress.h"
#include "wide.h"

#include <math.h>
#include <string.h>

#define FORMAT_ROW                                                                  \
    {                                                                               \
        "format", 0, 0, OPTION_CHOICE, offsetof(output_options, json), "text|json", \
            "the form of the report on standard output [text]", 0, 0                \
    }
#define QUIET_ROW(help)                                                               \
    {                                                                                 \
        "quiet", 0, 0, OPTION_FLAG, offsetof(output_options, quiet), NULL, help, 0, 0 \
    }

const option_row output_list_rows[] = {
    FORMAT_ROW,
    QUIET_ROW("changes nothing, because this command prints its list and nothing else"),
    {0},
};

const option_row output_rows[] = {
    FORMAT_ROW,
    QUIET_ROW("print no progress and no report in text form"),
    {0},
};

const option_row output_answers_rows[] = {
    FORMAT_ROW,
    QUIET_ROW("print no progress, no report in text form, and no answers unless -o asks for them; -o -.csv "
              "prints them without the report"),
    {0},
};

const option_row output_value_rows[] = {
    FORMAT_ROW,
    QUIET_ROW("print no progress, no report in text form, and no table unless -o asks for it; an answer "
              "that is one value, such as the number of --count, is then printed alone"),
    {0},
};

const option_row output_spec_rows[] = {
    FORMAT_ROW,
    QUIET_ROW("print no progress and no report in text form, but the spec alone"),
    {0},
};

enum { LABEL_COLUMN = 14 };

/* Bytes of the letter of UTF-8 that begins here; 0: none does. */
static int letter_nbytes(const unsigned char *at)
{
    const int more = *at < 0x80 ? 0 : *at >= 0xc2 && *at < 0xe0 ? 1 : *at >= 0xe0 && *at < 0xf0 ? 2 : 3;
    if (*at >= 0x80 && (*at < 0xc2 || *at > 0xf4))
        return 0;
    for (int i = 1; i <= more; ++i)
        if ((at[i] & 0xc0) != 0x80) /* the NUL at the end, too */
            return 0;
    /* A longer form than needed, half of a pair of UTF-16, or above the last letter. */
    const int wrong = (*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
                      (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f);
    return wrong ? 0 : 1 + more;
}

/* Names of files may have any bytes, but JSON is UTF-8: others become U+FFFD, the replacement character. */
static void write_quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        const int nbytes = letter_nbytes(at);
        if (!nbytes)
            fputs("\\ufffd", to);
        else if (*at == '"' || *at == '\\')
            fprintf(to, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(to, "\\u%04x", *at);
        else
            fwrite(at, 1, (size_t)nbytes, to);
        at += nbytes ? nbytes : 1;
    }
    fputc('"', to);
}

/* Writes what precedes a value: the comma, the indentation, the key. A value of one line is aligned. */
static void write_name(output *out, const char *key, int opens)
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

/* A word of keyray's own: "row_ids" in JSON, "row ids" in text. */
static void write_key(output *out, const char *key, int opens)
{
    char words[64];
    snprintf(words, sizeof words, "%s", key ? key : "");
    for (char *at = words; *at && !out->json; ++at)
        *at = *at == '_' ? ' ' : *at;
    write_name(out, key ? words : NULL, opens);
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

void output_number_of(output *out, const char *name, uint64_t number)
{
    write_name(out, name, 0);
    fprintf(out->to, "%llu", (unsigned long long)number);
    end_line(out);
}

void output_text_of(output *out, const char *name, const char *text)
{
    write_name(out, name, 0);
    if (out->json)
        write_quoted(out->to, text);
    else
        fputs(text, out->to);
    end_line(out);
}

void output_signed(output *out, const char *key, int64_t number)
{
    write_key(out, key, 0);
    fprintf(out->to, "%lld", (long long)number);
    end_line(out);
}

void output_wide(output *out, const char *key, kr_type type, const uint64_t *words)
{
    char text[WIDE_NBYTES];
    wide_text(words, type, text);
    write_key(out, key, 0);
    fputs(text, out->to);
    end_line(out);
}

void output_value(output *out, const char *key, kr_type type, kr_unit unit, const void *value)
{
    char text[KR_VALUE_NBYTES];
    kr_value_text(type, unit, value, text);
    const int is_number = type != KR_DATE32 && unit == KR_UNIT_NONE;
    if (!out->json || !is_number) {
        output_text(out, key, text);
        return;
    }
    write_key(out, key, 0);
    fputs(text[strspn(text, "+-")] == 'n' || text[strspn(text, "+-")] == 'i' ? "null" : text, out->to);
}

void output_null(output *out, const char *key)
{
    write_key(out, key, 0);
    fputs(out->json ? "null" : "NULL", out->to);
    end_line(out);
}

void output_value_alone(FILE *to, kr_type type, kr_unit unit, const void *value)
{
    char text[KR_VALUE_NBYTES];
    kr_value_text(type, unit, value, text);
    progress_clear();
    fprintf(to, "%s\n", text);
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

void output_spec(output *out, const char *key, const char *spec)
{
    char shorter[KR_SPEC_NBYTES];
    const int is_short = !out->json && kr_spec_shorten(spec, shorter, sizeof shorter, NULL) == KR_OK;
    output_text(out, key, is_short ? shorter : spec);
}

void output_phases(output *out, const char *key, const facts *phases)
{
    if (!out->json && !phases->n)
        return;
    output_begin(out, key, '{');
    for (uint32_t i = 0; i < phases->n; ++i)
        output_seconds(out, phases->at[i].name, phases->at[i].seconds);
    output_end(out, '}');
}

/* "node room" is the key node_room of JSON. */
void output_counter(output *out, const char *name, uint64_t number)
{
    char key[32];
    snprintf(key, sizeof key, "%s", name);
    for (char *at = key; *at && out->json; ++at)
        *at = *at == ' ' ? '_' : *at;
    output_number(out, key, number);
}

void output_counter_fields(output *out, const index_facts *index)
{
    for (uint32_t i = 0; i < index->counters.n; ++i)
        output_counter(out, index->counters.at[i].name, index->counters.at[i].number);
    if (!index_facts_has_lists(index))
        return;
    output_real(out, "node_fill", index_facts_fill(index));
    output_real(out, "nodes_per_list", index_facts_nodes_per_list(index));
}

void output_counters(output *out, const index_facts *index)
{
    if (!index->counters.n)
        return;
    output_begin(out, "counters", '{');
    output_counter_fields(out, index);
    output_end(out, '}');
}

/* "1.5 us". */
static const char *short_time(char text[32], double seconds)
{
    static const char *const units[] = {"s", "ms", "us", "ns"};
    unsigned unit = 0;
    for (; seconds < 1 && unit < 3; ++unit)
        seconds *= 1000;
    snprintf(text, 32, "%.3g %s", seconds, units[unit]);
    return text;
}

void output_indexed(output *out, const kr_join_info *info)
{
    output_text(out, "indexed", info->indexed);
    if (info->cost_left <= 0 && info->cost_right <= 0)
        return;
    if (out->json) {
        output_seconds(out, "cost_left", info->cost_left);
        output_seconds(out, "cost_right", info->cost_right);
    } else if (strcmp(info->indexed, "none") != 0) { /* two sides that were merged have no such cost */
        char left[32], right[32], text[160];
        snprintf(text, sizeof text, "left indexed %s, right indexed %s: to compare the sides, not to predict",
                 short_time(left, info->cost_left), short_time(right, info->cost_right));
        output_text(out, "rule", text);
    }
}
