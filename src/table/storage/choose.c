/* What "best" means for a table: bindex, while memory is plenty. It was faster than reading every row at each
 * size that was measured, on an H200 and on a CPU (docs/performance-scans.md). */
#include "index/kinds/kind.h"
#include "table/condition/describe.h"
#include "table/storage/table.h"

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
    {"full:narrow=off",
     "building bindex would take more than a quarter of the device's memory, even with 32 vectors; "
     "full needs hardly any"},
};

/* "best" in a build without the kinds of `choices`. */
static kr_status stand_in(kr_spec *spec, kr_error *err)
{
    char here[256];
    uint32_t i = 0;
    while (kr_kind_at(i) && !kr_kind_at(i)->scan)
        ++i;
    if (kr_kind_at(i))
        return kr_spec_parse(kr_kind_at(i)->name, spec, err);
    kr_kind_list(here, sizeof here);
    return kr_fail(
        err, KR_ERR_SPEC,
        "this build has no kind that scans tables: KEYRAY_KINDS lists %s; build with bindex or full "
        "in it",
        here);
}

static kr_status choose_best(kr_table_job *job, kr_spec *spec, kr_error *err)
{
    const kr_table_shape shape = {job->device, spec, job->columns[0].count, job->n_columns, job->seen};
    const uint32_t n = sizeof choices / sizeof *choices;
    uint32_t left_out = 0;
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < n && status == KR_OK; ++i) {
        kr_need need = {0};
        if (kr_spec_parse(choices[i].spec, spec, NULL) != KR_OK) {
            ++left_out;
            continue;
        }
        job->reason = choices[i].reason;
        status = kr_table_ops(spec)->estimate(&shape, &need, err);
        if (need.peak_nbytes <= plenty(job->device))
            break;
    }
    if (left_out)
        job->reason =
            "of the kinds of this build; KEYRAY_KINDS leaves out bindex or full, which best chooses from";
    return left_out == n ? stand_in(spec, err) : status;
}

static int is_known(kr_text name)
{
    uint32_t i = 0;
    while (kr_kind_at(i) && !kr_text_is(name, kr_kind_at(i)->name))
        ++i;
    return kr_kind_at(i) != NULL;
}

static const char *advice(void)
{
    const int has_bindex = is_known((kr_text){"bindex", 6}), has_full = is_known((kr_text){"full", 4});
    if (has_bindex && has_full)
        return "use bindex or full";
    if (has_bindex || has_full)
        return has_bindex ? "use bindex" : "use full";
    return "build with bindex or full in KEYRAY_KINDS";
}

/* Errors name kinds of scans, which those of specs in general do not. */
static kr_status check_name(const char *text, kr_error *err)
{
    char known[128] = "best";
    kr_text rest = {text, text ? strlen(text) : 0};
    const kr_text name = kr_text_cut(&rest, ':');
    for (uint32_t i = 0; kr_kind_at(i); ++i)
        if (kr_kind_at(i)->scan)
            kr_leaf_text_add(known, sizeof known, ", %s", kr_kind_at(i)->name);
    if (!text)
        return kr_fail(err, KR_ERR_ARGUMENT, "the spec of the table is NULL; give one of: %s", known);
    if (kr_text_is(name, "best"))
        return kr_fail(
            err, KR_ERR_SPEC,
            "best takes no options for tables; options are those of a kind, and rows can be appended and "
            "deleted in all of them; give one of: %s",
            known);
    if (is_known(name))
        return KR_OK;
    const kr_status status = kr_spec_fail_left_out(name, err);
    return status != KR_OK ? status
                           : kr_fail(err, KR_ERR_SPEC, "unknown kind '%.*s'; kinds of tables: %s",
                                     (int)name.nbytes, name.at, known);
}

kr_status kr_table_choose(kr_table_job *job, const char *text, kr_spec *spec, kr_error *err)
{
    job->spec = spec;
    if (text && strcmp(text, "best") == 0)
        return choose_best(job, spec, err);
    job->reason = "named in the spec";
    kr_status status = check_name(text, err);
    if (status == KR_OK)
        status = kr_spec_parse(text, spec, err);
    if (status == KR_OK && !spec->kind->scan)
        return kr_fail(err, KR_ERR_UNSUPPORTED, "kind '%s' makes an index of one column, not a table; %s",
                       spec->kind->name, advice());
    return status;
}
