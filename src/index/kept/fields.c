#include "index/kept/fields.h"
#include "index/kept/travel.h"

#include <stdlib.h>

static uint64_t aligned(uint64_t nbytes)
{
    return (nbytes + KEPT_ALIGNMENT - 1) / KEPT_ALIGNMENT * KEPT_ALIGNMENT;
}

/* Bytes of a field that lie in memory; a text has a NUL behind it. */
static uint64_t memory_of(const kr_field *field)
{
    return field->kind == KR_FIELD_NUMBER ? 0 : field->value + (field->kind == KR_FIELD_TEXT);
}

void fields_note(kr_work *w, kr_divided *d, kept_part *part, void *self)
{
    const kr_image_of of = {.spec = &d->spec, .type = divided_code_type(d)};
    kr_image image = kr_image_to_save(w);
    d->family->image(&image, &of, &self);
    part->fields = image.list;
    image.list = (kr_field_list){0};
    kr_image_end(&image);
    for (uint32_t i = 0; i < part->fields.n; ++i)
        part->nbytes += aligned(memory_of(&part->fields.fields[i]));
}

static void take_memory(kr_work *w, kr_divided *d, kept_part *part)
{
    kr_device *device = d->device;
    if (!kr_work_goes_on(w))
        return;
    divided_fail_on_host(w, kr_buffer_allocate(d->host, part->nbytes, NULL, "a part of an index of keep=host",
                                               "its entries must fit in host memory: release some",
                                               &part->memory, w->err));
    if (!kr_work_goes_on(w) || !part->memory.data || !device->ops->pin)
        return;
    const kr_status status = device->ops->pin(device, part->memory.data, part->memory.nbytes, w->err);
    KR_STEP(w, status);
    part->is_pinned = status == KR_OK;
}

void fields_take(kr_work *w, kr_divided *d, kept_part *part, void *self)
{
    fields_note(w, d, part, self);
    take_memory(w, d, part);
    char *at = part->memory.data;
    for (uint32_t i = 0; i < part->fields.n && kr_work_goes_on(w); ++i) {
        kr_field *field = &part->fields.fields[i];
        const uint64_t nbytes = memory_of(field);
        if (!nbytes)
            continue;
        kr_work_copy(w, at, field->data, nbytes);
        field->data = at;
        field->on_device = 0;
        at += aligned(nbytes);
    }
    kr_work_finish(w);
}

void fields_open(kr_work *w, kr_divided *d, uint32_t p)
{
    kept_part *part = &d->parts[p];
    kr_work host = kr_work_on(d->host, NULL, w->err);
    if (!kr_work_goes_on(w))
        return;
    kr_index *index = kr_work_object(&host, sizeof *index, "a part of an index");
    void *self = travel_load(&host, d, p, NULL);
    if (self) {
        divided_describe_part(d, p, d->host, self, index);
        part->on_host = index;
    } else
        free(index);
    divided_fail_on_host(w, kr_work_end(&host));
    d->nbytes += part->nbytes;
    d->largest_nbytes = part->nbytes > d->largest_nbytes ? part->nbytes : d->largest_nbytes;
}
