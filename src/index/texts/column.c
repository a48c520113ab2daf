#include "index/texts/column.h"

#include <stdlib.h>

static uint32_t form_of(kr_type type)
{
    return type == KR_STRING || type == KR_BINARY               ? KR_STRINGS_OFFSETS32
           : type == KR_LARGE_STRING || type == KR_LARGE_BINARY ? KR_STRINGS_OFFSETS64
                                                                : KR_STRINGS_VIEWS;
}

/* Bytes of an element of `data`, and what it must be aligned to. */
static uint64_t width_of(kr_type type)
{
    const uint32_t form = form_of(type);
    return form == KR_STRINGS_OFFSETS32 ? 4 : form == KR_STRINGS_OFFSETS64 ? 8 : KR_STRINGS_VIEW;
}

static const void *address_of(const kr_column *column)
{
    return (const void *)(uintptr_t)column->reserved_words[0];
}

/* ---- Checks ----------------------------------------------------------------------------------- */

/* Which arrays are checked to be where the device can read them; NULL: all are in host memory. */
static kr_status check_place(kr_device *device, const void *array, const char *what, int *reaches,
                             kr_error *err)
{
    return device ? kr_pointer_check(device, array, what, reaches, err) : KR_OK;
}

static kr_status check_buffers(kr_device *device, const kr_column *column, const char *what, int *reaches,
                               kr_error *err)
{
    const kr_text_buffer *buffers = address_of(column);
    const uint64_t n = column->reserved_words[1];
    kr_status status = KR_OK;
    if ((!buffers && n) || (uintptr_t)buffers % sizeof(uint64_t) || n > INT32_MAX)
        return kr_fail(
            err, KR_ERR_ARGUMENT,
            "%s: reserved_words of views must be the address of an array of kr_text_buffer in host "
            "memory and its length",
            what);
    for (uint64_t i = 0; status == KR_OK && i < n; ++i) {
        if (!buffers[i].data && buffers[i].nbytes)
            return kr_fail(err, KR_ERR_ARGUMENT, "%s: buffer %llu has %llu bytes but its address is NULL",
                           what, (unsigned long long)i, (unsigned long long)buffers[i].nbytes);
        status = check_place(device, buffers[i].data, what, reaches, err);
    }
    return status;
}

kr_status kr_strings_check(kr_device *device, const kr_column *column, const char *what, int *reaches,
                           kr_error *err)
{
    if (!column)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: the column is NULL", what);
    if (!kr_strings_are(column->type))
        return kr_fail(err, KR_ERR_TYPE,
                       "%s: %s, but texts are wanted: use KR_STRING or another of the text types", what,
                       kr_type_name(column->type) ? kr_type_name(column->type) : "not a column type");
    if (column->reserved || column->dictionary)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: %s of a column of texts must be 0; zero the struct first",
                       what, column->reserved ? "reserved" : "dictionary");
    if (column->count > INT64_MAX / KR_STRINGS_VIEW - 1)
        return kr_fail(err, KR_ERR_LIMIT, "%s: %llu rows are more than memory can hold", what,
                       (unsigned long long)column->count);
    if (column->validity && column->validity_offset > INT64_MAX - column->count)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: validity_offset %llu is beyond any memory", what,
                       (unsigned long long)column->validity_offset);
    const uint64_t width = width_of(column->type), aligned = width < 8 ? width : 8;
    if ((uintptr_t)column->data % aligned)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: data of type %s must be aligned to %u bytes", what,
                       kr_type_name(column->type), (unsigned)aligned);
    if (!column->data && column->count)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: %llu rows but no data", what,
                       (unsigned long long)column->count);
    kr_status status = check_place(device, column->data, what, reaches, err);
    if (status == KR_OK)
        status = check_place(device, column->validity, what, reaches, err);
    if (status != KR_OK)
        return status;
    if (form_of(column->type) == KR_STRINGS_VIEWS)
        return check_buffers(device, column, what, reaches, err);
    if (!address_of(column) && column->reserved_words[1])
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: %llu bytes (reserved_words[1]) but their address is NULL",
                       what, (unsigned long long)column->reserved_words[1]);
    return check_place(device, address_of(column), what, reaches, err);
}

static const char *const reasons[KR_STRINGS_REASONS] = {
    [KR_STRINGS_FALL] = "its end lies before its beginning: offsets must not fall",
    [KR_STRINGS_OUTSIDE] = "its offsets are not within the bytes that reserved_words[1] says",
    [KR_STRINGS_NEGATIVE] = "its view has a length or an offset below 0",
    [KR_STRINGS_NO_BUFFER] = "its view names a buffer that is not there (reserved_words[1] is their number)",
    [KR_STRINGS_BEHIND] = "its view reaches behind the end of its buffer",
    [KR_STRINGS_PREFIX] = "its view and its buffer begin with other bytes: the buffer was changed or freed",
};

static kr_status refuse_row(const char *what, uint64_t row, uint32_t wrong, kr_error *err)
{
    return kr_fail(err, KR_ERR_ARGUMENT, "%s, row %llu: %s", what, (unsigned long long)row,
                   wrong < KR_STRINGS_REASONS && reasons[wrong] ? reasons[wrong] : "it cannot be read");
}

void kr_strings_refuse(kr_work *w, const uint64_t *bad, uint64_t first, const char *what)
{
    uint64_t found = 0;
    kr_work_read(w, &found, bad, sizeof found);
    if (kr_work_goes_on(w) && found)
        KR_STEP(w, refuse_row(what, first + (((uint64_t)1 << 59) - (found >> 4)), (uint32_t)(found & 15),
                              w->err));
}

/* ---- On the host ------------------------------------------------------------------------------ */

kr_status kr_strings_row(const kr_column *column, uint64_t row, const char *what, kr_strings_text *text,
                         kr_error *err)
{
    kr_strings rows = {.data = column->data,
                       .validity = column->validity,
                       .validity_offset = column->validity_offset,
                       .end = column->reserved_words[1],
                       .form = form_of(column->type)};
    if (rows.form == KR_STRINGS_VIEWS)
        rows.buffers = address_of(column);
    else
        rows.bytes = address_of(column);
    const uint32_t wrong = kr_strings_read(&rows, row, text);
    return wrong ? refuse_row(what, row, wrong, err) : KR_OK;
}

uint64_t kr_strings_nbytes(const kr_column *column)
{
    const kr_text_buffer *buffers = address_of(column);
    uint64_t nbytes = 0;
    if (form_of(column->type) != KR_STRINGS_VIEWS)
        return column->reserved_words[1];
    for (uint64_t i = 0; buffers && i < column->reserved_words[1]; ++i)
        nbytes += buffers[i].nbytes;
    return nbytes + column->count * KR_STRINGS_INLINE;
}

int kr_strings_have_buffers(const kr_column *column)
{
    return form_of(column->type) == KR_STRINGS_VIEWS;
}

/* ---- To the device ---------------------------------------------------------------------------- */

static const void *bring(kr_work *w, const void *array, uint64_t nbytes, const char *what)
{
    if (!array || nbytes == 0 || kr_device_reaches(w->device, array))
        return array;
    void *copy = kr_work_take(w, nbytes, what);
    KR_STEP(w, kr_column_upload(w->device, copy, array, nbytes, w->stream, w->err));
    return copy;
}

/* Buffers that the device does not reach get one copy of all, and the array that names them another. */
static const kr_text_buffer *bring_buffers(kr_work *w, const kr_text_buffer *buffers, uint64_t n)
{
    uint64_t nbytes = 0, used = 0;
    if (w->device->ops->is_host || n == 0)
        return buffers;
    for (uint64_t i = 0; i < n; ++i)
        if (buffers[i].nbytes && !kr_device_reaches(w->device, buffers[i].data))
            nbytes += (buffers[i].nbytes + 15) & ~(uint64_t)15;
    char *copies = kr_work_take(w, nbytes, "a copy of buffers of texts");
    kr_text_buffer *list = kr_work_array(w, n, sizeof *list, "buffers of texts");
    kr_text_buffer *here = kr_work_take(w, n * sizeof *list, "buffers of texts");
    for (uint64_t i = 0; i < n && kr_work_goes_on(w); ++i) {
        list[i] = buffers[i];
        if (buffers[i].nbytes == 0 || kr_device_reaches(w->device, buffers[i].data))
            continue;
        list[i].data = copies + used;
        used += (buffers[i].nbytes + 15) & ~(uint64_t)15;
        KR_STEP(w, kr_column_upload(w->device, (void *)(uintptr_t)list[i].data, buffers[i].data,
                                    buffers[i].nbytes, w->stream, w->err));
    }
    KR_STEP(w, kr_column_upload(w->device, here, list, n * sizeof *list, w->stream, w->err));
    free(list);
    return here;
}

kr_strings kr_strings_open(kr_work *w, const kr_column *column)
{
    kr_strings open = {.form = form_of(column->type), .end = column->reserved_words[1]};
    if (open.form == KR_STRINGS_VIEWS)
        open.buffers = column->reserved ? address_of(column) : bring_buffers(w, address_of(column), open.end);
    else
        open.bytes = address_of(column);
    return open;
}

/* Offset i, wherever it lies. */
static int64_t offset_at(kr_work *w, const kr_column *column, uint64_t i)
{
    const char *at = (const char *)column->data + i * width_of(column->type);
    int64_t far = 0;
    int32_t near = 0;
    if (width_of(column->type) == 8)
        kr_work_read(w, &far, at, sizeof far);
    else
        kr_work_read(w, &near, at, sizeof near);
    return width_of(column->type) == 8 ? far : near;
}

/* Of offsets that are broken. Those in host memory say which row. */
static kr_status refuse_offsets(kr_work *w, const kr_column *column, uint64_t first, uint64_t n,
                                const char *what)
{
    kr_column offsets = *column;
    kr_strings_text text;
    kr_status status = KR_OK;
    offsets.validity = NULL;
    if (!kr_device_reaches(w->device, column->data))
        for (uint64_t i = 0; i < n && status == KR_OK; ++i)
            status = kr_strings_row(&offsets, first + i, what, &text, w->err);
    return status != KR_OK ? status
                           : kr_fail(w->err, KR_ERR_ARGUMENT,
                                     "%s, rows %llu to %llu: their offsets are not within the bytes that "
                                     "reserved_words[1] says",
                                     what, (unsigned long long)first, (unsigned long long)(first + n - 1));
}

/* Of bytes in host memory those of some rows. Where offsets in between are broken, programs say so. */
static void bring_bytes(kr_work *w, const kr_column *column, kr_strings *rows, uint64_t first, uint64_t n,
                        const char *what)
{
    if (!rows->bytes || kr_device_reaches(w->device, rows->bytes))
        return;
    const int64_t from = offset_at(w, column, first), to = offset_at(w, column, first + n);
    if (kr_work_goes_on(w) && (from < 0 || to < from || (uint64_t)to > rows->end))
        KR_STEP(w, refuse_offsets(w, column, first, n, what));
    if (!kr_work_goes_on(w))
        return;
    rows->base = (uint64_t)from;
    rows->end = (uint64_t)to;
    rows->bytes = bring(w, rows->bytes + from, (uint64_t)(to - from), "a copy of texts");
}

kr_strings kr_strings_bring(kr_work *w, const kr_column *column, const kr_strings *open, uint64_t first,
                            uint64_t n, const char *what)
{
    const uint64_t width = width_of(column->type);
    kr_strings rows = *open;
    if (n == 0)
        return rows;
    const kr_column bits = {.type = KR_U8,
                            .count = n,
                            .validity = column->validity,
                            .validity_offset = column->validity_offset + first};
    const kr_column here = kr_column_bring(w, &bits, what);
    rows.validity = here.validity;
    rows.validity_offset = here.validity_offset;
    rows.data = bring(w, (const char *)column->data + first * width,
                      (n + (open->form != KR_STRINGS_VIEWS)) * width, "a copy of offsets of texts");
    bring_bytes(w, column, &rows, first, n, what);
    return rows;
}

uint64_t kr_strings_piece(kr_device *device, const kr_column *column, uint64_t first, uint64_t rows,
                          uint64_t nbytes)
{
    const uint64_t left = column->count - first;
    uint64_t n = left < rows ? left : rows;
    const void *bytes = address_of(column);
    if (form_of(column->type) == KR_STRINGS_VIEWS || !bytes || kr_device_reaches(device, bytes) ||
        kr_device_reaches(device, column->data))
        return n;
    const int64_t *far = column->data;
    const int32_t *near = column->data;
    const int wide = width_of(column->type) == 8;
    const uint64_t from = (uint64_t)(wide ? far[first] : near[first]);
    while (n > 1 && (uint64_t)(wide ? far[first + n] : near[first + n]) - from > nbytes)
        n /= 2;
    return n;
}
