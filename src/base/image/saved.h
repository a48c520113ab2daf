/* A saved file that is open: mapped, or in memory of the caller's. Its arrays are read and checked by threads
 * in the same pass; on devices that are the host, those of a mapped file are used where they are.
 *
 * The mapping lives as long as the file is open or an index or a table borrows from it. */
#ifndef KEYRAY_BASE_IMAGE_SAVED_H
#define KEYRAY_BASE_IMAGE_SAVED_H

#include "base/image/image.h"

enum { KR_SAVED_NAME_NBYTES = 200 };

struct kr_saved {
    kr_image_source source; /* what a walk loads from: fields behind those of kr_saved_begin_walk, too */
    _Atomic uint32_t users;
    uint32_t verifies; /* 1: checksums are compared; 0: the file is trusted */
    uint32_t is_mapped;
    int fd;                    /* of the mapped file until it is closed, else -1 */
    const unsigned char *base; /* all bytes */
    kr_saved_layout layout;
    kr_field_list list;
    unsigned char *directory; /* what the list points into */
    kr_progress progress;
    uint64_t *dictionaries; /* of columns of texts, as given */
    uint32_t n_dictionaries;
    uint32_t n_attachments;          /* the last fields */
    char name[KR_SAVED_NAME_NBYTES]; /* for errors */
};

/* kr_saved_open and kr_saved_open_memory, with options that were checked. */
kr_status kr_saved_open_path(const char *path, const kr_saved_options *options, kr_saved **saved,
                             kr_error *err);
kr_status kr_saved_open_bytes(const void *data, uint64_t nbytes, const kr_saved_options *options,
                              kr_saved **saved, kr_error *err);

/* One more user, which it returns, and one less; the last lets the mapping go. */
kr_saved *kr_saved_hold(const kr_saved *saved);
void kr_saved_release(kr_saved *saved);

/* NULL: there is none of that kind and name, which is "column 3.type" for `scope` "column 3." */
const kr_field *kr_saved_find(const kr_saved *saved, kr_field_kind kind, const char *scope, const char *name);
/* The number of that name; KR_ERR_FORMAT if it is not there or is not in least .. most. */
kr_status kr_saved_find_number(const kr_saved *saved, const char *name, uint64_t least, uint64_t most,
                               uint64_t *value, kr_error *err);

/* The dictionary of column i, which has texts or not; KR_ERR_ARGUMENT if the options did not say. */
kr_status kr_saved_dictionary(const kr_saved *saved, uint32_t i, int has_texts, uint64_t *dictionary,
                              kr_error *err);

/* ---- The first and the last fields of every file ----------------------------------------------- */

/* What is saved, the library's version and the spec come first: a walk of an index or a table begins with
 * them. LOAD: fails if the file holds something else than `what`. */
void kr_saved_begin_walk(kr_image *image, kr_saved_what what, const char *spec);
/* SAVE: attachments come last; `options` may be NULL. LOAD: fails if there are other fields left. */
void kr_saved_end_walk(kr_image *image, const kr_save_options *options);

kr_saved_what kr_saved_what_of(const kr_saved *saved);
const char *kr_saved_version_of(const kr_saved *saved);
const char *kr_saved_spec_of(const kr_saved *saved);
/* Attachment i: its name in the field has KR_SAVED_ATTACHMENT in front. */
const kr_field *kr_saved_attachment_at(const kr_saved *saved, uint32_t i);
#define KR_SAVED_ATTACHMENT "attachment."

/* ---- Reading (read.c) --------------------------------------------------------------------------- */

/* Compares the checksums of n bytes of an array, from `first` on, and copies them to host memory at `to`
 * unless that is NULL. `first` begins a block, and n ends one or the array. */
typedef struct kr_saved_range {
    const kr_field *field;
    uint64_t first, n;
    unsigned char *to;
    uint32_t threads; /* 0: one for each core */
    uint32_t verifies;
} kr_saved_range;
kr_status kr_saved_read(const kr_saved *saved, const kr_saved_range *range, kr_error *err);
/* Checksums of all arrays, and that gaps are 0. */
kr_status kr_saved_verify(const kr_saved *saved, kr_error *err);
/* That gaps are 0. */
kr_status kr_saved_verify_gaps(const kr_saved *saved, kr_error *err);
/* Of kr_image_source. */
void kr_saved_fill(kr_image *image, const kr_field *field, kr_buffer *buffer);
void kr_saved_copy(kr_image *image, const kr_field *field, void *to);

#endif
