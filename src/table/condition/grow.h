/* Arrays in host memory that grow. */
#ifndef KEYRAY_TABLE_CONDITION_GROW_H
#define KEYRAY_TABLE_CONDITION_GROW_H

#include "base/util/error.h"

#include <stdlib.h>
#include <string.h>

/* Makes room for n more elements; 0: there is no memory, and the array is as it was. */
static inline int kr_condition_grow(void **memory, uint64_t *room, uint64_t used, uint64_t n, uint64_t each,
                                    const char *what, kr_error *err)
{
    if (n <= *room - used)
        return 1;
    const uint64_t more = used + n > 2 * *room ? used + n : 2 * *room;
    void *grown = kr_host_calloc(more, each, what, err);
    if (!grown)
        return 0;
    if (used)
        memcpy(grown, *memory, used * each);
    free(*memory);
    *memory = grown;
    *room = more;
    return 1;
}

#endif
