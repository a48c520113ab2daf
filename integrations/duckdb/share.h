/* What the extension for version 2 of DuckDB's API (where/) uses of this one: it asks keyray_share() for the
 * address, so that both have the same tables and the library is in memory once. Both binaries come from one
 * build. */
#ifndef KEYRAY_DUCKDB_SHARE_H
#define KEYRAY_DUCKDB_SHARE_H

#include "registry.h"

#define SHARE_MAGIC UINT64_C(0x6B72736861726531) /* raised when what follows changes */

typedef struct share {
    uint64_t magic;
    char commit[64]; /* kr_build_commit of this library */
    registry *in;
    kr_status (*find)(registry *of, span name, item_kind kind, item **found, kr_error *err);
    void (*leave)(registry *of, item *left);
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
    kr_status (*device_query)(kr_device *device, kr_device_info *info, kr_error *err);
    kr_status (*memory_copy)(kr_device *device, void *to, const void *from, uint64_t nbytes,
                             kr_stream *stream, kr_error *err);
} share;

#endif
