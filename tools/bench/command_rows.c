#include "command_rows.h"

#include "scan_job.h"

#define WORK(field) offsetof(workload, field)
#define AT(field) offsetof(bench_options, field)

const option_row bench_key_rows[] = {
    {"count", 0, 0, OPTION_NUMBER, WORK(count), "N", "how many keys there are [2^22]", 1, UINT32_MAX},
    {"seed", 0, 0, OPTION_NUMBER, WORK(seed), "N", "seed of the workload; 0 is 42 [42]", 0, UINT64_MAX},
    {"presorted-keys", 0, 0, OPTION_FLAG, WORK(keys_sorted), NULL, "sort the keys", 0, 0},
    {0},
};

const option_row bench_probe_rows[] = {
    {"probes", 0, 0, OPTION_NUMBER, WORK(probes), "N", "how many lookups or ranges there are [2^22]", 0,
     UINT32_MAX},
    {"order", 0, 0, OPTION_CHOICE, WORK(order), WORKLOAD_ORDERS,
     "the order of the probes; half: every second one ascends [random]", 0, 0},
    {0},
};

const option_row bench_batches_rows[] = {
    {"batches", 0, 0, OPTION_NUMBER, WORK(batches), "N", "look up the probes in N pieces [1]", 1, UINT32_MAX},
    {0},
};

const option_row bench_lookup_rows[] = {
    {"probes-log2", 0, 0, OPTION_NUMBER, AT(probes_log2), "N", "the same as --probes 2^N", 0, 31},
    {"presorted-probes", 0, 0, OPTION_FLAG, AT(presorted_probes), NULL, "the same as --order ascending", 0,
     0},
    {"result", 0, 0, OPTION_CHOICE, AT(result), "row|count|sum-rows|sum|exists|rows|rows-by-key",
     "what is answered for each probe; sum reads a value for each match, rows-by-key lists matches in "
     "key order [row; for ranges sum-rows]",
     0, 0},
    {0},
};

const option_row bench_asking_rows[] = {
    {"result", 0, 0, OPTION_CHOICE, AT(scan_result), BENCH_SCAN_RESULTS, "the answer to a condition [bitmap]",
     0, 0},
    {"index", 0, 0, OPTION_TEXTS, AT(index), "SPEC",
     "a kind and its options; give several to compare them. A kind of index that answers ranges "
     "indexes each column; the row ids of its columns are merged as bitmaps [best]",
     0, 0},
    {"host", 0, 0, OPTION_FLAG, AT(host), NULL,
     "the results are in host memory, and the time includes copies", 0, 0},
    {"checked", 0, 0, OPTION_NUMBER, AT(checked), "N",
     "how many queries have their bitmaps checked first [4]", 1, 1 << 16},
    {"baseline", 0, 0, OPTION_FLAG, AT(baseline), NULL,
     "compare with the time to add up the columns, which shows how fast they can be read", 0, 0},
    {0},
};

const option_row bench_call_rows[] = {
    {"calls", 0, 0, OPTION_NUMBER, AT(calls), "N",
     "how many calls a run enqueues back to back, also of rivals on a GPU; the times printed are "
     "those of one call [1]",
     1, 1 << 20},
    {"phases", 0, 0, OPTION_NUMBER, AT(phases), "N",
     "how many further runs tell the phases of a lookup, as medians; 0: as many as are timed [0]", 0,
     BENCH_REPEAT_MOST},
    {"prepared", 0, 0, OPTION_FLAG, AT(prepared), NULL,
     "prepare the lookup once (kr_prepare_lookup), then run it", 0, 0},
    {"in-turn", 0, 0, OPTION_FLAG, AT(in_turn), NULL,
     "time one run of each --index in turn, instead of all runs of one --index after the other; all "
     "of them are in memory at once",
     0, 0},
    {0},
};

const option_row bench_update_rows[] = {
    {"rebuild", 0, 0, OPTION_TEXT, AT(rebuild), "SPEC",
     "with --waves: the index to build anew for comparison [that of --index]", 0, 0},
    {0},
};

const option_row bench_index_rows[] = {
    {"index", 0, 0, OPTION_TEXTS, AT(index), "SPEC",
     "a kind and its options; give several to compare them [best; for update rx, and with --waves "
     "best:updates=on]",
     0, 0},
    {"keys-log2", 0, 0, OPTION_NUMBER, AT(keys_log2), "N", "the same as --count 2^N", 0, 31},
    {"host", 0, 0, OPTION_FLAG, AT(host), NULL,
     "the columns are in host memory, and the time includes copies; keys always, if each --index has "
     "keep=host",
     0, 0},
    {"baseline", 0, 0, OPTION_FLAG, AT(baseline), NULL,
     "compare with rivals. point: std::lower_bound; point and build on the CPU: std::unordered_map "
     "and, if keyray was built with Abseil, its flat_hash_map and btree_map, on one thread; build on "
     "a GPU: CUB's sort; point on a GPU, if keyray was built with KEYRAY_PEERS: thrust's lower_bound "
     "and cuCollections' static_map",
     0, 0},
    {"scaling", 0, 0, OPTION_FLAG, AT(scaling), NULL, "compare with the same work on one thread of the CPU",
     0, 0},
    {0},
};

const option_row bench_common_rows[] = {
    {"sweep", 0, 0, OPTION_TEXT, AT(sweep), "OPT=A,B,C",
     "repeat everything with each of these values of an option of the workload, or, if it has no such "
     "option, of the kind; KIND.OPT is always an option of the kind",
     0, 0},
    {"repeat", 0, 0, OPTION_NUMBER, AT(repeat), "N", "how many runs are timed, after one that warms up [5]",
     1, BENCH_REPEAT_MOST},
    {"json", 0, 0, OPTION_TEXT, AT(json), "FILE", "also write the report as JSON to a file", 0, 0},
    {0},
};

const char bench_notes[] =
    "The answers are checked against the generator and a sorted array, and then everything is timed. "
    "The report says what the time includes. Of two options that set the same value, only one may be "
    "given. Where the workload and a kind have an option of the same name, such as bits and order, "
    "--sweep KIND.OPT is the option of the kind.\n"
    "--keys: a column of a file instead of generated keys, and --probes, or --lower and --upper, are "
    "others. Texts are looked up as codes of the dictionary of the keys. Reading takes no part in any time. "
    "The answers are checked against a sorted array. For a join, the keys are the right side and the "
    "probes the left one.\n"
    "update: --changes exchanges the keys of rows, and lookups are timed before and after the "
    "exchange. --waves inserts and deletes rows; an index that cannot be updated is built anew for "
    "each wave, and the report says why. Rows are deleted by their keys, so each key occurs once. "
    "With --wave-form alternate and churn, the number of rows stays the same, and a first wave warms "
    "up and is not counted. Lookups, a build anew for comparison and the check of all keys follow "
    "the last wave; with grow, they follow each wave.\n"
    "scan: a table has --rows rows and as many columns as --predicates, and each column is compared "
    "with a constant, as in c0 < x and c1 < y and c2 < z. With --workload it is a table of TPC-H "
    "with a row for each line item, and the condition is that of the query; the first call has the "
    "constants of TPC-H's validation, the others have random ones. Texts are codes of a dictionary, "
    "and discounts are in hundredths. First, the bitmaps of a few queries are compared with the "
    "columns. --append and --delete change the table after its build, as often as --repeat says, "
    "each time on a new table; a first change is printed apart. Scans come after the changes. With "
    "--column the table is columns of files, and the constants are values of theirs. A sweep of "
    "--selectivity, --queries or --conditions asks one table with all its values, if none changes it.\n"
    "loads: loads from random places of an array, as the steps of a search do. In each step, lane i "
    "of a group loads the i-th entry after a random position. On a CPU, one thread runs all lanes of "
    "a group.\n"
    "The rivals of --baseline on a CPU run on one thread. Their answers are checked, too. The time "
    "that a map takes for its inserts is printed with its rate. Where at least one in 64 values is a "
    "key, a plain gather is a rival on every device: a table with a row for each value.";
