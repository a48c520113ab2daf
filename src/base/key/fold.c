#include "base/key/fold.h"
#include "base/key/fold_body.h"

extern const kr_program fold_rows;

/* On a GPU so many threads read a column; on a CPU each takes so many rows. */
enum { EXTENT_THREADS = 1 << 17, EXTENT_ROWS = 1 << 12 };

void kr_fold_extent(kr_work *w, const kr_column *column, uint64_t *ends)
{
    const uint64_t threads = w->device->ops->group_threads == 1 ? column->count / EXTENT_ROWS + 1
                             : column->count < EXTENT_THREADS   ? column->count
                                                                : EXTENT_THREADS;
    const fold_extent_params params = {.data = column->data,
                                       .validity = column->validity,
                                       .validity_offset = column->validity_offset,
                                       .ends = ends,
                                       .n = column->count,
                                       .each = threads ? (column->count + threads - 1) / threads : 0,
                                       .type = column->type};
    kr_work_run(w, &fold_extents, &params, threads);
}

/* Values outside of each column's range have a number, and there are no NULLs. */
static int is_plain(const kr_fold_job *job)
{
    int plain = !job->flags && !job->misfits;
    for (uint32_t j = 0; j < job->n_parts; ++j) {
        const kr_fold_part *part = &job->parts[j];
        plain = plain && !part->ranks && !part->validity &&
                (part->how == KR_FOLD_LEAST || part->how == KR_FOLD_MOST);
    }
    return plain;
}

void kr_fold_run(kr_work *w, const kr_fold_job *job, uint64_t n)
{
    kr_fold_job all = *job;
    all.n = n;
    all.is_plain = (uint32_t)is_plain(job);
    kr_work_run(w, &fold_rows, &all, w->device->ops->group_threads == 1 ? kr_group_runs(n) : n);
}

void kr_fold_check_ranks(kr_work *w, const uint64_t *ranks, uint64_t n, uint64_t *falls)
{
    const fold_falls_params params = {ranks, falls, n};
    kr_work_run(w, &fold_falls, &params, kr_group_runs(n));
}
