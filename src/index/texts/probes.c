#include "index/texts/probes.h"
#include "index/kinds/nearest.h"
#include "index/results/bitmap.h"
#include "index/texts/probes_body.h"

static const char help[] = "look up fewer probes at once";

static const char *name_of(const kr_texts_probes *p, const char *what)
{
    return p->enqueues ? NULL : what;
}

static uint32_t *take_codes(kr_work *w, uint64_t n)
{
    return kr_work_take_or(w, n * sizeof(uint32_t), "codes of texts", help);
}

static kr_column column_of(const kr_texts *texts, const uint32_t *codes, uint64_t n)
{
    return (kr_column){.type = KR_U32, .count = n, .data = codes, .dictionary = texts->id};
}

/* Bounds of ranges are counted in columns of their own, those of `how` in one. */
static void make_bounds(kr_work *w, const kr_texts *texts, const kr_texts_probes *p, kr_column keys[2])
{
    const kr_column *above = p->upper ? p->upper : p->lower;
    const uint32_t from = p->upper ? KR_COUNT_BELOW : kr_texts_end(p->how, 0),
                   to = p->upper ? KR_COUNT_UP_TO : kr_texts_end(p->how, 1);
    const uint64_t n = p->lower->count;
    const texts_range_params params = {take_codes(w, n), take_codes(w, n)};
    kr_texts_count(w, texts, p->lower, from, KR_NO_ROW, name_of(p, p->upper ? "lower bounds" : "probes"),
                   params.lower);
    kr_texts_count(w, texts, above, to, KR_NO_ROW, name_of(p, p->upper ? "upper bounds" : "probes"),
                   params.upper);
    kr_work_run(w, &texts_range, &params, n);
    keys[0] = column_of(texts, params.lower, n);
    keys[1] = column_of(texts, params.upper, n);
}

void kr_texts_make_keys(kr_work *w, const kr_texts *texts, const kr_texts_probes *p, kr_column keys[2])
{
    const uint64_t n = p->lower->count;
    if (p->upper || p->how) {
        make_bounds(w, texts, p, keys);
    } else {
        uint32_t *codes = take_codes(w, n); /* no key is KR_NO_ROW */
        kr_texts_find(w, texts, p->lower, name_of(p, "probes"), codes);
        keys[0] = column_of(texts, codes, n);
    }
    kr_work_lap(w, "texts");
}

void kr_texts_make_nearest(kr_work *w, const kr_texts *texts, const kr_texts_probes *p, kr_nearby *near,
                           kr_column *key)
{
    const uint64_t n = p->lower->count;
    const uint32_t is_below = (near->how & KR_NEAR_BELOW) != 0, is_strict = (near->how & KR_NEAR_STRICT) != 0;
    uint8_t *bitmap = kr_work_take_or(w, n / 8 + 1, "which probes have an answer", help);
    uint32_t *codes = take_codes(w, n);
    const texts_near_params params = {codes, kr_work_take_or(w, n, "which probes have an answer", help),
                                      is_below, (uint32_t)texts->n};
    kr_texts_count(w, texts, p->lower, is_below != is_strict ? KR_COUNT_UP_TO : KR_COUNT_BELOW, KR_NO_ROW,
                   name_of(p, "probes"), codes);
    kr_work_run(w, &texts_near, &params, n);
    kr_bitmap_pack(w, params.flags, n, bitmap);
    kr_work_give(w, params.flags);
    *key = column_of(texts, codes, n);
    key->validity = bitmap;
    near->how &= ~(uint32_t)KR_NEAR_STRICT;
    kr_work_lap(w, "texts");
}

kr_status kr_texts_check_probes(const kr_texts *texts, int needs_order, kr_error *err)
{
    if (needs_order && !texts->is_ordered)
        return kr_fail(
            err, KR_ERR_UNSUPPORTED,
            "codes of this dictionary are not in the order of their texts (ranges=off): for ranges and "
            "nearest texts, use a dictionary with ranges=on, or an index of an ordered kind");
    return KR_OK;
}

static int is_reached(kr_device *device, const kr_column *strings)
{
    int reaches = 1;
    return kr_strings_check(device, strings, "probes", &reaches, NULL) == KR_OK && reaches;
}

kr_status kr_texts_keep_probes(kr_device *device, const kr_column *strings, kr_column *kept,
                               kr_buffer *buffers, kr_error *err)
{
    const uint64_t nbytes = strings->reserved_words[1] * sizeof(kr_text_buffer);
    *kept = *strings;
    if (!is_reached(device, strings))
        return kr_fail(
            err, KR_ERR_ARGUMENT,
            "a prepared lookup works on device memory: the probes are in host memory; copy there, or "
            "use kr_index_lookup");
    if (!kr_strings_have_buffers(strings) || !nbytes)
        return KR_OK;
    kr_work w = kr_work_on(device, NULL, err);
    void *copy = kr_work_take(&w, nbytes, "buffers of texts");
    kr_work_copy(&w, copy, (const void *)(uintptr_t)strings->reserved_words[0], nbytes);
    *buffers = kr_work_keep(&w, copy);
    kr_work_sync(&w);
    kept->reserved_words[0] = (uintptr_t)buffers->data;
    kept->reserved = 1;
    return kr_work_end(&w);
}
