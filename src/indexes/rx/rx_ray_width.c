/* The CPU executors of the ray programs, at one key width. */
#include "indexes/rx/rx_ray_body.h"
