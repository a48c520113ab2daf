/* Indexes for tests of saved files, their answers, and files whose checksums are made right again after bytes
 * were changed. */
#ifndef KEYRAY_TESTS_SAVED_FILES_H
#define KEYRAY_TESTS_SAVED_FILES_H

#include "check.h"

#include <unistd.h>

/* ---- Answers ------------------------------------------------------------------------------------ */

enum { ASKED = 64, ROOM_OF_ROWS = 1 << 16 };

/* Of a spec's kind: KR_CAN_*. */
static inline uint32_t capabilities_of(const char *spec)
{
    kr_kind_info kind = {.struct_size = sizeof kind};
    const size_t length = strcspn(spec, ":");
    for (uint32_t i = 0; kr_kind_query(i, &kind, NULL) == KR_OK; ++i)
        if (strlen(kind.name) == length && memcmp(kind.name, spec, length) == 0)
            return kind.capabilities;
    return 0;
}

static inline uint64_t mix_in(uint64_t sum, const void *data, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; ++i)
        sum = (sum ^ ((const uint8_t *)data)[i]) * UINT64_C(1099511628211);
    return sum;
}

/* Row ids and counts of points and, if the kind can, of ranges, for ASKED probes. */
static inline uint64_t answers_of(kr_index *index, const kr_column *lower, const kr_column *upper)
{
    static uint32_t rows[ROOM_OF_ROWS];
    uint64_t offsets[ASKED + 1] = {0}, sum = 14695981039346656037u;
    uint32_t first[ASKED] = {0};
    kr_index_info info = {.struct_size = sizeof info};
    WORKS(kr_index_query(index, &info, &err));
    const int ranges = (capabilities_of(info.spec) & KR_CAN_RANGE) != 0;
    const kr_sink row = {.struct_size = sizeof row, .result = KR_RESULT_ROW, .out = first};
    const kr_sink lists = {.struct_size = sizeof lists,
                           .result = KR_RESULT_ROWS,
                           .out = offsets,
                           .rows = rows,
                           .rows_capacity = ROOM_OF_ROWS,
                           .order = KR_ORDER_ROW};
    for (int range = 0; range <= ranges; ++range) {
        WORKS(range ? kr_index_range(index, lower, upper, &row, NULL, &err)
                    : kr_index_lookup(index, lower, &row, NULL, &err));
        WORKS(range ? kr_index_range(index, lower, upper, &lists, NULL, &err)
                    : kr_index_lookup(index, lower, &lists, NULL, &err));
        sum = mix_in(sum, first, sizeof first);
        sum = mix_in(sum, offsets, sizeof offsets);
        sum = mix_in(sum, rows, offsets[ASKED] * sizeof *rows);
    }
    return sum;
}

/* ---- Bytes -------------------------------------------------------------------------------------- */

typedef struct bytes {
    unsigned char *data; /* of malloc */
    uint64_t n;
} bytes;

/* All pieces, which are as long as they say. */
static inline bytes bytes_of_index(const kr_index *index, const kr_save_options *options)
{
    bytes made = {NULL, 0};
    kr_pieces *pieces = NULL;
    const void *data = NULL;
    uint64_t n = 0, done = 0;
    double fraction = 0, before = 0;
    WORKS(kr_index_pieces(index, options, &pieces, &err));
    made.n = kr_pieces_nbytes(pieces);
    made.data = malloc(made.n + 1);
    for (kr_status status = KR_OK; status == KR_OK; done += n, before = fraction) {
        status = kr_pieces_next(pieces, &data, &n, &fraction, NULL);
        CHECK(status == KR_OK && fraction >= before && fraction <= 1 && done + n <= made.n);
        if (n == 0 || status != KR_OK || done + n > made.n)
            break;
        memcpy(made.data + done, data, n);
    }
    CHECK(done == made.n && fraction == 1);
    kr_pieces_destroy(pieces);
    return made;
}

static inline bytes read_bytes(const char *path)
{
    bytes made = {NULL, 0};
    FILE *file = fopen(path, "rb");
    if (!file)
        return made;
    fseek(file, 0, SEEK_END);
    made.n = (uint64_t)ftell(file);
    rewind(file);
    made.data = malloc(made.n + 1);
    CHECK(fread(made.data, 1, made.n, file) == made.n);
    fclose(file);
    return made;
}

static inline void write_bytes(const char *path, const bytes *from)
{
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(from->data, 1, from->n, file) == from->n);
    if (file)
        fclose(file);
}

/* ---- The format, once more (docs/format.md) ------------------------------------------------------ */

/* CRC-32C bit by bit. */
static inline uint32_t slow_crc(const unsigned char *at, uint64_t nbytes)
{
    uint32_t sum = 0xFFFFFFFF;
    for (uint64_t i = 0; i < nbytes; ++i) {
        sum ^= at[i];
        for (int bit = 0; bit < 8; ++bit)
            sum = sum >> 1 ^ (sum & 1 ? 0x82F63B78u : 0);
    }
    return ~sum;
}

static inline uint64_t number_at(const bytes *file, uint64_t offset, uint32_t nbytes)
{
    uint64_t number = 0;
    memcpy(&number, file->data + offset, nbytes);
    return number;
}

static inline void put_number(bytes *file, uint64_t offset, uint64_t number, uint32_t nbytes)
{
    memcpy(file->data + offset, &number, nbytes);
}

/* A field of the directory. */
typedef struct file_field {
    uint32_t kind;    /* 1 number, 2 text, 3 array */
    const char *name; /* not ended by a NUL */
    uint32_t name_nbytes;
    uint64_t value_at, content_at; /* in the file: the number, or how many bytes; the text, or checksums */
    uint64_t value, offset;
} file_field;

static inline uint64_t full8(uint64_t nbytes)
{
    return (nbytes + 7) / 8 * 8;
}

/* The field at *at, which becomes that of the next. */
static inline file_field field_at(const bytes *file, uint64_t *at)
{
    file_field field = {.kind = (uint32_t)number_at(file, *at, 4),
                        .name_nbytes = (uint32_t)number_at(file, *at + 4, 4),
                        .value_at = *at + 8,
                        .value = number_at(file, *at + 8, 8),
                        .offset = number_at(file, *at + 16, 8),
                        .name = (const char *)file->data + *at + 24};
    field.content_at = *at + 24 + full8(field.name_nbytes);
    const uint64_t blocks = (field.value + (1 << 20) - 1) >> 20;
    *at = field.content_at + full8(field.kind == 2   ? field.value + 1
                                   : field.kind == 3 ? blocks * sizeof(uint32_t)
                                                     : 0);
    return field;
}

static inline uint64_t directory_at(const bytes *file)
{
    return number_at(file, 24, 8);
}

static inline uint32_t field_count(const bytes *file)
{
    return (uint32_t)number_at(file, directory_at(file), 4);
}

/* The field of that name; kind 0: there is none. */
static inline file_field find_field(const bytes *file, const char *name)
{
    uint64_t at = directory_at(file) + 8;
    for (uint32_t i = 0; i < field_count(file); ++i) {
        const file_field field = field_at(file, &at);
        if (field.name_nbytes == strlen(name) && memcmp(field.name, name, field.name_nbytes) == 0)
            return field;
    }
    return (file_field){0};
}

/* Makes all checksums right. */
static inline void mend(bytes *file)
{
    uint64_t at = directory_at(file) + 8;
    for (uint32_t i = 0; i < field_count(file); ++i) {
        const file_field field = field_at(file, &at);
        for (uint64_t begin = 0, block = 0; field.kind == 3 && begin < field.value;
             begin += 1 << 20, ++block) {
            const uint64_t left = field.value - begin, n = left < 1 << 20 ? left : 1 << 20;
            put_number(file, field.content_at + 4 * block, slow_crc(file->data + field.offset + begin, n), 4);
        }
    }
    const uint64_t from = directory_at(file), n = file->n - 4 - from;
    put_number(file, file->n - 4, slow_crc(file->data + from, n), 4);
    put_number(file, 60, slow_crc(file->data, 60), 4);
}

#endif
