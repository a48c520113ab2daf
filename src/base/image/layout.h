/* The format of saved files (docs/format.md): where fields are, and what head and directory hold.
 *
 *     head, 64 bytes | arrays, each at a multiple of 4096, gaps are 0 | directory, likewise
 *
 * The head comes first and names the place of the directory, whose size is known before a byte is written.
 * The directory comes last, since it has the checksums of all that is before it. */
#ifndef KEYRAY_BASE_IMAGE_LAYOUT_H
#define KEYRAY_BASE_IMAGE_LAYOUT_H

#include "base/util/error.h"

enum {
    KR_SAVED_FORMAT = 1, /* raised when files of before cannot be read */
    KR_SAVED_HEAD_NBYTES = 64,
    KR_SAVED_ALIGNMENT = 4096,
    KR_SAVED_BLOCK_NBYTES = 1 << 20, /* what a checksum is of; the last block of an array may be shorter */
    KR_FIELD_NAME_NBYTES = 96
};

typedef enum kr_field_kind { KR_FIELD_NUMBER = 1, KR_FIELD_TEXT, KR_FIELD_ARRAY } kr_field_kind;

/* What a walk names (base/image/image.h). */
typedef struct kr_field {
    uint32_t kind;
    uint32_t on_device;              /* of a walk that saves: data is device memory */
    char name[KR_FIELD_NAME_NBYTES]; /* with its scopes: "sorted.keys" */
    uint64_t value;                  /* NUMBER: itself; TEXT, ARRAY: how many bytes */
    const void *data;                /* TEXT, with a NUL behind it; ARRAY of a walk that saves */
    struct kr_buffer *shared;        /* ARRAY of a walk that saves: what a copy may share; or NULL */
    uint64_t offset;                 /* ARRAY: in the file */
    uint32_t *sums;                  /* ARRAY: CRC-32C of its blocks */
} kr_field;

typedef struct kr_field_list {
    kr_field *fields;
    uint32_t n, room;
    uint32_t *sums; /* of all arrays; NULL: not laid out, or they lie elsewhere */
} kr_field_list;

/* A new field at the end, zeroed but for its kind and name. NULL after a failure. */
kr_field *kr_field_add(kr_field_list *list, kr_field_kind kind, const char *name, kr_error *err);
void kr_field_list_release(kr_field_list *list);

static inline uint64_t kr_field_blocks(const kr_field *field)
{
    return field->value / KR_SAVED_BLOCK_NBYTES + (field->value % KR_SAVED_BLOCK_NBYTES != 0);
}
static inline uint64_t kr_saved_align(uint64_t offset)
{
    return (offset + KR_SAVED_ALIGNMENT - 1) & ~(uint64_t)(KR_SAVED_ALIGNMENT - 1);
}

/* Where all is in a file. */
typedef struct kr_saved_layout {
    uint64_t nbytes; /* of the file */
    uint64_t directory_offset, directory_nbytes;
} kr_saved_layout;

/* Gives each array its offset and room for its sums. */
kr_status kr_saved_lay_out(kr_field_list *list, kr_saved_layout *layout, kr_error *err);
void kr_saved_write_head(const kr_saved_layout *layout, unsigned char head[KR_SAVED_HEAD_NBYTES]);
/* layout->directory_nbytes bytes. All sums are there. */
void kr_saved_write_directory(const kr_field_list *list, const kr_saved_layout *layout,
                              unsigned char *directory);

/* `name` is that of the file, for errors; nbytes are those that it has. KR_ERR_FORMAT. */
kr_status kr_saved_read_head(const char *name, const unsigned char head[KR_SAVED_HEAD_NBYTES],
                             uint64_t nbytes, kr_saved_layout *layout, kr_error *err);
/* The list points into the directory, which is aligned to 8 bytes. All offsets are in the file. */
kr_status kr_saved_read_directory(const char *name, const kr_saved_layout *layout,
                                  const unsigned char *directory, kr_field_list *list, kr_error *err);

#endif
