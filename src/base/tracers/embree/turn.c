/* Turns: one scene at a time is built, changed or released, so that memory, progress and errors that Embree
 * reports for the whole device are known to be that scene's. */
#include "base/tracers/embree/embree.h"

#include <stdio.h>

/* ---- Memory -------------------------------------------------------------------------------- */

static void give_back(kr_device *device, const kr_embree_turn *turn, uint64_t nbytes)
{
    kr_embree_account *account = turn->account;
    const uint64_t beyond = nbytes < account->uncharged ? nbytes : account->uncharged;
    account->uncharged -= beyond;
    account->charged -= nbytes - beyond;
    kr_device_charge(device, turn->stream, -(int64_t)(nbytes - beyond));
}

/* Embree calls this before it takes memory or, with `post`, after that. It releases a block that is refused
 * afterwards like any other. */
static bool memory_monitor(void *ctx, ssize_t bytes, bool post)
{
    kr_embree_tracer *tracer = ctx;
    kr_embree_turn *turn = &tracer->turn;
    bool allowed = true;
    pthread_mutex_lock(&turn->counting);
    if (bytes <= 0) {
        give_back(tracer->head.device, turn, (uint64_t)-bytes);
    } else if (kr_device_charge(tracer->head.device, turn->stream, bytes)) {
        turn->account->charged += (uint64_t)bytes;
    } else {
        allowed = turn->must;
        if (turn->must || post)
            turn->account->uncharged += (uint64_t)bytes;
        if (!allowed && !turn->refused) {
            turn->refused = (uint64_t)bytes;
            turn->in_use = atomic_load(&tracer->head.device->in_use_nbytes);
        }
    }
    pthread_mutex_unlock(&turn->counting);
    return allowed;
}

/* ---- Progress and errors ------------------------------------------------------------------- */

/* Called on all threads of a build; only the calling thread reports to the user. */
static bool progress_monitor(void *ctx, double fraction)
{
    kr_embree_tracer *tracer = ctx;
    kr_embree_turn *turn = &tracer->turn;
    if (!turn->must && pthread_equal(pthread_self(), turn->caller) && !atomic_load(&turn->cancelled)) {
        if (fraction > turn->done)
            turn->done = fraction < 1 ? fraction : 1;
        if (kr_progress_report(&tracer->head.device->options.progress, turn->phase, turn->done, turn->err))
            atomic_store(&turn->cancelled, 1);
    }
    return !atomic_load(&turn->cancelled);
}

void kr_embree_watch(kr_embree_tracer *tracer, RTCScene scene)
{
    if (tracer->head.device->options.progress.call)
        tracer->rtc->SetSceneProgressMonitorFunction(scene, progress_monitor, tracer);
}

static void error_function(void *ctx, enum RTCError code, const char *text)
{
    kr_embree_turn *turn = &((kr_embree_tracer *)ctx)->turn;
    if (turn->code)
        return;
    turn->code = code;
    snprintf(turn->text, sizeof turn->text, "%.120s", text ? text : "");
}

/* ---- Turns --------------------------------------------------------------------------------- */

void kr_embree_turn_init(kr_embree_tracer *tracer)
{
    pthread_mutex_init(&tracer->turn.lock, NULL);
    pthread_mutex_init(&tracer->turn.counting, NULL);
    tracer->turn.account = &tracer->own;
    tracer->rtc->SetDeviceErrorFunction(tracer->rtc_device, error_function, tracer);
    tracer->rtc->SetDeviceMemoryMonitorFunction(tracer->rtc_device, memory_monitor, tracer);
}

void kr_embree_turn_close(kr_embree_tracer *tracer)
{
    pthread_mutex_destroy(&tracer->turn.counting);
    pthread_mutex_destroy(&tracer->turn.lock);
}

void kr_embree_turn_begin(kr_embree_tracer *tracer, kr_embree_account *account, kr_stream *stream,
                          const char *phase, kr_error *err)
{
    kr_embree_turn *turn = &tracer->turn;
    pthread_mutex_lock(&turn->lock);
    kr_rounding_begin(&turn->rounding);
    turn->caller = pthread_self();
    turn->stream = stream;
    turn->account = account;
    turn->phase = phase;
    turn->err = err;
    turn->done = 0;
    turn->must = 0;
    turn->refused = 0;
    turn->code = RTC_ERROR_NONE;
    atomic_store(&turn->cancelled, 0);
}

void kr_embree_turn_end(kr_embree_tracer *tracer)
{
    tracer->turn.account = &tracer->own;
    tracer->turn.stream = NULL;
    kr_rounding_end(&tracer->turn.rounding);
    pthread_mutex_unlock(&tracer->turn.lock);
}

kr_status kr_embree_turn_status(kr_embree_tracer *tracer, const char *what, uint64_t n)
{
    const kr_embree_turn *turn = &tracer->turn;
    const kr_device *device = tracer->head.device;
    if (turn->code == RTC_ERROR_NONE)
        return KR_OK;
    if (atomic_load(&turn->cancelled))
        return KR_ERR_CANCELLED; /* kr_progress_report wrote why */
    if (turn->refused)
        return kr_fail_call(turn->err, KR_ERR_DEVICE_MEMORY, "rtcCommitScene", (int)turn->code,
                            "not enough memory on %s for %s of %llu %s: %llu more bytes needed, %llu in use "
                            "by keyray, memory_cap_nbytes is %llu; release some or raise the cap",
                            device->name, turn->phase, (unsigned long long)n, what,
                            (unsigned long long)turn->refused, (unsigned long long)turn->in_use,
                            (unsigned long long)device->options.memory_cap_nbytes);
    return kr_fail_call(turn->err,
                        turn->code == RTC_ERROR_OUT_OF_MEMORY ? KR_ERR_DEVICE_MEMORY : KR_ERR_INTERNAL,
                        "rtcCommitScene", (int)turn->code, "Embree's %s of %llu %s failed on %s: %s",
                        turn->phase, (unsigned long long)n, what, device->name, turn->text);
}
