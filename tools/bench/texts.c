/* --texts: keys and probes as texts, which are made of the numbers and have their order, so that all that is
 * known of the numbers holds for them. */
#include "job.h"

#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

const option_row bench_texts_rows[] = {
    {"texts", 0, 0, OPTION_CHOICE, offsetof(workload, texts), BENCH_TEXTS,
     "keys and probes are texts, made of the numbers and in their order: 16 hexadecimal digits, "
     "Customer#0123456789, or URLs of 48 shops; joins of equal values alone [no]",
     0, 0},
    {0},
};

int bench_texts_check(const bench_options *options, const workload *w)
{
    if (w->texts && (options->asof || options->overlap))
        return tool_fail(USAGE, "--asof and --overlap join numbers; leave out --texts");
    if (w->texts && options->baseline)
        return tool_fail(USAGE, "--baseline has no rival for texts; leave out --texts or --baseline");
    return DONE;
}

static int bring(const bench_data *data, void *host, uint64_t nbytes, void **there)
{
    kr_error err = {0};
    *there = host;
    if (!data->device)
        return DONE;
    *there = NULL;
    kr_status status = kr_memory_allocate(data->device, nbytes, NULL, there, &err);
    if (status == KR_OK)
        status = kr_memory_copy(data->device, *there, host, nbytes, NULL, &err);
    if (status == KR_OK)
        status = kr_device_sync(data->device, NULL, &err);
    free(host);
    return tool_check(status, &err);
}

static uint32_t text_nbytes(const bench_data *data)
{
    return kr_text_nbytes((kr_text_form)data->texts.form, data->type);
}

/* The texts of a column, where the library reads it. */
int bench_texts_make(bench_data *data, int column, uint64_t count, uint32_t threads)
{
    bench_text_column *texts = &data->texts.columns[column];
    const uint64_t nbytes = count * text_nbytes(data);
    if (texts->bytes)
        return DONE;
    texts->count = count;
    char *bytes = tool_alloc(nbytes + 1, 1, "the texts; lower --count or --probes");
    int64_t *offsets = tool_alloc(count + 1, sizeof *offsets, "where texts begin");
    if (!bytes || !offsets) {
        free(bytes);
        free(offsets);
        return FAILED;
    }
    kr_generate_texts((kr_text_form)data->texts.form, data->type, count, data->host[column], threads, offsets,
                      bytes);
    const int code = bring(data, bytes, nbytes + 1, &texts->bytes);
    if (!code)
        return bring(data, offsets, (count + 1) * sizeof *offsets, &texts->offsets);
    free(offsets);
    return code;
}

void bench_texts_close(bench_data *data, int column)
{
    bench_text_column *texts = &data->texts.columns[column];
    const uint64_t nbytes = texts->count * text_nbytes(data) + 1;
    if (data->device && texts->bytes)
        kr_memory_release(data->device, texts->bytes, nbytes, NULL);
    if (data->device && texts->offsets)
        kr_memory_release(data->device, texts->offsets, (texts->count + 1) * sizeof(int64_t), NULL);
    if (!data->device) {
        free(texts->bytes);
        free(texts->offsets);
    }
    *texts = (bench_text_column){0};
}

kr_column bench_texts_column(const bench_data *data, int column, uint64_t first, uint64_t count)
{
    const bench_text_column *texts = &data->texts.columns[column];
    return (kr_column){.type = KR_LARGE_STRING,
                       .count = count,
                       .data = (const int64_t *)texts->offsets + first,
                       .reserved_words = {(uintptr_t)texts->bytes, texts->count * text_nbytes(data)}};
}
