/* Which specs are tried: of each kind its defaults, and few options that were the fastest somewhere
 * (docs/choosing.md). The order is that of the first round; what is slow comes last. */
#include "advise/plan.h"

#include <stdio.h>
#include <string.h>

static const struct candidate {
    const char *kind, *spec;
    const char *updates; /* the spec where updates are asked for; NULL: it takes not all of them */
    int may_refuse;      /* a column */
} candidates[] = {
    {"pivot", "pivot", "pivot"},
    {"pivot", "pivot:k=9", "pivot:k=9"},
    {"array", "array", "array"},
    {"hash", "hash", "hash"},
    {"hash", "hash:load=0.5", "hash:load=0.5"},
    {"dense", "dense", NULL, 1}, /* it refuses inserts far from the other keys, or between their steps */
    {"btree", "btree", "btree"},
    {"btree", "btree:node=16", "btree:node=16"},
    {"eytzinger", "eytzinger", "eytzinger"},
    {"chain", "chain", "chain"},
    {"cgrx", "cgrx", "cgrx:updates=on"},
    {"rx", "rx", "rx"},
    {"bindex", "bindex", "bindex"},
    {"bindex", "bindex:vectors=32", "bindex:vectors=32"},
    {"full", "full", "full"},
    {"full", "full:logic=branching", "full:logic=branching"},
    {"full", "full:narrow=off", "full:narrow=off"}, /* less memory, where "full" keeps narrow copies */
    {"rtscan", "rtscan", "rtscan"},
    {"rtc3", "rtc3", "rtc3"},
    {"rtc1", "rtc1", "rtc1"},
};

enum { N_CANDIDATES = sizeof candidates / sizeof *candidates };

static int can(const char *kind, uint32_t capabilities)
{
    kr_kind_info info = {.struct_size = sizeof info};
    for (uint32_t i = 0; kr_kind_query(i, &info, NULL) == KR_OK; ++i)
        if (strcmp(info.name, kind) == 0)
            return (info.capabilities & capabilities) == capabilities;
    return 0;
}

static int is_listed(const char *kind)
{
    for (int i = 0; i < N_CANDIDATES; ++i)
        if (strcmp(candidates[i].kind, kind) == 0)
            return 1;
    return 0;
}

static uint32_t add(kr_advise_trial *trials, uint32_t n, const char *spec)
{
    if (n == KR_ADVISE_TRIALS_MOST)
        return n;
    snprintf(trials[n].spec, sizeof trials[n].spec, "%s", spec);
    return n + 1;
}

uint32_t kr_advise_specs(uint32_t capabilities, kr_advise_trial trials[KR_ADVISE_TRIALS_MOST])
{
    const uint32_t is_table = capabilities & KR_CAN_SCAN;
    kr_kind_info info = {.struct_size = sizeof info};
    uint32_t n = 0;
    for (int i = 0; i < N_CANDIDATES; ++i) {
        const char *spec = capabilities & KR_CAN_UPDATE ? candidates[i].updates : candidates[i].spec;
        if (spec && can(candidates[i].kind, capabilities)) {
            n = add(trials, n, spec);
            trials[n - 1].may_refuse = candidates[i].may_refuse;
        }
    }
    /* Kinds that are not in the list, as those that somebody adds. */
    for (uint32_t i = 0; kr_kind_query(i, &info, NULL) == KR_OK; ++i)
        if (!is_listed(info.name) && (info.capabilities & capabilities) == capabilities &&
            !(info.capabilities & KR_CAN_SCAN) == !is_table)
            n = add(trials, n, info.name);
    return n;
}

static int is_same_kind(const kr_advise_trial *a, const kr_advise_trial *b)
{
    const size_t n = strcspn(a->spec, ":");
    return strcspn(b->spec, ":") == n && strncmp(a->spec, b->spec, n) == 0;
}

/* Of 10^8 random u32 keys, one thread of an AMD EPYC, `hash` and `hash:load=0.5` were as fast as each other
 * with a quarter of the rows, and `hash` 1.2 times as fast with all; of 10^8 times it was 1.09 times as slow
 * with a quarter, 1.16 times with a 32nd, and 1.4 times as fast with all. */
void kr_advise_prefer_smaller(kr_advise_plan *p)
{
    const double smaller = 0.8, of_doubling = 0.05;
    kr_advise_trial *best = &p->trials[0];
    const uint64_t all = p->subject->rows;
    if (!best->rows || best->rows == all || p->subject->operations == KR_CAN_SCAN)
        return;
    const double slower = 1 + of_doubling * kr_advise_doublings((double)all / (double)best->rows);
    for (uint32_t i = 1; i < p->n && !p->trials[i].state; ++i) {
        kr_advise_trial *t = &p->trials[i], first = *best;
        if (t->rows == best->rows && is_same_kind(t, best) && t->cost < slower * best->cost &&
            (double)t->footprint_nbytes < smaller * (double)best->footprint_nbytes) {
            *best = *t;
            *t = first;
        }
    }
}
