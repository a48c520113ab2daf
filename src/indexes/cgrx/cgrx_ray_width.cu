/* The OptiX programs, at one key width: compiled to PTX. */
#include "indexes/cgrx/cgrx_ray_body.h"
