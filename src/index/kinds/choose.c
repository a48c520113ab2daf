#include "index/kinds/choose.h"
#include "index/kinds/index.h"

#include <stdio.h>
#include <string.h>

/* What "best" stands for, by measurements (docs/choosing.md, docs/performance.md). They correct the decision
 * tree of Henneberg and Schuhknecht, "Is Binary Search Really All You Need?", 6.1: where the paper recommends
 * three kinds, the sorted array is the fastest for large batches, as they are partitioned by the index, and
 * levels of pivots over it are as fast there and up to 1.8 times faster for small ones. With k=9, a node of
 * u32 keys has 32 bytes, as much as a GPU reads at a time: up to 1.37 times faster than k=17. */
static const struct choice {
    const char *text;
    int on_cpu;
    const char *spec, *reason;
} choices[] = {
    {"best", 0, "pivot:k=9",
     "a GPU partitions large batches by the sorted array, and pivots over it make small ones faster"},
    {"best", 1, "pivot", "a CPU compares all pivots of a node at once, and a search has few cache misses"},
    {"best:updates=on", 0, "pivot:k=9",
     "a GPU merges a batch into the sorted entries in one pass, and lookups stay as fast as those of best"},
    {"best:updates=on", 1, "pivot",
     "a CPU merges 2^12 rows and more into its entries faster than a tree takes them, and lookups "
     "stay as fast as those of best"},
    {"best:ranges=off", 0, "hash",
     "for points alone: a GPU reads one or two nodes of a hash table for a key, and more in any search"},
    {"best:ranges=off", 1, "hash",
     "for points alone: a key costs a CPU about one cache miss in a hash table, and several in a search"},
};

/* Kinds that "best" stands for where a look at the column says so (index/kinds/look.h), if this build has
 * them: `dense`, for keys of which the next is at most `factor` values away. On a CPU it is faster than
 * `pivot` up to there and slower than `hash`; on a GPU it was measured with one key in 4 values
 * (docs/choosing.md, "Dense and clustered columns"). */
enum { DENSE_FACTOR = 16, DENSE_FACTOR_GPU = 4 };
static const struct rule {
    const char *text;
    int on_cpu;
    uint32_t factor;
    const char *spec, *reason;
} rules[] = {
    {"best", 1, DENSE_FACTOR, "dense",
     "keys are close together: a bit for each value takes the place of a search"},
    {"best", 0, DENSE_FACTOR_GPU, "dense",
     "keys are close together: a bit for each value takes the place of a search"},
    {"best:ranges=off", 0, DENSE_FACTOR_GPU, "dense",
     "keys are close together: about as fast as a hash table, in less memory"},
};

/* What "best" is asked for. The kind for points alone takes updates in any case. */
typedef struct wishes {
    int updates, ranges;
} wishes;

/* Reads a value of "on" or "off"; 0: it is neither, or there was one before. */
static int read_switch(kr_text value, int *is_given, int *is_on)
{
    const int reads = !*is_given && (kr_text_is(value, "on") || kr_text_is(value, "off"));
    *is_given = 1;
    *is_on = kr_text_is(value, "on");
    return reads;
}

/* Reads "best" with its options in any order; 0: the text is another one. */
static int read_wishes(const char *text, wishes *wanted)
{
    kr_text rest = {text, text ? strlen(text) : 0};
    int updates = 0, ranges = 0;
    *wanted = (wishes){.ranges = 1};
    if (!text || !kr_text_is(kr_text_cut(&rest, ':'), "best") || strchr(":,", text[strlen(text) - 1]))
        return 0;
    while (rest.nbytes) {
        kr_text value = kr_text_cut(&rest, ',');
        const kr_text name = kr_text_cut(&value, '=');
        if (!(kr_text_is(name, "updates") && read_switch(value, &updates, &wanted->updates)) &&
            !(kr_text_is(name, "ranges") && read_switch(value, &ranges, &wanted->ranges)))
            return 0;
    }
    return 1;
}

/* The first column of the tables. */
static const char *text_of(const wishes *wanted)
{
    return !wanted->ranges ? "best:ranges=off" : wanted->updates ? "best:updates=on" : "best";
}

/* The next rule from *at on for the device whose kind is in this build, and what it names; NULL: there is
 * none. */
static const struct rule *rule_of(const wishes *wanted, int on_cpu, size_t *at, kr_spec *spec)
{
    const uint32_t needed = KR_CAN_POINT | (wanted->ranges ? KR_CAN_RANGE | KR_CAN_NEAREST : 0);
    if (wanted->updates) /* `dense` refuses inserts that are far from the other keys */
        return NULL;
    for (; *at < sizeof rules / sizeof rules[0]; ++*at) {
        const struct rule *rule = &rules[*at];
        if (rule->on_cpu == on_cpu && strcmp(rule->text, text_of(wanted)) == 0 &&
            kr_spec_parse(rule->spec, spec, NULL) == KR_OK && spec->kind->family &&
            (spec->kind->capabilities & needed) == needed) {
            ++*at;
            return rule;
        }
    }
    return NULL;
}

int kr_choose_looks(const kr_device *device, const char *text)
{
    wishes wanted;
    kr_spec spec;
    size_t at = 0;
    return read_wishes(text, &wanted) && rule_of(&wanted, device->ops->is_host, &at, &spec);
}

int kr_choose_is_open(const char *text)
{
    wishes wanted;
    return read_wishes(text, &wanted);
}

void kr_choose_seen(const kr_device *device, const char *text, const kr_look *look, kr_spec *spec,
                    const char **reason)
{
    wishes wanted;
    kr_spec found;
    size_t at = 0;
    const struct rule *rule;
    if (!read_wishes(text, &wanted))
        return;
    while ((rule = rule_of(&wanted, device->ops->is_host, &at, &found)) &&
           !kr_look_is_dense(look, rule->factor))
        ;
    if (!rule)
        return;
    *spec = found;
    if (reason)
        *reason = rule->reason;
}

int kr_choose_other(const kr_device *device, const char *text, kr_spec *spec)
{
    wishes wanted;
    char wide[32];
    size_t at = 0;
    const struct rule *rule =
        read_wishes(text, &wanted) ? rule_of(&wanted, device->ops->is_host, &at, spec) : NULL;
    if (!rule)
        return 0;
    snprintf(wide, sizeof wide, "%s:spread=%u", rule->spec, rule->factor);
    return kr_spec_parse(wide, spec, NULL) == KR_OK;
}

static const struct choice *choice_of(const wishes *wanted, int on_cpu)
{
    const char *text = text_of(wanted);
    const struct choice *choice = choices;
    while (strcmp(text, choice->text) != 0 || choice->on_cpu != on_cpu)
        ++choice;
    return choice;
}

/* The first kind of this build with all of the capabilities, or NULL. */
static const kr_kind *first_that(uint32_t capabilities)
{
    uint32_t i = 0;
    const kr_kind *kind;
    while ((kind = kr_kind_at(i)) && (!kind->family || (kind->capabilities & capabilities) != capabilities))
        ++i;
    return kind;
}

/* "best" in a build without the kind that was measured to be the fastest: the first that answers as much, or
 * at least points. */
static kr_status stand_in(const char *text, const wishes *wanted, kr_spec *spec, const char **reason,
                          kr_error *err)
{
    const uint32_t answers[] = {KR_CAN_POINT | KR_CAN_RANGE | KR_CAN_NEAREST, KR_CAN_POINT | KR_CAN_RANGE,
                                KR_CAN_POINT};
    const kr_kind *kind = NULL;
    char here[256];
    for (size_t i = wanted->ranges ? 0 : 2; !kind && i < sizeof answers / sizeof answers[0]; ++i)
        kind = first_that(answers[i] | (wanted->updates ? KR_CAN_UPDATE : 0));
    if (reason)
        *reason = wanted->ranges ? "the first kind of this build that can; KEYRAY_KINDS leaves out pivot, "
                                   "which best stands for"
                                 : "the first kind of this build that can; KEYRAY_KINDS leaves out hash, "
                                   "which best:ranges=off stands for";
    if (kind)
        return kr_spec_parse(wanted->updates && kind->updates_with ? kind->updates_with : kind->name, spec,
                             err);
    kr_kind_list(here, sizeof here);
    return kr_fail(
        err, KR_ERR_SPEC,
        "this build has no kind that %s could stand for: KEYRAY_KINDS lists %s; build with %s in it", text,
        here, wanted->ranges ? "pivot" : "hash");
}

kr_status kr_spec_resolve(const kr_device *device, const char *text, kr_spec *spec, const char **reason,
                          kr_error *err)
{
    wishes wanted;
    if (!read_wishes(text, &wanted)) {
        if (reason)
            *reason = "named in the spec";
        return kr_spec_parse(text, spec, err);
    }
    const struct choice *choice = choice_of(&wanted, device && device->ops->is_host);
    if (reason)
        *reason = choice->reason;
    return kr_spec_parse(choice->spec, spec, NULL) == KR_OK ? KR_OK
                                                            : stand_in(text, &wanted, spec, reason, err);
}

kr_status kr_choose(const kr_device *device, const char *text, kr_spec *spec, const char **reason,
                    kr_error *err)
{
    const kr_status status = kr_spec_resolve(device, text, spec, reason, err);
    if (status == KR_OK && !spec->kind->family)
        return kr_fail(
            err, KR_ERR_UNSUPPORTED,
            "kind '%s' makes no index of one column but scans tables (kr_table_create); use another kind",
            spec->kind->name);
    return status;
}

kr_status kr_choose_shape(const kr_shape *shape, kr_need *estimate, kr_error *err)
{
    kr_need family = {0};
    const kr_family_ops *ops = kr_index_ops(shape->device, shape->spec, shape->type);
    kr_status status = ops->estimate(shape, &family, err);
    if (status != KR_OK)
        return status;
    if (!ops->kept) /* which copies a column chunk by chunk */
        family.peak_nbytes += shape->staged_nbytes;
    *estimate = family;
    return KR_OK;
}
