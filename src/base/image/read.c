/* Arrays of a file, read and checked by threads. */
#include "base/image/crc32c.h"
#include "base/image/saved.h"
#include "base/util/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PART_NBYTES = 64 << 10, /* is copied and then summed while the caches have it */
    BLOCKS_AT_ONCE = 64,    /* between calls of the progress callback */
    MOST_THREADS = 16       /* fill the bandwidth of memory; more only wait */
};

typedef struct reading {
    const kr_saved *saved;
    const kr_saved_range *range;
    _Atomic uint64_t damaged; /* the first block whose sum is wrong */
    _Atomic int error;        /* errno; -1: the file ended */
} reading;

/* What cannot be read is not summed. Returns 0 for that. */
static int copy_part(reading *r, unsigned char *to, uint64_t offset, uint64_t n)
{
    const kr_saved *saved = r->saved;
    if (saved->fd < 0) {
        memcpy(to, saved->base + offset, n);
        return 1;
    }
    while (n) {
        const ssize_t got = pread(saved->fd, to, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            atomic_store(&r->error, got < 0 ? errno : -1);
            return 0;
        }
        to += got;
        offset += (uint64_t)got;
        n -= (uint64_t)got;
    }
    return 1;
}

static void note_damage(reading *r, uint64_t block)
{
    uint64_t seen = atomic_load(&r->damaged);
    while (block < seen && !atomic_compare_exchange_weak(&r->damaged, &seen, block))
        ;
}

static void read_block(reading *r, uint64_t block)
{
    const kr_saved_range *range = r->range;
    const uint64_t begin = block * KR_SAVED_BLOCK_NBYTES, left = range->field->value - begin;
    const uint64_t n = left < KR_SAVED_BLOCK_NBYTES ? left : KR_SAVED_BLOCK_NBYTES;
    const uint64_t offset = range->field->offset + begin;
    uint32_t sum = 0;
#ifdef MADV_POPULATE_READ
    if (!range->to &&
        r->saved->is_mapped) /* of offsets that are multiples of pages; a page fault each is slower */
        madvise((void *)(r->saved->base + offset), n, MADV_POPULATE_READ);
#endif
    for (uint64_t done = 0; done < n; done += PART_NBYTES) {
        const uint64_t part = n - done < PART_NBYTES ? n - done : PART_NBYTES;
        unsigned char *to = range->to ? range->to + (begin - range->first) + done : NULL;
        if (to && !copy_part(r, to, offset + done, part))
            return;
        if (range->verifies) /* of the copy, if there is one: that is what will be used */
            sum = kr_crc32c(sum, to ? to : r->saved->base + offset + done, part);
    }
    if (range->verifies && sum != range->field->sums[block])
        note_damage(r, block);
}

static void read_blocks(void *ctx, uint32_t worker, uint64_t first, uint64_t end)
{
    reading *r = ctx;
    (void)worker;
    for (uint64_t i = first; i < end; ++i)
        read_block(r, r->range->first / KR_SAVED_BLOCK_NBYTES + i);
}

static kr_status fail_read(const reading *r, kr_error *err)
{
    const kr_saved *saved = r->saved;
    const kr_field *field = r->range->field;
    const int code = r->error;
    if (code > 0)
        return kr_fail_call(err, KR_ERR_IO, "pread", code, "cannot read %s: %s", saved->name, strerror(code));
    if (code < 0)
        return kr_fail(err, KR_ERR_IO, "%s was cut off while it was open: array '%s' ends too early",
                       saved->name, field->name);
    const uint64_t begin = r->damaged * KR_SAVED_BLOCK_NBYTES, left = field->value - begin;
    const uint64_t n = left < KR_SAVED_BLOCK_NBYTES ? left : KR_SAVED_BLOCK_NBYTES;
    return kr_fail(
        err, KR_ERR_FORMAT,
        "%s is damaged: the checksum of block %llu of array '%s', %llu bytes from byte %llu of the "
        "file, is wrong; take a copy of the file, or save it again",
        saved->name, (unsigned long long)r->damaged, field->name, (unsigned long long)n,
        (unsigned long long)(field->offset + begin));
}

static uint32_t threads_of(const kr_saved_range *range)
{
    const uint32_t wanted = range->threads ? range->threads : kr_pool_cores();
    return wanted < MOST_THREADS ? wanted : MOST_THREADS;
}

kr_status kr_saved_read(const kr_saved *saved, const kr_saved_range *range, kr_error *err)
{
    reading r = {.saved = saved, .range = range, .damaged = UINT64_MAX};
    const uint64_t blocks = range->n / KR_SAVED_BLOCK_NBYTES + (range->n % KR_SAVED_BLOCK_NBYTES != 0);
    if (!range->to && !range->verifies)
        return KR_OK;
    kr_pool_run(threads_of(range), blocks, 1, read_blocks, &r);
    return r.error || r.damaged != UINT64_MAX ? fail_read(&r, err) : KR_OK;
}

static kr_status report(const kr_saved *saved, const kr_field *field, uint64_t done, kr_error *err)
{
    return kr_progress_report(&saved->progress, "read",
                              (double)(field->offset + done) / (double)saved->layout.directory_offset, err);
}

/* A whole array. */
static kr_status read_array(const kr_saved *saved, const kr_saved_range *whole, kr_error *err)
{
    kr_status status = KR_OK;
    kr_saved_range range = *whole;
    for (uint64_t done = 0; status == KR_OK && done < whole->field->value; done += range.n) {
        const uint64_t left = whole->field->value - done, most = BLOCKS_AT_ONCE * KR_SAVED_BLOCK_NBYTES;
        range.first = done;
        range.n = left < most ? left : most;
        range.to = whole->to ? whole->to + done : NULL;
        status = kr_saved_read(saved, &range, err);
        if (status == KR_OK)
            status = report(saved, whole->field, done + range.n, err);
    }
    return status;
}

kr_status kr_saved_verify_gaps(const kr_saved *saved, kr_error *err)
{
    uint64_t end = KR_SAVED_HEAD_NBYTES;
    for (uint32_t i = 0; i <= saved->list.n; ++i) {
        const kr_field *field = i < saved->list.n ? &saved->list.fields[i] : NULL;
        if (field && field->kind != KR_FIELD_ARRAY)
            continue;
        const uint64_t next = field ? field->offset : saved->layout.directory_offset;
        for (; end < next; ++end)
            if (saved->base[end])
                return kr_fail(err, KR_ERR_FORMAT,
                               "%s is damaged: byte %llu is in a gap, where all bytes are 0", saved->name,
                               (unsigned long long)end);
        end += field ? field->value : 0;
    }
    return KR_OK;
}

kr_status kr_saved_verify(const kr_saved *saved, kr_error *err)
{
    kr_status status = kr_saved_verify_gaps(saved, err);
    for (uint32_t i = 0; i < saved->list.n && status == KR_OK; ++i)
        if (saved->list.fields[i].kind == KR_FIELD_ARRAY)
            status =
                read_array(saved, &(kr_saved_range){.field = &saved->list.fields[i], .verifies = 1}, err);
    return status;
}

/* ---- Loading ---------------------------------------------------------------------------------- */

/* Two pinned buffers, which are filled in turn while what the other holds is copied to the device. */
enum { UPLOAD_NBYTES = 16 << 20, UPLOAD_BUFFERS = 2 };

typedef struct kr_upload {
    uint64_t nbytes; /* of a buffer */
    uint64_t turn;   /* how often one was filled */
    void *pinned[UPLOAD_BUFFERS], *event[UPLOAD_BUFFERS];
} kr_upload;

static void begin_upload(kr_image *image, const kr_saved *saved)
{
    kr_work *w = image->work;
    kr_device *device = w->device;
    if (!image->upload)
        image->upload = kr_work_object(w, sizeof *image->upload, "buffers of an upload");
    kr_upload *upload = image->upload;
    if (!upload || upload->nbytes || !kr_work_goes_on(w))
        return;
    /* No array is larger than what comes before the directory. */
    const uint64_t most = saved->layout.directory_offset;
    upload->nbytes = most < UPLOAD_NBYTES ? most : UPLOAD_NBYTES;
    for (int i = 0; i < UPLOAD_BUFFERS && kr_work_goes_on(w); ++i) {
        upload->pinned[i] = device->ops->stage(device, upload->nbytes, w->err);
        if (!upload->pinned[i])
            w->status = KR_ERR_HOST_MEMORY;
        KR_STEP(w, device->ops->event_create(device, &upload->event[i], w->err));
    }
}

static void upload_array(kr_image *image, const kr_saved *saved, const kr_field *field, char *to)
{
    kr_work *w = image->work;
    const kr_device_ops *ops = w->device->ops;
    void *native = kr_stream_native(w->device, w->stream);
    begin_upload(image, saved);
    for (uint64_t done = 0; kr_work_goes_on(w) && done < field->value;) {
        kr_upload *upload = image->upload;
        const uint64_t left = field->value - done, n = left < upload->nbytes ? left : upload->nbytes;
        const uint32_t turn = upload->turn++ % UPLOAD_BUFFERS;
        const kr_saved_range range = {
            .field = field, .first = done, .n = n, .to = upload->pinned[turn], .verifies = saved->verifies};
        if (upload->turn > UPLOAD_BUFFERS)
            KR_STEP(w, ops->event_sync(w->device, upload->event[turn], w->err));
        KR_STEP(w, kr_saved_read(saved, &range, w->err));
        KR_STEP(w, ops->copy(w->device, to + done, upload->pinned[turn], n, native, w->err));
        KR_STEP(w, ops->event_record(w->device, upload->event[turn], native, w->err));
        done += n;
        KR_STEP(w, report(saved, field, done, w->err));
    }
}

void kr_image_end(kr_image *image)
{
    kr_upload *upload = image->upload;
    kr_device *device = image->work->device;
    if (upload)
        kr_work_finish(image->work);
    for (int i = 0; upload && i < UPLOAD_BUFFERS; ++i) {
        if (upload->event[i])
            device->ops->event_destroy(device, upload->event[i]);
        if (upload->pinned[i])
            device->ops->unstage(device, upload->pinned[i]);
    }
    free(upload);
    image->upload = NULL;
    kr_field_list_release(&image->list);
}

void kr_saved_copy(kr_image *image, const kr_field *field, void *to)
{
    const kr_saved *saved = (const kr_saved *)image->source;
    KR_STEP(image->work, read_array(saved,
                                    &(kr_saved_range){.field = field,
                                                      .to = to,
                                                      .threads = image->work->device->options.threads,
                                                      .verifies = saved->verifies},
                                    image->work->err));
}

void kr_saved_fill(kr_image *image, const kr_field *field, kr_buffer *buffer)
{
    kr_work *w = image->work;
    const kr_saved *saved = (const kr_saved *)image->source;
    if (w->device->ops->is_host && saved->is_mapped) {
        *buffer = (kr_buffer){(void *)(saved->base + field->offset), field->value, 1};
        kr_saved_copy(image, field, NULL);
        return;
    }
    KR_STEP(w, kr_buffer_allocate(w->device, field->value, w->stream, field->name, NULL, buffer, w->err));
    if (!kr_work_goes_on(w))
        return;
    if (w->device->ops->is_host)
        kr_saved_copy(image, field, buffer->data);
    else
        upload_array(image, saved, field, buffer->data);
}
