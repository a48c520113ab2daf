/* A divided index: its entries are cut by key into parts, which lie in host memory. Every part is an ordinary
 * structure of the family, kept as its image (base/image/image.h). A part that is searched travels to the
 * device, or the CPU searches it where it lies. */
#ifndef KEYRAY_INDEX_KEPT_DIVIDED_H
#define KEYRAY_INDEX_KEPT_DIVIDED_H

#include "index/lookup/kept.h"
#include "index/partition/partition_marks.h"

enum { KEPT_PARTS_MOST = (1 << KR_PART_BITS_MOST) - 1, KEPT_ALIGNMENT = 256 };

/* Codes of keys of a part, which are all the same where it has one key. */
enum { KEPT_LOWEST, KEPT_SECOND, KEPT_LAST_BUT_ONE, KEPT_HIGHEST, KEPT_ENDS };

typedef struct kept_part {
    kr_field_list fields; /* of the image; its arrays lie in `memory` */
    kr_buffer memory;     /* of the device `host`; none where a mapped file has the arrays */
    uint64_t nbytes;      /* of all arrays on a device, each at a multiple of KEPT_ALIGNMENT */
    uint64_t first, n;    /* entries before it, and its own */
    uint64_t ends[KEPT_ENDS];
    uint32_t is_pinned;
    kr_index *on_host; /* the part where it lies, for the CPU */
} kept_part;

/* No two parts have the same key, and part p has the entries of all keys from its lowest to below the lowest
 * of part p + 1. Only the one part of an empty index is empty. */
typedef struct kr_divided {
    kr_device *device;           /* where parts travel to */
    kr_device *host;             /* a device "cpu" of its own, which has all host memory */
    const kr_family_ops *family; /* of the parts */
    kr_spec spec;
    uint32_t type;     /* kr_type of the keys */
    uint32_t key_bits; /* 32 or 64 */
    uint32_t n_parts;
    uint32_t threads; /* of the host */
    kept_part *parts;
    uint64_t n;              /* entries */
    uint64_t nbytes;         /* of all parts */
    uint64_t largest_nbytes; /* of one */
} kr_divided;

/* The type of codes: a value of it is its own code. */
static inline kr_type divided_code_type(const kr_divided *d)
{
    return d->key_bits == 64 ? KR_U64 : KR_U32;
}

static inline uint32_t divided_key_nbytes(const kr_divided *d)
{
    return d->key_bits / 8;
}

/* 2^bits is more than the number of parts. */
static inline uint32_t divided_part_bits(const kr_divided *d)
{
    uint32_t bits = 1;
    while (d->n_parts >> bits)
        ++bits;
    return bits;
}

/* An index with one part as its structure: of `device`, which is the index's own or its host. */
void divided_describe_part(const kr_divided *d, uint32_t part, kr_device *device, void *self,
                           kr_index *index);

/* A step of work on the host device that failed: of the same work for the device. */
void divided_fail_on_host(kr_work *work, kr_status status);

/* Of kr_family_ops: divide.c and saved.c have them. */
kr_status divided_estimate(const kr_shape *shape, kr_need *need, kr_error *err);
void divided_explain(const kr_shape *shape, char text[96]);
void divided_build(kr_work *work, const kr_build *build, void **self);
void divided_image(kr_image *image, const kr_image_of *of, void **self);
/* Fills a new structure but for its parts. */
void divided_open(kr_work *work, kr_divided *d, const kr_spec *spec, uint32_t type);
/* Of kr_kept_ops, which answer.c and list.c have. */
void divided_answer(kr_work *work, const kr_kept_answers *job);
void divided_list(kr_work *work, const kr_kept_lists *job);

#endif
