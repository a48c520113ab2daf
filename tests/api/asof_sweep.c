/* As-of joins with groups whose sides ascend by time alone, which CPUs read once: against a search of all
 * right rows for each left row. Left sides are long enough for several pieces. */
#include "check.h"

#include <math.h>

static kr_device *device;

enum { MOST = 40000 };

static uint64_t state = 7;

static uint32_t random_below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

/* A side in the order of its times: times as integers, groups of two columns, and which rows have no group.
 */
typedef struct side {
    uint64_t n;
    int64_t time[MOST];
    float float_time[MOST]; /* the same; the last ones are NaN */
    uint16_t group[MOST];
    uint8_t group_2[MOST];
    uint8_t valid[MOST / 8 + 1];
} side;

static side left, right;

enum { NANS = 5 };

static void fill(side *s, uint64_t n, uint32_t gap, uint32_t groups)
{
    int64_t time = -1000 + (int64_t)random_below(50);
    s->n = n;
    memset(s->valid, 0xFF, sizeof s->valid);
    for (uint64_t i = 0; i < n; ++i) {
        time += random_below(gap + 1);
        s->time[i] = time;
        s->float_time[i] = i + NANS < n ? (float)time : NAN;
        s->group[i] = (uint16_t)(3 + random_below(groups));
        s->group_2[i] = (uint8_t)random_below(2);
        if (random_below(50) == 0)
            s->valid[i / 8] &= (uint8_t) ~(1u << i % 8);
    }
}

static int is_valid(const side *s, uint64_t i)
{
    return s->valid[i / 8] >> i % 8 & 1;
}

typedef struct want {
    kr_nearest_side side;
    int strict, limited, is_float, n_by;
} want;

static int same_group(const want *w, uint64_t i, uint64_t j)
{
    if (!is_valid(&left, i) || !is_valid(&right, j) || left.group[i] != right.group[j])
        return 0;
    return w->n_by == 1 || left.group_2[i] == right.group_2[j];
}

/* The right row that answers left row i: of equally near ones the lower time, of one time the last one from
 * below and the first one from above. */
static uint32_t answer(const want *w, uint64_t i)
{
    uint32_t below = KR_NO_ROW, above = KR_NO_ROW;
    if (w->is_float && isnan(left.float_time[i]))
        return KR_NO_ROW;
    for (uint64_t j = 0; j < right.n; ++j) {
        const int64_t distance = right.time[j] - left.time[i];
        if ((w->is_float && isnan(right.float_time[j])) || (w->strict && distance == 0) ||
            (w->limited && llabs(distance) > 20) || !same_group(w, i, j))
            continue;
        if (distance <= 0)
            below = (uint32_t)j;
        if (distance >= 0 && above == KR_NO_ROW)
            above = (uint32_t)j;
    }
    if (w->side == KR_NEAREST_BELOW || (w->side == KR_NEAREST_EITHER && above == KR_NO_ROW))
        return below;
    if (w->side == KR_NEAREST_ABOVE || below == KR_NO_ROW)
        return above;
    return left.time[i] - right.time[below] <= right.time[above] - left.time[i] ? below : above;
}

static kr_column times_of(const want *w, const side *s)
{
    return (kr_column){.type = w->is_float ? KR_F32 : KR_TIMESTAMP64,
                       .count = s->n,
                       .data = w->is_float ? (const void *)s->float_time : s->time};
}

static void compare(const want *w)
{
    const kr_nearest_options nearest = {.struct_size = sizeof nearest,
                                        .side = w->side,
                                        .strict = (uint32_t)w->strict,
                                        .limited = (uint32_t)w->limited,
                                        .tolerance = w->is_float ? 0 : 20,
                                        .float_tolerance = w->is_float ? 20 : 0};
    kr_nearest_options given = nearest;
    if (!w->limited)
        given.tolerance = 0, given.float_tolerance = 0;
    const kr_join_options options = {.struct_size = sizeof options, .type = KR_JOIN_LEFT};
    const kr_column a = times_of(w, &left), b = times_of(w, &right);
    const kr_column by_a[] = {{.type = KR_U16, .count = left.n, .data = left.group, .validity = left.valid},
                              {.type = KR_U8, .count = left.n, .data = left.group_2}};
    const kr_column by_b[] = {
        {.type = KR_U16, .count = right.n, .data = right.group, .validity = right.valid},
        {.type = KR_U8, .count = right.n, .data = right.group_2}};
    kr_join_info info = {.struct_size = sizeof info};
    static uint32_t rows[2][MOST];
    kr_join *join = NULL;
    WORKS(kr_join_create_asof(device, "best", &a, &b, by_a, by_b, (uint32_t)w->n_by, &given, &options, &join,
                              &err));
    WORKS(kr_join_query(join, &info, &err));
    CHECK(info.pairs == left.n);
    if (w->n_by == 1 || left.n > 1000) /* else a table of groups would be larger than the sides */
        CHECK(!strcmp(info.indexed, "none"));
    WORKS(kr_join_read(join, 0, left.n, rows[0], rows[1], &err));
    kr_join_destroy(join);
    for (uint64_t i = 0; i < left.n; ++i) {
        const uint32_t wanted = answer(w, i);
        if (rows[0][i] != i || rows[1][i] != wanted) {
            ++failures;
            printf("FAILED side %d strict %d limited %d float %d columns %d, %llu rows: left row %llu: want "
                   "%u, got %u\n",
                   (int)w->side, w->strict, w->limited, w->is_float, w->n_by, (unsigned long long)left.n,
                   (unsigned long long)i, wanted, rows[1][i]);
            return;
        }
    }
}

static void compare_all(void)
{
    for (int which = KR_NEAREST_BELOW; which <= KR_NEAREST_EITHER; ++which)
        for (int how = 0; how < 4; ++how)
            for (int is_float = 0; is_float < 2; ++is_float)
                compare(&(want){(kr_nearest_side)which, how & 1, how >> 1, is_float, 1});
    compare(&(want){.side = KR_NEAREST_BELOW, .n_by = 2});
}

int main(void)
{
    WORKS(kr_device_open("cpu", NULL, &device, &err));
    fill(&left, MOST, 1, 6); /* many pieces, few right rows */
    fill(&right, 300, 130, 5);
    compare_all();
    fill(&left, 9000, 4, 40); /* two pieces, and groups that the right side lacks */
    fill(&right, 900, 44, 50);
    compare_all();
    fill(&left, 700, 3, 300); /* nearly as many groups as rows */
    fill(&right, 800, 3, 300);
    compare_all();
    fill(&left, 1, 1, 1);
    fill(&right, 6, 1, 1);
    compare_all();
    kr_device_close(device);
    return failures != 0;
}
