#include "table/families/cubes/groups.h"
#include "base/util/spelling.h"
#include "table/condition/describe.h"

#include <stdlib.h>
#include <string.h>

/* A name of the text, and what follows it. */
typedef struct name {
    const char *at;
    size_t nbytes;
    char separator; /* '+', ',' or the end */
} name;

/* The name that begins at `at`; returns where the next begins, NULL behind the last. */
static const char *read_name(const char *at, name *to)
{
    to->at = at;
    to->nbytes = strcspn(at, "+,");
    to->separator = at[to->nbytes];
    return to->separator ? at + to->nbytes + 1 : NULL;
}

static int is_same(const name *a, const name *b)
{
    return a->nbytes == b->nbytes && memcmp(a->at, b->at, a->nbytes) == 0;
}

/* 1: the text has this name before. */
static int is_repeated(const char *text, const name *of)
{
    name before;
    for (const char *at = text; at < of->at;) {
        const char *next = read_name(at, &before);
        if (is_same(&before, of))
            return 1;
        at = next;
    }
    return 0;
}

uint32_t cubes_groups_count(const char *text, uint32_t together, uint32_t n_columns)
{
    uint32_t n_named = 0, n_groups = 0;
    name here;
    for (const char *at = text[0] ? text : NULL; at;) {
        at = read_name(at, &here);
        n_named += !is_repeated(text, &here);
        n_groups += here.separator != '+';
    }
    const uint32_t left = n_named < n_columns ? n_columns - n_named : 0;
    return n_groups + (left + together - 1) / together;
}

static kr_status find_column(const name *of, uint32_t n_columns, const char *const *names, uint32_t *column,
                             kr_error *err)
{
    for (uint32_t c = 0; c < n_columns; ++c)
        if (strlen(names[c]) == of->nbytes && memcmp(names[c], of->at, of->nbytes) == 0) {
            *column = c;
            return KR_OK;
        }
    char hint[KR_SPELLING_HINT_NBYTES];
    kr_spelling nearest = kr_spelling_begin(of->at, of->nbytes);
    for (uint32_t c = 0; c < n_columns; ++c)
        kr_spelling_offer(&nearest, names[c], strlen(names[c]));
    return kr_fail(
        err, KR_ERR_SPEC,
        "groups: the table has no column '%.*s'%s; give names with + between those of a group and a "
        "comma between groups",
        (int)of->nbytes, of->at, kr_spelling_hint(&nearest, "'", "'", hint));
}

static kr_status add_column(cubes_group *group, uint32_t column, const char *const *names, kr_error *err)
{
    for (uint32_t axis = 0; axis < group->n_columns; ++axis)
        if (group->columns[axis] == column)
            return kr_fail(err, KR_ERR_SPEC, "groups: column '%s' is twice in a group; name it once",
                           names[column]);
    if (group->n_columns == CUBES_AXES)
        return kr_fail(err, KR_ERR_SPEC, "groups: column '%s' is one too many; a group has at most %d",
                       names[column], CUBES_AXES);
    group->columns[group->n_columns++] = column;
    return KR_OK;
}

/* Reads the text. `uses` counts the groups of each column. */
static kr_status fill_named(const char *text, uint32_t n_columns, const char *const *names, uint8_t *uses,
                            cubes_group **next, kr_error *err)
{
    name here;
    uint32_t column = 0;
    kr_status status = KR_OK;
    for (const char *at = text[0] ? text : NULL; at && status == KR_OK;) {
        at = read_name(at, &here);
        status = find_column(&here, n_columns, names, &column, err);
        if (status == KR_OK && uses[column]++ == CUBES_PLACES_MOST)
            status = kr_fail(err, KR_ERR_SPEC, "groups: column '%s' is in more than %d groups", names[column],
                             CUBES_PLACES_MOST);
        if (status == KR_OK)
            status = add_column(*next, column, names, err);
        *next += here.separator != '+';
    }
    return status;
}

/* Columns without a use, in order: as few groups as there can be, of sizes that differ by at most one. */
static void split_others(const uint8_t *uses, uint32_t together, uint32_t n_columns, cubes_group *next)
{
    uint32_t left = 0, room = 0;
    for (uint32_t c = 0; c < n_columns; ++c)
        left += !uses[c];
    for (uint32_t c = 0; c < n_columns; ++c) {
        const uint32_t n_groups = (left + together - 1) / together; /* of those left */
        if (uses[c])
            continue;
        if (!room)
            room = (left + n_groups - 1) / n_groups;
        next->columns[next->n_columns++] = c;
        --left;
        next += --room == 0;
    }
}

kr_status cubes_groups_fill(const char *text, uint32_t together, uint32_t n_columns, const char *const *names,
                            cubes_group *groups, kr_error *err)
{
    uint8_t *uses = kr_host_calloc(n_columns, 1, "groups of columns", err);
    if (!uses)
        return KR_ERR_HOST_MEMORY;
    const kr_status status = fill_named(text, n_columns, names, uses, &groups, err);
    if (status == KR_OK)
        split_others(uses, together, n_columns, groups);
    free(uses);
    return status;
}

void cubes_groups_describe(const cubes_group *groups, uint32_t n, const char *const *names, char *text,
                           size_t nbytes)
{
    for (uint32_t g = 0; g < n; ++g)
        for (uint32_t axis = 0; axis < groups[g].n_columns; ++axis)
            kr_leaf_text_add(text, nbytes, "%s%s", axis ? "+" : g ? "," : "", names[groups[g].columns[axis]]);
}
