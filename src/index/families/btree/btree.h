/* Kind `btree`: options, the sizes of a tree, the index, and the operations per key width. */
#ifndef KEYRAY_INDEX_FAMILIES_BTREE_BTREE_H
#define KEYRAY_INDEX_FAMILIES_BTREE_BTREE_H

#include "index/families/btree/btree_tree.h"
#include "index/kinds/family.h"
#include "index/sorted/sorted.h"

enum {
    BTREE_OPTION_NODE,
    BTREE_OPTION_FILL,
    BTREE_OPTION_GROUP,
    BTREE_OPTION_INNER,
    BTREE_OPTION_PRESET,
    BTREE_OPTION_KEEP,
    BTREE_OPTIONS
};
enum { BTREE_GROUP_1, BTREE_GROUP_16 };
enum { BTREE_INNER_FULL, BTREE_INNER_HALF };
enum { BTREE_PRESET_NONE, BTREE_PRESET_PAPER };

/* What the options say. */
typedef struct btree_design {
    uint32_t node_bits, fan_bits;
    uint32_t filled; /* entries that a leaf gets when it is made */
    uint32_t group;  /* 1: 16 threads search a node together */
} btree_design;

typedef struct btree_index {
    kr_buffer keys, rows; /* the leaves */
    kr_buffer order;      /* that of the tree */
    kr_buffer directory;  /* the tree's other arrays */
    btree_tree tree;
    btree_design design;
    uint64_t lowest, highest; /* codes of the end keys */
    uint64_t spread;          /* entries when all leaves were last made anew */
} btree_index;

btree_design btree_design_of(const kr_spec *spec);
/* The numbers of a new tree of n entries: leaves, room for more of them, levels. KR_ERR_LIMIT. */
kr_status btree_size(const btree_design *design, uint64_t n, btree_tree *tree, kr_error *err);
/* Leaves for each of tree->n entries, on average. */
float btree_leaves_per_row(const btree_tree *tree);
/* The levels over tree->n_leaves separators. */
void btree_size_levels(btree_tree *tree);
/* Separators and levels, and starts. */
uint64_t btree_directory_nbytes(const btree_tree *tree, uint32_t key_nbytes);
/* Finds these arrays in their memory. */
void btree_open_directory(btree_tree *tree, const kr_buffer *directory, uint32_t key_nbytes);
void btree_release(kr_device *device, btree_index *index, kr_stream *stream);

/* A tree of sorted entries, all but its ends. What a work makes is its scratch memory until it is kept.
 * Enqueues. */
btree_index btree_make_u32(kr_work *work, const btree_design *design, const kr_sorted *sorted);
btree_index btree_make_u64(kr_work *work, const btree_design *design, const kr_sorted *sorted);
void btree_keep(kr_work *work, btree_index *made);

/* A family's `update`. */
void btree_update_u32(kr_work *work, void *self, const kr_update *job);
void btree_update_u64(kr_work *work, void *self, const kr_update *job);

/* A family's locate for a job with a partition. Enqueue. */
void btree_parts_locate_u32(kr_work *work, const btree_tree *tree, const kr_locate *job);
void btree_parts_locate_u64(kr_work *work, const btree_tree *tree, const kr_locate *job);

extern const kr_family_ops btree_ops_u32, btree_ops_u64;

#endif
