#include "table/results/merge.h"
#include "table/results/merge_body.h"

void kr_selected_or(kr_work *work, uint32_t *to, const uint32_t *from, uint64_t n_words)
{
    const merge_params params = {to, from, n_words * 32};
    kr_work_run(work, &scan_merge_or, &params, n_words);
}

void kr_selected_and(kr_work *work, uint32_t *to, const uint32_t *from, uint64_t n_words)
{
    const merge_params params = {to, from, n_words * 32};
    kr_work_run(work, &scan_merge_and, &params, n_words);
}

void kr_selected_clear(kr_work *work, uint32_t *to, const uint32_t *from, uint64_t n_words)
{
    const merge_params params = {to, from, n_words * 32};
    kr_work_run_whole(work, &scan_merge_clear, &params, n_words);
}

void kr_selected_begin(kr_work *work, uint32_t *to, const uint32_t *alive, uint64_t n)
{
    const merge_params params = {to, alive, n};
    kr_work_run(work, &scan_merge_begin, &params, (n + 31) / 32);
}
