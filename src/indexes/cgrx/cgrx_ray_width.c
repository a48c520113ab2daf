/* The CPU executors of the ray programs, at one key width. */
#include "indexes/cgrx/cgrx_ray_body.h"
