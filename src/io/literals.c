/* Values that are written by hand: "42,43", "2024-01-01", "'a,b',NULL". */
#include "base/values/convert.h"
#include "io/column.h"

#include "base/util/error.h"
#include "base/util/rounding.h"

#include <stdlib.h>
#include <string.h>

struct list {
    const char *at;
    char *text; /* of one value: quotes undone */
    uint64_t n; /* values so far */
};

static bool is_space(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static kr_status fail_list(const struct list *list, const char *why, kr_error *err)
{
    return kr_fail(err, KR_ERR_ARGUMENT,
                   "value %llu of the list %s; write values as in 42,43 or 2024-01-01 or 'a, b'",
                   (unsigned long long)list->n + 1, why);
}

/* The text in quotes that begins at list->at, whose doubled quotes are one. */
static kr_status take_quoted(struct list *list, size_t *nbytes, kr_error *err)
{
    const char quote = *list->at++;
    for (*nbytes = 0; *list->at; list->at++) {
        if (*list->at == quote && list->at[1] != quote) {
            list->at++;
            while (is_space(*list->at))
                list->at++;
            return *list->at && *list->at != ',' ? fail_list(list, "goes on behind its quotes", err) : KR_OK;
        }
        list->at += *list->at == quote;
        list->text[(*nbytes)++] = *list->at;
    }
    return fail_list(list, "has no closing quote", err);
}

/* Cuts the next value out; list->at is then at its ',' or at the end. */
static kr_status take_value(struct list *list, size_t *nbytes, bool *quoted, kr_error *err)
{
    while (is_space(*list->at))
        list->at++;
    *quoted = *list->at == '\'' || *list->at == '"';
    if (*quoted)
        return take_quoted(list, nbytes, err);
    size_t n = strcspn(list->at, ",");
    memcpy(list->text, list->at, n);
    list->at += n;
    while (n > 0 && is_space(list->text[n - 1]))
        n--;
    *nbytes = n;
    return n ? KR_OK : fail_list(list, "is empty; write NULL for a missing value", err);
}

static kr_status read_list(struct list *list, struct kr_builder *builder, kr_error *err)
{
    for (;; list->at++) {
        size_t nbytes = 0;
        bool quoted = false;
        kr_status status = take_value(list, &nbytes, &quoted, err);
        if (status == KR_OK)
            status = kr_builder_append_literal(builder, list->text, nbytes, quoted, ++list->n, err);
        if (status != KR_OK || !*list->at)
            return status;
    }
}

kr_status kr_file_literals(const char *text, const kr_file *like, kr_file **file, kr_error *err)
{
    if (!text || !like || !file)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_file_literals: %s is NULL",
                       !text   ? "text"
                       : !like ? "like"
                               : "file");
    struct list list = {.at = text, .text = kr_host_calloc(strlen(text) + 1, 1, "a value", err)};
    kr_file *made = list.text ? kr_host_calloc(1, sizeof *made, "values", err) : NULL;
    kr_status status = made ? KR_OK : KR_ERR_HOST_MEMORY;
    struct kr_builder builder;
    const struct kr_place nowhere = {0};
    kr_rounding before;
    kr_rounding_begin(&before);
    if (made)
        kr_io_show(made->name, text, strlen(text));
    if (status == KR_OK)
        status = kr_builder_begin(&builder, like->column.type, like->unit, kr_file_is_text(like), "NULL",
                                  made, &nowhere, err);
    if (status == KR_OK)
        status = read_list(&list, &builder, err);
    if (status == KR_OK)
        status = kr_builder_end(&builder, err);
    kr_rounding_end(&before);
    free(list.text);
    if (status == KR_OK) {
        made->column.data = made->data;
        made->column.validity = made->validity;
    }
    if (status == KR_OK && kr_file_is_spelled(like))
        status = kr_file_spell(made, err);
    if (status == KR_OK) {
        *file = made;
    } else {
        kr_file_close(made);
    }
    return status;
}
