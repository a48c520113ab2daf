/* A saved file: opened, its first and last fields, closed. */
#include "base/image/saved.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* In the order of the fields. */
enum { FIELD_WHAT, FIELD_LIBRARY, FIELD_SPEC, FIRST_FIELDS };

/* ---- Users ------------------------------------------------------------------------------------ */

kr_saved *kr_saved_hold(const kr_saved *saved)
{
    kr_saved *held = (kr_saved *)saved;
    atomic_fetch_add(&held->users, 1);
    return held;
}

void kr_saved_release(kr_saved *saved)
{
    if (!saved || atomic_fetch_sub(&saved->users, 1) > 1)
        return;
    if (saved->fd >= 0)
        close(saved->fd);
    if (saved->is_mapped)
        munmap((void *)saved->base, saved->layout.nbytes);
    kr_field_list_release(&saved->list);
    free(saved->directory);
    free(saved->dictionaries);
    free(saved);
}

/* ---- Opening ---------------------------------------------------------------------------------- */

/* The end of a long path says more than its beginning. */
static void show_path(const char *path, char shown[KR_SAVED_NAME_NBYTES])
{
    const size_t n = strlen(path);
    if (n < KR_SAVED_NAME_NBYTES)
        snprintf(shown, KR_SAVED_NAME_NBYTES, "%s", path);
    else
        snprintf(shown, KR_SAVED_NAME_NBYTES, "...%s", path + n - KR_SAVED_NAME_NBYTES + 4);
}

static kr_saved *make(const char *name, const kr_saved_options *options, kr_error *err)
{
    kr_saved *made = kr_host_calloc(1, sizeof *made, "a saved file", err);
    if (!made)
        return NULL;
    const uint32_t n = options->dictionaries ? options->n_dictionaries : 0;
    made->users = 1;
    made->fd = -1;
    made->verifies = options->verify == KR_VERIFY_ALL;
    made->progress = options->progress ? *options->progress : (kr_progress){0};
    made->n_dictionaries = n;
    show_path(name, made->name);
    made->dictionaries = kr_host_calloc(n, sizeof *made->dictionaries, "ids of dictionaries", err);
    if (!made->dictionaries) {
        kr_saved_release(made);
        return NULL;
    }
    if (n)
        memcpy(made->dictionaries, options->dictionaries, n * sizeof *made->dictionaries);
    return made;
}

/* Every file begins with these. */
static kr_status check_first(const kr_saved *saved, kr_error *err)
{
    static const struct {
        const char *name;
        uint32_t kind;
    } first[FIRST_FIELDS] = {
        [FIELD_WHAT] = {"what", KR_FIELD_NUMBER},
        [FIELD_LIBRARY] = {"library", KR_FIELD_TEXT},
        [FIELD_SPEC] = {"spec", KR_FIELD_TEXT},
    };
    int good = saved->list.n >= FIRST_FIELDS;
    for (int i = 0; good && i < FIRST_FIELDS; ++i)
        good = saved->list.fields[i].kind == first[i].kind &&
               strcmp(saved->list.fields[i].name, first[i].name) == 0;
    const uint64_t what = good ? saved->list.fields[FIELD_WHAT].value : 0;
    if (what != KR_SAVED_INDEX && what != KR_SAVED_TABLE)
        return kr_fail(err, KR_ERR_FORMAT, "%s does not say what it holds, an index or a table", saved->name);
    return KR_OK;
}

static int is_attachment(const kr_field *field)
{
    return field->kind == KR_FIELD_ARRAY &&
           strncmp(field->name, KR_SAVED_ATTACHMENT, strlen(KR_SAVED_ATTACHMENT)) == 0;
}

/* Those who ask for attachments get them as they lie in the file. */
static kr_status verify_attachments(const kr_saved *saved, kr_error *err)
{
    kr_status status = kr_saved_verify_gaps(saved, err);
    for (uint32_t i = 0; i < saved->n_attachments && status == KR_OK; ++i) {
        const kr_field *field = kr_saved_attachment_at(saved, i);
        const kr_saved_range range = {.field = field, .n = field->value, .verifies = 1};
        status = kr_saved_read(saved, &range, err);
    }
    return status;
}

/* The directory is there. */
static kr_status understand(kr_saved *saved, kr_error *err)
{
    kr_status status =
        kr_saved_read_directory(saved->name, &saved->layout, saved->directory, &saved->list, err);
    if (status == KR_OK)
        status = check_first(saved, err);
    const uint32_t n = saved->list.n;
    while (saved->n_attachments < n && is_attachment(&saved->list.fields[n - 1 - saved->n_attachments]))
        ++saved->n_attachments;
    saved->source = (kr_image_source){saved->list.fields, n, saved->name, kr_saved_fill, kr_saved_copy};
    return status == KR_OK && saved->verifies ? verify_attachments(saved, err) : status;
}

static kr_status fail_errno(const kr_saved *saved, const char *call, kr_error *err)
{
    const int code = errno;
    return kr_fail_call(err, KR_ERR_IO, call, code, "cannot open %s: %s", saved->name, strerror(code));
}

/* From the file and not from its mapping: it may be cut off. */
static kr_status read_at(const kr_saved *saved, unsigned char *to, uint64_t offset, uint64_t n, kr_error *err)
{
    while (n) {
        const ssize_t got = pread(saved->fd, to, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_errno(saved, "pread", err);
        if (got == 0)
            return kr_fail(err, KR_ERR_IO, "%s was cut off while it was opened", saved->name);
        to += got;
        offset += (uint64_t)got;
        n -= (uint64_t)got;
    }
    return KR_OK;
}

static kr_status open_file(kr_saved *saved, const char *path, uint64_t *nbytes, kr_error *err)
{
    struct stat is;
    saved->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* which a pipe's other end need not open */
    if (saved->fd < 0)
        return fail_errno(saved, "open", err);
    if (fstat(saved->fd, &is) != 0)
        return fail_errno(saved, "fstat", err);
    if (!S_ISREG(is.st_mode))
        return kr_fail(
            err, KR_ERR_IO,
            "cannot open %s: it is not a regular file, and only such can be mapped; read it to memory "
            "for kr_saved_open_memory",
            saved->name);
    *nbytes = (uint64_t)is.st_size;
    return KR_OK;
}

static kr_status open_mapped(kr_saved *saved, const char *path, kr_error *err)
{
    unsigned char head[KR_SAVED_HEAD_NBYTES] = {0};
    uint64_t nbytes = 0;
    kr_status status = open_file(saved, path, &nbytes, err);
    if (status == KR_OK)
        status = read_at(saved, head, 0, nbytes < sizeof head ? nbytes : sizeof head, err);
    if (status == KR_OK)
        status = kr_saved_read_head(saved->name, head, nbytes, &saved->layout, err);
    if (status != KR_OK)
        return status;
    saved->directory = kr_host_calloc(saved->layout.directory_nbytes, 1, "the directory of a file", err);
    if (!saved->directory)
        return KR_ERR_HOST_MEMORY;
    status =
        read_at(saved, saved->directory, saved->layout.directory_offset, saved->layout.directory_nbytes, err);
    if (status != KR_OK)
        return status;
    void *base = mmap(NULL, nbytes, PROT_READ, MAP_SHARED, saved->fd, 0);
    if (base == MAP_FAILED)
        return fail_errno(saved, "mmap", err);
    saved->base = base;
    saved->is_mapped = 1;
    return understand(saved, err);
}

static kr_status end_open(kr_saved *made, kr_status status, kr_saved **saved)
{
    if (status == KR_OK)
        *saved = made;
    else
        kr_saved_release(made);
    return status;
}

kr_status kr_saved_open_path(const char *path, const kr_saved_options *options, kr_saved **saved,
                             kr_error *err)
{
    kr_saved *made = make(path, options, err);
    return made ? end_open(made, open_mapped(made, path, err), saved) : KR_ERR_HOST_MEMORY;
}

static kr_status open_bytes(kr_saved *saved, const void *data, uint64_t nbytes, kr_error *err)
{
    const kr_status status = kr_saved_read_head(saved->name, data, nbytes, &saved->layout, err);
    if (status != KR_OK)
        return status;
    saved->base = data;
    saved->directory = kr_host_calloc(saved->layout.directory_nbytes, 1, "the directory of a file", err);
    if (!saved->directory)
        return KR_ERR_HOST_MEMORY;
    memcpy(saved->directory, saved->base + saved->layout.directory_offset, saved->layout.directory_nbytes);
    return understand(saved, err);
}

kr_status kr_saved_open_bytes(const void *data, uint64_t nbytes, const kr_saved_options *options,
                              kr_saved **saved, kr_error *err)
{
    kr_saved *made = make("the file in memory", options, err);
    return made ? end_open(made, open_bytes(made, data, nbytes, err), saved) : KR_ERR_HOST_MEMORY;
}

/* ---- Fields ----------------------------------------------------------------------------------- */

const kr_field *kr_saved_find(const kr_saved *saved, kr_field_kind kind, const char *scope, const char *name)
{
    const size_t n = strlen(scope);
    for (uint32_t i = 0; i < saved->list.n; ++i) {
        const kr_field *field = &saved->list.fields[i];
        if (field->kind == kind && strncmp(field->name, scope, n) == 0 && strcmp(field->name + n, name) == 0)
            return field;
    }
    return NULL;
}

kr_status kr_saved_find_number(const kr_saved *saved, const char *name, uint64_t least, uint64_t most,
                               uint64_t *value, kr_error *err)
{
    const kr_field *field = kr_saved_find(saved, KR_FIELD_NUMBER, "", name);
    if (!field || field->value < least || field->value > most)
        return kr_fail(err, KR_ERR_FORMAT, "%s does not hold what it says: field '%s' is %s", saved->name,
                       name, field ? "out of bounds" : "missing");
    *value = field->value;
    return KR_OK;
}

kr_status kr_saved_dictionary(const kr_saved *saved, uint32_t i, int has_texts, uint64_t *dictionary,
                              kr_error *err)
{
    const uint64_t given = i < saved->n_dictionaries ? saved->dictionaries[i] : 0;
    if (has_texts && !given)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "column %u of %s has codes of texts: give kr_saved_options.dictionaries, and the same "
                       "texts that it had",
                       i, saved->name);
    if (!has_texts && given)
        return kr_fail(
            err, KR_ERR_ARGUMENT,
            "column %u of %s has no codes of a caller's texts, but kr_saved_options.dictionaries names some; "
            "set 0",
            i, saved->name);
    *dictionary = given;
    return KR_OK;
}

kr_saved_what kr_saved_what_of(const kr_saved *saved)
{
    return (kr_saved_what)saved->list.fields[FIELD_WHAT].value;
}

const char *kr_saved_version_of(const kr_saved *saved)
{
    return saved->list.fields[FIELD_LIBRARY].data;
}

const char *kr_saved_spec_of(const kr_saved *saved)
{
    return saved->list.fields[FIELD_SPEC].data;
}

const kr_field *kr_saved_attachment_at(const kr_saved *saved, uint32_t i)
{
    return i < saved->n_attachments ? &saved->list.fields[saved->list.n - saved->n_attachments + i] : NULL;
}

static const char *name_of(uint64_t what)
{
    return what == KR_SAVED_INDEX ? "an index" : "a table";
}

void kr_saved_begin_walk(kr_image *image, kr_saved_what what, const char *spec)
{
    uint64_t found = what;
    char *library = (char *)KR_VERSION_STRING, *text = (char *)spec;
    if (image->task == KR_IMAGE_OWN)
        return;
    kr_image_u64(image, "what", &found, 0, UINT64_MAX);
    kr_image_text(image, "library", &library);
    kr_image_text(image, "spec", &text);
    if (image->task == KR_IMAGE_LOAD) {
        free(library);
        free(text);
    }
    if (kr_image_loads(image) && found != what)
        KR_STEP(image->work, kr_fail(image->work->err, KR_ERR_FORMAT, "%s holds %s, not %s",
                                     image->source->name, name_of(found), name_of(what)));
}

/* ---- Attachments ------------------------------------------------------------------------------ */

enum { MOST_NAME = 63 };

static kr_status check_attachment(const kr_save_options *options, uint32_t i, kr_error *err)
{
    const kr_attachment *one = &options->attachments[i];
    const size_t length = one->name ? strlen(one->name) : 0;
    if (length == 0 || length > MOST_NAME)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "attachment %u has a name of %zu characters: 1 to %d are allowed", i, length,
                       (int)MOST_NAME);
    if (!one->data && one->nbytes)
        return kr_fail(err, KR_ERR_ARGUMENT, "attachment '%s' has %llu bytes but no data", one->name,
                       (unsigned long long)one->nbytes);
    for (uint32_t j = 0; j < i; ++j)
        if (strcmp(options->attachments[j].name, one->name) == 0)
            return kr_fail(err, KR_ERR_ARGUMENT, "two attachments have the name '%s'", one->name);
    return KR_OK;
}

void kr_saved_end_walk(kr_image *image, const kr_save_options *options)
{
    kr_work *w = image->work;
    const uint32_t n = options && image->task == KR_IMAGE_SAVE ? options->n_attachments : 0;
    for (uint32_t i = 0; i < n; ++i) {
        char name[KR_FIELD_NAME_NBYTES];
        KR_STEP(w, check_attachment(options, i, w->err));
        if (!kr_work_goes_on(w))
            return;
        snprintf(name, sizeof name, "%s%s", KR_SAVED_ATTACHMENT, options->attachments[i].name);
        kr_field *field = kr_field_add(&image->list, KR_FIELD_ARRAY, name, w->err);
        if (!field)
            w->status = KR_ERR_HOST_MEMORY;
        else {
            field->value = options->attachments[i].nbytes;
            field->data = options->attachments[i].data;
        }
    }
    if (!kr_image_loads(image))
        return;
    const uint64_t rest = ((const kr_saved *)image->source)->n_attachments;
    if (kr_image_left(image) > rest)
        kr_image_refuse(image, "field '%s' is one too many", image->source->fields[image->next].name);
}
