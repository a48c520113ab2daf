/* The operations of kind `chain` at one key width: those of a table with links. */
#include "hashed/table.h"
#include "indexes/chain/chain.h"
#include "key/key.h"

static kr_hashed_design design_of(const kr_spec *spec)
{
    return (kr_hashed_design){
        .slots = 15,
        .linked = 1,
        .group = 1,
        .load = (uint32_t)spec->options[CHAIN_OPTION_OCCUPANCY],
        .seed = UINT64_C(0x9E3779B97F4A7C15) * ((uint64_t)spec->options[CHAIN_OPTION_SEED] + 1),
        .help = "a higher occupancy, or kind array",
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

/* Half of the nodes of a bucket that is as full as the others. */
static double touches(const kr_shape *shape)
{
    return 1 + (double)shape->spec->options[CHAIN_OPTION_OCCUPANCY] / 2000;
}

extern const kr_family_ops KR_W(chain_ops);
const kr_family_ops KR_W(chain_ops) = {
    .estimate = estimate,
    .build = build,
    .destroy = kr_hashed_destroy,
    .locate = KR_W(kr_hashed_locate),
    .rows = kr_hashed_rows,
    .hash_seed = kr_hashed_hash_seed,
    .components = kr_hashed_components,
    .validate = KR_W(kr_hashed_validate),
    .touches = touches,
    .program = &KR_W(table_find_links),
    .update = KR_W(kr_hashed_update),
    .counters = kr_hashed_counters,
};
