/* .npy, versions 1 to 3: "\x93NUMPY", major, minor, the header's length, and a Python dictionary
 * {'descr': '<i4', 'fortran_order': False, 'shape': (3,), } before the elements. */
#include "base/values/convert.h"
#include "io/hints.h"
#include "io/io.h"

#include "base/util/error.h"

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
    if (got < length_nbytes || (input->nbytes != KR_IO_UNKNOWN && input->position + nbytes > input->nbytes))
        return kr_fail(err, KR_ERR_FORMAT, "%s ends within its .npy header, which should have %llu bytes",
                       input->name, (unsigned long long)nbytes);
    if (nbytes > HEADER_MOST)
        return kr_fail(err, KR_ERR_FORMAT, "%s has a .npy header of %llu bytes, which is more than %d",
                       input->name, (unsigned long long)nbytes, HEADER_MOST);
    status = kr_input_read(input, text, nbytes, &got, err);
    if (status == KR_OK && got < nbytes)
        return kr_fail(err, KR_ERR_FORMAT, "%s ends within its .npy header, which should have %llu bytes",
                       input->name, (unsigned long long)nbytes);
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

/* How elements of the file become those of a column: as they are, or by a function. `file` holds them as
 * `read`. */
typedef kr_status (*finish_elements)(const struct kr_input *input, struct kr_file *file, kr_error *err);

static kr_status finish_bools(const struct kr_input *input, struct kr_file *file, kr_error *err);
static kr_status finish_halves(const struct kr_input *input, struct kr_file *file, kr_error *err);
static kr_status finish_days(const struct kr_input *input, struct kr_file *file, kr_error *err);
static kr_status finish_times(const struct kr_input *input, struct kr_file *file, kr_error *err);

static const struct dtype {
    const char *name; /* without the byte order */
    kr_type read;
    kr_unit unit;
    finish_elements finish; /* or NULL */
} dtypes[] = {
    {"u1", KR_U8, KR_UNIT_NONE, NULL},
    {"i1", KR_I8, KR_UNIT_NONE, NULL},
    {"u2", KR_U16, KR_UNIT_NONE, NULL},
    {"i2", KR_I16, KR_UNIT_NONE, NULL},
    {"u4", KR_U32, KR_UNIT_NONE, NULL},
    {"i4", KR_I32, KR_UNIT_NONE, NULL},
    {"u8", KR_U64, KR_UNIT_NONE, NULL},
    {"i8", KR_I64, KR_UNIT_NONE, NULL},
    {"f2", KR_U16, KR_UNIT_NONE, finish_halves},
    {"f4", KR_F32, KR_UNIT_NONE, NULL},
    {"f8", KR_F64, KR_UNIT_NONE, NULL},
    {"b1", KR_U8, KR_UNIT_NONE, finish_bools},
    {"M8[D]", KR_I64, KR_UNIT_NONE, finish_days},
    {"M8[s]", KR_TIMESTAMP64, KR_UNIT_S, finish_times},
    {"M8[ms]", KR_TIMESTAMP64, KR_UNIT_MS, finish_times},
    {"M8[us]", KR_TIMESTAMP64, KR_UNIT_US, finish_times},
    {"M8[ns]", KR_TIMESTAMP64, KR_UNIT_NS, finish_times},
};

/* '<' or '>' comes first, or '|' where an element is one byte. */
static const struct dtype *find_dtype(const struct header *header)
{
    const char *name = header->descr + 1;
    const size_t nbytes = header->descr_nbytes ? header->descr_nbytes - 1 : 0;
    for (size_t i = 0; nbytes && i < sizeof dtypes / sizeof *dtypes; i++)
        if (strlen(dtypes[i].name) == nbytes && memcmp(dtypes[i].name, name, nbytes) == 0 &&
            (*header->descr == '<' || *header->descr == '>' ||
             (*header->descr == '|' && kr_type_nbytes(dtypes[i].read) == 1)))
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
        return kr_fail(
            err, KR_ERR_FORMAT,
            "%s has dtype '%s'; i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 b1 and M8[D|s|ms|us|ns] can be read: "
            "convert it with numpy's astype",
            input->name, shown);
    }
    if (header->dimensions != 1) {
        kr_io_show(shown, header->shape, header->shape_nbytes);
        return kr_fail(err, KR_ERR_FORMAT, "%s has shape %s%s; a column has one dimension", input->name,
                       shown, header->fortran ? " in Fortran order" : "");
    }
    const uint32_t each = kr_type_nbytes((*dtype)->read);
    uint64_t nbytes = 0, there = input->nbytes - header->offset;
    const bool fits = !__builtin_mul_overflow(header->count, (uint64_t)each, &nbytes);
    if (!fits || (input->nbytes != KR_IO_UNKNOWN && nbytes != there))
        return kr_fail(err, KR_ERR_FORMAT,
                       "%s: its header says %llu elements of %u bytes, but %llu bytes follow the header",
                       input->name, (unsigned long long)header->count, each, (unsigned long long)there);
    return KR_OK;
}

/* ---- Elements ------------------------------------------------------------------------------ */

static void swap_bytes(void *data, uint64_t count, uint32_t each)
{
    uint16_t *twos = data;
    uint32_t *fours = data;
    uint64_t *eights = data;
    for (uint64_t i = 0; each == 2 && i < count; i++)
        twos[i] = __builtin_bswap16(twos[i]);
    for (uint64_t i = 0; each == 4 && i < count; i++)
        fours[i] = __builtin_bswap32(fours[i]);
    for (uint64_t i = 0; each == 8 && i < count; i++)
        eights[i] = __builtin_bswap64(eights[i]);
}

static kr_status finish_bools(const struct kr_input *input, struct kr_file *file, kr_error *err)
{
    uint8_t *bytes = file->data;
    (void)input, (void)err;
    for (uint64_t i = 0; i < file->column.count; i++)
        bytes[i] = bytes[i] != 0;
    return KR_OK;
}

/* Every half is a float: 10 bits of fraction, 5 of exponent. */
static float widen(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half >> 15) << 31, exponent = half >> 10 & 31, fraction = half & 1023;
    const float small = (float)fraction * 0x1p-24f; /* exponent 0 */
    uint32_t bits;
    if (exponent == 0)
        return sign ? -small : small;
    bits = sign | (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static kr_status finish_halves(const struct kr_input *input, struct kr_file *file, kr_error *err)
{
    const uint64_t count = file->column.count;
    const uint16_t *halves = file->data;
    float *floats = kr_host_calloc(count, sizeof *floats, "a column", err);
    (void)input;
    if (!floats)
        return KR_ERR_HOST_MEMORY;
    for (uint64_t i = 0; i < count; i++)
        floats[i] = widen(halves[i]);
    free(file->data);
    file->data = floats;
    file->column.type = KR_F32;
    return KR_OK;
}

/* Days take the place of their 64 bits, the first ones first; NaT, the smallest int64, becomes NULL. */
static kr_status finish_days(const struct kr_input *input, struct kr_file *file, kr_error *err)
{
    const uint64_t count = file->column.count;
    char *data = file->data;
    for (uint64_t row = 0; row < count; row++) {
        int64_t day;
        memcpy(&day, data + row * sizeof day, sizeof day);
        const bool null = day == INT64_MIN;
        if (!null && (day < INT32_MIN || day > INT32_MAX))
            return kr_fail(err, KR_ERR_FORMAT, "%s: row %llu is day %lld, which does not fit in date32",
                           input->name, (unsigned long long)row, (long long)day);
        const int32_t narrow = null ? 0 : (int32_t)day;
        memcpy(data + row * sizeof narrow, &narrow, sizeof narrow);
        kr_status status = null ? kr_file_set_null(file, row, count, err) : KR_OK;
        if (status != KR_OK)
            return status;
    }
    data = kr_io_resize(data, count, sizeof(int32_t), "a column", err);
    if (!data)
        return KR_ERR_HOST_MEMORY;
    file->data = data;
    file->column.type = KR_DATE32;
    return KR_OK;
}

static kr_status finish_times(const struct kr_input *input, struct kr_file *file, kr_error *err)
{
    int64_t *times = file->data;
    kr_status status = KR_OK;
    (void)input;
    for (uint64_t row = 0; row < file->column.count && status == KR_OK; row++)
        if (times[row] == INT64_MIN) {
            times[row] = 0;
            status = kr_file_set_null(file, row, file->column.count, err);
        }
    return status;
}

/* ---- All ----------------------------------------------------------------------------------- */

/* The type behind the path: an exact conversion. Integers have no unit until one is given. */
static kr_status convert(struct kr_input *input, const char *selector, struct kr_file *file, kr_error *err)
{
    struct kr_file like = {0};
    like.column.type = kr_io_type_named(selector, &like.unit);
    const bool wants_time = like.column.type == KR_TIMESTAMP64;
    if (wants_time && like.unit == KR_UNIT_NONE)
        like.unit = file->column.type == KR_DATE32 ? KR_UNIT_US : file->unit;
    file->column.data = file->data;
    file->column.validity = file->validity;
    if (wants_time && kr_value_types_compare(file->column.type, KR_I64)) {
        const struct kr_file integers = {.column.type = KR_I64};
        const kr_status status = kr_file_recast(file, &integers, err);
        file->column.type = KR_TIMESTAMP64;
        file->unit = like.unit;
        return status;
    }
    if (!kr_value_types_compare(file->column.type, like.column.type))
        return kr_fail(err, KR_ERR_ARGUMENT, "%s is %s, which cannot be read as %s", input->name,
                       kr_type_name(file->column.type), selector);
    return file->column.type == like.column.type && file->unit == like.unit
               ? KR_OK
               : kr_file_recast(file, &like, err);
}

static kr_status read_elements(struct kr_input *input, const struct header *header, const struct dtype *dtype,
                               struct kr_file *file, kr_error *err)
{
    kr_status status = kr_read_elements(input, dtype->read, header->count, file, err);
    if (status != KR_OK)
        return status;
    if (*header->descr == '>')
        swap_bytes(file->data, header->count, kr_type_nbytes(dtype->read));
    file->unit = dtype->unit;
    return dtype->finish ? dtype->finish(input, file, err) : KR_OK;
}

kr_status kr_read_npy(struct kr_input *input, const char *selector, struct kr_file *file, kr_error *err)
{
    kr_unit unit;
    char shown[KR_IO_SHOWN_NBYTES], hint[KR_TYPE_HINT_NBYTES];
    kr_io_show(shown, selector, strlen(selector));
    if (*selector && !kr_io_type_named(selector, &unit))
        return kr_fail(
            err, KR_ERR_ARGUMENT,
            "%s takes only a type after it, not '%s'%s: it has one column; types are " KR_IO_TYPE_NAMES,
            input->name, shown, kr_io_type_hint(shown, false, hint));
    char *text = kr_host_calloc(HEADER_MOST, 1, "a .npy header", err);
    if (!text)
        return KR_ERR_HOST_MEMORY;
    struct header header = {0};
    const struct dtype *dtype = NULL;
    kr_status status = read_header(input, text, &header, err);
    if (status == KR_OK)
        status = check_header(input, &header, &dtype, err);
    if (status == KR_OK)
        status = read_elements(input, &header, dtype, file, err);
    if (status == KR_OK && *selector)
        status = convert(input, selector, file, err);
    free(text);
    return status;
}
