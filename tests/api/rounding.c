/* The caller's rounding mode changes no answer and is the same after every call. */
#include "check.h"

#include <fenv.h>
#include <unistd.h>

enum { KEYS = 4000 };

static const char *const specs[] = {
    "array",      "pivot",           "rx",   "rx:prim=sphere,scale=0:0:0", "rx:prim=aabb",   "rx:parts=2",
    "rx:parts=3", "rx:update=refit", "cgrx", "cgrx:scene=naive",           "cgrx:updates=on"};
static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

static uint32_t keys[KEYS];
static double values[KEYS], sums[KEYS];
static const kr_column column = {.type = KR_U32, .count = KEYS, .data = keys};
static const kr_column value_column = {.type = KR_F64, .count = KEYS, .data = values};

static void look_up(const char *spec, int mode)
{
    static uint32_t rows[KEYS];
    static double added[KEYS];
    const kr_device_options options = {.struct_size = sizeof options, .threads = 2};
    const kr_sink row_sink = {.struct_size = sizeof row_sink, .result = KR_RESULT_ROW, .out = rows};
    const kr_sink sum_sink = {
        .struct_size = sizeof sum_sink, .result = KR_RESULT_SUM, .values = &value_column, .out = added};
    kr_device *device = NULL;
    kr_index *index = NULL;
    uint32_t wrong = 0;
    fesetround(mode);
    WORKS(kr_device_open("cpu", &options, &device, &err));
    WORKS(kr_index_create(device, spec, &column, NULL, NULL, &index, &err));
    WORKS(kr_index_lookup(index, &column, &row_sink, NULL, &err));
    WORKS(kr_index_lookup(index, &column, &sum_sink, NULL, &err));
    WORKS(kr_index_validate(index, &err));
    kr_index_destroy(index);
    kr_device_close(device);
    CHECK(fegetround() == mode);
    fesetround(FE_TONEAREST);
    for (uint32_t i = 0; i < KEYS; ++i)
        wrong += rows[i] != i || memcmp(&added[i], &sums[i], sizeof *sums) != 0;
    CHECK(wrong == 0);
    if (wrong)
        printf("  %s, mode %d: %u of %u wrong\n", spec, mode, wrong, (unsigned)KEYS);
}

/* 0.1 lies between two doubles, so a decimal is read differently in each mode. */
static void read_file(int mode)
{
    char path[64];
    kr_file *file = NULL;
    snprintf(path, sizeof path, "rounding-%ld.csv", (long)getpid());
    FILE *to = fopen(path, "w");
    CHECK(to != NULL);
    if (!to)
        return;
    fputs("x\n0.1\n1.23456789012345678e-5\n", to);
    fclose(to);
    strcat(path, ":x:f64");
    fesetround(mode);
    WORKS(kr_file_read(path, NULL, NULL, &file, &err));
    CHECK(fegetround() == mode);
    fesetround(FE_TONEAREST);
    const double *read = file ? kr_file_column(file)->data : NULL;
    CHECK(read && read[0] == 0.1 && read[1] == 1.23456789012345678e-5);
    kr_file_close(file);
    *strchr(path, ':') = '\0';
    remove(path);
}

static int has_rays(void)
{
    kr_device_info info = {.struct_size = sizeof info};
    return kr_device_describe(0, &info, NULL) == KR_OK && strncmp(info.tracer, "none", 4) != 0;
}

int main(void)
{
    const int rays = has_rays();
    for (uint32_t i = 0; i < KEYS; ++i) {
        keys[i] = i * 2654435761u;
        values[i] = i / 3.0;
        sums[i] = values[i];
    }
    for (size_t m = 0; m < sizeof modes / sizeof *modes; ++m) {
        for (size_t s = 0; s < sizeof specs / sizeof *specs; ++s)
            if (rays || (specs[s][0] != 'r' && specs[s][0] != 'c'))
                look_up(specs[s], modes[m]);
        read_file(modes[m]);
    }
    return failures != 0;
}
