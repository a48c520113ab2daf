#include "base/image/image.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

kr_image kr_image_to_save(kr_work *work)
{
    return (kr_image){.task = KR_IMAGE_SAVE, .work = work};
}

kr_image kr_image_to_load(kr_work *work, const kr_image_source *source)
{
    return (kr_image){.task = KR_IMAGE_LOAD, .work = work, .source = source};
}

void kr_image_refuse(kr_image *image, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    KR_STEP(image->work, kr_fail(image->work->err, KR_ERR_FORMAT, "%s does not hold what it says: %s",
                                 image->source ? image->source->name : "the image", text));
}

/* ---- Copies ----------------------------------------------------------------------------------- */

static void fill_again(kr_image *image, const kr_field *field, kr_buffer *buffer)
{
    kr_work *w = image->work;
    if (field->shared) {
        KR_STEP(w, kr_buffer_share(field->shared, field->value, buffer, w->err));
        return;
    }
    KR_STEP(w, kr_buffer_allocate(w->device, field->value, w->stream, field->name,
                                  "a version lies beside the older one; destroy versions that nobody reads",
                                  buffer, w->err));
    kr_work_copy(w, buffer->data, field->data, field->value);
}

static void read_again(kr_image *image, const kr_field *field, void *to)
{
    (void)image;
    memcpy(to, field->data, field->value);
}

void kr_image_copy(kr_work *work, void (*walk)(kr_image *image, void **self, void *ctx), void *ctx,
                   void **self, void **made)
{
    kr_image from = kr_image_to_save(work);
    walk(&from, self, ctx);
    const kr_image_source source = {.fields = from.list.fields,
                                    .n = from.list.n,
                                    .name = "the older version",
                                    .fill = fill_again,
                                    .read = read_again};
    kr_image to = kr_image_to_load(work, &source);
    if (kr_work_goes_on(work))
        walk(&to, made, ctx);
    kr_image_end(&to);
    kr_image_end(&from);
    if (!kr_work_goes_on(work))
        kr_work_finish(work);
}

/* ---- Names ------------------------------------------------------------------------------------ */

static void fail_name(kr_image *image, const char *name)
{
    KR_STEP(image->work, kr_fail(image->work->err, KR_ERR_INTERNAL,
                                 "the name of field %s%s is too long; report this", image->scope, name));
}

uint32_t kr_image_enter(kr_image *image, const char *name)
{
    const size_t before = strlen(image->scope), room = sizeof image->scope - before;
    if ((size_t)snprintf(image->scope + before, room, "%s.", name) >= room)
        fail_name(image, name);
    return (uint32_t)before;
}

uint32_t kr_image_enter_nth(kr_image *image, const char *name, uint32_t i)
{
    char text[KR_FIELD_NAME_NBYTES];
    snprintf(text, sizeof text, "%s %u", name, i);
    return kr_image_enter(image, text);
}

void kr_image_leave(kr_image *image, uint32_t entered)
{
    image->scope[entered] = '\0';
}

static int full_name(kr_image *image, const char *name, char full[KR_FIELD_NAME_NBYTES])
{
    if (!kr_work_goes_on(image->work))
        return 0;
    if (snprintf(full, KR_FIELD_NAME_NBYTES, "%s%s", image->scope, name) >= KR_FIELD_NAME_NBYTES)
        fail_name(image, name);
    return kr_work_goes_on(image->work);
}

/* ---- One field -------------------------------------------------------------------------------- */

/* SAVE: a new field of the list; NULL after a failure. */
static kr_field *note(kr_image *image, kr_field_kind kind, const char *name)
{
    char full[KR_FIELD_NAME_NBYTES];
    if (!full_name(image, name, full))
        return NULL;
    kr_field *field = kr_field_add(&image->list, kind, full, image->work->err);
    if (!field)
        KR_STEP(image->work, KR_ERR_HOST_MEMORY);
    return field;
}

/* LOAD: the field that is due; NULL after a failure, as when it is another one. */
static const kr_field *due(kr_image *image, kr_field_kind kind, const char *name)
{
    char full[KR_FIELD_NAME_NBYTES];
    if (!full_name(image, name, full))
        return NULL;
    const kr_field *field = image->next < image->source->n ? &image->source->fields[image->next++] : NULL;
    if (field && field->kind == kind && strcmp(field->name, full) == 0)
        return field;
    kr_image_refuse(image, "field '%s' is due, and there is %s%s%s", full, field ? "'" : "none",
                    field ? field->name : "", field ? "'" : "");
    return NULL;
}

int kr_image_offers(kr_image *image, const char *name, int has)
{
    char full[KR_FIELD_NAME_NBYTES];
    if (image->task != KR_IMAGE_LOAD)
        return has;
    return full_name(image, name, full) && image->next < image->source->n &&
           strcmp(image->source->fields[image->next].name, full) == 0;
}

uint64_t kr_image_left(const kr_image *image)
{
    return image->task == KR_IMAGE_LOAD ? image->source->n - image->next : UINT64_MAX;
}

static void number(kr_image *image, const char *name, uint64_t *value)
{
    if (image->task == KR_IMAGE_SAVE) {
        kr_field *field = note(image, KR_FIELD_NUMBER, name);
        if (field)
            field->value = *value;
    }
    if (image->task == KR_IMAGE_LOAD) {
        const kr_field *field = due(image, KR_FIELD_NUMBER, name);
        if (field)
            *value = field->value;
    }
}

void kr_image_u64(kr_image *image, const char *name, uint64_t *value, uint64_t least, uint64_t most)
{
    uint64_t found = *value;
    number(image, name, &found);
    if (!kr_image_loads(image))
        return;
    if (found < least || found > most)
        kr_image_refuse(image, "%s%s is %llu, and may be %llu to %llu", image->scope, name,
                        (unsigned long long)found, (unsigned long long)least, (unsigned long long)most);
    else
        *value = found;
}

void kr_image_u32(kr_image *image, const char *name, uint32_t *value, uint32_t least, uint32_t most)
{
    uint64_t wide = *value;
    kr_image_u64(image, name, &wide, least, most);
    if (kr_image_loads(image))
        *value = (uint32_t)wide;
}

void kr_image_f64(kr_image *image, const char *name, double *value)
{
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    number(image, name, &bits);
    if (kr_image_loads(image))
        memcpy(value, &bits, sizeof bits);
}

/* ---- Memory ----------------------------------------------------------------------------------- */

void *kr_image_object(kr_image *image, void **self, size_t nbytes)
{
    if (image->task == KR_IMAGE_LOAD)
        *self = kr_work_object(image->work, nbytes, "a structure of a file");
    return kr_work_goes_on(image->work) ? *self : NULL;
}

/* SAVE. */
static kr_field *note_array(kr_image *image, const char *name, const void *data, uint64_t nbytes,
                            int on_device)
{
    kr_field *field = note(image, KR_FIELD_ARRAY, name);
    if (!field)
        return NULL;
    field->value = nbytes;
    field->data = data;
    field->on_device = on_device;
    return field;
}

/* LOAD: the array that is due, which has that many bytes. */
static const kr_field *due_array(kr_image *image, const char *name, uint64_t nbytes)
{
    const kr_field *field = due(image, KR_FIELD_ARRAY, name);
    if (!field || field->value == nbytes)
        return field;
    kr_image_refuse(image, "array '%s' has %llu bytes, and %llu by the numbers before it", field->name,
                    (unsigned long long)field->value, (unsigned long long)nbytes);
    return NULL;
}

/* The first walk makes the copy, the second puts it in the place of what is borrowed. */
static void own(kr_image *image, const char *name, kr_buffer *buffer)
{
    kr_work *w = image->work;
    if (!buffer->is_borrowed || !kr_work_goes_on(w))
        return;
    if (!image->is_trial) {
        const kr_field *field = &image->list.fields[image->next++];
        *buffer = (kr_buffer){(void *)field->data, field->value};
        return;
    }
    kr_buffer copy = {0};
    kr_field *field = note(image, KR_FIELD_ARRAY, name);
    KR_STEP(w, kr_buffer_allocate(w->device, buffer->nbytes, w->stream, name,
                                  "what is mapped becomes a copy before it is changed", &copy, w->err));
    if (!kr_work_goes_on(w))
        return;
    field->value = copy.nbytes;
    field->data = copy.data;
    kr_work_copy(w, copy.data, buffer->data, buffer->nbytes);
}

/* Copies that no buffer has taken. */
static void drop_copies(kr_image *image)
{
    for (uint32_t i = image->next; i < image->list.n; ++i) {
        kr_buffer copy = {(void *)image->list.fields[i].data, image->list.fields[i].value};
        kr_buffer_release(image->work->device, &copy, image->work->stream);
    }
}

void kr_image_own(kr_work *work, void (*walk)(kr_image *image, void *ctx), void *ctx)
{
    kr_image image = {.task = KR_IMAGE_OWN, .work = work, .is_trial = 1};
    walk(&image, ctx);
    image.is_trial = 0;
    if (kr_work_goes_on(work))
        walk(&image, ctx);
    drop_copies(&image);
    kr_image_end(&image);
}

/* SAVE: the field, or NULL. */
static kr_field *keep(kr_image *image, const char *name, kr_buffer *buffer, uint64_t nbytes, int whole)
{
    if (image->task == KR_IMAGE_OWN) {
        own(image, name, buffer);
        return NULL;
    }
    if (image->task == KR_IMAGE_LOAD) {
        const kr_field *field = due_array(image, name, nbytes);
        if (field && nbytes)
            image->source->fill(image, field, buffer);
        return NULL;
    }
    if (whole ? buffer->nbytes != nbytes : buffer->nbytes < nbytes)
        KR_STEP(image->work,
                kr_fail(image->work->err, KR_ERR_INTERNAL,
                        "array %s%s has %llu bytes, and %llu were to be saved; report this", image->scope,
                        name, (unsigned long long)buffer->nbytes, (unsigned long long)nbytes));
    return note_array(image, name, buffer->data, nbytes, !image->work->device->ops->is_host);
}

void kr_image_buffer(kr_image *image, const char *name, kr_buffer *buffer, uint64_t nbytes)
{
    keep(image, name, buffer, nbytes, 1);
}

void kr_image_buffer_used(kr_image *image, const char *name, kr_buffer *buffer, uint64_t nbytes)
{
    keep(image, name, buffer, nbytes, 0);
}

void kr_image_buffer_shared(kr_image *image, const char *name, kr_buffer *buffer, uint64_t nbytes)
{
    kr_field *field = keep(image, name, buffer, nbytes, 0);
    if (field)
        field->shared = buffer;
}

int kr_image_has(kr_image *image, const char *name, const kr_buffer *buffer)
{
    uint32_t has = buffer->data != NULL;
    kr_image_u32(image, name, &has, 0, 1);
    return has && kr_work_goes_on(image->work);
}

void kr_image_array(kr_image *image, const char *name, void **array, uint64_t n, size_t each)
{
    if (image->task == KR_IMAGE_SAVE)
        note_array(image, name, *array, n * each, 0);
    if (image->task != KR_IMAGE_LOAD)
        return;
    if (n > UINT64_MAX / each) {
        kr_image_refuse(image, "array '%s%s' has %llu elements, more than memory can hold", image->scope,
                        name, (unsigned long long)n);
        return;
    }
    const kr_field *field = due_array(image, name, n * each);
    *array = field && n ? kr_work_array(image->work, n, each, name) : NULL;
    if (*array)
        image->source->read(image, field, *array);
}

static void note_text(kr_image *image, const char *name, const char *text)
{
    kr_field *field = note(image, KR_FIELD_TEXT, name);
    if (!field)
        return;
    field->value = strlen(text);
    field->data = text;
}

void kr_image_text(kr_image *image, const char *name, char **text)
{
    if (image->task == KR_IMAGE_SAVE)
        note_text(image, name, *text);
    if (image->task != KR_IMAGE_LOAD)
        return;
    const kr_field *field = due(image, KR_FIELD_TEXT, name);
    *text = field ? kr_work_array(image->work, field->value + 1, 1, name) : NULL;
    if (*text)
        memcpy(*text, field->data, field->value);
}
