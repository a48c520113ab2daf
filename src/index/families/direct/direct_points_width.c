/* Points of partitioned batches of kind `dense`: which parts are copied to shared memory. */
#include "index/families/direct/direct_build.h"
#include "index/families/direct/direct_points_width_body.h"

/* Of half a multiprocessor's shared memory, what the system keeps for two blocks. */
enum { PAIR_NBYTES = 2048 };
/* What a copy of the whole index must not exceed. H200, ms of a search with copies and without, 73 MiB: 2^20
 * probes 0.040 and 0.025, 2^22 both 0.063, 2^24 0.160 and 0.209. */
enum { NBYTES_PER_PROBE = 16 };

/* Blocks that have values of a part, at most: the first and the last may be parts of others, too. */
static uint64_t blocks_of(const direct_view *v, uint64_t even)
{
    const uint64_t most = even / v->step / DIRECT_VALUES + 2;
    return most < v->n_blocks ? most : v->n_blocks;
}

/* As many row ids as there is room for, if those of an average part fit. */
static uint64_t rows_of(const direct_view *v, const kr_locate *job, uint64_t room)
{
    const uint64_t average = v->n >> job->partition->bits, want = average + average / 8 + 64;
    const int wanted = v->rows && !v->starts && job->put.what == KR_PUT_ROW;
    return wanted && want * sizeof(uint32_t) <= room ? room / sizeof(uint32_t) : 0;
}

/* The bits of a part and its row ids, for two blocks of threads on a multiprocessor or for one; else bits
 * alone, for two. 0: none of these fits, and a search in memory is as fast as one block. */
static int fit(const kr_device *device, const kr_locate *job, direct_points_params *p)
{
    const direct_view *v = &p->find.view;
    const uint64_t blocks = blocks_of(v, p->even), words = direct_piece_words_nbytes(blocks),
                   all = device->block_nbytes, half = all / 2 > PAIR_NBYTES ? all / 2 - PAIR_NBYTES : 0;
    uint64_t rows = words <= half ? rows_of(v, job, half - words) : 0;
    if (!rows && words <= all)
        rows = rows_of(v, job, all - words);
    if (!rows && words > half)
        return 0;
    p->most_blocks = (uint32_t)blocks;
    p->most_rows = (uint32_t)rows;
    p->blocks.shared_nbytes = (uint32_t)(words + rows * sizeof(uint32_t));
    return 1;
}

static int pays(const direct_view *v, const kr_locate *job)
{
    const uint64_t ids = v->rows ? v->n * sizeof *v->rows : 0;
    return job->n >= ((uint64_t)v->n_blocks * DIRECT_BLOCK_NBYTES + ids) / NBYTES_PER_PROBE;
}

int KR_W(direct_points_locate)(kr_work *w, const direct_view *view, const kr_locate *job)
{
    if (!job->partition || job->batch.near.how || job->batch.upper || !view->n || !pays(view, job))
        return 0;
    direct_points_params params = {.find = {job->batch, job->put, *view},
                                   .partition = *job->partition,
                                   .even = kr_batch_even(view->span, job->partition->bits)};
    if (!fit(w->device, job, &params))
        return 0;
    kr_work_run(w, &KR_W(direct_points), &params, job->partition->most_segments);
    return 1;
}
