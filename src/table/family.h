/* The contract of scan kinds. A new kind needs a folder in table/families/ that defines one kr_kind with its
 * kr_scan_family, and a line in index/kinds/kinds.def.
 *
 * A kind answers conjunctions: the rows for which every leaf of a list holds, as a bitmap. The library does
 * the rest: the normal form, OR and what else one pass cannot do (table/run/run.c), counts, sums, row ids,
 * host memory, deleted rows, reports. A kind may answer whole plans, and many at once, in ways of its own.
 * Columns of a table have types of both key widths, so a family has one table of operations, and looks at the
 * type of each column. */
#ifndef KEYRAY_TABLE_FAMILY_H
#define KEYRAY_TABLE_FAMILY_H

#include "base/devices/work.h"
#include "index/kinds/family.h" /* kr_need, kr_component, kr_counter */
#include "table/condition/plan.h"
#include "table/log.h"

/* What an estimate knows: all but the values. */
typedef struct kr_table_shape {
    kr_device *device;
    const kr_spec *spec;
    uint64_t n_rows;
    uint32_t n_columns;
    const kr_column *columns; /* types, and whether there is validity */
} kr_table_shape;

/* The input of a build, in device memory. Columns stay valid until `destroy`, so a family may keep the
 * structs (not the array of them); names stay valid with their array. */
typedef struct kr_table_build {
    const kr_spec *spec;
    uint64_t n_rows;
    uint32_t n_columns;
    const kr_column *columns;
    const char *const *names; /* for errors, and for options that name columns */
} kr_table_build;

/* One conjunction to answer. */
typedef struct kr_select {
    const kr_leaf *const
        *leaves; /* n_leaves, at least 1; no two on one column, but for leaves with `other` */
    uint32_t n_leaves;
    const uint32_t *alive; /* NULL, or a bitmap in device memory: only these rows can be in the result */
    uint32_t *bitmap;      /* n_rows bits in device memory, none of them `alive`'s: all words are written, and
                              bits past n_rows become 0 */
    uint64_t *count; /* NULL; or, with kr_scan_ops.counts, in device memory: `bitmap` is then NULL, and the
                        number of rows is added to it */
} kr_select;

/* One plan of a batch. */
typedef struct kr_batch_job {
    const kr_plan *plan; /* at least one leaf */
    uint32_t *bitmap;    /* as in kr_select */
    uint64_t *count;     /* as in kr_select */
    uint32_t is_done;    /* set by select_batch */
} kr_batch_job;

/* What the selects of one call tell of their work, for a report. */
typedef struct kr_scan_notes {
    kr_scan_log *log; /* NULL: no report is asked for */
    /* NULL: nothing is counted; else KR_SCAN_WORKS counters in device memory, for programs to add to. What
     * the host knows goes into log->work. */
    uint64_t *counters;
} kr_scan_notes;

/* Rows appended to a table, at least one: rows n_rows_before and on of columns that are already as long as
 * afterwards. They may lie elsewhere than before, and have validity that they had not: these structs replace
 * those of the build. Columns of before stay valid until `append` returns. */
typedef struct kr_append_job {
    uint64_t n_rows_before, n_rows;
    const kr_column *columns;
} kr_append_job;

/* `self` is the family's own structure. Several threads may select at once: `self` does not change then. */
typedef struct kr_scan_ops {
    /* Upper bounds without the columns, as close as docs/memory-and-streams.md says. */
    kr_status (*estimate)(const kr_table_shape *shape, kr_need *need, kr_error *err);
    /* May wait for the stream; kr_work_lap(work, "encode") ends a phase. On failure *self is NULL, or what
     * the library then hands to `destroy`, after it has waited for the stream. */
    void (*build)(kr_work *work, const kr_table_build *build, void **self);
    /* Gives its memory back on the stream, after a wait for what used it. */
    void (*destroy)(kr_device *device, void *self, kr_stream *stream);
    /* Fills the array, returns how many; without the columns. */
    uint32_t (*components)(const void *self, kr_component components[KR_COMPONENTS_MOST]);
    /* Optional: fills the array, returns how many. */
    uint32_t (*counters)(const void *self, kr_counter counters[KR_COUNTERS_MOST]);
    /* Optional: what selects rely on so as to stay within their buffers, whatever these hold. Numbers and
     * sizes are as `image` lets them be. Reads no columns, since tables that are loaded are checked by it. As
     * `validate` otherwise. */
    void (*check)(kr_work *work, const void *self);
    /* Optional, called after `check` has found nothing: all else that holds of what was built.
     * KR_ERR_INVARIANT names the first invariant that is broken. Blocks. */
    void (*validate)(kr_work *work, const void *self);
    /* Optional, for kinds that cast rays: what casts them. */
    void (*tracer)(kr_device *device, char text[64]);
    /* A device that can run this program can run all of them; NULL: runs_on decides. */
    const kr_program *program;
    /* Optional: whether the device has what else this spec needs; KR_ERR_UNSUPPORTED says why not. */
    kr_status (*runs_on)(kr_device *device, const kr_spec *spec, kr_error *err);
    /* Enqueues; waits for nothing. All device memory that it takes is the work's. */
    void (*select)(kr_work *work, const void *self, const kr_select *job, const kr_scan_notes *notes);
    /* Optional: n plans, at least 1 and at most KR_SELECTS_MOST, all with the same `alive`; a plan alone has
     * an OR. Answers those for which it has a better way than one conjunction after the other, and marks
     * them: plans that share what they read, AND and OR in one pass. The library takes the others apart.
     * Enqueues. */
    void (*select_batch)(kr_work *work, const void *self, kr_batch_job *jobs, uint32_t n,
                         const uint32_t *alive, const kr_scan_notes *notes);
    /* Optional: appends how `select` would answer the conjunction, lines ending in '\n' (kr_leaf_text_add).
     */
    void (*explain)(const void *self, const kr_select *job, char *text, size_t nbytes);
    /* Optional: 1 if select_batch answers a plan with an OR, also alone; `text` then says how. */
    int (*explain_plan)(const void *self, const kr_plan *plan, char text[KR_SCAN_STEP_NBYTES]);
    /* Optional: without it, the library builds a new `self` of all rows and destroys the old one. On failure
     * `self` is as it was. No scan is under way; the library waits for the stream afterwards. */
    void (*append)(kr_work *work, void *self, const kr_append_job *job);
    /* Names what the kind keeps beside the columns, as kr_family_ops.image does. */
    void (*image)(kr_image *image, const kr_table_build *build, void **self);
    uint32_t compares_columns; /* 1: `select` takes leaves with `other` */
    uint32_t counts;           /* 1: `select` and `select_batch` count rows without a bitmap of them */
} kr_scan_ops;

enum { KR_SELECTS_MOST = 64 };

typedef struct kr_scan_family {
    const kr_scan_ops *ops;
    /* Optional: those of a spec, where an option decides what is built. */
    const kr_scan_ops *(*ops_of)(const kr_spec *spec);
} kr_scan_family;

/* Words of a bitmap of n rows. */
static inline uint64_t kr_scans_bitmap_words(uint64_t n)
{
    return (n + 31) / 32;
}

#endif
