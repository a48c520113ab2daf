#include "index/kinds/spec.h"
#include "base/util/spelling.h"
#include "index/kinds/kind.h"

#include <stdio.h>
#include <string.h>

const kr_option kr_common_options[KR_COMMON_COUNT] = {
    [KR_COMMON_PROBES] = {"probes", KR_OPTION_CHOICE, "as-is|sorted|partitioned|auto", 0, 3, KR_PROBES_AUTO,
                          "order in which a batch is searched: as given, sorted first, grouped by parts of "
                          "the index, or whichever is faster here; results are always in the order given"},
};

static int is_left_out(kr_text name)
{
    uint32_t i = 0;
    while (kr_kind_left_out_at(i) && !kr_text_is(name, kr_kind_left_out_at(i)))
        ++i;
    return kr_kind_left_out_at(i) != NULL;
}

kr_status kr_spec_fail_left_out(kr_text name, kr_error *err)
{
    char here[256];
    if (!is_left_out(name))
        return KR_OK;
    kr_kind_list(here, sizeof here);
    return kr_fail(err, KR_ERR_SPEC,
                   "this build has no kind '%.*s': KEYRAY_KINDS lists %s; name one of these, or build with "
                   "'%.*s' in KEYRAY_KINDS",
                   (int)name.nbytes, name.at, here, (int)name.nbytes, name.at);
}

static const kr_kind *find_kind(kr_text name, kr_error *err)
{
    char known[256] = "", hint[KR_SPELLING_HINT_NBYTES];
    kr_spelling nearest = kr_spelling_begin(name.at, name.nbytes);
    for (uint32_t i = 0; kr_kind_at(i); ++i) {
        const kr_kind *kind = kr_kind_at(i);
        if (kr_text_is(name, kind->name))
            return kind;
        kr_spelling_offer(&nearest, kind->name, strlen(kind->name));
        kr_text_append(known, sizeof known, i ? ", " : "");
        kr_text_append(known, sizeof known, kind->name);
    }
    kr_spelling_offer(&nearest, "best", 4);
    if (kr_text_is(name, "best"))
        kr_fail(err, KR_ERR_SPEC, "best stands for a kind and is none here; give one of: %s", known);
    else if (kr_spec_fail_left_out(name, err) == KR_OK)
        kr_fail(err, KR_ERR_SPEC, "unknown kind '%.*s'%s; known kinds: best, %s", (int)name.nbytes, name.at,
                kr_spelling_hint(&nearest, "", "", hint), known);
    return NULL;
}

const kr_option *kr_spec_option_at(const kr_kind *kind, uint32_t position)
{
    if (position < kind->n_options)
        return &kind->options[position];
    position -= kind->n_options;
    return kind->family && position < KR_COMMON_COUNT ? &kr_common_options[position] : NULL;
}

static int64_t *value_at(kr_spec *spec, uint32_t position)
{
    const uint32_t own = spec->kind->n_options;
    return position < own ? &spec->options[position] : &spec->common[position - own];
}

static kr_status unknown_option(const kr_kind *kind, kr_text name, kr_error *err)
{
    char known[256] = "", hint[KR_SPELLING_HINT_NBYTES];
    kr_spelling nearest = kr_spelling_begin(name.at, name.nbytes);
    for (uint32_t i = 0; kr_spec_option_at(kind, i); ++i) {
        const char *option = kr_spec_option_at(kind, i)->name;
        kr_text_append(known, sizeof known, i ? ", " : "");
        kr_text_append(known, sizeof known, option);
        kr_spelling_offer(&nearest, option, strlen(option));
    }
    return kr_fail(err, KR_ERR_SPEC, "kind '%s' has no option '%.*s'%s; its options: %s", kind->name,
                   (int)name.nbytes, name.at, kr_spelling_hint(&nearest, "", "", hint), known);
}

/* Sets one "name=value". */
static kr_status set_option(kr_spec *spec, kr_text setting, kr_error *err)
{
    kr_text value = setting;
    const kr_text name = kr_text_cut(&value, '=');
    const kr_option *option;
    uint32_t i = 0;
    while ((option = kr_spec_option_at(spec->kind, i)) && !kr_text_is(name, option->name))
        ++i;
    if (!option)
        return unknown_option(spec->kind, name, err);
    if (name.nbytes == setting.nbytes)
        return kr_fail(err, KR_ERR_SPEC, "option '%s' needs a value: %s=...", option->name, option->name);
    if (spec->given >> i & 1)
        return kr_fail(err, KR_ERR_SPEC, "option '%s' is given twice", option->name);
    spec->given |= (uint32_t)1 << i;
    const kr_status status = kr_option_read(option, value, value_at(spec, i), err);
    if (status == KR_OK && option->form == KR_OPTION_TEXT && *value_at(spec, i) > 0)
        snprintf(spec->text, sizeof spec->text, "%.*s", (int)value.nbytes, value.at);
    return status;
}

/* Cuts "name=value" off the front. Commas end it; in a text, those that a "name=" follows. */
static kr_text cut_setting(const kr_kind *kind, kr_text *rest)
{
    kr_text setting = kr_text_cut(rest, ','), name = setting;
    const kr_option *option = NULL;
    name = kr_text_cut(&name, '=');
    for (uint32_t i = 0; (option = kr_spec_option_at(kind, i)) && !kr_text_is(name, option->name);)
        ++i;
    while (option && option->form == KR_OPTION_TEXT && rest->nbytes) {
        kr_text after = *rest;
        const kr_text next = kr_text_cut(&after, ',');
        if (memchr(next.at, '=', next.nbytes))
            break;
        setting.nbytes = (size_t)(next.at + next.nbytes - setting.at);
        *rest = after;
    }
    return setting;
}

kr_status kr_spec_parse(const char *text, kr_spec *spec, kr_error *err)
{
    if (!text)
        return kr_fail(err, KR_ERR_ARGUMENT, "the spec is NULL; give a kind, e.g. \"array\"");
    kr_text rest = {text, strlen(text)};
    const int has_options = strchr(text, ':') != NULL;
    kr_spec parsed = {.kind = find_kind(kr_text_cut(&rest, ':'), err)};
    if (!parsed.kind)
        return KR_ERR_SPEC;
    for (uint32_t i = 0; kr_spec_option_at(parsed.kind, i); ++i)
        *value_at(&parsed, i) = kr_spec_option_at(parsed.kind, i)->standard;
    if (has_options && (rest.nbytes == 0 || rest.at[rest.nbytes - 1] == ','))
        return kr_fail(err, KR_ERR_SPEC, "spec '%s' ends where an option is expected", text);
    while (rest.nbytes) {
        const kr_status status = set_option(&parsed, cut_setting(parsed.kind, &rest), err);
        if (status != KR_OK)
            return status;
    }
    const kr_status status = parsed.kind->settle ? parsed.kind->settle(&parsed, err) : KR_OK;
    if (status == KR_OK)
        *spec = parsed;
    return status;
}

/* Prints the options whose bits are set in `keep`. */
static void format(const kr_spec *spec, uint32_t keep, char *text, size_t text_nbytes)
{
    const kr_option *option;
    char value[KR_SPEC_TEXT_NBYTES], separator = ':';
    text[0] = '\0';
    kr_text_append(text, text_nbytes, spec->kind->name);
    for (uint32_t i = 0; (option = kr_spec_option_at(spec->kind, i)); ++i) {
        if (!(keep >> i & 1))
            continue;
        const size_t used = strlen(text);
        const int64_t number = *value_at((kr_spec *)spec, i);
        kr_option_print(option, number, value, sizeof value);
        if (option->form == KR_OPTION_TEXT && number > 0)
            snprintf(value, sizeof value, "%s", spec->text);
        snprintf(text + used, text_nbytes - used, "%c%s=%s", separator, option->name, value);
        separator = ',';
    }
}

enum { WHOLE_NBYTES = 2048 };

static kr_status hand_over(const char *whole, char *text, size_t text_nbytes, kr_error *err)
{
    const size_t nbytes = strlen(whole) + 1;
    if (nbytes > text_nbytes)
        return kr_fail(err, KR_ERR_LIMIT, "the spec needs %zu bytes, but there are %zu", nbytes, text_nbytes);
    memcpy(text, whole, nbytes);
    return KR_OK;
}

kr_status kr_spec_format(const kr_spec *spec, char *text, size_t text_nbytes, kr_error *err)
{
    char whole[WHOLE_NBYTES];
    format(spec, UINT32_MAX, whole, sizeof whole);
    return hand_over(whole, text, text_nbytes, err);
}

static int means(const char *text, const kr_spec *spec)
{
    kr_spec parsed;
    if (kr_spec_parse(text, &parsed, NULL) != KR_OK)
        return 0;
    for (uint32_t i = 0; kr_spec_option_at(spec->kind, i); ++i)
        if (*value_at(&parsed, i) != *value_at((kr_spec *)spec, i))
            return 0;
    return strcmp(parsed.text, spec->text) == 0;
}

/* The value of an option that is left out depends on the others (settle), so each is tried. */
kr_status kr_spec_format_short(const kr_spec *spec, char *text, size_t text_nbytes, kr_error *err)
{
    char whole[WHOLE_NBYTES];
    uint32_t keep = UINT32_MAX;
    for (uint32_t i = 0; kr_spec_option_at(spec->kind, i); ++i) {
        const uint32_t less = keep & ~((uint32_t)1 << i);
        format(spec, less, whole, sizeof whole);
        if (means(whole, spec))
            keep = less;
    }
    format(spec, keep, whole, sizeof whole);
    return hand_over(whole, text, text_nbytes, err);
}

/* ---- For the settle of kinds ----------------------------------------------------------------- */

kr_status kr_spec_require(kr_spec *spec, uint32_t option, int64_t value, const char *why, kr_error *err)
{
    if (*value_at(spec, option) == value)
        return KR_OK;
    if (kr_spec_gives(spec, option))
        return kr_fail(err, KR_ERR_SPEC, "kind '%s': %s", spec->kind->name, why);
    *value_at(spec, option) = value;
    return KR_OK;
}

void kr_spec_settle_preset(kr_spec *spec, uint32_t preset, const kr_preset_value *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i)
        if (values[i].preset == *value_at(spec, preset) && !kr_spec_gives(spec, values[i].option))
            *value_at(spec, values[i].option) = values[i].value;
}
