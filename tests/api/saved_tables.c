/* Tables in files: every kind is saved on one device and loaded on another, in every way, and is asked the
 * same before and after; then both change in the same way. Without an argument both devices are the CPU. */
#include "saved_tables.h"
#include "device_name.h"

/* Rays take longer. */
enum { FEW = 9000, FEWER = 3000 };
static const struct {
    const char *text;
    uint64_t n;
} specs[] = {
    {"full", N},
    {"full:zones=off,logic=branching", N},
    {"full:narrow=on", N},
    {"full:narrow=off", N},
    {"bindex", N},
    {"bindex:vectors=5", N},
    {"bindex:refine=scatter,vectors=20", N},
    {"rtscan:width=2", FEWER},
    {"rtscan:encode=off,vectors=8,pack=3,groups=a+c,scenes=lazy", FEW},
    {"rtscan:pack=1,prim=sphere,spacing=0,parts=3,width=4,vectors=9", FEWER},
    {"rtc3:rays=60", FEWER},
    {"rtc1:rays=1000", FEWER},
};
enum { SPECS = sizeof specs / sizeof *specs };

static kr_device *device;

/* A file of what was loaded is the same file. */
static void check_bytes(const kr_table *table, const bytes *want)
{
    bytes again = save_to_memory(table);
    CHECK(again.n == want->n && !memcmp(again.at, want->at, want->n));
    free(again.at);
}

static void load_all_ways(kr_table *table, kr_device *on)
{
    static const kr_copy copies[] = {KR_COPY_AUTO, KR_COPY_ALWAYS};
    bytes saved_bytes = save_to_memory(table);
    WORKS(kr_table_save(table, path, NULL, NULL, &err));
    for (int verify = 0; verify < 2; ++verify)
        for (int way = 0; way < 2; ++way) {
            kr_saved *saved = open_path(verify ? KR_VERIFY_ALL : KR_VERIFY_HEADER);
            kr_table *loaded = load(on, saved, copies[way]);
            if (verify)
                kr_saved_close(saved); /* before the table, and behind it */
            compare(table, loaded);
            check_bytes(loaded, &saved_bytes);
            kr_table_destroy(loaded);
            if (!verify)
                kr_saved_close(saved);
        }
    kr_saved *saved = open_bytes(&saved_bytes);
    kr_table *loaded = load(on, saved, KR_COPY_AUTO);
    kr_saved_close(saved);
    memset(saved_bytes.at, 0, saved_bytes.n); /* what is loaded is a copy */
    free(saved_bytes.at);
    compare(table, loaded);
    kr_table_destroy(loaded);
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* What is loaded changes as the table does that was saved. */
static void change_both(kr_table *table, kr_device *on, int deletes_first)
{
    WORKS(kr_table_save(table, path, NULL, NULL, &err));
    kr_saved *saved = open_path(KR_VERIFY_ALL);
    kr_table *loaded = load(on, saved, KR_COPY_AUTO);
    kr_saved_close(saved);
    const uint32_t rows = (uint32_t)info_of(table).rows;
    kr_table *both[] = {table, loaded};
    compare(table, loaded); /* what scans have made of it, scenes too, does not outlive the mapping */
    for (int i = 0; i < 2; ++i) {
        if (deletes_first)
            delete_some(both[i], rows - 2000);
        append(both[i], rows, MORE);
        if (!deletes_first)
            delete_some(both[i], rows - 1000);
    }
    WORKS(kr_table_validate(loaded, &err));
    CHECK(info_of(loaded).rows == rows + MORE);
    static answers want;
    ask(table, &want);
    CHECK(same_answers(loaded, &want));
    kr_table_destroy(loaded);
}

/* A table of `spec`, or NULL where `on` has no tracer for it, which is said. */
static kr_table *create_if_it_runs(kr_device *on, const char *spec, uint64_t n)
{
    kr_error err = {0};
    kr_table *table = create(on, spec, n, &err);
    const int refused = err.status == KR_ERR_UNSUPPORTED || err.status == KR_ERR_SPEC;
    CHECK(table != NULL || refused);
    if (!table)
        printf("%s: %s: %s\n", spec, refused ? "skipped" : "failed", err.text);
    return table;
}

/* A device without the tracer of a file's kind says so. */
static void load_where_it_does_not_run(kr_table *table, kr_device *to)
{
    kr_table *loaded = NULL;
    kr_saved *saved = NULL;
    WORKS(kr_table_save(table, path, NULL, NULL, &err));
    saved = open_path(KR_VERIFY_ALL);
    const kr_table_options options = options_of(KR_COPY_AUTO);
    REFUSED(KR_ERR_UNSUPPORTED, kr_table_load(to, saved, &options, NULL, &loaded, &err));
    CHECK(loaded == NULL);
    kr_saved_close(saved);
}

static void check_spec(const char *spec, uint64_t n, kr_device *from, kr_device *to)
{
    kr_table *table = create_if_it_runs(from, spec, n);
    kr_table *loadable = create_if_it_runs(to, spec, 0);
    const int runs_there = loadable != NULL;
    kr_table_destroy(loadable);
    if (table && !runs_there)
        load_where_it_does_not_run(table, to);
    if (!table || !runs_there) {
        kr_table_destroy(table);
        return;
    }
    load_all_ways(table, to);
    change_both(table, to, 1);
    load_all_ways(table, to); /* with deleted rows, appended ones and spare room */
    change_both(table, to, 0);
    kr_table_destroy(table);
    table = create_if_it_runs(from, spec, 0);
    load_all_ways(table, to);
    kr_table_destroy(table);
    printf("%s: done\n", spec);
}

int main(int argc, char **argv)
{
    const int skipped = take_device_name(argc, argv);
    if (skipped)
        return skipped;
    fill();
    const int file = mkstemp(path);
    CHECK(file >= 0);
    WORKS(kr_device_open(device_name, NULL, &device, &err));
    WORKS(kr_device_open("cpu", NULL, &host, &err));
    for (int i = 0; i < (int)SPECS; ++i) {
        check_spec(specs[i].text, specs[i].n, device, host);
        if (argc > 1)
            check_spec(specs[i].text, specs[i].n, host, device);
    }
    kr_device_close(host);
    kr_device_close(device);
    close(file);
    unlink(path);
    return failures != 0;
}
