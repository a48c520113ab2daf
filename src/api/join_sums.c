/* kr_join_sums: checks the arguments. */
#include "api/call.h"
#include "api/join.h"
#include "base/util/structs.h"
#include "join/sums.h"

static void read_options(kr_work *w, const kr_join_options *options, kr_join_job *how)
{
    const kr_join_options given = kr_call_join_read_few_options(w, options, NULL);
    if (kr_work_goes_on(w) && (given.type != KR_JOIN_INNER || given.unordered))
        KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT,
                           "kr_join_sums gives an answer for each left row: leave kr_join_options.%s at 0",
                           given.unordered ? "unordered" : "type"));
    how->index_side = given.inverse;
}

/* Float sums must not depend on which side is indexed, as the order of additions would. */
static void check_floats(kr_work *w, const kr_sink *sink, kr_join_job *how)
{
    if (sink->result != KR_RESULT_SUM || (sink->values->type != KR_F32 && sink->values->type != KR_F64))
        return;
    if (how->index_side == KR_INVERSE_ON)
        KR_STEP(w,
                kr_fail(w->err, KR_ERR_TYPE,
                        "floats are added up only where the right side is indexed; leave inverse at auto"));
    how->index_side = KR_INVERSE_OFF;
}

static void read_sink(kr_work *w, const kr_sink *sink, kr_sink *used, kr_sums_job *job)
{
    job->reaches = 1;
    KR_STEP(w, kr_call_read_sink_of(w->device, job->how.right->count, sink, job->how.left->count, used,
                                    &job->reaches, w->err));
    if (!kr_work_goes_on(w))
        return;
    if (used->result != KR_RESULT_COUNT && used->result != KR_RESULT_SUM_ROWS &&
        used->result != KR_RESULT_SUM)
        KR_STEP(w,
                kr_fail(w->err, KR_ERR_UNSUPPORTED,
                        "kr_join_sums gives COUNT, SUM_ROWS or SUM; for other results build an index of the "
                        "right side and look the left side up"));
    else if (used->report)
        KR_STEP(
            w, kr_fail(w->err, KR_ERR_UNSUPPORTED, "kr_join_sums fills no report; set sink->report to NULL"));
    else
        check_floats(w, used, &job->how);
}

static void run(kr_work *w, kr_sums_job *job, kr_join_info *made)
{
    kr_column codes[3];
    kr_peak peak;
    kr_work_peak_begin(w, &peak);
    kr_join_texts_encode(w, &job->how, codes);
    if (kr_work_goes_on(w))
        kr_join_sums_run(w, job, made);
    made->peak_nbytes = kr_work_peak_end(w, &peak);
}

kr_status kr_join_sums(kr_device *device, const char *spec, const kr_column *left, const kr_column *right,
                       const kr_join_options *options, const kr_sink *sink, kr_join_info *info, kr_error *err)
{
    if (!device)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_join_sums: device is NULL");
    kr_work w = kr_work_on(device, NULL, err);
    kr_join_info made = {.struct_size = sizeof made};
    kr_sink used;
    kr_sums_job job = {.how = {.spec = spec, .left = left, .right = right, .type = KR_JOIN_INNER},
                       .sink = &used};
    if (info)
        KR_STEP(&w, kr_struct_check(&kr_struct_join_info, info, err));
    kr_call_join_check_sides(&w, left, right, "the right side");
    read_options(&w, options, &job.how);
    if (kr_work_goes_on(&w))
        read_sink(&w, sink, &used, &job);
    if (kr_work_goes_on(&w))
        run(&w, &job, &made);
    if (info && kr_work_goes_on(&w))
        kr_struct_write(&kr_struct_join_info, &made, info);
    return kr_work_end(&w);
}
