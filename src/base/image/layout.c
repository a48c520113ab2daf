#include "base/image/layout.h"
#include "base/image/crc32c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "numbers of files are little-endian, and are read as they lie in memory"
#endif

static const unsigned char magic[8] = {'k', 'e', 'y', 'r', 'a', 'y', 0x1A, '\n'};
enum { ORDER_MARK = 0x01020304, OTHER_ORDER_MARK = 0x04030201 };

typedef struct file_head {
    unsigned char magic[8];
    uint32_t order_mark, format;
    uint64_t nbytes, directory_offset, directory_nbytes;
    uint64_t reserved[2];
    uint32_t reserved_word, sum; /* of the 60 bytes before it */
} file_head;
_Static_assert(sizeof(file_head) == KR_SAVED_HEAD_NBYTES, "the head has no gaps");

/* In front of each field; then its name, and what it has, each filled up with 0 to a multiple of 8 bytes. */
typedef struct field_head {
    uint32_t kind, name_nbytes;
    uint64_t value, offset; /* offset: 0 but of arrays */
} field_head;

/* At the beginning and the end of the directory. */
typedef struct directory_head {
    uint32_t n_fields, block_nbytes;
} directory_head;
typedef struct directory_end {
    uint32_t reserved, sum; /* of all before it */
} directory_end;

/* ---- Lists ------------------------------------------------------------------------------------ */

kr_field *kr_field_add(kr_field_list *list, kr_field_kind kind, const char *name, kr_error *err)
{
    if (strlen(name) >= KR_FIELD_NAME_NBYTES) {
        kr_fail(err, KR_ERR_INTERNAL, "the name of field %s is too long; report this", name);
        return NULL;
    }
    if (list->n == list->room) {
        const uint32_t room = list->room ? 2 * list->room : 32;
        kr_field *more = kr_host_calloc(room, sizeof *more, "fields of a file", err);
        if (!more)
            return NULL;
        if (list->n)
            memcpy(more, list->fields, list->n * sizeof *more);
        free(list->fields);
        list->fields = more;
        list->room = room;
    }
    kr_field *field = &list->fields[list->n++];
    field->kind = kind;
    strcpy(field->name, name);
    return field;
}

void kr_field_list_release(kr_field_list *list)
{
    free(list->sums);
    free(list->fields);
    *list = (kr_field_list){0};
}

/* ---- Writing ---------------------------------------------------------------------------------- */

static uint64_t fill_up(uint64_t nbytes)
{
    return (nbytes + 7) & ~(uint64_t)7;
}

static uint64_t content_nbytes(const kr_field *field)
{
    return field->kind == KR_FIELD_TEXT ? field->value + 1 /* a NUL, so that it is a string where it lies */
           : field->kind == KR_FIELD_ARRAY ? kr_field_blocks(field) * sizeof *field->sums
                                           : 0;
}

kr_status kr_saved_lay_out(kr_field_list *list, kr_saved_layout *layout, kr_error *err)
{
    uint64_t end = KR_SAVED_HEAD_NBYTES, n_sums = 0;
    uint64_t directory_nbytes = sizeof(directory_head) + sizeof(directory_end);
    for (uint32_t i = 0; i < list->n; ++i) {
        kr_field *field = &list->fields[i];
        directory_nbytes +=
            sizeof(field_head) + fill_up(strlen(field->name)) + fill_up(content_nbytes(field));
        if (field->kind != KR_FIELD_ARRAY)
            continue;
        field->offset = kr_saved_align(end);
        end = field->offset + field->value;
        n_sums += kr_field_blocks(field);
    }
    list->sums = kr_host_calloc(n_sums, sizeof *list->sums, "checksums", err);
    if (!list->sums)
        return KR_ERR_HOST_MEMORY;
    uint32_t *sums = list->sums;
    for (uint32_t i = 0; i < list->n; ++i)
        if (list->fields[i].kind == KR_FIELD_ARRAY) {
            list->fields[i].sums = sums;
            sums += kr_field_blocks(&list->fields[i]);
        }
    layout->directory_offset = kr_saved_align(end);
    layout->directory_nbytes = directory_nbytes;
    layout->nbytes = layout->directory_offset + directory_nbytes;
    return KR_OK;
}

void kr_saved_write_head(const kr_saved_layout *layout, unsigned char head[KR_SAVED_HEAD_NBYTES])
{
    file_head made = {
        .order_mark = ORDER_MARK,
        .format = KR_SAVED_FORMAT,
        .nbytes = layout->nbytes,
        .directory_offset = layout->directory_offset,
        .directory_nbytes = layout->directory_nbytes,
    };
    memcpy(made.magic, magic, sizeof magic);
    made.sum = kr_crc32c(0, &made, offsetof(file_head, sum));
    memcpy(head, &made, sizeof made);
}

/* Returns where the next goes. */
static unsigned char *put(unsigned char *to, const void *from, uint64_t nbytes)
{
    const uint64_t full = fill_up(nbytes);
    if (nbytes)
        memcpy(to, from, nbytes);
    memset(to + nbytes, 0, full - nbytes);
    return to + full;
}

void kr_saved_write_directory(const kr_field_list *list, const kr_saved_layout *layout,
                              unsigned char *directory)
{
    const directory_head head = {list->n, KR_SAVED_BLOCK_NBYTES};
    unsigned char *at = put(directory, &head, sizeof head);
    for (uint32_t i = 0; i < list->n; ++i) {
        const kr_field *field = &list->fields[i];
        const field_head made = {field->kind, (uint32_t)strlen(field->name), field->value, field->offset};
        at = put(at, &made, sizeof made);
        at = put(at, field->name, made.name_nbytes);
        at = put(at, field->kind == KR_FIELD_TEXT ? field->data : field->sums, content_nbytes(field));
    }
    directory_end end = {0};
    memcpy(at, &end, sizeof end);
    end.sum = kr_crc32c(0, directory, layout->directory_nbytes - sizeof end.sum);
    memcpy(at, &end, sizeof end);
}

/* ---- Reading ---------------------------------------------------------------------------------- */

static kr_status check_head(const char *name, const file_head *head, uint64_t nbytes, kr_error *err)
{
    if (nbytes < sizeof *head || memcmp(head->magic, magic, sizeof magic) != 0)
        return kr_fail(err, KR_ERR_FORMAT, "%s was not saved by keyray, or its beginning is damaged", name);
    if (head->order_mark == OTHER_ORDER_MARK)
        return kr_fail(err, KR_ERR_FORMAT,
                       "%s was saved on a machine of the other byte order; save it on one of this order",
                       name);
    if (kr_crc32c(0, head, offsetof(file_head, sum)) != head->sum)
        return kr_fail(err, KR_ERR_FORMAT, "%s is damaged: the checksum of its head, bytes 0 to 63, is wrong",
                       name);
    if (head->order_mark != ORDER_MARK)
        return kr_fail(err, KR_ERR_FORMAT, "%s has no mark of its byte order", name);
    if (head->format != KR_SAVED_FORMAT)
        return kr_fail(err, KR_ERR_FORMAT,
                       "%s has format %u, and version %s of keyray reads format %d; save it again with this "
                       "version, or load it with the one that saved it",
                       name, head->format, KR_VERSION_STRING, KR_SAVED_FORMAT);
    if (head->nbytes != nbytes)
        return kr_fail(err, KR_ERR_FORMAT, "%s is %s: it had %llu bytes when it was saved, and has %llu",
                       name, nbytes < head->nbytes ? "cut off" : "too long", (unsigned long long)head->nbytes,
                       (unsigned long long)nbytes);
    if (head->reserved[0] || head->reserved[1] || head->reserved_word ||
        head->directory_offset % KR_SAVED_ALIGNMENT || head->directory_offset == 0 ||
        head->directory_offset > nbytes || head->directory_nbytes != nbytes - head->directory_offset ||
        head->directory_nbytes % 8 || head->directory_nbytes < sizeof(directory_head) + sizeof(directory_end))
        return kr_fail(err, KR_ERR_FORMAT, "%s is damaged: its head makes no sense", name);
    return KR_OK;
}

kr_status kr_saved_read_head(const char *name, const unsigned char bytes[KR_SAVED_HEAD_NBYTES],
                             uint64_t nbytes, kr_saved_layout *layout, kr_error *err)
{
    file_head head = {0};
    if (nbytes >= sizeof head)
        memcpy(&head, bytes, sizeof head);
    const kr_status status = check_head(name, &head, nbytes, err);
    if (status == KR_OK)
        *layout = (kr_saved_layout){head.nbytes, head.directory_offset, head.directory_nbytes};
    return status;
}

/* What is left of a directory. */
typedef struct reader {
    const unsigned char *at;
    uint64_t left;
} reader;

/* The next nbytes, which zeros fill up; NULL if they are not there. */
static const void *take(reader *from, uint64_t nbytes)
{
    const unsigned char *found = from->at;
    if (nbytes > from->left) /* which is a multiple of 8 */
        return NULL;
    const uint64_t full = fill_up(nbytes);
    for (uint64_t i = nbytes; i < full; ++i)
        if (found[i])
            return NULL;
    from->at += full;
    from->left -= full;
    return found;
}

/* `end`: of what came before. */
static int read_field(reader *from, uint64_t *end, const kr_saved_layout *layout, kr_field *field)
{
    const field_head *head = take(from, sizeof *head);
    if (!head || head->kind < KR_FIELD_NUMBER || head->kind > KR_FIELD_ARRAY || head->name_nbytes == 0 ||
        head->name_nbytes >= KR_FIELD_NAME_NBYTES)
        return 0;
    const char *name = take(from, head->name_nbytes);
    if (!name || memchr(name, 0, head->name_nbytes))
        return 0;
    memcpy(field->name, name, head->name_nbytes);
    field->kind = head->kind;
    field->value = head->value;
    field->offset = head->offset;
    if (field->kind == KR_FIELD_ARRAY) {
        if (field->offset != kr_saved_align(*end) || field->offset > layout->directory_offset ||
            field->value > layout->directory_offset - field->offset)
            return 0;
        *end = field->offset + field->value;
        field->sums = (uint32_t *)take(from, content_nbytes(field));
        return field->sums != NULL;
    }
    if (field->offset || field->kind == KR_FIELD_NUMBER)
        return !field->offset;
    field->data = field->value < from->left ? take(from, content_nbytes(field)) : NULL;
    return field->data &&
           memchr(field->data, 0, content_nbytes(field)) == (const char *)field->data + field->value;
}

kr_status kr_saved_read_directory(const char *name, const kr_saved_layout *layout,
                                  const unsigned char *directory, kr_field_list *list, kr_error *err)
{
    const uint64_t summed = layout->directory_nbytes - sizeof(uint32_t);
    reader from = {directory, layout->directory_nbytes - sizeof(directory_end)};
    const directory_head *head = take(&from, sizeof *head);
    const directory_end *last = (const directory_end *)(from.at + from.left);
    uint64_t end = KR_SAVED_HEAD_NBYTES;
    if (kr_crc32c(0, directory, summed) != last->sum)
        return kr_fail(err, KR_ERR_FORMAT,
                       "%s is damaged: the checksum of its directory, from byte %llu to its end, is wrong",
                       name, (unsigned long long)layout->directory_offset);
    /* A field has a name, so a wrong number asks for no more memory than a few times the file. */
    int good = !last->reserved && head->block_nbytes == KR_SAVED_BLOCK_NBYTES &&
               head->n_fields <= from.left / (sizeof(field_head) + 8);
    list->fields =
        good ? kr_host_calloc(head->n_fields, sizeof *list->fields, "fields of a file", err) : NULL;
    if (good && !list->fields)
        return KR_ERR_HOST_MEMORY;
    for (; good && list->n < head->n_fields; ++list->n)
        good = read_field(&from, &end, layout, &list->fields[list->n]);
    if (!good || from.left || kr_saved_align(end) != layout->directory_offset) {
        kr_field_list_release(list);
        return kr_fail(err, KR_ERR_FORMAT, "%s is damaged: its directory makes no sense", name);
    }
    return KR_OK;
}
