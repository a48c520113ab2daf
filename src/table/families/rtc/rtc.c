/* Kinds `rtc1` and `rtc3`: what they are, their options, and the designs that they give. */
#include "index/scenes/rays.h"
#include "table/families/cubes/cubes.h"

/* The options of both. */
enum { RTC_OPTION_RAYS, RTC_OPTION_INTERVAL, RTC_OPTION_BVH, RTC_OPTION_COMPACT, RTC_OPTIONS };

#define INTERVAL                                                                                             \
    {                                                                                                        \
        "interval", KR_OPTION_DECIMAL, NULL, 10, 8000, 1000,                                                 \
            "the distance between rays, in widths of a primitive; more than 1 is refused, since rays would " \
            "miss rows"                                                                                      \
    }
static const kr_option rtc1_options[RTC_OPTIONS] = {
    [RTC_OPTION_RAYS] = {"rays", KR_OPTION_INTEGER, NULL, 1, CUBES_CELLS, 1 << 14,
                         "how many rays cross a whole column; triangles are as wide as the rays are apart"},
    [RTC_OPTION_INTERVAL] = INTERVAL,
    [RTC_OPTION_BVH] = KR_RAYS_OPTION_BVH,
    [RTC_OPTION_COMPACT] = KR_RAYS_OPTION_COMPACT(""),
};

static const kr_option rtc3_options[RTC_OPTIONS] = {
    [RTC_OPTION_RAYS] = {"rays", KR_OPTION_INTEGER, NULL, 1, 1 << 16, 400,
                         "how many rays cross a whole column on each of two axes; they go along the third "
                         "axis, and cubes are as wide as the rays are apart"},
    [RTC_OPTION_INTERVAL] = INTERVAL,
    [RTC_OPTION_BVH] = KR_RAYS_OPTION_BVH,
    [RTC_OPTION_COMPACT] = KR_RAYS_OPTION_COMPACT(""),
};

extern const kr_kind kr_kind_rtc1, kr_kind_rtc3;

static kr_status settle(kr_spec *spec, kr_error *err)
{
    if (spec->options[RTC_OPTION_INTERVAL] > 1000)
        return kr_fail(err, KR_ERR_SPEC,
                       "kind '%s': rays more than a primitive's width apart miss rows between them; give "
                       "interval=1 or less",
                       spec->kind->name);
    return KR_OK;
}

/* One bin holds all values, so nothing is sieved but NULLs; a ray is one piece. */
static cubes_design design_of(const kr_spec *spec)
{
    const int64_t *o = spec->options;
    const int is_rtc1 = spec->kind == &kr_kind_rtc1;
    return (cubes_design){
        .bins = 1,
        .along = is_rtc1 ? 1 : CUBES_AXES - 1,
        .pack = 1,
        .together = is_rtc1 ? 1 : CUBES_AXES,
        .shape = is_rtc1 ? CUBES_LINE : CUBES_BOX,
        .scene_flags = kr_rays_scene_flags(o[RTC_OPTION_BVH], o[RTC_OPTION_COMPACT]),
        .compact = o[RTC_OPTION_COMPACT],
        .across = (uint32_t)o[RTC_OPTION_RAYS],
        .interval = (double)o[RTC_OPTION_INTERVAL] / 1000,
        .spacing = 1,
        .length = CUBES_CELLS,
        .saves_memory = "kind rtscan builds a scene in parts, with parts=...",
        .saves_rays = "give fewer rays with rays=..., or rays further apart with interval=...",
    };
}

static const cubes_family family = {{&cubes_ops}, design_of};

const kr_kind kr_kind_rtc1 = {
    .name = "rtc1",
    .summary = "scans: rows are triangles along a line for each column, rays across it visit each condition",
    .source = "Lv et al., RTScan, section 2.3",
    .capabilities = KR_CAN_SCAN,
    .n_options = RTC_OPTIONS,
    .options = rtc1_options,
    .settle = settle,
    .scan = &family.family,
};

const kr_kind kr_kind_rtc3 = {
    .name = "rtc3",
    .summary = "scans: rows are cubes in scenes of three columns, a matrix of rays visits a condition",
    .source = "Lv et al., RTScan, section 3.1",
    .capabilities = KR_CAN_SCAN,
    .n_options = RTC_OPTIONS,
    .options = rtc3_options,
    .settle = settle,
    .scan = &family.family,
};
