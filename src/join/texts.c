#include "join/texts.h"
#include "index/texts/encode.h"
#include "index/texts/probes.h"

#define HELP "join parts of the sides"

kr_assert_fits(char[KR_BY_MOST], KR_GROUPS_MOST);

/* ---- Dictionaries ------------------------------------------------------------------------------- */

/* Of one side, and its codes; NULL after a failure. */
static kr_texts *make(kr_work *w, const kr_column *strings, uint32_t is_ordered, const char *what,
                      kr_column *codes)
{
    return kr_work_goes_on(w) ? kr_texts_make_with_codes(w, is_ordered, strings, what, HELP, codes) : NULL;
}

static void encode(kr_work *w, const kr_texts *texts, const kr_column *strings, const char *what,
                   kr_column *codes)
{
    if (kr_work_goes_on(w))
        *codes = kr_texts_make_codes(w, texts, strings, what, HELP);
}

/* Texts, or codes of a dictionary: KR_NO_ROW is none of its texts, and equals nothing. */
static int is_coded(const kr_column *column)
{
    return kr_strings_are(column->type) || column->dictionary;
}

static void hide_missing(kr_work *w, const kr_column **column, kr_column *codes)
{
    if (!*column || !kr_work_goes_on(w))
        return;
    *codes = kr_texts_hide_missing(w, *column, HELP);
    *column = codes;
}

/* A dictionary of the smaller side is enough where only equal texts are partners. Returns how many texts it
 * has. */
static uint64_t encode_equal(kr_work *w, const kr_column *left, const kr_column *right, kr_column *left_codes,
                             kr_column *right_codes)
{
    const int of_left = left->count < right->count;
    kr_texts *texts = of_left ? make(w, left, 0, "the left side", left_codes)
                              : make(w, right, 0, "the right side", right_codes);
    const uint64_t n = texts ? texts->n : 0;
    encode(w, texts, of_left ? right : left, of_left ? "the right side" : "the left side",
           of_left ? right_codes : left_codes);
    kr_texts_release(texts, w->stream);
    return n;
}

/* Ranges of texts are ranges of codes of the values. */
static uint64_t encode_ranges(kr_work *w, const kr_join_job *job, kr_column columns[3])
{
    kr_texts *texts = make(w, job->left, 1, "the left side", &columns[0]);
    const kr_texts_probes ranges = {.lower = job->right, .upper = job->right_upper};
    const uint64_t n = texts ? texts->n : 0;
    if (kr_work_goes_on(w))
        kr_texts_make_keys(w, texts, &ranges, &columns[1]);
    kr_texts_release(texts, w->stream);
    return n;
}

/* The dictionary is that of the index, which takes no keys of others. */
static void encode_for_index(kr_work *w, kr_join_job *job, kr_column columns[3])
{
    const kr_texts_probes probes = {.lower = job->left, .upper = job->left_upper};
    KR_STEP(w, kr_texts_check_probes(job->right_index->texts, job->left_upper != NULL, w->err));
    KR_STEP(w, kr_index_await(job->right_index, w->stream, w->err));
    if (kr_work_goes_on(w))
        kr_texts_make_keys(w, job->right_index->texts, &probes, columns);
    job->left = &columns[0];
    job->left_upper = job->left_upper ? &columns[1] : NULL;
}

/* Codes are below 2^bits, and so are the bounds of an empty range. */
static uint32_t bits_of(uint64_t n)
{
    return n > 1 ? 32 - kr_clz32((uint32_t)n) : 1;
}

void kr_join_texts_encode(kr_work *w, kr_join_job *job, kr_column columns[3])
{
    if (!is_coded(job->left))
        return;
    if (!kr_strings_are(job->left->type)) {
        hide_missing(w, &job->left, &columns[0]);
        hide_missing(w, job->right_index ? &job->left_upper : &job->right, &columns[1]);
        hide_missing(w, &job->right_upper, &columns[2]);
        return;
    }
    if (job->right_index) {
        encode_for_index(w, job, columns);
        return;
    }
    const uint64_t n = job->right_upper ? encode_ranges(w, job, columns)
                                        : encode_equal(w, job->left, job->right, &columns[0], &columns[1]);
    job->used_bits = bits_of(n);
    job->left = &columns[0];
    job->right = &columns[1];
    job->right_upper = job->right_upper ? &columns[2] : NULL;
}

/* ---- Columns that are compared for equality ------------------------------------------------------- */

/* n columns of each side, those of texts as codes. */
typedef struct coded {
    kr_column left[KR_BY_MOST], right[KR_BY_MOST];
} coded;

static int are_coded(const kr_column *columns, uint32_t n)
{
    for (uint32_t j = 0; j < n; ++j)
        if (is_coded(&columns[j]))
            return 1;
    return 0;
}

static void encode_all(kr_work *w, const kr_column *left, const kr_column *right, uint32_t n, coded *c)
{
    for (uint32_t j = 0; j < n; ++j) {
        c->left[j] = left[j];
        c->right[j] = right[j];
        if (!kr_work_goes_on(w) || !is_coded(&left[j]))
            continue;
        if (kr_strings_are(left[j].type)) {
            (void)encode_equal(w, &left[j], &right[j], &c->left[j], &c->right[j]);
        } else {
            c->left[j] = kr_texts_hide_missing(w, &left[j], HELP);
            c->right[j] = kr_texts_hide_missing(w, &right[j], HELP);
        }
    }
}

/* ---- Joins ---------------------------------------------------------------------------------------- */

void kr_join_texts_run(kr_work *w, const kr_join_job *job, const kr_join_groups *groups, kr_join *join)
{
    kr_join_job codes = *job;
    kr_join_groups by = *groups;
    kr_join_before before;
    kr_column columns[3];
    coded c;
    const int has_codes = is_coded(job->left) || are_coded(groups->left, groups->n);
    if (has_codes) {
        kr_join_before_begin(w, &before);
        kr_join_texts_encode(w, &codes, columns);
        encode_all(w, groups->left, groups->right, groups->n, &c);
        by.left = c.left;
        by.right = c.right;
        kr_join_before_pause(w, join);
    }
    if (kr_work_goes_on(w) && groups->n)
        kr_join_grouped_run(w, &codes, &by, join);
    else if (kr_work_goes_on(w))
        kr_join_run(w, &codes, join);
    if (has_codes)
        kr_join_before_end(w, &before, join);
}

void kr_join_texts_columns(kr_work *w, const kr_columns_job *job, kr_join *join)
{
    kr_columns_job codes = *job;
    kr_join_before before;
    coded c;
    if (!are_coded(job->left, job->n)) {
        kr_join_columns_run(w, job, join);
        return;
    }
    kr_join_before_begin(w, &before);
    encode_all(w, job->left, job->right, job->n, &c);
    codes.left = codes.how.left = c.left;
    codes.right = codes.how.right = c.right;
    kr_join_before_pause(w, join);
    if (kr_work_goes_on(w))
        kr_join_columns_run(w, &codes, join);
    kr_join_before_end(w, &before, join);
}

/* The right times are texts of the dictionary, and each left one becomes the nearest of them. */
static void encode_times(kr_work *w, kr_asof_job *job, kr_column *left, kr_column *right)
{
    kr_texts *texts = make(w, job->right, 1, "the right time", right);
    const kr_texts_probes probes = {.lower = job->left};
    if (kr_work_goes_on(w))
        kr_texts_make_nearest(w, texts, &probes, &job->near, left);
    kr_texts_release(texts, w->stream);
    job->near.type = KR_U32;
    job->left = left;
    job->right = right;
}

void kr_join_texts_asof(kr_work *w, const kr_asof_job *job, kr_join *join)
{
    kr_asof_job codes = *job;
    kr_join_before before;
    kr_column left, right;
    coded c;
    if (!is_coded(job->left) && !are_coded(job->left_by, job->n_by)) {
        kr_asof_run(w, job, join);
        return;
    }
    kr_join_before_begin(w, &before);
    encode_all(w, job->left_by, job->right_by, job->n_by, &c);
    codes.left_by = c.left;
    codes.right_by = c.right;
    if (kr_strings_are(job->left->type) && kr_work_goes_on(w)) {
        encode_times(w, &codes, &left, &right);
    } else if (job->left->dictionary) {
        hide_missing(w, &codes.left, &left);
        hide_missing(w, &codes.right, &right);
    }
    kr_join_before_pause(w, join);
    if (kr_work_goes_on(w))
        kr_asof_run(w, &codes, join);
    kr_join_before_end(w, &before, join);
}

/* ---- Intervals ------------------------------------------------------------------------------------ */

/* Starts and ends are compared with each other, so all of their texts have codes. */
void kr_join_texts_encode_intervals(kr_work *w, kr_overlap_job *job, kr_column columns[4])
{
    static const char *const names[4] = {"the left starts", "the left ends", "the right starts",
                                         "the right ends"};
    const kr_column *all[4] = {job->left[0], job->left[1], job->right[0], job->right[1]};
    if (!is_coded(all[0]))
        return;
    if (!kr_strings_are(all[0]->type)) {
        for (int i = 0; i < 2; ++i) {
            hide_missing(w, &job->left[i], &columns[i]);
            hide_missing(w, &job->right[i], &columns[2 + i]);
        }
        return;
    }
    const kr_texts_design design = {.is_ordered = 1, .what = names[0]};
    kr_texts *texts = NULL;
    KR_STEP(w, kr_texts_make(w->device, &design, all[0], w->stream, &texts, w->err));
    for (int i = 1; i < 4 && kr_work_goes_on(w); ++i) {
        kr_texts *more = kr_texts_merge(w, texts, all[i], names[i]);
        kr_texts_release(texts, w->stream);
        texts = more;
    }
    for (int i = 0; i < 4; ++i)
        encode(w, texts, all[i], names[i], &columns[i]);
    kr_texts_release(texts, w->stream);
    for (int i = 0; i < 2; ++i) {
        job->left[i] = &columns[i];
        job->right[i] = &columns[2 + i];
    }
}

void kr_join_texts_overlap(kr_work *w, const kr_overlap_job *job, const kr_join_groups *groups, kr_join *join)
{
    kr_overlap_job codes = *job;
    kr_join_groups by = *groups;
    kr_join_before before;
    kr_column columns[4];
    coded c;
    const int has_codes = is_coded(job->left[0]) || are_coded(groups->left, groups->n);
    if (has_codes) {
        kr_join_before_begin(w, &before);
        kr_join_texts_encode_intervals(w, &codes, columns);
        encode_all(w, groups->left, groups->right, groups->n, &c);
        by.left = c.left;
        by.right = c.right;
        kr_join_before_pause(w, join);
    }
    if (kr_work_goes_on(w) && groups->n)
        kr_overlap_grouped_run(w, &codes, &by, join);
    else if (kr_work_goes_on(w))
        kr_overlap_run(w, &codes, join);
    if (has_codes)
        kr_join_before_end(w, &before, join);
}
