/* The family contract: what one kind of index gives to the library. A new kind needs a folder that defines
 * one kr_kind with its kr_family, and a line in index/kinds/kinds.def; docs/adding-an-index.md walks through
 * it.
 *
 * A family answers a key or a range with a match (index/results/match.h) and says how the rows of a match are
 * read. The library does the rest: results, the order of probes, host memory, chunks and reports. */
#ifndef KEYRAY_INDEX_KINDS_FAMILY_H
#define KEYRAY_INDEX_KINDS_FAMILY_H

#include "base/devices/work.h"
#include "base/image/image.h"
#include "index/kinds/batch.h"
#include "index/kinds/kind.h"
#include "index/results/reduce.h"
#include "index/results/row_ids.h"

/* Bytes of an index: those kept, and those at the peak of its build, which include them. */
typedef struct kr_need {
    uint64_t footprint_nbytes, peak_nbytes;
} kr_need;

/* What estimate and explain know: all but the keys. */
typedef struct kr_shape {
    kr_device *device;
    const kr_spec *spec;
    uint64_t count; /* rows of the column */
    uint32_t type;  /* kr_type of the keys */
    uint32_t has_validity;
    uint32_t has_row_ids;
    uint64_t staged_nbytes; /* of keys, validity and row ids to copy to the device first */
} kr_shape;

/* One more than the largest row id: of indexed rows, and of those that were given, with those of NULL keys.
 */
typedef struct kr_row_ends {
    uint64_t indexed, given;
} kr_row_ends;

/* The input of a build, all in device memory. */
typedef struct kr_build {
    const kr_spec *spec;
    kr_column keys;
    const uint32_t *row_ids; /* or NULL: 0, 1, 2, ... */
    uint32_t *is_unique;     /* NULL, or 0, which becomes 1 if the build finds that no key is given twice */
    uint32_t used_bits; /* codes are below 2^used_bits, which spares passes of a sort; 0: nothing is known */
    uint32_t rows_ascend; /* 1: row ids of equal keys ascend, so that rows need no order of their own */
    kr_row_ends *ends;    /* what a divided index finds out about row ids that are given; NULL: nothing */
} kr_build;

/* One batch to locate. */
typedef struct kr_locate {
    kr_batch batch;
    kr_put put;
    uint64_t n;
    const kr_partition_view *partition; /* NULL: the probes are not partitioned */
} kr_locate;

/* One batch to add up, without matches. */
typedef struct kr_sum {
    kr_batch batch;
    uint64_t n;
    uint64_t *out;
    const uint32_t *order;   /* as in kr_put */
    uint64_t *work;          /* likewise */
    const kr_reduction *how; /* the reduction of matches to the same answers: of KR_REDUCE_SUM_ROWS or
                                KR_REDUCE_SUM_INTEGERS (reduce_addend) */
} kr_sum;

/* What a family knows beside the fields of an image. */
typedef struct kr_image_of {
    const kr_spec *spec;
    uint32_t type; /* kr_type of the keys */
} kr_image_of;

/* New keys of rows, all in device memory. At least one, and at most as many as there are rows. Row ids are as
 * the caller gave them: in any order, perhaps given twice, perhaps not indexed. */
typedef struct kr_set_keys {
    const uint32_t *row_ids;
    kr_column keys; /* no NULLs */
} kr_set_keys;

/* Rows to delete and to insert, all in device memory: first every row whose key is among delete_keys is
 * deleted, then the others are inserted. Either column may be empty; NULLs in it are skipped. */
typedef struct kr_update {
    kr_column delete_keys, insert_keys;
    const uint32_t *insert_rows; /* distinct, none is KR_NO_ROW; NULL: next_row, next_row + 1, ... */
    uint32_t next_row;
} kr_update;

enum { KR_COMPONENTS_MOST = 9, KR_COUNTERS_MOST = 8 };

/* One or several arrays of an index; its components sum to its footprint. */
typedef struct kr_component {
    const char *name;
    uint64_t nbytes;
} kr_component;

/* A number that describes the structure of an index. */
typedef struct kr_counter {
    const char *name;
    uint64_t value;
} kr_counter;

/* For families whose entries are in key order, or know their position in it. */
typedef struct kr_ordered_ops {
    /* Codes of the smallest and the largest key. */
    void (*key_range)(const void *self, uint64_t *lowest, uint64_t *highest);
    /* Optional: keys[p] := the code of the entry at position kr_batch_cut_at(n_rows, bits, p), for all p
     * below 2^bits; the library then partitions large batches by them. Enqueues. */
    void (*cuts)(kr_work *work, const void *self, uint32_t bits, void *keys);
} kr_ordered_ops;

/* The operations at one key width: array_ops_u32, array_ops_u64. `self` is the family's own structure. An
 * operation that takes a work does its steps in it (base/devices/work.h). What it takes there and neither
 * keeps nor gives back, the library gives back afterwards. */
typedef struct kr_family_ops {
    /* Not of families: how a divided index answers, which has no locate (index/lookup/kept.h). Its build gets
     * the caller's columns, wherever they lie. */
    const struct kr_kept_ops *kept;
    /* Only then: the row ids of all parts, which are as many as n_rows says, and distinct if that is asked.
     */
    kr_rows_summary (*check_rows)(kr_work *work, const void *self, int distinct);
    /* Upper bounds, as close as docs/memory-and-streams.md says, without the staging of host columns. */
    kr_status (*estimate)(const kr_shape *shape, kr_need *need, kr_error *err);
    /* May wait for the stream. On failure *self is NULL, or what the library then hands to `destroy`, after
     * it has waited for the stream. */
    void (*build)(kr_work *work, const kr_build *build, void **self);
    /* Gives its memory back on the stream, after a wait for what used it. */
    void (*destroy)(kr_device *device, void *self, kr_stream *stream);
    /* Enqueues; waits for nothing. */
    void (*locate)(kr_work *work, const void *self, const kr_locate *job);
    /* Optional, both or neither: the index adds up the rows of probes itself, SUM_ROWS and SUM of integers,
     * as some papers do. `sums`: 1 where it does so. `sum` enqueues and waits for nothing. Not where batches
     * may be partitioned: in families with cuts, even_bits or a hash_seed, only for specs that say how
     * lookups are launched (kr_probe_policy) and refuse probes=partitioned. */
    int (*sums)(const void *self, int is_range);
    void (*sum)(kr_work *work, const void *self, const kr_sum *job);
    /* How many rows there are, and how those of a match are read. */
    kr_rows (*rows)(const void *self);
    const kr_ordered_ops *ordered; /* NULL: entries have no order, so there are no ranges */
    /* Optional, for families without an order: the seed of kr_code_hash (base/key/hash.h). The library may
     * partition large batches by the top bits of that hash. */
    uint64_t (*hash_seed)(const void *self);
    uint32_t (*components)(const void *self, kr_component components[KR_COMPONENTS_MOST]);
    /* Optional: KR_ERR_INVARIANT names the first invariant that is broken. Returns 1 if no key is given
     * twice, which the library compares with what the build found. It also checks that there are n_rows row
     * ids, all distinct. Blocks. */
    int (*validate)(kr_work *work, const void *self);
    /* Dependent memory accesses of one probe. */
    double (*touches)(const kr_shape *shape);
    /* Optional, for kinds that cast rays: rays of one probe, and what casts them. */
    double (*rays)(const kr_shape *shape);
    void (*tracer)(kr_device *device, char text[64]);
    /* A device that can run this program can run all of them; NULL: runs_on decides. */
    const kr_program *program;
    /* Optional: whether the device has what else this spec needs; KR_ERR_UNSUPPORTED says why not. */
    kr_status (*runs_on)(kr_device *device, const kr_spec *spec, kr_error *err);
    /* Optional (KR_CAN_SET_KEYS): afterwards everything is as if the index had been built from the changed
     * column. On failure the index is as it was. Blocks; no lookup is under way. KR_ERR_ARGUMENT for a row id
     * that is not indexed or given twice. */
    void (*set_keys)(kr_work *work, void *self, const kr_set_keys *job);
    /* Of KR_CAN_UPDATE one of two.
     *
     * `next`, for families that write all entries anew: *made becomes what an update leaves, beside `self`,
     * which is as it was; lookups may read it meanwhile. NULL if nothing changes. On failure as `build`.
     *
     * `update` changes `self` in place. On failure the index is as it was. No lookup is under way.
     * KR_ERR_UNSUPPORTED where this spec does not allow it. A version is then a copy that is updated.
     *
     * The library waits for the stream afterwards. */
    void (*next)(kr_work *work, const void *self, const kr_update *job, void **made);
    void (*update)(kr_work *work, void *self, const kr_update *job);
    /* Optional: fills the array, returns how many. */
    uint32_t (*counters)(const void *self, kr_counter counters[KR_COUNTERS_MOST]);
    /* Names what the index keeps (base/image/image.h). After loading, *self is as after a build, also after a
     * failure. What it does not keep, scenes, it builds again, with a lap named as in a build. */
    void (*image)(kr_image *image, const kr_image_of *of, void **self);
} kr_family_ops;

/* A GPU partitions batches of at least 2^probes_bits probes if the index has at least 2^rows_bits rows. */
typedef struct kr_parts_from {
    uint8_t rows_bits, probes_bits;
} kr_parts_from;

/* What probes=auto does with a batch. */
typedef struct kr_probe_policy {
    /* When a GPU partitions a batch: parts_from[0] for keys of up to 32 bits, parts_from[1] for wider ones.
     * Each is a list by rising rows_bits, and the last entry whose rows the index has decides. A list without
     * entries: never, as for families that cannot. Measured: docs/performance.md, "Order of the probes". */
    kr_parts_from parts_from[2][4];
    uint32_t parts_from_mib; /* and if the index takes as many MiB: a smaller one stays in a GPU's cache */
    uint32_t sorts_whole;  /* 1: where sorting pays, by up to 32 of the bits that keys differ in; 0: by 16 */
    uint32_t as_is_on_cpu; /* 1: a CPU searches batches as they are */
    /* Optional, in place of cuts, for ordered families whose entries lie where their values are: a batch is
     * parted by 2^bits even parts of the range of keys, where an index has so many rows and bytes. */
    uint32_t (*even_bits)(uint64_t rows, uint64_t footprint_nbytes);
    /* Optional: 1 where options say how a GPU launches lookups, so that batches stay as they are. */
    int (*launches)(const kr_spec *spec);
} kr_probe_policy;

typedef struct kr_family {
    kr_probe_policy probes;
    const kr_family_ops *u32, *u64;
    /* Optional, for kinds with option keep: 1 where the spec says keep=host. */
    int (*keeps_on_host)(const kr_spec *spec);
    /* Optional: KR_ERR_UNSUPPORTED for a type of keys that the kind cannot hold. Asked before anything else:
     * builds and estimates may see codes only, of KR_U32 or KR_U64. */
    kr_status (*takes)(uint32_t type, kr_error *err);
} kr_family;

/* The row of an option table by which entries may lie in host memory (index/kept). */
enum { KR_KEEP_DEVICE, KR_KEEP_HOST };
#define KR_KEEP_OPTION                                                                                      \
    {                                                                                                       \
        "keep", KR_OPTION_CHOICE, "device|host", 0, 1, KR_KEEP_DEVICE,                                      \
            "where entries lie: in the memory of the device, or in host memory, in parts that travel to a " \
            "GPU when "                                                                                     \
            "probes fall into them, so that an index may be larger than the GPU's memory"                   \
    }

static inline const kr_family_ops *kr_family_ops_of(const kr_family *family, uint32_t type)
{
    return kr_type_key_bits(type) == 64 ? family->u64 : family->u32;
}

/* The operations of a divided index, whatever the kind of its parts (index/kept). */
extern const kr_family_ops kr_divided_ops;

/* What casts the rays of a kind, "none" for kinds that cast none. */
void kr_family_tracer(const kr_family_ops *ops, kr_device *device, char text[64]);

#endif
