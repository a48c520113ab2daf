/* Indexes over several columns while one allocation after the other fails, of the host and of the caller's
 * allocator: an error that says so, no leak, and an index that is as it was. */
#include "check.h"

#include "fault_allocator.h"

#ifdef NO_FAULTS

int main(void)
{
    return skip_faults();
}

#else

enum { N = 50 };

static uint32_t symbols[N];
static int64_t times[N];
static float prices[N];
static uint8_t validity[N / 8 + 1];
static uint32_t answers[N];
static unsigned char file[1 << 16];

static kr_column columns[3] = {{.type = KR_U32, .count = N, .data = symbols},
                               {.type = KR_TIMESTAMP64, .count = N, .data = times, .validity = validity},
                               {.type = KR_F32, .count = N, .data = prices}};

static void fill(int is_wide)
{
    for (uint32_t i = 0; i < N; ++i) {
        symbols[i] = i % 5;
        times[i] = is_wide ? (int64_t)(i * UINT64_C(0x1234567812345678)) : i * 10;
        prices[i] = (float)(i % 7) - 3;
    }
    memset(validity, 0xFB, sizeof validity);
}

static kr_status ask(kr_index *index, kr_error *err)
{
    const kr_nearest_options near = {.struct_size = sizeof near, .limited = 1, .tolerance = 20};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = answers};
    kr_column_probes probes = {.struct_size = sizeof probes, .columns = columns, .n_columns = 3};
    kr_prepared *prepared = NULL;
    kr_status status = kr_index_lookup_columns(index, &probes, &sink, NULL, err);
    probes.n_columns = 2;
    probes.upper = &columns[1];
    if (!status)
        status = kr_index_lookup_columns(index, &probes, &sink, NULL, err);
    probes.upper = NULL;
    probes.nearest = &near;
    if (!status)
        status = kr_index_lookup_columns(index, &probes, &sink, NULL, err);
    if (!status)
        status = kr_prepare_lookup_columns(index, &probes, &sink, &prepared, err);
    if (!status)
        status = kr_prepared_run(prepared, NULL, err);
    kr_prepared_destroy(prepared);
    return status;
}

static kr_status save_and_load(kr_device *device, kr_index *index, kr_error *err)
{
    kr_pieces *pieces = NULL;
    kr_saved *saved = NULL;
    kr_index *loaded = NULL;
    const void *data;
    uint64_t n = 1, at = 0;
    double fraction;
    kr_status status = kr_index_pieces(index, NULL, &pieces, err);
    while (!status && n && at < kr_pieces_nbytes(pieces)) {
        status = kr_pieces_next(pieces, &data, &n, &fraction, err);
        if (!status)
            memcpy(file + at, data, n);
        at += n;
    }
    kr_pieces_destroy(pieces);
    if (!status)
        status = kr_saved_open_memory(file, at, NULL, &saved, err);
    if (!status)
        status = kr_index_load(device, saved, NULL, &loaded, err);
    kr_index_destroy(loaded);
    kr_saved_close(saved);
    return status;
}

/* If it fails, the index has its rows. */
static kr_status update(kr_index *index, kr_error *err)
{
    kr_column few[3];
    kr_index_info before = {.struct_size = sizeof before}, after = before;
    for (int j = 0; j < 3; ++j) {
        few[j] = columns[j];
        few[j].count = 5;
    }
    CHECK(kr_index_query(index, &before, NULL) == KR_OK);
    const kr_status status = kr_index_update_columns(index, few, NULL, few, NULL, err);
    CHECK(kr_index_query(index, &after, NULL) == KR_OK);
    if (status)
        CHECK(after.rows == before.rows && after.next_row == before.next_row);
    return status;
}

static kr_status join(kr_device *device, kr_error *err)
{
    const kr_column ends = columns[1];
    const kr_join_options options = {
        .struct_size = sizeof options, .left_by = columns, .right_by = columns, .n_by = 1};
    kr_join *joined = NULL;
    kr_status status = kr_join_create_overlap(device, "pivot", &columns[1], &ends, &columns[1], &ends,
                                              KR_ENDS_CLOSED, &options, &joined, err);
    kr_join_destroy(joined);
    joined = NULL;
    if (!status)
        status =
            kr_join_create_range(device, "pivot", &columns[1], &columns[1], &ends, &options, &joined, err);
    kr_join_destroy(joined);
    return status;
}

static const int32_t offsets[] = {0, 3, 6, 6, 9, 12, 17};
static const char bytes[] = "antbeecatantzebra";
static const kr_column texts = {
    .type = KR_STRING, .count = 6, .data = offsets, .reserved_words = {(uintptr_t)bytes, sizeof bytes - 1}};

/* Times and texts. */
static kr_status index_texts(kr_device *device, kr_error *err)
{
    const kr_column both[2] = {{.type = columns[1].type, .count = 6, .data = columns[1].data}, texts};
    const kr_nearest_options near = {.struct_size = sizeof near};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = answers};
    kr_column_probes probes = {.struct_size = sizeof probes, .columns = both, .n_columns = 2};
    kr_index *index = NULL;
    kr_prepared *prepared = NULL;
    kr_status status = kr_index_create_columns(device, "pivot", both, 2, NULL, NULL, &index, err);
    if (!status)
        status = kr_index_lookup_columns(index, &probes, &sink, NULL, err);
    probes.nearest = &near;
    if (!status)
        status = kr_index_lookup_columns(index, &probes, &sink, NULL, err);
    if (!status)
        status = kr_prepare_lookup_columns(index, &probes, &sink, &prepared, err);
    if (!status)
        status = kr_prepared_run(prepared, NULL, err);
    kr_prepared_destroy(prepared);
    if (!status)
        status = save_and_load(device, index, err);
    if (!status)
        status = kr_index_update_columns(index, both, NULL, both, NULL, err);
    kr_index_destroy(index);
    return status;
}

/* Texts as values, as ranges, as intervals and as groups. */
static kr_status join_texts(kr_device *device, kr_error *err)
{
    const kr_column *t = &texts;
    const kr_column both[2] = {texts, {.type = KR_TIMESTAMP64, .count = 6, .data = times}};
    kr_join *joined = NULL;
    kr_status status = kr_join_create(device, "pivot", t, t, NULL, &joined, err);
    kr_join_destroy(joined);
    joined = NULL;
    if (!status)
        status = kr_join_create_columns(device, "pivot", both, both, 2, NULL, &joined, err);
    kr_join_destroy(joined);
    joined = NULL;
    if (!status)
        status = kr_join_create_range(device, "pivot", t, t, t, NULL, &joined, err);
    kr_join_destroy(joined);
    joined = NULL;
    if (!status)
        status = kr_join_create_overlap(device, "pivot", t, t, t, t, KR_ENDS_CLOSED, NULL, &joined, err);
    kr_join_destroy(joined);
    joined = NULL;
    if (!status)
        status = kr_join_create_asof(device, "pivot", &both[1], &both[1], t, t, 1, NULL, NULL, &joined, err);
    kr_join_destroy(joined);
    joined = NULL;
    if (!status)
        status = kr_join_create_asof(device, "pivot", t, t, NULL, NULL, 0, NULL, NULL, &joined, err);
    kr_join_destroy(joined);
    return status;
}

static kr_status scenario(const char *spec, int own_allocator, kr_error *err)
{
    const kr_device_options options = {.struct_size = sizeof options,
                                       .threads = 1,
                                       .allocate = own_allocator ? allocate : NULL,
                                       .release = own_allocator ? release : NULL};
    kr_device *device = NULL;
    kr_index *index = NULL;
    kr_status status = kr_device_open("cpu", &options, &device, err);
    if (!status)
        status = kr_index_create_columns(device, spec, columns, 3, NULL, NULL, &index, err);
    if (!status)
        status = ask(index, err);
    if (!status)
        status = save_and_load(device, index, err);
    if (!status)
        status = update(index, err);
    if (!status)
        status = join(device, err);
    if (!status)
        status = join_texts(device, err);
    if (!status)
        status = index_texts(device, err);
    kr_index_destroy(index);
    kr_device_close(device);
    return status;
}

static void fail_each(const char *spec, fault *f, int own_allocator)
{
    const int64_t held = host.held, held_on_device = device_side.held;
    uint64_t n = 0;
    do {
        kr_error err = {0};
        f->struck = 0;
        f->countdown = ++n;
        const kr_status status = scenario(spec, own_allocator, &err);
        f->countdown = 0;
        CHECK(status == KR_OK || (f->struck && err.status == status && err.text[0]));
        CHECK(status == KR_OK || status == KR_ERR_DEVICE_MEMORY || status == KR_ERR_HOST_MEMORY);
        CHECK(host.held == held && device_side.held == held_on_device);
        if (failures)
            printf("FAILED %s, allocation %llu: %s '%s'\n", spec, (unsigned long long)n,
                   kr_status_name(status), err.text);
    } while (f->struck && !failures);
    CHECK(n > 30);
}

int main(void)
{
    static const char *const specs[] = {"pivot", "btree"};
    library = code_of((uintptr_t)kr_version);
    test = code_of((uintptr_t)main);
    for (int is_wide = 0; is_wide < 2; ++is_wide)
        for (int i = 0; i < 2; ++i) {
            fill(is_wide);
            CHECK(scenario(specs[i], 0, NULL) == KR_OK); /* threads start, and stay */
            fail_each(specs[i], &host, 0);
            fail_each(specs[i], &device_side, 1);
        }
    return failures != 0;
}

#endif
