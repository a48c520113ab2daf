/* Joins: the cost rule, and the memory that a join takes. The conformance suite joins random columns. */
#include "check.h"
#include "device_name.h"

static kr_device *device;

/* ---- The cost rule ---------------------------------------------------------------------------- */

static const char *side_of(const char *spec, uint64_t left, uint64_t right, const kr_join_options *options)
{
    static kr_join_info info;
    info = (kr_join_info){.struct_size = sizeof info};
    WORKS(kr_join_explain(device, spec, left, right, options, &info, &err));
    CHECK(info.cost_left >= 0 && info.cost_right >= 0 && info.spec[0] && info.device[0] && !info.pairs);
    return info.indexed;
}

static void decide(void)
{
    const kr_join_options on = {.struct_size = sizeof on, .inverse = KR_INVERSE_ON};
    const kr_join_options off = {.struct_size = sizeof off, .inverse = KR_INVERSE_OFF};
    kr_join_options unordered = {.struct_size = sizeof unordered, .unordered = 1};
    kr_join_info info = {.struct_size = sizeof info};
    CHECK(!strcmp(side_of("array", 1 << 27, 1 << 20, NULL), "right"));
    CHECK(!strcmp(side_of("array", 1 << 20, 1 << 23, NULL), "right"));
    CHECK(!strcmp(side_of("array", 1 << 27, 1 << 26, &unordered), "right"));
    CHECK(!strcmp(side_of("array", 5, 1 << 26, &on), "left"));
    CHECK(!strcmp(side_of("hash", 5, 1 << 26, &off), "right"));
    CHECK(!strcmp(side_of("hash", 1 << 16, 1 << 23, &unordered), "left"));
    CHECK(!strcmp(side_of("best", 0, 0, NULL), "right"));
    REFUSED(KR_ERR_SPEC, kr_join_explain(device, "frob", 1, 1, NULL, &info, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_explain(NULL, "array", 1, 1, NULL, &info, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_join_explain(device, "array", 1, 1, NULL, NULL, &err));
}

/* ---- Memory ----------------------------------------------------------------------------------- */

enum { LEFT = 1 << 20, RIGHT = 1 << 18, ROUNDING = 1 << 20 };

/* With distinct right keys: the result, the index, and 12 bytes a left row. Both sides are on the device. */
static void take_memory(const char *spec, uint32_t unordered)
{
    static uint32_t left[LEFT], right[RIGHT];
    const kr_join_options options = {
        .struct_size = sizeof options, .inverse = KR_INVERSE_OFF, .unordered = unordered};
    kr_join_info info = {.struct_size = sizeof info};
    kr_join *join = NULL;
    void *on_left = NULL, *on_right = NULL;
    for (uint32_t i = 0; i < RIGHT; ++i)
        right[i] = i * 2654435761u;
    for (uint32_t i = 0; i < LEFT; ++i)
        left[i] = right[i * 7919u % RIGHT] + i % 2;
    WORKS(kr_memory_allocate(device, sizeof left, NULL, &on_left, &err));
    WORKS(kr_memory_allocate(device, sizeof right, NULL, &on_right, &err));
    WORKS(kr_memory_copy(device, on_left, left, sizeof left, NULL, &err));
    WORKS(kr_memory_copy(device, on_right, right, sizeof right, NULL, &err));
    const kr_column sides[2] = {{.type = KR_U32, .count = LEFT, .data = on_left},
                                {.type = KR_U32, .count = RIGHT, .data = on_right}};
    WORKS(kr_join_create(device, spec, &sides[0], &sides[1], &options, &join, &err));
    WORKS(kr_join_query(join, &info, &err));
    CHECK(info.pairs >= LEFT / 2);
    CHECK(info.peak_nbytes <= info.pairs * 8 + info.footprint_nbytes + (uint64_t)LEFT * 12 + ROUNDING);
    kr_join_destroy(join);
    kr_memory_release(device, on_right, sizeof right, NULL);
    kr_memory_release(device, on_left, sizeof left, NULL);
}

int main(int argc, char **argv)
{
    const int skipped = take_device_name(argc, argv);
    if (skipped)
        return skipped;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    decide();
    take_memory("array", 0);
    take_memory("array", 1);
    take_memory("array:probes=partitioned", 0);
    take_memory("array:probes=partitioned", 1);
    take_memory("hash", 0);
    kr_device_close(device);
    return failures != 0;
}
