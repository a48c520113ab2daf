/* Columns of texts made of bytes: offsets and views of any content. Rows that are whole are found, and a
 * column with a broken row is refused. The first byte is the type, the second the number of rows, the third
 * how many bytes of text there are; then come offsets or views, and the bytes. */
#include "standalone.h"

#include <keyray/keyray.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 24 };

static void require(int held, const char *what, const char *text)
{
    if (held)
        return;
    fprintf(stderr, "broken: %s: %s\n", what, text);
    abort();
}

/* Memory of its own size, so that a read beyond it is seen. */
static void *take(const uint8_t *data, size_t nbytes, size_t *at, size_t n)
{
    uint8_t *made = calloc(n ? n : 1, 1);
    const size_t there = nbytes - *at < n ? nbytes - *at : n;
    require(made != NULL, "memory", "none");
    memcpy(made, data + *at, there);
    *at += there;
    return made;
}

static int is_whole_view(const int32_t *view, const kr_text_buffer *buffers, uint64_t n_buffers)
{
    if (view[0] < 0)
        return 0;
    if (view[0] <= 12)
        return 1;
    return view[2] >= 0 && (uint64_t)view[2] < n_buffers && view[3] >= 0 &&
           (uint64_t)view[3] + (uint64_t)view[0] <= buffers[view[2]].nbytes &&
           memcmp((const char *)buffers[view[2]].data + view[3], view + 1, 4) == 0;
}

static int is_whole(const kr_column *column)
{
    const int32_t *near = column->data;
    const int64_t *far = column->data;
    const int wide = column->type == KR_LARGE_STRING || column->type == KR_LARGE_BINARY;
    for (uint64_t i = 0; i < column->count; ++i) {
        if (column->type == KR_STRING_VIEW || column->type == KR_BINARY_VIEW) {
            if (!is_whole_view(near + 4 * i, (const kr_text_buffer *)(uintptr_t)column->reserved_words[0],
                               column->reserved_words[1]))
                return 0;
            continue;
        }
        const int64_t from = wide ? far[i] : near[i], to = wide ? far[i + 1] : near[i + 1];
        if (from < 0 || to < from || (uint64_t)to > column->reserved_words[1])
            return 0;
    }
    return 1;
}

static kr_device *open_device(void)
{
    static kr_device *device;
    kr_error err = {0};
    const kr_device_options options = {.struct_size = sizeof options, .threads = 1};
    if (!device)
        require(kr_device_open("cpu", &options, &device, &err) == KR_OK, "the device opens", err.text);
    return device;
}

/* Every row is found in an index of these rows. */
static void check_index(const char *spec, const kr_column *column, int whole)
{
    uint64_t counts[MOST_ROWS] = {0};
    kr_error err = {0};
    kr_index *index = NULL;
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    const kr_status status = kr_index_create(open_device(), spec, column, NULL, NULL, &index, &err);
    require(status == (whole ? KR_OK : KR_ERR_ARGUMENT), "an index is made of whole rows", err.text);
    if (!whole)
        return;
    require(kr_index_validate(index, &err) == KR_OK, "the index is valid", err.text);
    require(kr_index_lookup(index, column, &sink, NULL, &err) == KR_OK, "rows can be counted", err.text);
    for (uint64_t i = 0; i < column->count; ++i)
        require(counts[i] > 0, "a row is found", "it is not");
    kr_index_destroy(index);
}

/* Of an index of other texts; NULL: it goes. */
static void check_probes(const kr_column *column, int whole)
{
    static const int32_t ends[] = {0, 1, 3, 3};
    static kr_index *index;
    uint64_t counts[MOST_ROWS];
    kr_error err = {0};
    const kr_column texts = {
        .type = KR_STRING, .count = 3, .data = ends, .reserved_words = {(uintptr_t) "abc", 3}};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    const kr_status want = whole ? KR_OK : KR_ERR_ARGUMENT;
    if (!column) {
        kr_index_destroy(index);
        index = NULL;
        return;
    }
    if (!index)
        require(kr_index_create(open_device(), "array", &texts, NULL, NULL, &index, &err) == KR_OK,
                "the index is built", err.text);
    require(kr_index_lookup(index, column, &sink, NULL, &err) == want, "points", err.text);
    require(kr_index_range(index, column, column, &sink, NULL, &err) == want, "ranges", err.text);
    require(kr_index_lookup_texts(index, column, KR_TEXTS_PREFIX, &sink, NULL, &err) == want, "prefixes",
            err.text);
    require(kr_index_nearest(index, column, NULL, &sink, NULL, &err) == want, "nearest texts", err.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    static const kr_type types[] = {KR_STRING, KR_LARGE_STRING, KR_STRING_VIEW,
                                    KR_BINARY, KR_LARGE_BINARY, KR_BINARY_VIEW};
    static const uint32_t each[] = {4, 8, 16};
    if (nbytes < 3)
        return 0;
    const uint32_t which = data[0] % 6, n = data[1] % MOST_ROWS, n_bytes = data[2];
    const int views = which % 3 == 2;
    size_t at = 3;
    void *rows = take(data, nbytes, &at, (n + !views) * each[which % 3]);
    void *bytes = take(data, nbytes, &at, n_bytes), *more = take(data, nbytes, &at, n_bytes / 2);
    kr_text_buffer buffers[2] = {{bytes, n_bytes}, {more, n_bytes / 2}};
    const kr_column column = {
        .type = types[which],
        .count = n,
        .data = rows,
        .reserved_words = {(uintptr_t)(views ? (void *)buffers : bytes), views ? 2 : n_bytes}};
    const int whole = is_whole(&column);
    check_index("array", &column, whole);
    check_index("hash", &column, whole);
    check_probes(&column, whole);
    free(more);
    free(bytes);
    free(rows);
    return 0;
}

#ifndef KR_LIBFUZZER
int main(int argc, char **argv)
{
    static const struct kr_fuzz_seed seeds[] = {
        KR_SEED("\0\3\x09\0\0\0\0\3\0\0\0\6\0\0\0\x09\0\0\0antbeecat"),
        KR_SEED("\3\4\5\0\0\0\0\0\0\0\0\1\0\0\0\5\0\0\0\5\0\0\0a\0b\0c"),
        KR_SEED("\1\2\4\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0abab"),
        KR_SEED("\4\2\4\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0abab"),
        KR_SEED("\2\2\x28\3\0\0\0ant\0\0\0\0\0\0\0\0\0\x10\0\0\0abcd\0\0\0\0\0\0\0\0"
                "abcdefghijklmnopqrstuvwxyzabcdefghijklmnabcdefghijklmnopqrst"),
        KR_SEED("\5\2\x28\x0d\0\0\0ghij\0\0\0\0\6\0\0\0\x10\0\0\0abcd\1\0\0\0\0\0\0\0"
                "abcdefghijklmnopqrstuvwxyzabcdefghijklmnabcdefghijklmnopqrst"),
    };
    const int failed = kr_fuzz_main(argc, argv, seeds, sizeof seeds / sizeof seeds[0], 4000);
    check_probes(NULL, 0); /* releases its index */
    kr_device_close(open_device());
    return failed;
}
#endif
