/* kr_index_explain says what keys are like, where it may read them and chooses itself. */
#include "check.h"
#include "device_name.h"

#include <float.h>

static kr_device *device;

static const char *reason_of(const char *spec, const kr_column *keys)
{
    static kr_explanation made;
    made = (kr_explanation){.struct_size = sizeof made};
    WORKS(kr_index_explain(device, KR_OP_RANGE, spec, keys, 1000, &made, &err));
    CHECK(strlen(made.reason) + 1 < sizeof made.reason); /* not cut off */
    return made.reason;
}

static void says(kr_type type, const void *data, uint64_t n, const char *wanted)
{
    const kr_column column = {.type = type, .count = n, .data = data};
    const char *reason = reason_of("best", &column);
    if (!strstr(reason, wanted)) {
        ++failures;
        printf("FAILED: wanted '%s', got '%s'\n", wanted, reason);
    }
    CHECK(strstr(reason_of("best:updates=on", &column), wanted));
    CHECK(strstr(reason_of("best:ranges=off", &column), wanted));
    CHECK(strstr(reason_of("best:ranges=off,lookups=2,batch=4194304,hits=5", &column), wanted));
    CHECK(strcmp(reason_of("array", &column), "named in the spec") == 0);
}

static void check_columns(void)
{
    static const uint32_t numbered[] = {1, 2, 3, 4, 5}, last_falls[] = {1, 3, 5, 7, 2}, equal[] = {9, 9, 9},
                          crowded[] = {2, 1, 1, 2};
    static const int64_t wide[] = {INT64_MIN, -1, INT64_MAX};
    static const uint64_t ends[] = {0, UINT64_MAX};
    static const int8_t small[] = {-128, 127, -128};
    static const int32_t days[] = {-365, 0, 365};
    static const double floats[] = {-DBL_MAX, 0.25, DBL_MAX};
    says(KR_U32, numbered, 5, "; 5 keys from 1 to 5, 1 in 1 values, ascending, distinct");
    says(KR_U32, last_falls, 5, "; 5 keys from 1 to 7, 1 in 1.4 values");
    CHECK(!strstr(reason_of("best", &(kr_column){.type = KR_U32, .count = 5, .data = last_falls}),
                  "ascending"));
    says(KR_U32, equal, 3, "; 3 keys from 9 to 9, 1 in 0.333 values, ascending, repeated");
    says(KR_U32, crowded, 4, "; 4 keys from 1 to 2, 1 in 0.5 values, repeated");
    says(KR_U32, numbered, 1, "; 1 keys from 1 to 1, 1 in 1 values, ascending, distinct");
    says(KR_I64, wide, 3,
         "; 3 keys from -9223372036854775808 to 9223372036854775807, 1 in 6.15e+18 values, ascending");
    says(KR_U64, ends, 2,
         "; 2 keys from 0 to 18446744073709551615, 1 in 9.22e+18 values, ascending, distinct");
    says(KR_I8, small, 3, "; 3 keys from -128 to 127, 1 in 85.3 values");
    says(KR_DATE32, days, 3, "; 3 keys from -365 to 365, 1 in 244 values, ascending, distinct");
    says(KR_F64, floats, 3, "; 3 keys from -1.79769e+308 to 1.79769e+308, ascending, distinct");
    says(KR_U32, numbered, 0, "; no keys");
}

/* Keys that nobody may read, and columns that are wrong. */
static void check_others(void)
{
    static const uint32_t data[3] = {1, 2, 3};
    const kr_column unread = {.type = KR_U32, .count = 1000};
    const kr_column odd = {.type = KR_U32, .count = 1, .data = (const char *)data + 1};
    kr_explanation made = {.struct_size = sizeof made};
    CHECK(!strstr(reason_of("best", &unread), "keys from"));
    REFUSED(KR_ERR_ARGUMENT, kr_index_explain(device, KR_OP_POINT, "best", &odd, 1, &made, &err));
}

/* Many rows, in no order and in order, with NULLs that hide the ends. */
static void check_many(void)
{
    enum { N = 300000 };
    uint32_t *keys = malloc(N * sizeof *keys);
    uint8_t *validity = malloc(N / 8);
    for (uint32_t i = 0; i < N; ++i)
        keys[i] = 1000 + 3 * i;
    memset(validity, 0xFF, N / 8);
    says(KR_U32, keys, N, "; 300000 keys from 1000 to 900997, 1 in 1 steps of 3, ascending, distinct");
    keys[N - 1] = keys[N - 2];
    says(KR_U32, keys, N, "; 300000 keys from 1000 to 900994, 1 in 1 steps of 3, ascending, repeated");
    keys[N / 2] = 0;
    keys[N / 2 + 1] = UINT32_MAX;
    says(KR_U32, keys, N, "; 300000 keys from 0 to 4294967295, 1 in 1.43e+04 values");
    validity[N / 16] = 0xFC;
    const kr_column column = {.type = KR_U32, .count = N, .data = keys, .validity = validity};
    CHECK(strstr(reason_of("best", &column), "; 299998 keys from 1000 to 900994, 1 in 1 steps of 3"));
    free(validity);
    free(keys);
}

/* An estimate knows no keys, so it holds whatever kind these make of "best": here bits at their widest, with
 * one key that repeats and row ids in no order. */
static void check_bound(void)
{
    enum { N = 1 << 18, APART = 15 };
    uint32_t *keys = malloc(N * sizeof *keys);
    for (uint32_t i = 0; i < N; ++i)
        keys[i] = i * UINT32_C(2654435761) % N * APART + (i & 1);
    keys[5] = keys[6];
    const kr_column column = {.type = KR_U32, .count = N, .data = keys};
    static const char *const specs[] = {"best",
                                        "best:updates=on",
                                        "best:ranges=off",
                                        "best:ranges=off,hits=0",
                                        "best:ranges=off,lookups=1000",
                                        "best:ranges=off,lookups=600000",
                                        "best:lookups=100000000"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; ++s) {
        kr_estimate bound = {.struct_size = sizeof bound};
        kr_index_info made = {.struct_size = sizeof made};
        kr_index *index = NULL;
        WORKS(kr_index_estimate(device, specs[s], &column, &bound, &err));
        WORKS(kr_index_create(device, specs[s], &column, NULL, NULL, &index, &err));
        WORKS(kr_index_query(index, &made, &err));
        CHECK(made.footprint_nbytes <= bound.footprint_nbytes && made.peak_nbytes <= bound.peak_nbytes);
        kr_index_destroy(index);
    }
    free(keys);
}

int main(int argc, char **argv)
{
    const int skip = take_device_name(argc, argv);
    if (skip)
        return skip;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    check_columns();
    check_others();
    check_many();
    check_bound();
    kr_device_close(device);
    printf(failures ? "%d checks failed\n" : "all checks passed\n", failures);
    return failures != 0;
}
