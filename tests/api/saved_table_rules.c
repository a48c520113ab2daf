/* Tables in files: what a file holds, what is refused, the memory cap, what was prepared, cancelling. */
#include "cancel.h"
#include "saved_tables.h"

#include <pthread.h>

/* ---- What a file holds, and what is refused -------------------------------------------------- */

static void check_facts(void)
{
    static const char note[] = "of the caller's";
    const kr_attachment attachment = {"note", note, sizeof note};
    const kr_save_options with = {.struct_size = sizeof with, .attachments = &attachment, .n_attachments = 1};
    kr_table *table = create(host, "bindex", N, NULL);
    kr_saved_info info = {.struct_size = sizeof info};
    uint64_t nbytes = 0;
    append(table, N, MORE);
    WORKS(kr_table_save(table, path, &with, NULL, &err));
    kr_saved *saved = open_path(KR_VERIFY_ALL);
    WORKS(kr_saved_query(saved, &info, &err));
    CHECK(info.what == KR_SAVED_TABLE && info.n_columns == COLUMNS && info.rows == N + MORE);
    CHECK(!strcmp(info.spec, info_of(table).spec) && info.n_attachments == 1);
    for (uint32_t i = 0; i < COLUMNS; ++i) {
        kr_column columns[COLUMNS];
        const char *name = NULL;
        kr_type type = 0;
        kr_unit unit = KR_UNIT_NS;
        int has_texts = -1;
        describe(0, N, columns);
        WORKS(kr_saved_column(saved, i, &name, &type, &unit, &has_texts, &err));
        CHECK(name && !strcmp(name, names[i]) && type == columns[i].type && unit == units[i]);
        CHECK(has_texts == (i == 3));
    }
    const void *found = kr_saved_attachment(saved, "note", &nbytes);
    CHECK(found && nbytes == sizeof note && !memcmp(found, note, sizeof note));
    kr_table *loaded = load(host, saved, KR_COPY_NEVER);
    CHECK(info_of(loaded).copied_columns == COLUMNS && info_of(loaded).reason[0]);
    CHECK(info_of(loaded).footprint_nbytes >= (N + MORE) * (4 + 8 + 8 + 4 + 8 + 1));
    CHECK(!strcmp(kr_table_phase_name(loaded, 0), "read"));
    kr_table_destroy(loaded);
    kr_saved_close(saved);
    kr_table_destroy(table);
}

static void refuse_dictionaries(const kr_table_options *options)
{
    const uint64_t too_many[COLUMNS] = {5, [3] = DICTIONARY}, none[COLUMNS] = {0};
    const uint64_t *const wrong[] = {too_many, none, NULL};
    for (int i = 0; i < 3; ++i) {
        const kr_saved_options how = {
            .struct_size = sizeof how, .n_dictionaries = wrong[i] ? COLUMNS : 0, .dictionaries = wrong[i]};
        kr_saved *saved = NULL;
        kr_table *table = NULL;
        WORKS(kr_saved_open(path, &how, &saved, &err));
        REFUSED(KR_ERR_ARGUMENT, kr_table_load(host, saved, options, NULL, &table, &err));
        CHECK(!table);
        kr_saved_close(saved);
    }
}

static void check_misuse(void)
{
    kr_table_options options = options_of(KR_COPY_AUTO);
    const kr_column keys = {.type = KR_U32, .count = N, .data = a};
    kr_table *table = create(host, "full", N, NULL), *loaded = NULL;
    kr_index *index = NULL;
    kr_pieces *pieces = NULL;
    WORKS(kr_table_save(table, path, NULL, NULL, &err));
    kr_saved *saved = open_path(KR_VERIFY_ALL);
    REFUSED(KR_ERR_FORMAT, kr_index_load(host, saved, NULL, &index, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_load(NULL, saved, &options, NULL, &loaded, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_load(host, NULL, &options, NULL, &loaded, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_load(host, saved, &options, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_pieces(NULL, NULL, &pieces, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_pieces(table, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_save(NULL, path, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_table_save(table, NULL, NULL, NULL, &err));
    REFUSED(KR_ERR_IO, kr_table_save(table, "/nowhere/at/all", NULL, NULL, &err));
    options.units = units; /* the file has them */
    REFUSED(KR_ERR_ARGUMENT, kr_table_load(host, saved, &options, NULL, &loaded, &err));
    options = options_of((kr_copy)9);
    REFUSED(KR_ERR_ARGUMENT, kr_table_load(host, saved, &options, NULL, &loaded, &err));
    options = options_of(KR_COPY_AUTO);
    refuse_dictionaries(&options);
    kr_saved_close(saved);
    bytes whole = save_to_memory(table);
    saved = open_bytes(&whole);
    options = options_of(KR_COPY_NEVER); /* of bytes in memory there is a copy */
    REFUSED(KR_ERR_ARGUMENT, kr_table_load(host, saved, &options, NULL, &loaded, &err));
    kr_saved_close(saved);
    free(whole.at);
    WORKS(kr_index_create(host, "array", &keys, NULL, NULL, &index, &err));
    WORKS(kr_index_save(index, path, NULL, NULL, &err));
    saved = open_path(KR_VERIFY_ALL);
    options = options_of(KR_COPY_AUTO);
    REFUSED(KR_ERR_FORMAT, kr_table_load(host, saved, &options, NULL, &loaded, &err));
    CHECK(!loaded);
    kr_saved_close(saved);
    kr_index_destroy(index);
    kr_table_destroy(table);
}

/* Pieces of a table that has changed are refused. */
static void check_changed_pieces(void)
{
    kr_table *table = create(host, "bindex", N, NULL);
    kr_pieces *pieces = NULL;
    const void *piece = NULL;
    uint64_t nbytes = 0;
    double fraction = 0;
    WORKS(kr_table_pieces(table, NULL, &pieces, &err));
    WORKS(kr_pieces_next(pieces, &piece, &nbytes, &fraction, &err));
    delete_some(table, 0);
    REFUSED(KR_ERR_ARGUMENT, kr_pieces_next(pieces, &piece, &nbytes, &fraction, &err));
    kr_pieces_destroy(pieces);
    kr_table_destroy(table);
}

/* ---- Threads --------------------------------------------------------------------------------- */

typedef struct worker {
    pthread_t thread;
    kr_table *table;
    answers got;
} worker;

static void *scan_often(void *argument)
{
    worker *w = argument;
    ask(w->table, &w->got);
    return NULL;
}

/* Saving is a reader beside scans. */
static void check_threads(void)
{
    enum { THREADS = 3 };
    static worker workers[THREADS];
    static answers want;
    kr_table *table = create(host, "bindex", N, NULL);
    delete_some(table, 50);
    bytes first = save_to_memory(table);
    ask(table, &want);
    for (int t = 0; t < THREADS; ++t) {
        workers[t].table = table;
        CHECK(pthread_create(&workers[t].thread, NULL, scan_often, &workers[t]) == 0);
    }
    for (int i = 0; i < 3; ++i) {
        bytes again = save_to_memory(table);
        CHECK(again.n == first.n && !memcmp(again.at, first.at, first.n));
        free(again.at);
    }
    for (int t = 0; t < THREADS; ++t) {
        pthread_join(workers[t].thread, NULL);
        CHECK(!memcmp(&workers[t].got, &want, sizeof want));
    }
    free(first.at);
    kr_table_destroy(table);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Mapped bytes are in the footprint and not under the cap; a copy is, and without room for it a mapped table
 * stays as it is. */
static void check_cap(const char *spec)
{
    static answers want;
    const kr_device_options small = {.struct_size = sizeof small, .memory_cap_nbytes = 1 << 20, .threads = 2};
    const kr_table_options copied = options_of(KR_COPY_ALWAYS);
    kr_table *table = create(host, spec, N, NULL), *loaded = NULL;
    kr_device *capped = NULL;
    kr_column more[COLUMNS];
    uint32_t row = 3;
    delete_some(table, 100);
    ask(table, &want);
    WORKS(kr_table_save(table, path, NULL, NULL, &err));
    kr_table_destroy(table);
    WORKS(kr_device_open("cpu", &small, &capped, &err));
    kr_saved *saved = open_path(KR_VERIFY_ALL);
    REFUSED(KR_ERR_DEVICE_MEMORY, kr_table_load(capped, saved, &copied, NULL, &loaded, &err));
    CHECK(!loaded && in_use(capped) == 0);
    table = load(capped, saved, KR_COPY_AUTO);
    kr_saved_close(saved);
    const uint64_t held = in_use(capped);
    CHECK(held < 1 << 18 && info_of(table).footprint_nbytes > 2 << 20);
    CHECK(same_answers(table, &want));
    describe(N, MORE, more);
    REFUSED(KR_ERR_DEVICE_MEMORY, kr_table_append(table, more, COLUMNS, NULL, &err));
    REFUSED(KR_ERR_DEVICE_MEMORY, kr_table_delete(table, &row, 1, NULL, NULL, &err));
    CHECK(same_answers(table, &want) && info_of(table).rows == N);
    WORKS(kr_table_validate(table, &err));
    kr_table_destroy(table);
    CHECK(in_use(capped) == 0);
    kr_device_close(capped);
}

/* What was prepared on a mapped table does not run on what the table has become. */
static void check_prepared(void)
{
    kr_table *table = create(host, "bindex", N, NULL);
    kr_condition *condition = NULL;
    kr_prepared *prepared = NULL;
    uint64_t count = 0, n = 0;
    const uint32_t row = 10;
    WORKS(kr_table_save(table, path, NULL, NULL, &err));
    kr_table_destroy(table);
    kr_saved *saved = open_path(KR_VERIFY_ALL);
    table = load(host, saved, KR_COPY_AUTO);
    kr_saved_close(saved);
    WORKS(kr_condition_parse("a < 5000", &condition, &err));
    const kr_condition *where[] = {condition};
    const kr_scan_sink sink = {.struct_size = sizeof sink, .result = KR_SCAN_COUNT, .out = &count};
    const kr_scan_sink *sinks[] = {&sink};
    WORKS(kr_prepare_scan(table, where, sinks, 1, NULL, &prepared, &err));
    WORKS(kr_prepared_run(prepared, NULL, &err));
    CHECK(count > 100);
    WORKS(kr_table_delete(table, &row, 1, NULL, &n, &err));
    CHECK(n == 1);
    REFUSED(KR_ERR_ARGUMENT, kr_prepared_run(prepared, NULL, &err));
    kr_prepared_destroy(prepared);
    kr_condition_destroy(condition);
    kr_table_destroy(table);
}

/* ---- Cancelling ------------------------------------------------------------------------------ */

/* Cancelled at its first call, its second, ...: nothing is left behind. */
static void check_cancelling(const char *spec)
{
    const kr_progress report = {.call = cancel};
    const kr_table_options options = options_of(KR_COPY_ALWAYS);
    kr_table *table = create(host, spec, N, NULL), *loaded = NULL;
    kr_status status = KR_ERR_CANCELLED;
    cancel_at = 0;
    for (uint64_t n = 1; status == KR_ERR_CANCELLED && n < 1000; ++n) {
        calls = 0;
        cancel_at = n;
        status = kr_table_save(table, path, NULL, &report, NULL);
        CHECK(status == (calls >= n ? KR_ERR_CANCELLED : KR_OK));
    }
    CHECK(status == KR_OK);
    kr_table_destroy(table);
    const kr_saved_options how = {.struct_size = sizeof how,
                                  .n_dictionaries = COLUMNS,
                                  .dictionaries = dictionaries,
                                  .progress = &report};
    const uint64_t held = in_use(host);
    kr_saved *saved = NULL;
    cancel_at = 0;
    WORKS(kr_saved_open(path, &how, &saved, &err));
    status = KR_ERR_CANCELLED;
    for (uint64_t n = 1; status == KR_ERR_CANCELLED && n < 1000; ++n) {
        calls = 0;
        cancel_at = n;
        status = kr_table_load(host, saved, &options, NULL, &loaded, NULL);
        CHECK(status == (calls >= n ? KR_ERR_CANCELLED : KR_OK));
        CHECK(status == KR_OK || (in_use(host) == held && !loaded));
    }
    CHECK(status == KR_OK);
    cancel_at = 0;
    kr_table_destroy(loaded);
    kr_saved_close(saved);
}

int main(void)
{
    fill();
    const int file = mkstemp(path);
    CHECK(file >= 0);
    WORKS(kr_device_open("cpu", NULL, &host, &err));
    check_facts();
    check_misuse();
    check_changed_pieces();
    check_threads();
    check_cap("full");
    check_cap("bindex");
    check_prepared();
    check_cancelling("bindex:vectors=9");
    kr_device_close(host);
    close(file);
    unlink(path);
    return failures != 0;
}
