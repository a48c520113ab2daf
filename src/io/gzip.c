/* gzip files: members one after the other, as gzip and pigz write them. */
#include "io/io.h"

#include "util/error.h"

#ifdef KR_WITH_ZLIB

#include <stdlib.h>
#include <zlib.h>

enum { PACKED_NBYTES = 1 << 18 };

struct kr_gzip {
    z_stream stream;
    bool ended; /* the last member did */
    bool any_member;
    unsigned char packed[PACKED_NBYTES];
};

kr_status kr_gzip_open(struct kr_input *input, kr_error *err)
{
    struct kr_gzip *gzip = kr_host_calloc(1, sizeof *gzip, "unpacking a gzip file", err);
    if (!gzip)
        return KR_ERR_HOST_MEMORY;
    /* 15: windows of any size; 16: a gzip header, no other. */
    if (inflateInit2(&gzip->stream, 15 + 16) != Z_OK) {
        free(gzip);
        return kr_fail(err, KR_ERR_HOST_MEMORY, "no host memory for unpacking %s", input->name);
    }
    input->gzip = gzip;
    return KR_OK;
}

void kr_gzip_close(struct kr_gzip *gzip)
{
    if (gzip)
        inflateEnd(&gzip->stream);
    free(gzip);
}

/* Makes sure that there are packed bytes, unless the file is at its end. */
static kr_status refill(struct kr_input *input, kr_error *err)
{
    struct kr_gzip *gzip = input->gzip;
    size_t n = 0;
    if (gzip->stream.avail_in)
        return KR_OK;
    kr_status status = kr_input_read_file(input, gzip->packed, sizeof gzip->packed, &n, err);
    gzip->stream.next_in = gzip->packed;
    gzip->stream.avail_in = (uInt)n;
    return status;
}

static kr_status fail_packed(const struct kr_input *input, int result, kr_error *err)
{
    const struct kr_gzip *gzip = input->gzip;
    if (result == Z_MEM_ERROR)
        return kr_fail(err, KR_ERR_HOST_MEMORY, "no host memory for unpacking %s", input->name);
    if (input->position == 0 && !gzip->any_member && gzip->stream.total_out == 0)
        return kr_fail(err, KR_ERR_FORMAT, "%s is not a gzip file; without .gz it would be read as it is",
                       input->name);
    return kr_fail(err, KR_ERR_FORMAT, "%s is damaged after %llu unpacked bytes (%s); pack or copy it again",
                   input->name, (unsigned long long)input->position,
                   gzip->stream.msg ? gzip->stream.msg : "no gzip data");
}

kr_status kr_gzip_read(struct kr_input *input, void *to, size_t nbytes, size_t *got, kr_error *err)
{
    struct kr_gzip *gzip = input->gzip;
    z_stream *stream = &gzip->stream;
    stream->next_out = to;
    stream->avail_out = (uInt)nbytes;
    while (stream->avail_out == (uInt)nbytes) {
        kr_status status = refill(input, err);
        if (status != KR_OK)
            return status;
        if (stream->avail_in == 0 && gzip->ended)
            break;
        if (stream->avail_in == 0)
            return kr_fail(err, KR_ERR_FORMAT, "%s ends within its gzip data: it was cut off; copy it again",
                           input->name);
        if (gzip->ended && inflateReset(stream) != Z_OK)
            return fail_packed(input, Z_DATA_ERROR, err);
        gzip->ended = false;
        const int result = inflate(stream, Z_NO_FLUSH);
        if (result != Z_OK && result != Z_STREAM_END)
            return fail_packed(input, result, err);
        gzip->ended = result == Z_STREAM_END;
        gzip->any_member |= gzip->ended;
    }
    *got = nbytes - stream->avail_out;
    return KR_OK;
}

#else

kr_status kr_gzip_open(struct kr_input *input, kr_error *err)
{
    return kr_fail(err, KR_ERR_UNSUPPORTED,
                   "%s is packed, and this build has no zlib; unpack it with gunzip, or build keyray with "
                   "zlib's headers (Debian: zlib1g-dev)",
                   input->name);
}

void kr_gzip_close(struct kr_gzip *gzip)
{
    (void)gzip;
}

kr_status kr_gzip_read(struct kr_input *input, void *to, size_t nbytes, size_t *got, kr_error *err)
{
    (void)to, (void)nbytes, (void)got;
    return kr_gzip_open(input, err);
}

#endif
