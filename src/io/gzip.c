/* gzip files: members one after the other, as gzip and pigz write them. */
#include "io/io.h"

#include "base/util/error.h"

#ifdef KR_WITH_ZLIB

#include <stdlib.h>
#include <zlib.h>

enum { PACKED_NBYTES = 1 << 18 };

struct kr_gzip {
    const char *name;
    kr_gzip_reader read;
    void *from;
    z_stream stream;
    uint64_t unpacked; /* bytes handed out so far */
    bool ended;        /* the last member did */
    bool any_member;
    unsigned char packed[PACKED_NBYTES];
};

kr_status kr_gzip_open(const char *name, kr_gzip_reader read, void *from, struct kr_gzip **gzip,
                       kr_error *err)
{
    struct kr_gzip *made = kr_host_calloc(1, sizeof *made, "unpacking a gzip file", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    made->name = name;
    made->read = read;
    made->from = from;
    /* 15: windows of any size; 16: a gzip header, no other. */
    if (inflateInit2(&made->stream, 15 + 16) != Z_OK) {
        free(made);
        return kr_fail(err, KR_ERR_HOST_MEMORY, "no host memory for unpacking %s", name);
    }
    *gzip = made;
    return KR_OK;
}

void kr_gzip_close(struct kr_gzip *gzip)
{
    if (gzip)
        inflateEnd(&gzip->stream);
    free(gzip);
}

/* Makes sure that there are packed bytes, unless the file is at its end. */
static kr_status refill(struct kr_gzip *gzip, kr_error *err)
{
    size_t n = 0;
    if (gzip->stream.avail_in)
        return KR_OK;
    kr_status status = gzip->read(gzip->from, gzip->packed, sizeof gzip->packed, &n, err);
    gzip->stream.next_in = gzip->packed;
    gzip->stream.avail_in = (uInt)n;
    return status;
}

static kr_status fail_packed(const struct kr_gzip *gzip, int result, kr_error *err)
{
    if (result == Z_MEM_ERROR)
        return kr_fail(err, KR_ERR_HOST_MEMORY, "no host memory for unpacking %s", gzip->name);
    if (gzip->unpacked == 0 && !gzip->any_member && gzip->stream.total_out == 0)
        return kr_fail(err, KR_ERR_FORMAT, "%s is not a gzip file; without .gz it would be read as it is",
                       gzip->name);
    return kr_fail(err, KR_ERR_FORMAT, "%s is damaged after %llu unpacked bytes (%s); pack or copy it again",
                   gzip->name, (unsigned long long)gzip->unpacked,
                   gzip->stream.msg ? gzip->stream.msg : "no gzip data");
}

kr_status kr_gzip_read(struct kr_gzip *gzip, void *to, size_t nbytes, size_t *got, kr_error *err)
{
    z_stream *stream = &gzip->stream;
    stream->next_out = to;
    stream->avail_out = (uInt)nbytes;
    while (stream->avail_out == (uInt)nbytes) {
        kr_status status = refill(gzip, err);
        if (status != KR_OK)
            return status;
        if (stream->avail_in == 0 && gzip->ended)
            break;
        if (stream->avail_in == 0)
            return kr_fail(err, KR_ERR_FORMAT, "%s ends within its gzip data: it was cut off; copy it again",
                           gzip->name);
        if (gzip->ended && inflateReset(stream) != Z_OK)
            return fail_packed(gzip, Z_DATA_ERROR, err);
        gzip->ended = false;
        const int result = inflate(stream, Z_NO_FLUSH);
        if (result != Z_OK && result != Z_STREAM_END)
            return fail_packed(gzip, result, err);
        gzip->ended = result == Z_STREAM_END;
        gzip->any_member |= gzip->ended;
    }
    *got = nbytes - stream->avail_out;
    gzip->unpacked += *got;
    return KR_OK;
}

#else

kr_status kr_gzip_open(const char *name, kr_gzip_reader read, void *from, struct kr_gzip **gzip,
                       kr_error *err)
{
    (void)read, (void)from, (void)gzip;
    return kr_fail(err, KR_ERR_UNSUPPORTED,
                   "%s is packed, and this build has no zlib; unpack it with gunzip, or build keyray with "
                   "zlib's headers (Debian: zlib1g-dev)",
                   name);
}

void kr_gzip_close(struct kr_gzip *gzip)
{
    (void)gzip;
}

/* Nothing was opened that it could be called for. */
kr_status kr_gzip_read(struct kr_gzip *gzip, void *to, size_t nbytes, size_t *got, kr_error *err)
{
    (void)gzip, (void)to, (void)nbytes, (void)got;
    return kr_fail(err, KR_ERR_UNSUPPORTED, "this build has no zlib");
}

#endif
