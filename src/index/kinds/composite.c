#include "index/kinds/composite.h"
#include "base/key/encode.h"
#include "base/key/key.h"
#include "index/kinds/index.h"

/* ---- Where columns lie --------------------------------------------------------------------------- */

/* The largest code of the type. */
static uint64_t top_of(uint32_t type)
{
    return ~(uint64_t)0 >> (64 - kr_type_significant_bits(type));
}

static int is_float(uint32_t type)
{
    return type == KR_F32 || type == KR_F64;
}

/* Makes the range as large as so many bits allow, by numbers on both sides. */
static void widen(kr_composite_column *column, uint32_t bits)
{
    const uint64_t top = top_of(column->type), most = ~(uint64_t)0 >> (64 - bits);
    if (most >= top) {
        column->lowest = 0;
        column->span = top;
        return;
    }
    const uint64_t more = most - column->span;
    const uint64_t below = column->lowest < more / 2 ? column->lowest : more / 2;
    column->lowest -= below;
    column->span = most;
    if (column->span > top - column->lowest)
        column->lowest = top - column->span;
}

/* Half of the room beyond `found`, as the column was before it was widened: the other half is for later
 * values. Distances up to the margin need no range lookup (lookup/composite.c). */
static void set_margin(kr_composite_column *column, const kr_composite_column *found)
{
    const uint64_t top = top_of(column->type);
    const uint64_t below = found->lowest - column->lowest;
    const uint64_t above = column->lowest + column->span - (found->lowest + found->span);
    const int ends_below = column->lowest == 0, ends_above = column->lowest + column->span == top;
    const uint64_t room = ends_below ? above : ends_above || below < above ? below : above;
    column->margin = 1 + (ends_below && ends_above ? 0 : room / 2);
}

/* Lowest and highest codes of all sources, with a number beside them. Blocks. */
static void find_ranges(kr_work *w, const kr_composite_source *sources, kr_composite *c)
{
    uint64_t ends[2 * KR_COMPOSITE_MOST] = {0};
    uint64_t *counters = kr_work_counters(w, 2 * KR_COMPOSITE_MOST);
    for (uint32_t j = 0; j < c->n; ++j)
        for (uint32_t i = 0; i < sources[j].n; ++i)
            kr_fold_extent(w, sources[j].columns[i], KR_PLACE_IN(counters, 2 * j));
    kr_work_read(w, ends, counters, sizeof ends);
    kr_work_give(w, counters);
    for (uint32_t j = 0; j < c->n; ++j) {
        kr_composite_column *column = &c->columns[j];
        const uint64_t top = top_of(column->type);
        uint64_t lowest = ~ends[2 * j], highest = ends[2 * j + 1];
        if (lowest > highest) /* no values */
            lowest = highest = 0;
        lowest -= lowest > 0;
        highest += highest < top;
        column->lowest = lowest;
        column->span = highest - lowest;
        column->margin = 1;
    }
}

/* How often the ranges of all columns may double beyond what is there: room for later values. */
enum { DOUBLINGS = 4 };

/* All columns on one level; 0: they take more than 64 bits. */
static int place_together(kr_composite *c)
{
    uint32_t bits[KR_COMPOSITE_MOST], sum = 0;
    for (uint32_t j = 0; j < c->n; ++j)
        sum += bits[j] = kr_fold_bits(c->columns[j].span);
    const uint32_t room = sum <= 32 ? 32 : 64;
    if (sum > room)
        return 0;
    for (uint32_t round = 0; round < DOUBLINGS; ++round)
        for (uint32_t j = c->n; j-- > 0;)
            if (sum < room && bits[j] < kr_type_significant_bits(c->columns[j].type)) {
                ++bits[j];
                ++sum;
            }
    c->n_levels = 1;
    c->bits = sum;
    for (uint32_t j = 0; j < c->n; ++j) {
        const kr_composite_column found = c->columns[j];
        widen(&c->columns[j], bits[j]);
        if (j + 1 == c->n)
            set_margin(&c->columns[j], &found);
        sum -= bits[j];
        c->columns[j].shift = sum;
    }
    return 1;
}

/* Distances of floats need whole codes, if there is room for them. */
static int place_with_whole_floats(kr_composite *c)
{
    kr_composite_column *last = &c->columns[c->n - 1];
    const kr_composite_column found = *last;
    if (!is_float(last->type))
        return 0;
    last->lowest = 0;
    last->span = top_of(last->type);
    if (place_together(c))
        return 1;
    *last = found;
    return 0;
}

static uint32_t bits_of(const kr_composite_column *column)
{
    return kr_fold_bits(column->n_ranks ? column->n_ranks + 1 : column->span);
}

/* Gives the columns of a level their places, the last one in the lowest bits. Returns the bits of all. */
static uint32_t place_level(kr_composite *c, uint32_t level)
{
    uint32_t bits = 0;
    for (uint32_t j = c->n; j-- > 0;)
        if (c->columns[j].level == level) {
            c->columns[j].shift = bits;
            bits += bits_of(&c->columns[j]);
        }
    c->heads[level].shift = bits;
    return bits + (level ? kr_fold_bits(c->heads[level].n_ranks + 1) : 0);
}

/* Levels and ranks are known. Returns 0 if a level takes more than 64 bits. */
static int place_levels(kr_composite *c)
{
    for (uint32_t l = 0; l < c->n_levels; ++l) {
        c->bits = place_level(c, l);
        if (!c->bits || c->bits > 64)
            return 0;
    }
    return 1;
}

/* `n_ranks` becomes what there will be: `rows` of a head, and as many codes as sources have of a column. */
static void divide_levels(const kr_composite_source *sources, uint64_t rows, kr_composite *c)
{
    uint32_t used = kr_fold_bits(c->columns[0].span);
    c->n_levels = 1;
    for (uint32_t j = 1; j < c->n; ++j) {
        kr_composite_column *column = &c->columns[j];
        uint64_t values = 0;
        for (uint32_t i = 0; i < sources[j].n; ++i)
            values += sources[j].columns[i]->count;
        if (used + bits_of(column) > 64 && kr_fold_bits(values + 1) < bits_of(column))
            column->n_ranks = values;
        if (used + bits_of(column) > 64) {
            c->heads[c->n_levels++].n_ranks = rows;
            used = kr_fold_bits(rows + 1);
        }
        column->level = c->n_levels - 1;
        used += bits_of(column);
    }
}

/* ---- Lists of ranks ------------------------------------------------------------------------------- */

/* Sorts n codes into memory of the list's. Gives `codes` back. */
static kr_buffer sort_codes(kr_work *w, uint64_t *codes, uint64_t n, const char *help)
{
    const kr_buffer sorted = kr_work_buffer(w, n * sizeof *codes, "sorted codes", help);
    uint32_t *rows = kr_work_take_or(w, n * sizeof *rows, "the order of codes", help);
    const kr_sort sort = {
        .key_bits = 64, .end_bit = 64, .n = n, .keys_in = codes, .keys_out = sorted.data, .rows_out = rows};
    kr_work_sort(w, &sort);
    kr_work_give(w, rows);
    kr_work_give(w, codes);
    return sorted;
}

/* Those of all sources; of NULLs any, since a number that no row has does no harm. */
static void rank_column(kr_work *w, const kr_composite_source *source, const char *help,
                        kr_composite_column *column)
{
    uint64_t *codes = kr_work_take_or(w, column->n_ranks * sizeof *codes, "codes", help), done = 0;
    for (uint32_t i = 0; i < source->n; ++i) {
        kr_fold_job job = {.out = KR_PLACE_IN(codes, done), .n_parts = 1, .out_type = KR_U64};
        job.parts[0] = kr_fold_part_of(source->columns[i]);
        job.parts[0].validity = NULL;
        job.parts[0].span = ~(uint64_t)0;
        kr_fold_run(w, &job, source->columns[i]->count);
        done += source->columns[i]->count;
    }
    column->ranks = sort_codes(w, codes, done, help);
}

static void make_lists(kr_work *w, const kr_composite_source *sources, const char *help, kr_composite *c)
{
    kr_column firsts[KR_COMPOSITE_MOST];
    for (uint32_t j = 0; j < c->n; ++j) {
        firsts[j] = *sources[j].columns[0];
        firsts[j].validity = NULL;
        if (c->columns[j].n_ranks)
            rank_column(w, &sources[j], help, &c->columns[j]);
    }
    for (uint32_t l = 1; l < c->n_levels; ++l) {
        kr_composite before = *c; /* the levels before this one, whose keys are always u64 */
        before.n_levels = l;
        before.type = KR_U64;
        while (before.columns[before.n - 1].level >= l)
            --before.n;
        const kr_composite_rows rows = {.columns = firsts, .n = before.n, .last = KR_FOLD_LEAST};
        const kr_column keys = kr_composite_fold(w, &before, &rows, help);
        c->heads[l].ranks = sort_codes(w, (uint64_t *)keys.data, keys.count, help);
    }
}

void kr_composite_make(kr_work *w, const kr_composite_source *sources, uint32_t n, const char *help,
                       kr_composite *c)
{
    *c = (kr_composite){.n = n};
    for (uint32_t j = 0; j < n; ++j) {
        c->columns[j].type = sources[j].columns[0]->type;
        c->columns[j].dictionary = sources[j].columns[0]->dictionary;
    }
    find_ranges(w, sources, c);
    if (!kr_work_goes_on(w))
        return;
    const int is_wide = !place_with_whole_floats(c) && !place_together(c);
    if (is_wide) {
        divide_levels(sources, sources[0].columns[0]->count, c);
        if (!place_levels(c))
            KR_STEP(w, kr_fail(w->err, KR_ERR_LIMIT,
                               "columns of so many values take more than 64 bits, also as ranks: %s", help));
    }
    c->type = c->bits > 32 ? KR_U64 : KR_U32;
    if (is_wide && kr_work_goes_on(w))
        make_lists(w, sources, help, c);
}

void kr_composite_keep(kr_work *w, kr_composite *c)
{
    for (uint32_t j = 0; j < c->n; ++j) {
        c->columns[j].ranks = kr_work_keep(w, c->columns[j].ranks.data);
        c->heads[j].ranks = kr_work_keep(w, c->heads[j].ranks.data);
    }
}

void kr_composite_give_lists(kr_work *w, const kr_composite *c)
{
    for (uint32_t j = c->n; j-- > 0;) {
        kr_work_give(w, c->heads[j].ranks.data);
        kr_work_give(w, c->columns[j].ranks.data);
    }
}

void kr_composite_release(kr_device *device, kr_composite *c, kr_stream *stream)
{
    for (uint32_t j = KR_COMPOSITE_MOST; j-- > 0;) {
        kr_buffer_release(device, &c->heads[j].ranks, stream);
        kr_buffer_release(device, &c->columns[j].ranks, stream);
        if (c->columns[j].texts)
            kr_index_texts_do.release(c->columns[j].texts, stream);
    }
}

static kr_status share_list(kr_buffer *list, kr_buffer *shared, kr_error *err)
{
    return kr_buffer_share(list, list->nbytes, shared, err);
}

kr_status kr_composite_share(kr_composite *c, kr_composite *shared, kr_error *err)
{
    kr_status status = KR_OK;
    *shared = *c;
    for (uint32_t j = 0; j < KR_COMPOSITE_MOST; ++j) {
        shared->heads[j].ranks = shared->columns[j].ranks = (kr_buffer){0};
        if (status == KR_OK)
            status = share_list(&c->heads[j].ranks, &shared->heads[j].ranks, err);
        if (status == KR_OK)
            status = share_list(&c->columns[j].ranks, &shared->columns[j].ranks, err);
        if (c->columns[j].texts)
            shared->columns[j].texts = kr_index_texts_do.share(c->columns[j].texts);
    }
    return status;
}

uint64_t kr_composite_nbytes(const kr_composite *c)
{
    uint64_t nbytes = 0;
    for (uint32_t j = 0; j < c->n; ++j)
        nbytes += c->columns[j].ranks.nbytes + c->heads[j].ranks.nbytes;
    return nbytes;
}

uint64_t kr_composite_texts_nbytes(const kr_composite *c)
{
    uint64_t nbytes = 0;
    for (uint32_t j = 0; j < c->n; ++j)
        nbytes += c->columns[j].texts ? kr_index_texts_do.nbytes(c->columns[j].texts) : 0;
    return nbytes;
}

/* ---- Saving, checking ----------------------------------------------------------------------------- */

static void image_column(kr_image *image, kr_composite *c, uint32_t j)
{
    kr_composite_column *column = &c->columns[j];
    const uint32_t scope = kr_image_enter_nth(image, "column", j);
    kr_image_u32(image, "type", &column->type, KR_U8, KR_TIMESTAMP64);
    kr_index_image_texts(image, column->type, &column->dictionary, column->text_type, &column->texts);
    const uint64_t top = kr_work_goes_on(image->work) ? top_of(column->type) : 0;
    kr_image_u64(image, "lowest", &column->lowest, 0, top);
    kr_image_u64(image, "span", &column->span, 1, top - (column->lowest < top ? column->lowest : top));
    kr_image_u64(image, "margin", &column->margin, 1, column->span);
    kr_image_u32(image, "level", &column->level, j ? c->columns[j - 1].level : 0,
                 j ? c->columns[j - 1].level + 1 : 0);
    kr_image_u64(image, "n", &column->n_ranks, 0, KR_NO_ROW);
    kr_image_buffer(image, "ranks", &column->ranks, column->n_ranks * sizeof(uint64_t));
    kr_image_leave(image, scope);
}

void kr_composite_image(kr_image *image, kr_composite *c)
{
    kr_image_u32(image, "columns", &c->n, 1, KR_COMPOSITE_INDEXED);
    for (uint32_t j = 0; j < c->n && kr_work_goes_on(image->work); ++j)
        image_column(image, c, j);
    c->n_levels = kr_work_goes_on(image->work) ? c->columns[c->n - 1].level + 1 : c->n_levels;
    for (uint32_t l = 1; l < c->n_levels && kr_work_goes_on(image->work); ++l) {
        const uint32_t scope = kr_image_enter_nth(image, "level", l);
        kr_image_u64(image, "n", &c->heads[l].n_ranks, 1, KR_NO_ROW);
        kr_image_buffer(image, "ranks", &c->heads[l].ranks, c->heads[l].n_ranks * sizeof(uint64_t));
        kr_image_leave(image, scope);
    }
    if (!kr_image_loads(image))
        return;
    if (!place_levels(c))
        kr_image_refuse(image, "its columns take more than 64 bits");
    c->type = c->bits > 32 ? KR_U64 : KR_U32;
}

void kr_composite_check(kr_work *w, const kr_composite *c)
{
    uint64_t falls = 0, *counter = kr_work_counters(w, 1);
    for (uint32_t j = 0; j < c->n && kr_work_goes_on(w); ++j)
        if (c->columns[j].texts)
            kr_index_texts_do.verify(w, c->columns[j].texts);
    for (uint32_t j = 0; j < c->n; ++j) {
        kr_fold_check_ranks(w, c->columns[j].ranks.data, c->columns[j].n_ranks, counter);
        kr_fold_check_ranks(w, c->heads[j].ranks.data, c->heads[j].n_ranks, counter);
    }
    kr_work_read(w, &falls, counter, sizeof falls);
    kr_work_give(w, counter);
    if (falls)
        KR_STEP(w, kr_fail(w->err, KR_ERR_INVARIANT, "ranks of columns do not ascend at position %llu",
                           (unsigned long long)falls - 1));
}
