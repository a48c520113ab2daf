/* The indexes and tables of one database, by name, and the devices that they are on. */
#ifndef KEYRAY_DUCKDB_REGISTRY_H
#define KEYRAY_DUCKDB_REGISTRY_H

#include "columns.h"

#include <pthread.h>

/* A device, shared by the registry and by what was made on it. */
typedef struct shared_device {
    kr_device *device;
    uint64_t n_uses; /* guarded by the registry's mutex */
} shared_device;

/* What rows are, whatever their order: their number, NULLs counted, and sums of hashes of (key, row). */
typedef struct contents {
    uint64_t n, sums[2];
} contents;

typedef enum item_kind { ITEM_INDEX = 1, ITEM_TABLE } item_kind;

/* A named index or table. It never changes: a name can be dropped and given again. */
typedef struct item {
    char *name, *source;
    item_kind kind;
    kr_index *index;
    kr_table *table;
    shared_device *on;
    column_type *columns; /* of keys, or of the table */
    uint32_t n_columns;
    int is_struct; /* of an index: keys are structs, also of one field */
    int64_t *rows; /* what SQL calls the row of each row id; NULL: the row id */
    uint64_t n_rows;
    column values;   /* of an index: a value for each row id, for sums; type 0: there are none */
    contents holds;  /* what it was made of; of a file that another program wrote: no rows */
    uint64_t n_uses; /* guarded by the registry's mutex */
} item;

enum { CONNECTIONS = 4 };

typedef struct registry {
    pthread_mutex_t mutex;
    /* They see what is committed. Each runs one query at a time, so that a view may join by keyray, too. */
    duckdb_connection connections[CONNECTIONS];
    int is_busy[CONNECTIONS], is_closed;
    pthread_cond_t connection_is_free;
    item **items;
    uint32_t n_items, items_room;
    shared_device *one,
        *all; /* of lookups, whose threads are DuckDB's; of whole columns. NULL: not yet open */
    char device_name[16];
    uint64_t memory_limit; /* bytes; 0: DuckDB's own on a CPU, none on a GPU */
    uint64_t n_uses;       /* functions that have it */
    struct share *shared;  /* share.h; NULL: nobody has asked for it */
} registry;

/* One for each database. NULL: no memory, or no connection. */
registry *registry_create(duckdb_database database);
/* Drops all names and lets go of the database. Queries of the registry are refused from then on. */
void registry_close(registry *closed);
/* One user more, or fewer; the last one releases all. */
registry *registry_hold(registry *held);
void registry_release(void *released);

/* The device of lookups (`whole` 0) or of whole columns. Opens it when it is first asked for. */
kr_status registry_device(registry *of, int whole, shared_device **device, kr_error *err);
void registry_leave_device(registry *of, shared_device *left);
/* What is made later is on this device. A name that cannot be opened changes nothing. */
kr_status registry_set_device(registry *of, const char *name, uint64_t memory_limit, kr_error *err);

/* An item without a name, which item_free takes, or registry_add. */
item *item_create(item_kind kind);
void item_free(registry *of, item *freed);
/* KR_ERR_ARGUMENT if there is one of that name, unless it shall be replaced. Takes the item if it succeeds.
 */
kr_status registry_add(registry *to, item *added, int replace, kr_error *err);
int registry_has(registry *of, span name);
/* Takes a hold on the item of a name: item_leave ends it. The error lists the names that there are. */
kr_status registry_find(registry *of, span name, item_kind kind, item **found, kr_error *err);
item *item_hold(registry *of, item *held);
void item_leave(registry *of, item *left);
/* KR_ERR_ARGUMENT: there is none. Whoever uses it goes on. */
kr_status registry_drop(registry *of, span name, kr_error *err);

/* The row, as SQL knows it, of a row id. */
static inline int64_t item_row(const item *of, uint32_t row)
{
    return of->rows ? of->rows[row] : row;
}

/* Runs a query on a connection of the registry. The result is the caller's, also after an error. */
kr_status registry_query(registry *of, const char *sql, duckdb_result *result, kr_error *err);
/* The value of a setting of DuckDB as a text that the caller frees; NULL: it has none. */
char *registry_setting(registry *of, const char *name);
/* The bytes of "12.5 GiB"; 0: it is no such text. */
uint64_t registry_bytes(const char *value);
/* KR_ERR_UNSUPPORTED if DuckDB's setting enable_external_access is off. */
kr_status registry_may_use_files(registry *of, kr_error *err);

#endif
