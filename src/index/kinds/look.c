#include "index/kinds/look.h"
#include "base/key/divide.h"
#include "base/program/program.h"
#include "index/kinds/look_params.h"

#include <inttypes.h>
#include <stdio.h>

KR_PROGRAM_DECLARE(look_keys);
KR_PROGRAM_DECLARE(look_rests);

enum { SAMPLE = 64 };

/* Fewer keys may have a step by chance, which the next key breaks. */
enum { STEP_KEYS = 1024 };

static int is_float(uint32_t type)
{
    return type == KR_F32 || type == KR_F64;
}

/* How many values there are from the lowest key to the highest, but one. */
static uint64_t span_of(const kr_look *look)
{
    return look->highest - look->lowest;
}

static uint64_t step_of(const kr_look *look)
{
    return look->step ? look->step : 1;
}

/* ---- The step --------------------------------------------------------------------------------- */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* What all differences of a few neighbours, and the span, are a multiple of. Blocks. */
static uint64_t sample_step(kr_work *w, const kr_column *keys, uint64_t lowest, uint64_t span)
{
    const uint64_t n = keys->count < SAMPLE ? keys->count : SAMPLE, from = (keys->count - n) / 2,
                   bit = keys->validity_offset + from, width = kr_type_width((uint32_t)keys->type);
    uint64_t values[SAMPLE] = {0}, step = span;
    uint8_t validity[SAMPLE / 8 + 1] = {0};
    kr_work_read(w, values, KR_PLACE_IN((const char *)keys->data, from * width), n * width);
    if (keys->validity)
        kr_work_read(w, validity, KR_PLACE_IN(keys->validity, bit / 8), (bit % 8 + n + 7) / 8);
    for (uint64_t i = 0; kr_work_goes_on(w) && i < n && step > 1; ++i)
        if (kr_code_is_valid(keys->validity ? validity : NULL, bit % 8, i))
            step = common_divisor(step, kr_code_load((uint32_t)keys->type, values, i) - lowest);
    return step ? step : 1;
}

/* The largest rest of keys by a step. Blocks. */
static uint64_t find_rest(kr_work *w, const kr_column *keys, uint64_t lowest, uint64_t step)
{
    uint64_t found = 0;
    look_rests_params params = {.look = {.values = keys->data,
                                         .validity = keys->validity,
                                         .found = kr_work_counters(w, 1),
                                         .offset = keys->validity_offset,
                                         .n = keys->count,
                                         .type = (uint32_t)keys->type},
                                .lowest = lowest,
                                .step = step};
    kr_code_divisor(step, 64, &params.magic, &params.shift);
    kr_work_run(w, &look_rests, &params, kr_group_runs(keys->count));
    kr_work_read(w, &found, params.look.found, sizeof found);
    kr_work_give(w, params.look.found);
    return found;
}

/* Each rest makes the step smaller by half or more, so that few passes find the largest that fits all. */
uint64_t kr_look_step(kr_work *w, const kr_column *keys, uint64_t lowest, uint64_t span, uint64_t above)
{
    uint64_t step = sample_step(w, keys, lowest, span), rest = 0;
    while (kr_work_goes_on(w) && step > 1 && step > above && (rest = find_rest(w, keys, lowest, step)) != 0)
        step = common_divisor(step, rest);
    return step > above ? step : 0;
}

/* ---- The look --------------------------------------------------------------------------------- */

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
    if (is_float(look.type)) {
        look.repeats = found[LOOK_REPEATS] != 0;
        return look;
    }
    if (look.n >= STEP_KEYS && span_of(&look) / 2 >= look.n)
        look.step =
            kr_look_step(w, keys, look.lowest, span_of(&look), span_of(&look) / look.n / KR_LOOK_STEPS_MOST);
    look.repeats = found[LOOK_REPEATS] || look.n - 1 > span_of(&look) / step_of(&look);
    return look;
}

int kr_look_is_close(const kr_look *look, uint32_t factor)
{
    return look->n && !is_float(look->type) && span_of(look) / factor < look->n;
}

int kr_look_is_dense(const kr_look *look, uint32_t factor)
{
    return look->n && !is_float(look->type) && span_of(look) / step_of(look) / factor < look->n;
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
    char lowest[24], highest[24], spread[64] = "";
    if (!look->n) {
        snprintf(text, KR_LOOK_TEXT_NBYTES, "; no keys");
        return;
    }
    print_value(look->type, look->lowest, lowest);
    print_value(look->type, look->highest, highest);
    const double values = (double)(span_of(look) / step_of(look)) + 1;
    if (look->step > 1)
        snprintf(spread, sizeof spread, ", 1 in %.3g steps of %" PRIu64, values / (double)look->n,
                 look->step);
    else if (!is_float(look->type))
        snprintf(spread, sizeof spread, ", 1 in %.3g values", values / (double)look->n);
    snprintf(text, KR_LOOK_TEXT_NBYTES, "; %" PRIu64 " keys from %s to %s%s%s%s", look->n, lowest, highest,
             spread, look->ascends ? ", ascending" : "",
             look->is_distinct ? ", distinct"
             : look->repeats   ? ", repeated"
                               : "");
}
