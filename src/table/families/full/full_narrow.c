#include "table/families/full/full_narrow.h"
#include "table/families/full/full_narrow_body.h"

/* ---- Which columns --------------------------------------------------------------------------- */

uint32_t full_narrow_most_nbytes(uint32_t narrow, uint32_t type)
{
    const uint32_t most = kr_type_width(type) / (narrow == FULL_NARROW_AUTO ? 4 : 2);
    if (narrow == FULL_NARROW_OFF || type == KR_F32 || type == KR_F64)
        return 0;
    return most < 2 ? most : 2;
}

static int has_values(const full_narrow *of)
{
    return of->lowest <= of->highest;
}

int full_narrow_is_settled(const full_narrow *of)
{
    return has_values(of) && of->highest - of->lowest > UINT16_MAX;
}

/* Bytes of a value of the copy; 0: there is none. */
static uint32_t decide(uint32_t narrow, uint32_t type, const full_narrow *of)
{
    const uint64_t span = of->highest - of->lowest;
    const uint32_t nbytes = span <= UINT8_MAX ? 1 : 2;
    if (!has_values(of) || full_narrow_is_settled(of) || nbytes > full_narrow_most_nbytes(narrow, type))
        return 0;
    return nbytes;
}

void full_narrow_widen(full_narrow *of, uint64_t lowest, uint64_t highest)
{
    of->lowest = lowest < of->lowest ? lowest : of->lowest;
    of->highest = highest > of->highest ? highest : of->highest;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static narrow_params params_of(const kr_column *column, const full_narrow *of)
{
    return (narrow_params){.data = column->data,
                           .validity = column->validity,
                           .validity_offset = column->validity_offset,
                           .n = column->count,
                           .copy = of->buffer.data,
                           .lowest = of->lowest,
                           .highest = of->highest,
                           .type = column->type,
                           .nbytes = of->nbytes};
}

/* The rows from `first` on. */
static void fill(kr_work *work, const kr_column *column, uint64_t first, const full_narrow *of)
{
    narrow_params params = params_of(column, of);
    params.data = (const char *)column->data + first * kr_type_nbytes(column->type);
    params.validity_offset += first;
    params.n -= first;
    params.copy = (char *)of->buffer.data + first * of->nbytes;
    kr_work_run(work, &full_narrow_copy, &params,
                (params.n + FULL_TILE - 1) / FULL_TILE * work->device->ops->group_threads);
}

/* `room`: rows. */
static void take(kr_work *work, uint64_t room, full_narrow *of)
{
    of->buffer = kr_work_keep(
        work, kr_work_take_or(work, room * of->nbytes, "a narrow copy of a column", "narrow=off"));
}

/* The copy of before has the rows that it had. Nobody reads behind them, and of versions that share it, one
 * writes there. */
static void extend(kr_work *work, const kr_column *column, full_narrow *before, uint64_t n_before,
                   full_narrow *made)
{
    const uint64_t used = n_before * made->nbytes, end = column->count * made->nbytes;
    if (before->buffer.nbytes >= end && kr_buffer_extend(&before->buffer, used, end)) {
        made->buffer = before->buffer;
    } else {
        take(work, column->count + column->count / 8, made);
        kr_work_copy(work, made->buffer.data, before->buffer.data, used);
    }
    if (kr_work_goes_on(work))
        fill(work, column, n_before, made);
}

void full_narrow_make(kr_work *work, uint32_t narrow, const kr_column *column, full_narrow *before,
                      uint64_t n_before, full_narrow *made)
{
    made->nbytes = decide(narrow, column->type, made);
    if (!made->nbytes || !kr_work_goes_on(work))
        return;
    if (before && before->nbytes == made->nbytes && before->lowest == made->lowest) {
        extend(work, column, before, n_before, made);
        return;
    }
    take(work, column->count, made);
    if (kr_work_goes_on(work))
        fill(work, column, 0, made);
}

kr_column full_narrow_column(const full_narrow *of, const kr_column *column)
{
    kr_column read = *column;
    if (!of || !of->nbytes)
        return read;
    read.type = of->nbytes == 1 ? KR_U8 : KR_U16;
    read.data = of->buffer.data;
    return read;
}

void full_narrow_validate(kr_work *work, const char *name, const kr_column *column, const full_narrow *of)
{
    narrow_params params = params_of(column, of);
    uint64_t wrong = 0;
    if (!of->nbytes && full_narrow_is_settled(of))
        return; /* nothing relies on what is known */
    params.wrong = kr_work_counters(work, 1);
    kr_work_run(work, &full_narrow_check, &params, params.n);
    kr_work_read(work, &wrong, params.wrong, sizeof wrong);
    kr_work_give(work, params.wrong);
    if (wrong)
        KR_STEP(work,
                kr_fail(work->err, KR_ERR_INVARIANT,
                        "%llu of %llu rows of column '%s' have another value than the narrow copy of the "
                        "column, or one outside of its range",
                        (unsigned long long)wrong, (unsigned long long)params.n, name));
}

/* Codes of leaves are found by these. */
static int is_sound(const full_narrow *of)
{
    const uint64_t most = of->nbytes == 1 ? UINT8_MAX : UINT16_MAX;
    return !of->nbytes || (has_values(of) && of->highest - of->lowest <= most);
}

/* A copy is narrower than its column. Its values lead nowhere. */
void full_narrow_image(kr_image *image, const kr_column *column, uint64_t n, full_narrow *of)
{
    const uint32_t most = full_narrow_most_nbytes(FULL_NARROW_ON, column->type);
    if (!kr_image_offers(image, "lowest", 1)) {
        *of = full_narrow_unknown(); /* a file of before there were narrow copies */
        return;
    }
    kr_image_u64(image, "lowest", &of->lowest, 0, UINT64_MAX);
    kr_image_u64(image, "highest", &of->highest, 0, UINT64_MAX);
    kr_image_u32(image, "bytes", &of->nbytes, 0, most);
    if (kr_image_loads(image) && !is_sound(of))
        kr_image_refuse(image, "a narrow copy has values of %u bytes, for codes %llu to %llu", of->nbytes,
                        (unsigned long long)of->lowest, (unsigned long long)of->highest);
    if (of->nbytes && kr_work_goes_on(image->work))
        kr_image_buffer_shared(image, "values", &of->buffer, n * of->nbytes);
}

/* ---- Codes of leaves ------------------------------------------------------------------------- */

/* The first interval that ends at `code` or behind it. */
static uint64_t first_from(const kr_leaf *leaf, uint64_t code)
{
    uint64_t low = 0, high = leaf->n_intervals;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (leaf->intervals[middle].high < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

full_codes full_codes_of(const full_narrow *of, uint32_t type, const kr_leaf *leaf)
{
    const int is_narrow = of && of->nbytes;
    full_codes codes = {.lowest = is_narrow ? of->lowest : 0,
                        .highest = is_narrow ? of->highest : kr_plan_most_code(type)};
    codes.most = is_narrow ? kr_plan_most_code(of->nbytes == 1 ? KR_U8 : KR_U16) : codes.highest;
    const uint64_t first = first_from(leaf, codes.lowest);
    uint64_t end = first_from(leaf, codes.highest);
    end += end < leaf->n_intervals && leaf->intervals[end].low <= codes.highest;
    codes.at = leaf->intervals ? leaf->intervals + first : NULL;
    codes.n = end - first;
    return codes;
}

int full_codes_hold(const full_codes *codes, uint64_t code)
{
    uint64_t low = 0, high = codes->n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (full_codes_at(codes, middle).low <= code)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && code <= full_codes_at(codes, low - 1).high;
}
