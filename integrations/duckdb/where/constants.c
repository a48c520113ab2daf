/* Constants of predicates as columns of host memory. */
#include "where.h"

/* Types whose values are kept as they are; texts and BLOB besides. */
static kr_type type_of(DUCKDB_V2_LOGICAL_TYPE_ID id)
{
    switch (id) {
    case DUCKDB_V2_LOGICAL_TYPE_ID_BOOLEAN:
    case DUCKDB_V2_LOGICAL_TYPE_ID_UTINYINT: return KR_U8;
    case DUCKDB_V2_LOGICAL_TYPE_ID_TINYINT: return KR_I8;
    case DUCKDB_V2_LOGICAL_TYPE_ID_USMALLINT: return KR_U16;
    case DUCKDB_V2_LOGICAL_TYPE_ID_SMALLINT: return KR_I16;
    case DUCKDB_V2_LOGICAL_TYPE_ID_UINTEGER: return KR_U32;
    case DUCKDB_V2_LOGICAL_TYPE_ID_INTEGER: return KR_I32;
    case DUCKDB_V2_LOGICAL_TYPE_ID_UBIGINT: return KR_U64;
    case DUCKDB_V2_LOGICAL_TYPE_ID_BIGINT: return KR_I64;
    case DUCKDB_V2_LOGICAL_TYPE_ID_FLOAT: return KR_F32;
    case DUCKDB_V2_LOGICAL_TYPE_ID_DOUBLE: return KR_F64;
    case DUCKDB_V2_LOGICAL_TYPE_ID_DATE: return KR_DATE32;
    case DUCKDB_V2_LOGICAL_TYPE_ID_TIMESTAMP:
    case DUCKDB_V2_LOGICAL_TYPE_ID_TIMESTAMP_SEC:
    case DUCKDB_V2_LOGICAL_TYPE_ID_TIMESTAMP_MS:
    case DUCKDB_V2_LOGICAL_TYPE_ID_TIMESTAMP_NS:
    case DUCKDB_V2_LOGICAL_TYPE_ID_TIMESTAMP_TZ: return KR_TIMESTAMP64;
    case DUCKDB_V2_LOGICAL_TYPE_ID_VARCHAR: return KR_LARGE_STRING;
    case DUCKDB_V2_LOGICAL_TYPE_ID_BLOB: return KR_LARGE_BINARY;
    default: return 0;
    }
}

static int is_text(kr_type type)
{
    return type == KR_LARGE_STRING || type == KR_LARGE_BINARY;
}

int constants_open(constants *opened, DUCKDB_V2_LOGICAL_TYPE_ID type, uint64_t room)
{
    *opened = (constants){.type = type_of(type)};
    if (!opened->type)
        return 0;
    opened->data = calloc(room + 1, 8); /* of texts offsets, one more than texts */
    opened->validity = calloc(room / 8 + 1, 1);
    return opened->data && opened->validity;
}

void constants_close(constants *closed)
{
    free(closed->data);
    free(closed->validity);
    free(closed->bytes);
    *closed = (constants){0};
}

static void set_valid(constants *of)
{
    of->validity[of->n / 8] |= (uint8_t)(1 << of->n % 8);
}

int constants_add_text(constants *to, const char *text, uint64_t nbytes)
{
    char *grown = realloc(to->bytes, to->n_bytes + nbytes + 1);
    if (!grown)
        return 0;
    to->bytes = grown;
    if (nbytes)
        memcpy(grown + to->n_bytes, text, nbytes);
    to->n_bytes += nbytes;
    set_valid(to);
    ((int64_t *)to->data)[++to->n] = (int64_t)to->n_bytes;
    return 1;
}

/* Reads the value in its own type: nothing is converted. */
static int read_fixed(DUCKDB_V2_LOGICAL_TYPE_ID type, duckdb_v2_value_handle value, void *out)
{
    switch (type) {
    case DUCKDB_V2_LOGICAL_TYPE_ID_BOOLEAN: return !duckdb_v2_value_get_bool(value, out, NULL);
    case DUCKDB_V2_LOGICAL_TYPE_ID_UTINYINT: return !duckdb_v2_value_get_utinyint(value, out, NULL);
    case DUCKDB_V2_LOGICAL_TYPE_ID_TINYINT: return !duckdb_v2_value_get_tinyint(value, out, NULL);
    case DUCKDB_V2_LOGICAL_TYPE_ID_USMALLINT: return !duckdb_v2_value_get_usmallint(value, out, NULL);
    case DUCKDB_V2_LOGICAL_TYPE_ID_SMALLINT: return !duckdb_v2_value_get_smallint(value, out, NULL);
    case DUCKDB_V2_LOGICAL_TYPE_ID_UINTEGER: return !duckdb_v2_value_get_uint(value, out, NULL);
    case DUCKDB_V2_LOGICAL_TYPE_ID_INTEGER: return !duckdb_v2_value_get_int(value, out, NULL);
    case DUCKDB_V2_LOGICAL_TYPE_ID_UBIGINT: return !duckdb_v2_value_get_ubigint(value, out, NULL);
    case DUCKDB_V2_LOGICAL_TYPE_ID_BIGINT: return !duckdb_v2_value_get_bigint(value, out, NULL);
    case DUCKDB_V2_LOGICAL_TYPE_ID_FLOAT: return !duckdb_v2_value_get_float(value, out, NULL);
    case DUCKDB_V2_LOGICAL_TYPE_ID_DOUBLE: return !duckdb_v2_value_get_double(value, out, NULL);
    case DUCKDB_V2_LOGICAL_TYPE_ID_DATE: return !duckdb_v2_value_get_date(value, out, NULL);
    case DUCKDB_V2_LOGICAL_TYPE_ID_TIMESTAMP: return !duckdb_v2_value_get_timestamp(value, out, NULL);
    case DUCKDB_V2_LOGICAL_TYPE_ID_TIMESTAMP_SEC: return !duckdb_v2_value_get_timestamp_sec(value, out, NULL);
    case DUCKDB_V2_LOGICAL_TYPE_ID_TIMESTAMP_MS: return !duckdb_v2_value_get_timestamp_ms(value, out, NULL);
    case DUCKDB_V2_LOGICAL_TYPE_ID_TIMESTAMP_NS: return !duckdb_v2_value_get_timestamp_ns(value, out, NULL);
    case DUCKDB_V2_LOGICAL_TYPE_ID_TIMESTAMP_TZ: return !duckdb_v2_value_get_timestamp_tz(value, out, NULL);
    default: return 0;
    }
}

static uint32_t nbytes_of(kr_type type)
{
    switch (type) {
    case KR_U8:
    case KR_I8: return 1;
    case KR_U16:
    case KR_I16: return 2;
    case KR_U32:
    case KR_I32:
    case KR_F32:
    case KR_DATE32: return 4;
    default: return 8;
    }
}

int constants_add(constants *to, DUCKDB_V2_LOGICAL_TYPE_ID type, duckdb_v2_value_handle value)
{
    bool is_null = true;
    duckdb_v2_str text = {NULL, 0};
    if (type_of(type) != to->type || duckdb_v2_value_is_null(value, &is_null, NULL))
        return 0;
    if (is_null) {
        ++to->n;
        if (is_text(to->type))
            ((int64_t *)to->data)[to->n] = (int64_t)to->n_bytes;
        return 1;
    }
    if (is_text(to->type)) {
        const int failed = to->type == KR_LARGE_STRING ? duckdb_v2_value_get_varchar(value, &text, NULL)
                                                       : duckdb_v2_value_get_blob(value, &text, NULL);
        return !failed && constants_add_text(to, text.ptr, text.len);
    }
    if (!read_fixed(type, value, (char *)to->data + to->n * nbytes_of(to->type)))
        return 0;
    set_valid(to);
    ++to->n;
    return 1;
}

kr_column constants_view(const constants *of)
{
    kr_column made = {.type = of->type, .count = of->n, .data = of->data, .validity = of->validity};
    if (is_text(of->type)) {
        made.reserved_words[0] = (uint64_t)(uintptr_t)of->bytes;
        made.reserved_words[1] = of->n_bytes;
    }
    return made;
}
