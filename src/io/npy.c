/* .npy, versions 1 to 3: "\x93NUMPY", major, minor, the header's length, and a Python dictionary
 * {'descr': '<i4', 'fortran_order': False, 'shape': (3,), } before the elements. */
#include "io/io.h"

#include "util/error.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_MOST = 65536 };

/* What a header says. The texts point into it and are quoted in errors. */
struct header {
    const char *descr, *shape;
    size_t descr_nbytes, shape_nbytes;
    bool fortran;
    bool has_fortran;
    unsigned dimensions;
    uint64_t count; /* product of the shape */
    uint64_t offset;
};

struct cursor {
    const char *at, *end;
};

static void skip_space(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || (*c->at >= '\t' && *c->at <= '\r')))
        c->at++;
}

/* Consumes `text` after white space, if it is there. */
static bool take(struct cursor *c, const char *text)
{
    size_t n = strlen(text);
    skip_space(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, text, n) != 0)
        return false;
    c->at += n;
    return true;
}

/* A Python string without escapes; the text inside its quotes. */
static bool take_string(struct cursor *c, const char **text, size_t *nbytes)
{
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    const char *close = memchr(c->at + 1, *c->at, (size_t)(c->end - c->at) - 1);
    if (!close)
        return false;
    *text = c->at + 1;
    *nbytes = (size_t)(close - *text);
    c->at = close + 1;
    return true;
}

/* The dtype's string or, for records, the list in its place. */
static bool take_descr(struct cursor *c, struct header *header)
{
    skip_space(c);
    if (c->at == c->end || (*c->at != '[' && *c->at != '('))
        return take_string(c, &header->descr, &header->descr_nbytes);
    int depth = 0;
    header->descr = c->at;
    do {
        depth += *c->at == '[' || *c->at == '(';
        depth -= *c->at == ']' || *c->at == ')';
        c->at++;
    } while (depth > 0 && c->at < c->end);
    header->descr_nbytes = (size_t)(c->at - header->descr);
    return depth == 0;
}

static bool take_extent(struct cursor *c, uint64_t *count)
{
    uint64_t extent = 0;
    skip_space(c);
    const char *begin = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(extent, (uint64_t)10, &extent) ||
            __builtin_add_overflow(extent, (uint64_t)(*c->at - '0'), &extent))
            return false;
    if (c->at == begin || __builtin_mul_overflow(*count, extent, count))
        return false;
    take(c, "L"); /* as Python 2 wrote it */
    return true;
}

static bool take_shape(struct cursor *c, struct header *header)
{
    skip_space(c);
    header->shape = c->at;
    header->count = 1;
    if (!take(c, "("))
        return false;
    bool comma = true;
    while (!take(c, ")")) {
        if (!comma || !take_extent(c, &header->count))
            return false;
        header->dimensions++;
        comma = take(c, ",");
    }
    header->shape_nbytes = (size_t)(c->at - header->shape);
    return header->dimensions != 1 || comma;
}

static bool take_fortran(struct cursor *c, struct header *header)
{
    header->fortran = take(c, "True");
    header->has_fortran = header->fortran || take(c, "False");
    return header->has_fortran;
}

static bool take_entry(struct cursor *c, struct header *header)
{
    const char *key;
    size_t n;
    if (!take_string(c, &key, &n) || !take(c, ":"))
        return false;
    if (n == 5 && memcmp(key, "descr", n) == 0)
        return !header->descr && take_descr(c, header);
    if (n == 5 && memcmp(key, "shape", n) == 0)
        return !header->shape && take_shape(c, header);
    if (n == 13 && memcmp(key, "fortran_order", n) == 0)
        return !header->has_fortran && take_fortran(c, header);
    return false;
}

static bool parse(const char *text, size_t nbytes, struct header *header)
{
    struct cursor c = {text, text + nbytes};
    if (!take(&c, "{"))
        return false;
    bool comma = true;
    while (!take(&c, "}")) {
        if (!comma || !take_entry(&c, header))
            return false;
        comma = take(&c, ",");
    }
    skip_space(&c);
    return c.at == c.end && header->descr && header->shape && header->has_fortran;
}

/* Reads the bytes before the elements; `text` holds HEADER_MOST. */
static kr_status read_header(struct kr_input *input, char *text, struct header *header, kr_error *err)
{
    unsigned char begin[12] = {0};
    uint64_t got = 0;
    kr_status status = kr_input_read(input, begin, 8, &got, err);
    if (status != KR_OK)
        return status;
    if (got < 8 || memcmp(begin, "\x93NUMPY", 6) != 0)
        return kr_fail(err, KR_ERR_FORMAT, "%s is not a .npy file: it does not begin with \\x93NUMPY",
                       input->name);
    if (begin[6] < 1 || begin[6] > 3 || begin[7] != 0)
        return kr_fail(err, KR_ERR_FORMAT, "%s is .npy version %u.%u; versions 1.0, 2.0 and 3.0 can be read",
                       input->name, begin[6], begin[7]);

    uint64_t length_nbytes = begin[6] == 1 ? 2 : 4;
    status = kr_input_read(input, begin + 8, length_nbytes, &got, err);
    if (status != KR_OK)
        return status;
    uint64_t nbytes =
        begin[8] | (uint64_t)begin[9] << 8 | (uint64_t)begin[10] << 16 | (uint64_t)begin[11] << 24;
    if (got < length_nbytes || input->position + nbytes > input->nbytes)
        return kr_fail(err, KR_ERR_FORMAT, "%s ends within its .npy header, which should have %llu bytes",
                       input->name, (unsigned long long)nbytes);
    if (nbytes > HEADER_MOST)
        return kr_fail(err, KR_ERR_FORMAT, "%s has a .npy header of %llu bytes, which is more than %d",
                       input->name, (unsigned long long)nbytes, HEADER_MOST);
    status = kr_input_read(input, text, nbytes, &got, err);
    if (status == KR_OK && !parse(text, nbytes, header)) {
        char shown[KR_IO_SHOWN_NBYTES];
        kr_io_show(shown, text, nbytes);
        return kr_fail(err, KR_ERR_FORMAT,
                       "%s has a malformed .npy header: no valid descr, fortran_order and shape in: %s",
                       input->name, shown);
    }
    header->offset = input->position;
    return status;
}

static const struct dtype {
    const char *name;
    kr_type type;
    uint32_t nbytes; /* in the file */
} dtypes[] = {
    {"|u1", KR_U8, 1},  {"|i1", KR_I8, 1},  {"<u1", KR_U8, 1},        {"<i1", KR_I8, 1},  {"<u2", KR_U16, 2},
    {"<i2", KR_I16, 2}, {"<u4", KR_U32, 4}, {"<i4", KR_I32, 4},       {"<u8", KR_U64, 8}, {"<i8", KR_I64, 8},
    {"<f4", KR_F32, 4}, {"<f8", KR_F64, 8}, {"<M8[D]", KR_DATE32, 8},
};

static const struct dtype *find_dtype(const struct header *header)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strlen(dtypes[i].name) == header->descr_nbytes &&
            memcmp(dtypes[i].name, header->descr, header->descr_nbytes) == 0)
            return &dtypes[i];
    return NULL;
}

/* Checks that keyray has a type for this column and that the elements fill the file. */
static kr_status check_header(const struct kr_input *input, const struct header *header,
                              const struct dtype **dtype, kr_error *err)
{
    char shown[KR_IO_SHOWN_NBYTES];
    *dtype = find_dtype(header);
    if (!*dtype) {
        kr_io_show(shown, header->descr, header->descr_nbytes);
        return kr_fail(err, KR_ERR_FORMAT,
                       "%s has dtype '%s'; little-endian i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 and M8[D] can be read",
                       input->name, shown);
    }
    if (header->dimensions != 1) {
        kr_io_show(shown, header->shape, header->shape_nbytes);
        return kr_fail(err, KR_ERR_FORMAT, "%s has shape %s%s; a column has one dimension", input->name,
                       shown, header->fortran ? " in Fortran order" : "");
    }
    uint64_t nbytes = 0;
    uint64_t there = input->nbytes - header->offset;
    if (__builtin_mul_overflow(header->count, (uint64_t)(*dtype)->nbytes, &nbytes) || nbytes != there)
        return kr_fail(err, KR_ERR_FORMAT,
                       "%s: its header says %llu elements of %u bytes, but %llu bytes follow the header",
                       input->name, (unsigned long long)header->count, (*dtype)->nbytes,
                       (unsigned long long)there);
    return KR_OK;
}

/* Stores a buffer of days; NaT, the smallest int64, becomes NULL. */
static kr_status store_days(const struct kr_input *input, const int64_t *days, uint64_t first, uint64_t count,
                            struct kr_file *file, kr_error *err)
{
    int32_t *out = file->data;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t row = first + i;
        if (days[i] >= INT32_MIN && days[i] <= INT32_MAX) {
            out[row] = (int32_t)days[i];
            continue;
        }
        if (days[i] != INT64_MIN)
            return kr_fail(err, KR_ERR_FORMAT, "%s: row %llu is day %lld, which does not fit in date32",
                           input->name, (unsigned long long)row, (long long)days[i]);
        kr_status status = kr_file_set_null(file, row, file->column.count, err);
        if (status != KR_OK)
            return status;
    }
    return KR_OK;
}

static kr_status read_days(struct kr_input *input, uint64_t count, struct kr_file *file, kr_error *err)
{
    const uint64_t buffer = KR_IO_BUFFER_NBYTES / sizeof(int64_t), most = count < buffer ? count : buffer;
    file->column = (kr_column){.type = KR_DATE32, .count = count};
    file->data = kr_host_calloc(count, sizeof(int32_t), "a column", err);
    int64_t *days = file->data ? kr_host_calloc(most, sizeof *days, "a read buffer", err) : NULL;
    kr_status status = days ? KR_OK : KR_ERR_HOST_MEMORY;
    for (uint64_t first = 0; status == KR_OK && first < count; first += most) {
        uint64_t n = count - first < most ? count - first : most;
        uint64_t got = 0;
        status = kr_input_read(input, days, n * sizeof *days, &got, err);
        if (status == KR_OK)
            status = store_days(input, days, first, n, file, err);
    }
    free(days);
    return status;
}

kr_status kr_read_npy(struct kr_input *input, const char *selector, struct kr_file *file, kr_error *err)
{
    if (*selector)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "%s takes nothing after it: a .npy file has one column and names its type",
                       input->name);
    char *text = kr_host_calloc(HEADER_MOST, 1, "a .npy header", err);
    if (!text)
        return KR_ERR_HOST_MEMORY;
    struct header header = {0};
    const struct dtype *dtype = NULL;
    kr_status status = read_header(input, text, &header, err);
    if (status == KR_OK)
        status = check_header(input, &header, &dtype, err);
    if (status == KR_OK && dtype->nbytes != kr_type_nbytes(dtype->type))
        status = read_days(input, header.count, file, err);
    else if (status == KR_OK)
        status = kr_read_elements(input, dtype->type, header.count, file, err);
    free(text);
    return status;
}
