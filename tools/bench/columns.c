/* --keys, --probes, --lower, --upper: columns of files in place of generated ones. Oracles have their codes:
 * numbers of 32 or 64 bits in the order of the values, made here and not by the library. */
#include "bench/bench.h"
#include "job.h"
#include "tools/terminal/tool.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(bench_options, field)

const option_row bench_files_rows[] = {
    {"keys", 0, 0, OPTION_TEXT, AT(keys), "COL",
     "the keys are a column of a file, and --probes, or --lower and --upper, are others; then nothing is "
     "generated, and there are no options that say how",
     0, 0},
    {"probes", 0, 0, OPTION_TEXT, AT(probes), "COL",
     "with --keys: the values to look up, or the left side of a join; they become values of the keys' type",
     0, 0},
    {"lower", 0, 0, OPTION_TEXT, AT(lower), "COL", "with --keys, for range: the lower bounds", 0, 0},
    {"upper", 0, 0, OPTION_TEXT, AT(upper), "COL",
     "with --keys, for range: the upper bounds, one for each lower one", 0, 0},
    {"left-end", 0, 0, OPTION_TEXT, AT(left_end), "COL",
     "with --keys, for join: pairs are intervals that overlap; those of the left side begin at the probes "
     "and end "
     "here",
     0, 0},
    {"right-end", 0, 0, OPTION_TEXT, AT(right_end), "COL",
     "with --left-end: the intervals of the right side begin at the keys and end here", 0, 0},
    {0},
};

enum { N_READ = COLUMN_UPPER + 1 };

struct bench_files {
    struct column read[N_READ];    /* as they were read; of a build only the keys */
    kr_column view[N_READ];        /* in host memory */
    kr_column there[N_READ];       /* where the library reads them */
    kr_device *device;             /* that holds `there`; NULL: they are the views */
    int stays[N_READ];             /* there[i] is view[i] */
    void *samples, *samples_valid; /* of a build: values of keys, which are looked up */
    uint64_t pairs;
};

/* ---- Options ------------------------------------------------------------------------------- */

int bench_files_are_named(int argc, char **argv)
{
    static const char *const names[] = {"--keys",     "--lower",     "--upper",
                                        "--left-end", "--right-end", "--column"};
    for (int i = 1; i < argc; ++i) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
            if (strncmp(argv[i], names[k], strlen(names[k])) == 0 &&
                (!argv[i][strlen(names[k])] || argv[i][strlen(names[k])] == '='))
                return 1;
        if (strncmp(argv[i], "--probes=", 9) == 0)
            value = argv[i] + 9;
        else if (strcmp(argv[i], "--probes") != 0)
            continue;
        if (column_names_file(value) || column_is_standard_input(value))
            return 1;
    }
    return 0;
}

/* Ends of intervals are those of both sides of a join. */
static int check_ends(const bench_options *o, int operation)
{
    const char *there = o->left_end ? "left-end" : "right-end",
               *other = o->left_end ? "right-end" : "left-end";
    if (!o->left_end && !o->right_end)
        return DONE;
    if (operation != BENCH_JOIN)
        return tool_fail(USAGE, "--%s is the end of intervals that are joined: bench join; leave it out",
                         there);
    return o->left_end && o->right_end
               ? DONE
               : tool_fail(USAGE, "both sides of a join of intervals have ends: --%s COL is missing", other);
}

/* Which of the columns are missing, or are not for this. */
static int check_names(const bench_options *o, int operation)
{
    const int is_range = operation == BENCH_RANGE;
    if (!o->keys)
        return tool_fail(USAGE, "--%s is a column, so --keys has to be one, too: --keys COL",
                         o->probes     ? "probes"
                         : o->lower    ? "lower"
                         : o->upper    ? "upper"
                         : o->left_end ? "left-end"
                                       : "right-end");
    const int code = check_ends(o, operation);
    if (code)
        return code;
    if (operation == BENCH_BUILD)
        return o->probes || o->lower || o->upper
                   ? tool_fail(USAGE, "bench build looks up some of its keys; leave out --%s",
                               o->probes  ? "probes"
                               : o->lower ? "lower"
                                          : "upper")
                   : DONE;
    if (is_range && o->probes)
        return tool_fail(USAGE, "the bounds of ranges are --lower COL and --upper COL; leave out --probes");
    if (!is_range && (o->lower || o->upper))
        return tool_fail(USAGE, "--%s is a bound of ranges: bench range; here --probes COL are the values",
                         o->lower ? "lower" : "upper");
    if (is_range && (!o->lower || !o->upper))
        return tool_fail(USAGE, "--keys is a column, so the bounds are, too: --%s COL is missing",
                         o->lower ? "upper" : "lower");
    if (!is_range && !o->probes)
        return tool_fail(USAGE,
                         "--keys is a column, so the values to look up are, too: --probes COL is missing");
    return DONE;
}

int bench_files_check(const bench_options *o, int operation)
{
    const int code = check_names(o, operation);
    const char *generated = o->keys_log2 != BENCH_NOT_GIVEN     ? "keys-log2"
                            : o->probes_log2 != BENCH_NOT_GIVEN ? "probes-log2"
                            : o->presorted_probes               ? "presorted-probes"
                            : o->groups                         ? "groups"
                            : o->overlap                        ? "overlap"
                            : o->streamed                       ? "streamed"
                                                                : NULL;
    return code || !generated
               ? code
               : tool_fail(USAGE, "--%s goes with generated columns, but --keys reads them; leave it out",
                           generated);
}

/* ---- Codes --------------------------------------------------------------------------------- */

static int make_codes(bench_data *data, int column)
{
    const kr_column *view = &data->files->view[column];
    const int wide = data->type == KR_U64;
    void *codes = tool_alloc(view->count, wide ? 8 : 4, "the codes of a column");
    if (!codes)
        return FAILED;
    for (uint64_t i = 0; i < view->count; ++i) {
        const uint64_t code = column_row_is_valid(view, i) ? bench_code_at(view->type, view->data, i) : 0;
        if (wide)
            ((uint64_t *)codes)[i] = code;
        else
            ((uint32_t *)codes)[i] = (uint32_t)code;
    }
    data->host[column] = codes;
    return DONE;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static int read_column(bench_files *files, int column, const char *flag, const char *source,
                       column_absent absent)
{
    struct column *to = &files->read[column];
    int code = column_load(to, flag, source, NULL);
    if (!code && column != COLUMN_KEYS)
        code = column_match(&files->read[COLUMN_KEYS], to, absent);
    if (!code && !to->view.count)
        code = tool_fail(FAILED, "%s %s has no rows, so there is nothing to time; give another column", flag,
                         source);
    files->view[column] = to->view;
    files->view[column].dictionary = 0; /* all columns have the codes of one, and are numbers from here on */
    return code;
}

static int read_ends(bench_files *files, const bench_options *o)
{
    int code = read_column(files, COLUMN_LEFT_END, "--left-end", o->left_end, ABSENT_NULL);
    if (!code)
        code = read_column(files, COLUMN_RIGHT_END, "--right-end", o->right_end, ABSENT_NULL);
    if (!code)
        code = column_check_counts(&files->read[COLUMN_LOWER], &files->read[COLUMN_LEFT_END],
                                   "an interval has one of each");
    return code ? code
                : column_check_counts(&files->read[COLUMN_KEYS], &files->read[COLUMN_RIGHT_END],
                                      "an interval has one of each");
}

static int read_columns(bench_files *files, const bench_options *o, int operation)
{
    int code = read_column(files, COLUMN_KEYS, "--keys", o->keys, ABSENT_NULL);
    if (!code && operation == BENCH_RANGE) {
        code = read_column(files, COLUMN_LOWER, "--lower", o->lower, ABSENT_ABOVE);
        if (!code)
            code = read_column(files, COLUMN_UPPER, "--upper", o->upper, ABSENT_BELOW);
        return code ? code
                    : column_check_counts(&files->read[COLUMN_LOWER], &files->read[COLUMN_UPPER],
                                          "a range has one of each");
    }
    if (!code && operation != BENCH_BUILD)
        code = read_column(files, COLUMN_LOWER, "--probes", o->probes, ABSENT_NULL);
    return code || !o->left_end ? code : read_ends(files, o);
}

/* A build is checked by looking up some of its keys, from all parts of the column. */
static int take_samples(bench_files *files)
{
    const kr_column *keys = &files->view[COLUMN_KEYS];
    const uint64_t n = keys->count < BENCH_SAMPLES ? keys->count : BENCH_SAMPLES;
    const uint32_t each = kr_type_nbytes(keys->type);
    files->samples = tool_alloc(n, each, "the keys to look up");
    uint8_t *valid = files->samples_valid =
        files->samples ? tool_alloc(n / 8 + 1, 1, "the keys to look up") : NULL;
    if (!valid)
        return FAILED;
    memset(valid, 0, n / 8 + 1);
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t row = i * keys->count / n;
        memcpy((char *)files->samples + i * each, (const char *)keys->data + row * each, each);
        valid[i / 8] |= (uint8_t)(column_row_is_valid(keys, row) << (i % 8));
    }
    files->view[COLUMN_LOWER] = *keys;
    files->view[COLUMN_LOWER].count = n;
    files->view[COLUMN_LOWER].data = files->samples;
    files->view[COLUMN_LOWER].validity = keys->validity ? valid : NULL;
    files->view[COLUMN_LOWER].validity_offset = 0;
    return DONE;
}

/* ---- Where the library reads them ---------------------------------------------------------- */

static uint64_t validity_nbytes(const kr_column *view)
{
    return view->validity ? (view->validity_offset + view->count + 7) / 8 : 0;
}

kr_status bench_files_bring(kr_device *device, const kr_column *from, kr_column *to, kr_error *err)
{
    const uint64_t nbytes = from->count * kr_type_nbytes(from->type), bits = validity_nbytes(from);
    void *data = NULL, *validity = NULL;
    to->data = to->validity = NULL;
    kr_status status = kr_memory_allocate(device, nbytes, NULL, &data, err);
    to->data = data;
    if (status == KR_OK)
        status = kr_memory_copy(device, data, from->data, nbytes, NULL, err);
    if (status == KR_OK && bits)
        status = kr_memory_allocate(device, bits, NULL, &validity, err);
    to->validity = validity;
    if (status == KR_OK && bits)
        status = kr_memory_copy(device, validity, from->validity, bits, NULL, err);
    return status;
}

void bench_files_give(kr_device *device, const kr_column *from, const kr_column *to)
{
    if (to->data)
        kr_memory_release(device, (void *)(uintptr_t)to->data, to->count * kr_type_nbytes(to->type), NULL);
    if (to->validity)
        kr_memory_release(device, (void *)(uintptr_t)to->validity, validity_nbytes(from), NULL);
}

static int bring_all(bench_data *data, int place)
{
    bench_files *files = data->files;
    kr_error err = {0};
    kr_status status = KR_OK;
    files->device = data->device;
    for (int i = 0; i < N_READ && status == KR_OK; ++i) {
        if (!files->view[i].data)
            continue;
        files->stays[i] = !files->device || (place == BENCH_KEYS_ON_HOST && i == COLUMN_KEYS);
        files->there[i] = files->view[i];
        if (!files->stays[i])
            status = bench_files_bring(files->device, &files->view[i], &files->there[i], &err);
        data->there[i] = (void *)(uintptr_t)files->there[i].data; /* rivals read u32 and u64 there */
    }
    return tool_check(status, &err);
}

/* ---- What is known ------------------------------------------------------------------------- */

static uint64_t get(const bench_data *data, const void *codes, uint64_t i)
{
    return data->type == KR_U64 ? ((const uint64_t *)codes)[i] : ((const uint32_t *)codes)[i];
}

/* The row of each probe, and how many pairs there are: probes and keys are gone through in their order.
 * `codes` and `rows` are of the probes, sorted. */
static void merge(bench_data *data, const void *codes, const uint32_t *rows)
{
    uint64_t first = 0, end = 0;
    for (uint64_t i = 0; i < data->n_probes; ++i) {
        const uint64_t probe = get(data, codes, i);
        while (first < data->n_sorted && get(data, data->sorted, first) < probe)
            ++first;
        end = end < first ? first : end;
        while (end < data->n_sorted && get(data, data->sorted, end) == probe)
            ++end;
        const int hits = end > first && !bench_files_is_null(data, COLUMN_LOWER, rows[i]);
        data->known[rows[i]] = hits ? data->sorted_rows[first] : KR_NO_ROW;
        data->files->pairs += hits ? end - first : 0;
    }
}

static int find_known(bench_data *data, uint32_t threads)
{
    const uint64_t n = data->n_probes, each = kr_type_nbytes(data->type);
    void *codes = tool_alloc(n, each, "the sorted probes");
    uint32_t *rows = tool_alloc(n, sizeof *rows, "the rows of sorted probes");
    kr_error err = {0};
    data->known = tool_alloc(n, sizeof *data->known, "the known answers");
    int code = codes && rows && data->known ? DONE : FAILED;
    if (!code) {
        memcpy(codes, data->host[COLUMN_LOWER], n * each);
        for (uint64_t i = 0; i < n; ++i)
            rows[i] = (uint32_t)i;
        code = tool_check(kr_sort_keys(data->type, n, codes, rows, threads, &err), &err);
    }
    if (!code)
        merge(data, codes, rows);
    free(rows);
    free(codes);
    return code;
}

/* ---- All ----------------------------------------------------------------------------------- */

static int has_nulls(const bench_data *data)
{
    uint64_t nulls = 0;
    for (int i = 0; i < N_READ; ++i)
        nulls += data->files->read[i].nulls;
    return nulls != 0;
}

/* What can be said only of columns that were read. */
static int check_read(const bench_data *data, const bench_options *o)
{
    const kr_column *keys = &data->files->view[COLUMN_KEYS];
    if (data->n_keys >= KR_NO_ROW || data->n_probes >= KR_NO_ROW)
        return tool_fail(FAILED,
                         "a column has more than 4294967294 rows, where row ids end; give a part of it");
    if ((o->asof || o->left_end) &&
        (keys->type == KR_F32 || keys->type == KR_F64 || column_is_text(&data->files->read[COLUMN_KEYS])))
        return tool_fail(USAGE,
                         "--%s is checked for integers, dates and times, and --keys %s is %s; give "
                         "another column, or see the report of keyray join",
                         o->asof ? "asof" : "left-end", o->keys,
                         keys->type == KR_F32 || keys->type == KR_F64 ? "floats" : "text");
    if (o->baseline && ((keys->type != KR_U32 && keys->type != KR_U64) || has_nulls(data)))
        return tool_fail(USAGE,
                         "--baseline has rivals for u32 and u64 without NULLs, and --keys %s is %s%s; leave "
                         "out --baseline, or give other columns",
                         o->keys, kr_type_name(keys->type), has_nulls(data) ? " with NULLs" : "");
    return DONE;
}

/* Keys that repeat are no keys of a map. */
static uint64_t multiplicity_of(const bench_data *data)
{
    for (uint64_t i = 1; i < data->n_sorted; ++i)
        if (get(data, data->sorted, i) == get(data, data->sorted, i - 1))
            return 2;
    return 1;
}

static int prepare(bench_data *data, const bench_options *o, uint32_t threads)
{
    bench_files *files = data->files;
    int code = DONE;
    data->n_keys = data->n_grown = files->view[COLUMN_KEYS].count;
    data->n_probes = files->view[COLUMN_LOWER].count;
    data->type = kr_type_nbytes(files->view[COLUMN_KEYS].type) == 8 ? KR_U64 : KR_U32;
    code = check_read(data, o);
    for (int i = 0; i < N_READ && !code; ++i)
        if (files->view[i].data)
            code = make_codes(data, i);
    if (!code)
        code = bench_oracle_open(data, threads);
    if (!code && data->operation != BENCH_RANGE)
        code = find_known(data, threads);
    data->multiplicity = code ? 1 : multiplicity_of(data);
    if (!code && !(data->checks = bench_checks_open()))
        code = FAILED;
    return code || o->result != KR_RESULT_SUM ? code : bench_data_make_values(data);
}

int bench_files_open(bench_data *data, const bench_options *options, kr_device *device, int operation,
                     uint64_t batches, uint32_t threads)
{
    const int place = bench_data_place(options);
    data->batches = batches;
    if (data->files)
        return DONE;
    data->files = calloc(1, sizeof *data->files);
    if (!data->files)
        return tool_fail(FAILED, "no host memory for columns");
    data->operation = operation;
    data->device = place == BENCH_ALL_ON_HOST ? NULL : device;
    int code = read_columns(data->files, options, operation);
    if (!code && operation == BENCH_BUILD)
        code = take_samples(data->files);
    if (!code)
        code = prepare(data, options, threads);
    return code ? code : bring_all(data, place);
}

void bench_files_close(bench_data *data)
{
    bench_files *files = data->files;
    if (!files)
        return;
    for (int i = 0; i < N_READ; ++i) {
        if (files->device && !files->stays[i])
            bench_files_give(files->device, &files->view[i], &files->there[i]);
        column_close(&files->read[i]);
        if (files->view[i].data)
            data->there[i] = NULL; /* nobody else's to release */
    }
    free(files->samples);
    free(files->samples_valid);
    free(files);
    data->files = NULL;
}

kr_column bench_files_column(const bench_data *data, int column, uint64_t first, uint64_t count)
{
    kr_column part = data->files->there[column];
    part.data = (const char *)part.data + first * kr_type_nbytes(part.type);
    part.validity_offset += first;
    part.count = count;
    return part;
}

const kr_column *bench_files_keys(const bench_data *data)
{
    return &data->files->view[COLUMN_KEYS];
}

int bench_files_is_null(const bench_data *data, int column, uint64_t row)
{
    return data->files && !column_row_is_valid(&data->files->view[column], row);
}

uint64_t bench_files_pairs(const bench_data *data)
{
    return data->files->pairs;
}

bench_sources bench_files_sources(const bench_data *data)
{
    bench_sources sources = {0};
    if (!data->files)
        return sources;
    sources.type = data->files->view[COLUMN_KEYS].type;
    sources.is_text = column_is_text(&data->files->read[COLUMN_KEYS]);
    for (int i = 0; i < N_READ; ++i) {
        sources.of[i] = data->files->read[i].source;
        sources.nulls[i] = data->files->read[i].nulls;
    }
    return sources;
}
