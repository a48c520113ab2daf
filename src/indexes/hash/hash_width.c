/* The operations of kind `hash` at one key width: those of a table without links. */
#include "hashed/table.h"
#include "indexes/hash/hash.h"
#include "key/key.h"

/* A bucket is a cache line. */
static kr_hashed_design design_of(const kr_spec *spec)
{
    return (kr_hashed_design){
        .slots = sizeof(kr_key) == 4 ? 7 : 5,
        .twice = spec->options[HASH_OPTION_PROBING] == HASH_PROBING_DOUBLE,
        .group = 1u << spec->options[HASH_OPTION_GROUP],
        .insert = spec->options[HASH_OPTION_BUILD] != 0,
        .load = (uint32_t)spec->options[HASH_OPTION_LOAD],
        .seed = UINT64_C(0x9E3779B97F4A7C15) * ((uint64_t)spec->options[HASH_OPTION_SEED] + 1),
        .help = "a higher load, or kind array",
    };
}

static kr_status estimate(const kr_shape *shape, kr_need *need, kr_error *err)
{
    const kr_hashed_design design = design_of(shape->spec);
    (void)err;
    return kr_hashed_estimate(shape, &design, need);
}

static kr_status build(const kr_build *build, void **self, kr_error *err)
{
    const kr_hashed_design design = design_of(build->spec);
    return KR_W(kr_hashed_build)(build, &design, self, err);
}

/* The bucket; the row is in it. A few keys are in another bucket. */
static double touches(const kr_shape *shape)
{
    const double load = (double)shape->spec->options[HASH_OPTION_LOAD] / 1000;
    return 1 + load * load * load / 4;
}

extern const kr_family_ops KR_W(hash_ops);
const kr_family_ops KR_W(hash_ops) = {
    .estimate = estimate,
    .build = build,
    .destroy = kr_hashed_destroy,
    .locate = KR_W(kr_hashed_locate),
    .rows = kr_hashed_rows,
    .hash_seed = kr_hashed_hash_seed,
    .components = kr_hashed_components,
    .validate = KR_W(kr_hashed_validate),
    .touches = touches,
    .program = &KR_W(table_find_slots),
    .update = KR_W(kr_hashed_update),
    .counters = kr_hashed_counters,
};
