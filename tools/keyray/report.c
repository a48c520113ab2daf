/* Runs bench/report, which draws pages of plots: a program in Python that is installed beside the command. */
#include "commands.h"
#include "tools/terminal/output.h"
#include "tools/terminal/tool.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Pages could not be begun, or a comparison was refused: 1 says that something is slower or was broken. */
enum { NOT_BEGUN = USAGE };

typedef struct report_options {
    const char *output, *python;
    uint32_t compare, other_machines;
} report_options;

#define AT(field) offsetof(report_options, field)
static const option_row rows[] = {
    {"output", 'o', 0, OPTION_TEXT, AT(output), "DIR", "the folder of the pages [keyray-report]", 0, 0},
    {"compare", 0, 0, OPTION_FLAG, AT(compare), NULL,
     "print the times of two FILEs, OLD and NEW, and mark what became slower or faster: the ranges from "
     "minimum to maximum lie apart, and the medians differ by more than 3%; needs no matplotlib",
     0, 0},
    {"other-machines", 0, 0, OPTION_FLAG, AT(other_machines), NULL,
     "of --compare: also where the machines differ", 0, 0},
    {"python", 0, 0, OPTION_TEXT, AT(python), "PROGRAM",
     "the Python that runs it, of version 3.11 or newer, with matplotlib [python3]", 0, 0},
    {0},
};
#undef AT

/* The words of the command that runs: program, files, options, and NULL. */
enum { WORDS_MOST = 2048 };
typedef struct word_list {
    char *at[WORDS_MOST];
    int n;
} word_list;

static int add(word_list *words, const char *word)
{
    if (words->n + 1 >= WORDS_MOST)
        return tool_fail(USAGE, "takes at most %d files; name their folder", WORDS_MOST - 16);
    words->at[words->n++] = (char *)(uintptr_t)word; /* execvp changes no word */
    words->at[words->n] = NULL;
    return DONE;
}

static int takes_value(const char *argument)
{
    return strcmp(argument, "-o") == 0 || strcmp(argument, "--output") == 0 ||
           strcmp(argument, "--python") == 0;
}

/* FILEs may stand anywhere: they go to `files`, all else stays in argv. Returns how much that is. */
static int take_files(int argc, char **argv, word_list *files, int *code)
{
    int kept = 1;
    for (int i = 1; i < argc && !*code; ++i)
        if (argv[i][0] == '-' || takes_value(argv[i - 1]))
            argv[kept++] = argv[i];
        else
            *code = add(files, argv[i]);
    argv[kept] = NULL;
    return kept;
}

/* Relative to the command, so that an installed tree may be moved. In a build tree a link leads to the
 * sources. */
static int find_program(char path[PATH_MAX])
{
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    char *end = strrchr(self, '/');
    if (!end)
        return tool_fail_machine("the command's own path cannot be read from /proc/self/exe: %s; run "
                                 "bench/report of the sources with Python",
                                 strerror(errno));
    *end = '\0';
    if (snprintf(path, PATH_MAX, "%s/%s/bench/report", self, KR_SHARE) >= PATH_MAX)
        return tool_fail_machine("the path of the command is too long: %s", self);
    if (access(path, R_OK) == 0)
        return DONE;
    return tool_fail_machine(
        "%s is not there: this keyray was installed without its folder share/keyray; install "
        "it whole (cmake --install), or run bench/report of the sources with Python",
        path);
}

static int check_options(const report_options *options, const word_list *files)
{
    if (options->compare && files->n != 2)
        return tool_fail(USAGE, "--compare takes two FILEs, OLD and NEW; %d were given", files->n);
    if (options->compare && options->output)
        return tool_fail(USAGE, "--compare writes no pages; leave out --output");
    if (options->other_machines && !options->compare)
        return tool_fail(USAGE, "--other-machines is of --compare; add --compare, or leave it out");
    return DONE;
}

static int run_python(const report_options *options, const word_list *files, const char *program)
{
    const char *python = options->python ? options->python : "python3";
    word_list words = {.n = 0};
    int code = add(&words, python);
    code = code ? code : add(&words, program);
    if (!code && options->compare)
        code = add(&words, "--compare");
    for (int i = 0; i < files->n && !code; ++i)
        code = add(&words, files->at[i]);
    if (!code && options->other_machines)
        code = add(&words, "--other-machines");
    if (!code && !options->compare) {
        code = add(&words, "--output");
        code = code ? code : add(&words, options->output ? options->output : "keyray-report");
    }
    if (code)
        return code;
    execvp(python, words.at);
    const int error = errno;
    if (error == ENOENT)
        tool_fail_machine("Python was not found as %s; install Python 3.11 or newer with matplotlib (Debian: "
                          "python3 python3-matplotlib), or name one with --python",
                          python);
    else
        tool_fail_machine("%s cannot be run: %s; name a Python with --python", python, strerror(error));
    return NOT_BEGUN;
}

static int run(const command *self, int argc, char **argv)
{
    report_options options = {0};
    word_list files = {.n = 0};
    const option_group groups[] = {{"Report", rows, &options}};
    int code = DONE;
    argc = take_files(argc, argv, &files, &code);
    if (code)
        return code;
    code = options_parse(self, groups, 1, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    code = check_options(&options, &files);
    if (code)
        return code;
    char program[PATH_MAX];
    if (find_program(program))
        return NOT_BEGUN;
    fflush(stdout);
    return run_python(&options, &files, program);
}

const command command_report = {
    "report",
    "[FILE.json...]",
    "pages with plots of what bench wrote, and comparisons of two runs",
    "Makes pages with plots of reports of keyray bench --json FILE, or of folders that bench/experiments "
    "filled. Without a FILE it makes the pages of the papers behind the indexes: each claim, what was "
    "measured, and which kind is fast where. It needs Python 3.11 or newer with matplotlib, and says what is "
    "missing.",
    "keyray report mine.json -o pages\n"
    "keyray report old.json new.json --compare\n",
    run,
    "matplotlib for this alone: python3 -m venv DIR; DIR/bin/pip install matplotlib; then --python "
    "DIR/bin/python. A FILE that is truncated, repeated or of answers that were not checked is named and not "
    "shown, and the exit status is 1. With --compare, 1 says that something became slower, and 2 that the "
    "two cannot be "
    "compared, since workloads or machines differ or a FILE is broken. 2 is also the status where Python or "
    "matplotlib is missing.",
    NULL,
};
