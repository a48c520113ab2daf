/* Rays meet every key of all 64 bits, however far its coordinates are stretched: no answer comes from the
 * search that follows a ray which met nothing. */
#include "check.h"
#include "device_name.h"
#include "report_counter.h"

enum { KEYS = 1 << 16 };

static uint64_t keys[KEYS];

static void look_up(kr_device *device, const char *spec)
{
    static uint32_t rows[KEYS];
    const kr_column column = {.type = KR_U64, .count = KEYS, .data = keys};
    kr_index *index = NULL;
    kr_report *report = NULL;
    uint32_t wrong = 0;
    memset(rows, 0xFF, sizeof rows);
    WORKS(kr_report_create(&report, &err));
    WORKS(kr_index_create(device, spec, &column, NULL, NULL, &index, &err));
    const kr_sink sink = {
        .struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows, .report = report, .count_work = 1};
    WORKS(kr_index_lookup(index, &column, &sink, NULL, &err));
    for (uint32_t i = 0; i < KEYS; ++i)
        wrong += rows[i] != i;
    CHECK(wrong == 0);
    const uint64_t rays = report_counter(report, "rays");
    CHECK(rays >= KEYS && rays != UINT64_MAX);
    CHECK(report_counter(report, "repaired") == 0);
    if (wrong || report_counter(report, "repaired"))
        printf("  %s: %u wrong, %llu repaired\n", spec, wrong,
               (unsigned long long)report_counter(report, "repaired"));
    kr_report_destroy(report);
    kr_index_destroy(index);
}

/* Without a tracer there are no rays. */
static int casts_rays(void)
{
    kr_device_info info = {.struct_size = sizeof info};
    for (uint32_t i = 0; kr_device_describe(i, &info, NULL) == KR_OK; ++i)
        if (strncmp(info.name, device_name, strlen(device_name)) == 0)
            return strncmp(info.tracer, "none", 4) != 0;
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const specs[] = {"rx",
                                        "rx:prim=sphere",
                                        "rx:prim=aabb",
                                        "rx:prim=aabb,scale=20:20:20",
                                        "rx:prim=aabb,scale=25:0:0",
                                        "rx:prim=triangle,scale=20:20:20"};
    const int skipped = take_device_name(argc, argv);
    kr_device *device = NULL;
    if (skipped || !casts_rays())
        return SKIPPED;
    for (uint64_t i = 0; i < KEYS; ++i)
        keys[i] = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    for (size_t s = 0; s < sizeof specs / sizeof *specs; ++s)
        look_up(device, specs[s]);
    kr_device_close(device);
    return failures != 0;
}
