#include "index/results/consecutive.h"
#include "index/results/consecutive_body.h"

kr_rows kr_consecutive_rows(uint32_t first, uint64_t n)
{
    const walk_view view = {first};
    return (kr_rows){.walk = &kr_consecutive_walk,
                     .view = kr_match_view_of(&view, sizeof view),
                     .n_rows = n,
                     .n_slots = n};
}
