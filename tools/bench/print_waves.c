/* Reports waves of inserts and deletes. */
#include "job.h"

void bench_print_times(output *out, const char *key, const bench_times *times)
{
    output_begin(out, key, '{');
    output_seconds(out, "minimum", times->minimum);
    output_seconds(out, "median", times->median);
    output_seconds(out, "maximum", times->maximum);
    if (times->n && times->n <= BENCH_TIMES_KEPT) {
        output_begin(out, "each", '[');
        for (uint64_t i = 0; i < times->n; ++i)
            output_seconds(out, NULL, times->each[i]);
        output_end(out, ']');
    }
    output_end(out, '}');
}

static const char *const changes[N_WAVE_CHANGES] = {"insert", "delete", "replace"};

/* What `moments` are: of waves that grow, and of others. */
static const char *moment(const bench_waves *waves, int at, int in_json)
{
    static const char *const names[2][2][2] = {
        {{"after the inserts", "after_inserts"}, {"after the deletes", "after_deletes"}},
        {{"before the waves", "before_waves"}, {"after the waves", "after_waves"}}};
    return names[waves->form != WAVES_GROW][at][in_json];
}

static uint64_t most_peak(const bench_waves *waves)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < waves->n; ++i)
        most = waves->waves[i].peak_nbytes > most ? waves->waves[i].peak_nbytes : most;
    return most;
}

static double footprint_ratio(const bench_waves *waves)
{
    return (double)waves->moments[1].info.footprint_nbytes / (double)waves->fresh.info.footprint_nbytes;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void print_wave(output *out, const bench_waves *waves, const bench_wave *wave)
{
    output_begin(out, NULL, '{');
    output_text(out, "change", changes[wave->change]);
    output_number(out, "changed", wave->changed);
    output_number(out, "rows", wave->rows);
    output_seconds(out, "seconds", wave->seconds);
    output_phases(out, "phases", &wave->phases);
    output_bytes(out, "footprint", wave->footprint_nbytes);
    output_bytes(out, "peak", wave->peak_nbytes);
    if (waves->form == WAVES_GROW)
        bench_print_times(out, "lookups", &wave->lookups);
    if (waves->form == WAVES_GROW && !waves->is_rebuilt) {
        output_seconds(out, "rebuild", wave->rebuild);
        bench_print_times(out, "rebuilt_lookups", &wave->rebuilt_lookups);
    }
    output_end(out, '}');
}

static void print_moment(output *out, const char *key, const index_facts *index)
{
    output_begin(out, key, '{');
    output_number(out, "rows", index->info.rows);
    output_bytes(out, "footprint", index->info.footprint_nbytes);
    output_counter_fields(out, index);
    output_end(out, '}');
}

static void print_rebuilt(output *out, const bench_waves *waves)
{
    output_text(out, "rebuild_spec", waves->rebuild);
    bench_print_times(out, "rebuild", &waves->rebuilds);
    output_begin(out, "rebuild_per_update", '{');
    output_real(out, "minimum", waves->ratios.minimum);
    output_real(out, "median", waves->ratios.median);
    output_real(out, "maximum", waves->ratios.maximum);
    output_end(out, '}');
    bench_print_times(out, "rebuilt_lookups", &waves->fresh_lookups);
    output_bytes(out, "rebuilt_footprint", waves->fresh.info.footprint_nbytes);
    output_real(out, "lookups_per_rebuilt", waves->slowdown);
    output_real(out, "footprint_per_rebuilt", footprint_ratio(waves));
}

void bench_print_waves_json(output *out, const bench_row *row)
{
    const bench_waves *waves = &row->waves;
    output_text(out, "changed_by", waves->is_rebuilt ? "rebuild" : "update");
    for (uint32_t sort = 0; sort < N_WAVE_CHANGES; ++sort)
        if (waves->changes[sort].maximum > 0)
            bench_print_times(out, changes[sort], &waves->changes[sort]);
    output_bytes(out, "wave_peak", most_peak(waves));
    if (!waves->is_rebuilt)
        print_rebuilt(out, waves);
    for (int at = 0; at < 2; ++at)
        print_moment(out, moment(waves, at, 1), &waves->moments[at]);
    output_begin(out, "waves", '[');
    for (uint32_t i = 0; i < waves->n; ++i)
        print_wave(out, waves, &waves->waves[i]);
    output_end(out, ']');
}

/* ---- Text ---------------------------------------------------------------------------------- */

static void print_text_moment(const char *when, const index_facts *index, FILE *to)
{
    const facts *counters = &index->counters;
    const unsigned long long lists = facts_number(counters, "lists"), nodes = facts_number(counters, "nodes");
    char footprint[32];
    fprintf(to, "%10s %s: %llu rows in %s", "", when, (unsigned long long)index->info.rows,
            output_size(footprint, index->info.footprint_nbytes));
    if (lists)
        fprintf(to, ", %llu lists of %.3f nodes (longest %llu), nodes %.1f%% full, room for %llu more nodes",
                lists, index_facts_nodes_per_list(index),
                (unsigned long long)facts_number(counters, "longest list"), index_facts_fill(index) * 100,
                (unsigned long long)facts_number(counters, "node room") - nodes);
    for (uint32_t i = 0; i < counters->n && !lists; ++i)
        fprintf(to, ", %s %llu", counters->at[i].name, (unsigned long long)counters->at[i].number);
    fputc('\n', to);
}

static void print_text_changes(const bench_waves *waves, FILE *to)
{
    char peak[32];
    for (uint32_t sort = 0; sort < N_WAVE_CHANGES; ++sort) {
        const bench_times *times = &waves->changes[sort];
        uint64_t changed = 0;
        for (uint32_t i = 0; i < waves->n && !changed; ++i)
            changed = waves->waves[i].change == sort ? waves->waves[i].changed : 0;
        if (changed)
            fprintf(to, "%10s %s: %.3f ms (%.3f to %.3f), %.2f M rows/s\n", "", changes[sort],
                    times->median * 1e3, times->minimum * 1e3, times->maximum * 1e3,
                    (double)changed / times->median / 1e6);
    }
    fprintf(to, "%10s peak of a wave: %s\n", "", output_size(peak, most_peak(waves)));
}

static void print_text_rebuilt(const bench_waves *waves, FILE *to)
{
    char footprint[32], spec[KR_SPEC_NBYTES];
    if (kr_spec_shorten(waves->rebuild, spec, sizeof spec, NULL) != KR_OK)
        snprintf(spec, sizeof spec, "%s", waves->rebuild);
    if (waves->is_rebuilt)
        fprintf(to, "%10s every wave built the index anew: %s\n", "", waves->why_rebuilt);
    else
        fprintf(to,
                "%10s building %s anew took %.3f ms, which is %.2f times as long as an update (%.2f to "
                "%.2f); its footprint is %s\n"
                "%10s after the last wave, lookups took %.2f times as long as in the index built anew, and "
                "the footprint was %.2f times as large\n",
                "", spec, waves->rebuilds.median * 1e3, waves->ratios.median, waves->ratios.minimum,
                waves->ratios.maximum, output_size(footprint, waves->fresh.info.footprint_nbytes), "",
                waves->slowdown, footprint_ratio(waves));
}

void bench_print_waves_text(const bench_row *row, FILE *to)
{
    const bench_waves *waves = &row->waves;
    const int grows = waves->form == WAVES_GROW, compares = grows && !waves->is_rebuilt;
    for (int at = 0; at < 2; ++at)
        print_text_moment(moment(waves, at, 0), &waves->moments[at], to);
    print_text_changes(waves, to);
    print_text_rebuilt(waves, to);
    fprintf(to, "%10s %10s %12s %12s %10s%s%s\n", "wave", "rows", "change ms", "M rows/s", "peak",
            grows ? "   lookups ms" : "", compares ? "      anew ms   lookups ms" : "");
    for (uint32_t i = 0; i < waves->n; ++i) {
        const bench_wave *wave = &waves->waves[i];
        char peak[32];
        fprintf(to, "%10s %10llu %12.3f %12.2f %10s", changes[wave->change], (unsigned long long)wave->rows,
                wave->seconds * 1e3, (double)wave->changed / wave->seconds / 1e6,
                output_size(peak, wave->peak_nbytes));
        if (grows)
            fprintf(to, " %12.3f", wave->lookups.median * 1e3);
        if (compares)
            fprintf(to, " %12.3f %12.3f", wave->rebuild * 1e3, wave->rebuilt_lookups.median * 1e3);
        fputc('\n', to);
    }
}
