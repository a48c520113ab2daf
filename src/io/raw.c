/* .bin: the elements and nothing else. */
#include "io/hints.h"
#include "io/io.h"

#include "base/util/error.h"

#include <string.h>

/* Bytes to read before memory for more is taken, where the end is not known. */
enum { FIRST_NBYTES = 1 << 20 };

static kr_status read_growing(struct kr_input *input, uint64_t most, struct kr_file *file, uint64_t *got,
                              kr_error *err)
{
    uint64_t room = 0, done = 0;
    for (;;) {
        room = room ? 2 * room : FIRST_NBYTES;
        room = room < most ? room : most;
        void *data = kr_io_resize(file->data, room, 1, "a column", err);
        if (!data)
            return KR_ERR_HOST_MEMORY;
        file->data = data;
        uint64_t n = 0;
        kr_status status = kr_input_read(input, (char *)data + done, room - done, &n, err);
        done += n;
        *got = done;
        if (status != KR_OK || done < room || done == most)
            return status;
    }
}

/* That the file ends with its elements; where the end is known, the header was checked. */
static kr_status check_end(struct kr_input *input, uint64_t count, uint64_t wanted, uint64_t got,
                           kr_error *err)
{
    char more;
    uint64_t n = 0;
    kr_status status = got == wanted ? kr_input_read(input, &more, 1, &n, err) : KR_OK;
    if (status != KR_OK || (got == wanted && n == 0))
        return status;
    return kr_fail(err, KR_ERR_FORMAT,
                   "%s: its header says %llu elements, which are %llu bytes, but %s follow", input->name,
                   (unsigned long long)count, (unsigned long long)wanted, got < wanted ? "fewer" : "more");
}

kr_status kr_read_elements(struct kr_input *input, kr_type type, uint64_t count, struct kr_file *file,
                           kr_error *err)
{
    const uint64_t each = kr_type_nbytes(type);
    const bool all = count == KR_IO_UNKNOWN;
    kr_status status;
    uint64_t got = 0;
    if (input->nbytes == KR_IO_UNKNOWN) {
        const uint64_t wanted = all ? UINT64_MAX : count * each;
        status = read_growing(input, wanted, file, &got, err);
        if (status == KR_OK && !all)
            status = check_end(input, count, wanted, got, err);
        void *data = status == KR_OK ? kr_io_resize(file->data, got, 1, "a column", err) : NULL;
        file->data = data ? data : file->data;
        status = data || status != KR_OK ? status : KR_ERR_HOST_MEMORY;
    } else {
        count = all ? (input->nbytes - input->position) / each : count;
        file->data = kr_host_calloc(count, each, "a column", err);
        if (!file->data)
            return KR_ERR_HOST_MEMORY;
        status = kr_input_read(input, file->data, count * each, &got, err);
    }
    if (status == KR_OK && got % each)
        return kr_fail(err, KR_ERR_FORMAT, "%s has %llu bytes, which is not a multiple of the %u of a %s",
                       input->name, (unsigned long long)got, (unsigned)each, kr_type_name(type));
    file->column = (kr_column){.type = type, .count = got / each};
    return status;
}

kr_status kr_read_bin(struct kr_input *input, const char *selector, struct kr_file *file, kr_error *err)
{
    kr_unit unit;
    kr_type type = kr_io_type_named(selector, &unit);
    char shown[KR_IO_SHOWN_NBYTES], hint[KR_TYPE_HINT_NBYTES];
    kr_io_show(shown, selector, strlen(selector));
    if (!type)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s needs a type after it, not '%s'%s; one of " KR_IO_TYPE_NAMES,
                       input->name, shown, kr_io_type_hint(shown, false, hint));
    uint32_t each = kr_type_nbytes(type);
    file->unit = unit;
    if (input->nbytes != KR_IO_UNKNOWN && input->nbytes % each)
        return kr_fail(err, KR_ERR_FORMAT, "%s has %llu bytes, which is not a multiple of the %u of a %s",
                       input->name, (unsigned long long)input->nbytes, each, kr_type_name(type));
    return kr_read_elements(input, type, KR_IO_UNKNOWN, file, err);
}
