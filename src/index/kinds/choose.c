#include "index/kinds/choose.h"
#include "base/util/spelling.h"
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

/* What "best" may be told. A number that is left out is its standard: lookups without end, batches of any
 * size, probes that all hit. */
enum { WISH_UPDATES, WISH_RANGES, WISH_LOOKUPS, WISH_BATCH, WISH_HITS, N_WISHES };
#define NO_END INT64_C(1000000000000000)

static const kr_option options[N_WISHES] = {
    [WISH_UPDATES] = {"updates", KR_OPTION_CHOICE, "off|on", 0, 0, 0, "on: rows are inserted and deleted"},
    [WISH_RANGES] = {"ranges", KR_OPTION_CHOICE, "on|off", 0, 0, 0, "off: points alone are looked up"},
    [WISH_LOOKUPS] = {"lookups", KR_OPTION_INTEGER, NULL, 1, NO_END, NO_END,
                      "how many keys are looked up before the index is built anew"},
    [WISH_BATCH] = {"batch", KR_OPTION_INTEGER, NULL, 1, NO_END, NO_END, "the most probes of a call"},
    [WISH_HITS] = {"hits", KR_OPTION_INTEGER, NULL, 0, 100, 100, "the probes that find a key, in percent"},
};

/* Their values, and a bit for each that was given. */
typedef struct wishes {
    int64_t of[N_WISHES];
    uint32_t given;
} wishes;

static int updates(const wishes *wanted)
{
    return wanted->of[WISH_UPDATES] == 1;
}

static int answers_ranges(const wishes *wanted)
{
    return wanted->of[WISH_RANGES] == 0;
}

/* Where the choice depends on the column (index/kinds/look.h) or on numbers that were told, if this build has
 * the kind: the first row that fits. What a row leaves out may be anything. Measured, see docs/choosing.md,
 * which has "Dense and clustered columns" and "What else best may be told":
 *
 * `dense` holds keys of which the next is at most `factor` steps away, values in most columns. It is faster
 * than `pivot` up to there (on a GPU up to 7% slower where keys are sparse and repeat, or many rows of ranges
 * are summed), and than `hash` up to one key in 4 values, on a CPU also where probes miss. A CPU
 * builds it more slowly than `pivot`, which half a lookup for each key pays for; a GPU faster, and keys that
 * repeat 1.14 times as slowly.
 *
 * A build of `hash` takes 3 to 4 times as long as that of `pivot` on a CPU, and 20 times or more where keys
 * ascend. One to three lookups for each key pay for that. On a GPU one does where batches are too small to be
 * partitioned, else it takes 3 to 13. */
enum { DENSE_FACTOR = KR_LOOK_STEPS_MOST, DENSE_FACTOR_HASH = 4, PARTITIONED_FROM = 1 << 22 };
static const struct rule {
    const char *text;
    int on_cpu;
    uint32_t factor;  /* keys are integers, the next at most so many steps away */
    int ascends;      /* 1: they ascend */
    uint32_t lookups; /* at most so many for each 100 keys */
    uint32_t batch_from;
    uint32_t hits; /* at most so many percent of the probes find a key */
    const char *spec, *reason;
} rules[] = {
    {"best", 1, .factor = DENSE_FACTOR, .lookups = 50, .spec = "pivot",
     .reason = "few lookups before the next build, which takes longer for dense than its lookups save"},
    {"best", 1, .factor = DENSE_FACTOR, .spec = "dense",
     .reason = "keys are close together: a bit for each value takes the place of a search"},
    {"best", 0, .factor = DENSE_FACTOR, .spec = "dense",
     .reason = "keys are close together: a bit for each value takes the place of a search"},
    {"best:ranges=off", 1, .lookups = 50, .spec = "pivot",
     .reason = "few lookups before the next build, which takes three times as long for a hash table"},
    {"best:ranges=off", 1, .factor = DENSE_FACTOR_HASH, .spec = "dense",
     .reason =
         "keys are close together: bits for values are as fast as a hash table or faster, are built in less "
         "than half the time, and take less memory"},
    {"best:ranges=off", 1, .ascends = 1, .lookups = 200, .spec = "pivot",
     .reason = "few lookups before the next build: keys that ascend are not sorted for pivot, but hashed for "
               "a hash table"},
    {"best:ranges=off", 1, .lookups = 100, .spec = "pivot",
     .reason = "few lookups before the next build, which takes three times as long for a hash table"},
    {"best:ranges=off", 1, .factor = DENSE_FACTOR, .hits = 10, .spec = "dense",
     .reason = "keys are close together and few probes find one: a bit says so faster than a hash table, in "
               "less memory"},
    {"best:ranges=off", 0, .factor = DENSE_FACTOR_HASH, .spec = "dense",
     .reason = "keys are close together: bits for values are faster than a hash table, are built faster, and "
               "take less memory"},
    {"best:ranges=off", 0, .lookups = 50, .spec = "pivot:k=9",
     .reason = "few lookups before the next build, which takes twice as long for a hash table"},
    {"best:ranges=off", 0, .lookups = 200, .batch_from = PARTITIONED_FROM, .spec = "pivot:k=9",
     .reason = "few lookups before the next build, which takes twice as long for a hash table, and large "
               "batches, which are partitioned"},
};

/* What was told is as the row has it; what the keys decide is not looked at yet. */
static int suits(const struct rule *rule, const wishes *wanted)
{
    return (!rule->lookups || wanted->of[WISH_LOOKUPS] < NO_END) &&
           wanted->of[WISH_BATCH] >= (int64_t)rule->batch_from &&
           (!rule->hits || wanted->of[WISH_HITS] <= (int64_t)rule->hits);
}

/* So are the keys. */
static int fits(const struct rule *rule, const wishes *wanted, const kr_look *look)
{
    const uint64_t lookups = look->n / 100 * rule->lookups + look->n % 100 * rule->lookups / 100;
    return look->n && (!rule->factor || kr_look_is_dense(look, rule->factor)) &&
           (!rule->ascends || look->ascends) &&
           (!rule->lookups || (uint64_t)wanted->of[WISH_LOOKUPS] <= lookups);
}

static kr_status refuse_option(kr_text name, kr_error *err)
{
    char known[128] = "", hint[KR_SPELLING_HINT_NBYTES];
    kr_spelling nearest = kr_spelling_begin(name.at, name.nbytes);
    for (int i = 0; i < N_WISHES; ++i) {
        kr_spelling_offer(&nearest, options[i].name, strlen(options[i].name));
        kr_text_append(known, sizeof known, i ? ", " : "");
        kr_text_append(known, sizeof known, options[i].name);
    }
    return kr_fail(err, KR_ERR_SPEC,
                   "best has no option '%.*s'%s; its options: %s; for an option of a kind, name the kind in "
                   "place of best",
                   (int)name.nbytes, name.at, kr_spelling_hint(&nearest, "", "", hint), known);
}

/* Reads one "name=value". */
static kr_status read_wish(kr_text setting, wishes *wanted, kr_error *err)
{
    kr_text value = setting;
    const kr_text name = kr_text_cut(&value, '=');
    int i = 0;
    while (i < N_WISHES && !kr_text_is(name, options[i].name))
        ++i;
    if (i == N_WISHES)
        return refuse_option(name, err);
    if (name.nbytes == setting.nbytes)
        return kr_fail(err, KR_ERR_SPEC, "option '%s' of best needs a value: %s=...", options[i].name,
                       options[i].name);
    if (wanted->given >> i & 1)
        return kr_fail(err, KR_ERR_SPEC, "option '%s' of best is given twice", options[i].name);
    wanted->given |= (uint32_t)1 << i;
    return kr_option_read(&options[i], value, &wanted->of[i], err);
}

int kr_choose_is_open(const char *text)
{
    kr_text rest = {text, text ? strlen(text) : 0};
    return text && kr_text_is(kr_text_cut(&rest, ':'), "best");
}

/* Reads "best" with its options in any order. */
static kr_status read_wishes(const char *text, wishes *wanted, kr_error *err)
{
    kr_text rest = {text, strlen(text)};
    kr_status status = KR_OK;
    kr_text_cut(&rest, ':');
    *wanted = (wishes){0};
    for (int i = 0; i < N_WISHES; ++i)
        wanted->of[i] = options[i].standard;
    if (strchr(":,", text[strlen(text) - 1]))
        return kr_fail(err, KR_ERR_SPEC, "spec '%s' ends where an option is expected", text);
    while (rest.nbytes && status == KR_OK)
        status = read_wish(kr_text_cut(&rest, ','), wanted, err);
    return status;
}

/* 1: `text` is "best", and *wanted what it asks for. */
static int is_best(const char *text, wishes *wanted)
{
    return kr_choose_is_open(text) && read_wishes(text, wanted, NULL) == KR_OK;
}

/* The first column of the tables. */
static const char *text_of(const wishes *wanted)
{
    return !answers_ranges(wanted) ? "best:ranges=off" : updates(wanted) ? "best:updates=on" : "best";
}

/* The next rule from *at on for the device and the wishes whose kind is in this build, and what it names;
 * NULL: there is none. */
static const struct rule *rule_of(const wishes *wanted, int on_cpu, size_t *at, kr_spec *spec)
{
    const uint32_t needed = KR_CAN_POINT | (answers_ranges(wanted) ? KR_CAN_RANGE | KR_CAN_NEAREST : 0);
    if (updates(wanted)) /* `dense` refuses some inserts; a change builds nothing */
        return NULL;
    for (; *at < sizeof rules / sizeof rules[0]; ++*at) {
        const struct rule *rule = &rules[*at];
        if (rule->on_cpu == on_cpu && strcmp(rule->text, text_of(wanted)) == 0 && suits(rule, wanted) &&
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
    return is_best(text, &wanted) && rule_of(&wanted, device->ops->is_host, &at, &spec);
}

void kr_choose_seen(const kr_device *device, const char *text, const kr_look *look, uint64_t lookups,
                    kr_spec *spec, const char **reason)
{
    wishes wanted;
    kr_spec found;
    size_t at = 0;
    const struct rule *rule;
    if (!is_best(text, &wanted))
        return;
    if (lookups && !(wanted.given >> WISH_LOOKUPS & 1))
        wanted.of[WISH_LOOKUPS] = (int64_t)(lookups < NO_END ? lookups : NO_END);
    while ((rule = rule_of(&wanted, device->ops->is_host, &at, &found)) && !fits(rule, &wanted, look))
        ;
    if (!rule)
        return;
    *spec = found;
    if (reason)
        *reason = rule->reason;
}

int kr_choose_other(const kr_device *device, const char *text, uint32_t ordinal, kr_spec *spec)
{
    wishes wanted;
    char wide[32];
    size_t at = 0;
    const struct rule *rule = NULL;
    if (!is_best(text, &wanted))
        return 0;
    for (uint32_t i = 0; i <= ordinal; ++i)
        if (!(rule = rule_of(&wanted, device->ops->is_host, &at, spec)))
            return 0;
    if (!rule->factor || strcmp(spec->kind->name, "dense") != 0)
        return 1;
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
    for (size_t i = answers_ranges(wanted) ? 0 : 2; !kind && i < sizeof answers / sizeof answers[0]; ++i)
        kind = first_that(answers[i] | (updates(wanted) ? KR_CAN_UPDATE : 0));
    if (reason)
        *reason = answers_ranges(wanted)
                      ? "the first kind of this build that can; KEYRAY_KINDS leaves out pivot, "
                        "which best stands for"
                      : "the first kind of this build that can; KEYRAY_KINDS leaves out hash, "
                        "which best:ranges=off stands for";
    if (kind)
        return kr_spec_parse(updates(wanted) && kind->updates_with ? kind->updates_with : kind->name, spec,
                             err);
    kr_kind_list(here, sizeof here);
    return kr_fail(
        err, KR_ERR_SPEC,
        "this build has no kind that %s could stand for: KEYRAY_KINDS lists %s; build with %s in it", text,
        here, answers_ranges(wanted) ? "pivot" : "hash");
}

kr_status kr_spec_resolve(const kr_device *device, const char *text, kr_spec *spec, const char **reason,
                          kr_error *err)
{
    wishes wanted;
    if (!kr_choose_is_open(text)) {
        if (reason)
            *reason = "named in the spec";
        return kr_spec_parse(text, spec, err);
    }
    const kr_status status = read_wishes(text, &wanted, err);
    if (status != KR_OK)
        return status;
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
