/* What "best" means for a table: bindex, while memory is plenty. It was faster than reading every row at each
 * size that was measured, on an H200 and on a CPU (docs/performance-scans.md). */
#include "kinds/kind.h"
#include "scans/describe.h"
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

/* In this order: the first that takes little enough, or the last. */
static const struct choice {
    const char *spec, *reason;
} choices[] = {
    {"bindex",
     "faster than reading every row wherever it was measured; building it takes at most a quarter of "
     "the device's memory"},
    {"bindex:vectors=32",
     "faster than reading every row; with 128 vectors, building it would take more than a quarter of "
     "the device's memory, with 32 it does not"},
    {"full", "building bindex would take more than a quarter of the device's memory, even with 32 vectors; "
             "full needs hardly any"},
};

static kr_status choose_best(kr_table_job *job, kr_spec *spec, kr_error *err)
{
    const kr_table_shape shape = {job->device, spec, job->columns[0].count, job->n_columns, job->columns};
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < sizeof choices / sizeof *choices && status == KR_OK; ++i) {
        kr_need need = {0};
        job->reason = choices[i].reason;
        status = kr_spec_parse(choices[i].spec, spec, err);
        if (status == KR_OK)
            status = spec->kind->scan->ops->estimate(&shape, &need, err);
        if (need.peak_nbytes <= plenty(job->device))
            break;
    }
    return status;
}

static int is_known(kr_text name)
{
    uint32_t i = 0;
    while (kr_kind_at(i) && !kr_text_is(name, kr_kind_at(i)->name))
        ++i;
    return kr_kind_at(i) != NULL;
}

/* Errors name kinds of scans, which those of specs in general do not. */
static kr_status check_name(const char *text, kr_error *err)
{
    char known[128] = "best";
    kr_text rest = {text, text ? strlen(text) : 0};
    const kr_text name = kr_text_cut(&rest, ':');
    for (uint32_t i = 0; kr_kind_at(i); ++i)
        if (kr_kind_at(i)->scan)
            kr_text_add(known, sizeof known, ", %s", kr_kind_at(i)->name);
    if (!text)
        return kr_fail(err, KR_ERR_ARGUMENT, "the spec of the table is NULL; give one of: %s", known);
    if (kr_text_is(name, "best"))
        return kr_fail(
            err, KR_ERR_SPEC,
            "best takes no options for tables; options are those of a kind, and rows can be appended and "
            "deleted in all of them; give one of: %s",
            known);
    return is_known(name) ? KR_OK
                          : kr_fail(err, KR_ERR_SPEC, "unknown kind '%.*s'; kinds of tables: %s",
                                    (int)name.nbytes, name.at, known);
}

kr_status kr_scan_choose(kr_table_job *job, const char *text, kr_spec *spec, kr_error *err)
{
    job->spec = spec;
    if (text && strcmp(text, "best") == 0)
        return choose_best(job, spec, err);
    job->reason = "named in the spec";
    kr_status status = check_name(text, err);
    if (status == KR_OK)
        status = kr_spec_parse(text, spec, err);
    if (status == KR_OK && !spec->kind->scan)
        return kr_fail(err, KR_ERR_UNSUPPORTED,
                       "kind '%s' makes an index of one column, not a table; use bindex or full",
                       spec->kind->name);
    return status;
}
