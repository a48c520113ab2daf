/* Structs that may grow, by the rules of keyray.h: each function with each struct of the first release's
 * size, of smaller ones, and of larger ones whose tail is zero or not. */
#include "check.h"

#include <unistd.h>

enum { TAIL = 48, ROOM = 4096, N = 100 };

/* Sizes of the first release, which never change. */
enum {
    DEVICE_OPTIONS = 80,
    DEVICE_INFO = 320,
    KIND_INFO = 40,
    OPTION_INFO = 216,
    ESTIMATE = 24,
    EXPLANATION = 984,
    INDEX_INFO = 640,
    SINK = 72,
    NEAREST_OPTIONS = 40,
    COLUMN_PROBES = 40,
    JOIN_OPTIONS = 24,
    JOIN_INFO = 648,
    TABLE_OPTIONS = 32,
    TABLE_INFO = 896,
    SCAN_SINK = 48,
    SCAN_OPTIONS = 32,
    FILE_OPTIONS = 16,
    SAVE_OPTIONS = 24,
    SAVED_OPTIONS = 32,
    SAVED_INFO = 592,
    TEXTS_INFO = 104,
    ADVISE_OPTIONS = 120,
    ADVICE_INFO = 1896,
    ADVICE_CANDIDATE = 1136
};

static uint32_t data[N], rows[N];
static const kr_column keys = {.type = KR_U32, .count = N, .data = data};
static kr_device *device;
static kr_index *index_;
static kr_join *join;
static kr_table *table;
static kr_saved *saved;
static kr_texts *texts;
static kr_advice *advice;

/* ---- Inputs -------------------------------------------------------------------------------- */

/* Room for a struct of any version. */
typedef union any {
    size_t struct_size;
    unsigned char bytes[ROOM];
    kr_device_options device_options;
    kr_sink sink;
    kr_nearest_options nearest_options;
    kr_column_probes column_probes;
    kr_join_options join_options;
    kr_table_options table_options;
    kr_scan_sink scan_sink;
    kr_scan_options scan_options;
    kr_file_options file_options;
    kr_save_options save_options;
    kr_saved_options saved_options;
    kr_advise_options advise_options;
} any;

static kr_status open_device(const any *options, kr_error *err)
{
    kr_device *opened = NULL;
    const kr_status status = kr_device_open("cpu", &options->device_options, &opened, err);
    kr_device_close(opened);
    return status;
}

static kr_status look_up(const any *sink, kr_error *err)
{
    return kr_index_lookup(index_, &keys, &sink->sink, NULL, err);
}

static kr_status range(const any *sink, kr_error *err)
{
    return kr_index_range(index_, &keys, &keys, &sink->sink, NULL, err);
}

static kr_status many(const any *sink, kr_error *err)
{
    const kr_sink *const all[] = {&sink->sink};
    return kr_index_lookup_many(index_, &keys, NULL, NULL, all, 1, NULL, err);
}

static kr_status nearest(const any *options, kr_error *err)
{
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    return kr_index_nearest(index_, &keys, &options->nearest_options, &sink, NULL, err);
}

static void fill_probes(any *probes)
{
    probes->column_probes.columns = &keys;
    probes->column_probes.n_columns = 1;
}

static kr_status look_up_columns(const any *probes, kr_error *err)
{
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    kr_index *made = NULL;
    kr_status status = kr_index_create_columns(device, "array", &keys, 1, NULL, NULL, &made, err);
    if (status == KR_OK)
        status = kr_index_lookup_columns(made, &probes->column_probes, &sink, NULL, err);
    kr_index_destroy(made);
    return status;
}

static kr_status join_sides(const any *options, kr_error *err)
{
    kr_join *made = NULL;
    const kr_status status =
        kr_join_create(device, "array", &keys, &keys, &options->join_options, &made, err);
    kr_join_destroy(made);
    return status;
}

static kr_status join_prepared(const any *options, kr_error *err)
{
    kr_join *made = NULL;
    const kr_status status = kr_join_create_prepared(index_, &keys, NULL, &options->join_options, &made, err);
    kr_join_destroy(made);
    return status;
}

static kr_status join_columns(const any *options, kr_error *err)
{
    const kr_column both[] = {keys, keys};
    kr_join *made = NULL;
    const kr_status status =
        kr_join_create_columns(device, "array", both, both, 2, &options->join_options, &made, err);
    kr_join_destroy(made);
    return status;
}

static kr_status count_pairs(const any *options, kr_error *err)
{
    uint64_t pairs = 0;
    return kr_join_chunks(device, "array", &keys, &keys, NULL, &options->join_options, 0, NULL, NULL, &pairs,
                          err);
}

static kr_status join_ranges(const any *options, kr_error *err)
{
    kr_join *made = NULL;
    const kr_status status =
        kr_join_create_range(device, "array", &keys, &keys, &keys, &options->join_options, &made, err);
    kr_join_destroy(made);
    return status;
}

static kr_status create_table(const any *options, kr_error *err)
{
    kr_table *made = NULL;
    const kr_status status =
        kr_table_create(device, "full", &keys, NULL, 1, &options->table_options, NULL, &made, err);
    kr_table_destroy(made);
    return status;
}

static kr_status scan_to(const any *sink, kr_error *err)
{
    const kr_scan_sink *sinks[] = {&sink->scan_sink};
    return kr_scan(table, NULL, sinks, 1, NULL, NULL, err);
}

static kr_status scan_with(const any *options, kr_error *err)
{
    return kr_scan(table, NULL, NULL, 0, &options->scan_options, NULL, err);
}

static kr_status read_file(const any *options, kr_error *err)
{
    char path[64];
    kr_file *file = NULL;
    snprintf(path, sizeof path, "structs-%ld.npy", (long)getpid());
    kr_status status = kr_file_write(path, KR_U32, N, 1, data, NULL, err);
    if (status == KR_OK)
        status = kr_file_read(path, &options->file_options, NULL, &file, err);
    kr_file_close(file);
    remove(path);
    return status;
}

static kr_status save_index(const any *options, kr_error *err)
{
    kr_pieces *pieces = NULL;
    const kr_status status = kr_index_pieces(index_, &options->save_options, &pieces, err);
    kr_pieces_destroy(pieces);
    return status;
}

/* All pieces of the index: kr_pieces_nbytes bytes, which the caller frees. */
static unsigned char *bytes_of_index(uint64_t *nbytes)
{
    kr_pieces *pieces = NULL;
    WORKS(kr_index_pieces(index_, NULL, &pieces, &err));
    *nbytes = kr_pieces_nbytes(pieces);
    unsigned char *bytes = malloc(*nbytes);
    const void *data_of = NULL;
    for (uint64_t n = 0, done = 0; kr_pieces_next(pieces, &data_of, &n, NULL, NULL) == KR_OK && n; done += n)
        memcpy(bytes + done, data_of, n);
    kr_pieces_destroy(pieces);
    return bytes;
}

static kr_status open_saved(const any *options, kr_error *err)
{
    kr_saved *opened = NULL;
    uint64_t nbytes = 0;
    unsigned char *bytes = bytes_of_index(&nbytes);
    const kr_status status = kr_saved_open_memory(bytes, nbytes, &options->saved_options, &opened, err);
    kr_saved_close(opened);
    free(bytes);
    return status;
}

static void fill_advise(any *options)
{
    options->advise_options.batch = 1;
    options->advise_options.seconds = 0.01;
}

static kr_status advise(const any *options, kr_error *err)
{
    kr_advice *made = NULL;
    const kr_status status = kr_advise(device, &keys, &options->advise_options, &made, err);
    kr_advice_destroy(made);
    return status;
}

static void fill_scan_sink(any *sink)
{
    sink->scan_sink.result = KR_SCAN_BITMAP;
    sink->scan_sink.out = rows;
}

static void fill_sink(any *sink)
{
    sink->sink.result = KR_RESULT_ROW;
    sink->sink.out = rows;
}

static const struct input {
    const char *name;
    size_t first, now;
    kr_status (*call)(const any *given, kr_error *err);
    void (*fill)(any *given);
} inputs[] = {
    {"kr_device_options", DEVICE_OPTIONS, sizeof(kr_device_options), open_device, NULL},
    {"kr_sink", SINK, sizeof(kr_sink), look_up, fill_sink},
    {"kr_sink", SINK, sizeof(kr_sink), range, fill_sink},
    {"kr_sink", SINK, sizeof(kr_sink), many, fill_sink},
    {"kr_nearest_options", NEAREST_OPTIONS, sizeof(kr_nearest_options), nearest, NULL},
    {"kr_column_probes", COLUMN_PROBES, sizeof(kr_column_probes), look_up_columns, fill_probes},
    {"kr_join_options", JOIN_OPTIONS, sizeof(kr_join_options), join_sides, NULL},
    {"kr_join_options", JOIN_OPTIONS, sizeof(kr_join_options), join_ranges, NULL},
    {"kr_join_options", JOIN_OPTIONS, sizeof(kr_join_options), join_prepared, NULL},
    {"kr_join_options", JOIN_OPTIONS, sizeof(kr_join_options), join_columns, NULL},
    {"kr_join_options", JOIN_OPTIONS, sizeof(kr_join_options), count_pairs, NULL},
    {"kr_table_options", TABLE_OPTIONS, sizeof(kr_table_options), create_table, NULL},
    {"kr_scan_sink", SCAN_SINK, sizeof(kr_scan_sink), scan_to, fill_scan_sink},
    {"kr_scan_options", SCAN_OPTIONS, sizeof(kr_scan_options), scan_with, NULL},
    {"kr_file_options", FILE_OPTIONS, sizeof(kr_file_options), read_file, NULL},
    {"kr_save_options", SAVE_OPTIONS, sizeof(kr_save_options), save_index, NULL},
    {"kr_saved_options", SAVED_OPTIONS, sizeof(kr_saved_options), open_saved, NULL},
    {"kr_advise_options", ADVISE_OPTIONS, sizeof(kr_advise_options), advise, fill_advise},
};

/* What lies past struct_size is not read. */
static void check_input_of(const struct input *input, size_t nbytes, int tail, kr_status want)
{
    any given;
    kr_error err = {0};
    memset(&given, 0, sizeof given);
    if (nbytes < ROOM)
        memset(given.bytes + nbytes, 0xA5, ROOM - nbytes);
    given.struct_size = nbytes;
    if (input->fill)
        input->fill(&given);
    if (tail)
        given.bytes[nbytes - 1] = 1;
    const kr_status got = input->call(&given, &err);
    CHECK(got == want);
    CHECK(got == KR_OK || strstr(err.text, input->name));
    if (got != want || (got != KR_OK && !strstr(err.text, input->name)))
        printf("  %s of %zu bytes, tail %d: %s '%s'\n", input->name, nbytes, tail, kr_status_name(got),
               err.text);
}

static void check_inputs(void)
{
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; ++i) {
        const struct input *input = &inputs[i];
        check_input_of(input, input->first, 0, KR_OK);
        check_input_of(input, input->now, 0, KR_OK);
        check_input_of(input, input->now + 1, 0, KR_OK);
        check_input_of(input, input->now + TAIL, 0, KR_OK);
        check_input_of(input, input->now + TAIL, 1, KR_ERR_ARGUMENT);
        check_input_of(input, input->first - 1, 0, KR_ERR_ARGUMENT);
        check_input_of(input, sizeof(size_t), 0, KR_ERR_ARGUMENT);
        check_input_of(input, 0, 0, KR_ERR_ARGUMENT);
        check_input_of(input, SIZE_MAX, 0, KR_ERR_ARGUMENT);
    }
}

/* ---- Outputs ------------------------------------------------------------------------------- */

static kr_status query_device(void *info, kr_error *err)
{
    return kr_device_query(device, info, err);
}

static kr_status list_device(void *info, kr_error *err)
{
    return kr_device_describe(0, info, err);
}

static kr_status query_kind(void *info, kr_error *err)
{
    return kr_kind_query(0, info, err);
}

static kr_status query_option(void *info, kr_error *err)
{
    return kr_option_query(0, 0, info, err);
}

static kr_status estimate(void *info, kr_error *err)
{
    return kr_index_estimate(device, "array", &keys, info, err);
}

static kr_status explain(void *info, kr_error *err)
{
    return kr_index_explain(device, KR_OP_POINT, "best", &keys, N, info, err);
}

static kr_status query_index(void *info, kr_error *err)
{
    return kr_index_query(index_, info, err);
}

static kr_status query_join(void *info, kr_error *err)
{
    return kr_join_query(join, info, err);
}

static kr_status estimate_table(void *info, kr_error *err)
{
    return kr_table_estimate(device, "full", &keys, 1, NULL, info, err);
}

static kr_status query_table(void *info, kr_error *err)
{
    return kr_table_query(table, info, err);
}

static kr_status query_saved(void *info, kr_error *err)
{
    return kr_saved_query(saved, info, err);
}

static kr_status query_texts(void *info, kr_error *err)
{
    return kr_texts_query(texts, info, err);
}

static kr_status query_advice(void *info, kr_error *err)
{
    return kr_advice_query(advice, info, err);
}

static kr_status query_candidate(void *info, kr_error *err)
{
    return kr_advice_candidate_query(advice, 0, info, err);
}

static const struct output {
    const char *name;
    size_t first, now;
    kr_status (*call)(void *taken, kr_error *err);
} outputs[] = {
    {"kr_device_info", DEVICE_INFO, sizeof(kr_device_info), query_device},
    {"kr_device_info", DEVICE_INFO, sizeof(kr_device_info), list_device},
    {"kr_kind_info", KIND_INFO, sizeof(kr_kind_info), query_kind},
    {"kr_option_info", OPTION_INFO, sizeof(kr_option_info), query_option},
    {"kr_estimate", ESTIMATE, sizeof(kr_estimate), estimate},
    {"kr_explanation", EXPLANATION, sizeof(kr_explanation), explain},
    {"kr_index_info", INDEX_INFO, sizeof(kr_index_info), query_index},
    {"kr_join_info", JOIN_INFO, sizeof(kr_join_info), query_join},
    {"kr_estimate", ESTIMATE, sizeof(kr_estimate), estimate_table},
    {"kr_table_info", TABLE_INFO, sizeof(kr_table_info), query_table},
    {"kr_saved_info", SAVED_INFO, sizeof(kr_saved_info), query_saved},
    {"kr_texts_info", TEXTS_INFO, sizeof(kr_texts_info), query_texts},
    {"kr_advice_info", ADVICE_INFO, sizeof(kr_advice_info), query_advice},
    {"kr_advice_candidate", ADVICE_CANDIDATE, sizeof(kr_advice_candidate), query_candidate},
};

/* Outputs are written up to struct_size and no further: fields that both know, then zeros. They are never
 * read. */
static void check_output_of(const struct output *output, const unsigned char *whole, size_t nbytes)
{
    union {
        size_t struct_size;
        unsigned char bytes[ROOM];
    } taken;
    kr_error err = {0};
    const size_t known = nbytes < output->now ? nbytes : output->now;
    memset(taken.bytes, 0xA5, ROOM);
    taken.struct_size = nbytes;
    const kr_status got = output->call(taken.bytes, &err);
    int right = got == KR_OK && taken.struct_size == nbytes;
    right &= memcmp(taken.bytes + sizeof(size_t), whole + sizeof(size_t), known - sizeof(size_t)) == 0;
    for (size_t i = known; i < ROOM; ++i)
        right &= taken.bytes[i] == (i < nbytes ? 0 : 0xA5);
    CHECK(right);
    if (!right)
        printf("  %s of %zu bytes: %s '%s'\n", output->name, nbytes, kr_status_name(got), err.text);
}

static void refuse_output(const struct output *output, size_t nbytes)
{
    size_t taken[ROOM / sizeof(size_t)];
    kr_error err = {0};
    memset(taken, 0xA5, sizeof taken);
    taken[0] = nbytes;
    CHECK(output->call(taken, &err) == KR_ERR_ARGUMENT && strstr(err.text, output->name));
    CHECK(taken[0] == nbytes);
    for (size_t i = sizeof(size_t); i < sizeof taken; ++i)
        CHECK(((unsigned char *)taken)[i] == 0xA5);
}

static void check_outputs(void)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; ++i) {
        const struct output *output = &outputs[i];
        size_t whole[ROOM / sizeof(size_t)] = {output->now};
        WORKS(output->call(whole, &err));
        check_output_of(output, (const unsigned char *)whole, output->first);
        check_output_of(output, (const unsigned char *)whole, output->now);
        check_output_of(output, (const unsigned char *)whole, output->now + 1);
        check_output_of(output, (const unsigned char *)whole, output->now + TAIL);
        refuse_output(output, 0);
        refuse_output(output, sizeof(size_t));
        refuse_output(output, output->first - 1);
        refuse_output(output, SIZE_MAX);
    }
}

/* ---- Structs that never grow --------------------------------------------------------------- */

static void check_frozen(void)
{
    kr_column column = keys;
    kr_progress progress = {0};
    kr_device_options options = {.struct_size = sizeof options};
    kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    kr_file *file = NULL;
    kr_device *opened = NULL;
    CHECK(sizeof(kr_column) == 64 && sizeof(kr_error) == 616 && sizeof(kr_progress) == 32);
    for (int i = 0; i < 2; ++i) {
        column = keys;
        column.reserved_words[i] = 1;
        REFUSED(KR_ERR_ARGUMENT, kr_index_lookup(index_, &column, &sink, NULL, &err));
    }
    column = keys;
    column.reserved = 1;
    REFUSED(KR_ERR_ARGUMENT, kr_index_lookup(index_, &column, &sink, NULL, &err));
    for (int i = 0; i < 2; ++i) {
        progress = (kr_progress){0};
        progress.reserved[i] = 1;
        options.progress = progress;
        REFUSED(KR_ERR_ARGUMENT, kr_device_open("cpu", &options, &opened, &err));
        REFUSED(KR_ERR_ARGUMENT, kr_file_read("x.npy", NULL, &progress, &file, &err));
        REFUSED(KR_ERR_ARGUMENT, kr_file_write("x.npy", KR_U32, 1, 1, rows, &progress, &err));
    }
}

int main(void)
{
    for (uint32_t i = 0; i < N; ++i)
        data[i] = i / 2;
    WORKS(kr_device_open("cpu", NULL, &device, &err));
    WORKS(kr_index_create(device, "array", &keys, NULL, NULL, &index_, &err));
    WORKS(kr_join_create(device, "array", &keys, &keys, NULL, &join, &err));
    WORKS(kr_table_create(device, "full", &keys, NULL, 1, NULL, NULL, &table, &err));
    const int32_t offsets[] = {0, 1, 3};
    const kr_column strings = {
        .type = KR_STRING, .count = 2, .data = offsets, .reserved_words = {(uintptr_t) "abb", 3}};
    WORKS(kr_texts_create(device, &strings, NULL, NULL, &texts, &err));
    const kr_advise_options options = {.struct_size = sizeof options, .batch = 1, .seconds = 0.01};
    WORKS(kr_advise(device, &keys, &options, &advice, &err));
    if (failures)
        return 1;
    uint64_t nbytes = 0;
    unsigned char *bytes = bytes_of_index(&nbytes);
    WORKS(kr_saved_open_memory(bytes, nbytes, NULL, &saved, &err));
    check_inputs();
    check_outputs();
    check_frozen();
    kr_saved_close(saved);
    free(bytes);
    kr_advice_destroy(advice);
    kr_texts_destroy(texts);
    kr_table_destroy(table);
    kr_join_destroy(join);
    kr_index_destroy(index_);
    kr_device_close(device);
    return failures != 0;
}
