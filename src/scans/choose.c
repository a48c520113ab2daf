/* What "best" means for a table: bindex, while memory is plenty. It was faster than reading every row at each
 * size that was measured, on an H200 and on a CPU (docs/performance-scans.md). */
#include "scans/table.h"

#include <string.h>

/* A quarter of what the device may use. */
static uint64_t plenty(kr_device *device)
{
    kr_device_info info = {.struct_size = sizeof info};
    const uint64_t cap = device->options.memory_cap_nbytes;
    const uint64_t all = device->ops->query(device, &info, NULL) == KR_OK ? info.memory_nbytes : 0;
    return (cap && (!all || cap < all) ? cap : all) / 4;
}

static kr_status choose_best(const kr_table_job *job, kr_spec *spec, kr_error *err)
{
    static const char *const specs[] = {"bindex", "bindex:vectors=32", "full"};
    const kr_table_shape shape = {job->device, spec, job->columns[0].count, job->n_columns, job->columns};
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < sizeof specs / sizeof *specs && status == KR_OK; ++i) {
        kr_need need = {0};
        status = kr_spec_parse(specs[i], spec, err);
        if (status == KR_OK)
            status = spec->kind->scan->ops->estimate(&shape, &need, err);
        if (need.peak_nbytes <= plenty(job->device))
            break;
    }
    return status;
}

kr_status kr_scan_choose(const kr_table_job *job, const char *text, kr_spec *spec, kr_error *err)
{
    if (text && strcmp(text, "best") == 0)
        return choose_best(job, spec, err);
    const kr_status status = kr_spec_parse(text, spec, err);
    if (status == KR_OK && !spec->kind->scan)
        return kr_fail(err, KR_ERR_UNSUPPORTED,
                       "kind '%s' makes an index of one column, not a table; use bindex or full",
                       spec->kind->name);
    return status;
}
