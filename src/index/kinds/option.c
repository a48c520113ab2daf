#include "index/kinds/option.h"
#include "base/util/spelling.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

kr_text kr_text_cut(kr_text *rest, char stop)
{
    const char *found = rest->nbytes ? memchr(rest->at, stop, rest->nbytes) : NULL;
    const size_t nbytes = found ? (size_t)(found - rest->at) : rest->nbytes;
    const kr_text head = {rest->at, nbytes};
    rest->at += nbytes + (found ? 1 : 0);
    rest->nbytes -= nbytes + (found ? 1 : 0);
    return head;
}

int kr_text_is(kr_text text, const char *word)
{
    return strlen(word) == text.nbytes && memcmp(text.at, word, text.nbytes) == 0;
}

void kr_text_append(char *text, size_t text_nbytes, const char *more)
{
    const size_t used = strlen(text);
    snprintf(text + used, text_nbytes - used, "%s", more);
}

/* The position of a word among the option's choices, or -1. */
static int64_t find_choice(const kr_option *option, kr_text value)
{
    kr_text rest = {option->choices, option->choices ? strlen(option->choices) : 0};
    for (int64_t i = 0; rest.nbytes; ++i) {
        const kr_text choice = kr_text_cut(&rest, '|');
        if (choice.nbytes == value.nbytes && memcmp(choice.at, value.at, value.nbytes) == 0)
            return i;
    }
    return -1;
}

/* Reads a number within the option's bounds; 0: it is not one. */
static int read_number(const kr_option *option, kr_text value, int64_t *number)
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

/* Reads numbers with ':' between; 0: they are not that. */
static int read_parts(const kr_option *option, kr_text value, int64_t *number)
{
    kr_text rest = value;
    int64_t whole = 0, part = 0;
    int n = 0;
    while (n < n_parts(option) && read_number(option, kr_text_cut(&rest, ':'), &part))
        whole |= part << 8 * n++;
    *number = whole;
    return n == n_parts(option) && !rest.nbytes && value.at[value.nbytes - 1] != ':';
}

/* Reads thousandths within the option's bounds; 0: it is not a decimal. */
static int read_decimal(const kr_option *option, kr_text value, int64_t *number)
{
    static const int64_t scales[] = {1000, 100, 10, 1};
    kr_text decimals = value;
    const kr_text whole = kr_text_cut(&decimals, '.');
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
    snprintf(text, text_nbytes, "%u:%u", kr_option_triple_part(value, 0), kr_option_triple_part(value, 1));
    if (option->form == KR_OPTION_TRIPLE)
        snprintf(text + strlen(text), text_nbytes - strlen(text), ":%u", kr_option_triple_part(value, 2));
}

/* For errors: "a number from 2 to 33", "two numbers ..., or one of on|off". */
static void explain(const kr_option *option, char *text, size_t text_nbytes)
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
    case KR_OPTION_TEXT: snprintf(text, text_nbytes, "a text of at most %s characters", most); break;
    default: snprintf(text, text_nbytes, "a number from %s to %s", least, most);
    }
    if (option->choices) {
        kr_text_append(text, text_nbytes, ", or one of ");
        kr_text_append(text, text_nbytes, option->choices);
    }
}

static int read_value(const kr_option *option, kr_text value, int64_t *number)
{
    const int64_t choice = find_choice(option, value);
    switch (option->form) {
    case KR_OPTION_CHOICE: *number = choice; return choice >= 0;
    case KR_OPTION_TRIPLE: return read_parts(option, value, number);
    case KR_OPTION_PAIR:
        *number = choice == 0 ? option->standard : 0;
        return choice >= 0 || read_parts(option, value, number);
    case KR_OPTION_DECIMAL: *number = -1 - choice; return choice >= 0 || read_decimal(option, value, number);
    case KR_OPTION_TEXT:
        *number = choice >= 0 ? -1 - choice : 1;
        return value.nbytes && (int64_t)value.nbytes <= option->maximum;
    default: return read_number(option, value, number);
    }
}

kr_status kr_option_read(const kr_option *option, kr_text value, int64_t *number, kr_error *err)
{
    char takes[192], hint[KR_SPELLING_HINT_NBYTES];
    int64_t parsed = 0;
    if (!read_value(option, value, &parsed)) {
        kr_spelling nearest = kr_spelling_begin(value.at, value.nbytes);
        kr_spelling_offer_choices(&nearest, option->choices ? option->choices : "");
        explain(option, takes, sizeof takes);
        return kr_fail(err, KR_ERR_SPEC, "option '%s' is %s, not '%.*s'%s", option->name, takes,
                       (int)value.nbytes, value.at, kr_spelling_hint(&nearest, "", "", hint));
    }
    *number = parsed;
    return KR_OK;
}

static void print_choice(const kr_option *option, int64_t position, char *text, size_t text_nbytes)
{
    kr_text choice, rest = {option->choices, strlen(option->choices)};
    do
        choice = kr_text_cut(&rest, '|');
    while (position-- > 0);
    snprintf(text, text_nbytes, "%.*s", (int)choice.nbytes, choice.at);
}

void kr_option_print(const kr_option *option, int64_t value, char *text, size_t text_nbytes)
{
    text[0] = '\0';
    switch (option->form) {
    case KR_OPTION_CHOICE: print_choice(option, value, text, text_nbytes); break;
    case KR_OPTION_TRIPLE:
    case KR_OPTION_PAIR: print_parts(option, value, text, text_nbytes); break;
    case KR_OPTION_TEXT:
        if (value < 0)
            print_choice(option, -1 - value, text, text_nbytes);
        break;
    case KR_OPTION_DECIMAL:
        if (value < 0)
            print_choice(option, -1 - value, text, text_nbytes);
        else
            print_decimal(value, text, text_nbytes);
        break;
    default: snprintf(text, text_nbytes, "%lld", (long long)value);
    }
}

/* "2..33", "1.1..1000" */
static void print_bounds(const kr_option *option, char *text, size_t text_nbytes)
{
    char least[32], most[32];
    snprintf(least, sizeof least, "%lld", (long long)option->minimum);
    snprintf(most, sizeof most, "%lld", (long long)option->maximum);
    if (option->form == KR_OPTION_DECIMAL) {
        print_decimal(option->minimum, least, sizeof least);
        print_decimal(option->maximum, most, sizeof most);
    }
    snprintf(text, text_nbytes, "%s..%s", least, most);
}

/* "soa|aos", "2..33", "0..23:0..23:0..23", "0..25:0..25|on|off", "1.1..1000|auto|never" */
static void print_values(const kr_option *option, char *text, size_t text_nbytes)
{
    const int numbers = option->form == KR_OPTION_CHOICE   ? 0
                        : option->form == KR_OPTION_TEXT   ? 0
                        : option->form == KR_OPTION_TRIPLE ? 3
                        : option->form == KR_OPTION_PAIR   ? 2
                                                           : 1;
    char bounds[80];
    text[0] = '\0';
    print_bounds(option, bounds, sizeof bounds);
    for (int i = 0; i < numbers; ++i) {
        kr_text_append(text, text_nbytes, i ? ":" : "");
        kr_text_append(text, text_nbytes, bounds);
    }
    if (option->form == KR_OPTION_TEXT)
        kr_text_append(text, text_nbytes, "TEXT");
    if (option->choices) {
        kr_text_append(text, text_nbytes, text[0] ? "|" : "");
        kr_text_append(text, text_nbytes, option->choices);
    }
}

void kr_option_describe(const kr_option *option, kr_option_info *info)
{
    const double unit = option->form == KR_OPTION_DECIMAL ? 1000 : 1;
    const int has_bounds = option->form != KR_OPTION_CHOICE && option->form != KR_OPTION_TEXT;
    *info = (kr_option_info){
        .name = option->name,
        .help = option->help,
        .choices = option->choices,
        .form = option->form,
        .minimum = has_bounds ? (double)option->minimum / unit : 0,
        .maximum = has_bounds ? (double)option->maximum / unit : 0,
    };
    kr_option_print(option, option->standard, info->standard, sizeof info->standard);
    print_values(option, info->values, sizeof info->values);
}
