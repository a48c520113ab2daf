/* kr_sorted_merge against a plain merge: both widths, both layouts, batches around the borders of tiles, keys
 * and row ids given often, and on a GPU where there is one. On the CPU tiles are written in both ways, its
 * own and that of GPUs. */
#define KR_KEY_BITS 32
#include "index/sorted/merge.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct entry {
    uint64_t key;
    uint32_t row;
} entry;

typedef struct list {
    entry *at;
    uint64_t n;
} list;

typedef struct setting {
    kr_device *device;
    uint32_t bits, layout;
} setting;

/* The steps of a merge, of which each width has its own. */
typedef struct steps {
    kr_merge (*begin)(kr_work *, const kr_entries *, uint32_t, kr_sorted_merge_params *);
    void (*plan)(kr_merge *, const kr_changes *);
    void (*write)(kr_merge *, const kr_entries *);
    void (*give)(const kr_merge *);
} steps;

kr_merge kr_merge_of_entries_u64(kr_work *work, const kr_entries *old, uint32_t layout,
                                 kr_sorted_merge_params *params);
void kr_merge_plan_u64(kr_merge *merge, const kr_changes *changes);
void kr_merge_write_u64(kr_merge *merge, const kr_entries *merged);
void kr_merge_give_u64(const kr_merge *merge);

static const steps narrow = {kr_merge_of_entries_u32, kr_merge_plan_u32, kr_merge_write_u32,
                             kr_merge_give_u32},
                   wide = {kr_merge_of_entries_u64, kr_merge_plan_u64, kr_merge_write_u64, kr_merge_give_u64};

/* ---- The plain merge ------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->row > y->row) - (x->row < y->row);
}

static list list_of(uint64_t n)
{
    const list made = {calloc(n + 1, sizeof(entry)), n};
    assert_non_null(made.at);
    return made;
}

static list merge_plainly(list old, list deletes, list inserts)
{
    list merged = list_of(old.n + inserts.n);
    merged.n = 0;
    for (uint64_t i = 0, d = 0; i < old.n; ++i) {
        while (d < deletes.n && deletes.at[d].key < old.at[i].key)
            ++d;
        if (d == deletes.n || deletes.at[d].key != old.at[i].key)
            merged.at[merged.n++] = old.at[i];
    }
    memcpy(merged.at + merged.n, inserts.at, inserts.n * sizeof(entry));
    merged.n += inserts.n;
    qsort(merged.at, merged.n, sizeof(entry), compare);
    return merged;
}

/* ---- To the device and back ------------------------------------------------------------------- */

/* Keys and row ids, each `key_stride` and `row_stride` bytes from the one before. */
static void put(const setting *s, list l, char *keys, char *rows, uint64_t key_stride, uint64_t row_stride)
{
    for (uint64_t i = 0; i < l.n; ++i) {
        memcpy(keys + i * key_stride, &l.at[i].key, s->bits / 8);
        memcpy(rows + i * row_stride, &l.at[i].row, sizeof(uint32_t));
    }
}

static kr_buffer upload(const setting *s, const void *from, uint64_t nbytes)
{
    kr_buffer buffer;
    assert_int_equal(kr_buffer_allocate(s->device, nbytes, NULL, "test data", NULL, &buffer, NULL), KR_OK);
    assert_int_equal(kr_device_copy(s->device, buffer.data, from, nbytes, NULL, NULL), KR_OK);
    return buffer;
}

/* `layout` aos: all in `keys`. */
static kr_sorted place(const setting *s, list l, uint32_t layout)
{
    const uint64_t key = s->bits / 8, stride = kr_layout_stride(layout, s->bits / 8);
    char *keys = calloc(l.n + 1, stride), *rows = calloc(l.n + 1, sizeof(uint32_t));
    kr_sorted placed = {.n = l.n};
    if (layout == KR_LAYOUT_SOA)
        put(s, l, keys, rows, key, sizeof(uint32_t));
    else
        put(s, l, keys, keys + key, stride, stride);
    placed.keys = upload(s, keys, l.n * stride);
    if (layout == KR_LAYOUT_SOA)
        placed.rows = upload(s, rows, l.n * sizeof(uint32_t));
    free(keys);
    free(rows);
    return placed;
}

static void expect(const setting *s, const kr_sorted *merged, list want)
{
    const uint64_t key_nbytes = s->bits / 8;
    char *keys = calloc(want.n + 1, key_nbytes), *rows = calloc(want.n + 1, sizeof(uint32_t));
    assert_int_equal(merged->n, want.n);
    assert_int_equal(merged->keys.nbytes, want.n * key_nbytes);
    assert_int_equal(merged->rows.nbytes, want.n * sizeof(uint32_t));
    assert_int_equal(kr_device_copy(s->device, keys, merged->keys.data, want.n * key_nbytes, NULL, NULL),
                     KR_OK);
    assert_int_equal(
        kr_device_copy(s->device, rows, merged->rows.data, want.n * sizeof(uint32_t), NULL, NULL), KR_OK);
    assert_int_equal(kr_device_sync(s->device, NULL, NULL), KR_OK);
    for (uint64_t i = 0; i < want.n; ++i) {
        entry found = {0, 0};
        memcpy(&found.key, keys + i * key_nbytes, key_nbytes);
        memcpy(&found.row, rows + i * sizeof(uint32_t), sizeof(uint32_t));
        if (compare(&found, &want.at[i]) != 0)
            fail_msg("entry %llu of %llu is (%llx, %u), not (%llx, %u)", (unsigned long long)i,
                     (unsigned long long)want.n, (unsigned long long)found.key, found.row,
                     (unsigned long long)want.at[i].key, want.at[i].row);
    }
    if (want.n) {
        assert_int_equal(merged->lowest, want.at[0].key);
        assert_int_equal(merged->highest, want.at[want.n - 1].key);
    }
    free(keys);
    free(rows);
}

/* What kr_sorted_merge does, but tiles are written as on a GPU. */
static kr_sorted merge_by_bits(kr_work *w, const setting *s, const kr_changes *changes, const kr_entries *old)
{
    const steps *of = s->bits == 32 ? &narrow : &wide;
    kr_sorted_merge_params params;
    kr_merge m = of->begin(w, old, KR_LAYOUT_SOA, &params);
    params.merge.by_bits = 1;
    of->plan(&m, changes);
    kr_sorted merged = {.keys = kr_work_buffer(w, m.n * s->bits / 8, "keys", NULL),
                        .rows = kr_work_buffer(w, m.n * sizeof(uint32_t), "rows", NULL),
                        .n = m.n};
    const kr_entries entries =
        kr_entries_of(KR_LAYOUT_SOA, s->bits / 8, merged.keys.data, merged.rows.data, m.n);
    of->write(&m, &entries);
    merged.lowest = m.lowest;
    merged.highest = m.highest;
    of->give(&m);
    return merged;
}

static void check(const setting *s, list old, list deletes, list inserts)
{
    kr_error err = {0};
    kr_sorted from = place(s, old, s->layout);
    kr_changes changes = {place(s, deletes, KR_LAYOUT_SOA), place(s, inserts, KR_LAYOUT_SOA)};
    const kr_entries entries = kr_entries_of(s->layout, s->bits / 8, from.keys.data, from.rows.data, old.n);
    const list want = merge_plainly(old, deletes, inserts);
    for (int by_bits = 0; by_bits < 2; ++by_bits) {
        kr_work w = kr_work_on(s->device, NULL, &err);
        const kr_sorted merged = by_bits         ? merge_by_bits(&w, s, &changes, &entries)
                                 : s->bits == 32 ? kr_sorted_merge_u32(&w, &changes, &entries)
                                                 : kr_sorted_merge_u64(&w, &changes, &entries);
        if (!kr_work_goes_on(&w))
            fail_msg("%s", err.text);
        expect(s, &merged, want);
        assert_int_equal(kr_work_end(&w), KR_OK);
    }
    kr_sorted_release(s->device, &changes.inserts, NULL);
    kr_sorted_release(s->device, &changes.deletes, NULL);
    kr_sorted_release(s->device, &from, NULL);
    free(want.at);
}

/* ---- Data -------------------------------------------------------------------------------------- */

/* Keys of `kinds` different values, the smallest and the largest code among them. */
static uint64_t key_of(const setting *s, uint64_t number, uint64_t kinds)
{
    const uint64_t most = s->bits == 32 ? UINT32_MAX : UINT64_MAX;
    return number + 1 >= kinds ? most : number * (most / kinds);
}

static list random_list(const setting *s, kr_rng *rng, uint64_t n, uint64_t kinds, uint32_t rows)
{
    list l = list_of(n);
    for (uint64_t i = 0; i < n; ++i)
        l.at[i] = (entry){key_of(s, kr_rng_below(rng, kinds), kinds), (uint32_t)kr_rng_below(rng, rows)};
    qsort(l.at, n, sizeof(entry), compare);
    return l;
}

static list part(list l, uint64_t first, uint64_t n)
{
    const list p = {l.at + (first < l.n ? first : l.n),
                    first < l.n ? (n < l.n - first ? n : l.n - first) : 0};
    return p;
}

static entry no_entry;
static const list none = {&no_entry, 0};

/* Some of these many are just below, at and above what a word of bits and a tile hold. */
static const uint64_t sizes[] = {0, 1, 31, 32, 33, 1000, 8191, 8192, 8193, 16384, 20000, 40000};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void check_random(const setting *s)
{
    static const uint64_t kinds[] = {1, 2, 300, 60000, 1u << 30};
    kr_rng rng = {1};
    for (uint32_t i = 0; i < SIZES; ++i)
        for (uint32_t k = 0; k < 5; ++k) {
            const list old = random_list(s, &rng, sizes[i], kinds[k], UINT32_MAX);
            const list deletes = random_list(s, &rng, sizes[kr_rng_below(&rng, SIZES)], kinds[k], 1);
            const list inserts = random_list(s, &rng, sizes[kr_rng_below(&rng, SIZES)], kinds[k], 1u << 31);
            check(s, old, deletes, inserts);
            check(s, old, part(deletes, 7, 100), part(inserts, 9, 100));
            check(s, old, none, inserts);
            check(s, old, deletes, none);
            check(s, old, none, none);
            free(inserts.at);
            free(deletes.at);
            free(old.at);
        }
}

/* Stretches of the entries' own keys are deleted: from the front, up to the end, around tiles, all. */
static void check_stretches(const setting *s)
{
    static const uint64_t firsts[] = {0, 1, 31, 8160, 8191, 8192, 16000, 29999};
    kr_rng rng = {2};
    const list old = random_list(s, &rng, 30000, 1u << 30, UINT32_MAX), few = random_list(s, &rng, 50, 40, 9);
    for (uint32_t f = 0; f < 8; ++f)
        for (uint32_t i = 0; i < SIZES; ++i) {
            check(s, old, part(old, firsts[f], sizes[i]), none);
            check(s, old, part(old, firsts[f], sizes[i]), few);
            check(s, old, part(old, firsts[f], sizes[i]), part(old, firsts[i % 8], sizes[i]));
        }
    free(few.at);
    free(old.at);
}

/* All inserts and a delete that misses, often, in one gap or at one key. */
static void check_gaps(const setting *s)
{
    static const uint64_t keys[] = {0, 1, 5000, 5001, 39998, 39999, 60000};
    list old = list_of(20000), inserts = list_of(20000), deletes = list_of(20000);
    for (uint32_t i = 0; i < 20000; ++i)
        old.at[i] = (entry){2 * (uint64_t)i, 3 * i};
    for (uint32_t k = 0; k < 7; ++k) {
        for (uint32_t i = 0; i < 20000; ++i) {
            inserts.at[i] = (entry){keys[k], i};
            deletes.at[i] = (entry){keys[k], i};
        }
        check(s, old, deletes, inserts);
        check(s, old, none, inserts);
        check(s, inserts, part(deletes, 0, 3), part(inserts, 100, 9000));
    }
    free(deletes.at);
    free(inserts.at);
    free(old.at);
}

/* Without reading an entry: there are none. */
static void refuses_too_many_rows(kr_device *device)
{
    uint32_t word[4] = {0};
    kr_error err = {0};
    kr_changes changes = {.inserts = {.n = 10}};
    const kr_entries entries = kr_entries_of(KR_LAYOUT_SOA, 4, word, word, KR_NO_ROW - 5);
    if (!device->ops->is_host)
        return;
    device->options.memory_cap_nbytes = 1; /* it fails before it allocates */
    kr_work w = kr_work_on(device, NULL, &err);
    kr_sorted_merge_u32(&w, &changes, &entries);
    assert_int_equal(kr_work_end(&w), KR_ERR_LIMIT);
    assert_non_null(strstr(err.text, "4294967300 rows after the update"));
    device->options.memory_cap_nbytes = 0;
}

static void merges(void **state)
{
    static const char *const names[] = {"cpu", "cuda"};
    (void)state;
    for (uint32_t d = 0; d < 2; ++d) {
        setting s = {NULL, 32, KR_LAYOUT_SOA};
        if (kr_device_open(names[d], NULL, &s.device, NULL) != KR_OK)
            continue;
        for (s.bits = 32; s.bits <= 64; s.bits += 32)
            for (s.layout = KR_LAYOUT_SOA; s.layout <= KR_LAYOUT_AOS; ++s.layout) {
                check_random(&s);
                check_stretches(&s);
                check_gaps(&s);
            }
        refuses_too_many_rows(s.device);
        kr_device_close(s.device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(merges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
