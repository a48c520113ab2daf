/* Kind `rx`: its options and which go together. rx_width.c has its operations. */
#include "index/families/rx/rx.h"
#include "index/families/rx/rx_geometry.h"
#include "index/scenes/rays.h"

#include <stdio.h>

static const kr_option options[RX_OPTIONS] = {
    [RX_OPTION_MODE] =
        {"mode", KR_OPTION_CHOICE, "naive|extended|3d", 0, 2, KR_POINT_3D,
         "keys as coordinates: naive holds unsigned keys below 2^23, extended below 2^29 (triangles and "
         "boxes, no offset rays), 3d all"},
    [RX_OPTION_BITS] =
        {"bits", KR_OPTION_TRIPLE, NULL, 0, 23, 23 | 23 << 8 | 18 << 16,
         "mode=3d: bits of a key in x, y and z, lowest first; x at least 1, together the type's bits or "
         "more (other modes: 0:0:0)"},
    [RX_OPTION_SCALE] =
        {"scale", KR_OPTION_TRIPLE, NULL, 0, RX_MOST_SCALE, 0 | 15 << 8 | 25 << 16,
         "x, y and z are stretched by these powers of two; if steps between rows and planes are as long "
         "as rows, the builder groups keys in order (mode=extended: 0:0:0)"},
    [RX_OPTION_RAY] = {"ray", KR_OPTION_CHOICE, "perpendicular|offset|zero", 0, 2, RX_RAY_PERPENDICULAR,
                       "the ray of a point lookup: across rows of keys, or along one from the key or zero"},
    [RX_OPTION_RANGE_RAY] = {"range_ray", KR_OPTION_CHOICE, "offset|zero", 0, 1, RX_RAY_OFFSET - 1,
                             "the rays of a range lookup: along each row from the lower bound or from zero"},
    [RX_OPTION_MAX_RAYS] = {"max_rays", KR_OPTION_INTEGER, NULL, 1, 1 << 20, 1024,
                            "a range over more rows of keys is searched in the sorted keys instead"},
    [RX_OPTION_PRIM] = {"prim", KR_OPTION_CHOICE, "triangle|sphere|aabb", 0, 2, KR_PRIM_TRIANGLE,
                        "the primitive of a key in the scene (RTIndeX, 3.5)"},
    [RX_OPTION_BVH] = KR_RAYS_OPTION_BVH,
    [RX_OPTION_COMPACT] = KR_RAYS_OPTION_COMPACT("; off with update=refit"),
    [RX_OPTION_RANGE] = {"range", KR_OPTION_CHOICE, "scan|anyhit", 0, 1, RX_RANGE_SCAN,
                         "ranges and duplicates: one hit and the sorted keys beside it, or every hit"},
    [RX_OPTION_DEDUPE] = {"dedupe", KR_OPTION_CHOICE, "on|off", 0, 1, RX_ON,
                          "one primitive for equal keys; off with update=refit and order=row"},
    [RX_OPTION_ORDER] = {"order", KR_OPTION_CHOICE, "key|row", 0, 1, RX_ORDER_KEY,
                         "primitives in the order of keys, or of row ids as in the paper (RTIndeX, 3.1)"},
    [RX_OPTION_PARTS] =
        {"parts", KR_OPTION_INTEGER, NULL, 0, 4096, 0,
         "equal scenes built one after the other, which lowers peak memory; empty ones are left out; 0: "
         "one for 2^22 keys on a GPU, at most 64, and one on the CPU"},
    [RX_OPTION_ENTER] =
        {"enter", KR_OPTION_CHOICE, "part|top", 0, 1, RX_ENTER_PART,
         "where tracing rays begin: in the part of their keys, which integers find, or above all parts; "
         "top with order=row"},
    [RX_OPTION_OUTSIDE] =
        {"outside", KR_OPTION_CHOICE, "integers|rays", 0, 1, RX_OUTSIDE_INTEGERS,
         "what answers points below the lowest key or above the highest: two comparisons, or a ray as in "
         "the paper (RTIndeX, 4.6), for studies"},
    [RX_OPTION_UPDATE] =
        {"update", KR_OPTION_CHOICE, "rebuild|refit", 0, 1, RX_UPDATE_REBUILD,
         "kr_index_set_keys makes a new scene, or moves the primitives of the old one (RTIndeX, 3.6)"},
    [RX_OPTION_ANSWER] =
        {"answer", KR_OPTION_CHOICE, "matches|rays|scan", 0, 2, RX_ANSWER_MATCHES,
         "what adds up rows for SUM_ROWS and SUM of integers. matches: hits are compared with the sorted "
         "keys, "
         "then groups of threads add up; rays: the program that each hit calls, unchecked, which answers "
         "COUNT, EXISTS and ROW of points, too (RTIndeX, 2.2, 3.1), with range=anyhit and prim=triangle or "
         "sphere; keys still decide rays from zero and ranges with mode=extended; scan: a thread for each "
         "probe, from the one hit on through the sorted keys (thesis, 4.1, Algorithm 4), with range=scan"},
    [RX_OPTION_HIT] =
        {"hit", KR_OPTION_CHOICE, "first|closest", 0, 1, RX_HIT_FIRST,
         "range=scan: the hit that answers a point: whichever the ray meets first, or the closest "
         "(thesis, 4.1)"},
    [RX_OPTION_PRESET] = {"preset", KR_OPTION_CHOICE, "none|paper|thesis", 0, 2, RX_PRESET_NONE,
                          KR_PRESET_HELP("paper: those of RTIndeX, section 3; thesis: those of the thesis on "
                                         "joins, chapter 4, which optimizes RX")},
};

/* RTIndeX, section 3: every hit in an any-hit program, which adds up, and a primitive for each row in the
 * order of rows.
 * Thesis, 4.1, 4.2, 5.8, 5.12: the closest hit and a scan by the probe's thread, 2^4 parts, one primitive for
 * equal keys, sorted probes. */
static const kr_preset_value preset_values[] = {
    {RX_PRESET_PAPER, RX_OPTION_SCALE, 0},
    {RX_PRESET_PAPER, RX_OPTION_BVH, KR_BVH_BALANCED},
    {RX_PRESET_PAPER, RX_OPTION_COMPACT, KR_COMPACT_ON},
    {RX_PRESET_PAPER, RX_OPTION_RANGE, RX_RANGE_ANYHIT},
    {RX_PRESET_PAPER, RX_OPTION_DEDUPE, RX_OFF},
    {RX_PRESET_PAPER, RX_OPTION_ORDER, RX_ORDER_ROW},
    {RX_PRESET_PAPER, RX_OPTION_PARTS, 1},
    {RX_PRESET_PAPER, RX_OPTION_ENTER, RX_ENTER_TOP},
    {RX_PRESET_PAPER, RX_OPTION_OUTSIDE, RX_OUTSIDE_RAYS},
    {RX_PRESET_PAPER, RX_OPTION_ANSWER, RX_ANSWER_RAYS},
    {RX_PRESET_PAPER, RX_OPTIONS + KR_COMMON_PROBES, KR_PROBES_AS_IS},
    {RX_PRESET_THESIS, RX_OPTION_SCALE, 0},
    {RX_PRESET_THESIS, RX_OPTION_BVH, KR_BVH_BALANCED},
    {RX_PRESET_THESIS, RX_OPTION_COMPACT, KR_COMPACT_ON},
    {RX_PRESET_THESIS, RX_OPTION_PARTS, 16},
    {RX_PRESET_THESIS, RX_OPTION_ENTER, RX_ENTER_TOP},
    {RX_PRESET_THESIS, RX_OPTION_OUTSIDE, RX_OUTSIDE_RAYS},
    {RX_PRESET_THESIS, RX_OPTION_ANSWER, RX_ANSWER_SCAN},
    {RX_PRESET_THESIS, RX_OPTION_HIT, RX_HIT_CLOSEST},
    {RX_PRESET_THESIS, RX_OPTIONS + KR_COMMON_PROBES, KR_PROBES_SORTED},
};

static kr_status settle_extended(kr_spec *spec, kr_error *err)
{
    kr_status status = kr_spec_require(
        spec, RX_OPTION_SCALE, 0,
        "mode=extended uses the full range of floats and takes no scale; leave out scale, or give mode=3d",
        err);
    if (status == KR_OK)
        status = kr_spec_require(
            spec, RX_OPTION_RANGE_RAY, RX_RAY_ZERO - 1,
            "mode=extended has no range_ray=offset: floats are too coarse to start beside a key; give "
            "range_ray=zero or mode=3d",
            err);
    if (status != KR_OK)
        return status;
    if (spec->options[RX_OPTION_RAY] == RX_RAY_OFFSET)
        return kr_fail(
            err, KR_ERR_SPEC,
            "kind 'rx': mode=extended has no ray=offset: floats are too coarse to start beside a key; give "
            "ray=perpendicular, ray=zero or mode=3d");
    if (spec->options[RX_OPTION_PRIM] == KR_PRIM_SPHERE)
        return kr_fail(
            err, KR_ERR_SPEC,
            "kind 'rx': mode=extended has no prim=sphere: one radius does not fit gaps that grow with the "
            "key; give prim=triangle, prim=aabb or mode=3d");
    return KR_OK;
}

/* A settled spec names every option, and must mean the same when it is read again: without a decomposition
 * bits is 0:0:0. */
static kr_status settle_bits(kr_spec *spec, kr_error *err)
{
    const int64_t bits = spec->options[RX_OPTION_BITS];
    if (spec->options[RX_OPTION_MODE] != KR_POINT_3D)
        return kr_spec_require(
            spec, RX_OPTION_BITS, 0,
            "bits is an option of mode=3d, the other modes put the whole key in x; leave out bits, or give "
            "mode=3d",
            err);
    return kr_rays_check_x(spec, bits, err);
}

/* Spheres have one radius, which is too small beside longer coordinates: at 2^22 it is below a float's step,
 * and OptiX lost stretched spheres there. */
static kr_status settle_scale(kr_spec *spec, kr_error *err)
{
    if (spec->options[RX_OPTION_PRIM] != KR_PRIM_SPHERE)
        return KR_OK;
    return kr_spec_require(
        spec, RX_OPTION_SCALE, 0,
        "prim=sphere needs scale=0:0:0: one radius does not fit longer steps; leave out scale, or give "
        "prim=triangle",
        err);
}

/* answer=rays adds up every hit, once: a primitive for each row, and no boxes, which a tracer may report
 * twice or lose. */
static kr_status settle_rays(kr_spec *spec, kr_error *err)
{
    kr_status status =
        kr_spec_require(spec, RX_OPTION_RANGE, RX_RANGE_ANYHIT,
                        "answer=rays adds up every hit; give range=anyhit, or answer=matches", err);
    if (status == KR_OK)
        status = kr_spec_require(
            spec, RX_OPTION_DEDUPE, RX_OFF,
            "answer=rays needs a primitive for every row; give dedupe=off, or answer=matches", err);
    if (status == KR_OK && spec->options[RX_OPTION_PRIM] == KR_PRIM_AABB)
        status = kr_fail(err, KR_ERR_SPEC,
                         "kind 'rx': answer=rays does not go with prim=aabb: boxes are met twice, or lost; "
                         "give prim=triangle, or answer=matches");
    return status;
}

/* Where a preset's answer does not go with other options, keys decide. */
static kr_status settle_answer(kr_spec *spec, kr_error *err)
{
    int64_t *o = spec->options;
    const int is_anyhit = o[RX_OPTION_RANGE] == RX_RANGE_ANYHIT;
    const int is_fit = o[RX_OPTION_ANSWER] == RX_ANSWER_RAYS
                           ? is_anyhit && o[RX_OPTION_DEDUPE] == RX_OFF && o[RX_OPTION_PRIM] != KR_PRIM_AABB
                           : !is_anyhit;
    if (o[RX_OPTION_ANSWER] == RX_ANSWER_MATCHES || is_fit)
        return KR_OK;
    if (!kr_spec_gives(spec, RX_OPTION_ANSWER)) {
        o[RX_OPTION_ANSWER] = RX_ANSWER_MATCHES;
        return KR_OK;
    }
    if (o[RX_OPTION_ANSWER] == RX_ANSWER_RAYS)
        return settle_rays(spec, err);
    return kr_spec_require(
        spec, RX_OPTION_RANGE, RX_RANGE_SCAN,
        "answer=scan goes on from one hit; give range=scan, or answer=rays to add up every hit", err);
}

static kr_status settle_hit(kr_spec *spec, kr_error *err)
{
    return spec->options[RX_OPTION_RANGE] == RX_RANGE_SCAN
               ? KR_OK
               : kr_spec_require(spec, RX_OPTION_HIT, RX_HIT_FIRST,
                                 "hit=closest says which of the hits is taken, and range=anyhit takes all; "
                                 "leave out hit, "
                                 "or give range=scan",
                                 err);
}

static kr_status settle(kr_spec *spec, kr_error *err)
{
    const int64_t *o = spec->options;
    kr_spec_settle_preset(spec, RX_OPTION_PRESET, preset_values,
                          sizeof preset_values / sizeof preset_values[0]);
    kr_status status = settle_bits(spec, err);
    if (status == KR_OK)
        status = settle_scale(spec, err);
    if (status == KR_OK && o[RX_OPTION_MODE] == KR_POINT_EXTENDED)
        status = settle_extended(spec, err);
    if (status == KR_OK && o[RX_OPTION_UPDATE] == RX_UPDATE_REFIT)
        status = kr_spec_require(
            spec, RX_OPTION_COMPACT, KR_COMPACT_OFF,
            "update=refit needs compact=off: a scene that may be refitted keeps its uncompacted size; give "
            "compact=off or update=rebuild",
            err);
    if (status == KR_OK && o[RX_OPTION_UPDATE] == RX_UPDATE_REFIT)
        status = kr_spec_require(
            spec, RX_OPTION_DEDUPE, RX_OFF,
            "update=refit does not go with dedupe=on: refitting cannot add or remove primitives, so every "
            "row needs its own; give dedupe=off or update=rebuild",
            err);
    if (status == KR_OK && o[RX_OPTION_ORDER] == RX_ORDER_ROW)
        status = kr_spec_require(
            spec, RX_OPTION_DEDUPE, RX_OFF,
            "order=row does not go with dedupe=on: it has a primitive for every row; give dedupe=off or "
            "order=key",
            err);
    if (status == KR_OK && o[RX_OPTION_ORDER] == RX_ORDER_ROW)
        status = kr_spec_require(
            spec, RX_OPTION_ENTER, RX_ENTER_TOP,
            "order=row does not go with enter=part: the keys of a part lie anywhere; give enter=top or "
            "order=key",
            err);
    if (status == KR_OK)
        status = settle_answer(spec, err);
    return status == KR_OK ? settle_hit(spec, err) : status;
}

static const kr_family family = {
    .probes = {.sorts_whole = 1},
    .u32 = &rx_ops_u32,
    .u64 = &rx_ops_u64,
};

extern const kr_kind kr_kind_rx;
const kr_kind kr_kind_rx = {
    .name = "rx",
    .summary = "keys as primitives of a scene, found by rays (on GPUs without RT cores, in software)",
    .source =
        "Henneberg and Schuhknecht, \"RTIndeX\" (RX); with closest hit and scan, partitions and one "
        "primitive for equal keys after Wu, \"Fast Database Join on Ray-tracing Core Equipped GPU\", 4.1 "
        "and 4.2",
    .capabilities = KR_CAN_POINT | KR_CAN_RANGE | KR_CAN_SET_KEYS,
    .n_options = RX_OPTIONS,
    .options = options,
    .settle = settle,
    .family = &family,
};

static float axis_step(const kr_spec *spec, int axis)
{
    return (float)((uint32_t)1 << kr_option_triple_part(spec->options[RX_OPTION_SCALE], axis));
}

/* The distance of neighbours on each axis: as `scale` says, or shorter by a power of two, which keeps floats
 * exact, where `bits` allow a coordinate beyond what rays meet. The paper's extended mode ends just below
 * 2^127; its x reaches as far as scenes may, and a search finds what lies beyond. Without a tracer there is
 * no scene. */
static kr_point steps_of(const kr_spec *spec, kr_device *device)
{
    const int64_t *o = spec->options, mode = o[RX_OPTION_MODE];
    const kr_point step = {axis_step(spec, 0), axis_step(spec, 1), axis_step(spec, 2)};
    kr_tracer *tracer;
    if (kr_tracer_of(device, &tracer, NULL) != KR_OK)
        return step;
    const float farthest = tracer->farthest[o[RX_OPTION_PRIM]];
    if (mode == KR_POINT_EXTENDED)
        return (kr_point){tracer->largest[o[RX_OPTION_PRIM]] / 0x1p127f, step.y, step.z};
    float reach = mode == KR_POINT_NAIVE ? step.x * (float)(KR_NAIVE_MOST + 1) : 0;
    for (int axis = 0; axis < 3; ++axis) {
        const float most =
            axis_step(spec, axis) * (float)((uint32_t)1 << kr_option_triple_part(o[RX_OPTION_BITS], axis));
        reach = most > reach ? most : reach;
    }
    const float nearer = reach > farthest ? farthest / reach : 1;
    return (kr_point){step.x * nearer, step.y * nearer, step.z * nearer};
}

rx_design rx_design_of(const kr_spec *spec, kr_device *device)
{
    const int64_t *o = spec->options;
    const uint32_t mode = (uint32_t)o[RX_OPTION_MODE], prim = (uint32_t)o[RX_OPTION_PRIM];
    return (rx_design){
        .map = {.step = steps_of(spec, device),
                .mode = mode,
                .x_bits = kr_option_triple_part(o[RX_OPTION_BITS], 0),
                .y_bits = kr_option_triple_part(o[RX_OPTION_BITS], 1)},
        .prim = prim,
        .scene_flags = kr_rays_scene_flags(o[RX_OPTION_BVH], o[RX_OPTION_COMPACT]) |
                       (o[RX_OPTION_UPDATE] == RX_UPDATE_REFIT ? KR_SCENE_REFIT : 0),
        .compact = (uint32_t)o[RX_OPTION_COMPACT],
        .point_ray = (uint32_t)o[RX_OPTION_RAY],
        .range_ray = (uint32_t)o[RX_OPTION_RANGE_RAY] + 1,
        .max_rays = (uint32_t)o[RX_OPTION_MAX_RAYS],
        .parts = (uint32_t)o[RX_OPTION_PARTS],
        .anyhit = o[RX_OPTION_RANGE] == RX_RANGE_ANYHIT,
        .dedupe = o[RX_OPTION_DEDUPE] == RX_ON,
        .by_row = o[RX_OPTION_ORDER] == RX_ORDER_ROW,
        .refit = o[RX_OPTION_UPDATE] == RX_UPDATE_REFIT,
        .enter = o[RX_OPTION_ENTER] == RX_ENTER_PART,
        .outside = (uint32_t)o[RX_OPTION_OUTSIDE],
        .answer = (uint32_t)o[RX_OPTION_ANSWER],
        .closest = o[RX_OPTION_HIT] == RX_HIT_CLOSEST,
    };
}

kr_status rx_check_bits(const kr_spec *spec, uint32_t type, kr_error *err)
{
    return spec->options[RX_OPTION_MODE] == KR_POINT_3D
               ? kr_rays_check_bits(spec, spec->options[RX_OPTION_BITS], type, err)
               : KR_OK;
}

kr_status rx_check_highest(const rx_design *design, uint64_t highest, kr_error *err)
{
    const int naive = design->map.mode == KR_POINT_NAIVE;
    const uint64_t most = naive ? KR_NAIVE_MOST : KR_EXTENDED_MOST;
    if (design->map.mode == KR_POINT_3D || highest <= most)
        return KR_OK;
    return kr_fail(
        err, KR_ERR_LIMIT,
        "kind 'rx': mode=%s holds unsigned keys up to %llu, but the largest has code %llu (signed and "
        "float keys have codes of 2^31 and more); use mode=3d",
        naive ? "naive" : "extended", (unsigned long long)most, (unsigned long long)highest);
}

/* One for points; ranges cast one for each row of keys until a ray meets something. */
double rx_rays(const kr_shape *shape)
{
    (void)shape;
    return 1;
}

/* Nodes of a tree of fan-out 8, the primitive, the key and its row id; with order=row the table of
 * positions. */
double rx_touches(const kr_shape *shape)
{
    double touches = 3;
    for (uint64_t left = shape->count; left > 1; left /= 8)
        ++touches;
    return touches + (shape->spec->options[RX_OPTION_ORDER] == RX_ORDER_ROW ? 1 : 0);
}
