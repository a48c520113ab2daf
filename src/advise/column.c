/* Columns in host memory, and samples of them.
 *
 * A sample has all rows whose values lie within an interval. So it is as dense as the column there, values
 * repeat as often, and rows are in the same order. A choice of rows at random would make a dense column
 * sparse. */
#include "advise/plan.h"

#include <stdlib.h>
#include <string.h>

enum { SORTED_MOST = 1 << 17 };

int kr_advise_is_valid(const kr_column *view, uint64_t row)
{
    const uint64_t bit = view->validity_offset + row;
    return !view->validity || (view->validity[bit / 8] >> (bit % 8) & 1);
}

void kr_advise_drop(kr_advise_column *c)
{
    free(c->data);
    free(c->validity);
    free(c->sorted);
    memset(c, 0, sizeof *c);
}

/* ---- Taking a column ----------------------------------------------------------------------- */

int kr_advise_is_text(kr_type type)
{
    return type >= KR_STRING && type <= KR_BINARY_VIEW;
}

static kr_status copy_validity(kr_device *device, const kr_column *from, kr_advise_column *to, kr_error *err)
{
    const uint64_t nbytes = (from->validity_offset + from->count + 7) / 8;
    if (!from->validity || !from->count)
        return KR_OK;
    to->validity = kr_host_calloc(nbytes, 1, "the validity of a column to be measured", err);
    if (!to->validity)
        return KR_ERR_HOST_MEMORY;
    to->view.validity = to->validity;
    return kr_memory_copy(device, to->validity, from->validity, nbytes, NULL, err);
}

/* Texts as codes; those that the dictionary lacks, and NULLs, are KR_NO_ROW. */
static kr_status take_texts(kr_device *device, const kr_column *from, kr_texts **texts, kr_advise_column *to,
                            kr_error *err)
{
    kr_texts_info info = {.struct_size = sizeof info};
    kr_status status = *texts ? KR_OK : kr_texts_create(device, from, NULL, NULL, texts, err);
    if (status == KR_OK)
        status = kr_texts_query(*texts, &info, err);
    if (status == KR_OK && !(to->data = kr_host_calloc(from->count, 4, "codes of texts to be measured", err)))
        status = KR_ERR_HOST_MEMORY;
    if (status == KR_OK)
        status = kr_texts_encode(*texts, from, to->data, NULL, err);
    to->view = (kr_column){.type = KR_U32,
                           .count = from->count,
                           .data = to->data,
                           .validity = from->validity,
                           .validity_offset = from->validity_offset,
                           .dictionary = info.dictionary};
    return status;
}

kr_status kr_advise_take(kr_device *device, int is_host, const kr_column *from, const char *what,
                         kr_texts **texts, kr_advise_column *to, kr_error *err)
{
    const uint32_t nbytes = kr_type_nbytes(from->type);
    kr_status status = KR_OK;
    *to = (kr_advise_column){.view = *from};
    if (kr_advise_is_text(from->type))
        status = take_texts(device, from, texts, to, err);
    else if (!nbytes)
        return kr_fail(err, KR_ERR_TYPE, "%s.type is %d: give a kr_type, see keyray/common.h", what,
                       (int)from->type);
    else if (from->count && (!from->data || (uintptr_t)from->data % nbytes))
        return kr_fail(err, KR_ERR_ARGUMENT, "%s.data is %s: give %llu elements of %u bytes", what,
                       from->data ? "not aligned to its element" : "NULL", (unsigned long long)from->count,
                       nbytes);
    else if (!is_host && from->count) {
        to->data = kr_host_calloc(from->count, nbytes, "a column to be measured", err);
        to->view.data = to->data;
        status = to->data ? kr_memory_copy(device, to->data, from->data, from->count * nbytes, NULL, err)
                          : KR_ERR_HOST_MEMORY;
    }
    if (status == KR_OK && !is_host)
        status = copy_validity(device, from, to, err);
    if (status != KR_OK)
        kr_advise_drop(to);
    return status;
}

/* ---- Codes of some rows -------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t count_valid(const kr_column *view)
{
    uint64_t n = view->validity ? 0 : view->count;
    for (uint64_t i = 0; view->validity && i < view->count; ++i)
        n += (uint64_t)kr_advise_is_valid(view, i);
    return n;
}

kr_status kr_advise_sort(kr_advise_column *c, kr_error *err)
{
    const kr_column *view = &c->view;
    uint64_t state = view->count;
    c->valid = count_valid(view);
    const uint64_t wanted = c->valid < SORTED_MOST ? c->valid : SORTED_MOST;
    free(c->sorted);
    c->n_sorted = 0;
    c->sorted = kr_host_calloc(wanted, sizeof *c->sorted, "values of a column to be measured", err);
    if (!c->sorted)
        return KR_ERR_HOST_MEMORY;
    if (c->valid == wanted)
        for (uint64_t i = 0; i < view->count; ++i) {
            if (kr_advise_is_valid(view, i))
                c->sorted[c->n_sorted++] = kr_advise_code(view->type, view->data, i);
        }
    /* A column that is nearly all NULLs gives fewer. */
    for (uint64_t tries = 0; c->n_sorted < wanted && tries < 64 * (uint64_t)SORTED_MOST; ++tries) {
        const uint64_t row = kr_advise_below(&state, view->count);
        if (kr_advise_is_valid(view, row))
            c->sorted[c->n_sorted++] = kr_advise_code(view->type, view->data, row);
    }
    qsort(c->sorted, c->n_sorted, sizeof *c->sorted, compare);
    c->lowest = 0;
    c->highest = UINT64_MAX;
    return KR_OK;
}

/* ---- Samples ------------------------------------------------------------------------------- */

/* Integers without NULLs, by their width: the loop that reads a whole column. A code is the bits with the
 * sign turned, and it is within the interval if it is at most `span` above its lowest. */
#define FILTER(bits)                                                                                  \
    static uint64_t filter_##bits(const void *from, uint64_t n, uint64_t sign, uint64_t lowest,       \
                                  uint64_t span, uint64_t most, void *to)                             \
    {                                                                                                 \
        const uint##bits##_t *in = from, turned = (uint##bits##_t)sign, low = (uint##bits##_t)lowest, \
                             width = (uint##bits##_t)span;                                            \
        uint##bits##_t *out = to;                                                                     \
        uint64_t found = 0;                                                                           \
        for (uint64_t i = 0; i < n && found < most; ++i) {                                            \
            out[found] = in[i];                                                                       \
            found += (uint##bits##_t)((in[i] ^ turned) - low) <= width;                               \
        }                                                                                             \
        return found;                                                                                 \
    }

FILTER(8)
FILTER(16)
FILTER(32)
FILTER(64)

static uint64_t filter_any(const kr_column *view, uint64_t lowest, uint64_t highest, uint64_t most, void *to)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < view->count && found < most; ++i) {
        const uint64_t code = kr_advise_is_valid(view, i) ? kr_advise_code(view->type, view->data, i) : 0;
        if (kr_advise_is_valid(view, i) && code >= lowest && code <= highest)
            kr_advise_value(view->type, code, to, found++);
    }
    return found;
}

static uint64_t filter(const kr_column *view, uint64_t lowest, uint64_t highest, uint64_t most, void *to)
{
    const uint64_t zero = 0, most_code = kr_advise_code_most(view->type);
    const uint64_t sign = kr_advise_code(view->type, &zero, 0), n = view->count;
    highest = highest < most_code ? highest : most_code;
    if (view->validity || view->type == KR_F32 || view->type == KR_F64)
        return filter_any(view, lowest, highest, most, to);
    switch (kr_type_nbytes(view->type)) {
    case 1: return filter_8(view->data, n, sign, lowest, highest - lowest, most, to);
    case 2: return filter_16(view->data, n, sign, lowest, highest - lowest, most, to);
    case 4: return filter_32(view->data, n, sign, lowest, highest - lowest, most, to);
    default: return filter_64(view->data, n, sign, lowest, highest - lowest, most, to);
    }
}

kr_status kr_advise_within(const kr_advise_column *from, uint64_t lowest, uint64_t highest, uint64_t most,
                           kr_advise_column *to, kr_error *err)
{
    const uint64_t room = most < from->view.count ? most : from->view.count;
    *to = (kr_advise_column){.lowest = lowest, .highest = highest};
    /* One more, as the loops write before they count. */
    to->data = kr_host_calloc(room + 1, kr_type_nbytes(from->view.type), "a sample of a column", err);
    if (!to->data)
        return KR_ERR_HOST_MEMORY;
    to->view = (kr_column){.type = from->view.type,
                           .data = to->data,
                           .count = filter(&from->view, lowest, highest, room, to->data),
                           .dictionary = from->view.dictionary};
    return KR_OK;
}

kr_status kr_advise_sample(const kr_advise_column *from, uint64_t rows, kr_advise_column *to, kr_error *err)
{
    const uint64_t n = from->n_sorted;
    uint64_t width = (uint64_t)((double)n * (double)rows / (double)from->valid);
    width = width < 2 ? 2 : width;
    width = width > n ? n : width;
    const uint64_t first = (n - width) / 2;
    const kr_status status =
        kr_advise_within(from, from->sorted[first], from->sorted[first + width - 1], 2 * rows, to, err);
    const uint64_t lowest = to->lowest, highest = to->highest;
    if (status != KR_OK)
        return status;
    const kr_status sorted = kr_advise_sort(to, err);
    to->lowest = lowest;
    to->highest = highest;
    if (sorted != KR_OK)
        kr_advise_drop(to);
    return sorted;
}
