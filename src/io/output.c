/* Files that appear together: temporary files beside their targets, renamed when all are complete. */
#include "io/output.h"
#include "base/util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40, NAME_NBYTES = 40 };

struct kr_output {
    struct kr_target *first;
    char failed[KR_IO_SHOWN_NBYTES]; /* the first file that could not be added, "" for none */
    int committed;
};

static kr_status fail_errno(const struct kr_target *target, const char *call, kr_error *err)
{
    return kr_fail_call(err, KR_ERR_IO, call, errno, "cannot write %s: %s", target->name, strerror(errno));
}

/* ---- Targets ---------------------------------------------------------------------------------- */

/* The folder of a path with its slash, and room for a name behind it. */
static char *beside(const char *path, const char *name, kr_error *err)
{
    const char *slash = strrchr(path, '/');
    const size_t folder_nbytes = slash ? (size_t)(slash - path) + 1 : 0, length = strlen(name);
    char *made = kr_host_calloc(folder_nbytes + length + 1, 1, "a path", err);
    if (made) {
        memcpy(made, path, folder_nbytes);
        memcpy(made + folder_nbytes, name, length);
    }
    return made;
}

/* A name that no file of the folder has. */
static kr_status random_name(const struct kr_target *target, char name[NAME_NBYTES], kr_error *err)
{
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return fail_errno(target, "getrandom", err);
    snprintf(name, NAME_NBYTES, ".keyray-%016llx.tmp", (unsigned long long)random);
    return KR_OK;
}

/* Replaces a path that is a link by what the link names, one step. *is_link 0: it is none. */
static kr_status follow(struct kr_target *target, int *is_link, kr_error *err)
{
    char to[PATH_MAX];
    const ssize_t length = readlink(target->path, to, sizeof to - 1);
    *is_link = length >= 0;
    if (length < 0)
        return KR_OK;
    to[length] = '\0';
    char *next = *to == '/' ? beside("/", to + 1, err) : beside(target->path, to, err);
    if (!next)
        return KR_ERR_HOST_MEMORY;
    free(target->path);
    target->path = next;
    return KR_OK;
}

/* Finds the file behind links, also where the last names a file that is not there yet. Only a regular file is
 * replaced. */
static kr_status find_place(struct kr_target *target, const char *path, struct stat *old, kr_error *err)
{
    int is_link = 1;
    if (stat(path, old) == 0 && !S_ISREG(old->st_mode))
        return kr_fail(err, KR_ERR_IO, "cannot write %s: it is %s, not a regular file", target->name,
                       S_ISDIR(old->st_mode) ? "a directory" : "a device, pipe or socket");
    target->path = kr_host_calloc(strlen(path) + 1, 1, "a path", err);
    if (!target->path)
        return KR_ERR_HOST_MEMORY;
    strcpy(target->path, path);
    for (int steps = 0; is_link; ++steps) {
        if (steps == MOST_LINKS)
            return kr_fail(err, KR_ERR_IO, "cannot write %s: too many links", target->name);
        const kr_status status = follow(target, &is_link, err);
        if (status != KR_OK)
            return status;
    }
    if (stat(target->path, old) != 0)
        memset(old, 0, sizeof *old);
    return KR_OK;
}

/* A new file with the permissions of the file that it replaces, else those of the umask, which mkstemp
 * ignores. */
static kr_status create_temporary(struct kr_target *target, const struct stat *old, kr_error *err)
{
    for (int tries = 0; tries < 16 && target->fd < 0; tries++) {
        char name[NAME_NBYTES];
        const kr_status status = random_name(target, name, err);
        if (status != KR_OK)
            return status;
        free(target->temporary);
        target->temporary = beside(target->path, name, err);
        if (!target->temporary)
            return KR_ERR_HOST_MEMORY;
        target->fd = open(target->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (target->fd < 0 && errno != EEXIST)
            break;
    }
    if (target->fd < 0) {
        const kr_status status = fail_errno(target, "open", err);
        free(target->temporary);
        target->temporary = NULL;
        return status;
    }
    if (old->st_nlink && fchmod(target->fd, old->st_mode & 07777) != 0)
        return fail_errno(target, "fchmod", err);
    return KR_OK;
}

static void destroy_target(struct kr_target *target)
{
    if (target->fd >= 0)
        close(target->fd);
    if (target->temporary)
        unlink(target->temporary);
    free(target->backup);
    free(target->temporary);
    free(target->path);
    free(target);
}

kr_status kr_target_begin(kr_output *output, const char *path, uint64_t nbytes, const kr_progress *progress,
                          struct kr_target **target, kr_error *err)
{
    struct stat old;
    struct kr_target *made = kr_host_calloc(1, sizeof *made, "a file to write", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    made->fd = -1;
    made->nbytes = nbytes;
    made->progress = progress;
    kr_io_show(made->name, path, strlen(path));
    kr_status status = find_place(made, path, &old, err);
    if (status == KR_OK)
        status = create_temporary(made, &old, err);
    if (status != KR_OK) {
        destroy_target(made);
        return status;
    }
    made->next = output->first;
    output->first = made;
    *target = made;
    return KR_OK;
}

kr_status kr_target_put(struct kr_target *target, const void *data, uint64_t nbytes, kr_error *err)
{
    const char *at = data;
    while (nbytes > 0) {
        ssize_t n =
            write(target->fd, at, nbytes < KR_IO_BUFFER_NBYTES ? (size_t)nbytes : KR_IO_BUFFER_NBYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(target, "write", err);
        at += n;
        nbytes -= (uint64_t)n;
        target->position += (uint64_t)n;
        double fraction = (double)target->position / (double)target->nbytes;
        kr_status status = kr_progress_report(target->progress, "writing", fraction, err);
        if (status != KR_OK)
            return status;
    }
    return KR_OK;
}

kr_status kr_target_end(struct kr_target *target, kr_error *err)
{
    /* Some file systems report only here that the disk is full. */
    const int closed = close(target->fd);
    target->fd = -1;
    return closed == 0 ? KR_OK : fail_errno(target, "close", err);
}

/* ---- All of them ------------------------------------------------------------------------------ */

kr_status kr_output_create(kr_output **output, kr_error *err)
{
    if (!output)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_output_create: output is NULL");
    kr_output *made = kr_host_calloc(1, sizeof *made, "an output", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    *output = made;
    return KR_OK;
}

kr_status kr_output_added(kr_output *output, const char *path, kr_status status)
{
    if (output && status != KR_OK && !*output->failed) {
        const char *shown = path && *path ? path : "a file without a name";
        kr_io_show(output->failed, shown, strlen(shown));
    }
    return status;
}

/* Puts a file in the place of another in one step, and the other in its place. */
static int exchange(const char *a, const char *b)
{
#ifdef RENAME_EXCHANGE
    return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
#else
    (void)a;
    (void)b;
    errno = ENOSYS;
    return -1;
#endif
}

/* What could not be undone comes first in the error: the rest of a long text is cut. The call and its code
 * stay those of the first failure. */
static void add_failure(kr_error *err, const char *text, const char *path, const char *reason,
                        const char *kept)
{
    char shown[KR_IO_SHOWN_NBYTES] = "";
    if (!err)
        return;
    const kr_error first = *err;
    if (kept)
        kr_io_show(shown, kept, strlen(kept));
    kr_fail_call(err, first.status, first.vendor_call, first.vendor_code, "%s %s (%s)%s%s%s; %s", text, path,
                 reason, kept ? ": its old content is in " : "", shown, kept ? ", move it back" : "",
                 first.text);
}

/* The old file gets its name again; where that fails it stays under its other name. */
static void put_back(const struct kr_target *target, kr_error *err)
{
    if (rename(target->backup, target->path) != 0)
        add_failure(err, "cannot put back", target->name, strerror(errno), target->backup);
}

/* Renames the temporary file, and keeps the old one under another name. That is one step where the file
 * system can exchange two files, or give a file a second name; else no file has the target's name for a
 * moment. */
static kr_status replace_and_keep(struct kr_target *target, kr_error *err)
{
    if (exchange(target->temporary, target->path) == 0) {
        char *spare = target->backup;
        target->backup = target->temporary;
        target->temporary = spare;
        return KR_OK;
    }
    const int moved = link(target->path, target->backup) != 0;
    if (moved && rename(target->path, target->backup) != 0)
        return fail_errno(target, "rename", err);
    if (rename(target->temporary, target->path) == 0)
        return KR_OK;
    const kr_status status = fail_errno(target, "rename", err);
    if (moved)
        put_back(target, err);
    else
        unlink(target->backup);
    return status;
}

/* `alone`: no other file may fail later, so nothing is kept. */
static kr_status replace(struct kr_target *target, int alone, kr_error *err)
{
    char name[NAME_NBYTES];
    struct stat old;
    const int is_there = lstat(target->path, &old) == 0;
    if (is_there && S_ISDIR(old.st_mode)) { /* a file can be exchanged with it */
        errno = EISDIR;
        return fail_errno(target, "rename", err);
    }
    kr_status status = KR_OK;
    if (is_there && !alone) {
        status = random_name(target, name, err);
        if (status != KR_OK)
            return status;
        target->backup = beside(target->path, name, err);
        if (!target->backup)
            return KR_ERR_HOST_MEMORY;
    }
    if (target->backup)
        status = replace_and_keep(target, err);
    else if (rename(target->temporary, target->path) != 0)
        status = fail_errno(target, "rename", err);
    if (status != KR_OK) {
        free(target->backup);
        target->backup = NULL;
        return status;
    }
    target->renamed = 1;
    free(target->temporary);
    target->temporary = NULL;
    return KR_OK;
}

static void undo(const struct kr_target *target, kr_error *err)
{
    if (target->renamed && target->backup)
        put_back(target, err);
    else if (target->renamed && unlink(target->path) != 0)
        add_failure(err, "cannot remove the new", target->name, strerror(errno), NULL);
}

/* Targets are listed newest first. */
static void reverse(kr_output *output)
{
    struct kr_target *reversed = NULL;
    for (struct kr_target *at = output->first, *next; at; at = next) {
        next = at->next;
        at->next = reversed;
        reversed = at;
    }
    output->first = reversed;
}

kr_status kr_output_commit(kr_output *output, kr_error *err)
{
    kr_status status = KR_OK;
    if (!output)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_output_commit: output is NULL");
    if (*output->failed || output->committed)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_output_commit: %s%s; destroy the output and make another",
                       *output->failed ? output->failed : "the output was committed before",
                       *output->failed ? " could not be added, so nothing is written" : "");
    output->committed = 1;
    /* In the order of adding, and undone the other way round: two names may be of one file. */
    reverse(output);
    for (struct kr_target *at = output->first; at && status == KR_OK; at = at->next)
        status = replace(at, !output->first->next, err);
    reverse(output);
    for (struct kr_target *at = output->first; at; at = at->next) {
        if (status != KR_OK)
            undo(at, err);
        else if (at->backup)
            unlink(at->backup);
        free(at->backup);
        at->backup = NULL;
        at->renamed = 0;
    }
    return status;
}

void kr_output_destroy(kr_output *output)
{
    if (!output)
        return;
    for (struct kr_target *at = output->first, *next; at; at = next) {
        next = at->next;
        destroy_target(at);
    }
    free(output);
}

static kr_status add_bytes(kr_output *output, const char *path, const void *data, uint64_t nbytes,
                           const kr_progress *progress, kr_error *err)
{
    struct kr_target *target = NULL;
    if (!output || !path || !*path || (!data && nbytes))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_output_add_bytes: %s is NULL",
                       !output         ? "output"
                       : path && *path ? "data"
                                       : "path");
    kr_status status = kr_progress_check(progress, "kr_output_add_bytes: progress", err);
    if (status == KR_OK)
        status = kr_target_begin(output, path, nbytes, progress, &target, err);
    if (status == KR_OK)
        status = kr_target_put(target, data, nbytes, err);
    return status == KR_OK ? kr_target_end(target, err) : status;
}

kr_status kr_output_add_bytes(kr_output *output, const char *path, const void *data, uint64_t nbytes,
                              const kr_progress *progress, kr_error *err)
{
    return kr_output_added(output, path, add_bytes(output, path, data, nbytes, progress, err));
}

static kr_status put_pieces(struct kr_target *target, kr_next_piece next, void *ctx, kr_error *err)
{
    for (;;) {
        const void *data = NULL;
        uint64_t nbytes = 0;
        double fraction = 0;
        kr_status status = next(ctx, &data, &nbytes, &fraction, err);
        if (status != KR_OK || !nbytes)
            return status;
        const uint64_t end = target->position + nbytes;
        target->nbytes = fraction > 0 && fraction < 1 ? (uint64_t)((double)end / fraction) : end;
        status = kr_target_put(target, data, nbytes, err);
        if (status != KR_OK)
            return status;
    }
}

static kr_status add_pieces(kr_output *output, const char *path, kr_next_piece next, void *ctx,
                            const kr_progress *progress, kr_error *err)
{
    struct kr_target *target = NULL;
    if (!output || !path || !*path || !next)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_output_add_pieces: %s is NULL",
                       !output         ? "output"
                       : path && *path ? "next"
                                       : "path");
    kr_status status = kr_progress_check(progress, "kr_output_add_pieces: progress", err);
    if (status == KR_OK)
        status = kr_target_begin(output, path, 0, progress, &target, err);
    if (status == KR_OK)
        status = put_pieces(target, next, ctx, err);
    return status == KR_OK ? kr_target_end(target, err) : status;
}

kr_status kr_output_add_pieces(kr_output *output, const char *path, kr_next_piece next, void *ctx,
                               const kr_progress *progress, kr_error *err)
{
    return kr_output_added(output, path, add_pieces(output, path, next, ctx, progress, err));
}
