/* The OptiX programs, at one key width: compiled to PTX. */
#include "indexes/rx/rx_ray_body.h"
