/* Reports waves of inserts and deletes. */
#include "job.h"

void bench_print_times(output *out, const char *key, const bench_times *times)
{
    output_begin(out, key, '{');
    output_seconds(out, "minimum", times->minimum);
    output_seconds(out, "median", times->median);
    output_seconds(out, "maximum", times->maximum);
    output_end(out, '}');
}

static const char *const changes[] = {"insert", "delete"};
static const char *const moments[] = {"after_inserts", "after_deletes"};

/* ---- JSON ---------------------------------------------------------------------------------- */

static void print_wave(output *out, const bench_waves *waves, uint32_t i)
{
    const bench_wave *wave = &waves->waves[i];
    output_begin(out, NULL, '{');
    output_text(out, "change", changes[i >= waves->n / 2]);
    output_number(out, "changed", wave->changed);
    output_number(out, "rows", wave->rows);
    output_seconds(out, "seconds", wave->seconds);
    bench_print_times(out, "lookups", &wave->lookups);
    if (!waves->is_rebuilt) {
        output_seconds(out, "rebuild", wave->rebuild);
        bench_print_times(out, "rebuilt_lookups", &wave->rebuilt_lookups);
    }
    output_end(out, '}');
}

static void print_half(output *out, const char *key, const index_facts *index)
{
    output_begin(out, key, '{');
    output_number(out, "rows", index->info.rows);
    output_bytes(out, "footprint", index->info.footprint_nbytes);
    output_counter_fields(out, index);
    output_end(out, '}');
}

void bench_print_waves_json(output *out, const bench_row *row)
{
    const bench_waves *waves = &row->waves;
    output_text(out, "changed_by", waves->is_rebuilt ? "rebuild" : "update");
    if (!waves->is_rebuilt) {
        output_text(out, "rebuild_spec", waves->rebuild);
        bench_print_times(out, "rebuild", &waves->rebuilds);
        output_begin(out, "rebuild_per_update", '{');
        output_real(out, "minimum", waves->ratios.minimum);
        output_real(out, "median", waves->ratios.median);
        output_real(out, "maximum", waves->ratios.maximum);
        output_end(out, '}');
        output_real(out, "lookups_per_rebuilt", waves->slowdown);
    }
    for (int half = 0; half < 2; ++half)
        print_half(out, moments[half], &waves->halves[half]);
    output_begin(out, "waves", '[');
    for (uint32_t i = 0; i < waves->n; ++i)
        print_wave(out, waves, i);
    output_end(out, ']');
}

/* ---- Text ---------------------------------------------------------------------------------- */

static void print_text_half(const char *change, const index_facts *index, FILE *to)
{
    const facts *counters = &index->counters;
    const unsigned long long lists = facts_number(counters, "lists"), nodes = facts_number(counters, "nodes");
    char footprint[32];
    fprintf(to, "%10s after the %ss: %llu rows in %s", "", change, (unsigned long long)index->info.rows,
            output_size(footprint, index->info.footprint_nbytes));
    if (lists)
        fprintf(to, ", %llu lists of %.3f nodes (longest %llu), nodes %.1f%% full, room for %llu more nodes",
                lists, index_facts_nodes_per_list(index),
                (unsigned long long)facts_number(counters, "longest list"), index_facts_fill(index) * 100,
                (unsigned long long)facts_number(counters, "node room") - nodes);
    fputc('\n', to);
}

void bench_print_waves_text(const bench_row *row, FILE *to)
{
    const bench_waves *waves = &row->waves;
    for (int half = 0; half < 2; ++half)
        print_text_half(changes[half], &waves->halves[half], to);
    if (waves->is_rebuilt)
        fprintf(to, "%10s every wave built the index anew: %s\n", "", waves->why_rebuilt);
    else
        fprintf(to,
                "%10s built anew: %.3f ms, %.2f times an update (%.2f to %.2f); lookups at last take %.2f "
                "times as long as those of %s\n",
                "", waves->rebuilds.median * 1e3, waves->ratios.median, waves->ratios.minimum,
                waves->ratios.maximum, waves->slowdown, waves->rebuild);
    fprintf(to, "%10s %10s %12s %12s %12s%s\n", "wave", "rows", "change ms", "M rows/s", "lookups ms",
            waves->is_rebuilt ? "" : "      anew ms   lookups ms");
    for (uint32_t i = 0; i < waves->n; ++i) {
        const bench_wave *wave = &waves->waves[i];
        fprintf(to, "%10s %10llu %12.3f %12.2f %12.3f", changes[i >= waves->n / 2],
                (unsigned long long)wave->rows, wave->seconds * 1e3,
                (double)wave->changed / wave->seconds / 1e6, wave->lookups.median * 1e3);
        if (!waves->is_rebuilt)
            fprintf(to, " %12.3f %12.3f", wave->rebuild * 1e3, wave->rebuilt_lookups.median * 1e3);
        fputc('\n', to);
    }
}
