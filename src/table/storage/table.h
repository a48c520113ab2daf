/* A table: columns on a device, and what a kind of scan built of them. */
#ifndef KEYRAY_TABLE_STORAGE_TABLE_H
#define KEYRAY_TABLE_STORAGE_TABLE_H

#include "base/devices/users.h"
#include "index/kinds/column.h"
#include "table/family.h"

typedef struct kr_table_dictionary kr_table_dictionary; /* table/storage/texts.h */

struct kr_table {
    kr_device *device;
    const kr_scan_ops *ops;
    kr_spec spec;
    void *self;
    kr_holders *self_holders; /* versions that have it; NULL: this table alone */
    uint64_t n_rows;
    uint32_t n_columns;
    kr_resident *residents; /* what of the columns is a copy */
    kr_column *columns;     /* in device memory */
    uint64_t room;          /* rows that all columns have memory for; 0: as the table was created */
    kr_buffer alive;        /* a bitmap, if rows were deleted; bits past the last row are 1 */
    uint64_t n_alive;
    char **names;
    kr_holders *names_holders; /* likewise; structures point to names */
    kr_table_options options;
    kr_table_dictionary *dictionaries; /* room for one for each column */
    uint32_t *dictionary_of;           /* of each column one more than which it has; 0: none */
    uint32_t n_dictionaries;
    kr_unit *units;   /* of the options, copied; or NULL */
    kr_phases phases; /* of the build or the last change */
    uint64_t version; /* raised by every change */
    kr_users users;   /* streams with scans of it, and with its build */
    kr_holders *life; /* prepared work holds it, too; NULL: nothing was ever prepared */
    kr_saved *saved;  /* the file that buffers borrow from, or NULL; held */
    kr_table_info info;
};

/* The operations of a spec of a kind of scans. */
static inline const kr_scan_ops *kr_table_ops(const kr_spec *spec)
{
    const kr_scan_family *family = spec->kind->scan;
    return family->ops_of ? family->ops_of(spec) : family->ops;
}

/* The first column with the name of column c: c, unless a name is given twice. */
uint32_t kr_table_first_named(const char *const *names, uint32_t c);

/* The checked arguments of kr_table_create. */
typedef struct kr_table_job {
    kr_device *device;
    const kr_spec *spec;
    const kr_column *columns;
    const kr_column *seen; /* as kinds see them: codes in the place of texts, without data */
    const char *const *names;
    uint32_t n_columns;
    kr_table_options options;
    const char *reason; /* why this spec; kr_table_choose sets it */
} kr_table_job;

/* KR_ERR_UNSUPPORTED says why the device cannot run the kind. */
kr_status kr_table_runs_on(const kr_scan_ops *ops, kr_device *device, const kr_spec *spec, kr_error *err);
void kr_table_make(kr_work *work, const kr_table_job *job, kr_table **table);
/* The columns are those of the job, their data not read. */
kr_status kr_table_need(const kr_table_job *job, kr_need *need, kr_error *err);

/* A version (version.c): a table beside an older one, with which it shares columns, bitmaps, dictionaries and
 * the structure. NULL after a failure. */
kr_table *kr_table_version_make(kr_work *work, const kr_table *table);
/* Before a structure changes in place: one that is shared becomes a copy. */
void kr_table_version_part(kr_work *work, kr_table *table);
/* Lets go of the structure, of names; the last version destroys them. */
void kr_table_version_leave(kr_table *table, kr_stream *stream);
void kr_table_version_leave_names(kr_table *table);

/* What a build gets. */
kr_table_build kr_table_build_of(const kr_table *table, const kr_column *columns, uint64_t n_rows);
/* Fills in what a call reports, and waits: scans need not. */
void kr_table_finish(kr_work *work, kr_table *table, const kr_stopwatch *watch, uint64_t peak_nbytes);
kr_plan_columns kr_table_plan_columns(const kr_table *table);
/* What scans rely on so as to stay within their buffers, whatever these hold, and that codes are those of
 * texts. Blocks, reads no other columns. */
void kr_table_check(kr_work *work, const kr_table *table);
/* That, and all else that holds of what was built. Blocks. */
void kr_table_validate_all(kr_work *work, const kr_table *table);

/* The columns, what belongs to them, and what the family has; returns how many. */
enum { KR_TABLE_COMPONENTS_MOST = KR_COMPONENTS_MOST + 4 };
uint64_t kr_table_nbytes(const kr_table *table);
uint32_t kr_table_components(const kr_table *table, kr_component components[KR_TABLE_COMPONENTS_MOST]);

/* "best" and the specs of scan kinds; KR_ERR_UNSUPPORTED for kinds of index. The job gets the spec and the
 * reason. */
kr_status kr_table_choose(kr_table_job *job, const char *text, kr_spec *spec, kr_error *err);

#endif
