/* The scenes of an index: one, or equal parts under a group. The same for both key widths. */
#ifndef KEYRAY_INDEX_FAMILIES_RX_RX_SCENE_H
#define KEYRAY_INDEX_FAMILIES_RX_RX_SCENE_H

#include "index/families/rx/rx.h"
#include "index/scenes/parts.h"

typedef struct rx_scenes {
    kr_parts parts;
    uint32_t stale;  /* 1: a refit failed and could not be undone; no ray may be cast */
    kr_buffer doors; /* rx_door[] on the device, for rays that begin in a part; or none */
} rx_scenes;

/* Which primitives to make, and where. */
typedef struct rx_source {
    kr_work *work;           /* in which the scenes are made */
    const kr_program *mesh;  /* rx_mesh at the keys' width */
    const kr_program *doors; /* rx_doors, likewise */
    const void *keys;
    const uint32_t *positions;
    const rx_design *design;
    uint64_t n;
} rx_source;

/* Upper bounds for n primitives. Peak: with the footprint and the meshes. */
kr_status rx_scenes_estimate(kr_device *device, const rx_design *design, uint64_t n,
                             kr_scene_estimate *estimate, kr_error *err);
/* Without primitives there are no scenes. On failure nothing is left. */
rx_scenes rx_scenes_build(const rx_source *source);
/* Moves the primitives from their places in `old`, whose work is another, to those in `source`. On failure
 * they are unchanged, or the scenes are stale. */
void rx_scenes_refit(const rx_source *source, const rx_source *old, rx_scenes *scenes);
void rx_scenes_release(rx_scenes *scenes, kr_stream *stream);
uint64_t rx_scenes_nbytes(const rx_scenes *scenes);

#endif
