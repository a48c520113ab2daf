/* kr_index_update: wrong calls, kinds without updates, and inserts and deletes in every kind with updates. */
#include "check.h"

static const uint32_t data[4] = {4, 3, 2, 1}, row_ids[4] = {10, 11, 12, 13};
static const kr_column keys = {.type = KR_U32, .count = 4, .data = data};

static const uint32_t *misaligned(const uint32_t *from)
{
    return (const uint32_t *)(const void *)((const char *)from + 2);
}

static void check_arguments(kr_index *index, kr_stream *foreign)
{
    const kr_column wrong_type = {.type = KR_I32, .count = 4, .data = data};
    const kr_column no_type = {.count = 4, .data = data};
    const kr_column empty_of_wrong_type = {.type = KR_U64};
    const kr_column wrong[] = {{.type = KR_U32, .count = 4},
                               {.type = KR_U32, .count = 2, .data = misaligned(data)},
                               {.type = KR_U32, .reserved = 1, .count = 4, .data = data}};
    REFUSED(KR_ERR_ARGUMENT, kr_index_update(NULL, &keys, row_ids, &keys, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_update(NULL, NULL, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_update(index, NULL, row_ids, &keys, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_update(index, NULL, row_ids, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_update(index, &keys, misaligned(row_ids), NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_update(index, &keys, row_ids, &keys, foreign, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_update(index, NULL, NULL, NULL, foreign, &err));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        REFUSED(KR_ERR_ARGUMENT, kr_index_update(index, &wrong[i], row_ids, NULL, NULL, &err));
        REFUSED(KR_ERR_ARGUMENT, kr_index_update(index, &keys, NULL, &wrong[i], NULL, &err));
    }
    REFUSED(KR_ERR_TYPE, kr_index_update(index, &wrong_type, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_update(index, NULL, NULL, &wrong_type, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_update(index, &no_type, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_update(index, NULL, NULL, &no_type, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_update(index, &keys, NULL, &empty_of_wrong_type, NULL, &err));
}

static void expect_rows(kr_index *index, const kr_column *probes, const uint32_t *want)
{
    uint32_t rows[8] = {0};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    WORKS(kr_index_lookup(index, probes, &sink, NULL, &err));
    for (uint64_t i = 0; i < probes->count; ++i)
        CHECK(rows[i] == want[i]);
}

/* The name of kind `ordinal`, with updates=on if it has that option: a spec that takes updates. 0: the kind
 * takes none. */
static int updating_spec(uint32_t ordinal, char spec[KR_SPEC_NBYTES])
{
    kr_kind_info kind = {.struct_size = sizeof kind};
    kr_option_info option = {.struct_size = sizeof option};
    if (kr_kind_query(ordinal, &kind, NULL) != KR_OK || !(kind.capabilities & KR_CAN_UPDATE))
        return 0;
    snprintf(spec, KR_SPEC_NBYTES, "%s", kind.name);
    for (uint32_t i = 0; kr_option_query(ordinal, i, &option, NULL) == KR_OK; ++i)
        if (strcmp(option.name, "updates") == 0)
            snprintf(spec, KR_SPEC_NBYTES, "%s:updates=on", kind.name);
    return 1;
}

/* Refused with any number of rows, and the index answers as before. The error names every spec that can. */
static void check_refused(kr_index *index, const char *name)
{
    static const uint32_t as_created[4] = {0, 1, 2, 3};
    char wanted[KR_SPEC_NBYTES];
    kr_error said = {0};
    REFUSED(KR_ERR_UNSUPPORTED, kr_index_update(index, &keys, row_ids, NULL, NULL, &err));
    REFUSED(KR_ERR_UNSUPPORTED, kr_index_update(index, NULL, NULL, &keys, NULL, &err));
    REFUSED(KR_ERR_UNSUPPORTED, kr_index_update(index, NULL, NULL, NULL, NULL, &err));
    kr_index_update(index, &keys, NULL, NULL, NULL, &said);
    CHECK(strstr(said.text, name) && strstr(said.text, "cannot insert and delete rows"));
    for (uint32_t i = 0; i < kr_kind_count(); ++i)
        CHECK(!updating_spec(i, wanted) || strstr(said.text, wanted));
    CHECK(kr_index_update(index, &keys, NULL, NULL, NULL, NULL) == KR_ERR_UNSUPPORTED);
    expect_rows(index, &keys, as_created);
}

static void check_incapable(kr_device *device)
{
    kr_kind_info kind = {.struct_size = sizeof kind};
    for (uint32_t i = 0; kr_kind_query(i, &kind, NULL) == KR_OK; ++i) {
        kr_index *index = NULL;
        kr_error why = {0};
        if (kind.capabilities & (KR_CAN_UPDATE | KR_CAN_SCAN))
            continue;
        if (kr_index_create(device, kind.name, &keys, NULL, NULL, &index, &why) == KR_OK)
            check_refused(index, kind.name);
        else
            printf("%s is left out: %s\n", kind.name, why.text);
        kr_index_destroy(index);
    }
}

static uint64_t next_row(const kr_index *index)
{
    kr_index_info info = {.struct_size = sizeof info};
    WORKS(kr_index_query(index, &info, &err));
    return info.next_row;
}

static void check_created(kr_device *device)
{
    static const uint8_t first_two = 0x3;
    static const uint32_t sparse[4] = {7, 4000000000u, 4000000001u, 3};
    const kr_column with_nulls = {.type = KR_U32, .count = 4, .data = data, .validity = &first_two};
    const kr_column none = {.type = KR_U32};
    const struct {
        const kr_column *keys;
        const uint32_t *row_ids;
        uint64_t next_row;
    } cases[] = {{&keys, NULL, 4},     {&with_nulls, NULL, 4},
                 {&keys, row_ids, 14}, {&keys, sparse, 4000000002u},
                 {&none, NULL, 0},     {&with_nulls, sparse, 4000000002u}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        kr_index *index = NULL;
        WORKS(kr_index_create(device, "array", cases[i].keys, cases[i].row_ids, NULL, &index, &err));
        if (index)
            CHECK(next_row(index) == cases[i].next_row);
        kr_index_destroy(index);
    }
}

/* 1: the spec runs on this device. */
static int is_there(kr_device *device, const char *spec)
{
    kr_index *index = NULL;
    kr_error why = {0};
    const kr_status status = kr_index_create(device, spec, &keys, NULL, NULL, &index, &why);
    kr_index_destroy(index);
    if (status)
        printf("%s is left out: %s\n", spec, why.text);
    return status == KR_OK;
}

/* Without its option, a kind refuses and names it. */
static void check_spec_without(kr_device *device, const char *spec)
{
    char kind[KR_SPEC_NBYTES];
    kr_index *index = NULL;
    kr_error said = {0};
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(spec, ":"), spec);
    if (!strstr(spec, "updates=on") || strcmp(kind, "best") == 0)
        return;
    WORKS(kr_index_create(device, kind, &keys, NULL, NULL, &index, &err));
    CHECK(kr_index_update(index, &keys, NULL, NULL, NULL, &said) == KR_ERR_UNSUPPORTED);
    CHECK(strstr(said.text, "updates=on"));
    REFUSED(KR_ERR_UNSUPPORTED, kr_index_update(index, NULL, NULL, NULL, NULL, &err));
    kr_index_destroy(index);
}

/* The same steps with columns in host or in device memory. */
static void check_steps(kr_device *device, const char *spec, kr_stream *stream, int from_device)
{
    static const uint32_t inserted[4] = {9, 3, 9, 5}, deleted[3] = {3, 3, 77}, probed[5] = {4, 3, 9, 5, 1};
    static const uint8_t three = 0x7; /* the last is NULL */
    const kr_column probes = {.type = KR_U32, .count = 5, .data = probed};
    void *memory = NULL;
    kr_index *index = NULL;
    WORKS(kr_memory_allocate(device, 256, stream, &memory, &err));
    WORKS(kr_memory_copy(device, memory, inserted, sizeof inserted, stream, &err));
    WORKS(kr_memory_copy(device, (char *)memory + 64, deleted, sizeof deleted, stream, &err));
    WORKS(kr_memory_copy(device, (char *)memory + 128, row_ids, sizeof row_ids, stream, &err));
    const char *there = memory;
    const kr_column inserts = {.type = KR_U32,
                               .count = 4,
                               .data = from_device ? (const void *)there : (const void *)inserted,
                               .validity = &three};
    const kr_column deletes = {
        .type = KR_U32, .count = 3, .data = from_device ? (const void *)(there + 64) : (const void *)deleted};
    const uint32_t *rows = from_device ? (const uint32_t *)(const void *)(there + 128) : row_ids;
    WORKS(kr_index_create(device, spec, &keys, NULL, stream, &index, &err));
    if (index) {
        WORKS(kr_index_update(index, NULL, NULL, NULL, stream, &err));
        WORKS(kr_index_update(index, &inserts, NULL, &deletes, stream, &err));
        CHECK(next_row(index) == 8);
        expect_rows(index, &probes, (const uint32_t[]){0, 5, 4, KR_NO_ROW, 3});
        WORKS(kr_index_update(index, NULL, NULL, &inserts, stream, &err));
        CHECK(next_row(index) == 8);
        expect_rows(index, &probes, (const uint32_t[]){0, KR_NO_ROW, KR_NO_ROW, KR_NO_ROW, 3});
        WORKS(kr_index_update(index, &inserts, rows, NULL, stream, &err));
        CHECK(next_row(index) == 14);
        expect_rows(index, &probes, (const uint32_t[]){0, 11, 10, KR_NO_ROW, 3});
        REFUSED(KR_ERR_ARGUMENT,
                kr_index_update(index, &inserts, (const uint32_t[]){1, KR_NO_ROW, 2, 3}, NULL, stream, &err));
        expect_rows(index, &probes, (const uint32_t[]){0, 11, 10, KR_NO_ROW, 3});
        WORKS(kr_index_validate(index, &err));
    }
    kr_index_destroy(index);
    kr_memory_release(device, memory, 256, stream);
}

static void check_spec(kr_device *device, const char *spec, kr_stream *stream)
{
    if (!is_there(device, spec))
        return;
    check_spec_without(device, spec);
    for (int from_device = 0; from_device < 2; ++from_device) {
        check_steps(device, spec, NULL, from_device);
        check_steps(device, spec, stream, from_device);
    }
}

static void check_updates(const char *name)
{
    static const char *const more[] = {"array:layout=aos", "pivot:k=3", "eytzinger:k=2",
                                       "cgrx:updates=on,node=4", "best:updates=on"};
    char spec[KR_SPEC_NBYTES];
    kr_device *device = NULL;
    kr_stream *stream = NULL;
    if (kr_device_open(name, NULL, &device, NULL) != KR_OK)
        return;
    check_incapable(device);
    WORKS(kr_stream_create(device, &stream, &err));
    for (uint32_t i = 0; i < kr_kind_count(); ++i)
        if (updating_spec(i, spec))
            check_spec(device, spec, stream);
    for (size_t i = 0; i < sizeof more / sizeof more[0]; ++i)
        check_spec(device, more[i], stream);
    kr_stream_destroy(stream);
    kr_device_close(device);
}

int main(void)
{
    kr_device *device = NULL, *other = NULL;
    kr_stream *foreign = NULL;
    kr_index *index = NULL;
    WORKS(kr_device_open("cpu", NULL, &device, &err));
    WORKS(kr_device_open("cpu", NULL, &other, &err));
    WORKS(kr_stream_create(other, &foreign, &err));
    WORKS(kr_index_create(device, "array", &keys, NULL, NULL, &index, &err));
    if (index) {
        check_arguments(index, foreign);
        check_created(device);
    }
    kr_index_destroy(index);
    kr_stream_destroy(foreign);
    kr_device_close(other);
    kr_device_close(device);
    check_updates("cpu");
    check_updates("cuda");
    return failures != 0;
}
