/* The OptiX form of the ray programs of optix_scene.c. */
#include "optix_scene_body.h"
