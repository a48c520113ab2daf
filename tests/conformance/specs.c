#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kr_add_spec(kr_suite *suite, const char *spec, int brief)
{
    if (suite->n_specs == KR_MAX_SPECS || strlen(spec) >= KR_SPEC_NBYTES) {
        fprintf(stderr, "spec number %u is one too many, or too long: %s\n", suite->n_specs, spec);
        exit(1);
    }
    suite->is_brief[suite->n_specs] = brief != 0;
    strcpy(suite->specs[suite->n_specs++], spec);
}

/* Of three bit counts: those that hold any key, those that leave some axis short or empty, and those of small
 * types, whose keys then fill many rows and planes. */
static const char *const triples[] = {"22:21:21", "16:16:0", "9:23:0", "3:2:3", "2:1:13"};

/* Writes "name=value" of the n-th value of an option worth trying besides its default; 0 past the last. The
 * largest number comes last and is left out where few shall do, as it takes long and shows little. */
static int try_setting(const kr_option *option, uint32_t n, int few, char *text, size_t text_nbytes)
{
    const int64_t numbers[] = {option->minimum, option->minimum + 3, option->maximum};
    if (option->form == KR_OPTION_TRIPLE) {
        if (n < sizeof triples / sizeof triples[0])
            snprintf(text, text_nbytes, "%s=%s", option->name, triples[n]);
        return n < sizeof triples / sizeof triples[0];
    }
    if (option->form == KR_OPTION_INTEGER) {
        for (uint32_t i = 0; i < (few ? 2 : 3); ++i) {
            const int repeated = i == 2 && numbers[1] == numbers[2];
            if (numbers[i] == option->standard || numbers[i] > option->maximum || repeated || n--)
                continue;
            snprintf(text, text_nbytes, "%s=%lld", option->name, (long long)numbers[i]);
            return 1;
        }
        return 0;
    }
    const char *at = option->choices;
    for (int64_t i = 0; *at; ++i) {
        const int length = (int)strcspn(at, "|");
        if (i != option->standard && n-- == 0) {
            snprintf(text, text_nbytes, "%s=%.*s", option->name, length, at);
            return 1;
        }
        at += length + (at[length] == '|');
    }
    return 0;
}

/* Options that take no part in pairs, as they change what is kept and not how answers are found; and specs
 * that are tried besides, `|` between, which say what pairs do not. */
static const struct {
    const char *kind, *alone, *besides;
} habits[] = {
    {"rx", "scale bvh compact update enter",
     "update=refit,compact=off,dedupe=off|update=refit,order=row|update=refit,parts=3|update=refit,order=row,"
     "parts=3|"
     "update=refit,mode=naive|update=refit,mode=extended,order=row|update=refit,prim=sphere,order=row|"
     "update=refit,prim=aabb,parts=3|update=refit,range=anyhit|update=refit,bits=3:2:3,order=row|"
     "update=rebuild,order=row,parts=3|update=rebuild,mode=naive,order=row|"
     "bits=9:23:0,max_rays=3|bits=9:23:0,max_rays=3,range=anyhit|bits=9:23:0,max_rays=2,prim=aabb,parts=3|"
     "scale=20:20:20,ray=zero,range_ray=zero|"
     "scale=20:20:20,prim=aabb,ray=offset|scale=0:0:0,range=anyhit,dedupe=off|parts=5,enter=top|"
     "bits=3:2:3,parts=5,enter=top,dedupe=off|bits=3:2:3,parts=7,dedupe=off|bits=9:23:0,parts=5,max_rays=3|"
     "scale=25:25:25,ray=zero,range_ray=zero,range=anyhit|"
     "bits=3:2:3,order=row,parts=5,range=anyhit|bits=3:2:3,dedupe=off,parts=5,range=anyhit,max_rays=2|"
     "bits=3:2:3,prim=sphere,ray=zero,range_ray=zero,max_rays=5|bits=3:2:3,compact=off,order=row,max_rays=1|"
     "compact=off,parts=3|mode=extended,range=anyhit,dedupe=off,parts=3|mode=naive,ray=zero,range_ray=zero,"
     "parts=3"},
};

static const char *habit(const char *kind, int besides)
{
    for (uint32_t i = 0; i < sizeof habits / sizeof habits[0]; ++i)
        if (strcmp(habits[i].kind, kind) == 0)
            return besides ? habits[i].besides : habits[i].alone;
    return "";
}

/* 1 when the words, with spaces between, have this one. */
static int has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); ++at)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return 1;
    return 0;
}

/* Adds "kind:settings" unless the library refuses it, some of which test_combinations expects. */
static void add_legal(kr_suite *suite, const char *kind, const char *settings, int brief)
{
    char spec[2 * KR_SPEC_NBYTES], whole[KR_SPEC_NBYTES];
    snprintf(spec, sizeof spec, "%s:%s", kind, settings);
    if (kr_spec_print(spec, whole, sizeof whole, NULL) == KR_OK)
        kr_add_spec(suite, spec, brief);
}

/* Three bit counts that hold only some types are not for the tests of special cases. */
static int is_brief(const char *setting)
{
    const char *value = strchr(setting, '=');
    return strchr(value, ':') && strcmp(value + 1, triples[0]) != 0;
}

static void add_singles(kr_suite *suite, const kr_kind_info *kind, const kr_option *options, uint32_t n)
{
    char one[64];
    for (uint32_t i = 0; i < n; ++i)
        for (uint32_t a = 0; try_setting(&options[i], a, suite->reduced, one, sizeof one); ++a)
            add_legal(suite, kind->name, one, is_brief(one));
}

static void add_pairs(kr_suite *suite, const kr_kind_info *kind)
{
    const char *alone = habit(kind->name, 0);
    char one[64], two[64], both[128];
    for (uint32_t i = 0; i < kind->n_options; ++i)
        for (uint32_t j = i + 1; j < kind->n_options; ++j) {
            if (has_word(alone, kind->options[i].name) || has_word(alone, kind->options[j].name))
                continue;
            for (uint32_t a = 0; try_setting(&kind->options[i], a, 1, one, sizeof one); ++a)
                for (uint32_t b = 0; try_setting(&kind->options[j], b, 1, two, sizeof two); ++b) {
                    snprintf(both, sizeof both, "%s,%s", one, two);
                    add_legal(suite, kind->name, both, 1);
                }
        }
}

static void add_besides(kr_suite *suite, const kr_kind_info *kind)
{
    char settings[KR_SPEC_NBYTES];
    for (const char *at = habit(kind->name, 1); *at; at += at[0] == '|') {
        const int length = (int)strcspn(at, "|");
        snprintf(settings, sizeof settings, "%.*s", length, at);
        add_legal(suite, kind->name, settings, 1);
        at += length;
    }
}

void kr_expand_specs(kr_suite *suite)
{
    kr_kind_info kind;
    for (uint32_t i = 0; kr_kind_list(i, &kind, NULL) == KR_OK; ++i) {
        if (suite->kind && strcmp(suite->kind, kind.name) != 0)
            continue;
        kr_add_spec(suite, kind.name, 0);
        add_singles(suite, &kind, kind.options, kind.n_options);
        add_singles(suite, &kind, kind.common_options, kind.n_common_options);
        if (!suite->reduced)
            add_pairs(suite, &kind);
        if (!suite->reduced)
            add_besides(suite, &kind);
    }
}

void kr_keep_shard(kr_suite *suite, uint32_t shard, uint32_t n_shards)
{
    uint32_t n = 0;
    for (uint32_t i = shard; i < suite->n_specs; i += n_shards, ++n) {
        memmove(suite->specs[n], suite->specs[i], KR_SPEC_NBYTES);
        suite->is_brief[n] = suite->is_brief[i];
    }
    suite->n_specs = n;
}

static int find_kind(const char *spec, kr_kind_info *kind)
{
    const size_t length = strcspn(spec, ":");
    for (uint32_t i = 0; kr_kind_list(i, kind, NULL) == KR_OK; ++i)
        if (strlen(kind->name) == length && memcmp(kind->name, spec, length) == 0)
            return 1;
    return 0;
}

uint32_t kr_spec_capabilities(const char *spec)
{
    kr_kind_info kind;
    return find_kind(spec, &kind) ? kind.capabilities : KR_CAN_POINT | KR_CAN_RANGE;
}

/* ---- Tests of the strings themselves -------------------------------------------------------- */

static void expect_refusal(kr_suite *suite, const char *spec, const char *must_name)
{
    char text[512];
    kr_error err = {0};
    const kr_status status = kr_spec_print(spec, text, sizeof text, &err);
    if (kr_test_refused(suite, KR_ERR_SPEC, status, &err, spec) && !strstr(err.text, must_name))
        kr_test_fail(suite, "%s: the error does not name '%s': %s", spec, must_name, err.text);
}

static const char *const wrong_triples[] = {"1",
                                            "1:2",
                                            "1:2:",
                                            ":1:2",
                                            "1::2",
                                            "1:2:3:4",
                                            "1:2:3:",
                                            "1:2:x",
                                            "1:2:99",
                                            "-1:2:3",
                                            "1: 2:3",
                                            "300:1:1",
                                            "1:2:18446744073709551617"};
enum { N_WRONG_TRIPLES = sizeof wrong_triples / sizeof wrong_triples[0] };

static void refuse_values(kr_suite *suite, const kr_kind_info *kind, const kr_option *option)
{
    char spec[KR_SPEC_NBYTES], named[KR_SPEC_NBYTES];
    const char *const wrong[] = {"", "what", "-9223372036854775809", "1e3", " 2"};
    snprintf(named, sizeof named, "%s", option->choices ? option->choices : option->name);
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        snprintf(spec, sizeof spec, "%s:%s=%s", kind->name, option->name, wrong[i]);
        expect_refusal(suite, spec, named);
    }
    snprintf(named, sizeof named, "%lld", (long long)option->maximum);
    if (option->form == KR_OPTION_INTEGER) {
        snprintf(spec, sizeof spec, "%s:%s=%lld", kind->name, option->name, (long long)option->maximum + 1);
        expect_refusal(suite, spec, named);
    }
    for (uint32_t i = 0; option->form == KR_OPTION_TRIPLE && i < N_WRONG_TRIPLES; ++i) {
        snprintf(spec, sizeof spec, "%s:%s=%s", kind->name, option->name, wrong_triples[i]);
        expect_refusal(suite, spec, named);
    }
    snprintf(spec, sizeof spec, "%s:%s", kind->name, option->name);
    expect_refusal(suite, spec, option->name);
}

static void test_kind(kr_suite *suite, const kr_kind_info *kind)
{
    char spec[KR_SPEC_NBYTES];
    if (!kr_test_begin(suite, "spec/%s/errors", kind->name))
        return;
    expect_refusal(suite, "no-such-kind", kind->name);
    snprintf(spec, sizeof spec, "%s:no-such-option=1", kind->name);
    for (uint32_t i = 0; i < kind->n_options; ++i)
        expect_refusal(suite, spec, kind->options[i].name);
    for (uint32_t i = 0; i < kind->n_common_options; ++i)
        expect_refusal(suite, spec, kind->common_options[i].name);
    for (uint32_t i = 0; i < kind->n_options; ++i)
        refuse_values(suite, kind, &kind->options[i]);
    for (uint32_t i = 0; i < kind->n_common_options; ++i)
        refuse_values(suite, kind, &kind->common_options[i]);
    kr_test_end(suite);
}

/* Combinations of options that make no sense together, and the option that the error tells to change. */
static const struct {
    const char *spec, *must_name;
} excluded[] = {
    {"rx:mode=extended,prim=sphere", "prim"},   {"rx:mode=extended,prim=sphere", "mode"},
    {"rx:mode=extended,ray=offset", "ray"},     {"rx:mode=extended,range_ray=offset", "range_ray"},
    {"rx:mode=extended,scale=1:1:1", "scale"},  {"rx:prim=sphere,scale=0:15:25", "scale"},
    {"rx:prim=sphere,scale=1:1:1", "scale"},    {"rx:order=row,enter=part", "enter"},
    {"rx:mode=extended,bits=23:23:18", "bits"}, {"rx:mode=naive,bits=23:23:18", "bits"},
    {"rx:update=refit,compact=on", "compact"},  {"rx:update=refit,dedupe=on", "dedupe"},
    {"rx:order=row,dedupe=on", "dedupe"},       {"rx:bits=0:23:23", "bits"},
};

/* What goes with a choice when nothing else is said. */
static const struct {
    const char *spec, *option, *value;
} settled[] = {
    {"rx", "mode", "3d"},
    {"rx", "bits", "23:23:18"},
    {"rx:mode=extended", "range_ray", "zero"},
    {"rx:update=refit", "compact", "off"},
    {"rx:update=refit", "dedupe", "off"},
    {"rx:order=row", "dedupe", "off"},
};

/* Rows of the kind, which is not there in every build. */
static void test_combinations(kr_suite *suite, const kr_kind_info *kind)
{
    char value[32];
    if (!kr_test_begin(suite, "spec/%s/combinations", kind->name))
        return;
    for (uint32_t i = 0; i < sizeof excluded / sizeof excluded[0]; ++i)
        if (strncmp(excluded[i].spec, kind->name, strcspn(excluded[i].spec, ":")) == 0)
            expect_refusal(suite, excluded[i].spec, excluded[i].must_name);
    for (uint32_t i = 0; i < sizeof settled / sizeof settled[0]; ++i)
        if (strncmp(settled[i].spec, kind->name, strcspn(settled[i].spec, ":")) == 0 &&
            strcmp(kr_spec_option(settled[i].spec, settled[i].option, value), settled[i].value) != 0)
            kr_test_fail(suite, "%s: %s is %s, not %s", settled[i].spec, settled[i].option, value,
                         settled[i].value);
    kr_test_end(suite);
}

void kr_run_specs(kr_suite *suite)
{
    kr_kind_info kind;
    for (uint32_t i = 0; kr_kind_list(i, &kind, NULL) == KR_OK; ++i) {
        test_kind(suite, &kind);
        test_combinations(suite, &kind);
    }
    for (uint32_t i = 0; i < suite->n_specs; ++i) {
        char once[KR_SPEC_NBYTES], twice[KR_SPEC_NBYTES];
        kr_error err = {0};
        if (!kr_test_begin(suite, "spec/%s/printed", suite->specs[i]))
            continue;
        if (kr_test_ok(suite, kr_spec_print(suite->specs[i], once, sizeof once, &err), &err, "print") &&
            kr_test_ok(suite, kr_spec_print(once, twice, sizeof twice, &err), &err, once) &&
            strcmp(once, twice) != 0)
            kr_test_fail(suite, "'%s' prints as '%s'", once, twice);
        kr_test_end(suite);
    }
}
