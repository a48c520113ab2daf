#include "types.h"

__extension__ typedef __int128 wide;

/* How many bytes the character at `text` has; 0: it is none, or is cut off. */
static uint32_t character_nbytes(const unsigned char *text)
{
    const uint32_t n = *text < 0x80   ? 1
                       : *text < 0xC2 ? 0
                       : *text < 0xE0 ? 2
                       : *text < 0xF0 ? 3
                       : *text < 0xF5 ? 4
                                      : 0;
    for (uint32_t i = 1; i < n; ++i)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    return n;
}

void put_message(char message[MESSAGE_NBYTES], const char *who, const kr_error *err)
{
    char *to = message;
    snprintf(message, MESSAGE_NBYTES, "%s: %s", who, err->text);
    for (const char *at = message; *at;) {
        const uint32_t n = character_nbytes((const unsigned char *)at);
        memmove(to, at, n);
        to += n;
        at += n ? n : 1;
    }
    *to = 0;
}

kr_status take_text(span of, const char *what, char **copy, kr_error *err)
{
    *copy = NULL;
    if (memchr(of.data, 0, of.nbytes))
        return fail(err, KR_ERR_ARGUMENT, "%s has a character 0: leave it out", what);
    *copy = copy_text(of);
    return *copy ? KR_OK : fail(err, KR_ERR_HOST_MEMORY, "%s needs memory, which there is not", what);
}

/* ---- Names ------------------------------------------------------------------------------------ */

typedef struct known {
    duckdb_type sql;
    const char *name;
    kr_type type; /* 0: not a key */
    kr_unit unit;
} known;

static const known all_known[] = {
    {DUCKDB_TYPE_BOOLEAN, "BOOLEAN", KR_U8, KR_UNIT_NONE},
    {DUCKDB_TYPE_TINYINT, "TINYINT", KR_I8, KR_UNIT_NONE},
    {DUCKDB_TYPE_SMALLINT, "SMALLINT", KR_I16, KR_UNIT_NONE},
    {DUCKDB_TYPE_INTEGER, "INTEGER", KR_I32, KR_UNIT_NONE},
    {DUCKDB_TYPE_BIGINT, "BIGINT", KR_I64, KR_UNIT_NONE},
    {DUCKDB_TYPE_UTINYINT, "UTINYINT", KR_U8, KR_UNIT_NONE},
    {DUCKDB_TYPE_USMALLINT, "USMALLINT", KR_U16, KR_UNIT_NONE},
    {DUCKDB_TYPE_UINTEGER, "UINTEGER", KR_U32, KR_UNIT_NONE},
    {DUCKDB_TYPE_UBIGINT, "UBIGINT", KR_U64, KR_UNIT_NONE},
    {DUCKDB_TYPE_FLOAT, "FLOAT", KR_F32, KR_UNIT_NONE},
    {DUCKDB_TYPE_DOUBLE, "DOUBLE", KR_F64, KR_UNIT_NONE},
    {DUCKDB_TYPE_DATE, "DATE", KR_DATE32, KR_UNIT_NONE},
    {DUCKDB_TYPE_TIMESTAMP, "TIMESTAMP", KR_TIMESTAMP64, KR_UNIT_US},
    {DUCKDB_TYPE_TIMESTAMP_S, "TIMESTAMP_S", KR_TIMESTAMP64, KR_UNIT_S},
    {DUCKDB_TYPE_TIMESTAMP_MS, "TIMESTAMP_MS", KR_TIMESTAMP64, KR_UNIT_MS},
    {DUCKDB_TYPE_TIMESTAMP_NS, "TIMESTAMP_NS", KR_TIMESTAMP64, KR_UNIT_NS},
    {DUCKDB_TYPE_TIMESTAMP_TZ, "TIMESTAMP WITH TIME ZONE", KR_TIMESTAMP64, KR_UNIT_US},
    {DUCKDB_TYPE_VARCHAR, "VARCHAR", KR_LARGE_STRING, KR_UNIT_NONE},
    {DUCKDB_TYPE_BLOB, "BLOB", KR_LARGE_BINARY, KR_UNIT_NONE},
    {DUCKDB_TYPE_DECIMAL, "DECIMAL", 0, KR_UNIT_NONE},
    {DUCKDB_TYPE_HUGEINT, "HUGEINT", 0, KR_UNIT_NONE},
    {DUCKDB_TYPE_UHUGEINT, "UHUGEINT", 0, KR_UNIT_NONE},
    {DUCKDB_TYPE_ENUM, "ENUM", 0, KR_UNIT_NONE},
    {DUCKDB_TYPE_TIME, "TIME", 0, KR_UNIT_NONE},
    {DUCKDB_TYPE_INTERVAL, "INTERVAL", 0, KR_UNIT_NONE},
    {DUCKDB_TYPE_UUID, "UUID", 0, KR_UNIT_NONE},
    {DUCKDB_TYPE_LIST, "LIST", 0, KR_UNIT_NONE},
    {DUCKDB_TYPE_STRUCT, "STRUCT", 0, KR_UNIT_NONE},
    {DUCKDB_TYPE_SQLNULL, "NULL", 0, KR_UNIT_NONE},
};
enum { KNOWN = sizeof all_known / sizeof *all_known };

static const known *known_of(duckdb_type type)
{
    for (uint32_t i = 0; i < KNOWN; ++i)
        if (all_known[i].sql == type)
            return all_known + i;
    return NULL;
}

const char *sql_name(duckdb_type type)
{
    const known *found = known_of(type);
    return found ? found->name : "another type";
}

kr_status column_type_of(duckdb_type sql, column_type *type, kr_error *err)
{
    const known *found = known_of(sql);
    if (!found || !found->type) {
        const char *help =
            sql == DUCKDB_TYPE_DECIMAL || sql == DUCKDB_TYPE_HUGEINT || sql == DUCKDB_TYPE_UHUGEINT
                ? "cast it to BIGINT or DOUBLE"
            : sql == DUCKDB_TYPE_ENUM || sql == DUCKDB_TYPE_UUID ? "cast it to VARCHAR"
                                                                 : "cast it to one of these";
        return fail(
            err, KR_ERR_TYPE,
            "keys are integers of up to 64 bits, FLOAT, DOUBLE, BOOLEAN, DATE, timestamps, VARCHAR and "
            "BLOB, not %s: %s",
            sql_name(sql), help);
    }
    *type = (column_type){.sql = sql, .type = found->type, .unit = found->unit};
    return KR_OK;
}

duckdb_type sql_type_of(kr_type type, kr_unit unit)
{
    if (type == KR_STRING || type == KR_STRING_VIEW)
        type = KR_LARGE_STRING;
    if (type == KR_BINARY || type == KR_BINARY_VIEW)
        type = KR_LARGE_BINARY;
    if (type == KR_TIMESTAMP64 && unit == KR_UNIT_NONE)
        return DUCKDB_TYPE_BIGINT;
    if (type == KR_U8)
        return DUCKDB_TYPE_UTINYINT;
    for (uint32_t i = 0; i < KNOWN; ++i)
        if (all_known[i].type == type && (type != KR_TIMESTAMP64 || all_known[i].unit == unit))
            return all_known[i].sql;
    return DUCKDB_TYPE_INVALID;
}

int is_text(const column_type *type)
{
    return type->type == KR_LARGE_STRING || type->type == KR_LARGE_BINARY;
}

uint32_t value_nbytes(const column_type *type)
{
    return kr_type_nbytes(type->type);
}

/* ---- Values ----------------------------------------------------------------------------------- */

static int is_integer(kr_type type)
{
    return type >= KR_U8 && type <= KR_I64;
}

static int is_time(kr_type type)
{
    return type == KR_DATE32 || type == KR_TIMESTAMP64;
}

int is_same_type(const column_type *one, const column_type *other)
{
    return one->type == other->type && one->unit == other->unit;
}

/* Whether doubles, or floats, have every value of a type of integers. */
static int is_exact_in(kr_type from, kr_type to)
{
    if (from == KR_F32)
        return to == KR_F64;
    const uint32_t nbytes = is_integer(from) ? kr_type_nbytes(from) : 8;
    return (to == KR_F64 && nbytes <= 4) || (to == KR_F32 && nbytes <= 2);
}

kr_status conversion_check(const column_type *from, const column_type *to, kr_error *err)
{
    const int booleans = (from->sql == DUCKDB_TYPE_BOOLEAN) + (to->sql == DUCKDB_TYPE_BOOLEAN);
    const int zones = (from->sql == DUCKDB_TYPE_TIMESTAMP_TZ) + (to->sql == DUCKDB_TYPE_TIMESTAMP_TZ);
    const int goes = booleans == 2 || (is_text(from) && is_text(to)) ||
                     (!booleans && is_integer(from->type) && is_integer(to->type)) ||
                     (!booleans && (from->type == to->type || is_exact_in(from->type, to->type)) &&
                      (to->type == KR_F32 || to->type == KR_F64)) ||
                     (is_time(from->type) && is_time(to->type) && zones != 1);
    if (goes)
        return KR_OK;
    return fail(err, KR_ERR_TYPE, "keys are %s, this value is %s: write CAST(... AS %s)", sql_name(to->sql),
                sql_name(from->sql), sql_name(to->sql));
}

static wide integer_at(kr_type type, const void *value)
{
    switch (type) {
    case KR_U8: return *(const uint8_t *)value;
    case KR_I8: return *(const int8_t *)value;
    case KR_U16: return *(const uint16_t *)value;
    case KR_I16: return *(const int16_t *)value;
    case KR_U32: return *(const uint32_t *)value;
    case KR_I32:
    case KR_DATE32: return *(const int32_t *)value;
    case KR_U64: return *(const uint64_t *)value;
    default: return *(const int64_t *)value;
    }
}

static wide power(uint32_t bits)
{
    return (wide)1 << bits;
}

/* 0: the type has no such value, and none beyond it that serves. */
static int put_integer(conversion *job, wide value, void *converted)
{
    const kr_type type = job->to->type;
    const uint32_t bits = 8 * kr_type_nbytes(type);
    const int is_unsigned = type == KR_U8 || type == KR_U16 || type == KR_U32 || type == KR_U64;
    const wide least = is_unsigned ? 0 : -power(bits - 1), most = power(is_unsigned ? bits : bits - 1) - 1;
    if (value < least || value > most) {
        ++job->n_rounded;
        if (value < least ? job->round != ROUND_UP : job->round != ROUND_DOWN)
            return 0;
        value = value < least ? least : most;
    }
    const int64_t kept = (int64_t)(uint64_t)value;
    memcpy(converted, &kept, bits / 8); /* little-endian */
    return 1;
}

/* How many steps of a type a day has. */
static wide steps_a_day(const column_type *type)
{
    static const int64_t a_second[] = {0, 1, 1000, 1000000, 1000000000};
    return type->type == KR_DATE32 ? 1 : (wide)86400 * a_second[type->unit];
}

/* The largest value of either sign is "infinity" in SQL, whatever the type. */
static int put_time(conversion *job, const column_type *from, const void *value, void *converted)
{
    const wide most[] = {from->type == KR_DATE32 ? INT32_MAX : INT64_MAX,
                         job->to->type == KR_DATE32 ? INT32_MAX : INT64_MAX};
    const wide given = integer_at(from->type, value);
    if (given == most[0] || given == -most[0])
        return put_integer(job, given < 0 ? -most[1] : most[1], converted);
    const wide scaled = given * steps_a_day(job->to), by = steps_a_day(from);
    wide whole = scaled / by;
    if (scaled % by) {
        ++job->n_rounded;
        if (job->round == ROUND_NONE)
            return 0;
        whole += (scaled < 0 ? -1 : 0) + (job->round == ROUND_UP);
    }
    if (whole >= most[1] || whole <= -most[1]) { /* too far for the type, but not infinite */
        ++job->n_rounded;
        if (job->round != (whole < 0 ? ROUND_UP : ROUND_DOWN))
            return 0;
        whole = whole < 0 ? 1 - most[1] : most[1] - 1;
    }
    return put_integer(job, whole, converted);
}

static int put_float(conversion *job, const column_type *from, const void *value, void *converted)
{
    const double given = from->type == KR_F32   ? (double)*(const float *)value
                         : from->type == KR_F64 ? *(const double *)value
                                                : (double)(int64_t)integer_at(from->type, value);
    const float narrow = (float)given;
    if (job->to->type == KR_F32)
        memcpy(converted, &narrow, sizeof narrow);
    else
        memcpy(converted, &given, sizeof given);
    return 1;
}

int convert(conversion *job, const column_type *from, const void *value, void *converted)
{
    if (is_time(job->to->type))
        return put_time(job, from, value, converted);
    if (job->to->type == KR_F32 || job->to->type == KR_F64)
        return put_float(job, from, value, converted);
    return put_integer(job, integer_at(from->type, value), converted);
}
