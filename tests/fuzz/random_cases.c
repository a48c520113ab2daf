/* Random cases against an oracle, until the time is over: types, patterns, NULLs, row ids, specs with random
 * options, results, chunks, new keys, updates, files and joins; failing allocations, cancelled and misused
 * calls.
 *
 * Usage: random_cases [SECONDS [SEED [DEVICE]]]     a failure prints the seed of its case, which SECONDS 0
 *                                                   repeats */
#include "oracle.h"
#include "random_spec.h"
#include "saved_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *device_name = "cpu";
static uint64_t case_seed;
static char spec[KR_SPEC_NBYTES];
static struct {
    uint64_t cases, builds, refused, answers, updates, new_keys, files, joins, faults, cancels, misuses;
} done;

/* ---- Faults ----------------------------------------------------------------------------------- */

/* The calls of the allocator and of the progress callback that fail; 0: none. */
static struct {
    uint64_t allocations, fail_at, progress, cancel_at, held;
} faults;

static void require(int held, const char *what, const kr_error *err)
{
    if (held)
        return;
    fprintf(stderr, "broken: %s: %s\n  repeat with: random_cases 0 %llu %s (index %s)\n", what,
            err ? err->text : "", (unsigned long long)case_seed, device_name, spec);
    abort();
}

static void *allocate(void *ctx, size_t nbytes, void *native_stream)
{
    (void)ctx, (void)native_stream;
    if (++faults.allocations == faults.fail_at)
        return NULL;
    ++faults.held;
    return aligned_alloc(256, (nbytes + 255) / 256 * 256);
}

static void release(void *ctx, void *memory, size_t nbytes, void *native_stream)
{
    (void)ctx, (void)nbytes, (void)native_stream;
    --faults.held;
    free(memory);
}

static int watch(void *ctx, const char *phase, double fraction)
{
    (void)ctx, (void)phase, (void)fraction;
    return ++faults.progress == faults.cancel_at;
}

/* ---- The model: rows and their keys ----------------------------------------------------------- */

typedef struct model {
    kr_test_column keys;
    uint32_t *rows; /* NULL: positions */
    kr_oracle oracle;
    int has_oracle;
} model;

static void model_free(model *m)
{
    if (m->has_oracle)
        kr_oracle_free(&m->oracle);
    kr_test_column_free(&m->keys);
    free(m->rows);
    *m = (model){0};
}

static const kr_oracle *oracle_of(model *m)
{
    if (!m->has_oracle)
        m->oracle = kr_oracle_make(&m->keys.view, m->rows);
    m->has_oracle = 1;
    return &m->oracle;
}

static uint32_t row_of(const model *m, uint64_t at)
{
    return m->rows ? m->rows[at] : (uint32_t)at;
}

static uint64_t random_count(kr_rng *rng)
{
    switch (kr_rng_below(rng, 8)) {
    case 0: return kr_rng_below(rng, 3);
    case 1:
    case 2: return kr_rng_below(rng, 40);
    case 7: return 1 + kr_rng_below(rng, 20000);
    default: return kr_rng_below(rng, 1500);
    }
}

static kr_nulls random_nulls(kr_rng *rng)
{
    return kr_rng_below(rng, 2) ? KR_NULLS_NONE : (kr_nulls)kr_rng_below(rng, KR_NULLS_ALL + 1);
}

static model random_model(kr_rng *rng)
{
    const kr_type type = (kr_type)(1 + kr_rng_below(rng, KR_N_TYPES));
    const uint64_t n = random_count(rng);
    model m = {0};
    m.keys = kr_test_column_make(type, n, (kr_pattern)kr_rng_below(rng, KR_PATTERN_SUMMABLE),
                                 random_nulls(rng), kr_rng_next(rng));
    if (kr_rng_below(rng, 3) == 0)
        m.rows = kr_test_row_ids((kr_row_ids)kr_rng_below(rng, KR_ROW_IDS_HIGH + 1), n, kr_rng_next(rng));
    return m;
}

/* ---- Lookups ---------------------------------------------------------------------------------- */

typedef struct chunks {
    uint64_t n_probes, n_rows;
    kr_answer *got;
} chunks;

static int collect(void *ctx, uint64_t first_probe, uint64_t n_probes, const uint64_t *offsets,
                   const uint32_t *rows)
{
    chunks *c = ctx;
    uint64_t *out = c->got->out;
    require(first_probe == c->n_probes && offsets[0] == 0, "chunks follow each other", NULL);
    require(c->n_rows + offsets[n_probes] <= c->got->capacity, "chunks hold as many rows as match", NULL);
    for (uint64_t i = 0; i <= n_probes; ++i)
        out[first_probe + i] = c->n_rows + offsets[i];
    if (offsets[n_probes])
        memcpy(c->got->rows + c->n_rows, rows, offsets[n_probes] * sizeof *rows);
    c->n_probes += n_probes;
    c->n_rows += offsets[n_probes];
    return 0;
}

static kr_answer make_room(const kr_question *question, const kr_answer *want)
{
    kr_answer got = {.n = want->n, .capacity = want->n_rows};
    got.out = kr_test_calloc(kr_answer_nbytes(question, want->n) + 8, 1);
    got.valid = kr_test_calloc(want->n / 8 + 1, 1);
    got.rows = kr_test_calloc(want->n_rows, sizeof *got.rows);
    return got;
}

static kr_status ask(kr_index *index, const kr_column *lower, const kr_column *upper,
                     const kr_question *question, uint64_t chunk_nbytes, kr_answer *got, kr_error *err)
{
    const kr_sink sink = {.struct_size = sizeof sink,
                          .result = question->result,
                          .order = question->order,
                          .values = question->values,
                          .out = got->out,
                          .valid = got->valid,
                          .rows = got->rows,
                          .rows_capacity = got->capacity};
    chunks c = {.got = got};
    if (question->result == KR_RESULT_ROWS && chunk_nbytes) {
        const kr_status status =
            kr_index_lookup_chunks(index, lower, upper, question->order, chunk_nbytes, collect, &c, err);
        got->n_rows = c.n_rows;
        return status;
    }
    const kr_status status = upper ? kr_index_range(index, lower, upper, &sink, NULL, err)
                                   : kr_index_lookup(index, lower, &sink, NULL, err);
    if (status == KR_OK && question->result == KR_RESULT_ROWS)
        got->n_rows = ((uint64_t *)got->out)[got->n];
    return status;
}

static void check_answer(kr_rng *rng, kr_index *index, model *m, const kr_column *lower,
                         const kr_column *upper, const kr_column *values)
{
    static const kr_result results[] = {
        KR_RESULT_ROW,  KR_RESULT_COUNT, KR_RESULT_SUM_ROWS, KR_RESULT_EXISTS, KR_RESULT_ROWS,
        KR_RESULT_ROWS, KR_RESULT_SUM,   KR_RESULT_MIN,      KR_RESULT_MAX,    KR_RESULT_SUM_WIDE};
    const uint64_t n = !values ? 6 : kr_type_is_float(values->type) ? 9 : 10;
    kr_question question = {.name = "random", .result = results[kr_rng_below(rng, n)]};
    if (question.result == KR_RESULT_ROWS)
        question.order = (uint32_t)kr_rng_below(rng, 2);
    if (kr_result_has_values(question.result))
        question.values = values;
    kr_answer want = kr_oracle_answer(oracle_of(m), lower, upper, &question),
              got = make_room(&question, &want);
    kr_error err = {0};
    char text[256] = "";
    const uint64_t chunk = kr_rng_below(rng, 2) ? 4 * (m->keys.view.count + 1) : 0;
    const kr_status status = ask(index, lower, upper, &question, chunk, &got, &err);
    require(status == KR_OK, "a lookup works", &err);
    if (kr_answer_differs(&question, &want, &got, text, sizeof text)) {
        snprintf(err.text, sizeof err.text, "result %d: %.200s", (int)question.result, text);
        require(0, "the answer is the oracle's", &err);
    }
    ++done.answers;
    kr_answer_free(&want);
    free(got.out);
    free(got.valid);
    free(got.rows);
}

static void check_answers(kr_rng *rng, kr_index *index, model *m, int can_range)
{
    const kr_oracle *oracle = oracle_of(m);
    kr_index_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    require(kr_index_query(index, &info, &err) == KR_OK && info.rows == oracle->n,
            "the index counts its rows", &err);
    const int has_values = info.next_row <= 1 << 20;
    const kr_type type = (kr_type)(1 + kr_rng_below(rng, KR_N_TYPES));
    kr_test_column values = {0};
    if (has_values)
        values = kr_test_column_make(type, info.next_row, KR_PATTERN_SUMMABLE, random_nulls(rng),
                                     kr_rng_next(rng));
    for (int round = 0; round < 3; ++round) {
        kr_test_column lower, upper = {0};
        const int is_range = can_range && kr_rng_below(rng, 2);
        if (is_range)
            kr_test_ranges(&m->keys.view, oracle->at, oracle->n, kr_rng_below(rng, 60), random_nulls(rng),
                           kr_rng_next(rng), &lower, &upper);
        else
            lower =
                kr_test_probes(&m->keys.view, kr_rng_below(rng, 400), random_nulls(rng), kr_rng_next(rng));
        for (int i = 0; i < 3; ++i)
            check_answer(rng, index, m, &lower.view, is_range ? &upper.view : NULL,
                         has_values ? &values.view : NULL);
        kr_test_column_free(&lower);
        kr_test_column_free(&upper);
    }
    kr_test_column_free(&values);
}

/* ---- Changes ---------------------------------------------------------------------------------- */

/* The bytes of some keys of the model, or of others of its pattern. */
static kr_test_column random_batch(kr_rng *rng, const model *m, uint64_t n)
{
    return kr_test_probes(&m->keys.view, n, KR_NULLS_NONE, kr_rng_next(rng));
}

/* One batch of an update. */
typedef struct batch {
    kr_test_column deleted, inserted;
    char *sorted;   /* the deleted keys in order */
    uint32_t *rows; /* of the inserted ones: ids from next_row on, ascending or descending */
    uint32_t gives_rows;
} batch;

static kr_type sorted_type; /* qsort hands nothing to its comparison */

static int by_value(const void *a, const void *b)
{
    return kr_value_compare(sorted_type, a, b);
}

/* Now and then as many keys as there are, so that nodes split and tables grow. */
static batch random_update(kr_rng *rng, const model *m, uint64_t next_row)
{
    const uint32_t each = kr_type_nbytes(m->keys.view.type);
    const uint64_t most = kr_rng_below(rng, 6) == 0 ? m->keys.view.count + 100 : 60;
    batch b = {.deleted = random_batch(rng, m, kr_rng_below(rng, most)),
               .inserted = random_batch(rng, m, kr_rng_below(rng, most)),
               .gives_rows = kr_rng_below(rng, 3) == 0};
    const uint64_t n = b.inserted.view.count, n_deleted = b.deleted.view.count;
    b.sorted = kr_test_calloc(n_deleted, each);
    b.rows = kr_test_calloc(n, sizeof *b.rows);
    sorted_type = m->keys.view.type;
    memcpy(b.sorted, b.deleted.view.data, n_deleted * each);
    qsort(b.sorted, n_deleted, each, by_value);
    for (uint64_t i = 0; i < n; ++i)
        b.rows[i] = (uint32_t)(next_row + (b.gives_rows ? n - 1 - i : i));
    return b;
}

static void batch_free(batch *b)
{
    kr_test_column_free(&b->deleted);
    kr_test_column_free(&b->inserted);
    free(b->sorted);
    free(b->rows);
}

/* The rows that stay, then the inserted ones. */
static model updated(const model *m, const batch *b)
{
    const kr_column *inserted = &b->inserted.view;
    const uint64_t most = m->keys.view.count + inserted->count;
    const uint32_t each = kr_type_nbytes(m->keys.view.type);
    model made = {.rows = kr_test_calloc(most, sizeof *made.rows)};
    char *data = kr_test_calloc(most, each);
    uint64_t n = 0;
    for (uint64_t i = 0; i < m->keys.view.count; ++i) {
        const void *key = kr_value_at(&m->keys.view, i);
        if (!kr_value_is_valid(&m->keys.view, i) ||
            bsearch(key, b->sorted, b->deleted.view.count, each, by_value))
            continue;
        memcpy(data + n * each, key, each);
        made.rows[n++] = row_of(m, i);
    }
    for (uint64_t i = 0; i < inserted->count; ++i) {
        memcpy(data + n * each, kr_value_at(inserted, i), each);
        made.rows[n++] = b->rows[i];
    }
    made.keys = (kr_test_column){.view = {.type = m->keys.view.type, .count = n, .data = data}, .data = data};
    return made;
}

/* With faults, an allocation or a report of progress may end the update, which then changes nothing. */
static void update(kr_rng *rng, kr_index *index, model *m, int with_faults)
{
    kr_index_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    require(kr_index_query(index, &info, &err) == KR_OK, "kr_index_query", &err);
    batch b = random_update(rng, m, info.next_row);
    const int too_high = b.gives_rows && info.next_row + b.inserted.view.count > KR_NO_ROW;
    const uint64_t held = faults.held;
    faults.allocations = faults.progress = 0;
    faults.fail_at = with_faults && kr_rng_below(rng, 2) ? 1 + kr_rng_below(rng, 20) : 0;
    faults.cancel_at = with_faults && kr_rng_below(rng, 4) == 0 ? 1 + kr_rng_below(rng, 5) : 0;
    const kr_status status = kr_index_update(
        index, &b.inserted.view, b.gives_rows && !too_high ? b.rows : NULL, &b.deleted.view, NULL, &err);
    if (status == KR_OK) {
        model now = updated(m, &b);
        model_free(m);
        *m = now;
        ++done.updates;
    } else {
        require(status == KR_ERR_UNSUPPORTED || status == KR_ERR_LIMIT ||
                    (status == KR_ERR_DEVICE_MEMORY && faults.fail_at) ||
                    (status == KR_ERR_CANCELLED && faults.cancel_at),
                "an update works, or is refused", &err);
        require(faults.held == held, "a failed update releases what it took", &err);
        done.faults += status == KR_ERR_DEVICE_MEMORY;
        done.cancels += status == KR_ERR_CANCELLED;
    }
    faults.fail_at = faults.cancel_at = 0;
    batch_free(&b);
}

static void set_keys(kr_rng *rng, kr_index *index, model *m)
{
    const uint32_t each = kr_type_nbytes(m->keys.view.type);
    const uint64_t n = m->keys.view.count, step = 1 + kr_rng_below(rng, 7);
    kr_test_column keys = random_batch(rng, m, n / step + 1);
    uint32_t *rows = kr_test_calloc(n + 1, sizeof *rows);
    uint64_t *at = kr_test_calloc(n + 1, sizeof *at), count = 0;
    for (uint64_t i = 0; i < n; i += step)
        if (kr_value_is_valid(&m->keys.view, i)) {
            at[count] = i;
            rows[count++] = row_of(m, i);
        }
    keys.view.count = count;
    kr_error err = {0};
    const kr_status status = kr_index_set_keys(index, rows, &keys.view, NULL, &err);
    if (status == KR_OK) {
        if (m->has_oracle)
            kr_oracle_free(&m->oracle);
        m->has_oracle = 0;
        for (uint64_t i = 0; i < count; ++i)
            memcpy((char *)m->keys.data + ((const char *)m->keys.view.data - (char *)m->keys.data) +
                       at[i] * each,
                   kr_value_at(&keys.view, i), each);
        ++done.new_keys;
    } else {
        require(status == KR_ERR_LIMIT || status == KR_ERR_UNSUPPORTED, "new keys are taken, or refused",
                &err);
    }
    free(at);
    free(rows);
    kr_test_column_free(&keys);
}

/* ---- Faults and misuse ------------------------------------------------------------------------ */

/* The call fails once, at a random allocation or report of progress, and leaves everything as it was. */
static void fail_once(kr_rng *rng, kr_index *index, model *m)
{
    kr_test_column lower = kr_test_probes(&m->keys.view, 50, KR_NULLS_NONE, kr_rng_next(rng));
    const kr_question question = {.name = "random", .result = KR_RESULT_ROWS};
    kr_answer want = kr_oracle_answer(oracle_of(m), &lower.view, NULL, &question),
              got = make_room(&question, &want);
    kr_error err = {0};
    const uint64_t held = faults.held;
    faults.allocations = 0;
    faults.fail_at = 1 + kr_rng_below(rng, 4);
    const kr_status status = ask(index, &lower.view, NULL, &question, 0, &got, &err);
    require(status == KR_OK || status == KR_ERR_DEVICE_MEMORY, "a lookup works or lacks memory", &err);
    done.faults += status != KR_OK;
    require(faults.held == held, "a lookup releases what it took", &err);
    faults.fail_at = 0;
    kr_answer_free(&want);
    free(got.out);
    free(got.valid);
    free(got.rows);
    kr_test_column_free(&lower);
}

static void refuse(kr_status want, kr_status got, const char *what, const kr_error *err)
{
    require(got == want && err->text[0] && !strchr(err->text, '\n'), what, err);
    ++done.misuses;
}

static void misuse(kr_rng *rng, kr_index *index, const model *m)
{
    uint64_t out[8] = {0};
    const uint64_t key = 0;
    kr_error err = {0};
    kr_column probe = {.type = m->keys.view.type, .count = 1, .data = &key};
    kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = out};
    switch (kr_rng_below(rng, 9)) {
    case 0: sink.struct_size = kr_rng_below(rng, 60); break;
    case 1: sink.result = (kr_result)(10 + kr_rng_below(rng, 1000)); break;
    case 2: sink.out = NULL; break;
    case 3: sink.out = (char *)out + 1 + kr_rng_below(rng, 7); break;
    case 4: probe.reserved_words[kr_rng_below(rng, 2)] = 1 + kr_rng_next(rng) / 2; break;
    case 5: probe.data = NULL; break;
    case 6: sink.reserved = 1 + (uint32_t)kr_rng_below(rng, 1000); break;
    case 7: sink.order = 2 + (uint32_t)kr_rng_below(rng, 1000); break;
    default:
        probe.type = probe.type % KR_N_TYPES + 1;
        refuse(KR_ERR_TYPE, kr_index_lookup(index, &probe, &sink, NULL, &err), "another type is refused",
               &err);
        return;
    }
    refuse(KR_ERR_ARGUMENT, kr_index_lookup(index, &probe, &sink, NULL, &err), "misuse is refused", &err);
}

/* ---- Files ------------------------------------------------------------------------------------ */

/* What is loaded takes the index's place. */
static void save_and_load(kr_rng *rng, kr_device *device, kr_index **index, int with_faults)
{
    const bytes file = bytes_of_index(*index, NULL);
    const uint64_t held = faults.held;
    kr_saved *saved = NULL;
    kr_index *loaded = NULL;
    kr_error err = {0};
    require(kr_saved_open_memory(file.data, file.n, NULL, &saved, &err) == KR_OK, "a file opens", &err);
    faults.allocations = 0;
    faults.fail_at = with_faults ? kr_rng_below(rng, 12) : 0;
    kr_status status = kr_index_load(device, saved, NULL, &loaded, &err);
    const int failed = faults.fail_at && status == KR_ERR_DEVICE_MEMORY;
    faults.fail_at = 0;
    require(!failed || faults.held == held, "what fails to load leaves nothing", &err);
    if (failed)
        status = kr_index_load(device, saved, NULL, &loaded, &err);
    require(status == KR_OK, "what was saved is loaded", &err);
    kr_saved_close(saved);
    free(file.data);
    kr_index_destroy(*index);
    *index = loaded;
    ++done.files;
}

/* ---- Cases ------------------------------------------------------------------------------------ */

static kr_device *open_device(kr_rng *rng, int with_faults)
{
    kr_device *device = NULL;
    kr_error err = {0};
    kr_device_options options = {.struct_size = sizeof options,
                                 .threads = (uint32_t)(1 + kr_rng_below(rng, 4))};
    if (with_faults) {
        options.allocate = allocate;
        options.release = release;
        options.progress.call = watch;
    }
    require(kr_device_open(device_name, &options, &device, &err) == KR_OK, "the device opens", &err);
    return device;
}

static int is_refusal(kr_status status)
{
    return status == KR_ERR_LIMIT || status == KR_ERR_SPEC || status == KR_ERR_TYPE ||
           status == KR_ERR_UNSUPPORTED;
}

static void run_index(kr_rng *rng)
{
    const int with_faults = strcmp(device_name, "cpu") == 0 && kr_rng_below(rng, 2);
    /* Random options seldom make an index that takes updates. */
    const uint32_t can =
        kr_rng_below(rng, 4) == 0 ? kr_random_updating_spec(rng, spec) : kr_random_spec(rng, spec);
    model m = random_model(rng);
    kr_device *device = open_device(rng, with_faults);
    kr_index *index = NULL;
    kr_error err = {0};
    faults.allocations = faults.progress = 0;
    faults.fail_at = with_faults && kr_rng_below(rng, 4) == 0 ? 1 + kr_rng_below(rng, 30) : 0;
    faults.cancel_at = with_faults && kr_rng_below(rng, 8) == 0 ? 1 + kr_rng_below(rng, 5) : 0;
    kr_status status = kr_index_create(device, spec, &m.keys.view, m.rows, NULL, &index, &err);
    done.faults += status == KR_ERR_DEVICE_MEMORY;
    done.cancels += status == KR_ERR_CANCELLED;
    if ((status == KR_ERR_DEVICE_MEMORY && faults.fail_at) ||
        (status == KR_ERR_CANCELLED && faults.cancel_at)) {
        require(!index && faults.held == 0, "a failed build leaves nothing", &err);
        faults.fail_at = faults.cancel_at = 0;
        status = kr_index_create(device, spec, &m.keys.view, m.rows, NULL, &index, &err);
    }
    faults.fail_at = faults.cancel_at = 0;
    require(status == KR_OK || is_refusal(status), "a build works, or is refused", &err);
    done.builds += status == KR_OK;
    done.refused += status != KR_OK;
    for (int round = 0; status == KR_OK && round < 3; ++round) {
        check_answers(rng, index, &m, (can & KR_CAN_RANGE) != 0);
        misuse(rng, index, &m);
        if (with_faults)
            fail_once(rng, index, &m);
        require(kr_index_validate(index, &err) == KR_OK, "the index is valid", &err);
        if (can & KR_CAN_UPDATE && kr_rng_below(rng, 2))
            update(rng, index, &m, with_faults);
        if (can & KR_CAN_SET_KEYS && kr_rng_below(rng, 2))
            set_keys(rng, index, &m);
        if (kr_rng_below(rng, 3) == 0)
            save_and_load(rng, device, &index, with_faults);
    }
    kr_index_destroy(index);
    kr_device_close(device);
    require(!with_faults || faults.held == 0, "everything is released", NULL);
    model_free(&m);
}

static void run_join(kr_rng *rng)
{
    const kr_type type = (kr_type)(1 + kr_rng_below(rng, KR_N_TYPES));
    const kr_pattern pattern = kr_rng_below(rng, 2) ? KR_PATTERN_DENSE : KR_PATTERN_DUPLICATES;
    kr_test_column left = kr_test_column_make(type, kr_rng_below(rng, 300), pattern, random_nulls(rng),
                                              kr_rng_next(rng)),
                   right = kr_test_column_make(type, kr_rng_below(rng, 300), pattern, random_nulls(rng),
                                               kr_rng_next(rng));
    kr_join_options options = {.struct_size = sizeof options,
                               .type = (kr_join_type)(1 + kr_rng_below(rng, 6)),
                               .inverse = (kr_join_inverse)kr_rng_below(rng, 3),
                               .unordered = (uint32_t)kr_rng_below(rng, 2)};
    kr_device *device = open_device(rng, 0);
    kr_join *join = NULL;
    kr_join_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    kr_random_spec(rng, spec);
    const kr_status status = kr_join_create(device, spec, &left.view, &right.view, &options, &join, &err);
    require(status == KR_OK || is_refusal(status), "a join works, or is refused", &err);
    if (status == KR_OK) {
        kr_pairs want = kr_oracle_join(&left.view, &right.view, NULL, options.type), got = {0};
        require(kr_join_query(join, &info, &err) == KR_OK && info.pairs == want.n,
                "a join has the oracle's pairs", &err);
        const int both = options.type != KR_JOIN_SEMI && options.type != KR_JOIN_ANTI;
        uint32_t *rows = kr_test_calloc(2 * want.n + 1, sizeof *rows), *others = rows + want.n;
        require(kr_join_read(join, 0, want.n, rows, both ? others : NULL, &err) == KR_OK, "a join is read",
                &err);
        got = (kr_pairs){want.n, kr_test_calloc(want.n, sizeof *got.pairs)};
        for (uint64_t i = 0; i < want.n; ++i) {
            got.pairs[i][0] = rows[i];
            got.pairs[i][1] = both ? others[i] : KR_NO_ROW;
        }
        if (options.unordered)
            kr_pairs_sort(&got);
        require(memcmp(got.pairs, want.pairs, want.n * sizeof *got.pairs) == 0,
                "a join's pairs are the oracle's", NULL);
        free(rows);
        free(got.pairs);
        free(want.pairs);
        ++done.joins;
    }
    kr_join_destroy(join);
    kr_device_close(device);
    kr_test_column_free(&left);
    kr_test_column_free(&right);
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? strtod(argv[1], NULL) : 5;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 42;
    const time_t begin = time(NULL);
    device_name = argc > 3 ? argv[3] : device_name;
    do {
        case_seed = seconds > 0 ? kr_rng_split(seed, done.cases) : seed;
        kr_rng rng = {case_seed};
        if (kr_rng_below(&rng, 8) == 0)
            run_join(&rng);
        else
            run_index(&rng);
        ++done.cases;
    } while (difftime(time(NULL), begin) < seconds);
    printf("%llu cases: %llu indexes, %llu refused, %llu answers, %llu updates, %llu new keys, %llu files, "
           "%llu joins, %llu failed allocations, %llu cancels, %llu misuses; all as they should be\n",
           (unsigned long long)done.cases, (unsigned long long)done.builds, (unsigned long long)done.refused,
           (unsigned long long)done.answers, (unsigned long long)done.updates,
           (unsigned long long)done.new_keys, (unsigned long long)done.files, (unsigned long long)done.joins,
           (unsigned long long)done.faults, (unsigned long long)done.cancels,
           (unsigned long long)done.misuses);
    return seconds > 0 && done.builds < done.refused;
}
