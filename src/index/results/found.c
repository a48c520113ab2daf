#include "index/results/found.h"
#include "index/results/found_body.h"

void kr_found_number(kr_work *w, uint32_t *numbers, uint64_t n)
{
    const number_params params = {numbers};
    kr_work_run(w, &found_number, &params, n);
}

static uint64_t tiles_of(uint64_t n)
{
    return (n + FOUND_TILE - 1) / FOUND_TILE;
}

static uint32_t *take_rows(kr_work *w, const kr_found_job *job, uint64_t n, const char *what)
{
    return kr_work_take_or(w, n * sizeof(uint32_t), what, job->help);
}

/* Where each tile's list begins; returns how many are listed in all. Blocks. */
static uint64_t place(kr_work *w, const kr_found_job *job, found_params *params)
{
    const uint64_t tiles = tiles_of(job->n);
    uint64_t listed = 0;
    params->places = kr_work_take_or(w, (tiles + 1) * sizeof *params->places, "places of answers", job->help);
    kr_work_fill(w, KR_PLACE_IN(params->places, tiles), 0, sizeof *params->places);
    kr_work_run(w, &found_count, params, tiles);
    kr_work_sum(w, params->places, tiles + 1);
    kr_work_read(w, &listed, KR_PLACE_IN(params->places, tiles), sizeof listed);
    return listed;
}

/* All probes, whose answers stay where they are. */
static kr_found list_all(kr_work *w, const kr_found_job *job)
{
    const kr_found made = {
        .probes = job->names ? job->names : take_rows(w, job, job->n, "probes that found a row"),
        .rows = job->with_rows ? job->answers : NULL,
        .n = job->n,
    };
    if (!job->names)
        kr_found_number(w, made.probes, made.n);
    return made;
}

static kr_found list_some(kr_work *w, const kr_found_job *job, found_params *params, uint64_t n)
{
    params->probes = take_rows(w, job, n, "probes that found a row");
    params->rows = job->with_rows ? take_rows(w, job, n, "rows that were found") : NULL;
    kr_work_run(w, job->bits ? &found_bits : &found_write, params, tiles_of(job->n));
    return (kr_found){params->probes, params->rows, n};
}

kr_found kr_found_list(kr_work *w, const kr_found_job *job)
{
    found_params params = {
        .answers = job->answers,
        .bits = job->bits,
        .names = job->names,
        .n = job->n,
        .wanted = job->wanted,
        .blocks = {.shared_nbytes = 2 * FOUND_WORDS * sizeof(uint32_t)},
    };
    const uint64_t n = job->n ? place(w, job, &params) : 0;
    kr_found found = {.n = n};
    if (n)
        found = n == job->n ? list_all(w, job) : list_some(w, job, &params, n);
    kr_work_give(w, params.places);
    return found;
}
