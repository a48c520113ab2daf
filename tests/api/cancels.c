/* Tables and scans of 5 * 10^6 rows, and joins and indexes over several columns, under a progress callback
 * that cancels in each phase at its first call, its second, its fourth, ...: each call says KR_ERR_CANCELLED
 * and changes nothing, until it is not cancelled any more. */
#include "check.h"
#include "device_memory.h"

enum { N = 5000000, MORE = 4200000, WORDS = (N + 31) / 32, MANY = 3000 };

static kr_device *device;
static kr_table *table;
static uint32_t values[N + MORE], times[N + MORE], bitmap[(N + MORE + 31) / 32], rows[N + MORE];
static const char *const names[] = {"value", "time"};
static uint64_t calls;
static double last;
static const char *last_phase;
/* Where in a run the callback is, and where it is to cancel: the phase, counted from 1 as they follow one
 * another, and the call within it. A phase that ends before it is cancelled in the next. */
typedef struct moment {
    uint64_t phase, call;
} moment;
static moment now, stop_at; /* of phase 0: never */

static int progress(void *ctx, const char *phase, double fraction)
{
    (void)ctx;
    CHECK(phase && fraction >= 0 && fraction <= 1);
    const int goes_on = calls++ > 0 && strcmp(phase, last_phase) == 0 && fraction >= last;
    now = goes_on ? (moment){now.phase, now.call + 1} : (moment){now.phase + 1, 1};
    last_phase = phase;
    last = fraction;
    return stop_at.phase &&
           (now.phase > stop_at.phase || (now.phase == stop_at.phase && now.call == stop_at.call));
}

typedef kr_status step(const void *what, kr_error *err);

/* Runs it until the moment; whether it was cancelled. */
static int is_cancelled(step *run, const void *what, moment at)
{
    kr_error err = {0};
    calls = 0;
    now = (moment){0, 0};
    stop_at = at;
    const kr_status status = run(what, &err);
    const int struck = now.phase > at.phase || (now.phase == at.phase && now.call >= at.call);
    stop_at.phase = 0;
    CHECK(status == (struck ? KR_ERR_CANCELLED : KR_OK));
    CHECK(status == KR_OK || (err.text[0] && (now.phase > at.phase || now.call == at.call)));
    return status == KR_ERR_CANCELLED;
}

/* Cancels `run` in every phase, at calls 1, 2, 4, ... of it, and checks that nothing stays behind; the last
 * time it is done. It must have been cancelled at least `least` times. */
static void cancel(step *run, const void *what, uint64_t least, const char *name, void (*is_as_before)(void))
{
    const uint64_t before = in_use(device);
    moment at = {1, 1};
    uint64_t n = 0;
    while (n < MANY && is_cancelled(run, what, at)) {
        CHECK(in_use(device) == before);
        if (is_as_before && (at.call == 1 || n % 8 == 0))
            is_as_before();
        at = now.phase > at.phase ? (moment){now.phase, 2} : (moment){at.phase, 2 * at.call};
        ++n;
    }
    CHECK(n >= least && n < MANY);
    if (!(n >= least && n < MANY))
        printf("  %s: cancelled %llu times, last in %s at %f\n", name, (unsigned long long)n,
               last_phase ? last_phase : "nothing", last);
}

/* ---- Tables ------------------------------------------------------------------------------------- */

typedef struct creation {
    const char *spec;
    kr_copy copy;
} creation;

static kr_status create(const void *what, kr_error *err)
{
    const creation *c = what;
    const kr_column columns[] = {{.type = KR_U32, .count = N, .data = values},
                                 {.type = KR_U32, .count = N, .data = times}};
    const kr_table_options options = {.struct_size = sizeof options, .copy = c->copy};
    return kr_table_create(device, c->spec, columns, names, 2, &options, NULL, &table, err);
}

/* ---- Scans -------------------------------------------------------------------------------------- */

static kr_condition *condition;
static uint64_t want_rows, want_alive; /* of the table as it should be */

static kr_status scan(const void *what, kr_error *err)
{
    const kr_scan_sink *sink = what;
    const kr_condition *const conditions[] = {condition};
    return kr_scan(table, conditions, &sink, 1, NULL, NULL, err);
}

static uint64_t count(void)
{
    uint64_t n = 0;
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_COUNT, .out = &n};
    WORKS(scan(&sink, &err));
    return n;
}

static void is_unchanged(void)
{
    kr_table_info info = {.struct_size = sizeof info};
    WORKS(kr_table_query(table, &info, &err));
    WORKS(kr_table_validate(table, &err));
    CHECK(info.rows == want_rows && info.alive_rows == want_alive);
    uint64_t n = 0;
    const kr_scan_sink all = {.struct_size = sizeof all, .result = KR_SCAN_COUNT, .out = &n},
                       *sinks[] = {&all};
    WORKS(kr_scan(table, NULL, sinks, 1, NULL, NULL, &err));
    CHECK(n == want_alive);
}

static void cancel_scans(uint64_t want)
{
    uint64_t out[2] = {0};
    uint8_t valid = 0;
    const kr_scan_sink sinks[] = {
        {.struct_size = sizeof *sinks, .result = KR_SCAN_COUNT, .out = out},
        {.struct_size = sizeof *sinks, .result = KR_SCAN_BITMAP, .out = bitmap},
        {.struct_size = sizeof *sinks, .result = KR_SCAN_ROWS, .out = out, .rows = rows, .rows_capacity = N},
        {.struct_size = sizeof *sinks, .result = KR_SCAN_SUM, .out = out, .valid = &valid, .column = 1},
    };
    for (uint32_t i = 0; i < sizeof sinks / sizeof *sinks; ++i) {
        out[0] = 77;
        CHECK(is_cancelled(scan, sinks + i, (moment){1, 1}));
        CHECK(out[0] == 77);
        cancel(scan, sinks + i, 1, "a scan", NULL);
        CHECK(i == 1 || i == 3 || out[0] == want);
    }
    CHECK(count() == want);
}

/* ---- Changes ------------------------------------------------------------------------------------ */

static kr_status delete_rows(const void *what, kr_error *err)
{
    uint64_t n_deleted = 0;
    const kr_status status = kr_table_delete(table, what, 3, NULL, &n_deleted, err);
    CHECK(n_deleted == (status == KR_OK ? 3 : 0));
    return status;
}

static kr_status delete_where(const void *what, kr_error *err)
{
    uint64_t n_deleted = 0;
    const kr_status status = kr_table_delete_where(table, condition, NULL, &n_deleted, err);
    CHECK(n_deleted == (status == KR_OK ? *(const uint64_t *)what : 0));
    return status;
}

static kr_status append(const void *what, kr_error *err)
{
    const kr_column more[] = {{.type = KR_U32, .count = MORE, .data = values + N},
                              {.type = KR_U32, .count = MORE, .data = times + N}};
    (void)what;
    return kr_table_append(table, more, 2, NULL, err);
}

/* The rows for which the condition holds, of the first n. */
static uint64_t matches(uint64_t n)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < n; ++i)
        count += values[i] < 300 || times[i] == 5;
    return count;
}

static void change(void)
{
    static const uint32_t gone[] = {1, N / 2, N - 1};
    uint64_t left = matches(N);
    want_rows = want_alive = N;
    cancel_scans(left);
    cancel(delete_rows, gone, 1, "a deletion by row id", is_unchanged);
    want_alive -= 3;
    is_unchanged();
    for (uint32_t i = 0; i < 3; ++i)
        left -= values[gone[i]] < 300 || times[gone[i]] == 5;
    CHECK(count() == left);
    cancel(delete_where, &left, 1, "a deletion by condition", is_unchanged);
    want_alive -= left;
    is_unchanged();
    CHECK(count() == 0);
    cancel(append, NULL, 1, "appended rows", is_unchanged);
    want_rows += MORE;
    want_alive += MORE;
    is_unchanged();
    CHECK(count() == matches(N + MORE) - matches(N));
}

/* ---- Several columns ------------------------------------------------------------------------------ */

enum { JOINED = MORE };
static const kr_column joined_values = {.type = KR_U32, .count = JOINED, .data = values},
                       joined_times = {.type = KR_U32, .count = JOINED, .data = times};

static kr_status index_columns(const void *what, kr_error *err)
{
    const kr_column columns[] = {joined_times, joined_values};
    kr_index *index = NULL;
    const kr_status status = kr_index_create_columns(device, what, columns, 2, NULL, NULL, &index, err);
    CHECK(!index == (status != KR_OK));
    kr_index_destroy(index);
    return status;
}

static kr_status join_groups(const void *what, kr_error *err)
{
    const kr_column *v = &joined_values;
    const kr_join_options options = {
        .struct_size = sizeof options, .left_by = &joined_times, .right_by = &joined_times, .n_by = 1};
    kr_join *join = NULL;
    const kr_status status =
        what ? kr_join_create_overlap(device, "pivot", v, v, v, v, KR_ENDS_CLOSED, &options, &join, err)
             : kr_join_create_range(device, "pivot", v, v, v, &options, &join, err);
    CHECK(!join == (status != KR_OK));
    kr_join_destroy(join);
    return status;
}

/* A small table calls nothing. */
static void stay_silent(const char *spec)
{
    const kr_column column = {.type = KR_U32, .count = 1000, .data = values};
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_BITMAP, .out = bitmap};
    calls = 0;
    WORKS(kr_table_create(device, spec, &column, names, 1, NULL, NULL, &table, &err));
    WORKS(kr_scan(table, NULL, &(const kr_scan_sink *){&sink}, 1, NULL, NULL, &err));
    CHECK(calls == 0);
    kr_table_destroy(table);
}

/* ---- Joins of texts ------------------------------------------------------------------------------ */

enum { LETTERS = 8 };
static int32_t text_ends[JOINED + 1];
static char text_bytes[(size_t)JOINED * LETTERS];

static void make_texts(void)
{
    char text[LETTERS + 4];
    for (uint32_t i = 0; i < JOINED; ++i) {
        snprintf(text, sizeof text, "%08u", values[i] * 7 % 100003);
        memcpy(text_bytes + (size_t)i * LETTERS, text, LETTERS);
        text_ends[i + 1] = (int32_t)((i + 1) * LETTERS);
    }
}

static kr_status join_texts(const void *what, kr_error *err)
{
    const kr_column right = {.type = KR_STRING,
                             .count = JOINED,
                             .data = text_ends,
                             .reserved_words = {(uintptr_t)text_bytes, sizeof text_bytes}};
    kr_column left = right;
    kr_join *join = NULL;
    left.count = 1000;
    const kr_status status = what ? kr_join_create_asof(device, "pivot", &joined_times, &joined_times, &right,
                                                        &right, 1, NULL, NULL, &join, err)
                                  : kr_join_create(device, "hash", &left, &right, NULL, &join, err);
    CHECK(!join == (status != KR_OK));
    kr_join_destroy(join);
    return status;
}

int main(void)
{
    static const creation creations[] = {
        {"full", KR_COPY_NEVER}, {"full:zones=off,narrow=on", KR_COPY_ALWAYS}, {"bindex", KR_COPY_AUTO}};
    const kr_device_options options = {.struct_size = sizeof options, .progress = {.call = progress}};
    WORKS(kr_device_open("cpu", &options, &device, &err));
    WORKS(kr_condition_parse("value < 300 or time = 5", &condition, &err));
    for (uint32_t i = 0; i < N + MORE; ++i) {
        values[i] = i * 2654435761u >> 20;
        times[i] = i / 1000;
    }
    for (uint32_t c = 0; c < sizeof creations / sizeof *creations; ++c) {
        cancel(create, creations + c, 1, creations[c].spec, NULL);
        change();
        kr_table_destroy(table);
        stay_silent(creations[c].spec);
    }
    cancel(index_columns, "pivot", 1, "an index over columns", NULL);
    cancel(join_groups, NULL, 1, "a range join with groups", NULL);
    cancel(join_groups, "overlap", 1, "a join of intervals with groups", NULL);
    make_texts();
    cancel(join_texts, NULL, 1, "a join of texts", NULL);
    cancel(join_texts, "asof", 1, "an as-of join with groups of texts", NULL);
    kr_condition_destroy(condition);
    CHECK(in_use(device) == 0);
    kr_device_close(device);
    return failures != 0;
}
