#include "index/kinds/look.h"
#include "base/key/key.h"
#include "base/program/program.h"
#include "index/kinds/look_params.h"

#include <inttypes.h>
#include <stdio.h>

KR_PROGRAM_DECLARE(look_keys);

static int is_float(uint32_t type)
{
    return type == KR_F32 || type == KR_F64;
}

/* How many values there are from the lowest key to the highest, but one. */
static uint64_t span_of(const kr_look *look)
{
    return look->highest - look->lowest;
}

kr_look kr_look_at(kr_work *w, const kr_column *keys)
{
    uint64_t found[LOOK_FOUND] = {0}, *counters = kr_work_counters(w, LOOK_FOUND);
    const look_params params = {.values = keys->data,
                                .validity = keys->validity,
                                .found = counters,
                                .offset = keys->validity_offset,
                                .n = keys->count,
                                .type = (uint32_t)keys->type};
    kr_look look = {.type = (uint32_t)keys->type};
    kr_work_run(w, &look_keys, &params, kr_group_runs(keys->count));
    kr_work_read(w, found, counters, sizeof found);
    kr_work_give(w, counters);
    look.n = kr_work_goes_on(w) ? keys->validity ? found[LOOK_COUNT] : keys->count : 0;
    if (!look.n)
        return look;
    look.lowest = ~found[LOOK_LOWEST_NOT];
    look.highest = found[LOOK_HIGHEST];
    look.ascends = !keys->validity && !found[LOOK_FALLS];
    look.is_distinct = look.n == 1 || (look.ascends && !found[LOOK_REPEATS]);
    look.repeats = found[LOOK_REPEATS] || (!is_float(look.type) && look.n - 1 > span_of(&look));
    return look;
}

int kr_look_is_dense(const kr_look *look, uint32_t factor)
{
    return look->n && !is_float(look->type) && span_of(look) / factor < look->n;
}

/* As the type has it; dates and times as numbers. */
static void print_value(uint32_t type, uint64_t code, char text[24])
{
    if (is_float(type))
        snprintf(text, 24, "%.6g", kr_code_float(type, code));
    else if (kr_type_bias(type))
        snprintf(text, 24, "%" PRId64, (int64_t)kr_code_integer(type, code));
    else
        snprintf(text, 24, "%" PRIu64, code);
}

void kr_look_describe(const kr_look *look, char text[KR_LOOK_TEXT_NBYTES])
{
    char lowest[24], highest[24], spread[32] = "";
    if (!look->n) {
        snprintf(text, KR_LOOK_TEXT_NBYTES, "; no keys");
        return;
    }
    print_value(look->type, look->lowest, lowest);
    print_value(look->type, look->highest, highest);
    if (!is_float(look->type))
        snprintf(spread, sizeof spread, ", 1 in %.3g values", ((double)span_of(look) + 1) / (double)look->n);
    snprintf(text, KR_LOOK_TEXT_NBYTES, "; %" PRIu64 " keys from %s to %s%s%s%s", look->n, lowest, highest,
             spread, look->ascends ? ", ascending" : "",
             look->is_distinct ? ", distinct"
             : look->repeats   ? ", repeated"
                               : "");
}
