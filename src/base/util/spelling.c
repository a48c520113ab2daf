#include "base/util/spelling.h"

#include <stdio.h>
#include <string.h>

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters missing, added, other, or exchanged with their neighbour: three rows of the usual table. */
static size_t distance(const char *a, size_t a_nbytes, const char *b, size_t b_nbytes)
{
    size_t rows[3][KR_SPELLING_NBYTES + 1];
    size_t *before = rows[0], *last = rows[1], *here = rows[2];
    for (size_t j = 0; j <= b_nbytes; ++j)
        last[j] = j;
    for (size_t i = 1; i <= a_nbytes; ++i) {
        here[0] = i;
        for (size_t j = 1; j <= b_nbytes; ++j) {
            const char x = lower(a[i - 1]), y = lower(b[j - 1]);
            here[j] = least(least(last[j], here[j - 1]) + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2]))
                here[j] = least(here[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = last;
        last = here;
        here = oldest;
    }
    return last[b_nbytes];
}

static int begins_with(const char *text, const char *begin, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; ++i)
        if (lower(text[i]) != lower(begin[i]))
            return 0;
    return 1;
}

kr_spelling kr_spelling_begin(const char *wanted, size_t nbytes)
{
    return (kr_spelling){.wanted = wanted, .nbytes = nbytes};
}

void kr_spelling_offer(kr_spelling *nearest, const char *name, size_t nbytes)
{
    const size_t longer = nbytes > nearest->nbytes ? nbytes : nearest->nbytes;
    if (!nbytes || !nearest->nbytes || longer >= KR_SPELLING_NBYTES)
        return;
    size_t there = distance(nearest->wanted, nearest->nbytes, name, nbytes);
    const size_t near = longer < 3 ? 0 : longer < 5 ? 1 : 1 + longer / 5;
    if (there > near && nearest->nbytes >= 3 && nbytes > nearest->nbytes &&
        begins_with(name, nearest->wanted, nearest->nbytes))
        there = 1;
    if (there > near || (nearest->name[0] && there >= nearest->distance))
        return;
    memcpy(nearest->name, name, nbytes);
    nearest->name[nbytes] = '\0';
    nearest->distance = there;
}

void kr_spelling_offer_choices(kr_spelling *nearest, const char *choices)
{
    for (size_t length; *choices; choices += length + (choices[length] == '|')) {
        length = strcspn(choices, "|");
        kr_spelling_offer(nearest, choices, length);
    }
}

const char *kr_spelling_hint(const kr_spelling *nearest, const char *before, const char *after,
                             char text[KR_SPELLING_HINT_NBYTES])
{
    text[0] = '\0';
    if (nearest->name[0])
        snprintf(text, KR_SPELLING_HINT_NBYTES, " (did you mean %s%s%s?)", before, nearest->name, after);
    return text;
}
