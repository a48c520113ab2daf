/* Which specs of the list are alike: what only one of them has to show, the first one tests. */
#include "specs.h"

#include <stdio.h>
#include <string.h>

int kr_has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); ++at)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return 1;
    return 0;
}

int kr_option_is_for_gpu(const kr_option *option)
{
    return strncmp(option->help, "GPU: ", 5) == 0;
}

static const kr_kind *kind_of(const char *spec)
{
    const size_t length = strcspn(spec, ":");
    const kr_kind *kind = NULL;
    for (uint32_t i = 0; (kind = kr_kind_at(i)); ++i)
        if (strlen(kind->name) == length && memcmp(kind->name, spec, length) == 0)
            break;
    return kind;
}

/* Options that say how to search, and leave what is kept as it is. `probes` and those for GPUs do so, too. */
static const struct {
    const char *kind, *options;
} searching[] = {
    {"array", "k"},
    {"eytzinger", "scan"},
    {"hash", "seed"}, /* the same form of table with other places */
    {"chain", "seed group"},
    {"btree", "group"},
    {"rx", "ray range_ray range max_rays enter outside hit"},
    {"cgrx", "search answer"},
};

static int is_searching(const kr_kind *kind, const kr_option *option)
{
    int found = kr_option_is_for_gpu(option) || strcmp(option->name, "probes") == 0;
    for (uint32_t i = 0; i < sizeof searching / sizeof searching[0]; ++i)
        found |= !strcmp(searching[i].kind, kind->name) && kr_has_word(searching[i].options, option->name);
    return found;
}

static int is_of_gpu(const kr_kind *kind, const kr_option *option)
{
    (void)kind;
    return kr_option_is_for_gpu(option);
}

/* The completed spec without some of its options. */
static void leave_out(const char *spec, int (*leaves_out)(const kr_kind *kind, const kr_option *option),
                      char rest[KR_SPEC_NBYTES])
{
    const kr_kind *kind = kind_of(spec);
    const kr_option *option;
    char value[32], setting[64];
    snprintf(rest, KR_SPEC_NBYTES, "%.*s", (int)strcspn(spec, ":"), spec);
    for (uint32_t i = 0; kind && (option = kr_spec_option_at(kind, i)); ++i)
        if (!leaves_out(kind, option)) {
            snprintf(setting, sizeof setting, ",%s=%s", option->name,
                     kr_spec_option(spec, option->name, value));
            kr_text_append(rest, KR_SPEC_NBYTES, setting);
        }
}

/* Whether no spec before this one has the same rest. A brief spec takes fewer tests, so it does not stand for
 * one that is not brief. */
static int is_first(const kr_spec_list *list, uint32_t number, char rests[][KR_SPEC_NBYTES])
{
    for (uint32_t k = 0; k < number; ++k)
        if (strcmp(rests[k], rests[number]) == 0 && list->at[k].is_brief <= list->at[number].is_brief)
            return 0;
    return 1;
}

int kr_spec_can_update(const char *spec)
{
    char value[32];
    return kr_spec_capabilities(spec) & KR_CAN_UPDATE && !kr_spec_keeps_on_host(spec) &&
           strcmp(kr_spec_option(spec, "updates", value), "off") != 0;
}

static int holds_u32(const char *spec)
{
    return kr_fitting_type(spec, KR_U32) == KR_U32;
}

/* The first spec of its kind for which this holds. */
static int is_first_that(const kr_spec_list *list, uint32_t number, int (*holds)(const char *spec))
{
    for (uint32_t k = 0; k < number; ++k)
        if (kind_of(list->at[k].text) == kind_of(list->at[number].text) && holds(list->at[k].text))
            return 0;
    return holds(list->at[number].text);
}

void kr_compare_specs(kr_spec_list *list, int are_named)
{
    static char stored[KR_MAX_SPECS][KR_SPEC_NBYTES], on_cpu[KR_MAX_SPECS][KR_SPEC_NBYTES];
    for (uint32_t i = 0; i < list->n; ++i) {
        kr_listed *listed = &list->at[i];
        leave_out(listed->text, is_searching, stored[i]);
        leave_out(listed->text, is_of_gpu, on_cpu[i]);
        listed->is_first_stored = are_named || is_first(list, i, stored);
        listed->is_for_gpu = !are_named && !is_first(list, i, on_cpu);
        listed->is_first_of_kind = is_first_that(list, i, holds_u32) != 0;
        listed->is_first_to_update = is_first_that(list, i, kr_spec_can_update) != 0;
    }
}

uint32_t kr_spec_capabilities(const char *spec)
{
    const kr_kind *kind = kind_of(spec);
    if (kind)
        return kind->capabilities;
    /* "best" does not promise that its kind takes updates, nor, for points alone, that it answers ranges. */
    return KR_CAN_POINT | (strcmp(spec, "best:ranges=off") ? KR_CAN_RANGE | KR_CAN_NEAREST : 0) |
           (strcmp(spec, "best:updates=on") ? 0 : KR_CAN_UPDATE);
}
