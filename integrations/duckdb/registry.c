#include "registry.h"

#include <strings.h>
#include <time.h>

static void lock(registry *of)
{
    pthread_mutex_lock(&of->mutex);
}

static void unlock(registry *of)
{
    pthread_mutex_unlock(&of->mutex);
}

/* ---- Life ------------------------------------------------------------------------------------- */

registry *registry_create(duckdb_database database)
{
    registry *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->connection_is_free, NULL);
    snprintf(made->device_name, sizeof made->device_name, "auto");
    made->n_uses = 1;
    for (uint32_t i = 0; i < CONNECTIONS; ++i)
        if (duckdb_connect(database, &made->connections[i]) != DuckDBSuccess) {
            made->connections[i] = NULL;
            registry_release(made);
            return NULL;
        }
    return made;
}

registry *registry_hold(registry *held)
{
    pthread_mutex_lock(&held->mutex);
    ++held->n_uses;
    pthread_mutex_unlock(&held->mutex);
    return held;
}

void registry_close(registry *closed)
{
    lock(closed);
    while (closed->n_items) {
        item *last = closed->items[--closed->n_items];
        unlock(closed);
        item_leave(closed, last);
        lock(closed);
    }
    closed->is_closed = 1;
    for (uint32_t i = 0; i < CONNECTIONS; ++i)
        if (closed->connections[i] && !closed->is_busy[i])
            duckdb_disconnect(&closed->connections[i]);
    unlock(closed);
}

void registry_release(void *released)
{
    registry *of = released;
    lock(of);
    const uint64_t left = --of->n_uses;
    unlock(of);
    if (left)
        return;
    registry_close(of);
    registry_leave_device(of, of->one);
    registry_leave_device(of, of->all);
    pthread_mutex_destroy(&of->mutex);
    pthread_cond_destroy(&of->connection_is_free);
    free(of->shared);
    free(of->items);
    free(of);
}

/* ---- DuckDB's settings ------------------------------------------------------------------------ */

/* CONNECTIONS: all have been busy for half a minute; CONNECTIONS + 1: closed. */
static uint32_t take_connection(registry *of)
{
    struct timespec until;
    uint32_t taken = CONNECTIONS;
    int waits = 1;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 30;
    lock(of);
    while (taken == CONNECTIONS && waits) {
        for (uint32_t i = 0; i < CONNECTIONS; ++i)
            if (of->connections[i] && !of->is_busy[i])
                taken = i;
        if (of->is_closed)
            taken = CONNECTIONS + 1;
        else if (taken < CONNECTIONS)
            of->is_busy[taken] = 1;
        else
            waits = !pthread_cond_timedwait(&of->connection_is_free, &of->mutex, &until);
    }
    unlock(of);
    return taken;
}

kr_status registry_query(registry *of, const char *sql, duckdb_result *result, kr_error *err)
{
    const uint32_t taken = take_connection(of);
    memset(result, 0, sizeof *result);
    if (taken == CONNECTIONS)
        return fail(err, KR_ERR_LIMIT, "more than %d queries at a time read tables by name: try again",
                    CONNECTIONS);
    if (taken > CONNECTIONS)
        return fail(err, KR_ERR_UNSUPPORTED, "keyray_close() was called: open the database again");
    const duckdb_state state = duckdb_query(of->connections[taken], sql, result);
    lock(of);
    of->is_busy[taken] = 0;
    if (of->is_closed) /* meanwhile */
        duckdb_disconnect(&of->connections[taken]);
    pthread_cond_signal(&of->connection_is_free);
    unlock(of);
    return state == DuckDBSuccess ? KR_OK : fail(err, KR_ERR_ARGUMENT, "%s", duckdb_result_error(result));
}

char *registry_setting(registry *of, const char *name)
{
    char sql[128];
    kr_error err = {0};
    duckdb_result result;
    char *value = NULL;
    snprintf(sql, sizeof sql, "SELECT CAST(current_setting('%s') AS VARCHAR)", name);
    if (registry_query(of, sql, &result, &err) == KR_OK) {
        duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
        if (chunk && duckdb_data_chunk_get_size(chunk)) {
            duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, 0);
            value = is_null(vector, 0) ? NULL : copy_text(text_at(vector, 0));
        }
        duckdb_destroy_data_chunk(&chunk);
    }
    duckdb_destroy_result(&result);
    return value;
}

/* A name or a device made after keyray_close() would know neither threads nor the memory limit. */
static kr_status check_open(registry *of, kr_error *err)
{
    lock(of);
    const int is_closed = of->is_closed;
    unlock(of);
    return is_closed ? fail(err, KR_ERR_UNSUPPORTED, "keyray_close() was called: open the database again")
                     : KR_OK;
}

kr_status registry_may_use_files(registry *of, kr_error *err)
{
    if (check_open(of, err) != KR_OK)
        return err->status;
    char *value = registry_setting(of, "enable_external_access");
    if (!value)
        return fail(err, KR_ERR_HOST_MEMORY,
                    "DuckDB does not say whether files may be used; is there memory?");
    const int may = !strcmp(value, "true");
    free(value);
    return may ? KR_OK
               : fail(err, KR_ERR_UNSUPPORTED,
                      "files are not read or written while DuckDB's setting enable_external_access is off");
}

uint64_t registry_bytes(const char *value)
{
    static const struct {
        const char *unit;
        double nbytes;
    } units[] = {{"bytes", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}, {"TiB", 1099511627776.0},
                 {"KB", 1e3},  {"MB", 1e6},   {"GB", 1e9},      {"TB", 1e12}};
    char *end = NULL;
    const double number = value ? strtod(value, &end) : 0;
    for (uint32_t i = 0; end && number > 0 && i < sizeof units / sizeof *units; ++i)
        if (!strcasecmp(end + (*end == ' '), units[i].unit))
            return number * units[i].nbytes < 0x1p63 ? (uint64_t)(number * units[i].nbytes) : 0;
    return 0;
}

/* ---- Devices ---------------------------------------------------------------------------------- */

void registry_leave_device(registry *of, shared_device *left)
{
    if (!left)
        return;
    lock(of);
    const uint64_t uses = --left->n_uses;
    unlock(of);
    if (!uses) {
        kr_device_close(left->device);
        free(left);
    }
}

static kr_status open_device(registry *of, const char *name, uint64_t limit, int whole,
                             shared_device **opened, kr_error *err)
{
    kr_device_options options = {.struct_size = sizeof options, .threads = 1, .memory_cap_nbytes = limit};
    char *threads = registry_setting(of, "threads"), *memory = registry_setting(of, "memory_limit");
    if (whole && threads && atoi(threads) > 0)
        options.threads = (uint32_t)atoi(threads);
    const int is_cpu = !strcmp(name, "cpu") || (!strcmp(name, "auto") && kr_device_count() == 1);
    if (!limit && is_cpu)
        options.memory_cap_nbytes = registry_bytes(memory);
    free(threads);
    free(memory);
    shared_device *made = calloc(1, sizeof *made);
    if (!made)
        return fail(err, KR_ERR_HOST_MEMORY, "a device needs memory, which there is not");
    const kr_status status = kr_device_open(name, &options, &made->device, err);
    if (status != KR_OK) {
        free(made);
        return status;
    }
    made->n_uses = 1;
    *opened = made;
    return KR_OK;
}

kr_status registry_device(registry *of, int whole, shared_device **device, kr_error *err)
{
    shared_device **place = whole ? &of->all : &of->one, *made = NULL;
    if (check_open(of, err) != KR_OK)
        return err->status;
    char name[sizeof of->device_name];
    lock(of);
    memcpy(name, of->device_name, sizeof name);
    const uint64_t limit = of->memory_limit;
    const int is_open = *place != NULL;
    unlock(of);
    const kr_status status = is_open ? KR_OK : open_device(of, name, limit, whole, &made, err);
    if (status != KR_OK)
        return status;
    lock(of);
    shared_device *extra = *place ? made : NULL; /* another thread was first */
    if (!*place)
        *place = made;
    ++(*place)->n_uses;
    *device = *place;
    unlock(of);
    registry_leave_device(of, extra);
    return KR_OK;
}

kr_status registry_set_device(registry *of, const char *name, uint64_t memory_limit, kr_error *err)
{
    shared_device *one = NULL;
    kr_status status = check_open(of, err);
    if (status == KR_OK)
        status = open_device(of, name, memory_limit, 0, &one, err);
    if (status != KR_OK)
        return status;
    lock(of);
    shared_device *before[] = {of->one, of->all};
    of->one = one;
    of->all = NULL;
    of->memory_limit = memory_limit;
    snprintf(of->device_name, sizeof of->device_name, "%s", name);
    unlock(of);
    registry_leave_device(of, before[0]);
    registry_leave_device(of, before[1]);
    return KR_OK;
}

/* ---- Items ------------------------------------------------------------------------------------ */

item *item_create(item_kind kind)
{
    item *made = calloc(1, sizeof *made);
    if (made)
        made->kind = kind;
    return made;
}

void item_free(registry *of, item *freed)
{
    if (!freed)
        return;
    kr_index_destroy(freed->index);
    kr_table_destroy(freed->table);
    registry_leave_device(of, freed->on);
    for (uint32_t c = 0; c < freed->n_columns; ++c)
        free(freed->columns[c].name);
    free(freed->columns);
    column_free(&freed->values);
    free(freed->rows);
    free(freed->source);
    free(freed->name);
    free(freed);
}

static int is_named(const item *one, span name)
{
    return strlen(one->name) == name.nbytes && !memcmp(one->name, name.data, name.nbytes);
}

/* The place of a name; n_items: there is none. */
static uint32_t place_of(const registry *of, span name)
{
    uint32_t i = 0;
    while (i < of->n_items && !is_named(of->items[i], name))
        ++i;
    return i;
}

int registry_has(registry *of, span name)
{
    lock(of);
    const int has = place_of(of, name) < of->n_items;
    unlock(of);
    return has;
}

/* Under the mutex: room for one item more. */
static int make_room(registry *of)
{
    if (of->n_items < of->items_room)
        return 1;
    item **grown = realloc(of->items, (of->items_room + 16) * sizeof *grown);
    if (!grown)
        return 0;
    of->items = grown;
    of->items_room += 16;
    return 1;
}

kr_status registry_add(registry *to, item *added, int replace, kr_error *err)
{
    item *before = NULL;
    lock(to);
    const uint32_t at = place_of(to, (span){added->name, strlen(added->name)});
    if (at < to->n_items && !replace) {
        unlock(to);
        return fail(
            err, KR_ERR_ARGUMENT,
            "there is an index or a table '%s' already: choose another name, or SELECT keyray_drop('%s')",
            added->name, added->name);
    }
    if (at == to->n_items && !make_room(to)) {
        unlock(to);
        return fail(err, KR_ERR_HOST_MEMORY, "a name needs memory, which there is not");
    }
    if (at < to->n_items && --to->items[at]->n_uses == 0)
        before = to->items[at];
    to->n_items += at == to->n_items;
    to->items[at] = added;
    added->n_uses = 1;
    unlock(to);
    item_free(to, before);
    return KR_OK;
}

/* Under the mutex. */
static kr_status no_such_name(const registry *of, span name, kr_error *err)
{
    char names[256] = "";
    for (uint32_t i = 0; i < of->n_items && strlen(names) < 200; ++i)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s'%.40s'", i ? ", " : "",
                 of->items[i]->name);
    return fail(err, KR_ERR_ARGUMENT,
                "there is no index or table '%.*s'%s%s: FROM keyray_indexes() lists them",
                (int)(name.nbytes < 60 ? name.nbytes : 60), name.data, of->n_items ? ", but " : "", names);
}

kr_status registry_find(registry *of, span name, item_kind kind, item **found, kr_error *err)
{
    kr_status status = KR_OK;
    lock(of);
    const uint32_t at = place_of(of, name);
    if (at == of->n_items)
        status = no_such_name(of, name, err);
    else if (of->items[at]->kind != kind)
        status = fail(err, KR_ERR_TYPE, "'%s' is %s: %s", of->items[at]->name,
                      kind == ITEM_INDEX ? "a table, not an index" : "an index, not a table",
                      kind == ITEM_INDEX ? "ask it with keyray_scan" : "make a table with keyray_table");
    if (status == KR_OK) {
        *found = of->items[at];
        ++(*found)->n_uses;
    }
    unlock(of);
    return status;
}

item *item_hold(registry *of, item *held)
{
    lock(of);
    ++held->n_uses;
    unlock(of);
    return held;
}

void item_leave(registry *of, item *left)
{
    if (!left)
        return;
    lock(of);
    const uint64_t uses = --left->n_uses;
    unlock(of);
    if (!uses)
        item_free(of, left);
}

kr_status registry_drop(registry *of, span name, kr_error *err)
{
    item *dropped = NULL;
    kr_status status = KR_OK;
    lock(of);
    const uint32_t at = place_of(of, name);
    if (at == of->n_items) {
        status = no_such_name(of, name, err);
    } else {
        dropped = of->items[at];
        memmove(of->items + at, of->items + at + 1, (of->n_items - at - 1) * sizeof *of->items);
        --of->n_items;
    }
    unlock(of);
    item_leave(of, dropped);
    return status;
}
