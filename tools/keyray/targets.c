#include "targets.h"

#include "saved.h"
#include "tools/columns/column.h"
#include "tools/terminal/tool.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that would be replaced. */
typedef struct target {
    const char *option, *given, *path; /* "-o" or another; what stands behind it; the file itself */
    int may_be_saved;                  /* 1: it may be the saved index of --index */
    struct stat file;
} target;

/* The file of a column; 0: there is none, or the text names none. */
static int find_source(const char *source, struct stat *file)
{
    char path[PATH_MAX];
    const size_t nbytes = saved_is_name(source)       ? strlen(source)
                          : column_names_file(source) ? kr_file_path_nbytes(source)
                                                      : 0;
    if (!nbytes || nbytes >= sizeof path)
        return 0;
    if (column_is_standard_input(source))
        return fstat(STDIN_FILENO, file) == 0;
    memcpy(path, source, nbytes);
    path[nbytes] = '\0';
    return stat(path, file) == 0;
}

static int check_source(const target *to, const option_row *row, const char *text)
{
    struct stat file;
    const char *source = strncmp(row->argument, "[NAME=]", 7) == 0 ? strchr(text, '=') : NULL;
    source = source ? source + 1 : text;
    if (!find_source(source, &file) || file.st_dev != to->file.st_dev || file.st_ino != to->file.st_ino)
        return DONE;
    return tool_fail(USAGE, "%s %s would replace %s, which --%s %s reads; give %s another name", to->option,
                     to->given, to->path, row->name, source, to->option);
}

static int check_row(const target *to, const option_row *row, const void *at)
{
    const option_texts *texts = at;
    const char *one = row->form == OPTION_TEXT ? *(const char *const *)at : NULL;
    int code = one ? check_source(to, row, one) : DONE;
    const int is_list = row->form == OPTION_TEXTS || row->form == OPTION_NAMES;
    for (uint32_t i = 0; is_list && !code && i < texts->n; ++i)
        code = check_source(to, row, texts->at[i]);
    return code;
}

/* 1: the row names files that are read, and this target may not be. */
static int is_input(const target *to, const option_row *row)
{
    return row->argument &&
           (strstr(row->argument, "COL") || (!to->may_be_saved && strstr(row->argument, "|FILE.krx")));
}

static int check_target(target *to, const option_group *groups, uint32_t n_groups)
{
    int code = DONE;
    if (stat(to->path, &to->file) != 0)
        return tool_check_folder(to->option, to->path);
    for (uint32_t g = 0; g < n_groups; ++g)
        for (const option_row *row = groups[g].rows; row->name && !code; ++row)
            if (is_input(to, row))
                code = check_row(to, row, (const char *)groups[g].to + row->offset);
    return code;
}

int targets_check(const char *option, const char *path, const char *const *suffixes, uint32_t n,
                  const option_group *groups, uint32_t n_groups)
{
    char name[COLUMN_PATH_MOST];
    int code = DONE;
    if (!path || strcmp(path, "-") == 0 || strcmp(path, "-.csv") == 0) /* standard output */
        return DONE;
    for (uint32_t i = 0; i < n && !code; ++i) {
        target to = {.option = option, .given = path, .path = *suffixes[i] ? name : path};
        if (*suffixes[i])
            column_name_output(name, path, suffixes[i]);
        code = check_target(&to, groups, n_groups);
    }
    return code;
}

int targets_check_saved(const char *option, const char *path, const option_group *groups, uint32_t n_groups)
{
    target to = {.option = option, .given = path, .path = path, .may_be_saved = 1};
    return path ? check_target(&to, groups, n_groups) : DONE;
}
