/* .bin: the elements and nothing else. */
#include "io/io.h"

#include "util/error.h"

#include <string.h>

kr_status kr_read_elements(struct kr_input *input, kr_type type, uint64_t count, struct kr_file *file,
                           kr_error *err)
{
    file->data = kr_host_calloc(count, kr_type_nbytes(type), "a column", err);
    if (!file->data)
        return KR_ERR_HOST_MEMORY;
    uint64_t got = 0;
    kr_status status = kr_input_read(input, file->data, count * kr_type_nbytes(type), &got, err);
    if (status == KR_OK)
        file->column = (kr_column){.type = type, .count = count};
    return status;
}

kr_status kr_read_bin(struct kr_input *input, const char *selector, struct kr_file *file, kr_error *err)
{
    kr_type type = kr_io_type_named(selector);
    char shown[KR_IO_SHOWN_NBYTES];
    kr_io_show(shown, selector, strlen(selector));
    if (!type)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s needs a type after it, not '%s'; one of " KR_IO_TYPE_NAMES,
                       input->name, shown);
    uint32_t each = kr_type_nbytes(type);
    if (input->nbytes % each)
        return kr_fail(err, KR_ERR_FORMAT, "%s has %llu bytes, which is not a multiple of the %u of a %s",
                       input->name, (unsigned long long)input->nbytes, each, kr_type_name(type));
    return kr_read_elements(input, type, input->nbytes / each, file, err);
}
