/* kr_advise and kr_advise_table while one allocation after the other fails, of the host and of the caller's
 * allocator: an error that says so, or a kind that is said to have failed; and no leak. A call has more than
 * thousand allocations, so behind the first ones only some fail. */
#include "check.h"

#include "fault_allocator.h"

#ifdef NO_FAULTS

int main(void)
{
    return skip_faults();
}

#else

enum { N = 200, PROBES = 8, ALL_OF_THE_FIRST = 24 };

static uint32_t numbers[N];
static int32_t offsets[N + 1];
static char bytes[N * 4];
static const kr_column keys = {.type = KR_U32, .count = N, .data = numbers},
                       probes = {.type = KR_U32, .count = PROBES, .data = numbers};
static kr_column texts, few_texts;
static uint32_t failed_kinds;

enum { INDEX, MADE, TEXTS, TABLE, PARTS };

static kr_status advise_table(kr_device *device, kr_advice **advice, kr_error *err)
{
    const kr_column columns[] = {keys, texts};
    kr_condition *condition = NULL;
    kr_status status = kr_condition_parse("c0 < 50 and c1 like '0%'", &condition, err);
    const kr_condition *const conditions[] = {condition};
    if (status == KR_OK)
        status = kr_advise_table(device, columns, NULL, 2, NULL, conditions, 1, NULL, advice, err);
    kr_condition_destroy(condition);
    return status;
}

static kr_status advise(kr_device *device, int part, kr_advice **advice, kr_error *err)
{
    kr_advise_options options = {.struct_size = sizeof options, .batch = PROBES, .probes = &probes};
    if (part == TABLE)
        return advise_table(device, advice, err);
    if (part == INDEX)
        options.update_percent = 50;
    if (part == TEXTS)
        options.probes = &few_texts;
    if (part == MADE)
        options = (kr_advise_options){.struct_size = sizeof options,
                                      .miss_percent = 10,
                                      .batch = 1,
                                      .range_hits = 2,
                                      .operations = 3,
                                      .seconds = 0.01};
    return kr_advise(device, part == TEXTS ? &texts : &keys, &options, advice, err);
}

static kr_status scenario(int part, kr_error *err)
{
    const kr_device_options options = {
        .struct_size = sizeof options, .threads = 1, .allocate = allocate, .release = release};
    kr_device *device = NULL;
    kr_advice *advice = NULL;
    kr_status status = kr_device_open("cpu", &options, &device, err);
    if (status == KR_OK)
        status = advise(device, part, &advice, err);
    CHECK((status == KR_OK) == (advice != NULL));
    kr_advice_candidate c = {.struct_size = sizeof c};
    for (uint32_t i = 0; kr_advice_candidate_query(advice, i, &c, NULL) == KR_OK; ++i)
        failed_kinds += c.status == KR_ERR_HOST_MEMORY || c.status == KR_ERR_DEVICE_MEMORY;
    kr_advice_destroy(advice);
    kr_device_close(device);
    return status;
}

static void fail_some(int part, fault *f, kr_status expected)
{
    const int64_t held = host.held, held_on_device = device_side.held;
    uint64_t n = 0, errors = 0;
    do {
        kr_error err = {0};
        n += 1 + (n > ALL_OF_THE_FIRST ? n / 3 : 0);
        f->struck = 0;
        f->countdown = n;
        const kr_status status = scenario(part, &err);
        f->countdown = 0;
        errors += status != KR_OK;
        CHECK(status == KR_OK || (f->struck && status == expected && err.status == status && err.text[0] &&
                                  !strchr(err.text, '\n')));
        CHECK(host.held == held && device_side.held == held_on_device);
        if (failures)
            printf("FAILED part %d, allocation %llu: %s '%s'; %lld and %lld blocks leak\n", part,
                   (unsigned long long)n, kr_status_name(status), err.text, (long long)(host.held - held),
                   (long long)(device_side.held - held_on_device));
    } while (f->struck && !failures);
    CHECK(errors && n > 2);
}

int main(void)
{
    library = code_of((uintptr_t)kr_version);
    test = code_of((uintptr_t)main);
    for (uint32_t i = 0; i < N; ++i) {
        char text[5];
        numbers[i] = i * 7 % 100;
        snprintf(text, sizeof text, "%04u", i * 7 % 100);
        memcpy(bytes + i * 4, text, 4);
        offsets[i + 1] = (int32_t)(i + 1) * 4;
    }
    texts = (kr_column){
        .type = KR_STRING, .count = N, .data = offsets, .reserved_words = {(uintptr_t)bytes, N * 4}};
    few_texts = texts;
    few_texts.count = PROBES;
    for (int part = 0; part < PARTS; ++part) {
        fail_some(part, &host, KR_ERR_HOST_MEMORY);
        fail_some(part, &device_side, KR_ERR_DEVICE_MEMORY);
    }
    CHECK(failed_kinds > 10);
    return failures != 0;
}

#endif
