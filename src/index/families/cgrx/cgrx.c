/* Kind `cgrx`: its options and which go together. cgrx_width.c has its operations. */
#include "index/families/cgrx/cgrx.h"
#include "index/scenes/rays.h"

enum { STANDARD_NODE = 32, STANDARD_FILL = 500, REBUILD_AUTO = -1, REBUILD_NEVER = -2 };

static const kr_option options[CGRX_OPTIONS] = {
    [CGRX_OPTION_SCENE] =
        {"scene", KR_OPTION_CHOICE, "naive|optimized", 0, 1, CGRX_OPTIMIZED,
         "naive: extra triangles mark rows and planes; optimized: representatives are moved to serve as "
         "marks"},
    [CGRX_OPTION_BUCKET] = {"bucket", KR_OPTION_INTEGER, NULL, 1, 65536, 16,
                            "keys that share a triangle; with updates=on it is node * fill"},
    [CGRX_OPTION_SEARCH] = {"search", KR_OPTION_CHOICE, "binary|linear", 0, 1, CGRX_BINARY,
                            "how a bucket is searched"},
    [CGRX_OPTION_LAYOUT] =
        {"layout", KR_OPTION_CHOICE, "soa|aos|padded", 0, 2, KR_LAYOUT_SOA,
         "keys and row ids in two arrays; side by side in one; or so, padded to the size of two keys"},
    [CGRX_OPTION_BITS] =
        {"bits", KR_OPTION_TRIPLE, NULL, 0, 23, 23 | 23 << 8 | 18 << 16,
         "bits of a key in x, y and z, lowest first; x at least 1, together the type's bits or more"},
    [CGRX_OPTION_SCALE] =
        {"scale", KR_OPTION_PAIR, "on|off", 0, 25, 15 | 25 << 8,
         "y and z are stretched by these powers of two, so that the builder groups along rows"},
    [CGRX_OPTION_RAYS] =
        {"rays", KR_OPTION_CHOICE, "paper|short|column|auto", 0, 3, CGRX_RAYS_AUTO,
         "rays per lookup: paper: up to five, as published; short: up to three, marks name buckets; "
         "column: up to two, along the marks first (scene=optimized); auto: column if there are more rows "
         "than 3/4 of the buckets, else short"},
    [CGRX_OPTION_FLIP] =
        {"flip", KR_OPTION_CHOICE, "on|off", 0, 1, CGRX_FLIP_ON,
         "scene=optimized: a representative that is alone in its row turns its other side to rays along y, "
         "which saves a ray (cgRX, 3.3); off: none does, as in the paper's index with updates (6.5)"},
    [CGRX_OPTION_FILTER] =
        {"filter", KR_OPTION_INTEGER, NULL, 0, 16, 0,
         "bits per key of a Bloom filter that answers most point lookups of absent keys without a ray; 0: "
         "none"},
    [CGRX_OPTION_BVH] = KR_RAYS_OPTION_BVH,
    [CGRX_OPTION_COMPACT] = KR_RAYS_OPTION_COMPACT(""),
    [CGRX_OPTION_PARTS] =
        {"parts", KR_OPTION_INTEGER, NULL, 1, 4096, 1,
         "equal scenes built one after the other, which lowers peak memory; rays begin above all of them"},
    [CGRX_OPTION_UPDATES] = {"updates", KR_OPTION_CHOICE, "off|on", 0, 1, CGRX_OFF,
                             "on: buckets are lists of nodes, and kr_index_update changes them"},
    [CGRX_OPTION_NODE] = {"node", KR_OPTION_INTEGER, NULL, 2, 1024, STANDARD_NODE,
                          "updates=on: entries of a node"},
    [CGRX_OPTION_FILL] = {"fill", KR_OPTION_DECIMAL, NULL, 50, 1000, STANDARD_FILL,
                          "updates=on: the share of a node that is filled at first"},
    [CGRX_OPTION_REBUILD] =
        {"rebuild", KR_OPTION_DECIMAL, "auto|never", 1100, 1000000, REBUILD_AUTO,
         "updates=on: build the index anew once its rows have grown or shrunk by this factor, or a list "
         "has grown to 64 times this factor of a bucket; auto: 4"},
    [CGRX_OPTION_APPLY] =
        {"apply", KR_OPTION_CHOICE, "merge|split", 0, 1, CGRX_APPLY_MERGE,
         "updates=on: merge: a warp merges a batch into a list; split: a thread for each list splits full "
         "nodes and shifts entries, key by key, as published (cgRX, 4)"},
    [CGRX_OPTION_ANSWER] = {"answer", KR_OPTION_CHOICE, "matches|scan", 0, 1, CGRX_ANSWER_MATCHES,
                            "what follows the rays. matches: a program that searches the bucket, and one "
                            "whose groups of threads add "
                            "up; scan: the thread that casts the rays also searches, and adds up row by row "
                            "(cgRX, 3.2 and 3.4); "
                            "of SUM_ROWS and sums of integers, other sums and nearest keys as with matches"},
    [CGRX_OPTION_PRESET] = {"preset", KR_OPTION_CHOICE, "none|paper", 0, 1, CGRX_PRESET_NONE,
                            KR_PRESET_HELP(
                                "paper: those of the paper from 5.3 on: five rays, rows of key and row id, a "
                                "compacted scene, one program that searches and adds up; with updates=on "
                                "also apply=split, flip=off and rebuild=never (4 and 6.5)")},
};

static kr_status settle_static(const kr_spec *spec, kr_error *err)
{
    static const int of_updates[] = {CGRX_OPTION_NODE, CGRX_OPTION_FILL, CGRX_OPTION_REBUILD,
                                     CGRX_OPTION_APPLY};
    for (int i = 0; i < 4; ++i)
        if (spec->options[of_updates[i]] != options[of_updates[i]].standard)
            return kr_fail(err, KR_ERR_SPEC,
                           "kind 'cgrx': %s is an option of updates=on; give updates=on, or leave it out",
                           options[of_updates[i]].name);
    return KR_OK;
}

/* A settled spec names every option and must be accepted again, so a bucket equal to node * fill may be
 * given. */
static kr_status settle_updates(kr_spec *spec, kr_error *err)
{
    int64_t *o = spec->options;
    const int64_t filled = (o[CGRX_OPTION_NODE] * o[CGRX_OPTION_FILL] + 500) / 1000,
                  bucket = filled ? filled : 1;
    if (kr_spec_gives(spec, CGRX_OPTION_BUCKET) && o[CGRX_OPTION_BUCKET] != bucket)
        return kr_fail(
            err, KR_ERR_SPEC,
            "kind 'cgrx': with updates=on bucket is node * fill, here %lld; leave out bucket, or give node "
            "and fill",
            (long long)bucket);
    o[CGRX_OPTION_BUCKET] = bucket;
    return KR_OK;
}

/* Scene, bits, scale, search, bucket, node and fill are the paper's as they are. */
static const kr_preset_value preset_values[] = {
    {CGRX_PRESET_PAPER, CGRX_OPTION_RAYS, CGRX_RAYS_PAPER},
    {CGRX_PRESET_PAPER, CGRX_OPTION_LAYOUT, KR_LAYOUT_AOS},
    {CGRX_PRESET_PAPER, CGRX_OPTION_BVH, KR_BVH_BALANCED},
    {CGRX_PRESET_PAPER, CGRX_OPTION_COMPACT, KR_COMPACT_ON},
    {CGRX_PRESET_PAPER, CGRX_OPTION_ANSWER, CGRX_ANSWER_SCAN},
    {CGRX_PRESET_PAPER, CGRX_OPTIONS + KR_COMMON_PROBES, KR_PROBES_AS_IS},
};

/* And these, with updates=on. */
static const kr_preset_value update_values[] = {
    {CGRX_PRESET_PAPER, CGRX_OPTION_FLIP, CGRX_FLIP_OFF},
    {CGRX_PRESET_PAPER, CGRX_OPTION_REBUILD, REBUILD_NEVER},
    {CGRX_PRESET_PAPER, CGRX_OPTION_APPLY, CGRX_APPLY_SPLIT},
};

static void settle_preset(kr_spec *spec)
{
    kr_spec_settle_preset(spec, CGRX_OPTION_PRESET, preset_values,
                          sizeof preset_values / sizeof preset_values[0]);
    if (spec->options[CGRX_OPTION_UPDATES] == CGRX_ON)
        kr_spec_settle_preset(spec, CGRX_OPTION_PRESET, update_values,
                              sizeof update_values / sizeof update_values[0]);
}

static kr_status settle_column(const kr_spec *spec, kr_error *err)
{
    if (spec->options[CGRX_OPTION_RAYS] != CGRX_RAYS_COLUMN)
        return KR_OK;
    if (spec->options[CGRX_OPTION_SCENE] != CGRX_OPTIMIZED)
        return kr_fail(
            err, KR_ERR_SPEC,
            "kind 'cgrx': rays=column needs scene=optimized: marks of the naive scene do not show where a "
            "row ends; give rays=short or scene=optimized");
    if (spec->options[CGRX_OPTION_FLIP] == CGRX_FLIP_OFF)
        return kr_fail(
            err, KR_ERR_SPEC,
            "kind 'cgrx': rays=column needs flip=on: the other side of a representative says that it is "
            "alone in its row; give rays=short or flip=on");
    return KR_OK;
}

static kr_status settle(kr_spec *spec, kr_error *err)
{
    settle_preset(spec);
    kr_status status = kr_rays_check_x(spec, spec->options[CGRX_OPTION_BITS], err);
    if (status == KR_OK)
        status = settle_column(spec, err);
    if (status != KR_OK)
        return status;
    return spec->options[CGRX_OPTION_UPDATES] == CGRX_ON ? settle_updates(spec, err)
                                                         : settle_static(spec, err);
}

static const kr_family family = {
    .probes = {.sorts_whole = 1},
    .u32 = &cgrx_ops_u32,
    .u64 = &cgrx_ops_u64,
};

extern const kr_kind kr_kind_cgrx;
const kr_kind kr_kind_cgrx = {
    .name = "cgrx",
    .summary =
        "buckets of keys as triangles of a scene, found by rays (on GPUs without RT cores, in software); "
        "takes inserts and deletes with updates=on",
    .source = "Henneberg, Schuhknecht, Kharal and Brown, \"cgRX\", 3 (scenes, rays, buckets), 4 (updates)",
    .capabilities = KR_CAN_POINT | KR_CAN_RANGE | KR_CAN_UPDATE | KR_CAN_NEAREST,
    .n_options = CGRX_OPTIONS,
    .options = options,
    .settle = settle,
    .family = &family,
    .updates_with = "cgrx:updates=on",
};

static double rebuild_ratio(int64_t option)
{
    return option == REBUILD_AUTO ? 4 : option == REBUILD_NEVER ? 0 : (double)option / 1000;
}

cgrx_design cgrx_design_of(const kr_spec *spec)
{
    const int64_t *o = spec->options;
    const int64_t scale = o[CGRX_OPTION_SCALE], bits = o[CGRX_OPTION_BITS];
    return (cgrx_design){
        .map = {.step = {1, (float)((uint32_t)1 << kr_option_triple_part(scale, 0)),
                         (float)((uint32_t)1 << kr_option_triple_part(scale, 1))},
                .mode = KR_POINT_3D,
                .x_bits = kr_option_triple_part(bits, 0),
                .y_bits = kr_option_triple_part(bits, 1)},
        .scene = (uint32_t)o[CGRX_OPTION_SCENE],
        .flips = o[CGRX_OPTION_FLIP] == CGRX_FLIP_ON,
        .bucket = (uint32_t)o[CGRX_OPTION_BUCKET],
        .search = (uint32_t)o[CGRX_OPTION_SEARCH],
        .layout = (uint32_t)o[CGRX_OPTION_LAYOUT],
        .rays = (uint32_t)o[CGRX_OPTION_RAYS],
        .filter = (uint32_t)o[CGRX_OPTION_FILTER],
        .scene_flags = kr_rays_scene_flags(o[CGRX_OPTION_BVH], o[CGRX_OPTION_COMPACT]),
        .compact = (uint32_t)o[CGRX_OPTION_COMPACT],
        .parts = (uint32_t)o[CGRX_OPTION_PARTS],
        .node = o[CGRX_OPTION_UPDATES] == CGRX_ON ? (uint32_t)o[CGRX_OPTION_NODE] : 0,
        .scans = o[CGRX_OPTION_ANSWER] == CGRX_ANSWER_SCAN,
        .splits = o[CGRX_OPTION_APPLY] == CGRX_APPLY_SPLIT,
        .rebuild = rebuild_ratio(o[CGRX_OPTION_REBUILD]),
    };
}

/* One if rows are full or empty, else more. */
double cgrx_rays(const kr_shape *shape)
{
    return shape->count > (uint64_t)shape->spec->options[CGRX_OPTION_BUCKET] ? 1 : 0;
}

/* Nodes of a tree of fan-out 8, the triangle, the bucket's keys by halving, the row id. */
double cgrx_touches(const kr_shape *shape)
{
    const uint64_t bucket = (uint64_t)shape->spec->options[CGRX_OPTION_BUCKET];
    double touches = 2;
    for (uint64_t left = shape->count / bucket; left > 1; left /= 8)
        ++touches;
    for (uint64_t left = bucket; left > 16; left /= 2) /* 16 keys lie in one or two lines */
        ++touches;
    return touches + 1;
}
