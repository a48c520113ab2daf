#include "index/results/counts.h"
#include "index/results/counts_body.h"

void kr_counts_of(kr_work *w, const kr_match *matches, uint64_t n, uint64_t *out)
{
    const counts_params params = {matches, out};
    kr_work_run(w, &counts_of_matches, &params, n);
}

void kr_counts_flag(kr_work *w, const kr_match *matches, uint64_t n, uint8_t *flags)
{
    const counts_params params = {matches, flags};
    kr_work_run(w, &counts_flag_matches, &params, n);
}
