/* kr_texts_*: check the arguments; what the device does not reach goes through scratch memory. */
#include "base/util/structs.h"
#include "index/texts/index.h"

#include <stdio.h>

kr_status kr_texts_create(kr_device *device, const kr_column *strings, const char *spec, kr_stream *stream,
                          kr_texts **texts, kr_error *err)
{
    kr_texts_design design;
    if (!texts)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_texts_create: texts is NULL");
    kr_status status = kr_stream_check(device, stream, "kr_texts_create", err);
    if (status == KR_OK)
        status = kr_texts_parse(spec, &design, err);
    if (status == KR_OK)
        status = kr_strings_check(device, strings, "texts", NULL, err);
    if (status == KR_OK && strings->count >= KR_NO_ROW)
        status = kr_fail(err, KR_ERR_LIMIT,
                         "%llu texts: a dictionary is made of at most 4294967294 rows; split the column",
                         (unsigned long long)strings->count);
    return status == KR_OK ? kr_texts_make(device, &design, strings, stream, texts, err) : status;
}

void kr_texts_destroy(kr_texts *texts)
{
    kr_texts_release(texts, NULL);
}

kr_status kr_texts_query(const kr_texts *texts, kr_texts_info *info, kr_error *err)
{
    if (!texts || !info)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_texts_query: %s is NULL", texts ? "info" : "texts");
    const kr_status status = kr_struct_check(&kr_struct_texts_info, info, err);
    if (status != KR_OK)
        return status;
    kr_texts_info made = {.count = texts->n,
                          .text_nbytes = texts->n_bytes,
                          .dictionary = texts->id,
                          .footprint_nbytes = kr_texts_nbytes(texts),
                          .peak_nbytes = texts->peak_nbytes,
                          .seeds_given_up = texts->reseeds};
    snprintf(made.spec, sizeof made.spec, "ranges=%s", texts->is_ordered ? "on" : "off");
    snprintf(made.device, sizeof made.device, "%s", texts->device->name);
    kr_struct_write(&kr_struct_texts_info, &made, info);
    return KR_OK;
}

/* ---- Output arrays ------------------------------------------------------------------------------ */

static kr_status check_array(kr_device *device, const void *array, uint64_t n, uint64_t width,
                             const char *what, kr_error *err)
{
    if (!array && n)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s is NULL", what);
    if ((uintptr_t)array % width)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s must be aligned to %u bytes", what, (unsigned)width);
    return kr_pointer_check(device, array, what, NULL, err);
}

/* The array itself, or scratch memory of its size. */
static void *place_for(kr_work *w, void *array, uint64_t nbytes, const char *what)
{
    return !array || kr_device_reaches(w->device, array) ? array : kr_work_take(w, nbytes, what);
}

/* What was written in another place. */
static void bring_back(kr_work *w, void *array, const void *place, uint64_t nbytes)
{
    if (array != place && nbytes)
        kr_work_copy(w, array, place, nbytes);
}

/* ---- Codes and bounds ----------------------------------------------------------------------------- */

static kr_status check_call(const kr_texts *texts, const kr_column *strings, kr_stream *stream,
                            const char *call, kr_error *err)
{
    if (!texts)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: texts is NULL", call);
    const kr_status status = kr_stream_check(texts->device, stream, call, err);
    return status == KR_OK ? kr_strings_check(texts->device, strings, "texts", NULL, err) : status;
}

kr_status kr_texts_encode(const kr_texts *texts, const kr_column *strings, uint32_t *codes, kr_stream *stream,
                          kr_error *err)
{
    kr_status status = check_call(texts, strings, stream, "kr_texts_encode", err);
    if (status == KR_OK)
        status =
            check_array(texts->device, codes, strings->count, sizeof *codes, "kr_texts_encode: codes", err);
    if (status != KR_OK)
        return status;
    const uint64_t nbytes = strings->count * sizeof *codes;
    kr_work w = kr_work_on(texts->device, stream, err);
    uint32_t *place = place_for(&w, codes, nbytes, "codes of texts");
    kr_texts_find(&w, texts, strings, "texts", place);
    bring_back(&w, codes, place, nbytes);
    kr_work_finish(&w);
    return kr_work_end(&w);
}

static void write_bound(kr_work *w, const kr_texts *texts, const kr_column *strings, uint32_t which,
                        uint32_t *bound)
{
    const uint64_t nbytes = strings->count * sizeof *bound;
    if (!bound || !nbytes)
        return;
    uint32_t *place = place_for(w, bound, nbytes, "bounds of texts");
    kr_texts_count(w, texts, strings, which, 0, "texts", place);
    bring_back(w, bound, place, nbytes);
    if (place != bound)
        kr_work_give(w, place);
}

kr_status kr_texts_bounds(const kr_texts *texts, const kr_column *strings, kr_texts_bound how,
                          uint32_t *lower, uint32_t *upper, kr_stream *stream, kr_error *err)
{
    kr_status status = check_call(texts, strings, stream, "kr_texts_bounds", err);
    if (status == KR_OK && !texts->is_ordered)
        status = kr_fail(err, KR_ERR_UNSUPPORTED,
                         "kr_texts_bounds: the dictionary was made with ranges=off; make one with ranges=on");
    if (status == KR_OK && ((unsigned)how < KR_TEXTS_FROM || (unsigned)how > KR_TEXTS_PREFIX))
        status = kr_fail(err, KR_ERR_ARGUMENT, "kr_texts_bounds: %d is none of kr_texts_bound", (int)how);
    if (status == KR_OK && !lower && !upper && strings->count)
        status = kr_fail(err, KR_ERR_ARGUMENT, "kr_texts_bounds: both lower and upper are NULL");
    if (status == KR_OK)
        status = check_array(texts->device, lower, 0, sizeof *lower, "kr_texts_bounds: lower", err);
    if (status == KR_OK)
        status = check_array(texts->device, upper, 0, sizeof *upper, "kr_texts_bounds: upper", err);
    if (status != KR_OK)
        return status;
    kr_work w = kr_work_on(texts->device, stream, err);
    write_bound(&w, texts, strings, kr_texts_end(how, 0), lower);
    write_bound(&w, texts, strings, kr_texts_end(how, 1), upper);
    kr_work_finish(&w);
    return kr_work_end(&w);
}

/* ---- Texts of codes -------------------------------------------------------------------------------- */

static void decode(kr_work *w, const kr_texts *texts, const kr_column *codes, int64_t *offsets, void *bytes,
                   uint64_t capacity)
{
    const uint64_t n = codes->count, offsets_nbytes = (n + 1) * sizeof *offsets;
    const kr_column here = kr_column_bring(w, codes, "a copy of codes");
    const kr_strings strings = kr_texts_strings(texts);
    /* An error leaves the caller's offsets as they were. */
    uint64_t *made = kr_work_take(w, offsets_nbytes, "offsets of texts");
    const uint64_t nbytes = kr_texts_measure_rows(w, &strings, texts->n, here.data, n, made);
    if (kr_work_goes_on(w) && bytes && nbytes > capacity)
        KR_STEP(w, kr_fail(w->err, KR_ERR_LIMIT,
                           "kr_texts_decode: the texts have %llu bytes, but there is room for %llu",
                           (unsigned long long)nbytes, (unsigned long long)capacity));
    if (bytes && nbytes && kr_work_goes_on(w)) {
        uint8_t *place = place_for(w, bytes, nbytes, "texts");
        kr_texts_copy_rows(w, &strings, here.data, n, made, place);
        bring_back(w, bytes, place, nbytes);
    }
    kr_work_copy(w, offsets, made, offsets_nbytes);
}

kr_status kr_texts_decode(const kr_texts *texts, const uint32_t *codes, uint64_t n_codes, int64_t *offsets,
                          void *bytes, uint64_t capacity_nbytes, kr_stream *stream, kr_error *err)
{
    if (!texts)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_texts_decode: texts is NULL");
    kr_status status = kr_stream_check(texts->device, stream, "kr_texts_decode", err);
    if (status == KR_OK && n_codes > INT64_MAX / 16)
        status = kr_fail(err, KR_ERR_LIMIT, "kr_texts_decode: %llu codes are more than memory can hold",
                         (unsigned long long)n_codes);
    if (status == KR_OK)
        status = check_array(texts->device, codes, n_codes, sizeof *codes, "kr_texts_decode: codes", err);
    if (status == KR_OK)
        status = check_array(texts->device, offsets, 1, sizeof *offsets, "kr_texts_decode: offsets", err);
    if (status == KR_OK)
        status = check_array(texts->device, bytes, 0, 1, "kr_texts_decode: bytes", err);
    if (status != KR_OK)
        return status;
    const kr_column column = {.type = KR_U32, .count = n_codes, .data = codes};
    kr_work w = kr_work_on(texts->device, stream, err);
    decode(&w, texts, &column, offsets, bytes, capacity_nbytes);
    kr_work_finish(&w);
    return kr_work_end(&w);
}

/* ---- Of indexes ------------------------------------------------------------------------------------- */

const kr_texts *kr_index_texts(const kr_index *index)
{
    return index ? index->texts : NULL;
}

/* Each key has a text. */
static kr_status check_keys(const kr_index *index, const kr_texts *texts, kr_error *err)
{
    char strange[64];
    kr_work w = kr_work_on(index->device, NULL, err);
    KR_STEP(&w, kr_index_await(index, NULL, err));
    if (kr_work_goes_on(&w) && kr_texts_has_strange_keys(&w, index, texts, strange))
        KR_STEP(&w, kr_fail(err, KR_ERR_ARGUMENT,
                            "kr_index_set_texts: keys of the index are not all codes of this dictionary of "
                            "%llu texts: %s; build the index of codes that kr_texts_encode gave, with NULL "
                            "where these are KR_NO_ROW",
                            (unsigned long long)texts->n, strange));
    return kr_work_end(&w);
}

kr_status kr_index_set_texts(kr_index *index, const kr_texts *texts, kr_error *err)
{
    if (!index || !texts)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_index_set_texts: %s is NULL", index ? "texts" : "index");
    if (index->device != texts->device)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_index_set_texts: the dictionary belongs to another device than the index");
    if (index->dictionary != texts->id)
        return kr_fail(err, KR_ERR_TYPE,
                       "kr_index_set_texts: keys of the index are not codes of this dictionary: build it of "
                       "what kr_texts_encode gives, with kr_column.dictionary set");
    const kr_status status = check_keys(index, texts, err);
    if (status == KR_OK)
        kr_texts_give_index(index, texts);
    return status;
}
