/* Wrong calls of every function except lookups and builds, which the conformance suite tests: NULL pointers,
 * objects of other devices, ranges that do not exist. */
#include "check.h"

static kr_device *device;

static int refuse_progress(void *ctx, const char *phase, double fraction)
{
    (void)ctx;
    (void)phase;
    (void)fraction;
    return 1;
}

static void check_devices(void)
{
    kr_device *opened = NULL;
    kr_device_info info = {.struct_size = sizeof info};
    REFUSED(KR_ERR_ARGUMENT, kr_device_open(NULL, NULL, &opened, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_device_open("cpu", NULL, NULL, &err));
    REFUSED(KR_ERR_NO_DEVICE, kr_device_open("", NULL, &opened, &err));
    REFUSED(KR_ERR_NO_DEVICE, kr_device_open("gpu", NULL, &opened, &err));
    REFUSED(KR_ERR_NO_DEVICE, kr_device_open("cpu:1", NULL, &opened, &err));
    REFUSED(KR_ERR_NO_DEVICE, kr_device_open("CPU", NULL, &opened, &err));
    REFUSED(KR_ERR_NO_DEVICE, kr_device_open("cuda:99", NULL, &opened, &err));
    REFUSED(KR_ERR_NO_DEVICE, kr_device_open("cuda:-1", NULL, &opened, &err));
    REFUSED(KR_ERR_NO_DEVICE, kr_device_open("cuda:x", NULL, &opened, &err));
    REFUSED(KR_ERR_NO_DEVICE, kr_device_open("cuda:", NULL, &opened, &err));
    CHECK(opened == NULL);
    REFUSED(KR_ERR_ARGUMENT, kr_device_query(NULL, &info, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_device_query(device, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_device_describe(0, NULL, &err));
    REFUSED(KR_ERR_NO_DEVICE, kr_device_describe(4000, &info, &err));
    kr_device_close(NULL);
}

static void check_streams_and_memory(void)
{
    kr_device *other = NULL;
    kr_stream *stream = NULL, *foreign = NULL;
    void *memory = NULL;
    uint64_t word = 7;
    WORKS(kr_device_open("cpu", NULL, &other, &err));
    WORKS(kr_stream_create(other, &foreign, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_stream_create(NULL, &stream, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_stream_create(device, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_device_sync(NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_device_sync(device, foreign, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_memory_allocate(NULL, 8, NULL, &memory, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_memory_allocate(device, 8, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_memory_allocate(device, 8, foreign, &memory, &err));
    REFUSED(KR_ERR_DEVICE_MEMORY, kr_memory_allocate(device, UINT64_MAX, NULL, &memory, &err));
    REFUSED(KR_ERR_DEVICE_MEMORY, kr_memory_allocate(device, UINT64_C(1) << 60, NULL, &memory, &err));
    CHECK(memory == NULL);
    REFUSED(KR_ERR_ARGUMENT, kr_memory_copy(device, NULL, &word, 8, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_memory_copy(device, &word, NULL, 8, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_memory_copy(NULL, &word, &word, 8, NULL, &err));
    WORKS(kr_memory_copy(device, NULL, NULL, 0, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_memory_pin(NULL, &word, 8, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_memory_pin(device, NULL, 8, &err));
    WORKS(kr_memory_pin(device, NULL, 0, &err));
    WORKS(kr_memory_pin(device, &word, 8, &err)); /* does nothing on a CPU */
    kr_memory_unpin(device, &word);
    kr_memory_unpin(NULL, NULL);
    WORKS(kr_memory_allocate(device, 0, NULL, &memory, &err));
    kr_memory_release(device, memory, 0, NULL);
    kr_memory_release(device, NULL, 8, NULL);
    kr_stream_destroy(NULL);
    kr_stream_destroy(foreign);
    kr_device_close(other);
}

static void check_kinds(void)
{
    kr_kind_info info = {.struct_size = sizeof info};
    char text[512], tiny[4] = "abc";
    REFUSED(KR_ERR_ARGUMENT, kr_kind_query(0, NULL, &err));
    REFUSED(KR_ERR_SPEC, kr_kind_query(4000, &info, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_spec_complete(NULL, text, sizeof text, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_spec_complete("array", NULL, 10, &err));
    REFUSED(KR_ERR_LIMIT, kr_spec_complete("array", tiny, sizeof tiny, &err));
    REFUSED(KR_ERR_SPEC, kr_spec_complete("", text, sizeof text, &err));
    CHECK(strcmp(tiny, "abc") == 0);
}

static void check_index(void)
{
    const uint32_t data[4] = {4, 3, 2, 1};
    const kr_column keys = {.type = KR_U32, .count = 4, .data = data};
    kr_index *index = NULL;
    kr_estimate estimate = {.struct_size = sizeof estimate};
    kr_explanation explanation = {.struct_size = sizeof explanation};
    kr_index_info info = {.struct_size = sizeof info};
    kr_device *other = NULL;
    kr_stream *foreign = NULL;
    uint32_t rows[4];
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    REFUSED(KR_ERR_ARGUMENT, kr_index_estimate(NULL, "array", &keys, &estimate, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_estimate(device, "array", NULL, &estimate, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_estimate(device, "array", &keys, NULL, &err));
    REFUSED(KR_ERR_SPEC, kr_index_estimate(device, "nothing", &keys, &estimate, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_explain(NULL, KR_OP_POINT, "array", &keys, 1, &explanation, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_explain(device, KR_OP_POINT, "array", NULL, 1, &explanation, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_explain(device, KR_OP_POINT, "array", &keys, 1, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT,
            kr_index_explain(device, (kr_operation)0, "array", &keys, 1, &explanation, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_query(NULL, &info, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_validate(NULL, &err));
    WORKS(kr_device_open("cpu", NULL, &other, &err));
    WORKS(kr_stream_create(other, &foreign, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_create(device, "array", &keys, NULL, foreign, &index, &err));
    WORKS(kr_index_create(device, "array", &keys, NULL, NULL, &index, &err));
    if (index) {
        REFUSED(KR_ERR_ARGUMENT, kr_index_query(index, NULL, &err));
        REFUSED(KR_ERR_ARGUMENT, kr_index_lookup(index, &keys, &sink, foreign, &err));
        REFUSED(KR_ERR_ARGUMENT, kr_index_range(index, &keys, &keys, &sink, foreign, &err));
        REFUSED(KR_ERR_ARGUMENT, kr_index_range(index, &keys, NULL, &sink, NULL, &err));
        REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_chunks(index, &keys, NULL, 0, 64, NULL, NULL, &err));
        REFUSED(KR_ERR_ARGUMENT, kr_index_lookup_chunks(NULL, &keys, NULL, 0, 64, NULL, NULL, &err));
    }
    kr_index_destroy(index);
    kr_index_destroy(NULL);
    kr_stream_destroy(foreign);
    kr_device_close(other);
}

/* Counts and offsets that overflow when they are added or turned into bytes. */
static void check_huge_columns(void)
{
    static const uint64_t huge[] = {UINT64_MAX, (uint64_t)1 << 63, (uint64_t)1 << 62, (uint64_t)1 << 61};
    const uint32_t data[4] = {4, 3, 2, 1};
    const uint8_t valid[1] = {15};
    const kr_column keys = {.type = KR_U32, .count = 4, .data = data};
    kr_index *index = NULL, *other = NULL;
    kr_estimate estimate = {.struct_size = sizeof estimate};
    uint32_t rows[4];
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    WORKS(kr_index_create(device, "array", &keys, NULL, NULL, &index, &err));
    for (size_t i = 0; i < sizeof huge / sizeof *huge; ++i) {
        kr_column many = keys, far = keys;
        many.count = huge[i];
        far.validity = valid;
        far.validity_offset = huge[i] - 2;
        REFUSED(KR_ERR_LIMIT, kr_index_lookup(index, &many, &sink, NULL, &err));
        REFUSED(KR_ERR_LIMIT, kr_index_range(index, &many, &many, &sink, NULL, &err));
        REFUSED(KR_ERR_LIMIT, kr_index_create(device, "array", &many, NULL, NULL, &other, &err));
        REFUSED(KR_ERR_LIMIT, kr_index_estimate(device, "array", &many, &estimate, &err));
        if (huge[i] > INT64_MAX) {
            REFUSED(KR_ERR_ARGUMENT, kr_index_lookup(index, &far, &sink, NULL, &err));
            REFUSED(KR_ERR_ARGUMENT, kr_index_create(device, "array", &far, NULL, NULL, &other, &err));
        }
    }
    CHECK(other == NULL);
    kr_index_destroy(index);
}

/* Facts by ordinal end with NULL and 0, and NULL has none. */
static void check_facts(void)
{
    const uint32_t data[4] = {4, 3, 2, 1};
    const kr_column keys = {.type = KR_U32, .count = 4, .data = data};
    kr_index *index = NULL;
    kr_index_info info = {.struct_size = sizeof info};
    uint64_t nbytes = 0;
    WORKS(kr_index_create(device, "array", &keys, NULL, NULL, &index, &err));
    WORKS(kr_index_query(index, &info, &err));
    const uint32_t components = kr_index_component_count(index), phases = kr_index_phase_count(index);
    for (uint32_t i = 0; i < components; ++i) {
        CHECK(kr_index_component_name(index, i) != NULL);
        nbytes += kr_index_component_nbytes(index, i);
    }
    CHECK(components && nbytes == info.footprint_nbytes);
    CHECK(!kr_index_component_name(index, components) && !kr_index_component_nbytes(index, components));
    CHECK(phases && kr_index_phase_name(index, phases - 1) && !kr_index_phase_name(index, phases));
    CHECK(!kr_index_counter_name(index, kr_index_counter_count(index)));
    CHECK(!kr_index_counter_value(index, UINT32_MAX));
    CHECK(!kr_index_component_count(NULL) && !kr_index_component_name(NULL, 0));
    CHECK(!kr_index_counter_count(NULL) && !kr_index_counter_value(NULL, 0) && !kr_index_phase_count(NULL));
    CHECK(!kr_table_component_count(NULL) && !kr_table_component_nbytes(NULL, 0));
    CHECK(!kr_table_counter_count(NULL) && !kr_table_counter_name(NULL, 0) && !kr_table_phase_count(NULL));
    CHECK(!kr_join_phase_count(NULL) && !kr_join_phase_name(NULL, 0));
    CHECK(!kr_report_phase_count(NULL) && !kr_report_phase_name(NULL, 0));
    kr_index_destroy(index);
}

static void check_joins(void)
{
    const uint32_t data[4] = {4, 3, 2, 1};
    const kr_column left = {.type = KR_U32, .count = 4, .data = data};
    const kr_column signed_keys = {.type = KR_I32, .count = 4, .data = data};
    const kr_column fewer = {.type = KR_U32, .count = 3, .data = data};
    kr_join_options options = {.struct_size = sizeof options};
    kr_join *join = NULL;
    kr_join_info info = {.struct_size = sizeof info};
    uint32_t rows[4];
    REFUSED(KR_ERR_TYPE, kr_join_create(device, "array", &left, &signed_keys, NULL, &join, &err));
    REFUSED(KR_ERR_TYPE,
            kr_join_create_range(device, "array", &left, &left, &signed_keys, NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create_range(device, "array", &left, &left, &fewer, NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create(NULL, "array", &left, &left, NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create(device, "array", NULL, &left, NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create(device, "array", &left, NULL, NULL, &join, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_create(device, "array", &left, &left, NULL, NULL, &err));
    REFUSED(KR_ERR_SPEC, kr_join_create(device, "nothing", &left, &left, NULL, &join, &err));
    options.type = (kr_join_type)9;
    REFUSED(KR_ERR_ARGUMENT, kr_join_create(device, "array", &left, &left, &options, &join, &err));
    options = (kr_join_options){.struct_size = sizeof options, .inverse = (kr_join_inverse)9};
    REFUSED(KR_ERR_ARGUMENT, kr_join_create(device, "array", &left, &left, &options, &join, &err));
    options = (kr_join_options){.struct_size = sizeof options, .unordered = 2};
    REFUSED(KR_ERR_ARGUMENT, kr_join_create(device, "array", &left, &left, &options, &join, &err));
    options = (kr_join_options){.struct_size = sizeof options, .reserved = 1};
    REFUSED(KR_ERR_ARGUMENT, kr_join_create(device, "array", &left, &left, &options, &join, &err));
    CHECK(join == NULL);
    REFUSED(KR_ERR_ARGUMENT, kr_join_query(NULL, &info, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_read(NULL, 0, 1, rows, rows, &err));
    WORKS(kr_join_create(device, "array", &left, &left, NULL, &join, &err));
    if (join) {
        REFUSED(KR_ERR_ARGUMENT, kr_join_query(join, NULL, &err));
        REFUSED(KR_ERR_ARGUMENT, kr_join_read(join, 0, 1, NULL, rows, &err));
        REFUSED(KR_ERR_ARGUMENT, kr_join_read(join, 1, UINT64_MAX, rows, rows, &err));
        REFUSED(KR_ERR_ARGUMENT, kr_join_read(join, 0, 1, (uint32_t *)((char *)rows + 1), rows, &err));
        REFUSED(KR_ERR_ARGUMENT, kr_join_read(join, 0, 1, rows, (uint32_t *)((char *)rows + 2), &err));
        WORKS(kr_join_read(join, 4, 0, rows, rows, &err));
    }
    kr_join_destroy(join);
    kr_join_destroy(NULL);
}

static void check_files(void)
{
    kr_file *file = NULL;
    const kr_progress stop = {refuse_progress, NULL};
    REFUSED(KR_ERR_ARGUMENT, kr_file_read(NULL, NULL, NULL, &file, &err));
    REFUSED(KR_ERR_IO, kr_file_read("there/is/no/such.npy", NULL, NULL, &file, &err));
    REFUSED(KR_ERR_IO, kr_file_read("there/is/no/such.npy", NULL, &stop, &file, &err));
    CHECK(file == NULL);
    kr_file_close(NULL);
}

int main(void)
{
    kr_error err = {0};
    if (kr_device_open("cpu", NULL, &device, &err)) {
        printf("FAILED to open the CPU: %s\n", err.text);
        return 1;
    }
    check_devices();
    check_streams_and_memory();
    check_kinds();
    check_index();
    check_huge_columns();
    check_facts();
    check_joins();
    check_files();
    kr_device_close(device);
    return failures != 0;
}
