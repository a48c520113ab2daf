/**
 * Columns of Arrow's C data interface as kr_column: what polars hands to an expression plugin. The structs of
 * Arrow and of polars' plugins (version 0.1) are declared here, field by field as both publish them.
 */
#ifndef KEYRAY_PLUGIN_ARROW_H
#define KEYRAY_PLUGIN_ARROW_H

#include <keyray/common.h>
#include <stdbool.h>

typedef struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
} ArrowSchema;

typedef struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
} ArrowArray;

/** A column in polars' plugin interface. `release` frees the schema and the structs, not what arrays own. */
typedef struct SeriesExport {
    ArrowSchema *field;
    ArrowArray **arrays; /**< one for each chunk */
    size_t len;
    void (*release)(struct SeriesExport *);
    void *private_data; /**< NULL in a result: the call failed */
} SeriesExport;

enum { COLUMNS_MAX = 8, SCRATCH_MAX = 3 * COLUMNS_MAX + 1 };

/** Type and unit of a column of an index. */
typedef struct column_type {
    uint32_t type; /**< a kr_type */
    uint32_t unit; /**< a kr_unit */
} column_type;

/** Memory that columns need beside that of polars, freed after the call. */
typedef struct scratch {
    void *blocks[SCRATCH_MAX];
    uint32_t n;
} scratch;

/** Zeroed memory, freed by scratch_free; NULL: none was there. */
void *scratch_take(scratch *s, size_t nbytes);
void scratch_free(scratch *s);

/** The error of this thread's last call that failed. */
char *arrow_error(void);
/** Writes the error as printf does. Returns false. */
bool arrow_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * Makes *column of a chunk: `from` says where in `array` the rows are. Integers of another type than the
 * index are converted by value; where `exact`, one outside of its type is an error, else it is NULL, as it
 * equals no key. False: arrow_error says why.
 */
bool arrow_column(const ArrowSchema *field, const ArrowArray *array, int64_t from, uint64_t count,
                  const column_type *want, bool exact, scratch *s, kr_column *column);
/** Rows of *column are NULL where those of a struct are, too. */
bool arrow_within(const ArrowArray *parent, uint64_t count, scratch *s, kr_column *column);

#endif
