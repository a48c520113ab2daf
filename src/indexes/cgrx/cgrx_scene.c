#include "indexes/cgrx/cgrx_scene.h"

void cgrx_scene_release(kr_device *device, kr_stream *stream, cgrx_scene *scene)
{
    if (scene->scene)
        scene->scene->tracer->ops->destroy(scene->scene, stream);
    kr_buffer_release(device, &scene->plane_first, stream);
    kr_buffer_release(device, &scene->row_first, stream);
    kr_buffer_release(device, &scene->targets, stream);
    *scene = (cgrx_scene){0};
}

uint64_t cgrx_scene_nbytes(const cgrx_scene *scene)
{
    return (scene->scene ? scene->scene->footprint_nbytes : 0) + scene->targets.nbytes +
           scene->row_first.nbytes + scene->plane_first.nbytes;
}
