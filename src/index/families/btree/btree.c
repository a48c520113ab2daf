/* Kind `btree`: its options, its description and the sizes of a tree. btree_width.c has its operations. */
#include "index/families/btree/btree.h"

#include <string.h>

enum { NODE_16 = 1, STANDARD_NODE = 2, STANDARD_FILL = 800 };

/* Room for leaves that updates add: one for so many, of trees with empty slots and of full ones, and a few.
 * Full trees take at most 1.15 times the bytes of keys and row ids from node=16 on. */
enum { LEAVES_A_SPARE = 16, FULL_LEAVES_A_SPARE = 32, LEAST_SPARES = 2 };

static const kr_option options[BTREE_OPTIONS] = {
    [BTREE_OPTION_NODE] = {"node", KR_OPTION_CHOICE, "8|16|32|64", 0, 3, STANDARD_NODE,
                           "slots of a leaf, and children of an inner node"},
    [BTREE_OPTION_FILL] = {"fill", KR_OPTION_DECIMAL, NULL, 500, 1000, STANDARD_FILL,
                           "the share of a leaf that is filled at first; the rest is for inserts"},
    [BTREE_OPTION_GROUP] =
        {"group", KR_OPTION_CHOICE, "1|16", 0, 1, BTREE_GROUP_1,
         "threads of a GPU that search a node together; 16, for node=16, also add up the rows of "
         "ranges leaf by leaf (SUM of integers and of row ids)"},
    [BTREE_OPTION_INNER] =
        {"inner", KR_OPTION_CHOICE, "full|half", 0, 1, BTREE_INNER_FULL,
         "children of inner nodes: as many as slots, or, for node=16, half as many, as where "
         "bulk loading leaves all nodes half full"},
    [BTREE_OPTION_PRESET] = {"preset", KR_OPTION_CHOICE, "none|paper", 0, 1, BTREE_PRESET_NONE,
                             KR_PRESET_HELP(
                                 "paper: those of the tree that the papers compare with (RTIndeX, 4.1)")},
    [BTREE_OPTION_KEEP] = KR_KEEP_OPTION,
};

/* Awad et al., "GPU B-Tree": nodes of 16 for groups of 16 threads, all of them half full after bulk loading.
 */
static const kr_preset_value preset_values[] = {
    {BTREE_PRESET_PAPER, BTREE_OPTION_NODE, NODE_16},
    {BTREE_PRESET_PAPER, BTREE_OPTION_FILL, 500},
    {BTREE_PRESET_PAPER, BTREE_OPTION_GROUP, BTREE_GROUP_16},
    {BTREE_PRESET_PAPER, BTREE_OPTION_INNER, BTREE_INNER_HALF},
};

static int launches(const kr_spec *spec)
{
    return spec->options[BTREE_OPTION_GROUP] != BTREE_GROUP_1;
}

static int keeps_on_host(const kr_spec *spec)
{
    return spec->options[BTREE_OPTION_KEEP] == KR_KEEP_HOST;
}

static kr_status settle(kr_spec *spec, kr_error *err)
{
    const int64_t *o = spec->options;
    kr_status status = KR_OK;
    kr_spec_settle_preset(spec, BTREE_OPTION_PRESET, preset_values,
                          sizeof preset_values / sizeof preset_values[0]);
    if (o[BTREE_OPTION_GROUP] == BTREE_GROUP_16)
        status = kr_spec_require(spec, BTREE_OPTION_NODE, NODE_16,
                                 "group=16 is for nodes of 16; give node=16 or group=1", err);
    if (status == KR_OK && o[BTREE_OPTION_INNER] == BTREE_INNER_HALF)
        status = kr_spec_require(spec, BTREE_OPTION_NODE, NODE_16,
                                 "inner=half is for nodes of 16; give node=16 or inner=full", err);
    if (status == KR_OK && o[BTREE_OPTION_GROUP] == BTREE_GROUP_16 &&
        spec->common[KR_COMMON_PROBES] == KR_PROBES_PARTITIONED)
        status =
            kr_fail(err, KR_ERR_SPEC,
                    "kind 'btree': parts of a batch are searched by single threads; give group=1 or another "
                    "value of probes");
    return status;
}

static const kr_family family = {
    .probes = {.parts_from = {{{0, 20}}, {{0, 18}}}, .as_is_on_cpu = 1, .launches = launches},
    .u32 = &btree_ops_u32,
    .u64 = &btree_ops_u64,
    .keeps_on_host = keeps_on_host,
};

extern const kr_kind kr_kind_btree;
const kr_kind kr_kind_btree = {
    .name = "btree",
    .summary = "a B+-tree: leaves of sorted entries that take inserts and deletes in place",
    .source =
        "Bayer and McCreight, \"Organization and Maintenance of Large Ordered Indexes\", with all entries "
        "in leaves; the B+-tree that the papers measure against, Henneberg and Schuhknecht, \"RTIndeX\", 4.1 "
        "(Awad et al.): node=16, fill=0.5, inner=half, group=16",
    .capabilities = KR_CAN_POINT | KR_CAN_RANGE | KR_CAN_UPDATE | KR_CAN_NEAREST,
    .n_options = BTREE_OPTIONS,
    .options = options,
    .settle = settle,
    .family = &family,
};

btree_design btree_design_of(const kr_spec *spec)
{
    const uint32_t bits = BTREE_NODE_BITS + (uint32_t)spec->options[BTREE_OPTION_NODE];
    const uint32_t filled = (uint32_t)(((spec->options[BTREE_OPTION_FILL] << bits) + 500) / 1000);
    return (btree_design){
        .node_bits = bits,
        .fan_bits = bits - (spec->options[BTREE_OPTION_INNER] == BTREE_INNER_HALF),
        .filled = filled,
        .group = spec->options[BTREE_OPTION_GROUP] == BTREE_GROUP_16,
    };
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

void btree_size_levels(btree_tree *tree)
{
    const uint32_t fan = 1u << tree->fan_bits, behind = (1u << tree->node_bits) - fan;
    uint64_t slots = tree->n_leaves;
    memset(tree->levels, 0, sizeof tree->levels);
    tree->n_slots = tree->n_levels = 0;
    for (; slots; slots = slots > fan ? divide_up(slots, fan) : 0) {
        tree->levels[tree->n_levels++] = tree->n_slots;
        tree->n_slots += ((uint32_t)divide_up(slots, fan) << tree->fan_bits) + behind;
    }
}

float btree_leaves_per_row(const btree_tree *tree)
{
    return tree->n ? (float)tree->n_leaves / (float)tree->n : 0;
}

kr_status btree_size(const btree_design *design, uint64_t n, btree_tree *tree, kr_error *err)
{
    const uint64_t leaves = divide_up(n, design->filled);
    const int is_full = design->filled >> design->node_bits != 0;
    const uint64_t room =
        n ? leaves + leaves / (is_full ? FULL_LEAVES_A_SPARE : LEAVES_A_SPARE) + LEAST_SPARES : 0;
    if (room << design->node_bits > UINT32_MAX)
        return kr_fail(
            err, KR_ERR_LIMIT,
            "%llu rows take %llu slots of kind btree, which has at most 4294967295: give fill=1.0, or "
            "use kind array",
            (unsigned long long)n, (unsigned long long)(room << design->node_bits));
    *tree = (btree_tree){
        .n = (uint32_t)n,
        .n_leaves = (uint32_t)leaves,
        .room = (uint32_t)room,
        .node_bits = design->node_bits,
        .fan_bits = design->fan_bits,
        .in_order = 1,
    };
    tree->per_row = btree_leaves_per_row(tree);
    btree_size_levels(tree);
    return KR_OK;
}

/* Widest first. */
uint64_t btree_directory_nbytes(const btree_tree *tree, uint32_t key_nbytes)
{
    if (tree->n == 0)
        return 0;
    return (uint64_t)tree->n_slots * key_nbytes + ((uint64_t)tree->n_leaves + 1) * sizeof(uint32_t);
}

void btree_open_directory(btree_tree *tree, const kr_buffer *directory, uint32_t key_nbytes)
{
    if (!directory->data)
        return;
    tree->separators = directory->data;
    tree->starts = (uint32_t *)((char *)directory->data + (uint64_t)tree->n_slots * key_nbytes);
}

void btree_keep(kr_work *w, btree_index *made)
{
    made->keys = kr_work_keep(w, made->keys.data);
    made->rows = kr_work_keep(w, made->rows.data);
    made->order = kr_work_keep(w, made->order.data);
    made->directory = kr_work_keep(w, made->directory.data);
}

void btree_release(kr_device *device, btree_index *index, kr_stream *stream)
{
    kr_buffer_release(device, &index->directory, stream);
    kr_buffer_release(device, &index->order, stream);
    kr_buffer_release(device, &index->rows, stream);
    kr_buffer_release(device, &index->keys, stream);
}
