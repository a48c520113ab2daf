#include "kinds/spec.h"
#include "kinds/kind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const kr_option kr_common_options[KR_COMMON_COUNT] = {
    [KR_COMMON_PROBES] = {"probes", KR_OPTION_CHOICE, "as-is|sorted|partitioned|auto", 0, 3, KR_PROBES_AUTO,
                          "order in which a batch is searched: as given, sorted first, brought together by "
                          "parts of the index, or what is faster here; results always stand in the order "
                          "given"},
};

/* A piece of a longer string. */
typedef struct piece {
    const char *at;
    size_t nbytes;
} piece;

/* Cuts the text up to `stop` off the front of `rest`. */
static piece cut(piece *rest, char stop)
{
    const char *found = memchr(rest->at, stop, rest->nbytes);
    const size_t nbytes = found ? (size_t)(found - rest->at) : rest->nbytes;
    const piece head = {rest->at, nbytes};
    rest->at += nbytes + (found ? 1 : 0);
    rest->nbytes -= nbytes + (found ? 1 : 0);
    return head;
}

static int is(piece text, const char *word)
{
    return strlen(word) == text.nbytes && memcmp(text.at, word, text.nbytes) == 0;
}

/* Appends to a text that may be cut off at its end. */
static void append(char *text, size_t text_nbytes, const char *more)
{
    const size_t used = strlen(text);
    snprintf(text + used, text_nbytes - used, "%s", more);
}

static const kr_kind *find_kind(piece name, kr_error *err)
{
    char known[256] = "";
    for (uint32_t i = 0; kr_kind_at(i); ++i) {
        const kr_kind *kind = kr_kind_at(i);
        if (is(name, kind->info.name))
            return kind;
        append(known, sizeof known, i ? ", " : "");
        append(known, sizeof known, kind->info.name);
    }
    kr_fail(err, KR_ERR_SPEC, "unknown kind '%.*s'; known kinds: %s", (int)name.nbytes, name.at, known);
    return NULL;
}

static void list_options(const kr_option *options, uint32_t n, char *text, size_t text_nbytes)
{
    for (uint32_t i = 0; i < n; ++i) {
        append(text, text_nbytes, text[0] ? ", " : "");
        append(text, text_nbytes, options[i].name);
    }
}

static const kr_option *find_option(const kr_option *options, uint32_t n, piece name)
{
    for (uint32_t i = 0; i < n; ++i)
        if (is(name, options[i].name))
            return &options[i];
    return NULL;
}

/* The position of a word among the option's choices, or -1. */
static int64_t find_choice(const kr_option *option, piece value)
{
    piece rest = {option->choices, option->choices ? strlen(option->choices) : 0};
    for (int64_t i = 0; rest.nbytes; ++i) {
        const piece choice = cut(&rest, '|');
        if (choice.nbytes == value.nbytes && memcmp(choice.at, value.at, value.nbytes) == 0)
            return i;
    }
    return -1;
}

/* A number within the option's bounds; 0: it is none. */
static int read_number(const kr_option *option, piece value, int64_t *number)
{
    char digits[24] = "", *end = digits;
    if (value.nbytes && value.nbytes < sizeof digits) {
        memcpy(digits, value.at, value.nbytes);
        errno = 0;
        *number = strtoll(digits, &end, 10);
    }
    return end != digits && !*end && !errno && *number >= option->minimum && *number <= option->maximum &&
           !strchr(" \t+", digits[0]);
}

static int n_parts(const kr_option *option)
{
    return option->form == KR_OPTION_TRIPLE ? 3 : 2;
}

/* Numbers with ':' between; 0: it is none. */
static int read_parts(const kr_option *option, piece value, int64_t *number)
{
    piece rest = value;
    int64_t whole = 0, part = 0;
    int n = 0;
    while (n < n_parts(option) && read_number(option, cut(&rest, ':'), &part))
        whole |= part << 8 * n++;
    *number = whole;
    return n == n_parts(option) && !rest.nbytes && value.at[value.nbytes - 1] != ':';
}

/* Thousandths within the option's bounds; 0: it is none. */
static int read_decimal(const kr_option *option, piece value, int64_t *number)
{
    static const int64_t scales[] = {1000, 100, 10, 1};
    piece decimals = value;
    const piece whole = cut(&decimals, '.');
    const int has_point = whole.nbytes < value.nbytes;
    int64_t digits = 0;
    if (!whole.nbytes || whole.nbytes > 9 || decimals.nbytes > 3 || (has_point && !decimals.nbytes))
        return 0;
    for (size_t i = 0; i < value.nbytes; ++i) {
        if (i == whole.nbytes)
            continue; /* the point */
        if (value.at[i] < '0' || value.at[i] > '9')
            return 0;
        digits = digits * 10 + value.at[i] - '0';
    }
    *number = digits * scales[decimals.nbytes];
    return *number >= option->minimum && *number <= option->maximum;
}

/* "0.5", "2", "1.125". */
static void print_decimal(int64_t thousandths, char *text, size_t text_nbytes)
{
    static const int64_t units[] = {1000, 100, 10, 1};
    int decimals = 0;
    while (thousandths % units[decimals])
        ++decimals;
    snprintf(text, text_nbytes, "%lld", (long long)(thousandths / 1000));
    if (decimals)
        snprintf(text + strlen(text), text_nbytes - strlen(text), ".%0*lld", decimals,
                 (long long)(thousandths % 1000 / units[decimals]));
}

static void print_parts(const kr_option *option, int64_t value, char *text, size_t text_nbytes)
{
    snprintf(text, text_nbytes, "%u:%u", kr_triple_part(value, 0), kr_triple_part(value, 1));
    if (option->form == KR_OPTION_TRIPLE)
        snprintf(text + strlen(text), text_nbytes - strlen(text), ":%u", kr_triple_part(value, 2));
}

/* What the option takes: "is a number from 2 to 33", "is two numbers ... or one of on|off". */
static void describe(const kr_option *option, char *text, size_t text_nbytes)
{
    char least[32], most[32], example[16];
    snprintf(least, sizeof least, "%lld", (long long)option->minimum);
    snprintf(most, sizeof most, "%lld", (long long)option->maximum);
    switch (option->form) {
    case KR_OPTION_CHOICE: snprintf(text, text_nbytes, "one of %s", option->choices); return;
    case KR_OPTION_TRIPLE:
    case KR_OPTION_PAIR:
        print_parts(option, option->standard, example, sizeof example);
        snprintf(text, text_nbytes, "%s numbers from %s to %s with ':' between, as in %s",
                 option->form == KR_OPTION_TRIPLE ? "three" : "two", least, most, example);
        break;
    case KR_OPTION_DECIMAL:
        print_decimal(option->minimum, least, sizeof least);
        print_decimal(option->maximum, most, sizeof most);
        snprintf(text, text_nbytes, "a number from %s to %s with at most three decimals", least, most);
        break;
    default: snprintf(text, text_nbytes, "a number from %s to %s", least, most);
    }
    if (option->choices) {
        append(text, text_nbytes, ", or one of ");
        append(text, text_nbytes, option->choices);
    }
}

static int read_value(const kr_option *option, piece value, int64_t *number)
{
    const int64_t choice = find_choice(option, value);
    switch (option->form) {
    case KR_OPTION_CHOICE: *number = choice; return choice >= 0;
    case KR_OPTION_TRIPLE: return read_parts(option, value, number);
    case KR_OPTION_PAIR:
        *number = choice == 0 ? option->standard : 0;
        return choice >= 0 || read_parts(option, value, number);
    case KR_OPTION_DECIMAL: *number = -1 - choice; return choice >= 0 || read_decimal(option, value, number);
    default: return read_number(option, value, number);
    }
}

static kr_status parse_value(const kr_option *option, piece value, int64_t *number, kr_error *err)
{
    char takes[192];
    int64_t parsed = 0;
    if (!read_value(option, value, &parsed)) {
        describe(option, takes, sizeof takes);
        return kr_fail(err, KR_ERR_SPEC, "option '%s' is %s, not '%.*s'", option->name, takes,
                       (int)value.nbytes, value.at);
    }
    *number = parsed;
    return KR_OK;
}

/* Kinds of indexes have the common options beside their own. */
static uint32_t n_common(const kr_kind *kind)
{
    return kind->family ? KR_COMMON_COUNT : 0;
}

/* Sets one "name=value"; `seen` holds a bit per option to refuse one given twice. */
static kr_status set_option(kr_spec *spec, piece setting, uint64_t *seen, kr_error *err)
{
    const kr_kind_info *info = &spec->kind->info;
    piece value = setting;
    const piece name = cut(&value, '=');
    const kr_option *option = find_option(info->options, info->n_options, name);
    uint64_t position = option ? (uint64_t)(option - info->options) : 0;
    int64_t *number = &spec->options[position];
    if (!option) {
        option = find_option(kr_common_options, n_common(spec->kind), name);
        position = option ? (uint64_t)(option - kr_common_options) : 0;
        number = &spec->common[position];
        position += KR_SPEC_OPTIONS;
    }
    if (!option) {
        char known[256] = "";
        list_options(info->options, info->n_options, known, sizeof known);
        list_options(kr_common_options, n_common(spec->kind), known, sizeof known);
        return kr_fail(err, KR_ERR_SPEC, "kind '%s' has no option '%.*s'; its options: %s", info->name,
                       (int)name.nbytes, name.at, known);
    }
    if (name.nbytes == setting.nbytes)
        return kr_fail(err, KR_ERR_SPEC, "option '%s' needs a value: %s=...", option->name, option->name);
    if (*seen >> position & 1)
        return kr_fail(err, KR_ERR_SPEC, "option '%s' is given twice", option->name);
    *seen |= (uint64_t)1 << position;
    return parse_value(option, value, number, err);
}

kr_status kr_spec_parse(const char *text, kr_spec *spec, kr_error *err)
{
    if (!text)
        return kr_fail(err, KR_ERR_ARGUMENT, "the spec is NULL; give a kind, e.g. \"array\"");
    piece rest = {text, strlen(text)};
    const int has_options = strchr(text, ':') != NULL;
    kr_spec parsed = {.kind = find_kind(cut(&rest, ':'), err)};
    if (!parsed.kind)
        return KR_ERR_SPEC;
    for (uint32_t i = 0; i < parsed.kind->info.n_options; ++i)
        parsed.options[i] = parsed.kind->info.options[i].standard;
    for (uint32_t i = 0; i < KR_COMMON_COUNT; ++i)
        parsed.common[i] = kr_common_options[i].standard;
    if (has_options && (rest.nbytes == 0 || rest.at[rest.nbytes - 1] == ','))
        return kr_fail(err, KR_ERR_SPEC, "spec '%s' ends where an option should stand", text);
    uint64_t seen = 0;
    while (rest.nbytes) {
        const kr_status status = set_option(&parsed, cut(&rest, ','), &seen, err);
        if (status != KR_OK)
            return status;
    }
    parsed.given = (uint32_t)(seen & (((uint64_t)1 << KR_SPEC_OPTIONS) - 1));
    const kr_status status = parsed.kind->settle ? parsed.kind->settle(&parsed, err) : KR_OK;
    if (status == KR_OK)
        *spec = parsed;
    return status;
}

static void print_choice(const kr_option *option, int64_t position, char *text, size_t text_nbytes)
{
    piece choice, rest = {option->choices, strlen(option->choices)};
    do
        choice = cut(&rest, '|');
    while (position-- > 0);
    snprintf(text, text_nbytes, "%.*s", (int)choice.nbytes, choice.at);
}

static void print_value(const kr_option *option, int64_t value, char *text, size_t text_nbytes)
{
    switch (option->form) {
    case KR_OPTION_CHOICE: print_choice(option, value, text, text_nbytes); break;
    case KR_OPTION_TRIPLE:
    case KR_OPTION_PAIR: print_parts(option, value, text, text_nbytes); break;
    case KR_OPTION_DECIMAL:
        if (value < 0)
            print_choice(option, -1 - value, text, text_nbytes);
        else
            print_decimal(value, text, text_nbytes);
        break;
    default: snprintf(text, text_nbytes, "%lld", (long long)value);
    }
}

static void format_option(const kr_option *option, int64_t value, char separator, char *text,
                          size_t text_nbytes)
{
    char words[64], setting[128];
    print_value(option, value, words, sizeof words);
    snprintf(setting, sizeof setting, "%c%s=%s", separator, option->name, words);
    append(text, text_nbytes, setting);
}

kr_status kr_spec_format(const kr_spec *spec, char *text, size_t text_nbytes, kr_error *err)
{
    const kr_kind_info *info = &spec->kind->info;
    char whole[1024] = "";
    append(whole, sizeof whole, info->name);
    for (uint32_t i = 0; i < info->n_options; ++i)
        format_option(&info->options[i], spec->options[i], i ? ',' : ':', whole, sizeof whole);
    for (uint32_t i = 0; i < n_common(spec->kind); ++i)
        format_option(&kr_common_options[i], spec->common[i], i + info->n_options ? ',' : ':', whole,
                      sizeof whole);
    if (strlen(whole) >= text_nbytes)
        return kr_fail(err, KR_ERR_LIMIT, "the spec needs %zu bytes, there are %zu", strlen(whole) + 1,
                       text_nbytes);
    memcpy(text, whole, strlen(whole) + 1);
    return KR_OK;
}
