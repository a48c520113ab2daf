#include "base/util/structs.h"

#include <string.h>

/* Fields are appended and never removed, so the last field of the first release gives its size for ever. */
#define ROW(type, last)                                                                            \
    {                                                                                              \
        "kr_" #type, sizeof(kr_##type), offsetof(kr_##type, last) + sizeof(((kr_##type *)0)->last) \
    }

const kr_struct kr_struct_device_options = ROW(device_options, progress);
const kr_struct kr_struct_device_info = ROW(device_info, memory_cap_nbytes);
const kr_struct kr_struct_kind_info = ROW(kind_info, option_count);
const kr_struct kr_struct_option_info = ROW(option_info, values);
const kr_struct kr_struct_estimate = ROW(estimate, peak_nbytes);
const kr_struct kr_struct_explanation = ROW(explanation, rays_per_probe);
const kr_struct kr_struct_index_info = ROW(index_info, peak_nbytes);
const kr_struct kr_struct_sink = ROW(sink, reserved);
const kr_struct kr_struct_nearest_options = ROW(nearest_options, float_tolerance);
const kr_struct kr_struct_column_probes = ROW(column_probes, nearest);
const kr_struct kr_struct_join_options = ROW(join_options, reserved);
const kr_struct kr_struct_join_info = ROW(join_info, cost_right);
const kr_struct kr_struct_table_options = ROW(table_options, ctx);
const kr_struct kr_struct_table_info = ROW(table_info, peak_nbytes);
const kr_struct kr_struct_scan_sink = ROW(scan_sink, rows_capacity);
const kr_struct kr_struct_scan_options = ROW(scan_options, reserved);
const kr_struct kr_struct_file_options = ROW(file_options, nulls);
const kr_struct kr_struct_save_options = ROW(save_options, reserved);
const kr_struct kr_struct_saved_options = ROW(saved_options, progress);
const kr_struct kr_struct_texts_info = ROW(texts_info, seeds_given_up);
const kr_struct kr_struct_advise_options = ROW(advise_options, progress);
const kr_struct kr_struct_advice_info = ROW(advice_info, seconds);
const kr_struct kr_struct_advice_candidate = ROW(advice_candidate, whole_footprint_nbytes);
const kr_struct kr_struct_saved_info = ROW(saved_info, n_attachments);

/* No struct of any version will be larger: a larger size is a caller's mistake. */
enum { MOST_NBYTES = 16384 };

/* Every struct that may grow begins with struct_size. */
static size_t size_of(const void *caller)
{
    return *(const size_t *)caller;
}

kr_status kr_struct_check(const kr_struct *type, const void *to, kr_error *err)
{
    const size_t nbytes = size_of(to);
    if (nbytes >= type->first_nbytes && nbytes <= MOST_NBYTES)
        return KR_OK;
    return kr_fail(err, KR_ERR_ARGUMENT, "%s.struct_size is %zu: set it to sizeof(%s), %zu in version %s",
                   type->name, nbytes, type->name, type->nbytes, KR_VERSION_STRING);
}

kr_status kr_struct_read(const kr_struct *type, const void *from, void *to, kr_error *err)
{
    const kr_status status = kr_struct_check(type, from, err);
    if (status != KR_OK)
        return status;
    const size_t nbytes = size_of(from), known = nbytes < type->nbytes ? nbytes : type->nbytes;
    const unsigned char *bytes = from;
    for (size_t i = known; i < nbytes; ++i)
        if (bytes[i])
            return kr_fail(
                err, KR_ERR_ARGUMENT,
                "%s has a field at byte %zu that version %s does not know: leave it 0, or use a newer "
                "library",
                type->name, i, KR_VERSION_STRING);
    memset(to, 0, type->nbytes);
    memcpy(to, from, known);
    *(size_t *)to = type->nbytes;
    return KR_OK;
}

void kr_struct_write(const kr_struct *type, const void *from, void *to)
{
    const size_t nbytes = size_of(to), known = nbytes < type->nbytes ? nbytes : type->nbytes;
    memcpy(to, from, known);
    memset((char *)to + known, 0, nbytes - known);
    *(size_t *)to = nbytes;
}
