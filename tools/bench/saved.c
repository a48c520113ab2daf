/* bench build --save: the index saved to a file and loaded again. Beside it what bounds that: reading the
 * file, as dd does, and on a GPU copying as many bytes of pinned memory to the device. */
#include "job.h"

#include "tools/terminal/clock.h"
#include "tools/terminal/tool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const option_row bench_saved_rows[] = {
    {"save", 0, 0, OPTION_TEXT, offsetof(bench_options, save), "FILE",
     "also save the index to FILE and load it; the times to read the file, and on a GPU to copy as many "
     "bytes of pinned memory, stand beside. FILE is replaced, and stays",
     0, 0},
    {0},
};

enum { READ_NBYTES = 1 << 20 };

static int save(const bench_run *run)
{
    kr_error err = {0};
    return tool_check(kr_index_save(run->index, run->options->save, NULL, NULL, &err), &err);
}

static int read_file(const bench_run *run, uint64_t *nbytes)
{
    char *buffer = tool_alloc(READ_NBYTES, 1, "a buffer");
    const int file = buffer ? open(run->options->save, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = file < 0 ? -1 : 1;
    for (*nbytes = 0; n > 0; *nbytes += (uint64_t)n) {
        n = read(file, buffer, READ_NBYTES);
        if (n <= 0)
            break;
    }
    if (file >= 0)
        close(file);
    free(buffer);
    return n < 0 ? tool_fail(FAILED, "%s cannot be read", run->options->save) : DONE;
}

/* *index: the caller destroys it. */
static int load(const bench_run *run, kr_verify verify, kr_index **index)
{
    const kr_saved_options options = {.struct_size = sizeof options, .verify = verify};
    kr_saved *saved = NULL;
    kr_error err = {0};
    int code = tool_check(kr_saved_open(run->options->save, &options, &saved, &err), &err);
    if (!code)
        code = tool_check(kr_index_load(run->device, saved, NULL, index, &err), &err);
    if (!code)
        code = tool_check(kr_device_sync(run->device, NULL, &err), &err);
    kr_saved_close(saved);
    return code;
}

/* What a program waits for that maps a file and looks up one key. */
static int load_and_look_up(const bench_run *run, kr_index **index)
{
    uint32_t row = 0;
    kr_column key = bench_data_column(run->data, COLUMN_KEYS, run->data->first_key, 1);
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = &row};
    kr_error err = {0};
    if (run->data->files)
        key = *bench_files_keys(run->data);
    else
        key.data = run->data->host[COLUMN_KEYS];
    key.count = 1;
    const int is_null = bench_files_is_null(run->data, COLUMN_KEYS, 0);
    int code = load(run, KR_VERIFY_HEADER, index);
    if (!code)
        code = tool_check(kr_index_lookup(*index, &key, &sink, NULL, &err), &err);
    return !code && row == KR_NO_ROW && !is_null ? tool_fail(FAILED, "the loaded index lacks a key") : code;
}

/* One of each, in turn. */
static int measure_once(const bench_run *run, bench_pinned *pinned, bench_saved *of, double seconds[])
{
    kr_index *loaded = NULL, *trusted = NULL;
    double begin = tool_now();
    int code = save(run);
    seconds[SAVED_SAVE] = tool_now() - begin;
    begin = tool_now();
    if (!code)
        code = read_file(run, &of->nbytes);
    seconds[SAVED_READ] = tool_now() - begin;
    begin = tool_now();
    if (!code)
        code = bench_pinned_copy(run, pinned, of->nbytes);
    seconds[SAVED_PINNED] = tool_now() - begin;
    begin = tool_now();
    if (!code)
        code = load(run, KR_VERIFY_ALL, &loaded);
    seconds[SAVED_LOAD] = tool_now() - begin;
    if (!code)
        code = index_facts_take(loaded, &of->facts);
    kr_index_destroy(loaded);
    begin = tool_now();
    if (!code)
        code = load_and_look_up(run, &trusted);
    seconds[SAVED_TRUSTED] = tool_now() - begin;
    kr_index_destroy(trusted);
    return code;
}

static int measure_all(const bench_run *run, bench_pinned *pinned, bench_saved *of)
{
    static double all[SAVED_TIMES][BENCH_REPEAT_MOST + 1];
    const uint64_t n = run->options->repeat;
    int code = DONE;
    for (uint64_t i = 0; i <= n && !code; ++i) {
        double seconds[SAVED_TIMES] = {0};
        code = measure_once(run, pinned, of, seconds);
        for (int which = 0; which < SAVED_TIMES; ++which)
            all[which][i] = seconds[which];
    }
    for (int which = 0; which < SAVED_TIMES && !code; ++which)
        of->times[which] = bench_summarize(all[which] + 1, n);
    of->has_pinned = pinned->memory != NULL;
    return code;
}

/* The answers of what was loaded are checked as those of what was built. */
static int check_loaded(const bench_run *run, bench_saved *of)
{
    bench_run loaded = *run;
    loaded.index = NULL;
    int code = load(run, KR_VERIFY_ALL, &loaded.index);
    if (!code)
        code = bench_check(&loaded, of->checked);
    kr_index_destroy(loaded.index);
    return code;
}

int bench_save(const bench_run *run, bench_row *row)
{
    bench_pinned pinned;
    int code = bench_pinned_open(run, row, &pinned);
    if (!code)
        code = measure_all(run, &pinned, &row->saved);
    if (!code)
        code = check_loaded(run, &row->saved);
    bench_pinned_close(run, &pinned);
    return code;
}

/* ---- Report ---------------------------------------------------------------------------------- */

static const char *const names[SAVED_TIMES] = {
    [SAVED_SAVE] = "save",
    [SAVED_READ] = "read",
    [SAVED_PINNED] = "pinned_copy",
    [SAVED_LOAD] = "load",
    [SAVED_TRUSTED] = "first_lookup",
};
static const char *const texts[SAVED_TIMES] = {
    [SAVED_SAVE] = "saved",
    [SAVED_READ] = "read, in pieces of 1 MiB",
    [SAVED_PINNED] = "as many bytes of pinned memory copied",
    [SAVED_LOAD] = "opened and loaded, all verified",
    [SAVED_TRUSTED] = "opened, trusted, and one key looked up",
};

static int is_shown(const bench_saved *of, int which)
{
    return which != SAVED_PINNED || of->has_pinned;
}

void bench_print_saved_json(output *out, const bench_saved *of)
{
    output_begin(out, "saved", '{');
    output_bytes(out, "nbytes", of->nbytes);
    output_text(out, "checked", of->checked);
    for (int which = 0; which < SAVED_TIMES; ++which)
        if (is_shown(of, which))
            bench_print_times(out, names[which], &of->times[which]);
    output_real(out, "load_of_read", of->times[SAVED_READ].median / of->times[SAVED_LOAD].median);
    if (of->has_pinned)
        output_real(out, "load_of_pinned_copy",
                    of->times[SAVED_PINNED].median / of->times[SAVED_LOAD].median);
    output_phases(out, "load_phases", &of->facts.phases);
    output_end(out, '}');
}

static void print_time(const bench_saved *of, int which, FILE *to)
{
    const bench_times *times = &of->times[which];
    fprintf(to, "%10s %10.3f ms (%.3f to %.3f): %s", "", times->median * 1e3, times->minimum * 1e3,
            times->maximum * 1e3, texts[which]);
    if (which != SAVED_TRUSTED)
        fprintf(to, ", %.2f GB/s", (double)of->nbytes / times->median / 1e9);
    fputc('\n', to);
}

void bench_print_saved_text(const bench_saved *of, FILE *to)
{
    char size[32];
    fprintf(to, "%10s file of %s, one run to warm up; what was loaded is checked likewise\n", "",
            output_size(size, of->nbytes));
    for (int which = 0; which < SAVED_TIMES; ++which)
        if (is_shown(of, which))
            print_time(of, which, to);
    fprintf(to, "%10s loading at %.2f of the rate of reading", "",
            of->times[SAVED_READ].median / of->times[SAVED_LOAD].median);
    if (of->has_pinned)
        fprintf(to, ", %.2f of that of the pinned copy",
                of->times[SAVED_PINNED].median / of->times[SAVED_LOAD].median);
    fprintf(to, ";");
    for (uint32_t i = 0; i < of->facts.phases.n; ++i)
        fprintf(to, " %s %.3f ms%s", of->facts.phases.at[i].name, of->facts.phases.at[i].seconds * 1e3,
                i + 1 < of->facts.phases.n ? "," : "\n");
}
