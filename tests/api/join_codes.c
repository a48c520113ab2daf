/* Joins of codes of a dictionary: KR_NO_ROW, which kr_texts_encode gives to texts that are not there, equals
 * nothing. Each join is compared with the same one where such rows are NULL, joins for equality also with all
 * pairs. */
#include "check.h"
#include "device_name.h"
#include "random.h"

enum { LEFT = 90, RIGHT = 70, CODES = 12, DICTIONARY = 77, RESULT = LEFT * RIGHT + LEFT + RIGHT };

/* Columns of a side. */
enum { KEY, UPPER, GROUP, COLUMNS };

static kr_device *device;
static uint64_t all_pairs;

/* Two sets of columns: where codes are missing, one has KR_NO_ROW, the other NULL. */
typedef struct side {
    uint32_t n;
    uint32_t codes[COLUMNS][LEFT];
    uint8_t valid[COLUMNS][LEFT / 8 + 2],
        shown[COLUMNS][LEFT / 8 + 2]; /* without and with KR_NO_ROW; from bit 3 */
    kr_column plain[COLUMNS], nulls[COLUMNS];
    void *memory[COLUMNS];
} side;

static side left, right;

static int is_there(const side *s, int c, uint32_t i)
{
    return s->valid[c][(i + 3) / 8] >> (i + 3) % 8 & 1;
}

/* missing: of 8 codes, how many are; nulls: some rows are NULL as well. On a GPU some columns are there. */
static void fill(kr_rng *rng, side *s, uint32_t n, uint32_t missing, int nulls)
{
    memset(s, 0, sizeof *s);
    s->n = n;
    for (int c = 0; c < COLUMNS; ++c) {
        for (uint32_t i = 0; i < n; ++i) {
            const int is_missing = kr_rng_below(rng, 8) < missing,
                      is_null = nulls && kr_rng_below(rng, 5) == 0;
            const uint32_t code = (uint32_t)kr_rng_below(rng, c == GROUP ? 3 : CODES);
            s->codes[c][i] = is_missing ? KR_NO_ROW : c == UPPER ? s->codes[KEY][i] / 2 + code : code;
            s->valid[c][(i + 3) / 8] |= (uint8_t)(!is_missing && !is_null) << (i + 3) % 8;
            s->shown[c][(i + 3) / 8] |= (uint8_t)(!is_null) << (i + 3) % 8;
        }
        const void *data = s->codes[c];
        if (kr_rng_below(rng, 2)) {
            WORKS(kr_memory_allocate(device, LEFT * 4, NULL, &s->memory[c], &err));
            WORKS(kr_memory_copy(device, s->memory[c], s->codes[c], n * 4ull, NULL, &err));
            data = s->memory[c];
        }
        s->nulls[c] = (kr_column){.type = KR_U32,
                                  .count = n,
                                  .data = data,
                                  .validity = s->valid[c],
                                  .validity_offset = 3,
                                  .dictionary = DICTIONARY};
        s->plain[c] = s->nulls[c];
        s->plain[c].validity = nulls ? s->shown[c] : NULL;
        s->plain[c].validity_offset = nulls ? 3 : 0;
    }
}

static void empty(side *s)
{
    for (int c = 0; c < COLUMNS; ++c)
        if (s->memory[c])
            kr_memory_release(device, s->memory[c], LEFT * 4, NULL);
}

/* ---- Joins --------------------------------------------------------------------------------------- */

typedef enum sort { EQUAL, SEVERAL, RANGES, RANGES_BY, ASOF, INTERVALS, INTERVALS_BY, PREPARED, SORTS } sort;

static const char *const sorts[SORTS] = {"equal", "several columns", "ranges",    "ranges in groups",
                                         "as-of", "intervals",       "in groups", "prepared"};

typedef struct pairs {
    uint64_t n;
    uint32_t left[RESULT], right[RESULT];
} pairs;

static kr_join *begin(sort what, kr_join_options *options, const kr_column *l, const kr_column *r)
{
    static const kr_nearest_options near = {.struct_size = sizeof near};
    const kr_column several[2][2] = {{l[KEY], l[GROUP]}, {r[KEY], r[GROUP]}};
    kr_join *join = NULL;
    kr_index *index = NULL;
    if (what == RANGES_BY || what == INTERVALS_BY) {
        options->left_by = &l[GROUP];
        options->right_by = &r[GROUP];
        options->n_by = 1;
    }
    switch (what) {
    case EQUAL: WORKS(kr_join_create(device, "best", &l[KEY], &r[KEY], options, &join, &err)); break;
    case SEVERAL:
        WORKS(kr_join_create_columns(device, "best", several[0], several[1], 2, options, &join, &err));
        break;
    case RANGES:
    case RANGES_BY:
        WORKS(kr_join_create_range(device, "best", &l[KEY], &r[KEY], &r[UPPER], options, &join, &err));
        break;
    case ASOF:
        WORKS(kr_join_create_asof(device, "best", &l[KEY], &r[KEY], &l[GROUP], &r[GROUP], 1, &near, options,
                                  &join, &err));
        break;
    case INTERVALS:
    case INTERVALS_BY:
        WORKS(kr_join_create_overlap(device, "best", &l[KEY], &l[UPPER], &r[KEY], &r[UPPER], KR_ENDS_CLOSED,
                                     options, &join, &err));
        break;
    default:
        WORKS(kr_index_create(device, "best", &r[KEY], NULL, NULL, &index, &err));
        WORKS(kr_join_create_prepared(index, &l[KEY], NULL, options, &join, &err));
        kr_index_destroy(index);
    }
    return join;
}

static void run(sort what, kr_join_type type, const kr_column *l, const kr_column *r, pairs *found)
{
    kr_join_options options = {.struct_size = sizeof options, .type = type};
    kr_join_info info = {.struct_size = sizeof info};
    found->n = 0;
    kr_join *join = begin(what, &options, l, r);
    if (!join)
        return;
    WORKS(kr_join_query(join, &info, &err));
    CHECK(info.pairs <= RESULT);
    found->n = info.pairs;
    WORKS(kr_join_read(join, 0, found->n, found->left, found->right, &err));
    kr_join_destroy(join);
}

/* Pairs of rows that are equal and there, by comparing all. */
static uint64_t count_equal(int several)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < left.n; ++i)
        for (uint32_t j = 0; j < right.n; ++j) {
            int equal = 1;
            for (int c = KEY; c <= (several ? GROUP : KEY); c += GROUP)
                equal &=
                    is_there(&left, c, i) && is_there(&right, c, j) && left.codes[c][i] == right.codes[c][j];
            n += (uint64_t)equal;
        }
    return n;
}

static void check_sort(sort what, kr_join_type type)
{
    static pairs found, wanted;
    run(what, type, left.plain, right.plain, &found);
    run(what, type, left.nulls, right.nulls, &wanted);
    const int has_right = type != KR_JOIN_SEMI && type != KR_JOIN_ANTI;
    const int same = found.n == wanted.n && !memcmp(found.left, wanted.left, found.n * 4) &&
                     (!has_right || !memcmp(found.right, wanted.right, found.n * 4));
    CHECK(same);
    if (!same)
        printf("... %s, type %d: %llu pairs, with NULL %llu\n", sorts[what], (int)type,
               (unsigned long long)found.n, (unsigned long long)wanted.n);
    if (type == KR_JOIN_INNER && (what == EQUAL || what == SEVERAL || what == PREPARED))
        CHECK(found.n == count_equal(what == SEVERAL));
    all_pairs += found.n;
}

/* ---- Calls that make no join ----------------------------------------------------------------------- */

static int add_pairs(void *ctx, uint64_t n, const uint32_t *left_rows, const uint32_t *right_rows)
{
    (void)left_rows, (void)right_rows;
    *(uint64_t *)ctx += n;
    return 0;
}

static uint64_t count_overlaps(const kr_column *l, const kr_column *r)
{
    uint64_t n = 0, handed = 0;
    WORKS(kr_join_overlap_chunks(device, "best", &l[KEY], &l[UPPER], &r[KEY], &r[UPPER], KR_ENDS_CLOSED,
                                 1 << 20, add_pairs, &handed, &n, &err));
    CHECK(n == handed);
    return n;
}

static void check_calls(void)
{
    uint64_t n = 0, handed = 0, counts[LEFT] = {0}, sum = 0;
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    WORKS(kr_join_chunks(device, "best", &left.plain[KEY], &right.plain[KEY], NULL, NULL, 1 << 20, add_pairs,
                         &handed, &n, &err));
    CHECK(n == count_equal(0) && n == handed);
    WORKS(kr_join_sums(device, "best", &left.plain[KEY], &right.plain[KEY], NULL, &sink, NULL, &err));
    for (uint32_t i = 0; i < left.n; ++i)
        sum += counts[i];
    CHECK(sum == n);
    CHECK(count_overlaps(left.plain, right.plain) == count_overlaps(left.nulls, right.nulls));
}

/* ---- Indexes over several columns ------------------------------------------------------------------ */

/* They have rows with a text, or NULL. */
static void check_columns(void)
{
    const uint32_t numbers[4] = {4, 3, 2, 1}, codes[4] = {0, 1, 2, KR_NO_ROW};
    const uint8_t not_last = 7;
    kr_column columns[2] = {{.type = KR_U32, .count = 4, .data = codes, .dictionary = DICTIONARY},
                            {.type = KR_U32, .count = 4, .data = numbers}};
    kr_index *index = NULL;
    REFUSED(KR_ERR_ARGUMENT, kr_index_create_columns(device, "best", columns, 2, NULL, NULL, &index, &err));
    const kr_column swapped[2] = {columns[1], columns[0]};
    REFUSED(KR_ERR_ARGUMENT, kr_index_create_columns(device, "best", swapped, 2, NULL, NULL, &index, &err));
    columns[0].validity = &not_last;
    WORKS(kr_index_create_columns(device, "best:updates=on", columns, 2, NULL, NULL, &index, &err));
    columns[0].validity = NULL;
    REFUSED(KR_ERR_ARGUMENT, kr_index_update_columns(index, columns, NULL, NULL, NULL, &err));
    WORKS(kr_index_update_columns(index, NULL, NULL, columns, NULL, &err)); /* no row has it */
    kr_index_info info = {.struct_size = sizeof info};
    WORKS(kr_index_query(index, &info, &err));
    CHECK(info.rows == 0);
    kr_index_destroy(index);
}

int main(int argc, char **argv)
{
    static const kr_join_type types[] = {KR_JOIN_INNER, KR_JOIN_SEMI,  KR_JOIN_ANTI,
                                         KR_JOIN_LEFT,  KR_JOIN_RIGHT, KR_JOIN_FULL};
    const int skip = take_device_name(argc, argv);
    kr_rng rng = {37};
    if (skip)
        return skip;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    for (uint32_t round = 0; round < 12; ++round) {
        fill(&rng, &left, LEFT, round % 3, round % 2);
        fill(&rng, &right, RIGHT, round / 3 % 3, round / 2 % 2);
        for (int what = 0; what < SORTS; ++what) {
            const int few = what >= ASOF ? 4 : 6;
            for (int t = 0; t < few; ++t)
                if (what != ASOF || types[t] == KR_JOIN_INNER || types[t] == KR_JOIN_LEFT)
                    check_sort((sort)what, types[t]);
        }
        check_calls();
        empty(&left);
        empty(&right);
    }
    check_columns();
    CHECK(all_pairs > 10000);
    kr_device_close(device);
    if (!failures)
        printf("ok\n");
    return failures != 0;
}
