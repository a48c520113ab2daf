/* Launches. What a launch reads on the device (its shader binding table and its parameter blocks) is scratch
 * memory of the work: taken, filled and given back in the order of its stream. */
#include "base/tracers/optix/optix.h"

#include <stdlib.h>
#include <string.h>

/* OptiX takes launches of up to 2^30 elements. */
#define MOST_AT_ONCE ((uint64_t)1 << 28)

enum { BLOCK_ALIGNMENT = 64, RECORDS_NBYTES = (KR_OPTIX_RECORDS * KR_OPTIX_RECORD_NBYTES + 63) / 64 * 64 };

typedef struct running {
    kr_work *work;
    kr_optix *optix;
    const kr_ray_program *program;
    const void *params;
    uint64_t n;
    void *native; /* the stream of the work */
    kr_optix_program *p;
    uint64_t block_nbytes; /* of one launch, rounded up; launch i's follows launch i - 1's */
    uint64_t launches;
    void *blocks;
} running;

/* ---- Lanes --------------------------------------------------------------------------------- */

static kr_status add_lane(running *job, kr_error *err)
{
    kr_device *device = job->optix->head.device;
    kr_optix_lane made = {0};
    kr_status status = device->ops->event_create(device, &made.done, err);
    if (status)
        return status;
    status = kr_optix_pipeline_create(job->optix, job->p, &made.pipeline, err);
    if (status) {
        device->ops->event_destroy(device, made.done);
        return status;
    }
    made.stream = job->native;
    job->p->lanes[job->p->n_lanes++] = made;
    return KR_OK;
}

/* The lane that served this stream last, else a new one, else the next in turn. */
static kr_status choose_lane(running *job, kr_optix_lane **lane, kr_error *err)
{
    kr_optix_program *p = job->p;
    for (uint32_t i = 0; i < p->n_lanes; ++i)
        if (p->lanes[i].stream == job->native) {
            *lane = &p->lanes[i];
            return KR_OK;
        }
    if (p->n_lanes < KR_OPTIX_LANES) {
        *lane = &p->lanes[p->n_lanes];
        return add_lane(job, err);
    }
    *lane = &p->lanes[p->next_lane];
    p->next_lane = (p->next_lane + 1) % KR_OPTIX_LANES;
    return KR_OK;
}

/* ---- Launching ----------------------------------------------------------------------------- */

/* What the device gets: the records, then per launch the first number, the end, and the parameter block. */
static void copy_blocks(running *job)
{
    kr_work *w = job->work;
    const uint64_t nbytes = RECORDS_NBYTES + job->launches * job->block_nbytes;
    unsigned char *host = kr_work_object(w, nbytes, "a launch's parameters");
    if (!host)
        return;
    memcpy(host, job->p->records, sizeof job->p->records);
    for (uint64_t i = 0; i < job->launches; ++i) {
        const uint64_t head[2] = {i * MOST_AT_ONCE, job->n};
        unsigned char *block = host + RECORDS_NBYTES + i * job->block_nbytes;
        memcpy(block, head, sizeof head);
        memcpy(block + sizeof head, job->params, job->program->program.params_nbytes);
    }
    job->blocks = kr_work_take(w, nbytes, "a launch's parameters");
    /* Pageable host memory is read before the call returns, so it may be freed at once. */
    kr_work_copy(w, job->blocks, host, nbytes);
    free(host);
}

static kr_status launch(const running *job, const kr_optix_lane *lane, kr_error *err)
{
    const uint64_t records = (uint64_t)(uintptr_t)job->blocks;
    const kr_optix_table table = {
        .raygen = records,
        .miss = {records + KR_OPTIX_RECORD_NBYTES, KR_OPTIX_RECORD_NBYTES, 1},
        .hit = {records + 2 * KR_OPTIX_RECORD_NBYTES, KR_OPTIX_RECORD_NBYTES, 1},
    };
    kr_status status = KR_OK;
    for (uint64_t i = 0; !status && i < job->launches; ++i) {
        const uint64_t left = job->n - i * MOST_AT_ONCE;
        status = kr_optix_check(job->optix,
                                job->optix->api->launch(lane->pipeline, job->native,
                                                        records + RECORDS_NBYTES + i * job->block_nbytes,
                                                        16 + job->program->program.params_nbytes, &table,
                                                        (unsigned)(left < MOST_AT_ONCE ? left : MOST_AT_ONCE),
                                                        1, 1),
                                "optixLaunch", job->program->program.name, err);
    }
    return status;
}

/* The lock is held while the work is enqueued, not while it runs. */
static kr_status launch_in_lane(running *job, kr_error *err)
{
    kr_device *device = job->optix->head.device;
    kr_optix_lane *lane = NULL;
    pthread_mutex_lock(&job->p->lock);
    kr_status status = choose_lane(job, &lane, err);
    /* Waiting for an event that was never recorded returns at once. */
    if (!status)
        status = device->ops->event_wait(device, lane->done, job->native, err);
    if (!status) {
        lane->stream = job->native;
        status = launch(job, lane, err);
        const kr_status recorded =
            device->ops->event_record(device, lane->done, job->native, status ? NULL : err);
        status = status ? status : recorded;
    }
    pthread_mutex_unlock(&job->p->lock);
    return status;
}

static kr_status run_within(void *ctx, kr_error *err)
{
    running *job = ctx;
    kr_work *w = job->work;
    const kr_scene_view *view = job->params;
    KR_STEP(w, kr_optix_program_of(job->optix, job->program, view->host, &job->p, err));
    if (kr_work_goes_on(w))
        copy_blocks(job);
    KR_STEP(w, launch_in_lane(job, err));
    kr_work_give(w, job->blocks);
    return w->status;
}

void kr_optix_run(kr_work *w, kr_tracer *tracer, const kr_ray_program *program, const void *params,
                  uint64_t n)
{
    const uint64_t block_nbytes = 2 * sizeof(uint64_t) + program->program.params_nbytes;
    running job = {
        .work = w,
        .optix = kr_optix_of(tracer),
        .program = program,
        .params = params,
        .n = n,
        .native = kr_stream_native(w->device, w->stream),
        .block_nbytes = (block_nbytes + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT,
        .launches = (n + MOST_AT_ONCE - 1) / MOST_AT_ONCE,
    };
    if (!program->module)
        KR_STEP(w, kr_fail(w->err, KR_ERR_UNSUPPORTED, "program %s is not built for device %s",
                           program->program.name, w->device->name));
    KR_STEP(w, w->device->ops->within(w->device, run_within, &job, w->err));
}
