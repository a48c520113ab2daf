/* Images: what an index or a table keeps, named field by field, so that it can be saved and loaded.
 *
 * A structure is walked by one function, whatever the task: saving notes each field, loading fills it, owning
 * gives mapped memory a copy. The walk names fields in the same order each time; what it makes of them
 * (views, programs, scenes) it makes at its end, when it loads or owns:
 *
 *     static void image(kr_image *image, const kr_image_of *of, void **self)
 *     {
 *         tree *t = kr_image_object(image, self, sizeof *t);
 *         if (!t)
 *             return;
 *         kr_image_u32(image, "n", &t->n, 0, KR_NO_ROW - 1);
 *         kr_image_buffer(image, "keys", &t->keys, t->n * sizeof(kr_key));
 *         if (kr_image_binds(image))
 *             open_views(t);
 *     }
 *
 * Saving is a reader beside lookups, so it writes nothing: what a walk derives is for kr_image_binds.
 *
 * A file may hold anything. So a number has bounds, a buffer has the size that numbers before it say, and
 * what the contents of buffers must be for searches not to leave them, the structure's validate checks. A
 * failure is a failed step of image->work: what follows then does nothing, and structures may be half filled.
 */
#ifndef KEYRAY_BASE_IMAGE_IMAGE_H
#define KEYRAY_BASE_IMAGE_IMAGE_H

#include "base/devices/work.h"
#include "base/image/layout.h"

typedef enum kr_image_task {
    KR_IMAGE_SAVE, /* fields are read, and noted for the file */
    KR_IMAGE_LOAD, /* fields are filled from a file */
    KR_IMAGE_OWN   /* buffers that borrow memory of a file get a copy of their own */
} kr_image_task;

typedef struct kr_image {
    kr_image_task task;
    kr_work *work; /* where memory comes from, with the stream and the error */
    /* What follows belongs to image.c. */
    struct kr_field_list list;            /* SAVE: the fields so far; OWN: the copies */
    const struct kr_image_source *source; /* LOAD */
    struct kr_upload *upload;         /* LOAD: of a file to a device that is not the host; NULL: not yet */
    uint32_t next;                    /* LOAD, OWN: the field that is due */
    uint32_t is_trial;                /* OWN: the first of two walks, which copies and changes nothing */
    char scope[KR_FIELD_NAME_NBYTES]; /* in front of names: "sorted." */
} kr_image;

/* Where a walk that loads finds its fields. */
typedef struct kr_image_source {
    const kr_field *fields;
    uint32_t n;
    const char *name; /* of the file, for errors */
    /* An array becomes memory of the work's device, which the buffer then owns or borrows, also after a
     * failure; it may be enqueued. */
    void (*fill)(kr_image *image, const kr_field *field, kr_buffer *buffer);
    /* An array is copied to host memory. */
    void (*read)(kr_image *image, const kr_field *field, void *to);
} kr_image_source;

/* Begins a walk; the end releases what it has taken, and waits for what it has enqueued. */
kr_image kr_image_to_save(kr_work *work);
kr_image kr_image_to_load(kr_work *work, const kr_image_source *source);
void kr_image_end(kr_image *image);
/* A second structure, *made, with what `walk` finds in *self. After a failure *made is NULL or half filled,
 * and the work has ended, as texts and numbers of a structure that failed may be gone with the walks. */
void kr_image_copy(kr_work *work, void (*walk)(kr_image *image, void **self, void *ctx), void *ctx,
                   void **self, void **made);
/* A whole OWN: `walk` is called twice, so that there are copies of all that is borrowed before any is used. A
 * failure leaves the structure as it was. */
void kr_image_own(kr_work *work, void (*walk)(kr_image *image, void *ctx), void *ctx);

/* The structure itself: *self; LOAD: zeroed memory, which *self then owns. NULL after a failure. */
void *kr_image_object(kr_image *image, void **self, size_t nbytes);

/* 1 for the tasks that end with buffers in other places: views and what else is derived must be made. */
static inline int kr_image_binds(const kr_image *image)
{
    return image->task != KR_IMAGE_SAVE && !image->is_trial && kr_work_goes_on(image->work);
}
static inline int kr_image_loads(const kr_image *image)
{
    return image->task == KR_IMAGE_LOAD && kr_work_goes_on(image->work);
}

/* Names from here to the end have "name." in front, or "name 3." with a number; scopes may be nested.
 * Returns what the end wants. */
uint32_t kr_image_enter(kr_image *image, const char *name);
uint32_t kr_image_enter_nth(kr_image *image, const char *name, uint32_t i);
void kr_image_leave(kr_image *image, uint32_t entered);

/* A number. LOAD fails with KR_ERR_FORMAT if it is not in least .. most. */
void kr_image_u32(kr_image *image, const char *name, uint32_t *value, uint32_t least, uint32_t most);
void kr_image_u64(kr_image *image, const char *name, uint64_t *value, uint64_t least, uint64_t most);
void kr_image_f64(kr_image *image, const char *name, double *value);

/* For a field that is not always there: 1 where it comes next. SAVE, OWN: `has`. LOAD: whether the file has
 * it. So files without it are as before. */
int kr_image_offers(kr_image *image, const char *name, int has);

/* Device memory of exactly nbytes (0: the buffer is empty). The file keeps all of it. LOAD fails with
 * KR_ERR_FORMAT if the file has another size; the contents are there for what the stream does next. */
void kr_image_buffer(kr_image *image, const char *name, kr_buffer *buffer, uint64_t nbytes);
/* The same of a buffer of which the first nbytes are in use and saved; what was behind them is gone. */
void kr_image_buffer_used(kr_image *image, const char *name, kr_buffer *buffer, uint64_t nbytes);
/* The same of a buffer whose first nbytes stay as they are for good: a copy of the structure (kr_image_copy)
 * shares its memory, and writes behind them where kr_buffer_extend lets it. */
void kr_image_buffer_shared(kr_image *image, const char *name, kr_buffer *buffer, uint64_t nbytes);
/* 1 if the buffer is there: saved as a number. For arrays that a structure may not have. */
int kr_image_has(kr_image *image, const char *name, const kr_buffer *buffer);

/* An array of n elements in host memory at *array, which the structure frees. LOAD makes it: NULL for n = 0.
 */
void kr_image_array(kr_image *image, const char *name, void **array, uint64_t n, size_t each);

/* The same of a text with its NUL, of any length. */
void kr_image_text(kr_image *image, const char *name, char **text);

/* LOAD: fields that are still to come, for bounds of numbers of things that have fields; else UINT64_MAX. */
uint64_t kr_image_left(const kr_image *image);

/* LOAD: what was read makes no sense. Fails with KR_ERR_FORMAT; `format` is a clause, as "leaf 7 has no
 * entry"; the text gets the file's name in front. */
void kr_image_refuse(kr_image *image, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
