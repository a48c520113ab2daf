/* The programs that merge sorted entries at one key width and one instruction set. */
#include "sorted/merge_sorted_body.h"
