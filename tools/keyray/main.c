/* keyray: indexes over columns and bulk lookups, from the command line. */
#include "base/util/spelling.h"
#include "commands.h"
#include "tools/bench/command.h"
#include "tools/terminal/help.h"
#include "tools/terminal/progress.h"
#include "tools/terminal/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const command *const commands[] = {
    &command_info,   &command_kinds, &command_explain, &command_advise, &command_gen,
    &command_lookup, &command_range, &command_update,  &command_join,   &command_scan,
    &command_index,  &command_bench, &command_report,
};

/* Of a newcomer: it answers on the terminal. */
#define FIRST_EXAMPLE "keyray lookup --keys orders.csv:customer --probes mine.csv:customer --result count"

enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void print_usage(FILE *to)
{
    fprintf(to, "Usage: keyray COMMAND [OPTION]...\n"
                "Indexes database columns in GPU or CPU memory, answers lookups in bulk, and scans "
                "tables.\n\nCommands:\n");
    for (int i = 0; i < N_COMMANDS; ++i)
        fprintf(to, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(to, "\nOptions:\n  --help     print this; keyray COMMAND --help lists the options of a command\n"
                "  --version  print the version and the commit\n\nTopics, for keyray help TOPIC:\n");
    for (int i = 0; i < HELP_TOPICS; ++i)
        fprintf(to, "  %-9s %s\n", help_topics[i].name, help_topics[i].summary);
    fprintf(to,
            "\nThe manual has keyray(1) and a page for each command, such as keyray-lookup(1).\n\nExample:\n "
            " %s\n",
            FIRST_EXAMPLE);
}

/* Without this, the first file opened would take the place of a closed standard stream. Printing to a stream
 * that is open for reading fails, as it should. */
static void keep_standard_streams(void)
{
    int fd;
    do {
        fd = open("/dev/null", O_RDONLY);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static int unknown_command(const char *name)
{
    char hint[KR_SPELLING_HINT_NBYTES];
    kr_spelling nearest = kr_spelling_begin(name, strlen(name));
    for (int i = 0; i < N_COMMANDS; ++i)
        kr_spelling_offer(&nearest, commands[i]->name, strlen(commands[i]->name));
    kr_spelling_offer(&nearest, "--help", 6);
    kr_spelling_offer(&nearest, "--version", 9);
    tool_set_command("", FIRST_EXAMPLE, "");
    return tool_fail(USAGE, "unknown command '%s'%s; keyray --help lists the commands", name,
                     kr_spelling_hint(&nearest, "", "", hint));
}

/* keyray help, keyray help TOPIC, keyray help COMMAND. */
static int help(int argc, char **argv)
{
    if (argc < 3) {
        print_usage(stdout);
        return DONE;
    }
    for (int i = 0; i < HELP_TOPICS; ++i)
        if (strcmp(argv[2], help_topics[i].name) == 0) {
            help_print_topic(&help_topics[i]);
            return DONE;
        }
    char *command_help[] = {argv[2], (char[]){"--help"}, NULL};
    for (int i = 0; i < N_COMMANDS; ++i)
        if (strcmp(argv[2], commands[i]->name) == 0)
            return commands[i]->run(commands[i], 2, command_help);
    char hint[KR_SPELLING_HINT_NBYTES];
    kr_spelling nearest = kr_spelling_begin(argv[2], strlen(argv[2]));
    for (int i = 0; i < HELP_TOPICS; ++i)
        kr_spelling_offer(&nearest, help_topics[i].name, strlen(help_topics[i].name));
    for (int i = 0; i < N_COMMANDS; ++i)
        kr_spelling_offer(&nearest, commands[i]->name, strlen(commands[i]->name));
    tool_set_command("", "keyray help columns", "");
    return tool_fail(USAGE, "no help on '%s'%s; keyray --help lists commands and topics", argv[2],
                     kr_spelling_hint(&nearest, "", "", hint));
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return USAGE;
    }
    if (strcmp(argv[1], "help") == 0)
        return help(argc, argv);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("keyray %s (commit %s)\n", kr_version(), kr_build_commit());
        return DONE;
    }
    for (int i = 0; i < N_COMMANDS; ++i)
        if (strcmp(argv[1], commands[i]->name) == 0) {
            tool_set_command(commands[i]->name, commands[i]->example, argc > 2 ? argv[2] : "");
            return commands[i]->run(commands[i], argc - 1, argv + 1);
        }
    return unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
    keep_standard_streams();
    signal(SIGPIPE, SIG_IGN);
    progress_start();
    int code = run(argc, argv);
    progress_clear();
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == DONE)
        code = tool_fail_print(errno);
    if (progress_interrupted()) {
        /* The shell must see which signal ended the process. */
        signal(progress_interrupted(), SIG_DFL);
        raise(progress_interrupted());
    }
    return code;
}
