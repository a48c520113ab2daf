#include "io/io.h"

#include "base/util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Keeps the end of a long text: in paths it says more than the beginning, and fields are rarely long. */
void kr_io_show(char shown[KR_IO_SHOWN_NBYTES], const char *text, size_t nbytes)
{
    const size_t most = KR_IO_SHOWN_NBYTES - 1;
    size_t at = 0;
    if (nbytes > most) {
        memcpy(shown, "...", 3);
        at = 3;
        text += nbytes - (most - at);
        nbytes = most - at;
    }
    for (size_t i = 0; i < nbytes; i++) {
        unsigned char byte = (unsigned char)text[i];
        shown[at++] = byte < 0x20 || byte == 0x7f ? '?' : (char)byte;
    }
    shown[at] = '\0';
}

void *kr_io_resize(void *memory, uint64_t n, uint64_t each, const char *what, kr_error *err)
{
    void *moved = n <= (SIZE_MAX / 2) / each ? realloc(memory, n ? (size_t)(n * each) : 1) : NULL;
    if (!moved)
        kr_fail(err, KR_ERR_HOST_MEMORY, "no host memory for %s: %llu elements of %llu bytes", what,
                (unsigned long long)n, (unsigned long long)each);
    return moved;
}

/* Standard input may be a pipe, whose end is not known; a file is read from where it stands. */
static kr_status open_standard(struct kr_input *input, kr_error *err)
{
    struct stat status;
    input->is_standard = true;
    input->fd = STDIN_FILENO;
    input->begin = KR_IO_UNKNOWN;
    input->file_nbytes = KR_IO_UNKNOWN;
    strcpy(input->name, "standard input");
    if (fstat(STDIN_FILENO, &status) != 0)
        return kr_fail_call(err, KR_ERR_IO, "fstat", errno, "cannot read %s: %s", input->name,
                            strerror(errno));
    if (S_ISDIR(status.st_mode))
        return kr_fail(err, KR_ERR_IO, "cannot read %s: it is a directory", input->name);
    const off_t begin = S_ISREG(status.st_mode) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
    if (begin >= 0) {
        input->begin = (uint64_t)begin;
        input->file_nbytes = status.st_size > begin ? (uint64_t)(status.st_size - begin) : 0;
    }
    return KR_OK;
}

static kr_status open_path(struct kr_input *input, const char *path, kr_error *err)
{
    kr_io_show(input->name, path, strlen(path));
    /* Without O_NONBLOCK, opening a named pipe would wait for its writer. */
    input->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (input->fd < 0)
        return kr_fail_call(err, KR_ERR_IO, "open", errno, "cannot open %s: %s", input->name,
                            strerror(errno));
    struct stat status;
    if (fstat(input->fd, &status) != 0) {
        kr_fail_call(err, KR_ERR_IO, "fstat", errno, "cannot read %s: %s", input->name, strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        kr_fail(err, KR_ERR_IO, "cannot read %s: it is %s, not a regular file", input->name,
                S_ISDIR(status.st_mode) ? "a directory" : "a device, pipe or socket");
    } else {
        input->file_nbytes = (uint64_t)status.st_size;
        return KR_OK;
    }
    close(input->fd);
    return KR_ERR_IO;
}

/* The next bytes of the file itself, which may be packed; a kr_gzip_reader. */
static kr_status read_file(void *from, void *to, size_t nbytes, size_t *got, kr_error *err)
{
    struct kr_input *input = from;
    ssize_t n;
    do {
        n = read(input->fd, to, nbytes);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return kr_fail_call(err, KR_ERR_IO, "read", errno, "cannot read %s: %s", input->name,
                            strerror(errno));
    if (n == 0 && input->file_nbytes != KR_IO_UNKNOWN && input->file_position < input->file_nbytes)
        return kr_fail(
            err, KR_ERR_IO, "%s became shorter while it was read: %llu of %llu bytes are left; read it again",
            input->name, (unsigned long long)input->file_position, (unsigned long long)input->file_nbytes);
    input->file_position += (uint64_t)n;
    *got = (size_t)n;
    return KR_OK;
}

kr_status kr_input_open(struct kr_input *input, const char *path, bool gzip, const kr_progress *progress,
                        kr_error *err)
{
    memset(input, 0, sizeof *input);
    input->progress = progress;
    kr_status status = strcmp(path, "-") == 0 ? open_standard(input, err) : open_path(input, path, err);
    if (status != KR_OK)
        return status;
    input->nbytes = gzip ? KR_IO_UNKNOWN : input->file_nbytes;
    if (gzip)
        status = kr_gzip_open(input->name, read_file, input, &input->gzip, err);
    if (status != KR_OK)
        kr_input_close(input);
    return status;
}

void kr_input_close(struct kr_input *input)
{
    kr_gzip_close(input->gzip);
    if (!input->is_standard)
        close(input->fd);
    else if (input->begin != KR_IO_UNKNOWN && lseek(STDIN_FILENO, (off_t)input->begin, SEEK_SET) < 0)
        return; /* it was a file a moment ago; nothing depends on where it stands */
}

static kr_status report(const struct kr_input *input, kr_error *err)
{
    double fraction = 1;
    if (input->file_nbytes == KR_IO_UNKNOWN)
        fraction = 0;
    else if (input->file_position < input->file_nbytes)
        fraction = (double)input->file_position / (double)input->file_nbytes;
    return kr_progress_report(input->progress, "reading", fraction, err);
}

kr_status kr_input_read(struct kr_input *input, void *to, uint64_t nbytes, uint64_t *got, kr_error *err)
{
    uint64_t done = 0;
    while (done < nbytes) {
        size_t wanted = nbytes - done < KR_IO_BUFFER_NBYTES ? (size_t)(nbytes - done) : KR_IO_BUFFER_NBYTES;
        size_t n = 0;
        kr_status status = input->gzip ? kr_gzip_read(input->gzip, (char *)to + done, wanted, &n, err)
                                       : read_file(input, (char *)to + done, wanted, &n, err);
        if (status != KR_OK)
            return status;
        if (n == 0)
            break;
        done += n;
        input->position += n;
        status = report(input, err);
        if (status != KR_OK)
            return status;
    }
    *got = done;
    return KR_OK;
}
