/* The operations of kinds `hash` and `chain` at one key width: those of a table without links and with them.
 */
#include "base/key/key.h"
#include "index/families/hash/hash.h"
#include "index/families/hash/hash_table.h"

static uint64_t seed_of(int64_t option)
{
    return UINT64_C(0x9E3779B97F4A7C15) * ((uint64_t)option + 1);
}

static hash_design design_of(const kr_spec *spec)
{
    const int64_t *o = spec->options;
    if (spec->kind == &kr_kind_chain)
        return (hash_design){
            .slots = 15,
            .linked = 1,
            .group = o[CHAIN_OPTION_GROUP] ? 32 : 1,
            .load = (uint32_t)o[CHAIN_OPTION_OCCUPANCY],
            .seed = seed_of(o[CHAIN_OPTION_SEED]),
            .help = "a higher occupancy, or kind array",
        };
    return (hash_design){
        .slots = sizeof(kr_key) == 4 ? 7 : 5, /* a bucket is a cache line */
        .twice = o[HASH_OPTION_PROBING] == HASH_PROBING_DOUBLE,
        .plain = o[HASH_OPTION_FILTER] == HASH_FILTER_OFF,
        .group = 1u << o[HASH_OPTION_GROUP],
        .insert = o[HASH_OPTION_BUILD] != 0,
        .load = (uint32_t)o[HASH_OPTION_LOAD],
        .seed = seed_of(o[HASH_OPTION_SEED]),
        .help = "a higher load, or kind array",
    };
}

static kr_status estimate(const kr_shape *shape, kr_need *need, kr_error *err)
{
    const hash_design design = design_of(shape->spec);
    (void)err;
    return hash_estimate(shape, &design, need);
}

static void build(kr_work *w, const kr_build *build, void **self)
{
    const hash_design design = design_of(build->spec);
    KR_W(hash_build)(w, build, &design, self);
}

static void image(kr_image *image, const kr_image_of *of, void **self)
{
    const hash_design design = design_of(of->spec);
    hash_image(image, of, &design, self);
}

/* The bucket; the row is in it. A few keys are in another bucket. */
static double hash_touches(const kr_shape *shape)
{
    const double load = (double)shape->spec->options[HASH_OPTION_LOAD] / 1000;
    return 1 + load * load * load / 4;
}

/* Half of the nodes of a bucket that is as full as the others. */
static double chain_touches(const kr_shape *shape)
{
    return 1 + (double)shape->spec->options[CHAIN_OPTION_OCCUPANCY] / 2000;
}

#define TABLE_OPS(touches_, program_)                                                               \
    {                                                                                               \
        .estimate = estimate, .build = build, .destroy = hash_destroy, .locate = KR_W(hash_locate), \
        .rows = hash_rows, .hash_seed = hash_hash_seed, .components = hash_components,              \
        .validate = KR_W(hash_validate), .touches = touches_, .program = &KR_W(program_),           \
        .update = KR_W(hash_update), .counters = hash_counters, .image = image,                     \
    }
const kr_family_ops KR_W(hash_ops) = TABLE_OPS(hash_touches, hash_find_slots);
const kr_family_ops KR_W(chain_ops) = TABLE_OPS(chain_touches, hash_find_links);
