/* .csv and .tbl: rows of fields. The file is read through a window that always holds one whole row; the
 * fields of the wanted column are cut out of it, the others only counted. */
#include "io/column.h"
#include "io/lines.h"

#include "base/util/error.h"
#include "base/util/spelling.h"
#include "base/values/values.h"
#include "io/hints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct field {
    const char *text;
    size_t nbytes;
    bool quoted; /* outer quotes are cut off, doubled quotes inside are still there */
};

struct row {
    const char *next; /* where the following row begins */
    uint64_t n_fields, n_lines;
    bool empty;         /* nothing but the line's end */
    struct field field; /* of the column wanted, when there are enough */
};

struct scanner {
    struct kr_input *input;
    char *data;
    size_t room, start, end; /* data[start .. end) is not yet read */
    bool ended;              /* nothing follows in the file */
    char separator;
    bool quotes;      /* else every row ends with a separator */
    bool any_quotes;  /* there are some in the window, so rows are searched for them */
    bool any_returns; /* the window has CRs that may be line ends of their own: no LF follows, or not yet */
    uint64_t column;
    struct kr_place place;
};

enum cut { CUT_WHOLE, CUT_SHORT, CUT_WRONG };

/* ---- The window ---------------------------------------------------------------------------- */

static kr_status refill(struct scanner *scanner, kr_error *err)
{
    if (scanner->start == 0 && scanner->end == scanner->room) {
        /* A small file fits whole, with one byte more to find its end. */
        const uint64_t nbytes = scanner->input->nbytes;
        size_t first = nbytes < KR_IO_BUFFER_NBYTES ? (size_t)nbytes + 1 : KR_IO_BUFFER_NBYTES;
        size_t room = scanner->room ? 2 * scanner->room : first;
        char *data = kr_io_resize(scanner->data, room, 1, "a row of text", err);
        if (!data)
            return KR_ERR_HOST_MEMORY;
        scanner->data = data;
        scanner->room = room;
    }
    if (scanner->end > scanner->start)
        memmove(scanner->data, scanner->data + scanner->start, scanner->end - scanner->start);
    scanner->end -= scanner->start;
    scanner->start = 0;
    uint64_t wanted = scanner->room - scanner->end, got = 0;
    kr_status status = kr_input_read(scanner->input, scanner->data + scanner->end, wanted, &got, err);
    scanner->end += (size_t)got;
    scanner->ended = got < wanted;
    scanner->any_quotes = scanner->quotes && memchr(scanner->data, '"', scanner->end);
    scanner->any_returns = lines_find_lone_return(scanner->data, scanner->data + scanner->end);
    return status;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

/* A row without quotes, whose fields end at `end`. */
static void split_plain(const struct scanner *scanner, const char *begin, const char *end, struct row *row)
{
    const char separator = scanner->separator;
    const char *field = scanner->column ? lines_skip_bytes(begin, end, separator, scanner->column) : begin;
    if (!field) {
        row->n_fields = 1 + lines_count_bytes(begin, end, separator);
        return;
    }
    const char *stop = memchr(field, separator, (size_t)(end - field));
    row->n_fields = scanner->column + 1 + (stop ? 1 + lines_count_bytes(stop + 1, end, separator) : 0);
    row->field = (struct field){field, (size_t)((stop ? stop : end) - field), false};
}

/* Cuts one field of a row with quotes and leaves *at behind its separator, or, in the row's last field,
 * behind its line end. CUT_WRONG leaves *at where the fault is. */
static enum cut cut_quoted(const struct scanner *scanner, const char **at, struct field *field, bool *last)
{
    const char *end = scanner->data + scanner->end, *begin = *at, *close = begin;
    field->quoted = begin < end && *begin == '"';
    if (field->quoted) {
        for (close = begin + 1;; close += 2) {
            close = memchr(close, '"', (size_t)(end - close));
            if (!close)
                return scanner->ended ? CUT_WRONG : CUT_SHORT;
            if (close + 1 == end || close[1] != '"')
                break;
        }
        *field = (struct field){begin + 1, (size_t)(close - begin - 1), true};
        close++;
    }
    const char *stop = close;
    while (stop < end && *stop != scanner->separator && *stop != '\n' && *stop != '\r' && *stop != '"')
        stop++;
    if (!scanner->ended && (stop == end || (*stop == '\r' && stop + 1 == end)))
        return CUT_SHORT;
    *last = stop == end || *stop == '\n' || *stop == '\r';
    if ((stop < end && *stop == '"') || (field->quoted && stop != close))
        return CUT_WRONG;
    if (!field->quoted)
        *field = (struct field){begin, (size_t)(stop - begin), false};
    *at = *last ? lines_skip_end(stop, end) : stop + 1;
    return CUT_WHOLE;
}

static enum cut split_quoted(const struct scanner *scanner, const char **at, struct row *row)
{
    const char *begin = *at;
    bool last = false;
    for (row->n_fields = 0; !last; row->n_fields++) {
        struct field field;
        enum cut cut = cut_quoted(scanner, at, &field, &last);
        if (cut != CUT_WHOLE)
            return cut;
        if (row->n_fields == scanner->column)
            row->field = field;
    }
    row->next = *at;
    row->empty = false;
    row->n_lines = lines_count(begin, *at);
    return CUT_WHOLE;
}

/* Finds the row that begins at the window's start. CUT_WRONG leaves *at where the fault is. */
static enum cut cut_row(const struct scanner *scanner, const char **at, struct row *row)
{
    const char *begin = scanner->data + scanner->start, *end = scanner->data + scanner->end;
    *at = begin;
    const char *stop = scanner->any_returns ? NULL : memchr(begin, '\n', (size_t)(end - begin));
    if (!stop)
        stop = scanner->any_returns ? lines_find_end(begin, end) : end;
    /* What follows the last byte, if it is a CR, is not known yet. */
    if (!scanner->ended && (stop == end || (*stop == '\r' && stop + 1 == end)))
        return CUT_SHORT;
    if (scanner->any_quotes && memchr(begin, '"', (size_t)(stop - begin)))
        return split_quoted(scanner, at, row);
    row->next = lines_skip_end(stop, end);
    row->n_lines = 1;
    if (!scanner->any_returns && stop > begin && stop[-1] == '\r')
        stop--;
    row->empty = stop == begin;
    row->n_fields = 0;
    if (!scanner->quotes && row->empty)
        return CUT_WHOLE;
    if (!scanner->quotes && *--stop != scanner->separator)
        return CUT_WRONG;
    split_plain(scanner, begin, stop, row);
    return CUT_WHOLE;
}

/* Finds the next row; *more is false at the end. The row stays in the window until the caller's leave_row. */
static kr_status next_row(struct scanner *scanner, struct row *row, bool *more, kr_error *err)
{
    const char *at;
    enum cut cut = CUT_SHORT;
    for (;;) {
        *more = scanner->start < scanner->end;
        if (*more)
            cut = cut_row(scanner, &at, row);
        if (cut != CUT_SHORT || scanner->ended)
            break;
        kr_status status = refill(scanner, err);
        if (status != KR_OK)
            return status;
    }
    if (!*more || cut == CUT_WHOLE)
        return KR_OK;
    const char *begin = scanner->data + scanner->start;
    return kr_fail(err, KR_ERR_FORMAT, "%s:%llu: byte %llu of the row, reading column %s: %s",
                   scanner->place.file, (unsigned long long)(scanner->place.line + lines_count(begin, at)),
                   (unsigned long long)(at - begin), scanner->place.column,
                   scanner->quotes ? "the quotes of this field do not follow RFC 4180, or are not closed"
                                   : "the row does not end with '|'");
}

static void leave_row(struct scanner *scanner, const struct row *row)
{
    scanner->place.line += row->n_lines;
    scanner->start = (size_t)(row->next - scanner->data);
}

/* Undoes doubled quotes, in the window. */
static void unquote(struct scanner *scanner, struct field *field)
{
    if (!field->quoted || !memchr(field->text, '"', field->nbytes))
        return;
    char *out = scanner->data + (field->text - scanner->data), *begin = out;
    for (size_t i = 0; i < field->nbytes; i++) {
        *out++ = field->text[i];
        i += field->text[i] == '"';
    }
    *field = (struct field){begin, (size_t)(out - begin), false};
}

/* ---- What is wanted ------------------------------------------------------------------------ */

/* "name", "name:u32", "name:str", "name:timestamp64[s]" taken apart. */
struct wanted {
    const char *name;
    size_t nbytes;
    kr_type type; /* 0: the fields decide */
    kr_unit unit;
    bool strings;
};

static struct wanted parse_selector(const char *selector)
{
    struct wanted wanted = {.name = selector, .nbytes = strlen(selector)};
    const char *colon = strrchr(selector, ':');
    if (!colon || colon == selector)
        return wanted;
    wanted.strings = strcmp(colon + 1, "str") == 0;
    wanted.type = kr_io_type_named(colon + 1, &wanted.unit);
    if (wanted.strings || wanted.type)
        wanted.nbytes = (size_t)(colon - selector);
    return wanted;
}

static kr_status fail_fields(const struct scanner *scanner, uint64_t line, uint64_t n, uint64_t wanted,
                             bool given, kr_error *err)
{
    return kr_fail(err, KR_ERR_FORMAT,
                   "%s:%llu: the row has %llu fields, the %s has %llu (reading column %s)",
                   scanner->place.file, (unsigned long long)line, (unsigned long long)n,
                   given ? "header" : "first row", (unsigned long long)wanted, scanner->place.column);
}

/* Reads the remaining rows. `n_fields` 0: rows have as many fields as the first one. Empty lines at the end
 * are not rows; in a file with one column they may be NULLs, so there they are. */
static kr_status read_rows(struct scanner *scanner, uint64_t n_fields, struct kr_builder *builder,
                           kr_error *err)
{
    const struct kr_place *place = &scanner->place;
    const bool given = n_fields > 0;
    uint64_t empty_line = 0; /* the first one, since which all lines are empty */
    for (;;) {
        struct row row;
        bool more;
        kr_status status = next_row(scanner, &row, &more, err);
        if (status != KR_OK || !more)
            return status;
        if (row.empty && (n_fields != 1 || !scanner->quotes)) {
            empty_line = empty_line ? empty_line : place->line;
            leave_row(scanner, &row);
            continue;
        }
        if (n_fields == 0)
            n_fields = row.n_fields;
        if (empty_line)
            return fail_fields(scanner, empty_line, scanner->quotes, n_fields, given, err);
        if (row.n_fields != n_fields)
            return fail_fields(scanner, place->line, row.n_fields, n_fields, given, err);
        if (scanner->column >= n_fields)
            return kr_fail(err, KR_ERR_FORMAT, "%s has no column %s; it has columns 0 to %llu", place->file,
                           place->column, (unsigned long long)n_fields - 1);
        unquote(scanner, &row.field);
        status = kr_builder_append(builder, row.field.text, row.field.nbytes, row.field.quoted, err);
        if (status != KR_OK)
            return status;
        leave_row(scanner, &row);
    }
}

static kr_status read_column(struct scanner *scanner, const struct wanted *wanted, uint64_t n_fields,
                             struct kr_file *file, kr_error *err)
{
    struct kr_builder builder;
    kr_status status = kr_builder_begin(&builder, wanted->type, wanted->unit, wanted->strings,
                                        scanner->input->nulls, file, &scanner->place, err);
    if (status == KR_OK)
        status = read_rows(scanner, n_fields, &builder, err);
    return status == KR_OK ? kr_builder_end(&builder, err) : status;
}

/* ---- .csv and .tsv ------------------------------------------------------------------------- */

/* What the header row says. */
struct header {
    uint64_t n_fields;
    uint64_t found;      /* fields of the name wanted */
    bool looks_as_data;  /* every field is a number, a date or a time */
    bool has_typed;      /* what stands before the last ':' of the name wanted is a name */
    char names[256];     /* for the error when there is no such column */
    kr_spelling nearest; /* the same */
};

static bool is_data(const struct field *field)
{
    uint64_t value;
    return kr_value_parse(KR_F64, KR_UNIT_NONE, field->text, field->nbytes, &value) == KR_VALUE_OK ||
           (kr_value_is_time(field->text, field->nbytes) &&
            kr_value_parse(KR_TIMESTAMP64, KR_UNIT_NS, field->text, field->nbytes, &value) == KR_VALUE_OK);
}

/* Looks for the name wanted and sets scanner->column. */
static void read_names(struct scanner *scanner, const struct row *row, const struct wanted *wanted,
                       struct header *header)
{
    size_t used = 0;
    const char *at = scanner->data + scanner->start, *colon = memrchr(wanted->name, ':', wanted->nbytes);
    *header = (struct header){.n_fields = row->n_fields,
                              .looks_as_data = true,
                              .nearest = kr_spelling_begin(wanted->name, wanted->nbytes)};
    for (uint64_t i = 0; i < row->n_fields; i++) {
        struct field field;
        bool last;
        cut_quoted(scanner, &at, &field, &last);
        unquote(scanner, &field);
        if (field.nbytes == wanted->nbytes && memcmp(field.text, wanted->name, field.nbytes) == 0) {
            scanner->column = i;
            header->found++;
        }
        header->has_typed |= colon && field.nbytes == (size_t)(colon - wanted->name) &&
                             memcmp(field.text, wanted->name, field.nbytes) == 0;
        header->looks_as_data = header->looks_as_data && is_data(&field);
        char shown[KR_IO_SHOWN_NBYTES];
        kr_io_show(shown, field.text, field.nbytes);
        kr_spelling_offer(&header->nearest, shown, strlen(shown));
        if (used < sizeof header->names)
            used += (size_t)snprintf(header->names + used, sizeof header->names - used, "%s%s", i ? ", " : "",
                                     shown);
    }
}

/* "order:int64": what is behind the last ':' is not a type. */
static kr_status fail_type(const struct kr_place *place, const struct wanted *wanted, kr_error *err)
{
    const char *type = (const char *)memrchr(wanted->name, ':', wanted->nbytes) + 1;
    char shown[KR_IO_SHOWN_NBYTES], hint[KR_TYPE_HINT_NBYTES];
    kr_io_show(shown, type, strlen(type));
    return kr_fail(err, KR_ERR_ARGUMENT, "%s:%.*s: '%s' is not a type%s; types are " KR_IO_TYPE_NAMES " str",
                   place->file,
                   wanted->nbytes < KR_IO_SHOWN_NBYTES ? (int)wanted->nbytes : KR_IO_SHOWN_NBYTES,
                   wanted->name, shown, kr_io_type_hint(shown, true, hint));
}

/* "3" or "#3": the column at that position, if no column has that name. */
static kr_status find_position(struct scanner *scanner, const struct wanted *wanted,
                               const struct header *header, kr_error *err)
{
    const bool hash = wanted->nbytes > 1 && *wanted->name == '#';
    const struct kr_place *place = &scanner->place;
    char hint[KR_SPELLING_HINT_NBYTES];
    uint32_t position = 0;
    const char *colon = memrchr(wanted->name, ':', wanted->nbytes);
    const size_t before = colon ? (size_t)(colon - wanted->name) : 0;
    const bool typed_position = before > hash && kr_value_parse(KR_U32, KR_UNIT_NONE, wanted->name + hash,
                                                                before - hash, &position) == KR_VALUE_OK;
    if (header->has_typed || typed_position)
        return fail_type(place, wanted, err);
    if (kr_value_parse(KR_U32, KR_UNIT_NONE, wanted->name + hash, wanted->nbytes - hash, &position) !=
        KR_VALUE_OK)
        return kr_fail(err, KR_ERR_FORMAT, "%s has no column %s%s; its header has: %s", place->file,
                       place->column, kr_spelling_hint(&header->nearest, "'", "'", hint), header->names);
    if (position >= header->n_fields)
        return kr_fail(err, KR_ERR_FORMAT,
                       "%s has no column %s; it has columns 0 to %llu, and its header has: %s", place->file,
                       place->column, (unsigned long long)header->n_fields - 1, header->names);
    if (header->looks_as_data)
        return kr_fail(err, KR_ERR_FORMAT,
                       "%s:1: the first row must be the header, but it looks like data: %s; add a row of "
                       "names before it",
                       place->file, header->names);
    scanner->column = position;
    return KR_OK;
}

static kr_status find_column(struct scanner *scanner, const struct row *row, const struct wanted *wanted,
                             kr_error *err)
{
    struct header header;
    read_names(scanner, row, wanted, &header);
    if (header.found == 1)
        return KR_OK;
    if (header.found == 0)
        return find_position(scanner, wanted, &header, err);
    return kr_fail(err, KR_ERR_FORMAT,
                   "%s:%llu: column %s occurs %llu times in the header; give its position instead, as in #0",
                   scanner->place.file, (unsigned long long)scanner->place.line, scanner->place.column,
                   (unsigned long long)header.found);
}

/* The most frequent of ',', ';' and the tab in the header, outside quotes; ',' if two are. */
static kr_status find_separator(struct scanner *scanner, kr_error *err)
{
    static const char separators[] = ",;\t";
    for (;;) {
        uint64_t n[3] = {0};
        bool quoted = false, whole = false;
        for (size_t i = scanner->start; i < scanner->end && !whole; i++) {
            const char byte = scanner->data[i];
            quoted ^= byte == '"';
            whole = (byte == '\n' || byte == '\r') && !quoted;
            for (int s = 0; s < 3 && !quoted; s++)
                n[s] += byte == separators[s];
        }
        for (int s = 1; s < 3; s++)
            if (n[s] > n[0]) {
                n[0] = n[s];
                scanner->separator = separators[s];
            }
        if (whole || scanner->ended)
            return KR_OK;
        scanner->separator = *separators;
        kr_status status = refill(scanner, err);
        if (status != KR_OK)
            return status;
    }
}

/* Reads the first bytes, and skips a UTF-8 byte order mark, which some programs write before a table. */
static kr_status begin_text(struct scanner *scanner, kr_error *err)
{
    const kr_status status = refill(scanner, err);
    if (status != KR_OK)
        return status;
    const char *data = scanner->data;
    if (scanner->end >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
        scanner->start = 3;
    if (scanner->end >= 2 && (memcmp(data, "\xff\xfe", 2) == 0 || memcmp(data, "\xfe\xff", 2) == 0))
        return kr_fail(err, KR_ERR_FORMAT, "%s is UTF-16; save it as UTF-8", scanner->place.file);
    return KR_OK;
}

static kr_status read_header(struct scanner *scanner, const struct wanted *wanted, uint64_t *n_fields,
                             kr_error *err)
{
    kr_status status = begin_text(scanner, err);
    if (status == KR_OK && !scanner->separator)
        scanner->separator = ',', status = find_separator(scanner, err);
    if (status != KR_OK)
        return status;
    scanner->column = UINT64_MAX;
    struct row row;
    bool more;
    status = next_row(scanner, &row, &more, err);
    if (status == KR_OK && !more)
        return kr_fail(err, KR_ERR_FORMAT, "%s is empty: it has no header row with column %s",
                       scanner->place.file, scanner->place.column);
    if (status == KR_OK)
        status = find_column(scanner, &row, wanted, err);
    if (status != KR_OK)
        return status;
    *n_fields = row.n_fields;
    leave_row(scanner, &row);
    return KR_OK;
}

/* `separator` 0: the header shows it. */
static kr_status read_named(struct kr_input *input, char separator, const char *selector,
                            struct kr_file *file, kr_error *err)
{
    struct wanted wanted = parse_selector(selector);
    if (wanted.nbytes == 0)
        return kr_fail(
            err, KR_ERR_ARGUMENT,
            "%s needs a column after it: FILE.csv:NAME, FILE.csv:NAME:TYPE, or FILE.csv:0 for the first one",
            input->name);
    struct scanner scanner = {.input = input, .separator = separator, .quotes = true};
    char shown[KR_IO_SHOWN_NBYTES];
    kr_io_show(shown, wanted.name, wanted.nbytes);
    scanner.place = (struct kr_place){.file = input->name, .line = 1};
    snprintf(scanner.place.column, sizeof scanner.place.column, "'%s'", shown);
    uint64_t n_fields = 0;
    kr_status status = read_header(&scanner, &wanted, &n_fields, err);
    if (status == KR_OK)
        status = read_column(&scanner, &wanted, n_fields, file, err);
    free(scanner.data);
    return status;
}

kr_status kr_read_csv(struct kr_input *input, const char *selector, struct kr_file *file, kr_error *err)
{
    return read_named(input, 0, selector, file, err);
}

kr_status kr_read_tsv(struct kr_input *input, const char *selector, struct kr_file *file, kr_error *err)
{
    return read_named(input, '\t', selector, file, err);
}

/* ---- .tbl ---------------------------------------------------------------------------------- */

kr_status kr_read_tbl(struct kr_input *input, const char *selector, struct kr_file *file, kr_error *err)
{
    struct wanted wanted = parse_selector(selector);
    struct scanner scanner = {.input = input, .separator = '|'};
    scanner.place = (struct kr_place){.file = input->name, .line = 1};
    kr_io_show(scanner.place.column, wanted.name, wanted.nbytes);
    uint32_t number;
    const char *colon = memrchr(wanted.name, ':', wanted.nbytes);
    if (colon && kr_value_parse(KR_U32, KR_UNIT_NONE, wanted.name, (size_t)(colon - wanted.name), &number) ==
                     KR_VALUE_OK)
        return fail_type(&scanner.place, &wanted, err);
    if (kr_value_parse(KR_U32, KR_UNIT_NONE, wanted.name, wanted.nbytes, &number) != KR_VALUE_OK)
        return kr_fail(
            err, KR_ERR_ARGUMENT,
            "%s needs a column number after it, not '%s': FILE.tbl:NUMBER or FILE.tbl:NUMBER:TYPE, with "
            "numbers from 0 and a type of " KR_IO_TYPE_NAMES " str",
            input->name, scanner.place.column);
    scanner.column = number;
    kr_status status = begin_text(&scanner, err);
    if (status == KR_OK)
        status = read_column(&scanner, &wanted, 0, file, err);
    free(scanner.data);
    return status;
}
