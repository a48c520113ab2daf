/* The OptiX form of the ray programs of the tests of scenes. */
#include "optix_scene_body.h"
