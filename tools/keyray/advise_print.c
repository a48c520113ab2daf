/* The report of keyray advise: text with bars, JSON, and a plot as SVG. */
#include "advise.h"

#include "tools/terminal/tool.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const states[] = {[KR_ADVICE_MEASURED] = "measured",
                                     [KR_ADVICE_SLOWER] = "slower",
                                     [KR_ADVICE_LATE] = "late",
                                     [KR_ADVICE_OVER_CAP] = "over the cap",
                                     [KR_ADVICE_FAILED] = "failed"};

/* "25.6 M". */
static const char *short_number(char text[32], double number)
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    unsigned unit = 0;
    for (; number >= 1000 && unit < 4; ++unit)
        number /= 1000;
    snprintf(text, 32, "%.3g%s", number, units[unit]);
    return text;
}

static const char *short_seconds(char text[32], double seconds)
{
    static const char *const units[] = {"s", "ms", "us", "ns"};
    unsigned unit = 0;
    for (; seconds < 1 && seconds > 0 && unit < 3; ++unit)
        seconds *= 1000;
    snprintf(text, 32, "%.3g %s", seconds, units[unit]);
    return text;
}

static double rate_of(const kr_advice_candidate *c)
{
    return c->lookup_seconds > 0 ? 1 / c->lookup_seconds : 0;
}

static const char *what(const advise_found *found)
{
    return found->is_table ? "scans" : "lookups";
}

/* 1: it may be compared with the best. */
static int is_measured(const kr_advice_candidate *c)
{
    return c->state == KR_ADVICE_MEASURED;
}

static int has_both(const advise_found *found)
{
    return found->info.operations == (KR_CAN_POINT | KR_CAN_RANGE);
}

/* ---- Text ---------------------------------------------------------------------------------- */

enum { BAR = 24 };

static void print_row(const advise_found *found, const kr_advice_candidate *c)
{
    char rate[32], build[32], size[32], update[32] = "", bar[BAR + 1];
    const double best = rate_of(&found->at[0]);
    int n = (int)(BAR * rate_of(c) / (best > 0 ? best : 1) + 0.5);
    n = n < 0 ? 0 : n > BAR ? BAR : n;
    memset(bar, '#', BAR);
    bar[n ? n : 1] = '\0';
    if (found->info.updated_rows)
        short_seconds(update, c->update_seconds);
    printf("  %-22s %9s/s  %-*s %9s %11s", c->spec, short_number(rate, rate_of(c)), BAR, bar,
           short_seconds(build, c->build_seconds), output_size(size, c->footprint_nbytes));
    if (found->info.updated_rows)
        printf(" %9s", update);
    putchar('\n');
}

static void print_table(const advise_found *found)
{
    int left_out = 0;
    printf("\n  %-22s %11s  %-*s %9s %11s%s\n", "kind", what(found), BAR, "", "build", "memory",
           found->info.updated_rows ? "    update" : "");
    for (uint32_t i = 0; i < found->n; ++i)
        if (is_measured(&found->at[i]))
            print_row(found, &found->at[i]);
        else
            left_out = 1;
    if (left_out)
        printf("\n  left out\n");
    for (uint32_t i = 0; i < found->n; ++i)
        if (!is_measured(&found->at[i]))
            printf("  %-22s %s\n", found->at[i].spec, found->at[i].note);
}

static void print_paid(output *out, const advise_found *found)
{
    const kr_advice_info *info = &found->info;
    char text[KR_SPEC_NBYTES + 128], number[32];
    if (!info->paid_against[0])
        snprintf(text, sizeof text, "at once: no build that was measured is cheaper");
    else if (info->paid_lookups == UINT64_MAX)
        snprintf(text, sizeof text, "never, against %s", info->paid_against);
    else
        snprintf(text, sizeof text, "%s %s, against %s", short_number(number, (double)info->paid_lookups),
                 what(found),
                 strcmp(info->paid_against, "no index") == 0 ? "reading the column for each"
                                                             : info->paid_against);
    output_text(out, "paid_after", text);
}

static void print_asked(output *out, const advise_found *found)
{
    const kr_advice_info *info = &found->info;
    if (info->operations & KR_CAN_POINT)
        output_real(out, "hit_percent", info->hit_percent);
    if (info->operations & KR_CAN_RANGE)
        output_real(out, "range_hits", info->range_hits);
    if (found->is_table)
        output_real(out, "rows_found", info->range_hits);
    else
        output_number(out, "batch", info->batch);
    if (info->updated_rows)
        output_number(out, "updated_rows", info->updated_rows);
}

static void print_text(const advise_found *found)
{
    const kr_advice_info *info = &found->info;
    output out = output_begin_report(stdout, 0);
    output_text(&out, "use", info->spec);
    output_text(&out, "reason", info->reason);
    output_text(&out, "device", info->device);
    output_number(&out, "rows", info->rows);
    output_text(&out, "measured", info->sample[0] ? info->sample : "all rows");
    print_asked(&out, found);
    print_paid(&out, found);
    output_seconds(&out, "time", info->seconds);
    print_table(found);
    output_end(&out, '}');
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void print_json_paid(output *out, uint64_t lookups)
{
    if (lookups == UINT64_MAX)
        output_null(out, "paid_after");
    else
        output_number(out, "paid_after", lookups);
}

static void print_json_candidate(output *out, const advise_found *found, const kr_advice_candidate *c)
{
    output_begin(out, NULL, '{');
    output_text(out, "spec", c->spec);
    output_text(out, "state", states[c->state]);
    output_text(out, "note", c->note);
    output_number(out, "rows", c->rows);
    output_real(out, found->is_table ? "scans_per_second" : "lookups_per_second", rate_of(c));
    if (has_both(found)) {
        output_real(out, "points_per_second", c->points_per_second);
        output_real(out, "ranges_per_second", c->ranges_per_second);
    }
    output_seconds(out, "build_seconds", c->build_seconds);
    if (found->info.updated_rows)
        output_seconds(out, "update_seconds", c->update_seconds);
    output_number(out, "footprint", c->footprint_nbytes);
    output_number(out, "peak", c->peak_nbytes);
    if (is_measured(c))
        print_json_paid(out, c->paid_lookups);
    output_seconds(out, "whole_lookup_seconds", c->whole_lookup_seconds);
    output_number(out, "whole_footprint", c->whole_footprint_nbytes);
    output_end(out, '}');
}

static void print_json(const advise_found *found)
{
    const kr_advice_info *info = &found->info;
    output out = output_begin_report(stdout, 1);
    output_text(&out, "use", info->spec);
    output_text(&out, "reason", info->reason);
    output_text(&out, "device", info->device);
    output_number(&out, "rows", info->rows);
    output_number(&out, "measured_rows", info->measured_rows);
    output_text(&out, "sample", info->sample);
    print_asked(&out, found);
    print_json_paid(&out, info->paid_lookups);
    output_text(&out, "paid_against", info->paid_against);
    output_seconds(&out, "scan_seconds", info->scan_seconds);
    output_seconds(&out, "seconds", info->seconds);
    output_begin(&out, "kinds", '[');
    for (uint32_t i = 0; i < found->n; ++i)
        print_json_candidate(&out, found, &found->at[i]);
    output_end(&out, ']');
    output_end(&out, '}');
}

void advise_print(const advise_found *found, const output_options *printing)
{
    if (printing->json)
        print_json(found);
    else if (printing->quiet)
        printf("%s\n", found->info.spec);
    else
        print_text(found);
}

/* ---- SVG ----------------------------------------------------------------------------------- */

enum { LINE = 28, LEFT = 190, WIDE = 360, WIDTH = 900, TOP = 64 };

/* Characters that XML does not take as they are. */
static void put_escaped(FILE *to, const char *text)
{
    for (; *text; ++text)
        if (*text == '<')
            fputs("&lt;", to);
        else if (*text == '>')
            fputs("&gt;", to);
        else if (*text == '&')
            fputs("&amp;", to);
        else if ((unsigned char)*text >= ' ')
            fputc(*text, to);
}

static void put_text(FILE *to, int x, int y, const char *more, const char *text)
{
    fprintf(to, "<text x=\"%d\" y=\"%d\"%s>", x, y, more);
    put_escaped(to, text);
    fputs("</text>\n", to);
}

static void put_bar(FILE *to, const advise_found *found, uint32_t i, int y)
{
    const kr_advice_candidate *c = &found->at[i];
    const double best = rate_of(&found->at[0]), share = best > 0 ? rate_of(c) / best : 0;
    char rate[32], build[32], size[32], text[160];
    snprintf(text, sizeof text, "%s/s, build %s, %s", short_number(rate, rate_of(c)),
             short_seconds(build, c->build_seconds), output_size(size, c->footprint_nbytes));
    put_text(to, LEFT - 10, y + 15, " text-anchor=\"end\"", c->spec);
    fprintf(to, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"20\" fill=\"%s\"/>\n", LEFT, y, WIDE * share,
            i ? "#8fa8c8" : "#1f5fa8");
    put_text(to, LEFT + (int)(WIDE * share) + 8, y + 15, " fill=\"#444\"", text);
}

static void put_svg(FILE *to, const advise_found *found, uint32_t n)
{
    char title[256];
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
            "font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            WIDTH, TOP + (int)n * LINE + 24);
    snprintf(title, sizeof title, "%s: %s of each kind per second", found->subject, what(found));
    put_text(to, 16, 26, " font-size=\"16\"", title);
    snprintf(title, sizeof title, "%llu of %llu rows, %s", (unsigned long long)found->info.measured_rows,
             (unsigned long long)found->info.rows, found->info.device);
    put_text(to, 16, 46, " fill=\"#444\"", title);
    for (uint32_t i = 0; i < n; ++i)
        put_bar(to, found, i, TOP + (int)i * LINE);
    fputs("</svg>\n", to);
}

char *advise_svg(const advise_found *found, size_t *nbytes)
{
    char *text = NULL;
    uint32_t n = 0;
    while (n < found->n && is_measured(&found->at[n]))
        ++n;
    FILE *to = open_memstream(&text, nbytes);
    if (to)
        put_svg(to, found, n);
    if (!to || fclose(to) != 0) {
        free(text);
        tool_fail_machine("no host memory for a plot");
        return NULL;
    }
    return text;
}
