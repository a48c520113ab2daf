/* The CPU executor of the ray program, at one key width. */
#include "scans/cubes/cubes_ray_body.h"
