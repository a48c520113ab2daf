/* AUTO indexes the side that makes the join faster, or takes at most a fifth longer. Each shape is joined
 * with AUTO and with either side indexed, in turn; the medians of these rounds are compared. Other work on
 * the machine can make a few rounds slow, so rounds are added while AUTO looks too slow. Columns and results
 * are in device memory. A CPU joins 2^7 times fewer rows.
 *
 * Usage: api.join_sides [DEVICE [grid]]     grid: prints more shapes, with phases, and judges none */
#include "check.h"
#include "device_name.h"

#include <math.h>
#include <time.h>

static kr_device *device;
static int is_host;

typedef struct shape {
    const char *spec;
    uint32_t left, right; /* log2 of the rows */
    uint32_t unordered;
    kr_join_type type;
    uint32_t repeats; /* points: log2 of the right rows of a key */
    double overlaps;  /* 0: points; else the ranges that hold a key, on average */
} shape;

static const shape judged[] = {
    {"best", 27, 20, 1, KR_JOIN_INNER, 0, 0},  {"best", 27, 20, 0, KR_JOIN_INNER, 0, 0},
    {"best", 20, 27, 0, KR_JOIN_INNER, 0, 0},  {"array", 22, 26, 1, KR_JOIN_INNER, 0, 0},
    {"array", 24, 24, 0, KR_JOIN_INNER, 3, 0}, {"hash", 20, 26, 1, KR_JOIN_INNER, 0, 0},
    {"hash", 26, 20, 0, KR_JOIN_INNER, 0, 0},  {"hash", 20, 26, 0, KR_JOIN_SEMI, 6, 0},
    {"cgrx", 20, 23, 1, KR_JOIN_INNER, 0, 0},  {"cgrx", 23, 20, 0, KR_JOIN_INNER, 2, 0},
    {"array", 20, 24, 0, KR_JOIN_INNER, 0, 1}, {"array", 24, 20, 0, KR_JOIN_INNER, 0, 1},
    {"best", 20, 22, 1, KR_JOIN_INNER, 0, 16}, {"best", 18, 20, 0, KR_JOIN_INNER, 0, 256},
    {"cgrx", 20, 23, 0, KR_JOIN_INNER, 0, 1},  {"cgrx", 20, 23, 1, KR_JOIN_INNER, 0, 64},
    {"btree", 22, 22, 0, KR_JOIN_LEFT, 0, 2},
};

enum { JUDGED = sizeof judged / sizeof *judged, ROUNDS = 5, ROUNDS_MOST = 99, SMALLER = 7 };

static uint32_t mix(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7FEB352Du;
    x = (x ^ x >> 15) * 0x846CA68Bu;
    return x ^ x >> 16;
}

/* ---- The sides -------------------------------------------------------------------------------- */

typedef struct sides {
    kr_column left, right, upper;
    void *memory[3];
} sides;

static void upload(kr_column *column, void **memory, const uint32_t *values, uint64_t n)
{
    WORKS(kr_memory_allocate(device, n * sizeof *values, NULL, memory, &err));
    WORKS(kr_memory_copy(device, *memory, values, n * sizeof *values, NULL, &err));
    *column = (kr_column){.type = KR_U32, .count = n, .data = *memory};
}

/* Left keys are drawn from the right ones, or from anywhere for ranges, which begin anywhere. */
static void open_sides(const shape *s, sides *made)
{
    const uint64_t n = UINT64_C(1) << s->left, m = UINT64_C(1) << s->right, most = n > m ? n : m;
    uint32_t *values = malloc(most * sizeof *values);
    const double width = s->overlaps * 0x1p32 / (double)m;
    for (uint64_t i = 0; i < n; ++i) {
        const uint32_t drawn = mix((uint32_t)i ^ 0x5EED0000u);
        values[i] = s->overlaps > 0 ? drawn : mix(drawn >> s->repeats & (uint32_t)((m >> s->repeats) - 1));
    }
    upload(&made->left, &made->memory[0], values, n);
    for (uint64_t i = 0; i < m; ++i)
        values[i] = mix((uint32_t)(i & ((m >> s->repeats) - 1)));
    upload(&made->right, &made->memory[1], values, m);
    for (uint64_t i = 0; i < m && s->overlaps > 0; ++i)
        values[i] = (double)values[i] + width < 0x1p32 ? values[i] + (uint32_t)width : UINT32_MAX;
    if (s->overlaps > 0)
        upload(&made->upper, &made->memory[2], values, m);
    free(values);
}

static void close_sides(sides *made)
{
    const kr_column *columns[3] = {&made->left, &made->right, &made->upper};
    for (int i = 0; i < 3; ++i)
        kr_memory_release(device, made->memory[i], columns[i]->count * sizeof(uint32_t), NULL);
}

/* ---- Joins ------------------------------------------------------------------------------------ */

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds; infinity where the kind cannot index that side. Prints the phases unless `quiet`. */
static double join_once(const shape *s, const sides *of, kr_join_inverse inverse, kr_join_info *info,
                        int quiet)
{
    const kr_join_options options = {
        .struct_size = sizeof options, .type = s->type, .inverse = inverse, .unordered = s->unordered};
    kr_join *join = NULL;
    kr_error err = {0};
    const double begin = now();
    const kr_status status =
        s->overlaps > 0
            ? kr_join_create_range(device, s->spec, &of->left, &of->right, &of->upper, &options, &join, &err)
            : kr_join_create(device, s->spec, &of->left, &of->right, &options, &join, &err);
    const double seconds = now() - begin;
    if (status != KR_OK) {
        CHECK(inverse != KR_INVERSE_AUTO && status == KR_ERR_UNSUPPORTED);
        return INFINITY;
    }
    *info = (kr_join_info){.struct_size = sizeof *info};
    CHECK(kr_join_query(join, info, NULL) == KR_OK);
    for (uint32_t i = 0; !quiet && i < kr_join_phase_count(join); ++i)
        printf(" %s %.3f", kr_join_phase_name(join, i), 1e3 * kr_join_phase_seconds(join, i));
    kr_join_destroy(join);
    return seconds;
}

enum { AUTO, LEFT_INDEXED, RIGHT_INDEXED, WAYS };

typedef struct measured {
    double seconds[WAYS][ROUNDS_MOST]; /* ascending */
    uint32_t rounds;
    kr_join_info info; /* of AUTO */
} measured;

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Keeps the times of a way in ascending order. */
static void note(measured *m, int way, double seconds)
{
    double *all = m->seconds[way];
    uint32_t i = m->rounds;
    for (; i > 0 && all[i - 1] > seconds; --i)
        all[i] = all[i - 1];
    all[i] = seconds;
}

static double median(const measured *m, int way)
{
    return (m->seconds[way][(m->rounds - 1) / 2] + m->seconds[way][m->rounds / 2]) / 2;
}

/* How many times as long AUTO takes as the better of the two sides: by their medians or, as other programs
 * may disturb most rounds of a way, by their fastest runs. */
static double ratio_of(const measured *m)
{
    const double fastest = smaller(m->seconds[LEFT_INDEXED][0], m->seconds[RIGHT_INDEXED][0]);
    return smaller(median(m, AUTO) / smaller(median(m, LEFT_INDEXED), median(m, RIGHT_INDEXED)),
                   m->seconds[AUTO][0] / fastest);
}

/* One join of each way, in another order in each of six rounds: a busy machine lets a program wait after a
 * long join, so that the next one is slow. All ways must make the same pairs. */
static void run_round(const shape *s, const sides *made, measured *m)
{
    static const kr_join_inverse inverses[WAYS] = {KR_INVERSE_AUTO, KR_INVERSE_ON, KR_INVERSE_OFF};
    uint64_t pairs = UINT64_MAX;
    for (int i = 0; i < WAYS; ++i) {
        const int turn = m->rounds % 2 ? WAYS - 1 - i : i, way = (turn + (int)m->rounds / 2) % WAYS;
        kr_join_info info = {.struct_size = sizeof info};
        const double seconds = join_once(s, made, inverses[way], &info, 1);
        if (way == AUTO)
            m->info = info;
        CHECK(seconds == INFINITY || pairs == UINT64_MAX || info.pairs == pairs);
        pairs = seconds == INFINITY ? pairs : info.pairs;
        note(m, way, seconds);
    }
    ++m->rounds;
}

static void measure(const shape *s, measured *m)
{
    sides made = {.left = {0}};
    open_sides(s, &made);
    *m = (measured){.rounds = 0};
    run_round(s, &made, m); /* This one warms up. */
    m->rounds = 0;
    while (m->rounds < ROUNDS || (m->rounds < ROUNDS_MOST && ratio_of(m) > 1.2))
        run_round(s, &made, m);
    close_sides(&made);
}

/* ---- Tables ----------------------------------------------------------------------------------- */

static void print_shape(const shape *s)
{
    static const char *const types[] = {
        [KR_JOIN_INNER] = "inner", [KR_JOIN_SEMI] = "semi", [KR_JOIN_LEFT] = "left"};
    printf("%-6s 2^%-2u 2^%-2u %-5s %-9s %2u %5.0f", s->spec, s->left, s->right, types[s->type],
           s->unordered ? "any order" : "ordered", 1u << s->repeats, s->overlaps);
}

static int can_run(const shape *s)
{
    const uint32_t key = 0;
    const kr_column keys = {.type = KR_U32, .count = 1, .data = &key};
    kr_index *index = NULL;
    kr_error err = {0};
    const kr_status status = kr_index_create(device, s->spec, &keys, NULL, NULL, &index, &err);
    kr_index_destroy(index);
    if (status == KR_ERR_UNSUPPORTED)
        printf("%s skipped: %s\n", s->spec, err.text);
    return status != KR_ERR_UNSUPPORTED;
}

static void judge(const shape *given)
{
    shape s = *given;
    measured m;
    s.left -= is_host ? SMALLER : 0;
    s.right -= is_host ? SMALLER : 0;
    if (!can_run(&s))
        return;
    measure(&s, &m);
    const double ratio = ratio_of(&m);
    print_shape(&s);
    printf(" %10llu pairs; ms: left %9.3f right %9.3f auto %9.3f (%s); %u rounds; ratio %.2f%s\n",
           (unsigned long long)m.info.pairs, 1e3 * median(&m, LEFT_INDEXED), 1e3 * median(&m, RIGHT_INDEXED),
           1e3 * median(&m, AUTO), m.info.indexed, m.rounds, ratio, ratio > 1.2 ? ": TOO SLOW" : "");
    fflush(stdout);
    CHECK(ratio <= 1.2);
}

/* One line per side: what the rates of src/join/cost.c are made from. */
static void tabulate(const shape *s)
{
    sides made = {.left = {0}};
    kr_join_info info;
    open_sides(s, &made);
    for (int on = 0; on < 2; ++on) {
        const kr_join_inverse inverse = on ? KR_INVERSE_ON : KR_INVERSE_OFF;
        double best = INFINITY;
        for (int round = 0; round < 3; ++round)
            best = smaller(best, join_once(s, &made, inverse, &info, 1));
        if (best == INFINITY)
            continue;
        print_shape(s);
        printf(" %10llu pairs %-5s %9.3f ms:", (unsigned long long)info.pairs, on ? "left" : "right",
               1e3 * best);
        (void)join_once(s, &made, inverse, &info, 0);
        printf("\n");
    }
    fflush(stdout);
    close_sides(&made);
}

static void tabulate_all(void)
{
    static const char *const specs[] = {"best", "array", "btree", "hash", "cgrx"};
    static const double overlaps[] = {0, 1, 16, 256};
    const uint32_t by = is_host ? SMALLER : 0;
    for (size_t k = 0; k < sizeof specs / sizeof *specs; ++k)
        for (uint32_t left = 20; left <= 26; left += 2)
            for (uint32_t right = 20; right <= 26; right += 2)
                for (uint32_t form = 0; form < 8; ++form) {
                    const shape s = {.spec = specs[k],
                                     .left = left - by,
                                     .right = right - by,
                                     .unordered = form % 2,
                                     .type = form == 6 ? KR_JOIN_SEMI : KR_JOIN_INNER,
                                     .overlaps = form < 6    ? overlaps[form / 2]
                                                 : form == 7 ? 256
                                                             : 0};
                    const int many = ldexp(s.overlaps, (int)s.left) > ldexp(1, 28 - (int)by);
                    const int rays = !strcmp(s.spec, "cgrx") && (left > 22 || right > 24);
                    if (!many && !rays && !(s.overlaps > 0 && !strcmp(s.spec, "hash")) && can_run(&s))
                        tabulate(&s);
                }
}

int main(int argc, char **argv)
{
    const int skipped = take_device_name(argc, argv);
    if (skipped)
        return skipped;
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    is_host = !strncmp(device_name, "cpu", 3);
    if (argc > 2 && !strcmp(argv[2], "grid"))
        tabulate_all();
    for (size_t i = 0; argc <= 2 && i < JUDGED; ++i)
        judge(&judged[i]);
    kr_device_close(device);
    return failures != 0;
}
