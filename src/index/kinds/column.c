#include "index/kinds/column.h"
#include "base/util/copy.h"

kr_status kr_column_check_shape(kr_device *device, const kr_column *column, const char *what, int *reaches,
                                kr_error *err)
{
    if (!column)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: the column is NULL", what);
    const uint32_t nbytes = kr_type_nbytes(column->type);
    if (nbytes == 0 && kr_type_name(column->type))
        return kr_fail(err, KR_ERR_TYPE,
                       "%s: this call takes no texts (%s); kr_texts_encode makes u32 codes of them", what,
                       kr_type_name(column->type));
    if (nbytes == 0)
        return kr_fail(err, KR_ERR_TYPE, "%s: %d is not a column type; use one of kr_type", what,
                       (int)column->type);
    const uint64_t *words = column->reserved_words;
    if (column->reserved || words[0] || words[1])
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: the reserved fields must be 0; zero the struct first",
                       what);
    if (column->dictionary && column->type != KR_U32)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "%s: %s with a dictionary, but codes of texts are u32; set kr_column.dictionary to 0",
                       what, kr_type_name(column->type));
    if (column->count > INT64_MAX / 8)
        return kr_fail(err, KR_ERR_LIMIT, "%s: %llu rows are more than memory can hold", what,
                       (unsigned long long)column->count);
    if (column->validity && column->validity_offset > INT64_MAX - column->count)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: validity_offset %llu is beyond any memory", what,
                       (unsigned long long)column->validity_offset);
    if ((uintptr_t)column->data % nbytes)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: data of type %s must be aligned to %u bytes", what,
                       kr_type_name(column->type), nbytes);
    const kr_status status = kr_pointer_check(device, column->data, what, reaches, err);
    return status == KR_OK ? kr_pointer_check(device, column->validity, what, reaches, err) : status;
}

kr_status kr_column_check(kr_device *device, const kr_column *column, const char *what, int *reaches,
                          kr_error *err)
{
    const kr_status status = kr_column_check_shape(device, column, what, reaches, err);
    if (status == KR_OK && !column->data && column->count)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: %llu rows but no data", what,
                       (unsigned long long)column->count);
    return status;
}

kr_status kr_column_check_texts(const char *what, uint64_t dictionary, const char *other,
                                uint64_t other_dictionary, kr_error *err)
{
    if (dictionary == other_dictionary)
        return KR_OK;
    if (dictionary && other_dictionary)
        return kr_fail(err, KR_ERR_TYPE,
                       "%s and %s have texts of different dictionaries, where one code says two texts; "
                       "kr_texts_encode, of files kr_file_convert, gives one the codes of the other",
                       what, other);
    return kr_fail(err, KR_ERR_TYPE,
                   "%s has texts, but %s has numbers (kr_column.dictionary is 0): a copy of codes takes the "
                   "dictionary of the column along",
                   dictionary ? what : other, dictionary ? other : what);
}

kr_column kr_column_slice(const kr_column *column, uint64_t first, uint64_t n)
{
    kr_column part = *column;
    part.data = (const char *)column->data + first * kr_type_nbytes(column->type);
    part.validity_offset += first;
    part.count = n;
    return part;
}

int kr_column_is_reached(kr_device *device, const kr_column *column)
{
    return !column || ((!column->data || kr_device_reaches(device, column->data)) &&
                       (!column->validity || kr_device_reaches(device, column->validity)));
}

enum { UPLOAD_NBYTES = 16 << 20, UPLOAD_BUFFERS = 2, PINNED_FROM = 1 << 20 };

/* One half of the double buffer: free again once its event has passed. */
typedef struct upload_buffer {
    void *pinned;
    void *event;
} upload_buffer;

static kr_status upload_in_turn(kr_device *device, upload_buffer *buffers, char *to, const char *from,
                                uint64_t nbytes, kr_stream *stream, kr_error *err)
{
    void *native = kr_stream_native(device, stream);
    kr_status status = KR_OK;
    for (uint64_t done = 0, turn = 0; status == KR_OK && done < nbytes; ++turn) {
        upload_buffer *buffer = &buffers[turn % UPLOAD_BUFFERS];
        const uint64_t n = nbytes - done < UPLOAD_NBYTES ? nbytes - done : UPLOAD_NBYTES;
        if (turn >= UPLOAD_BUFFERS)
            status = device->ops->event_sync(device, buffer->event, err);
        if (status != KR_OK)
            break;
        kr_host_copy(buffer->pinned, from + done, n);
        status = device->ops->copy(device, to + done, buffer->pinned, n, native, err);
        if (status == KR_OK)
            status = device->ops->event_record(device, buffer->event, native, err);
        done += n;
        if (status == KR_OK)
            status =
                kr_progress_report(&device->options.progress, "copy", (double)done / (double)nbytes, err);
    }
    const kr_status end = kr_device_sync(device, stream, status == KR_OK ? err : NULL);
    return status == KR_OK ? end : status;
}

kr_status kr_column_upload(kr_device *device, void *to, const void *from, uint64_t nbytes, kr_stream *stream,
                           kr_error *err)
{
    upload_buffer buffers[UPLOAD_BUFFERS] = {{0}};
    kr_status status = KR_OK;
    if (nbytes < PINNED_FROM || kr_device_pins(device, from, nbytes)) {
        status = kr_device_copy(device, to, from, nbytes, stream, err);
        return status == KR_OK ? kr_device_sync(device, stream, err) : status;
    }
    for (int i = 0; i < UPLOAD_BUFFERS && status == KR_OK; ++i) {
        buffers[i].pinned = device->ops->stage(device, UPLOAD_NBYTES, err);
        status = buffers[i].pinned ? device->ops->event_create(device, &buffers[i].event, err)
                                   : KR_ERR_HOST_MEMORY;
    }
    if (status == KR_OK)
        status = upload_in_turn(device, buffers, to, from, nbytes, stream, err);
    for (int i = 0; i < UPLOAD_BUFFERS; ++i) {
        if (buffers[i].event)
            device->ops->event_destroy(device, buffers[i].event);
        if (buffers[i].pinned)
            device->ops->unstage(device, buffers[i].pinned);
    }
    return status;
}

kr_status kr_column_bring_bytes(kr_device *device, void *to, const void *from, uint64_t nbytes,
                                kr_stream *stream, kr_error *err)
{
    const uint64_t piece = device->ops->is_host ? UPLOAD_NBYTES : nbytes;
    kr_status status = KR_OK;
    if (!kr_device_reaches(device, from))
        return kr_column_upload(device, to, from, nbytes, stream, err);
    for (uint64_t done = 0; status == KR_OK && done < nbytes; done += piece) {
        const uint64_t n = nbytes - done < piece ? nbytes - done : piece;
        status = kr_device_copy(device, (char *)to + done, (const char *)from + done, n, stream, err);
        if (status == KR_OK && done + n < nbytes)
            status = kr_device_report(device, "copy", nbytes, (double)(done + n) / (double)nbytes, err);
    }
    return status;
}

/* Copies one array, unless the device already reaches it. */
static const void *bring(kr_work *w, const void *array, uint64_t nbytes, const char *what)
{
    if (!array || nbytes == 0 || kr_device_reaches(w->device, array))
        return array;
    void *copy = kr_work_take(w, nbytes, what);
    KR_STEP(w, kr_column_upload(w->device, copy, array, nbytes, w->stream, w->err));
    return copy;
}

kr_column kr_column_bring(kr_work *w, const kr_column *column, const char *what)
{
    kr_column here = *column;
    const void *validity = column->validity ? column->validity + column->validity_offset / 8 : NULL;
    here.validity_offset = column->validity_offset % 8;
    here.data = bring(w, column->data, column->count * kr_type_nbytes(column->type), what);
    here.validity = bring(w, validity, kr_column_validity_nbytes(column), "a validity bitmap");
    return here;
}

kr_status kr_column_resident_make(kr_device *device, const kr_column *column, const char *what,
                                  kr_stream *stream, kr_resident *resident, kr_error *err)
{
    kr_work w = kr_work_on(device, stream, err);
    kr_resident made = {.column = kr_column_bring(&w, column, what)};
    made.data = kr_work_keep(&w, made.column.data);
    made.validity = kr_work_keep(&w, made.column.validity);
    if (kr_work_goes_on(&w))
        *resident = made;
    return kr_work_end(&w);
}

void kr_column_resident_release(kr_device *device, kr_resident *resident, kr_stream *stream)
{
    kr_buffer_release(device, &resident->validity, stream);
    kr_buffer_release(device, &resident->data, stream);
}
