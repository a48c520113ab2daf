/* kr_file_empty: a column without rows, of which the type, the unit and the texts are known. */
#include "io/io.h"

#include "base/util/error.h"

#include <string.h>

static kr_status check_type(kr_type type, kr_unit unit, bool has_texts, kr_error *err)
{
    if (!kr_type_name(type))
        return kr_fail(err, KR_ERR_TYPE, "kr_file_empty: %d is not a type", (int)type);
    if (has_texts && type != KR_U32)
        return kr_fail(err, KR_ERR_TYPE, "kr_file_empty: codes of texts are u32, not %s", kr_type_name(type));
    if ((unsigned)unit > KR_UNIT_NS || (unit != KR_UNIT_NONE && type != KR_TIMESTAMP64))
        return kr_fail(err, KR_ERR_TYPE, "kr_file_empty: %s has no unit %d", kr_type_name(type), (int)unit);
    return KR_OK;
}

static kr_status check_texts(const char *bytes, const uint64_t *offsets, uint32_t n, kr_error *err)
{
    if (n > UINT32_MAX - 1)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_file_empty: more than %u texts", UINT32_MAX - 1);
    for (uint32_t i = 0; i < n; i++)
        if (offsets[i + 1] < offsets[i])
            return kr_fail(err, KR_ERR_ARGUMENT, "kr_file_empty: text %u ends before it begins", i);
    if (!bytes && offsets[n] > offsets[0])
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_file_empty: bytes is NULL, but texts are not empty");
    for (uint32_t i = 1; i < n; i++) {
        const uint64_t before = offsets[i] - offsets[i - 1], nbytes = offsets[i + 1] - offsets[i];
        const uint64_t both = before < nbytes ? before : nbytes;
        const int order = both ? memcmp(bytes + offsets[i - 1], bytes + offsets[i], both) : 0;
        if (order > 0 || (order == 0 && before >= nbytes))
            return kr_fail(err, KR_ERR_ARGUMENT,
                           "kr_file_empty: text %u is not above the one before it; sort them byte by byte",
                           i);
    }
    return KR_OK;
}

kr_status kr_file_empty(const char *name, kr_type type, kr_unit unit, const char *bytes,
                        const uint64_t *offsets, uint32_t n_texts, kr_file **file, kr_error *err)
{
    if (!file || (n_texts && !offsets))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_file_empty: %s is NULL", file ? "offsets" : "file");
    kr_status status = check_type(type, unit, offsets != NULL, err);
    if (status == KR_OK && offsets)
        status = check_texts(bytes, offsets, n_texts, err);
    if (status != KR_OK)
        return status;
    kr_file *made = kr_host_calloc(1, sizeof *made, "a column", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    made->data = kr_host_calloc(0, kr_type_nbytes(type), "a column", err);
    made->dictionary = made->data && offsets ? kr_dictionary_create_of(bytes, offsets, n_texts, err) : NULL;
    if (!made->data || (offsets && !made->dictionary)) {
        kr_file_close(made);
        return KR_ERR_HOST_MEMORY;
    }
    if (name)
        kr_io_show(made->name, name, strlen(name));
    made->unit = unit;
    made->column.type = type;
    made->column.data = made->data;
    made->column.dictionary = made->dictionary ? kr_dictionary_identity(made->dictionary) : 0;
    *file = made;
    return KR_OK;
}
