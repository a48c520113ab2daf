#include "dictionary.h"

#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    const dictionary_entry *x = a, *y = b;
    return column_compare_strings(x->text, x->nbytes, y->text, y->nbytes);
}

static void drop_repeated(dictionary *words)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < words->n; ++i)
        if (!n || compare(&words->at[n - 1], &words->at[i]) != 0)
            words->at[n++] = words->at[i];
    words->n = n;
}

static int collect(dictionary *words, const struct column *columns, uint32_t n)
{
    uint64_t all = 0;
    for (uint32_t c = 0; c < n; ++c)
        all += column_count_strings(&columns[c]);
    if (all >= KR_NO_ROW)
        return tool_fail(
            FAILED, "the text columns of the table have %llu strings, but they may have at most 4294967294",
            (unsigned long long)all);
    words->at = tool_alloc(all, sizeof *words->at, "strings of the table");
    if (!words->at)
        return FAILED;
    for (uint32_t c = 0; c < n; ++c) {
        dictionary_entry entry;
        for (uint32_t i = 0; (entry.text = kr_file_string(columns[c].file, i, &entry.nbytes)); ++i)
            words->at[words->n++] = entry;
    }
    qsort(words->at, words->n, sizeof *words->at, compare);
    drop_repeated(words);
    return DONE;
}

/* The code of a string that is among them. */
static uint32_t find(const dictionary *words, const char *text, size_t nbytes)
{
    const dictionary_entry wanted = {text, nbytes};
    uint32_t low = 0, high = words->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (compare(&words->at[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int replace(const dictionary *words, struct column *column)
{
    const uint32_t n = column_count_strings(column);
    if (n == words->n) /* it has them all, under these codes */
        return DONE;
    uint32_t *map = tool_alloc(n, sizeof *map, "codes of strings");
    if (!map)
        return FAILED;
    for (uint32_t i = 0; i < n; ++i) {
        size_t nbytes = 0;
        const char *text = kr_file_string(column->file, i, &nbytes);
        map[i] = find(words, text, nbytes);
    }
    const int code = column_replace_codes(column, map);
    free(map);
    return code;
}

int dictionary_open(dictionary *words, struct column *columns, uint32_t n)
{
    uint64_t identity = 0; /* that of the first text column stands for the one dictionary of all */
    int code = collect(words, columns, n);
    for (uint32_t c = 0; c < n && !code; ++c) {
        if (!column_is_text(&columns[c]))
            continue;
        code = replace(words, &columns[c]);
        identity = identity ? identity : columns[c].view.dictionary;
        columns[c].view.dictionary = identity;
    }
    return code;
}

void dictionary_close(dictionary *words)
{
    free(words->at);
    *words = (dictionary){0};
}
