/* The OptiX programs, at one key width: compiled to PTX. */
#include "scans/cubes/cubes_ray_body.h"
