#include "index/results/dense.h"
#include "index/results/numbered_body.h"

kr_rows kr_row_numbers(uint32_t first, uint64_t n)
{
    const walk_view view = {first};
    return (kr_rows){
        .walk = &kr_numbered_walk, .view = kr_match_view_of(&view, sizeof view), .n_rows = n, .n_slots = n};
}
