#include "result.h"

#include "tools/columns/column.h"
#include "tools/terminal/tool.h"
#include "tools/terminal/wide.h"

#include <stdlib.h>
#include <string.h>

const char *result_name(kr_result kind, char name[RESULT_NAME_NBYTES])
{
    const char *at = RESULT_CHOICES;
    for (int i = 1; i < (int)kind; ++i)
        at = strchr(at, '|') + 1;
    snprintf(name, RESULT_NAME_NBYTES, "%.*s", (int)strcspn(at, "|"), at);
    return name;
}

int result_needs_values(kr_result kind)
{
    return kind == KR_RESULT_SUM || kind == KR_RESULT_MIN || kind == KR_RESULT_MAX;
}

int result_hides_matches(kr_result kind)
{
    return kind == KR_RESULT_SUM_ROWS || result_needs_values(kind);
}

static int is_wide(const struct result *result)
{
    return result->kind == KR_RESULT_SUM && wide_is(result->values->view.type);
}

kr_result result_asked(const struct result *result)
{
    return is_wide(result) ? KR_RESULT_SUM_WIDE : result->kind;
}

kr_type result_type(const struct result *result)
{
    switch (result->kind) {
    case KR_RESULT_ROW: return KR_U32;
    case KR_RESULT_SUM: return wide_type(result->values->view.type);
    case KR_RESULT_MIN:
    case KR_RESULT_MAX: return result->values->view.type;
    case KR_RESULT_EXISTS: return KR_U8;
    default: return KR_U64;
    }
}

uint64_t result_nbytes(const struct result *result)
{
    if (result->kind == KR_RESULT_EXISTS)
        return (result->n + 7) / 8;
    const uint64_t n = result->n + (result->kind == KR_RESULT_ROWS);
    return n * kr_type_nbytes(result_type(result)) * (is_wide(result) ? 2 : 1);
}

int result_open(struct result *result, kr_result kind, const struct column *values, int is_one_of, uint64_t n)
{
    char name[RESULT_NAME_NBYTES], of[COLUMN_NAME_NBYTES] = "";
    result->kind = kind;
    result->values = values;
    result->n = n;
    if (is_one_of)
        column_name(values->source, of);
    snprintf(result->name, sizeof result->name, "%.8s%s%s", result_name(kind, name), is_one_of ? "_" : "",
             of);
    result->out = tool_alloc(result_nbytes(result), 1, "the results");
    if (result->out && (kind == KR_RESULT_MIN || kind == KR_RESULT_MAX))
        result->valid = tool_alloc((n + 7) / 8, 1, "the results' validity");
    return result->out && (result->valid || (kind != KR_RESULT_MIN && kind != KR_RESULT_MAX)) ? DONE : FAILED;
}

int result_open_rows(struct result *result)
{
    result->n_rows = ((const uint64_t *)result->out)[result->n];
    result->rows =
        tool_alloc(result->n_rows, sizeof *result->rows, "row ids; count instead, or look up less");
    return result->rows ? DONE : FAILED;
}

void result_close(struct result *result)
{
    free(result->rows);
    free(result->valid);
    free(result->out);
}

static int bit(const uint8_t *bitmap, uint64_t i)
{
    return bitmap[i / 8] >> (i % 8) & 1;
}

/* The least number of matches that the answer to probe i implies. */
static uint64_t matches_of(const struct result *result, uint64_t i)
{
    const uint64_t *wide = result->out;
    switch (result->kind) {
    case KR_RESULT_ROW: return ((const uint32_t *)result->out)[i] != KR_NO_ROW;
    case KR_RESULT_COUNT: return wide[i];
    case KR_RESULT_ROWS: return wide[i + 1] - wide[i];
    case KR_RESULT_EXISTS: return (uint64_t)bit(result->out, i);
    default: return (uint64_t)bit(result->exists, i);
    }
}

void result_count(struct result *result)
{
    result->found = result->matches = 0;
    for (uint64_t i = 0; i < result->n; ++i) {
        const uint64_t matches = matches_of(result, i);
        result->found += matches > 0;
        result->matches += matches;
    }
}

uint64_t result_lines(const struct result *result)
{
    return result->kind == KR_RESULT_ROWS ? result->matches + (result->n - result->found) : result->n;
}

void result_matches(const struct result *result, uint8_t *exists)
{
    memset(exists, 0, (size_t)((result->n + 7) / 8));
    for (uint64_t i = 0; i < result->n; ++i)
        exists[i / 8] |= (uint8_t)((matches_of(result, i) > 0) << (i % 8));
}

void result_add(const struct result *result, answers *all)
{
    if (result->kind == KR_RESULT_ROW || result->kind == KR_RESULT_ROWS) {
        answers_add_row(all, "row", AT_ROW);
        return;
    }
    answers_column *column = answers_add(all, result->name, AT_PROBE, result_type(result), result->out);
    const int is_value = result->kind == KR_RESULT_MIN || result->kind == KR_RESULT_MAX;
    const int is_sum = result->kind == KR_RESULT_SUM;
    column->is_bit = result->kind == KR_RESULT_EXISTS;
    column->is_wide = is_wide(result);
    column->unit = is_value ? kr_file_unit(result->values->file) : KR_UNIT_NONE;
    column->validity = is_sum && !result->valid ? result->exists : result->valid;
}

/* A bitmap as one byte per bit. */
static uint8_t *expand(const uint8_t *bitmap, uint64_t n)
{
    uint8_t *bytes = tool_alloc(n, 1, "the bits of the results as bytes");
    for (uint64_t i = 0; bytes && i < n; ++i)
        bytes[i] = (uint8_t)bit(bitmap, i);
    return bytes;
}

uint32_t result_files(kr_result kind, const char *suffixes[RESULT_FILES_MOST])
{
    suffixes[0] = kind == KR_RESULT_ROWS ? ".offsets" : "";
    suffixes[1] = kind == KR_RESULT_ROWS ? ".rows" : ".valid";
    return kind == KR_RESULT_ROWS || kind == KR_RESULT_MIN || kind == KR_RESULT_MAX ? 2 : 1;
}

static int write_wide(const struct result *result, const char *path, const kr_progress *progress)
{
    const kr_type type = result_type(result);
    uint64_t *sums = NULL;
    int code = wide_narrow(result->out, result->n, type, path, &sums);
    const column_file file = {"", type, 1, result->n, sums};
    if (!code)
        code = column_write(path, &file, 1, progress);
    free(sums);
    return code;
}

int result_write(const struct result *result, const char *path, const kr_progress *progress)
{
    const char *suffixes[RESULT_FILES_MOST];
    const uint32_t n = result_files(result->kind, suffixes);
    if (is_wide(result))
        return write_wide(result, path, progress);
    if (result->kind == KR_RESULT_ROWS) {
        const column_file files[] = {{suffixes[0], KR_U64, 1, result->n + 1, result->out},
                                     {suffixes[1], KR_U32, 1, result->n_rows, result->rows}};
        return column_write(path, files, n, progress);
    }
    const uint8_t *bitmap = result->kind == KR_RESULT_EXISTS ? result->out : result->valid;
    uint8_t *bytes = bitmap ? expand(bitmap, result->n) : NULL;
    if (bitmap && !bytes)
        return FAILED;
    const void *out = result->kind == KR_RESULT_EXISTS ? bytes : result->out;
    const column_file files[] = {{suffixes[0], result_type(result), 1, result->n, out},
                                 {suffixes[1], KR_U8, 1, result->n, bytes}};
    const int code = column_write(path, files, n, progress);
    free(bytes);
    return code;
}
