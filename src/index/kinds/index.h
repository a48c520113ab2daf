/* An index: a family's structure on a device, and what the library knows about it. */
#ifndef KEYRAY_INDEX_KINDS_INDEX_H
#define KEYRAY_INDEX_KINDS_INDEX_H

#include "base/devices/users.h"
#include "index/kinds/column.h"
#include "index/kinds/composite.h"
#include "index/kinds/family.h"

struct kr_texts;

struct kr_index {
    kr_device *device;
    const kr_family_ops *ops;
    kr_spec spec;
    void *self;
    uint32_t is_lent;          /* 1: `self` is that of an older version, not changed and not destroyed here */
    void *ready;               /* event after the build; NULL on host devices */
    _Atomic uint32_t is_ready; /* 1: the event has passed, so that nobody need wait for it */
    uint64_t version;          /* raised by every change */
    kr_users users;            /* streams with lookups in it, and with its build */
    kr_holders *life;          /* prepared work holds it, too; NULL: nothing was ever prepared */
    uint64_t row_limit;        /* row ids are below it */
    uint64_t dictionary;       /* of the keys, see kr_column */
    uint32_t key_bits;         /* low bits in which keys of the index differ */
    uint32_t is_unique;        /* 1: no two rows have the same key; 0: perhaps, always so after a change */
    kr_composite *composite;   /* of several columns, whose keys the structure has; NULL: of one */
    struct kr_texts *texts;    /* whose codes the keys are, so that calls take texts; NULL: none */
    kr_type text_type;         /* of these, as kr_index_query tells; 0: none */
    struct kr_saved *mapped;   /* the file whose mapped memory its arrays are; NULL: it has its own */
    kr_phases phases;          /* of the build or the last change */
    kr_index_info info;
};

/* What an index does with its dictionary, which is made of indexes itself (index/texts). */
typedef struct kr_index_texts_ops {
    struct kr_texts *(*share)(const struct kr_texts *texts); /* one more that releases it */
    void (*release)(struct kr_texts *texts, kr_stream *stream);
    uint64_t (*nbytes)(const struct kr_texts *texts);
    uint64_t (*id)(const struct kr_texts *texts);
    void (*verify)(kr_work *work, const struct kr_texts *texts);
    /* KR_ERR_INVARIANT if keys of an index, which is whole, are no codes of its dictionary. Blocks. */
    void (*check_keys)(kr_work *work, const kr_index *index);
    void (*image)(kr_image *image, struct kr_texts **texts);
} kr_index_texts_ops;
extern const kr_index_texts_ops kr_index_texts_do;

/* The dictionary of a column, in a file: whether there is one, and its texts if it is the index's own, which
 * a text_type says. LOAD: sets *texts and, of own ones, *dictionary. */
void kr_index_image_texts(kr_image *image, uint32_t type, uint64_t *dictionary, kr_type text_type,
                          struct kr_texts **texts);

/* 1: entries of such an index are kept in host memory that the device does not reach, in parts (index/kept).
 */
int kr_index_divides(const kr_device *device, const kr_spec *spec);
/* The operations of an index of this spec there: its family's, or those of a divided index. */
const kr_family_ops *kr_index_ops(const kr_device *device, const kr_spec *spec, uint32_t type);

/* kr_index_create with checked arguments. */
kr_status kr_index_make(kr_device *device, const kr_spec *spec, const kr_column *keys,
                        const uint32_t *row_ids, kr_stream *stream, kr_index **index, kr_error *err);

/* The same where `text`, which kr_choose has made `spec` of, may stand for another kind if the keys suit it.
 * `lookups`: as of kr_choose_seen. */
kr_status kr_index_make_best(kr_device *device, const char *text, uint64_t lookups, const kr_spec *spec,
                             const kr_column *keys, const uint32_t *row_ids, kr_stream *stream,
                             kr_index **index, kr_error *err);

/* The same for keys of u32 or u64 that are all below 2^used_bits. */
kr_status kr_index_make_narrow(kr_device *device, const kr_spec *spec, const kr_column *keys,
                               const uint32_t *row_ids, uint32_t used_bits, kr_stream *stream,
                               kr_index **index, kr_error *err);
/* kr_index_create_columns with checked arguments (index_columns.c). */
kr_status kr_index_make_columns(kr_device *device, const kr_spec *spec, const kr_column *columns, uint32_t n,
                                const uint32_t *row_ids, kr_stream *stream, kr_index **index, kr_error *err);

/* kr_index_pieces and kr_index_load with checked arguments (saved.c). */
kr_status kr_index_make_pieces(const kr_index *index, const kr_save_options *options, kr_pieces **pieces,
                               kr_error *err);
kr_status kr_index_make_loaded(kr_device *device, const kr_saved *saved, kr_stream *stream, kr_index **index,
                               kr_error *err);
/* Before a change: memory of a mapped file is copied, and the file let go. */
void kr_index_own(kr_work *work, kr_index *index);

/* kr_index_destroy, for a call that counts its memory on that stream. */
void kr_index_release(kr_index *index, kr_stream *stream);

/* kr_index_set_keys with checked arguments and at least one key. Blocks. */
kr_status kr_index_set_keys_apply(kr_index *index, const uint32_t *row_ids, const kr_column *keys,
                                  kr_stream *stream, kr_error *err);

/* kr_index_update with checked arguments; next_row of `wanted` is not read. Blocks. */
kr_status kr_index_update_apply(kr_index *index, const kr_update *wanted, kr_stream *stream, kr_error *err);

/* A version that is being made (version.c): an index beside an older one, whose structure it is lent until it
 * has one of its own. A change of it is that of any index, through `work.stream`. The end is due in any
 * case: it fails with `status` or gives a whole index to *next. Blocks. */
typedef struct kr_index_version {
    kr_work work;
    kr_peak peak;
    kr_index *made; /* NULL after a failure */
} kr_index_version;
void kr_index_version_begin(const kr_index *index, kr_stream *stream, kr_index_version *version,
                            kr_error *err);
kr_status kr_index_version_end(kr_index_version *version, kr_index **next);
/* Before a structure is changed in place: one that is lent becomes a copy. */
void kr_index_version_copy(kr_work *work, kr_index *index);

/* The same of an index over several columns: keys of `wanted` are not read. NULL: none are inserted, or
 * deleted. */
kr_status kr_index_update_columns_apply(kr_index *index, const kr_column *inserted, const kr_column *deleted,
                                        const kr_update *wanted, kr_stream *stream, kr_error *err);

/* kr_index_validate with checked arguments. Blocks. */
kr_status kr_index_check(const kr_index *index, kr_error *err);

/* Before work that reads the index is enqueued on `stream`: makes it wait for the build, and lets changes of
 * the index, and its end, wait for it. */
kr_status kr_index_await(const kr_index *index, kr_stream *stream, kr_error *err);
/* Waits until the index is built, so that no stream need. */
kr_status kr_index_await_here(const kr_index *index, kr_error *err);

/* ---- Steps that builds, changes and loading share ------------------------------------------------- */

/* KR_ERR_UNSUPPORTED if the device cannot run the spec. */
kr_status kr_index_runs_on(const kr_family_ops *ops, kr_device *device, const kr_spec *spec, kr_error *err);
/* What the family's validate checks, and that keys are as distinct as the index says. Blocks. */
void kr_index_check_family(kr_work *work, const kr_index *index);
/* After a failure for lack of device memory: its text names keep=host where that helps. Never by itself. */
void kr_index_name_keep(const kr_index *index, kr_error *err);
/* What work was enqueued is part of the index: later calls wait for it. */
void kr_index_record_ready(kr_work *work, kr_index *index);
/* All that the footprint counts, at most KR_COMPONENTS_MOST; returns how many. */
uint32_t kr_index_components(const kr_index *index, kr_component *all);
/* After a build, a change or loading. */
void kr_index_fill_info(kr_index *index, kr_type type, const kr_stopwatch *watch, uint64_t peak_nbytes);

/* What keys are to callers. */
static inline kr_type kr_index_type(const kr_index *index)
{
    return index->text_type ? index->text_type : index->info.type;
}

/* A shape for estimates; fails with more rows than an index holds. row_ids: NULL, or the caller's. */
kr_status kr_index_shape_make(kr_device *device, const kr_spec *spec, const kr_column *column,
                              const uint32_t *row_ids, kr_shape *shape, kr_error *err);

#endif
