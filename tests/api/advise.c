/* kr_advise: what it says of columns of many shapes, what it refuses, and what it does when kinds fail, when
 * time or memory do not suffice, and when it is cancelled. Few probes make each call short. */
#include "cancel.h"
#include "device_memory.h"

#include <time.h>

enum { N = 5000, PROBES = 64, LARGE = 1 << 19 };

static kr_device *device;
static uint32_t numbers[LARGE], probes_of[PROBES];
static kr_column keys, probes;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- What holds for every advice ---------------------------------------------------------------- */

static kr_advice_info info_of(const kr_advice *advice)
{
    kr_advice_info info = {.struct_size = sizeof info};
    WORKS(kr_advice_query(advice, &info, &err));
    return info;
}

static kr_advice_candidate candidate_of(const kr_advice *advice, uint32_t i)
{
    kr_advice_candidate c = {.struct_size = sizeof c};
    WORKS(kr_advice_candidate_query(advice, i, &c, &err));
    return c;
}

/* The best first, those that are left out last; the spec makes an index of the column. */
static void check_advice(const kr_advice *advice, const kr_column *column)
{
    const kr_advice_info info = info_of(advice);
    kr_advice_candidate last = {0}, past = {.struct_size = sizeof past};
    kr_index *index = NULL;
    CHECK(info.candidates >= 3 && info.measured_rows && info.measured_rows <= info.rows && info.seconds > 0);
    CHECK(strcmp(info.device, "cpu") == 0 && info.reason[0]);
    CHECK((info.sample[0] == '\0') == (info.measured_rows == info.rows));
    for (uint32_t i = 0; i < info.candidates; ++i) {
        const kr_advice_candidate c = candidate_of(advice, i);
        CHECK(i > 0 || (c.state == KR_ADVICE_MEASURED && strcmp(c.spec, info.spec) == 0 &&
                        c.rows == info.measured_rows && c.paid_lookups == info.paid_lookups));
        CHECK(i == 0 || (c.state == KR_ADVICE_MEASURED) <= (last.state == KR_ADVICE_MEASURED));
        if (c.state == KR_ADVICE_MEASURED)
            CHECK(c.lookup_seconds > 0 && c.lookup_seconds >= last.lookup_seconds && c.build_seconds > 0 &&
                  c.footprint_nbytes && c.peak_nbytes >= c.footprint_nbytes && !c.note[0]);
        else
            CHECK(c.note[0]);
        CHECK((c.state == KR_ADVICE_FAILED) == (c.status != KR_OK));
        last = c;
    }
    REFUSED(KR_ERR_ARGUMENT, kr_advice_candidate_query(advice, info.candidates, &past, &err));
    WORKS(kr_index_create(device, info.spec, column, NULL, NULL, &index, &err));
    kr_index_destroy(index);
}

static kr_advice *advise(const kr_column *column, kr_advise_options options)
{
    kr_advice *advice = NULL;
    const uint64_t before = in_use(device);
    options.struct_size = sizeof options;
    WORKS(kr_advise(device, column, &options, &advice, &err));
    CHECK(in_use(device) == before);
    if (advice)
        check_advice(advice, column);
    return advice;
}

/* ---- Columns of many shapes ---------------------------------------------------------------------- */

static void check_column(kr_column column)
{
    kr_column few = column;
    few.count = column.count < PROBES ? column.count : PROBES;
    kr_advice_destroy(advise(&column, (kr_advise_options){.probes = &few, .batch = 16}));
}

static void check_shapes(void)
{
    static float reals[N];
    static uint8_t codes[N], validity[N / 8 + 1];
    static int64_t times[N];
    static int32_t offsets[N + 1];
    static char bytes[N * 8];
    for (uint32_t i = 0; i < N; ++i) {
        char text[9];
        reals[i] = (float)(i % 100) - 50;
        codes[i] = (uint8_t)(i % 7);
        times[i] = -1000 + (int64_t)i * 1000000;
        snprintf(text, sizeof text, "%08x", i * 2654435761u);
        memcpy(bytes + i * 8, text, 8);
        offsets[i + 1] = (int32_t)(i + 1) * 8;
    }
    memset(validity, 0x5A, sizeof validity);
    check_column((kr_column){.type = KR_F32, .count = N, .data = reals});
    check_column((kr_column){.type = KR_U8, .count = N, .data = codes});
    check_column((kr_column){.type = KR_U8, .count = N, .data = codes, .validity = validity});
    check_column((kr_column){.type = KR_TIMESTAMP64, .count = N, .data = times}); /* ascending */
    check_column((kr_column){
        .type = KR_STRING, .count = N, .data = offsets, .reserved_words = {(uintptr_t)bytes, N * 8}});
    check_column((kr_column){.type = KR_U32, .count = 100, .data = numbers});
    check_column((kr_column){.type = KR_U32, .count = 1, .data = numbers});
}

/* Every lookup finds all rows of a column of one value, and a range cannot have fewer. */
static void check_one_value(void)
{
    static uint64_t same[N];
    const kr_column column = {.type = KR_U64, .count = N, .data = same};
    kr_advice *advice = advise(
        &column, (kr_advise_options){.range_hits = 4, .batch = 16, .update_percent = 5, .seconds = 0.5});
    const kr_advice_info info = info_of(advice);
    CHECK(info.range_hits == N && info.updated_rows == 2);
    kr_advice_destroy(advice);
    advice = advise(&column, (kr_advise_options){.miss_percent = 50, .seconds = 0.2});
    CHECK(info_of(advice).hit_percent > 45 && info_of(advice).hit_percent < 55);
    kr_advice_destroy(advice);
}

/* ---- What is asked -------------------------------------------------------------------------------- */

static void check_probes(void)
{
    uint32_t absent[PROBES];
    for (uint32_t i = 0; i < PROBES; ++i)
        absent[i] = 4000000000u + i;
    const kr_column misses = {.type = KR_U32, .count = PROBES, .data = absent};
    kr_advice *advice = advise(&keys, (kr_advise_options){.probes = &misses});
    CHECK(info_of(advice).hit_percent == 0 && info_of(advice).batch == PROBES);
    kr_advice_destroy(advice);
    const double rates[] = {0, 25, 100};
    for (int i = 0; i < 3; ++i) {
        advice = advise(&keys, (kr_advise_options){.miss_percent = rates[i], .seconds = 0.2});
        CHECK(info_of(advice).hit_percent > 98 - rates[i] && info_of(advice).hit_percent < 102 - rates[i]);
        kr_advice_destroy(advice);
    }
}

static void check_ranges(void)
{
    kr_advice *advice = advise(&keys, (kr_advise_options){.range_hits = 20, .seconds = 0.2});
    kr_advice_info info = info_of(advice);
    CHECK(info.range_hits >= 20 && info.range_hits < 21 && info.operations == KR_CAN_RANGE);
    for (uint32_t i = 0; i < info.candidates; ++i)
        CHECK(!strstr(candidate_of(advice, i).spec, "hash"));
    CHECK(candidate_of(advice, 0).ranges_per_second > 0 && candidate_of(advice, 0).points_per_second == 0);
    kr_advice_destroy(advice);
    kr_column upper = probes;
    uint32_t above[PROBES];
    for (uint32_t i = 0; i < PROBES; ++i)
        above[i] = probes_of[i] + 2 * 7;
    upper.data = above;
    advice = advise(&keys, (kr_advise_options){.probes = &probes, .lower = &probes, .upper = &upper});
    info = info_of(advice);
    CHECK(info.range_hits == 3 && info.hit_percent == 100 &&
          info.operations == (KR_CAN_POINT | KR_CAN_RANGE));
    CHECK(candidate_of(advice, 0).ranges_per_second > 0 && candidate_of(advice, 0).points_per_second > 0);
    kr_advice_destroy(advice);
}

static void check_updates(void)
{
    kr_advice *advice = advise(&keys, (kr_advise_options){.probes = &probes, .update_percent = 50});
    const kr_advice_info info = info_of(advice);
    CHECK(info.updated_rows == PROBES);
    for (uint32_t i = 0; i < info.candidates; ++i) {
        const kr_advice_candidate c = candidate_of(advice, i);
        CHECK(strcmp(c.spec, "dense") != 0 && (c.update_seconds > 0) == (c.state == KR_ADVICE_MEASURED));
        if (c.state == KR_ADVICE_MEASURED) /* a lookup brings a row of an update with it */
            CHECK(c.lookup_seconds > 0.999 * (1 / c.points_per_second + c.update_seconds / PROBES));
    }
    kr_advice_destroy(advice);
}

/* ---- What is refused ------------------------------------------------------------------------------ */

static void refuse(kr_status want, const kr_column *column, kr_advise_options options, const char *says)
{
    kr_advice *advice = NULL;
    kr_error err = {0};
    options.struct_size = sizeof options;
    const kr_status got = kr_advise(device, column, &options, &advice, &err);
    CHECK(got == want && !advice && strstr(err.text, says) && !strchr(err.text, '\n'));
    if (got != want || !strstr(err.text, says))
        printf("  want %s '%s', got %s '%s'\n", kr_status_name(want), says, kr_status_name(got), err.text);
}

static void check_refused_columns(void)
{
    static const uint8_t none[N / 8 + 1];
    static uint8_t all[256];
    for (int i = 0; i < 256; ++i)
        all[i] = (uint8_t)i;
    kr_column column = keys;
    column.validity = none;
    refuse(KR_ERR_ARGUMENT, &column, (kr_advise_options){0}, "no key, as all are NULL");
    column = (kr_column){.type = KR_U32};
    refuse(KR_ERR_ARGUMENT, &column, (kr_advise_options){0}, "0 rows and no key");
    column = (kr_column){.type = (kr_type)77, .count = 3, .data = numbers};
    refuse(KR_ERR_TYPE, &column, (kr_advise_options){0}, "give a kr_type");
    column = (kr_column){.type = KR_U32, .count = 3, .data = (const char *)numbers + 1};
    refuse(KR_ERR_ARGUMENT, &column, (kr_advise_options){0}, "not aligned");
    column = (kr_column){.type = KR_U32, .count = 3};
    refuse(KR_ERR_ARGUMENT, &column, (kr_advise_options){0}, "keys.data is NULL");
    column = (kr_column){.type = KR_U8, .count = 256, .data = all};
    refuse(KR_ERR_ARGUMENT, &column, (kr_advise_options){.miss_percent = 10, .seconds = 0.2},
           "no probe can miss");
    column = (kr_column){.type = KR_F32, .count = PROBES, .data = probes_of};
    refuse(KR_ERR_TYPE, &keys, (kr_advise_options){.probes = &column},
           "probes.type is f32, and the keys are u32");
    column = probes;
    column.count = 0;
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.probes = &column}, "probes has no rows");
    column = probes;
    column.validity = none;
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.probes = &column},
           "all of kr_advise_options.probes are NULL");
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.lower = &column, .upper = &probes},
           "lower and upper has both bounds");
    column.validity = NULL;
    column.count = 3;
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.lower = &column, .upper = &probes},
           "lower has 3 rows");
}

static void check_refused_options(void)
{
    kr_advice *advice = NULL;
    const double nan = strtod("nan", NULL);
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.miss_percent = 101}, "miss_percent is 101");
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.miss_percent = nan}, "miss_percent is");
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.update_percent = 100}, "update_percent is 100");
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.seconds = -1}, "seconds is -1");
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.seconds = nan}, "seconds is");
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.batch = UINT64_MAX}, "batch is");
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.reserved = 1}, "reserved is 1");
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.operations = 64}, "operations is 64");
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.lower = &probes}, "upper is missing");
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.upper = &probes}, "lower is missing");
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.probes = &probes, .miss_percent = 1},
           "leave it 0 with probes");
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.lower = &probes, .upper = &probes, .range_hits = 1},
           "leave it 0 with lower");
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.operations = KR_CAN_RANGE, .probes = &probes},
           "for points");
    refuse(KR_ERR_ARGUMENT, &keys, (kr_advise_options){.operations = KR_CAN_POINT, .range_hits = 2},
           "for ranges");
    REFUSED(KR_ERR_ARGUMENT, kr_advise(NULL, &keys, NULL, &advice, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_advise(device, NULL, NULL, &advice, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_advise(device, &keys, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_advice_query(NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_advice_candidate_query(NULL, 0, NULL, &err));
    kr_advice_destroy(NULL);
}

/* ---- Memory --------------------------------------------------------------------------------------- */

/* Under the least footprint no kind fits, and the error names it; with it, at least that one does. */
static void check_cap(void)
{
    kr_advice *advice = advise(&keys, (kr_advise_options){.probes = &probes});
    uint64_t least = UINT64_MAX;
    char number[32];
    for (uint32_t i = 0; i < info_of(advice).candidates; ++i) {
        const kr_advice_candidate c = candidate_of(advice, i);
        least = c.footprint_nbytes && c.footprint_nbytes < least ? c.footprint_nbytes : least;
    }
    kr_advice_destroy(advice);
    snprintf(number, sizeof number, "%llu", (unsigned long long)least);
    refuse(KR_ERR_DEVICE_MEMORY, &keys,
           (kr_advise_options){.probes = &probes, .memory_cap_nbytes = least - 1}, number);
    advice = advise(&keys, (kr_advise_options){.probes = &probes, .memory_cap_nbytes = least});
    uint32_t over = 0;
    for (uint32_t i = 0; i < info_of(advice).candidates; ++i) {
        const kr_advice_candidate c = candidate_of(advice, i);
        CHECK(c.state == KR_ADVICE_OVER_CAP || c.footprint_nbytes <= least);
        over += c.state == KR_ADVICE_OVER_CAP;
    }
    CHECK(over > 0);
    kr_advice_destroy(advice);
}

/* An allocator that refuses large blocks, or takes its time. */
static struct {
    uint64_t most;
    double seconds_of_byte;
} allocator;

static void *allocate(void *ctx, size_t nbytes, void *native_stream)
{
    (void)ctx;
    (void)native_stream;
    const double until = now() + allocator.seconds_of_byte * (double)nbytes;
    while (now() < until)
        ;
    return allocator.most && nbytes > allocator.most ? NULL : aligned_alloc(256, (nbytes + 255) / 256 * 256);
}

static void release(void *ctx, void *memory, size_t nbytes, void *native_stream)
{
    (void)ctx;
    (void)nbytes;
    (void)native_stream;
    free(memory);
}

static kr_device *open_own(void)
{
    const kr_device_options options = {
        .struct_size = sizeof options, .threads = 1, .allocate = allocate, .release = release};
    kr_device *own = NULL;
    WORKS(kr_device_open("cpu", &options, &own, &err));
    return own;
}

/* Some kinds sort also keys that ascend, need a larger block for that than there is, and fail in the middle
 * of their build. */
static void check_failing_kinds(void)
{
    enum { ROWS = 100000 };
    static uint32_t ascending[ROWS];
    for (uint32_t i = 0; i < ROWS; ++i)
        ascending[i] = i * 1000;
    const kr_column column = {.type = KR_U32, .count = ROWS, .data = ascending};
    uint32_t failed = 0, measured = 0;
    allocator.most = ROWS * 9;
    kr_device *own = open_own(), *other = device;
    device = own;
    kr_advice *advice = advise(&column, (kr_advise_options){.probes = &probes});
    for (uint32_t i = 0; i < info_of(advice).candidates; ++i) {
        const kr_advice_candidate c = candidate_of(advice, i);
        failed += c.status == KR_ERR_DEVICE_MEMORY && c.rows == 0;
        measured += c.state == KR_ADVICE_MEASURED;
    }
    CHECK(failed > 0 && measured > 1);
    kr_advice_destroy(advice);
    allocator.most = PROBES * 8; /* now all do */
    refuse(KR_ERR_DEVICE_MEMORY, &column, (kr_advise_options){.probes = &probes}, "bytes");
    allocator.most = 0;
    device = other;
    kr_device_close(own);
}

/* ---- Time and cancelling --------------------------------------------------------------------------- */

/* Nor does a dictionary of all texts: the first rows stand for all. */
static void check_many_texts(void)
{
    enum { TEXTS = 1 << 18 };
    static int32_t offsets[TEXTS + 1];
    static char bytes[TEXTS * 4];
    for (uint32_t i = 0; i < TEXTS; ++i) {
        memcpy(bytes + i * 4, &numbers[i], 4);
        offsets[i + 1] = (int32_t)(i + 1) * 4;
    }
    const kr_column texts = {
        .type = KR_STRING, .count = TEXTS, .data = offsets, .reserved_words = {(uintptr_t)bytes, TEXTS * 4}};
    kr_column few = texts;
    few.count = PROBES;
    const kr_advise_options options = {.struct_size = sizeof options, .probes = &few, .seconds = 0.5};
    kr_advice *advice = NULL;
    WORKS(kr_advise(device, &texts, &options, &advice, &err));
    if (!advice)
        return;
    const kr_advice_info info = info_of(advice);
    CHECK(info.rows == TEXTS && info.measured_rows <= TEXTS / 2 && info.hit_percent == 100);
    CHECK(strstr(info.sample, "of the first rows, since a dictionary of all texts takes too long"));
    kr_advice_destroy(advice);
}

/* Of a sample, what all rows keep is meant. */
static void check_cap_of_sample(void)
{
    const kr_column column = {.type = KR_U32, .count = LARGE, .data = numbers};
    const kr_advise_options options = {
        .struct_size = sizeof options, .probes = &probes, .memory_cap_nbytes = 1000, .seconds = 1};
    kr_advice *advice = NULL;
    kr_error failed = {0};
    CHECK(kr_advise(device, &column, &options, &advice, &failed) == KR_ERR_DEVICE_MEMORY && !advice);
    const char *bytes = strstr(failed.text, "keeps the least, about ");
    const unsigned long long least =
        bytes ? strtoull(bytes + strlen("keeps the least, about "), NULL, 10) : 0;
    CHECK(least >= 4ull * LARGE && least <= 16ull * LARGE);
}

/* Kind `dense` may be the fastest with a sample, whose keys are of one cluster, and refuses the whole column:
 * then it is not advised, even if there is no time to build it. */
static void check_clusters(void)
{
    static uint32_t clusters[LARGE];
    for (uint32_t i = 0; i < LARGE; ++i)
        clusters[i] = (i * 7919u % LARGE >> 16 << 28) + i * 7919u % (1 << 16);
    const kr_column column = {.type = KR_U32, .count = LARGE, .data = clusters};
    const kr_advise_options options = {.struct_size = sizeof options, .seconds = 0.3};
    kr_advice *advice = NULL;
    kr_index *index = NULL;
    WORKS(kr_advise(device, &column, &options, &advice, &err));
    allocator.seconds_of_byte = 0;
    if (advice)
        WORKS(kr_index_create(device, info_of(advice).spec, &column, NULL, NULL, &index, &err));
    kr_index_destroy(index);
    kr_advice_destroy(advice);
}

/* With builds this slow, the whole column does not fit in the time. */
static void check_time(void)
{
    const kr_column column = {.type = KR_U32, .count = LARGE, .data = numbers};
    allocator.seconds_of_byte = 5e-8;
    kr_device *own = open_own(), *other = device;
    device = own;
    kr_advice *advice = NULL;
    const kr_advise_options options = {.struct_size = sizeof options, .probes = &probes, .seconds = 1};
    const clock_t begin = clock(); /* what other work takes of the time does not count */
    WORKS(kr_advise(device, &column, &options, &advice, &err));
    CHECK(clock() - begin < 1.5 * CLOCKS_PER_SEC);
    if (advice) {
        const kr_advice_info info = info_of(advice);
        CHECK(info.measured_rows < LARGE && strstr(info.sample, "of 524288 rows"));
        CHECK(info.candidates && candidate_of(advice, 0).rows == info.measured_rows);
        CHECK(candidate_of(advice, 0).whole_footprint_nbytes > candidate_of(advice, 0).footprint_nbytes);
    }
    kr_advice_destroy(advice);
    check_many_texts();
    check_clusters();
    device = other;
    kr_device_close(own);
}

static void check_cancelled(void)
{
    const kr_advise_options options = {
        .struct_size = sizeof options, .probes = &probes, .update_percent = 10, .progress = {.call = cancel}};
    const uint64_t before = in_use(device);
    kr_status status = KR_ERR_CANCELLED;
    for (cancel_at = 1; status == KR_ERR_CANCELLED && cancel_at < 1 << 20; cancel_at += 1 + cancel_at / 4) {
        kr_advice *advice = NULL;
        kr_error err = {0};
        calls = 0;
        status = kr_advise(device, &keys, &options, &advice, &err);
        CHECK(status == (calls >= cancel_at ? KR_ERR_CANCELLED : KR_OK) &&
              (status == KR_OK) == (advice != NULL));
        CHECK(in_use(device) == before);
        kr_advice_destroy(advice);
    }
    CHECK(status == KR_OK && cancel_at > 20);
}

int main(void)
{
    for (uint32_t i = 0; i < LARGE; ++i)
        numbers[i] = i * 2654435761u;
    static uint32_t near[N];
    for (uint32_t i = 0; i < N; ++i)
        near[i] = i * 3203 % N * 7; /* each once, one in 7 values */
    for (uint32_t i = 0; i < PROBES; ++i)
        probes_of[i] = i * 7 * 11;
    keys = (kr_column){.type = KR_U32, .count = N, .data = near};
    probes = (kr_column){.type = KR_U32, .count = PROBES, .data = probes_of};
    const kr_device_options options = {.struct_size = sizeof options, .threads = 1};
    WORKS(kr_device_open("cpu", &options, &device, &err));
    if (failures)
        return 1;
    check_shapes();
    check_one_value();
    check_probes();
    check_ranges();
    check_updates();
    check_refused_columns();
    check_refused_options();
    check_cap();
    check_cap_of_sample();
    check_failing_kinds();
    check_time();
    check_cancelled();
    kr_device_close(device);
    return failures != 0;
}
