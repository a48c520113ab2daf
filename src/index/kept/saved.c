/* Divided indexes in files: part by part. A file of keep=host that was saved where device memory is host
 * memory has one structure, which becomes the only part. */
#include "base/image/saved.h"
#include "index/kept/fields.h"

/* The structure of a part lies on the host device: its arrays are borrowed of a file that is mapped. */
static void walk_structure(kr_image *image, const kr_divided *d, void **self)
{
    const kr_image_of of = {.spec = &d->spec, .type = divided_code_type(d)};
    kr_work *whole = image->work;
    kr_work host = kr_work_on(d->host, NULL, whole->err);
    if (!kr_work_goes_on(whole))
        return;
    image->work = &host;
    d->family->image(image, &of, self);
    image->work = whole;
    divided_fail_on_host(whole, kr_work_end(&host));
}

/* Makes a part of a structure that was loaded. */
static void take_structure(kr_image *image, kr_divided *d, uint32_t p, void *self)
{
    const kr_saved *saved = (const kr_saved *)image->source;
    kept_part *part = &d->parts[p];
    kr_work host = kr_work_on(d->host, NULL, image->work->err);
    if (saved->is_mapped)
        fields_note(&host, d, part, self);
    else
        fields_take(&host, d, part, self);
    divided_fail_on_host(image->work, kr_work_end(&host));
    if (kr_work_goes_on(image->work) && d->family->rows(self).n_rows != part->n)
        kr_image_refuse(image, "part %u has %llu rows, not %llu", p,
                        (unsigned long long)d->family->rows(self).n_rows, (unsigned long long)part->n);
    fields_open(image->work, d, p);
    part->first = d->n;
    d->n += part->n;
}

static void walk_part(kr_image *image, kr_divided *d, uint32_t p)
{
    static const char *const names[KEPT_ENDS] = {"lowest", "second", "last but one", "highest"};
    const uint64_t most = d->key_bits == 64 ? UINT64_MAX : UINT32_MAX;
    const uint32_t scope = kr_image_enter_nth(image, "part", p);
    kept_part *part = &d->parts[p];
    void *self = part->on_host ? part->on_host->self : NULL;
    kr_image_u64(image, "n", &part->n, d->n_parts > 1, KR_NO_ROW - 1);
    for (int i = 0; i < KEPT_ENDS; ++i)
        kr_image_u64(image, names[i], &part->ends[i], 0, most);
    walk_structure(image, d, &self);
    if (kr_image_loads(image))
        take_structure(image, d, p, self);
    if (image->task == KR_IMAGE_LOAD && self)
        d->family->destroy(d->host, self, NULL);
    kr_image_leave(image, scope);
}

static void load_only_part(kr_image *image, kr_divided *d)
{
    kept_part *part = &d->parts[0];
    void *self = NULL;
    walk_structure(image, d, &self);
    if (kr_image_loads(image)) {
        part->n = d->family->rows(self).n_rows;
        d->family->ordered->key_range(self, &part->ends[KEPT_LOWEST], &part->ends[KEPT_HIGHEST]);
        part->ends[KEPT_SECOND] = part->ends[KEPT_HIGHEST]; /* asked for beside other parts only */
        part->ends[KEPT_LAST_BUT_ONE] = part->ends[KEPT_LOWEST];
        take_structure(image, d, 0, self);
    }
    if (self)
        d->family->destroy(d->host, self, NULL);
}

void divided_image(kr_image *image, const kr_image_of *of, void **self)
{
    kr_divided *d = kr_image_object(image, self, sizeof *d);
    int is_whole = 0;
    if (!d || image->task == KR_IMAGE_OWN) /* nothing changes a divided index */
        return;
    if (image->task == KR_IMAGE_LOAD) {
        const kr_saved *saved = (const kr_saved *)image->source;
        is_whole = !kr_saved_find(saved, KR_FIELD_NUMBER, "kind.", "parts");
        d->n_parts = 1;
        divided_open(image->work, d, of->spec, of->type);
    }
    if (!is_whole)
        kr_image_u32(image, "parts", &d->n_parts, 1, KEPT_PARTS_MOST);
    if (image->task == KR_IMAGE_LOAD)
        d->parts = kr_work_array(image->work, d->n_parts, sizeof *d->parts, "parts of an index");
    if (!d->parts)
        return;
    if (is_whole)
        load_only_part(image, d);
    for (uint32_t p = 0; !is_whole && p < d->n_parts && kr_work_goes_on(image->work); ++p)
        walk_part(image, d, p);
}
