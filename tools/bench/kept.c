/* What travelled for the probes of a divided index (keep=host), beside what the bus carries: copies of as
 * many bytes of pinned memory, in the same run. */
#include "job.h"

#include "tools/terminal/clock.h"
#include "tools/terminal/tool.h"

static int time_pinned(const bench_run *run, const bench_row *row, bench_kept *kept)
{
    static double seconds[BENCH_REPEAT_MOST + 1];
    const uint64_t n = run->options->repeat;
    bench_pinned pinned;
    int code = bench_pinned_open(run, row, &pinned);
    for (uint64_t i = 0; i <= n && !code; ++i) {
        const double begin = tool_now();
        code = bench_pinned_copy(run, &pinned, kept->nbytes);
        seconds[i] = tool_now() - begin;
    }
    bench_pinned_close(run, &pinned);
    if (!code)
        kept->pinned = bench_summarize(seconds + 1, n);
    return code;
}

/* All batches of a run do as the last, of which the report is. */
int bench_keep(const bench_run *run, bench_row *row)
{
    const uint64_t batches = run->data->batches;
    bench_kept *kept = &row->kept;
    row->is_kept = facts_number(&row->index.components, "host memory") != 0;
    if (!row->is_kept)
        return DONE;
    kept->parts = batches * facts_number(&row->lookups.counters, "parts that travelled");
    kept->nbytes = batches * facts_number(&row->lookups.counters, "bytes that travelled");
    kept->on_host = batches * facts_number(&row->lookups.counters, "probes answered by the CPU");
    return kept->nbytes ? time_pinned(run, row, kept) : DONE;
}

/* Of the time that the bus would take, the share of the time that was taken. */
static double share(const bench_row *row)
{
    return row->times.median > 0 ? row->kept.pinned.median / row->times.median : 0;
}

void bench_print_kept_json(output *out, const bench_row *row)
{
    const bench_kept *kept = &row->kept;
    output_begin(out, "kept", '{');
    output_number(out, "parts", facts_number(&row->index.counters, "parts"));
    output_number(out, "parts_travelled", kept->parts);
    output_bytes(out, "travelled", kept->nbytes);
    output_number(out, "probes_on_host", kept->on_host);
    if (kept->nbytes) {
        bench_print_times(out, "pinned_copy", &kept->pinned);
        output_real(out, "share_of_pinned_copy", share(row));
    }
    output_end(out, '}');
}

void bench_print_kept_text(const bench_row *row, FILE *to)
{
    const bench_kept *kept = &row->kept;
    char travelled[32];
    fprintf(
        to, "%10s %llu parts in host memory; for a run %llu travelled, %s; the CPU answered %llu probes\n",
        "", (unsigned long long)facts_number(&row->index.counters, "parts"), (unsigned long long)kept->parts,
        output_size(travelled, kept->nbytes), (unsigned long long)kept->on_host);
    if (kept->nbytes && kept->pinned.median > 0)
        fprintf(
            to,
            "%10s %.1f GB/s; a copy of as many bytes of pinned memory: %.3f ms, %.1f GB/s; %.1f %% of that\n",
            "", (double)kept->nbytes / row->times.median / 1e9, kept->pinned.median * 1e3,
            (double)kept->nbytes / kept->pinned.median / 1e9, 100 * share(row));
}
