/* .npy version 1.0, written to a temporary file beside the target, which is renamed when complete. */
#include "io/io.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

struct output {
    int fd;
    char *path;      /* of the target, links followed */
    char *temporary; /* beside it */
    uint64_t nbytes, position;
    const kr_progress *progress;
    char name[KR_IO_SHOWN_NBYTES]; /* for errors */
};

static kr_status fail_errno(const struct output *output, const char *call, kr_error *err)
{
    return kr_fail_call(err, KR_ERR_IO, call, errno, "cannot write %s: %s", output->name, strerror(errno));
}

/* A new file with the permissions of the umask, which mkstemp ignores. */
static kr_status create_temporary(struct output *output, kr_error *err)
{
    const char *slash = strrchr(output->path, '/');
    size_t folder_nbytes = slash ? (size_t)(slash - output->path) + 1 : 0, room = folder_nbytes + 40;
    output->temporary = kr_host_calloc(room, 1, "a path", err);
    if (!output->temporary)
        return KR_ERR_HOST_MEMORY;
    memcpy(output->temporary, output->path, folder_nbytes);
    for (int tries = 0; tries < 16; tries++) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
            return fail_errno(output, "getrandom", err);
        snprintf(output->temporary + folder_nbytes, room - folder_nbytes, ".keyray-%016llx.tmp",
                 (unsigned long long)random);
        output->fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (output->fd >= 0 || errno != EEXIST)
            break;
    }
    return output->fd >= 0 ? KR_OK : fail_errno(output, "open", err);
}

/* Finds the target; only a regular file is replaced. */
static kr_status find_place(struct output *output, const char *path, kr_error *err)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return kr_fail(err, KR_ERR_IO, "cannot write %s: it is %s, not a regular file", output->name,
                       S_ISDIR(status.st_mode) ? "a directory" : "a device, pipe or socket");
    output->path = realpath(path, NULL);
    if (!output->path && errno != ENOENT)
        return fail_errno(output, "realpath", err);
    if (!output->path) {
        output->path = kr_host_calloc(strlen(path) + 1, 1, "a path", err);
        if (!output->path)
            return KR_ERR_HOST_MEMORY;
        strcpy(output->path, path);
    }
    return KR_OK;
}

static kr_status put(struct output *output, const void *data, uint64_t nbytes, kr_error *err)
{
    const char *at = data;
    while (nbytes > 0) {
        ssize_t n =
            write(output->fd, at, nbytes < KR_IO_BUFFER_NBYTES ? (size_t)nbytes : KR_IO_BUFFER_NBYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(output, "write", err);
        at += n;
        nbytes -= (uint64_t)n;
        output->position += (uint64_t)n;
        double fraction = (double)output->position / (double)output->nbytes;
        kr_status status = kr_progress_report(output->progress, "writing", fraction, err);
        if (status != KR_OK)
            return status;
    }
    return KR_OK;
}

static kr_status put_header(struct output *output, const char *dtype, uint64_t rows, uint32_t columns,
                            uint64_t data_nbytes, kr_error *err)
{
    char header[192], shape[64];
    if (columns == 1)
        snprintf(shape, sizeof shape, "(%llu,)", (unsigned long long)rows);
    else
        snprintf(shape, sizeof shape, "(%llu, %u)", (unsigned long long)rows, columns);
    int n = snprintf(header + 10, sizeof header - 10,
                     "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", dtype, shape);
    size_t used = 10 + (size_t)n, nbytes = (used + 1 + 63) / 64 * 64;
    memset(header + used, ' ', nbytes - used);
    header[nbytes - 1] = '\n';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)((nbytes - 10) & 0xff);
    header[9] = (char)((nbytes - 10) >> 8);
    output->nbytes = nbytes + data_nbytes;
    return put(output, header, nbytes, err);
}

static kr_status put_days(struct output *output, const int32_t *data, uint64_t count, kr_error *err)
{
    const uint64_t buffer = KR_IO_BUFFER_NBYTES / sizeof(int64_t), most = count < buffer ? count : buffer;
    int64_t *days = kr_host_calloc(most, sizeof *days, "a write buffer", err);
    kr_status status = days ? KR_OK : KR_ERR_HOST_MEMORY;
    for (uint64_t first = 0; status == KR_OK && first < count; first += most) {
        uint64_t n = count - first < most ? count - first : most;
        for (uint64_t i = 0; i < n; i++)
            days[i] = data[first + i];
        status = put(output, days, n * sizeof *days, err);
    }
    free(days);
    return status;
}

static const char *const dtypes[] = {
    [KR_U8] = "|u1",  [KR_I8] = "|i1",  [KR_U16] = "<u2",       [KR_I16] = "<i2",
    [KR_U32] = "<u4", [KR_I32] = "<i4", [KR_U64] = "<u8",       [KR_I64] = "<i8",
    [KR_F32] = "<f4", [KR_F64] = "<f8", [KR_DATE32] = "<M8[D]", [KR_TIMESTAMP64] = "<i8",
};

static kr_status write_all(struct output *output, kr_type type, uint64_t rows, uint32_t columns,
                           const void *data, kr_error *err)
{
    uint64_t count = rows * columns, each = type == KR_DATE32 ? 8 : kr_type_nbytes(type);
    kr_status status = put_header(output, dtypes[type], rows, columns, count * each, err);
    if (status == KR_OK)
        status =
            type == KR_DATE32 ? put_days(output, data, count, err) : put(output, data, count * each, err);
    /* Some file systems report only here that the disk is full. */
    int closed = close(output->fd);
    if (status == KR_OK && closed != 0)
        status = fail_errno(output, "close", err);
    if (status == KR_OK && rename(output->temporary, output->path) != 0)
        status = fail_errno(output, "rename", err);
    return status;
}

kr_status kr_file_write(const char *path, kr_type type, uint64_t rows, uint32_t columns, const void *data,
                        const kr_progress *progress, kr_error *err)
{
    if (!path || !*path || (!data && rows > 0))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_file_write: %s", path && *path ? "data is NULL" : "no path");
    if (!kr_type_name(type) || columns == 0)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_file_write: type %d and %u columns; give a valid type and columns > 0", (int)type,
                       columns);
    kr_status status = kr_progress_check(progress, "kr_file_write: progress", err);
    if (status != KR_OK)
        return status;
    struct output output = {.fd = -1, .progress = progress};
    kr_io_show(output.name, path, strlen(path));
    if (rows > INT64_MAX / 8 / columns)
        return kr_fail(err, KR_ERR_LIMIT, "%s: %llu rows of %u columns are more than a file can hold",
                       output.name, (unsigned long long)rows, columns);

    status = find_place(&output, path, err);
    if (status == KR_OK)
        status = create_temporary(&output, err);
    if (status == KR_OK) {
        status = write_all(&output, type, rows, columns, data, err);
        if (status != KR_OK)
            unlink(output.temporary);
    }
    free(output.temporary);
    free(output.path);
    return status;
}
