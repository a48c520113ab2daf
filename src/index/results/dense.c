#include "index/results/dense.h"
#include "index/results/dense_body.h"

kr_rows kr_dense_rows(const void *rows, uint64_t stride, uint64_t n)
{
    const walk_view view = {rows, stride};
    return (kr_rows){
        .walk = &kr_dense_walk, .view = kr_match_view_of(&view, sizeof view), .n_rows = n, .n_slots = n};
}
