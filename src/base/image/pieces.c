/* Head, arrays with zeros between them, directory: a piece is one of these or a part of an array, whose
 * blocks are summed as it goes by. Arrays of a device that is not the host come through two pinned buffers:
 * the copy of the next part is under way while the caller has this one. */
#include "base/image/pieces.h"
#include "base/image/crc32c.h"
#include "base/util/pool.h"

#include <stdlib.h>

enum { PIECE_NBYTES = 16 * KR_SAVED_BLOCK_NBYTES, BUFFERS = 2, MOST_THREADS = 16 };

/* Bytes of an array, from the beginning of a block. */
typedef struct part {
    uint32_t field;
    uint64_t first, n;
} part;

struct kr_pieces {
    kr_pieces_of of;
    uint64_t version; /* when it began */
    kr_field_list list;
    kr_saved_layout layout;
    uint64_t position; /* bytes so far */
    part due;          /* the next part; field list.n: there is none */
    int failed;
    unsigned char head[KR_SAVED_HEAD_NBYTES];
    unsigned char *directory;
    /* Of devices that are not the host. */
    kr_stream *stream;
    void *pinned[BUFFERS];
    uint32_t turn;
    part ahead; /* is being copied to pinned[turn]; n 0: none */
};

/* From `from` on, where the fields before are done: the first array that has bytes. */
static part part_from(const kr_pieces *pieces, part from)
{
    const kr_field_list *list = &pieces->list;
    while (from.field < list->n &&
           (list->fields[from.field].kind != KR_FIELD_ARRAY || from.first >= list->fields[from.field].value))
        from = (part){.field = from.field + 1};
    const uint64_t left = from.field < list->n ? list->fields[from.field].value - from.first : 0;
    from.n = left < PIECE_NBYTES ? left : PIECE_NBYTES;
    return from;
}

static part part_after(const kr_pieces *pieces, part of)
{
    return part_from(pieces, (part){.field = of.field, .first = of.first + of.n});
}

/* ---- Making ----------------------------------------------------------------------------------- */

static kr_status open_buffers(kr_pieces *made, kr_error *err)
{
    kr_device *device = made->of.device;
    kr_status status = KR_OK;
    if (device->ops->is_host)
        return KR_OK;
    status = kr_stream_create(device, &made->stream, err);
    if (status == KR_OK && made->of.ready)
        status = device->ops->event_wait(device, made->of.ready, made->stream->native, err);
    const uint64_t most =
        made->layout.directory_offset < PIECE_NBYTES ? made->layout.directory_offset : PIECE_NBYTES;
    for (int i = 0; i < BUFFERS && status == KR_OK; ++i) {
        made->pinned[i] = device->ops->stage(device, most, err);
        status = made->pinned[i] ? KR_OK : KR_ERR_HOST_MEMORY;
    }
    return status;
}

kr_status kr_pieces_make(kr_image *image, const kr_pieces_of *of, kr_pieces **pieces)
{
    kr_work *w = image->work;
    kr_pieces *made = kr_work_object(w, sizeof *made, "a file in pieces");
    if (!made)
        return w->status;
    made->of = *of;
    made->version = *of->version;
    made->list = image->list;
    image->list = (kr_field_list){0};
    KR_STEP(w, kr_saved_lay_out(&made->list, &made->layout, w->err));
    made->directory = kr_work_array(w, made->layout.directory_nbytes, 1, "the directory of a file");
    KR_STEP(w, open_buffers(made, w->err));
    if (!kr_work_goes_on(w)) {
        kr_pieces_destroy(made);
        return w->status;
    }
    kr_saved_write_head(&made->layout, made->head);
    made->due = part_from(made, (part){0});
    *pieces = made;
    return KR_OK;
}

void kr_pieces_destroy(kr_pieces *pieces)
{
    if (!pieces)
        return;
    kr_stream_destroy(pieces->stream); /* waits for copies */
    for (int i = 0; i < BUFFERS; ++i)
        if (pieces->pinned[i])
            pieces->of.device->ops->unstage(pieces->of.device, pieces->pinned[i]);
    free(pieces->directory);
    kr_field_list_release(&pieces->list);
    free(pieces);
}

uint64_t kr_pieces_nbytes(const kr_pieces *pieces)
{
    return pieces ? pieces->layout.nbytes : 0;
}

/* ---- Pieces ----------------------------------------------------------------------------------- */

static kr_status enqueue(kr_pieces *pieces, part of, kr_error *err)
{
    const kr_field *field = &pieces->list.fields[of.field];
    kr_device *device = pieces->of.device;
    pieces->ahead = of;
    return device->ops->copy(device, pieces->pinned[pieces->turn], (const char *)field->data + of.first, of.n,
                             pieces->stream->native, err);
}

/* Of a device's array: the copy that is under way, or a first one; then the next begins. */
static kr_status fetch(kr_pieces *pieces, const void **data, kr_error *err)
{
    const part of = pieces->due;
    kr_status status = KR_OK;
    if (pieces->ahead.n == 0 || pieces->ahead.field != of.field || pieces->ahead.first != of.first)
        status = enqueue(pieces, of, err);
    if (status == KR_OK)
        status = kr_device_sync(pieces->of.device, pieces->stream, err);
    if (status != KR_OK)
        return status;
    *data = pieces->pinned[pieces->turn];
    pieces->turn = (pieces->turn + 1) % BUFFERS;
    pieces->ahead = (part){0};
    const part next = part_after(pieces, of);
    if (next.field < pieces->list.n && pieces->list.fields[next.field].on_device)
        return enqueue(pieces, next, err);
    return KR_OK;
}

typedef struct summing {
    const unsigned char *data;
    const part *of;
    uint32_t *sums; /* of the first block */
} summing;

static void sum_blocks(void *ctx, uint32_t worker, uint64_t first, uint64_t end)
{
    const summing *s = ctx;
    (void)worker;
    for (uint64_t i = first; i < end; ++i) {
        const uint64_t begin = i * KR_SAVED_BLOCK_NBYTES, left = s->of->n - begin;
        s->sums[i] =
            kr_crc32c(0, s->data + begin, left < KR_SAVED_BLOCK_NBYTES ? left : KR_SAVED_BLOCK_NBYTES);
    }
}

static kr_status next_part(kr_pieces *pieces, const void **data, uint64_t *nbytes, kr_error *err)
{
    const part of = pieces->due;
    const kr_field *field = &pieces->list.fields[of.field];
    kr_status status = KR_OK;
    *data = (const char *)field->data + of.first;
    if (field->on_device)
        status = fetch(pieces, data, err);
    if (status != KR_OK)
        return status;
    const uint32_t wanted = pieces->of.device->options.threads, cores = wanted ? wanted : kr_pool_cores();
    summing s = {*data, &of, field->sums + of.first / KR_SAVED_BLOCK_NBYTES};
    kr_pool_run(cores < MOST_THREADS ? cores : MOST_THREADS,
                (of.n + KR_SAVED_BLOCK_NBYTES - 1) / KR_SAVED_BLOCK_NBYTES, 1, sum_blocks, &s);
    *nbytes = of.n;
    pieces->due = part_after(pieces, of);
    return KR_OK;
}

static kr_status next_piece(kr_pieces *pieces, const void **data, uint64_t *nbytes, kr_error *err)
{
    static const unsigned char zeros[KR_SAVED_ALIGNMENT];
    const kr_field_list *list = &pieces->list;
    const kr_saved_layout *layout = &pieces->layout;
    const uint64_t next = pieces->due.field < list->n
                              ? list->fields[pieces->due.field].offset + pieces->due.first
                              : layout->directory_offset;
    if (pieces->position == 0) {
        *data = pieces->head;
        *nbytes = sizeof pieces->head;
    } else if (pieces->position < next) {
        *data = zeros;
        *nbytes = next - pieces->position;
    } else if (pieces->due.field < list->n) {
        return next_part(pieces, data, nbytes, err);
    } else if (pieces->position < layout->nbytes) {
        kr_saved_write_directory(list, layout, pieces->directory);
        *data = pieces->directory;
        *nbytes = layout->directory_nbytes;
    }
    return KR_OK;
}

kr_status kr_pieces_next(void *ctx, const void **data, uint64_t *nbytes, double *fraction, kr_error *err)
{
    kr_pieces *pieces = ctx;
    if (!pieces || !data || !nbytes)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_pieces_next: %s is NULL",
                       !pieces ? "pieces"
                       : data  ? "nbytes"
                               : "data");
    if (pieces->failed)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_pieces_next: a piece before could not be made; begin again");
    const void *piece = NULL;
    uint64_t n = 0;
    kr_status status = KR_OK;
    if (*pieces->of.version != pieces->version)
        status =
            kr_fail(err, KR_ERR_ARGUMENT,
                    "the %s was changed while it was saved, so what was saved so far is of no use; save it "
                    "again, and change it afterwards",
                    pieces->of.what);
    if (status == KR_OK)
        status = next_piece(pieces, &piece, &n, err);
    if (status != KR_OK) {
        pieces->failed = 1;
        return status;
    }
    pieces->position += n;
    *data = piece;
    *nbytes = n;
    if (fraction)
        *fraction = (double)pieces->position / (double)pieces->layout.nbytes;
    return KR_OK;
}
