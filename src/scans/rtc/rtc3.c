/* Kind `rtc3`: what it is, its options, and the design that they give. */
#include "scans/cubes/cubes.h"
#include "scenes/rays.h"

enum { RTC3_OPTION_RAYS, RTC3_OPTION_INTERVAL, RTC3_OPTION_BVH, RTC3_OPTION_COMPACT, RTC3_OPTIONS };

static const kr_option options[RTC3_OPTIONS] = {
    [RTC3_OPTION_RAYS] = {"rays", KR_OPTION_INTEGER, NULL, 1, 65536, 400,
                          "rays across a whole column, on each of two axes, each as long as the third; cubes "
                          "are as wide as rays are apart"},
    [RTC3_OPTION_INTERVAL] = {"interval", KR_OPTION_DECIMAL, NULL, 10, 8000, 1000,
                              "between rays, in widths of a cube; rays further than 1 apart miss rows and "
                              "are refused"},
    [RTC3_OPTION_BVH] = {"bvh", KR_OPTION_CHOICE, "fast|balanced|trace", 0, 2, KR_BVH_FAST,
                         "OptiX's preference: a fast build, none, or fast rays (Embree ignores it)"},
    [RTC3_OPTION_COMPACT] = {"compact", KR_OPTION_CHOICE, "auto|on|off", 0, 2, KR_COMPACT_AUTO,
                             "compact scenes after the build; auto: if that saves a sixteenth or more"},
};

static kr_status settle(kr_spec *spec, kr_error *err)
{
    if (spec->options[RTC3_OPTION_INTERVAL] > 1000)
        return kr_fail(err, KR_ERR_SPEC,
                       "kind 'rtc3': rays more than a cube's width apart miss rows between them; give "
                       "interval=1 or less");
    return KR_OK;
}

/* One bin holds all values, so nothing is sieved but NULLs; a ray is one piece. */
static cubes_design design_of(const kr_spec *spec)
{
    const int64_t *o = spec->options;
    return (cubes_design){
        .bins = 1,
        .along = CUBES_AXES - 1,
        .scene_flags = kr_rays_scene_flags(o[RTC3_OPTION_BVH], o[RTC3_OPTION_COMPACT]),
        .compact = o[RTC3_OPTION_COMPACT],
        .across = (uint32_t)o[RTC3_OPTION_RAYS],
        .interval = (double)o[RTC3_OPTION_INTERVAL] / 1000,
        .spacing = 1,
        .length = CUBES_CELLS,
    };
}

static kr_status estimate(const kr_table_shape *shape, kr_need *need, kr_error *err)
{
    const cubes_design design = design_of(shape->spec);
    return cubes_estimate(shape, &design, need, err);
}

static kr_status build(const kr_table_build *build, void **self, kr_error *err)
{
    const cubes_design design = design_of(build->spec);
    return cubes_build(build, &design, self, err);
}

static const kr_scan_ops ops = {
    .estimate = estimate,
    .build = build,
    .destroy = cubes_destroy,
    .components = cubes_components,
    .counters = cubes_counters,
    .validate = cubes_validate,
    .tracer = kr_rays_tracer,
    .runs_on = kr_rays_runs_on,
    .select = cubes_select,
    .explain = cubes_explain,
};

static const kr_scan_family family = {.ops = &ops};

extern const kr_kind kr_kind_rtc3;
const kr_kind kr_kind_rtc3 = {
    .name = "rtc3",
    .summary = "scans: rows are cubes in a scene of three columns, a matrix of rays visits the condition",
    .source = "Lv et al., RTScan, section 3.1",
    .capabilities = KR_CAN_SCAN,
    .n_options = RTC3_OPTIONS,
    .options = options,
    .settle = settle,
    .scan = &family,
};
