#include "random_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of "a|b|c". */
static void choose_word(kr_rng *rng, const char *words, char *to, size_t room)
{
    uint64_t n = 1;
    for (const char *at = words; *at; ++at)
        n += *at == '|';
    const char *at = words;
    for (uint64_t skip = kr_rng_below(rng, n); skip > 0; --skip)
        at = strchr(at, '|') + 1;
    snprintf(to, room, "%.*s", (int)strcspn(at, "|"), at);
}

/* Ends and small numbers more often than others. */
static int64_t choose_number(kr_rng *rng, double minimum, double maximum)
{
    const uint64_t span = (uint64_t)(maximum - minimum) + 1;
    switch (kr_rng_below(rng, 4)) {
    case 0: return (int64_t)(kr_rng_below(rng, 2) ? minimum : maximum);
    case 1: return (int64_t)minimum + (int64_t)kr_rng_below(rng, span < 8 ? span : 8);
    default: return (int64_t)minimum + (int64_t)kr_rng_below(rng, span);
    }
}

static void choose_value(kr_rng *rng, const kr_option_info *option, char *to, size_t room)
{
    const double low = option->minimum, high = option->maximum;
    const int has_words = option->choices && option->choices[0];
    if (option->form == KR_OPTION_CHOICE || (has_words && kr_rng_below(rng, 3) == 0))
        choose_word(rng, option->choices, to, room);
    else if (option->form == KR_OPTION_INTEGER)
        snprintf(to, room, "%lld", (long long)choose_number(rng, low, high));
    else if (option->form == KR_OPTION_DECIMAL)
        snprintf(to, room, "%.3f", low + (high - low) * (double)kr_rng_below(rng, 1001) / 1000);
    else
        snprintf(to, room, option->form == KR_OPTION_TRIPLE ? "%lld:%lld:%lld" : "%lld:%lld",
                 (long long)choose_number(rng, low, high), (long long)choose_number(rng, low, high),
                 (long long)choose_number(rng, low, high));
}

static kr_kind_info kind_at(uint32_t ordinal)
{
    kr_kind_info kind = {.struct_size = sizeof kind};
    if (kr_kind_query(ordinal, &kind, NULL) != KR_OK)
        exit(1);
    return kind;
}

/* An option that does not go with those before it is left out. */
static void add_options(kr_rng *rng, uint32_t ordinal, char text[KR_SPEC_NBYTES])
{
    const uint32_t count = kind_at(ordinal).option_count;
    for (uint32_t tries = (uint32_t)kr_rng_below(rng, 6); tries > 0; --tries) {
        char longer[KR_SPEC_NBYTES], value[128], complete[KR_SPEC_NBYTES];
        kr_option_info option = {.struct_size = sizeof option};
        if (kr_option_query(ordinal, (uint32_t)kr_rng_below(rng, count), &option, NULL) != KR_OK)
            exit(1);
        choose_value(rng, &option, value, sizeof value);
        const int fits = snprintf(longer, sizeof longer, "%s%s%s=%s", text, strchr(text, ':') ? "," : ":",
                                  option.name, value) < (int)sizeof longer;
        if (fits && kr_spec_complete(longer, complete, sizeof complete, NULL) == KR_OK)
            memcpy(text, longer, sizeof longer);
    }
}

uint32_t kr_random_spec(kr_rng *rng, char text[KR_SPEC_NBYTES])
{
    uint32_t ordinal = (uint32_t)kr_rng_below(rng, kr_kind_count());
    while (!(kind_at(ordinal).capabilities & KR_CAN_POINT)) /* a kind of scan */
        ordinal = (ordinal + 1) % kr_kind_count();
    snprintf(text, KR_SPEC_NBYTES, "%s", kind_at(ordinal).name);
    add_options(rng, ordinal, text);
    return kind_at(ordinal).capabilities;
}

int kr_updating_spec(uint32_t ordinal, char text[KR_SPEC_NBYTES])
{
    const kr_kind_info kind = kind_at(ordinal);
    kr_option_info option = {.struct_size = sizeof option};
    snprintf(text, KR_SPEC_NBYTES, "%s", kind.name);
    for (uint32_t i = 0; kr_option_query(ordinal, i, &option, NULL) == KR_OK; ++i)
        if (strcmp(option.name, "updates") == 0)
            snprintf(text, KR_SPEC_NBYTES, "%s:updates=on", kind.name);
    return (kind.capabilities & KR_CAN_UPDATE) != 0;
}

uint32_t kr_random_updating_spec(kr_rng *rng, char text[KR_SPEC_NBYTES])
{
    uint32_t ordinal = (uint32_t)kr_rng_below(rng, kr_kind_count());
    while (!kr_updating_spec(ordinal, text))
        ordinal = (ordinal + 1) % kr_kind_count();
    add_options(rng, ordinal, text);
    return kind_at(ordinal).capabilities;
}
