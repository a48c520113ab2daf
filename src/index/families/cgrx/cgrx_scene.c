#include "index/families/cgrx/cgrx_scene.h"

void cgrx_scene_release(kr_device *device, kr_stream *stream, cgrx_scene *scene)
{
    kr_scenes_release(&scene->parts, stream);
    kr_buffer_release(device, &scene->plane_first, stream);
    kr_buffer_release(device, &scene->row_first, stream);
    kr_buffer_release(device, &scene->targets, stream);
    *scene = (cgrx_scene){0};
}

void cgrx_scene_keep(kr_work *w, cgrx_scene *scene)
{
    scene->targets = kr_work_keep(w, scene->targets.data);
    scene->row_first = kr_work_keep(w, scene->row_first.data);
    scene->plane_first = kr_work_keep(w, scene->plane_first.data);
    if (!kr_work_goes_on(w))
        kr_scenes_release(&scene->parts, w->stream);
}

uint64_t cgrx_scene_nbytes(const cgrx_scene *scene)
{
    return kr_scenes_nbytes(&scene->parts) + scene->targets.nbytes + scene->row_first.nbytes +
           scene->plane_first.nbytes;
}
