#include "remade.h"
#include "base/image/crc32c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *copy_of(const void *from, uint64_t nbytes)
{
    void *made = calloc(nbytes + 1, 1);
    if (!made)
        abort();
    if (nbytes)
        memcpy(made, from, nbytes);
    return made;
}

static int has_bytes(const kr_field *field)
{
    return field->kind != KR_FIELD_NUMBER;
}

kr_remade kr_remade_take_apart(const void *bytes, uint64_t nbytes)
{
    kr_saved_layout layout;
    kr_error err = {0};
    kr_remade made = {.bytes = NULL};
    if (kr_saved_read_head("the file", bytes, nbytes, &layout, &err) == KR_OK) {
        made.bytes = copy_of((const char *)bytes + layout.directory_offset, layout.directory_nbytes);
        kr_saved_read_directory("the file", &layout, made.bytes, &made.list, &err);
    }
    if (err.text[0]) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    made.list.room = made.list.n;
    for (uint32_t i = 0; i < made.list.n; ++i) {
        kr_field *field = made.list.fields + i;
        field->sums = NULL;
        if (has_bytes(field))
            field->data =
                copy_of(field->kind == KR_FIELD_ARRAY ? (const char *)bytes + field->offset : field->data,
                        field->value);
    }
    return made;
}

void kr_remade_release(kr_remade *remade)
{
    for (uint32_t i = 0; i < remade->list.n; ++i)
        if (has_bytes(remade->list.fields + i))
            free((void *)remade->list.fields[i].data);
    kr_field_list_release(&remade->list);
    free(remade->bytes);
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* Numbers at which something ends, and those near `now`. */
static uint64_t number_of(uint64_t now, uint8_t choice, uint8_t by)
{
    static const uint64_t ends[] = {0,          1,
                                    2,          31,
                                    32,         255,
                                    256,        1024,
                                    65535,      65536,
                                    INT32_MAX,  UINT32_MAX - 1,
                                    UINT32_MAX, UINT64_C(1) << 32,
                                    INT64_MAX,  UINT64_MAX};
    enum { ENDS = sizeof ends / sizeof *ends };
    if (choice < 64)
        return now + by;
    if (choice < 128)
        return now - by;
    if (choice < 144)
        return now ^ UINT64_C(1) << by % 64;
    return ends[choice % ENDS];
}

/* Word `at` of 1, 2, 4 or 8 bytes. */
static void change_word(unsigned char *bytes, uint64_t nbytes, uint64_t at, uint8_t choice, uint8_t by)
{
    const uint32_t each = 1u << (by >> 6);
    uint64_t now = 0;
    if (nbytes < each)
        return;
    unsigned char *word = bytes + at % (nbytes / each) * each;
    memcpy(&now, word, each);
    now = number_of(now, choice, by & 63);
    memcpy(word, &now, each);
}

static void resize(kr_field *field, uint64_t nbytes)
{
    unsigned char *longer = calloc(nbytes + 1, 1);
    if (!longer)
        abort();
    memcpy(longer, field->data, nbytes < field->value ? nbytes : field->value);
    free((void *)field->data);
    field->data = longer;
    field->value = nbytes;
}

static void leave_out(kr_field_list *list, uint32_t i)
{
    if (has_bytes(list->fields + i))
        free((void *)list->fields[i].data);
    memmove(list->fields + i, list->fields + i + 1, (list->n - i - 1) * sizeof *list->fields);
    --list->n;
}

static void give_twice(kr_field_list *list, uint32_t i)
{
    kr_field twice = list->fields[i];
    if (has_bytes(&twice))
        twice.data = copy_of(twice.data, twice.value);
    kr_field *last = kr_field_add(list, twice.kind, twice.name, NULL);
    if (!last)
        abort();
    memmove(list->fields + i + 1, list->fields + i, (list->n - i - 1) * sizeof *list->fields);
    list->fields[i] = twice;
}

static void exchange(kr_field *a, kr_field *b)
{
    const kr_field other = *a;
    if (a->kind != b->kind)
        return;
    a->value = b->value, a->data = b->data;
    b->value = other.value, b->data = other.data;
}

void kr_remade_change(kr_remade *remade, const uint8_t plan[KR_REMADE_PLAN])
{
    kr_field_list *list = &remade->list;
    const uint32_t i = (uint32_t)(plan[1] | plan[2] << 8) % list->n;
    const uint64_t at = plan[3] | (uint64_t)plan[4] << 8 | (uint64_t)plan[5] << 16;
    kr_field *field = list->fields + i;
    unsigned char *bytes = (unsigned char *)field->data;
    if (plan[0] < 16) {
        if (plan[0] < 8 && list->n > 1)
            leave_out(list, i);
        else
            give_twice(list, i);
        return;
    }
    if (plan[0] < 28)
        exchange(field, list->fields + at % list->n);
    else if (field->kind == KR_FIELD_NUMBER)
        field->value = number_of(field->value, plan[6], plan[7]);
    else if (field->kind == KR_FIELD_ARRAY && plan[0] < 40)
        resize(field, number_of(field->value, plan[6] & 127, plan[7]) & 0xFFFFFF);
    else if (field->kind == KR_FIELD_ARRAY && plan[0] < 48)
        memset(bytes + at % (field->value + 1), plan[7], field->value - at % (field->value + 1));
    else
        change_word(bytes, field->value, plan[0] < 128 ? at : at % 16, plan[6], plan[7]);
    if (field->kind == KR_FIELD_TEXT)
        field->value = strlen(field->data);
}

/* ---- The file -------------------------------------------------------------------------------- */

unsigned char *kr_remade_put_together(const kr_remade *remade, uint64_t *nbytes)
{
    kr_field_list list = {.n = remade->list.n,
                          .fields = copy_of(remade->list.fields, remade->list.n * sizeof(kr_field))};
    kr_saved_layout layout = {0};
    if (kr_saved_lay_out(&list, &layout, NULL) != KR_OK)
        abort();
    unsigned char *made = calloc(layout.nbytes, 1);
    if (!made)
        abort();
    for (uint32_t i = 0; i < list.n; ++i) {
        const kr_field *field = list.fields + i;
        if (field->kind != KR_FIELD_ARRAY)
            continue;
        memcpy(made + field->offset, field->data, field->value);
        for (uint64_t b = 0; b < kr_field_blocks(field); ++b) {
            const uint64_t first = b * KR_SAVED_BLOCK_NBYTES, left = field->value - first;
            field->sums[b] = kr_crc32c(0, (const char *)field->data + first,
                                       left < KR_SAVED_BLOCK_NBYTES ? left : KR_SAVED_BLOCK_NBYTES);
        }
    }
    kr_saved_write_head(&layout, made);
    kr_saved_write_directory(&list, &layout, made + layout.directory_offset);
    kr_field_list_release(&list);
    *nbytes = layout.nbytes;
    return made;
}
