#include "io/io.h"

#include "util/error.h"

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

kr_status kr_input_open(struct kr_input *input, const char *path, const kr_progress *progress, kr_error *err)
{
    memset(input, 0, sizeof *input);
    input->progress = progress;
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
        input->nbytes = (uint64_t)status.st_size;
        return KR_OK;
    }
    close(input->fd);
    return KR_ERR_IO;
}

void kr_input_close(struct kr_input *input)
{
    close(input->fd);
}

static kr_status report(const struct kr_input *input, kr_error *err)
{
    double fraction = input->position < input->nbytes ? (double)input->position / (double)input->nbytes : 1.0;
    return kr_progress_report(input->progress, "reading", fraction, err);
}

kr_status kr_input_read(struct kr_input *input, void *to, uint64_t nbytes, uint64_t *got, kr_error *err)
{
    uint64_t done = 0;
    while (done < nbytes) {
        size_t wanted = nbytes - done < KR_IO_BUFFER_NBYTES ? (size_t)(nbytes - done) : KR_IO_BUFFER_NBYTES;
        ssize_t n = read(input->fd, (char *)to + done, wanted);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return kr_fail_call(err, KR_ERR_IO, "read", errno, "cannot read %s: %s", input->name,
                                strerror(errno));
        if (n == 0 && input->position < input->nbytes)
            return kr_fail(err, KR_ERR_IO,
                           "%s became shorter while it was read: %llu of %llu bytes are left; read it again",
                           input->name, (unsigned long long)input->position,
                           (unsigned long long)input->nbytes);
        if (n == 0)
            break;
        done += (uint64_t)n;
        input->position += (uint64_t)n;
        kr_status status = report(input, err);
        if (status != KR_OK)
            return status;
    }
    *got = done;
    return KR_OK;
}
