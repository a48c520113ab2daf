/* .npy version 1.0. */
#include "base/util/error.h"
#include "io/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_NBYTES = 192 };

/* Returns how many bytes it has: a multiple of 64. */
static size_t make_header(char header[HEADER_NBYTES], const char *dtype, uint64_t rows, uint32_t columns)
{
    char shape[64];
    if (columns == 1)
        snprintf(shape, sizeof shape, "(%llu,)", (unsigned long long)rows);
    else
        snprintf(shape, sizeof shape, "(%llu, %u)", (unsigned long long)rows, columns);
    int n = snprintf(header + 10, HEADER_NBYTES - 10,
                     "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", dtype, shape);
    size_t used = 10 + (size_t)n, nbytes = (used + 1 + 63) / 64 * 64;
    memset(header + used, ' ', nbytes - used);
    header[nbytes - 1] = '\n';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)((nbytes - 10) & 0xff);
    header[9] = (char)((nbytes - 10) >> 8);
    return nbytes;
}

static kr_status put_days(struct kr_target *target, const int32_t *data, uint64_t count, kr_error *err)
{
    const uint64_t buffer = KR_IO_BUFFER_NBYTES / sizeof(int64_t), most = count < buffer ? count : buffer;
    int64_t *days = kr_host_calloc(most, sizeof *days, "a write buffer", err);
    kr_status status = days ? KR_OK : KR_ERR_HOST_MEMORY;
    for (uint64_t first = 0; status == KR_OK && first < count; first += most) {
        uint64_t n = count - first < most ? count - first : most;
        for (uint64_t i = 0; i < n; i++)
            days[i] = data[first + i];
        status = kr_target_put(target, days, n * sizeof *days, err);
    }
    free(days);
    return status;
}

static const char *const dtypes[] = {
    [KR_U8] = "|u1",  [KR_I8] = "|i1",  [KR_U16] = "<u2",       [KR_I16] = "<i2",
    [KR_U32] = "<u4", [KR_I32] = "<i4", [KR_U64] = "<u8",       [KR_I64] = "<i8",
    [KR_F32] = "<f4", [KR_F64] = "<f8", [KR_DATE32] = "<M8[D]", [KR_TIMESTAMP64] = "<i8",
};

static kr_status write_column(kr_output *output, const char *path, kr_type type, uint64_t rows,
                              uint32_t columns, const void *data, const kr_progress *progress, kr_error *err)
{
    char header[HEADER_NBYTES];
    struct kr_target *target = NULL;
    const size_t nbytes = make_header(header, dtypes[type], rows, columns);
    const uint64_t count = rows * columns, each = type == KR_DATE32 ? 8 : kr_type_nbytes(type);
    kr_status status = kr_target_begin(output, path, nbytes + count * each, progress, &target, err);
    if (status == KR_OK)
        status = kr_target_put(target, header, nbytes, err);
    if (status == KR_OK)
        status = type == KR_DATE32 ? put_days(target, data, count, err)
                                   : kr_target_put(target, data, count * each, err);
    return status == KR_OK ? kr_target_end(target, err) : status;
}

static kr_status add(kr_output *output, const char *call, const char *path, kr_type type, uint64_t rows,
                     uint32_t columns, const void *data, const kr_progress *progress, kr_error *err)
{
    char shown[KR_IO_SHOWN_NBYTES];
    if (!path || !*path || (!data && rows > 0))
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: %s", call, path && *path ? "data is NULL" : "no path");
    if (!kr_type_name(type) || columns == 0)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: type %d and %u columns; give a valid type and columns > 0",
                       call, (int)type, columns);
    const kr_status status = kr_progress_check(progress, call, err);
    if (status != KR_OK)
        return status;
    kr_io_show(shown, path, strlen(path));
    if (rows > INT64_MAX / 8 / columns)
        return kr_fail(err, KR_ERR_LIMIT,
                       "%s: %llu rows of %u columns are more than a file can hold; write "
                       "several files",
                       shown, (unsigned long long)rows, columns);
    return write_column(output, path, type, rows, columns, data, progress, err);
}

kr_status kr_output_add_column(kr_output *output, const char *path, kr_type type, uint64_t rows,
                               uint32_t columns, const void *data, const kr_progress *progress, kr_error *err)
{
    if (!output)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_output_add_column: output is NULL");
    return kr_output_added(
        output, path, add(output, "kr_output_add_column", path, type, rows, columns, data, progress, err));
}

kr_status kr_file_write(const char *path, kr_type type, uint64_t rows, uint32_t columns, const void *data,
                        const kr_progress *progress, kr_error *err)
{
    kr_output *output = NULL;
    kr_status status = kr_output_create(&output, err);
    if (status == KR_OK)
        status = add(output, "kr_file_write", path, type, rows, columns, data, progress, err);
    if (status == KR_OK)
        status = kr_output_commit(output, err);
    kr_output_destroy(output);
    return status;
}
