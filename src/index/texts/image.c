/* Dictionaries in files: the texts in the order of their codes. What they are found by is made anew when they
 * are loaded. So no secret of a hash is in a file, and no file makes a search leave its buffers. */
#include "base/image/image.h"
#include "index/texts/texts.h"

#include <stdlib.h>
#include <string.h>

/* The arrays of a file, in host memory. */
typedef struct loaded {
    int64_t *offsets;
    uint8_t *bytes;
    uint64_t n, n_bytes;
    uint32_t is_ordered;
} loaded;

static int falls(const loaded *texts, uint64_t i)
{
    const int64_t *at = texts->offsets + i;
    const uint64_t a = (uint64_t)(at[1] - at[0]), b = (uint64_t)(at[2] - at[1]);
    const int order = a && b ? memcmp(texts->bytes + at[0], texts->bytes + at[1], a < b ? a : b) : 0;
    return order > 0 || (order == 0 && a >= b);
}

/* Codes of texts in order are those of the file only if the texts are in order. */
static void check(kr_image *image, const loaded *texts)
{
    const int64_t *offsets = texts->offsets;
    const uint64_t n = texts->n;
    uint64_t i = 0;
    if (!kr_work_goes_on(image->work))
        return;
    while (i < n && offsets[i] >= 0 && offsets[i] <= offsets[i + 1])
        ++i;
    if (i < n || offsets[0] != 0 || (uint64_t)offsets[n] != texts->n_bytes) {
        kr_image_refuse(image, "the offsets of texts are not those of %llu bytes",
                        (unsigned long long)texts->n_bytes);
        return;
    }
    i = 0;
    while (texts->is_ordered && i + 1 < n && !falls(texts, i))
        ++i;
    if (texts->is_ordered && i + 1 < n)
        kr_image_refuse(image, "texts %llu and %llu are not in order", (unsigned long long)i,
                        (unsigned long long)i + 1);
}

static kr_texts *make(kr_image *image, const loaded *texts)
{
    kr_work *w = image->work;
    const kr_texts_design design = {.is_ordered = texts->is_ordered};
    const kr_column column = {.type = KR_LARGE_BINARY,
                              .count = texts->n,
                              .data = texts->offsets,
                              .reserved_words = {(uintptr_t)texts->bytes, texts->n_bytes}};
    kr_texts *made = NULL;
    KR_STEP(w, kr_texts_make(w->device, &design, &column, w->stream, &made, w->err));
    if (kr_work_goes_on(w) && made->n != texts->n)
        kr_image_refuse(image, "%llu texts, of which %llu are distinct", (unsigned long long)texts->n,
                        (unsigned long long)made->n);
    return made;
}

static void load(kr_image *image, kr_texts **texts)
{
    loaded l = {0};
    kr_image_u32(image, "ordered", &l.is_ordered, 0, 1);
    kr_image_u64(image, "n", &l.n, 0, KR_NO_ROW - 1);
    kr_image_u64(image, "bytes", &l.n_bytes, 0, INT64_MAX);
    kr_image_array(image, "offsets", (void **)&l.offsets, l.n + 1, sizeof *l.offsets);
    kr_image_array(image, "texts", (void **)&l.bytes, l.n_bytes, 1);
    check(image, &l);
    if (kr_work_goes_on(image->work))
        *texts = make(image, &l);
    free(l.bytes);
    free(l.offsets);
}

void kr_texts_image(kr_image *image, kr_texts **texts)
{
    kr_texts *t = *texts;
    if (image->task == KR_IMAGE_LOAD)
        load(image, texts);
    if (image->task != KR_IMAGE_SAVE)
        return;
    kr_image_u32(image, "ordered", &t->is_ordered, 0, 1);
    kr_image_u64(image, "n", &t->n, 0, KR_NO_ROW - 1);
    kr_image_u64(image, "bytes", &t->n_bytes, 0, INT64_MAX);
    kr_image_buffer(image, "offsets", &t->offsets, (t->n + 1) * sizeof(int64_t));
    kr_image_buffer_used(image, "texts", &t->bytes, t->n_bytes);
}
