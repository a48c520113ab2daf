/* What the extension for version 2 of DuckDB's API (where/) uses of this one, so that both have the same
 * tables and the library is in memory once. Both binaries come from one build.
 *
 * That API has no query for a function of an extension, only casts: casting any text to the type keyray_share
 * gives the address of a share. This header needs no header of DuckDB, as one of either version would keep
 * the other out. */
#ifndef KEYRAY_DUCKDB_SHARE_H
#define KEYRAY_DUCKDB_SHARE_H

#include <keyray/keyray.h>

#define SHARE_MAGIC UINT64_C(0x6B72736861726532) /* raised when what follows changes */
#define SHARE_TYPE "keyray_share"

struct registry;
struct item;

/* A table that is held: it stays until table_leave, also when its name is dropped. */
typedef struct shared_table {
    const struct item *item;
    kr_table *table;
    kr_device *device;
    int is_cpu; /* values of columns are in host memory */
    uint32_t n_columns;
    const int64_t *rows; /* what SQL calls the row of each row id; NULL: the row id */
} shared_table;

typedef struct shared_column {
    const char *name; /* as conditions call it */
    const char *sql;  /* its type in SQL, a static text */
    kr_type type;     /* texts: KR_LARGE_STRING or KR_LARGE_BINARY, whatever the table keeps */
    kr_unit unit;
} shared_column;

typedef struct share {
    uint64_t magic;
    size_t struct_size;
    struct registry *in;
    /* The table of a name; KR_ERR_ARGUMENT lists the names that there are. */
    kr_status (*table_find)(struct registry *of, const char *name, size_t nbytes, shared_table *found,
                            kr_error *err);
    void (*table_leave)(struct registry *of, shared_table *left);
    kr_status (*table_describe)(const shared_table *of, uint32_t column, shared_column *described,
                                kr_error *err);
    /* As the library's calls of these names. */
    kr_status (*condition_compare)(const char *column, kr_compare compare, const kr_column *values,
                                   kr_condition **condition, kr_error *err);
    kr_status (*condition_compare_columns)(const char *left, kr_compare compare, const char *right,
                                           kr_condition **condition, kr_error *err);
    kr_status (*condition_and)(const kr_condition *const *conditions, uint32_t n, kr_condition **condition,
                               kr_error *err);
    kr_status (*condition_or)(const kr_condition *const *conditions, uint32_t n, kr_condition **condition,
                              kr_error *err);
    kr_status (*condition_not)(const kr_condition *negated, kr_condition **condition, kr_error *err);
    void (*condition_destroy)(kr_condition *condition);
    kr_status (*scan)(kr_table *table, const kr_condition *const *conditions,
                      const kr_scan_sink *const *sinks, uint32_t n, const kr_scan_options *options,
                      kr_stream *stream, kr_error *err);
    kr_status (*scan_explain)(const kr_table *table, const kr_condition *condition, char *text,
                              size_t text_nbytes, kr_error *err);
    kr_status (*table_query)(const kr_table *table, kr_table_info *info, kr_error *err);
    kr_status (*table_column)(const kr_table *table, uint32_t column, const char **name, kr_unit *unit,
                              kr_column *values, kr_error *err);
    const kr_texts *(*table_texts)(const kr_table *table, uint32_t column);
    kr_status (*texts_decode)(const kr_texts *texts, const uint32_t *codes, uint64_t n_codes,
                              int64_t *offsets, void *bytes, uint64_t capacity_nbytes, kr_stream *stream,
                              kr_error *err);
    uint32_t (*type_nbytes)(kr_type type);
    kr_status (*memory_copy)(kr_device *device, void *to, const void *from, uint64_t nbytes,
                             kr_stream *stream, kr_error *err);
} share;

#endif
