/* Texts of rows, one behind the other. */
#include "index/texts/copy_body.h"
#include "index/texts/texts.h"

uint64_t kr_texts_measure_rows(kr_work *w, const kr_strings *strings, uint64_t n_rows, const uint32_t *rows,
                               uint64_t n, uint64_t *offsets)
{
    uint64_t bad = 0, nbytes = 0;
    const texts_copy_params params = {.strings = *strings,
                                      .rows = rows,
                                      .offsets = offsets,
                                      .bad = kr_work_counters(w, 1),
                                      .n = n,
                                      .n_rows = n_rows};
    kr_work_run(w, &texts_measure, &params, n + 1);
    kr_work_read(w, &bad, params.bad, sizeof bad);
    kr_work_give(w, params.bad);
    if (bad && kr_work_goes_on(w))
        KR_STEP(w, kr_fail(w->err, KR_ERR_ARGUMENT, "codes[%llu] belongs to no text: codes are below %llu",
                           (unsigned long long)bad - 1, (unsigned long long)n_rows));
    kr_work_sum(w, offsets, n + 1);
    kr_work_read(w, &nbytes, KR_PLACE_IN(offsets, n), sizeof nbytes);
    return nbytes;
}

void kr_texts_copy_rows(kr_work *w, const kr_strings *strings, const uint32_t *rows, uint64_t n,
                        uint64_t *offsets, uint8_t *bytes)
{
    const texts_copy_params params = {
        .strings = *strings, .rows = rows, .offsets = offsets, .bytes = bytes, .n = n};
    kr_work_run(w, &texts_copy, &params, n);
}

/* The bytes of each text if all have as many, else 0; there are `nbytes` from `first` on. */
static uint32_t length_of_all(kr_work *w, const void *offsets, int is_wide, uint64_t n, uint64_t first,
                              uint64_t nbytes)
{
    uint64_t uneven = 0;
    if (!n || nbytes % n || nbytes / n > UINT32_MAX)
        return 0;
    const texts_even_params params = {offsets, kr_work_counters(w, 1), first, nbytes / n,
                                      (uint64_t)(is_wide != 0)};
    kr_work_run(w, &texts_even, &params, n);
    kr_work_read(w, &uneven, params.uneven, sizeof uneven);
    kr_work_give(w, params.uneven);
    return uneven ? 0 : (uint32_t)params.each;
}

uint32_t kr_texts_length_of_all(kr_work *w, const uint64_t *offsets, uint64_t n, uint64_t nbytes)
{
    return length_of_all(w, offsets, 1, n, 0, nbytes);
}

void kr_texts_measure_all(kr_work *w, kr_strings *rows, uint64_t n)
{
    const int is_wide = rows->form == KR_STRINGS_OFFSETS64;
    int64_t far[2] = {0};
    int32_t near[2] = {0};
    if (rows->form == KR_STRINGS_VIEWS || !n)
        return;
    for (int i = 0; i < 2; ++i)
        if (is_wide)
            kr_work_read(w, far + i, (const int64_t *)rows->data + (i ? n : 0), sizeof *far);
        else
            kr_work_read(w, near + i, (const int32_t *)rows->data + (i ? n : 0), sizeof *near);
    const int64_t from = is_wide ? far[0] : near[0], to = is_wide ? far[1] : near[1];
    if (!kr_work_goes_on(w) || from < 0 || to < from || (uint64_t)from < rows->base ||
        (uint64_t)to > rows->end)
        return; /* who reads them says what is wrong */
    rows->each = length_of_all(w, rows->data, is_wide, n, (uint64_t)from, (uint64_t)(to - from));
    if (rows->each)
        rows->bytes += (uint64_t)from - rows->base;
}
