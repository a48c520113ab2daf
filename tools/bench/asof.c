/* As-of joins: the probes are the left times, the keys the right ones. With --groups, rows of both sides
 * belong to groups that are drawn by their numbers. */
#include "job.h"

#include "tools/terminal/tool.h"

#include <stdlib.h>

enum { CHECKED = 1 << 22 };

/* Groups, and the right rows of each in the order of (time, row). */
typedef struct groups {
    uint64_t n;
    kr_device *device; /* that holds `there`; NULL: `there` is `host` */
    uint32_t *host[2], *there[2];
    uint64_t rows[2];
    uint64_t *starts; /* n + 1 */
    uint32_t *sorted; /* places in data->sorted */
} groups;

static groups kept;

static uint64_t time_at(const bench_data *data, const void *times, uint64_t i)
{
    return data->type == KR_U64 ? ((const uint64_t *)times)[i] : ((const uint32_t *)times)[i];
}

/* ---- Groups -------------------------------------------------------------------------------- */

void bench_asof_close(void)
{
    for (int side = 0; side < 2; ++side) {
        if (kept.device && kept.there[side])
            kr_memory_release(kept.device, kept.there[side], kept.rows[side] * sizeof(uint32_t), NULL);
        free(kept.host[side]);
    }
    free(kept.starts);
    free(kept.sorted);
    kept = (groups){0};
}

static int make_side(const bench_data *data, int side)
{
    kr_error err = {0};
    const uint64_t nbytes = kept.rows[side] * sizeof(uint32_t);
    kept.host[side] = tool_alloc(kept.rows[side], sizeof(uint32_t), "the groups of rows");
    if (!kept.host[side])
        return FAILED;
    for (uint64_t i = 0; i < kept.rows[side]; ++i)
        kept.host[side][i] = (uint32_t)(kr_values_random(data->keys.seed + (uint64_t)side, i) % kept.n);
    kept.there[side] = kept.host[side];
    if (!data->device)
        return DONE;
    void *memory = NULL;
    kr_status status = kr_memory_allocate(data->device, nbytes ? nbytes : 1, NULL, &memory, &err);
    kept.there[side] = memory;
    if (status == KR_OK)
        status = kr_memory_copy(data->device, memory, kept.host[side], nbytes, NULL, &err);
    return tool_check(status, &err);
}

/* The right rows by groups: the sorted rows, counted and dealt. */
static int deal(const bench_data *data)
{
    kept.starts = calloc(kept.n + 2, sizeof *kept.starts);
    kept.sorted = tool_alloc(data->n_keys, sizeof *kept.sorted, "the rows of groups");
    if (!kept.starts || !kept.sorted)
        return tool_fail(FAILED, "no host memory for %llu groups", (unsigned long long)kept.n);
    for (uint64_t at = 0; at < data->n_sorted; ++at)
        ++kept.starts[kept.host[1][data->sorted_rows[at]] + 2];
    for (uint64_t g = 1; g <= kept.n; ++g)
        kept.starts[g + 1] += kept.starts[g];
    for (uint64_t at = 0; at < data->n_sorted; ++at)
        kept.sorted[kept.starts[kept.host[1][data->sorted_rows[at]] + 1]++] = (uint32_t)at;
    return DONE;
}

int bench_asof_open(const bench_options *options, const bench_data *data)
{
    bench_asof_close();
    kept.n = options->groups ? options->groups : 1;
    kept.rows[0] = data->n_probes;
    kept.rows[1] = data->n_keys;
    kept.device = data->device;
    int code = make_side(data, 0);
    if (!code)
        code = make_side(data, 1);
    return code ? code : deal(data);
}

kr_status bench_asof_create(const bench_run *run, const char *spec, const kr_column *left,
                            const kr_column *right, const kr_join_options *how, kr_join **join, kr_error *err)
{
    const kr_column left_by = {.type = KR_U32, .count = kept.rows[0], .data = kept.there[0]};
    const kr_column right_by = {.type = KR_U32, .count = kept.rows[1], .data = kept.there[1]};
    const kr_nearest_options nearest = {.struct_size = sizeof nearest,
                                        .side = (kr_nearest_side)run->options->asof};
    return kr_join_create_asof(run->device, spec, left, right, &left_by, &right_by, run->options->groups != 0,
                               &nearest, how, join, err);
}

/* ---- The right answers --------------------------------------------------------------------- */

/* The place in the group's list from which on times are >= time, or > it. */
static uint64_t place_of(const bench_data *data, uint64_t group, uint64_t time, int above)
{
    uint64_t low = kept.starts[group], high = kept.starts[group + 1];
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2,
                       there = time_at(data, data->sorted, kept.sorted[middle]);
        if (there < time || (above && there == time))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t answer(const bench_run *run, uint64_t left)
{
    const bench_data *data = run->data;
    const uint64_t group = kept.host[0][left], time = time_at(data, data->host[COLUMN_LOWER], left);
    const uint64_t end = place_of(data, group, time, 1), first = place_of(data, group, time, 0);
    const int is_null = bench_files_is_null(data, COLUMN_LOWER, left);
    const int has_below = end > kept.starts[group] && run->options->asof != KR_NEAREST_ABOVE;
    const int has_above = first < kept.starts[group + 1] && run->options->asof != KR_NEAREST_BELOW;
    const uint64_t down = has_below ? time - time_at(data, data->sorted, kept.sorted[end - 1]) : 0;
    const uint64_t up = has_above ? time_at(data, data->sorted, kept.sorted[first]) - time : 0;
    if (is_null || (!has_below && !has_above))
        return KR_NO_ROW;
    return data->sorted_rows[kept.sorted[has_below && (!has_above || down <= up) ? end - 1 : first]];
}

/* Whether a left row has a partner: by the ends of its group. */
int bench_asof_has_partner(const bench_run *run, uint64_t left)
{
    const bench_data *data = run->data;
    const uint64_t group = kept.host[0][left], time = time_at(data, data->host[COLUMN_LOWER], left);
    const uint64_t first = kept.starts[group], end = kept.starts[group + 1];
    if (first == end || bench_files_is_null(data, COLUMN_LOWER, left))
        return 0;
    return run->options->asof == KR_NEAREST_BELOW ? time_at(data, data->sorted, kept.sorted[first]) <= time
           : run->options->asof == KR_NEAREST_ABOVE
               ? time_at(data, data->sorted, kept.sorted[end - 1]) >= time
               : 1;
}

/* Every pair is looked at, CHECKED of the left rows are searched for. */
int bench_asof_is_right(const bench_run *run, uint64_t left, uint32_t right)
{
    const bench_data *data = run->data;
    const uint64_t step = data->n_probes / CHECKED + 1;
    if (left % step == 0)
        return right == answer(run, left);
    if (right >= data->n_keys)
        return right == KR_NO_ROW && !bench_asof_has_partner(run, left);
    const uint64_t time = time_at(data, data->host[COLUMN_LOWER], left);
    const uint64_t there = time_at(data, data->host[COLUMN_KEYS], right);
    return kept.host[0][left] == kept.host[1][right] && !bench_files_is_null(data, COLUMN_LOWER, left) &&
           !bench_files_is_null(data, COLUMN_KEYS, right) &&
           (run->options->asof != KR_NEAREST_BELOW || there <= time) &&
           (run->options->asof != KR_NEAREST_ABOVE || there >= time);
}
