/* The CUDA kernel of the body. */
#include "scans/cubes/scene_body.h"
