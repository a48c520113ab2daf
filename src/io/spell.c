/* A column of texts as the texts themselves, in the place of codes of a dictionary. */
#include "io/io.h"

#include "base/util/error.h"

#include <stdlib.h>
#include <string.h>

bool kr_file_is_spelled(const struct kr_file *file)
{
    return file->column.type == KR_LARGE_STRING;
}

/* Where each row's text begins, and the end of the last. */
static int64_t *measure(const struct kr_file *file, kr_error *err)
{
    const uint64_t n = file->column.count;
    const uint32_t *codes = file->data;
    int64_t *offsets = kr_host_calloc(n + 1, sizeof *offsets, "offsets of texts", err);
    for (uint64_t row = 0; offsets && row < n; row++) {
        size_t nbytes = 0;
        if (!kr_io_is_null(&file->column, row))
            kr_dictionary_string(file->dictionary, codes[row], &nbytes);
        offsets[row + 1] = offsets[row] + (int64_t)nbytes;
    }
    return offsets;
}

kr_status kr_file_spell(struct kr_file *file, kr_error *err)
{
    const uint64_t n = file->column.count;
    const uint32_t *codes = file->data;
    int64_t *offsets = measure(file, err);
    char *bytes = offsets ? kr_host_calloc((uint64_t)offsets[n], 1, "the texts of a column", err) : NULL;
    if (!bytes) {
        free(offsets);
        return KR_ERR_HOST_MEMORY;
    }
    for (uint64_t row = 0; row < n; row++) {
        const size_t nbytes = (size_t)(offsets[row + 1] - offsets[row]);
        if (nbytes)
            memcpy(bytes + offsets[row], kr_dictionary_string(file->dictionary, codes[row], NULL), nbytes);
    }
    kr_dictionary_destroy(file->dictionary);
    free(file->data);
    file->dictionary = NULL;
    file->data = offsets;
    file->bytes = bytes;
    file->column.type = KR_LARGE_STRING;
    file->column.data = offsets;
    file->column.dictionary = 0;
    file->column.reserved_words[0] = (uintptr_t)bytes;
    file->column.reserved_words[1] = (uint64_t)offsets[n];
    return KR_OK;
}
