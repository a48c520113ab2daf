/* Kind `rtscan`: what it is, its options, and the design that they give. */
#include "table/families/rtscan/rtscan.h"
#include "index/scenes/rays.h"
#include "table/families/cubes/cubes.h"

static const kr_option options[RTSCAN_OPTIONS] = {
    [RTSCAN_OPTION_ENCODE] =
        {"encode", KR_OPTION_CHOICE, "on|off", 0, 1, RTSCAN_ON,
         "on: coordinates are ranks of values, so that rows lie evenly in the scene (RTScan, 4.2); off: they "
         "are the values, stretched between the lowest and the highest"},
    [RTSCAN_OPTION_VECTORS] =
        {"vectors", KR_OPTION_INTEGER, NULL, 1, CUBES_BINS_MOST, 128,
         "how many bins a column has; a filter vector lies between two bins; 1: there is no vector, and "
         "rays visit all rows of a condition"},
    [RTSCAN_OPTION_SELECTION] =
        {"selection", KR_OPTION_CHOICE, "both|positive", 0, 1, RTSCAN_BOTH,
         "begin with the bins of which more than half is wanted, or only with those that are wanted whole"},
    [RTSCAN_OPTION_PACK] =
        {"pack", KR_OPTION_INTEGER, NULL, 1, 16, 8,
         "how many rows a box holds: with more, the tree is smaller, and rays meet more boxes"},
    [RTSCAN_OPTION_WIDTH] =
        {"width", KR_OPTION_DECIMAL, "auto", 1, 100000, -1,
         "the width of cubes, in mean distances between rows; auto: 0.385, or less where bins are thin"},
    [RTSCAN_OPTION_INTERVAL] =
        {"interval", KR_OPTION_DECIMAL, NULL, 10, 8000, 1000,
         "the distance between rays, in widths of a cube; more than 1 is refused, since rays would miss "
         "rows"},
    [RTSCAN_OPTION_SPACING] =
        {"spacing", KR_OPTION_DECIMAL, NULL, 0, 8000, 1000,
         "the distance between pieces of a ray, in widths of a cube; more than 1 is refused, since rays "
         "would miss rows"},
    [RTSCAN_OPTION_LENGTH] =
        {"length", KR_OPTION_DECIMAL, "auto", 0, 999999999, -1,
         "the length of the pieces of a ray, in widths of a cube; auto: a piece meets one row"},
    [RTSCAN_OPTION_ALONG] =
        {"along", KR_OPTION_CHOICE, "fewest|last|longest", 0, 2, RTSCAN_ALONG_FEWEST,
         "along which axis rays go. fewest: for each region the axis that needs the fewest rays; last: "
         "the third axis, as the paper draws it; longest: the longest of each region, as in the authors' "
         "program"},
    [RTSCAN_OPTION_BVH] = KR_RAYS_OPTION_BVH,
    [RTSCAN_OPTION_COMPACT] = KR_RAYS_OPTION_COMPACT(""),
    [RTSCAN_OPTION_PARTS] =
        {"parts", KR_OPTION_INTEGER, NULL, 0, 4096, 0,
         "in how many parts, by rows, a scene is built one after the other, which lowers peak memory; 0: "
         "one part per 2^29 rows"},
    [RTSCAN_OPTION_GROUPS] =
        {"groups", KR_OPTION_TEXT, "auto", 0, KR_SPEC_TEXT_NBYTES - 1, -1,
         "columns that share a scene, up to three, as in a+b+c,d+e; auto, and for columns that are not "
         "named: in their order, split evenly, so 4 as 2+2 and 7 as 3+2+2"},
    [RTSCAN_OPTION_SCENES] = {"scenes", KR_OPTION_CHOICE, "eager|lazy", 0, 1, RTSCAN_SCENES_EAGER,
                              "when scenes are built: with the table, or by the first scan that uses them"},
    [RTSCAN_OPTION_LIMITS] = {"limits", KR_OPTION_CHOICE, "rows|values", 0, 1, RTSCAN_LIMITS_ROWS,
                              "what bins have in common. rows: about as many rows (RTScan, 4.3.1); values, "
                              "with encode=off: a range "
                              "of values as wide"},
    [RTSCAN_OPTION_TIES] = {"ties", KR_OPTION_CHOICE, "rows|shuffled", 0, 1, RTSCAN_TIES_ROWS,
                            "which ranks equal values get, with encode=on. rows: in the order of rows, so "
                            "that rows with equal values in several columns lie together; shuffled: in "
                            "another order on each axis, so that they lie evenly"},
    [RTSCAN_OPTION_PRIM] = {"prim", KR_OPTION_CHOICE, "triangle|sphere|aabb", 0, 2, KR_PRIM_AABB,
                            "what stands for a row in the scene (RTScan, 4.4.2): a cube in a box, or a "
                            "triangle or sphere around it, "
                            "which more rays meet; these with pack=1 and spacing=0"},
    [RTSCAN_OPTION_PRESET] =
        {"preset", KR_OPTION_CHOICE, "none|paper", 0, 1, RTSCAN_PRESET_NONE,
         KR_PRESET_HELP(
             "paper: those of RTScan, sections 4.4 and 5.1, whose lengths are taken in widths of a cube")},
};

/* Section 5.1 at 10^8 rows: a cube for each row, intervals and spacings of 83,000 ranks, which is 0.385 of
 * the mean distance of rows, pieces of 1.1 * 10^6. The authors' program casts the rays of a region along its
 * longest side. */
static const kr_preset_value preset_values[] = {
    {RTSCAN_PRESET_PAPER, RTSCAN_OPTION_ENCODE, RTSCAN_ON},
    {RTSCAN_PRESET_PAPER, RTSCAN_OPTION_TIES, RTSCAN_TIES_SHUFFLED},
    {RTSCAN_PRESET_PAPER, RTSCAN_OPTION_VECTORS, 128},
    {RTSCAN_PRESET_PAPER, RTSCAN_OPTION_SELECTION, RTSCAN_BOTH},
    {RTSCAN_PRESET_PAPER, RTSCAN_OPTION_PACK, 1},
    {RTSCAN_PRESET_PAPER, RTSCAN_OPTION_WIDTH, 385},
    {RTSCAN_PRESET_PAPER, RTSCAN_OPTION_INTERVAL, 1000},
    {RTSCAN_PRESET_PAPER, RTSCAN_OPTION_SPACING, 1000},
    {RTSCAN_PRESET_PAPER, RTSCAN_OPTION_LENGTH, 13250},
    {RTSCAN_PRESET_PAPER, RTSCAN_OPTION_ALONG, RTSCAN_ALONG_LONGEST},
    {RTSCAN_PRESET_PAPER, RTSCAN_OPTION_BVH, KR_BVH_BALANCED},
    {RTSCAN_PRESET_PAPER, RTSCAN_OPTION_COMPACT, KR_COMPACT_ON},
};

/* A triangle or sphere is a surface, of one row. */
static kr_status settle_surface(kr_spec *spec, kr_error *err)
{
    const kr_status status =
        kr_spec_require(spec, RTSCAN_OPTION_PACK, 1,
                        "a box holds several rows, a triangle or sphere one; give pack=1 or prim=aabb", err);
    return status != KR_OK
               ? status
               : kr_spec_require(
                     spec, RTSCAN_OPTION_SPACING, 0,
                     "rays meet a triangle or sphere at a point, so pieces of a ray must not leave "
                     "gaps; give spacing=0 or prim=aabb",
                     err);
}

static kr_status settle_limits(kr_spec *spec, kr_error *err)
{
    return kr_spec_require(
        spec, RTSCAN_OPTION_ENCODE, RTSCAN_OFF,
        "limits=values needs encode=off: coordinates that are ranks hold equally many rows; "
        "give encode=off or limits=rows",
        err);
}

static kr_status settle(kr_spec *spec, kr_error *err)
{
    const int64_t *o = spec->options;
    kr_spec_settle_preset(spec, RTSCAN_OPTION_PRESET, preset_values,
                          sizeof preset_values / sizeof preset_values[0]);
    if (o[RTSCAN_OPTION_INTERVAL] > 1000)
        return kr_fail(
            err, KR_ERR_SPEC,
            "kind 'rtscan': rays more than a cube's width apart miss rows between them; give interval=1 or "
            "less");
    if (o[RTSCAN_OPTION_SPACING] > 1000)
        return kr_fail(
            err, KR_ERR_SPEC,
            "kind 'rtscan': pieces of a ray more than a cube's width apart miss rows between them; give "
            "spacing=1 or less");
    kr_status status = KR_OK;
    if (o[RTSCAN_OPTION_LIMITS] == RTSCAN_LIMITS_VALUES)
        status = settle_limits(spec, err);
    if (status == KR_OK && o[RTSCAN_OPTION_ENCODE] == RTSCAN_OFF)
        status = kr_spec_require(spec, RTSCAN_OPTION_TIES, RTSCAN_TIES_ROWS,
                                 "ties=shuffled needs encode=on: values that are not encoded have no ranks; "
                                 "leave out ties, or give encode=on",
                                 err);
    if (status != KR_OK)
        return status;
    return o[RTSCAN_OPTION_PRIM] == KR_PRIM_AABB ? KR_OK : settle_surface(spec, err);
}

static const uint32_t shapes[KR_PRIMS] = {CUBES_TRIANGLE, CUBES_SPHERE, CUBES_BOX};
static const uint32_t along[] = {[RTSCAN_ALONG_FEWEST] = CUBES_FEWEST,
                                 [RTSCAN_ALONG_LAST] = CUBES_AXES - 1,
                                 [RTSCAN_ALONG_LONGEST] = CUBES_LONGEST};

static cubes_design design_of(const kr_spec *spec)
{
    const int64_t *o = spec->options;
    return (cubes_design){
        .encode = o[RTSCAN_OPTION_ENCODE] == RTSCAN_ON,
        .shuffles_ties = o[RTSCAN_OPTION_TIES] == RTSCAN_TIES_SHUFFLED,
        .bins = (uint32_t)o[RTSCAN_OPTION_VECTORS],
        .selects_both = o[RTSCAN_OPTION_SELECTION] == RTSCAN_BOTH,
        .by_values = o[RTSCAN_OPTION_LIMITS] == RTSCAN_LIMITS_VALUES,
        .along = along[o[RTSCAN_OPTION_ALONG]],
        .together = CUBES_AXES,
        .is_lazy = o[RTSCAN_OPTION_SCENES] == RTSCAN_SCENES_LAZY,
        .shape = shapes[o[RTSCAN_OPTION_PRIM]],
        .parts = (uint32_t)o[RTSCAN_OPTION_PARTS],
        .pack = (uint32_t)o[RTSCAN_OPTION_PACK],
        .scene_flags = kr_rays_scene_flags(o[RTSCAN_OPTION_BVH], o[RTSCAN_OPTION_COMPACT]),
        .compact = o[RTSCAN_OPTION_COMPACT],
        .width = (double)o[RTSCAN_OPTION_WIDTH] / 1000,
        .interval = (double)o[RTSCAN_OPTION_INTERVAL] / 1000,
        .spacing = (double)o[RTSCAN_OPTION_SPACING] / 1000,
        .length = (double)o[RTSCAN_OPTION_LENGTH] / 1000,
        .saves_memory = "give parts=..., which builds a scene in parts",
        .saves_rays = "give wider cubes with width=..., or rays further apart with interval=...",
    };
}

static const cubes_family family = {{&cubes_ops}, design_of};

extern const kr_kind kr_kind_rtscan;
const kr_kind kr_kind_rtscan = {
    .name = "rtscan",
    .summary = "scans: filter vectors answer for most rows, and rays visit the remaining rows",
    .source = "Lv et al., RTScan, sections 4.2 to 4.4; preset=paper with the settings of 5.1",
    .capabilities = KR_CAN_SCAN,
    .n_options = RTSCAN_OPTIONS,
    .options = options,
    .settle = settle,
    .scan = &family.family,
};
