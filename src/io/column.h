/* A column that grows field by field, and infers its type when none is given. */
#ifndef KEYRAY_IO_COLUMN_H
#define KEYRAY_IO_COLUMN_H

#include "io/io.h"

/* Where a field is, for errors: "file:line: column 'name': ...". */
struct kr_place {
    const char *file;
    uint64_t line;
    char column[KR_IO_SHOWN_NBYTES + 2]; /* 'name', or a number */
};

struct kr_builder {
    struct kr_file *file;
    const struct kr_place *place;
    uint64_t count, room;
    kr_type type; /* 0 until the first value decides it */
    kr_unit unit;
    uint32_t each;
    bool inferred;
    bool unit_inferred; /* of a timestamp64 whose first value decides: microseconds for a time, none for an
                           integer */
    bool any_value;     /* one that is not NULL was appended since the type is known */
    bool decimals;      /* one was seen while inferring */
    bool quoted;        /* the field that is appended is quoted */
    const char *nulls;  /* words that are NULL without quotes, with ',' between them; or NULL */
    /* An integer beyond i64 is an error unless the column turns out to hold decimals, which a later
     * field may show. Its line, 0 for none, and its text. */
    uint64_t large_line;
    char large_text[KR_IO_SHOWN_NBYTES];
};

/* `type` 0 lets the fields decide; `strings` makes a dictionary. Everything is built in *file,
 * so that the owner of *file frees it whatever happens. `nulls` lives as long as the builder. */
kr_status kr_builder_begin(struct kr_builder *builder, kr_type type, kr_unit unit, bool strings,
                           const char *nulls, struct kr_file *file, const struct kr_place *place,
                           kr_error *err);
/* Appends a row. Empty text is NULL, and so is one of `nulls` that is not quoted. */
kr_status kr_builder_append(struct kr_builder *builder, const char *text, size_t nbytes, bool quoted,
                            kr_error *err);
/* The same for the n-th value of a list, n from 1; see kr_value_parse_literal. */
kr_status kr_builder_append_literal(struct kr_builder *builder, const char *text, size_t nbytes, bool quoted,
                                    uint64_t n, kr_error *err);
/* Fills in file->column and file->unit. */
kr_status kr_builder_end(struct kr_builder *builder, kr_error *err);

#endif
