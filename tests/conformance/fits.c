/* What a spec can hold. A kind that maps keys to floats or to a few bits refuses the keys that do not fit. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

const char *kr_spec_option(const char *spec, const char *option, char value[32])
{
    char whole[KR_SPEC_NBYTES];
    const size_t length = strlen(option);
    value[0] = 0;
    if (kr_spec_complete(spec, whole, sizeof whole, NULL))
        return value;
    for (const char *at = whole; (at = strpbrk(at, ":,")); ++at)
        if (strncmp(at + 1, option, length) == 0 && at[1 + length] == '=') {
            const char *from = at + length + 2;
            const size_t nbytes = strcspn(from, ",");
            memcpy(value, from, nbytes < 31 ? nbytes : 31);
            value[nbytes < 31 ? nbytes : 31] = 0;
            break;
        }
    return value;
}

/* The largest code that a spec holds by its mode, and how many bits by its triple. */
static uint64_t most_code(const char *spec)
{
    char mode[32];
    kr_spec_option(spec, "mode", mode);
    return !strcmp(mode, "naive")      ? (UINT64_C(1) << 23) - 1
           : !strcmp(mode, "extended") ? (UINT64_C(1) << 29) - 1
                                       : UINT64_MAX;
}

static uint32_t most_bits(const char *spec)
{
    char bits[32];
    uint32_t sum = 0;
    kr_spec_option(spec, "bits", bits);
    if (!strchr(bits, ':') || most_code(spec) != UINT64_MAX) /* other kinds may have a number of that name */
        return 64;
    for (char *at = bits; *at; at += *at == ':')
        sum += (uint32_t)strtoul(at, &at, 10);
    return sum;
}

int kr_spec_wants_near(const char *spec)
{
    char whole[KR_SPEC_NBYTES];
    return kr_spec_complete(spec, whole, sizeof whole, NULL) == KR_OK && strncmp(whole, "dense:", 6) == 0;
}

static uint64_t number_of(const char *spec, const char *option)
{
    char value[32];
    return strtoull(kr_spec_option(spec, option, value), NULL, 10);
}

/* Of a kind that has bits for all values between the lowest key and the highest. */
static kr_status refuses_spread(const char *spec, const kr_column *keys, const char **must_name)
{
    uint64_t lowest = UINT64_MAX, highest = 0, n = 0, divisor = 0;
    for (uint64_t i = 0; i < keys->count; ++i)
        if (kr_value_is_valid(keys, i)) {
            const uint64_t code = kr_value_code(keys->type, kr_value_at(keys, i));
            lowest = code < lowest ? code : lowest;
            highest = code > highest ? code : highest;
            ++n;
        }
    for (uint64_t i = 0; i < keys->count; ++i)
        if (kr_value_is_valid(keys, i))
            for (uint64_t a = kr_value_code(keys->type, kr_value_at(keys, i)) - lowest; a;) {
                const uint64_t rest = divisor % a;
                divisor = a;
                a = rest;
            }
    if (divisor == 0)
        return KR_OK;
    if (number_of(spec, "step") == 1)
        divisor = 1;
    *must_name = "spread=";
    return (highest - lowest) / divisor < number_of(spec, "spread") * n + 65536 ? KR_OK : KR_ERR_LIMIT;
}

kr_status kr_spec_refuses(const char *spec, const kr_column *keys, const char **must_name)
{
    const uint64_t most = most_code(spec);
    *must_name = "floats";
    if (kr_spec_wants_near(spec))
        return kr_type_is_float(keys->type) ? KR_ERR_UNSUPPORTED : refuses_spread(spec, keys, must_name);
    *must_name = "bits";
    if (8 * kr_type_nbytes(keys->type) > most_bits(spec))
        return KR_ERR_SPEC;
    *must_name = "mode=3d";
    for (uint64_t i = 0; i < keys->count && most != UINT64_MAX; ++i)
        if (kr_value_is_valid(keys, i) && kr_value_code(keys->type, kr_value_at(keys, i)) > most)
            return KR_ERR_LIMIT;
    return KR_OK;
}

kr_type kr_fitting_type(const char *spec, kr_type type)
{
    const uint32_t bits = most_bits(spec);
    if (kr_spec_wants_near(spec))
        return type == KR_F32 ? KR_I32 : type == KR_F64 ? KR_I64 : type;
    if (bits >= 8 * kr_type_nbytes(type) && most_code(spec) == UINT64_MAX)
        return type;
    return bits >= 16 ? KR_U16 : KR_U8;
}

int kr_spec_keeps_on_host(const char *spec)
{
    char value[32];
    return strcmp(kr_spec_option(spec, "keep", value), "host") == 0;
}

/* ---- Which types of those ------------------------------------------------------------------ */

/* FNV-1a. Of the text alone, so that a spec takes the same types whichever list it stands in. */
static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; ++text)
        hash = (hash ^ (uint8_t)*text) * 16777619u;
    return hash;
}

int kr_join_type_is_wanted(const kr_suite *suite, const char *spec, kr_type type)
{
    if (suite->exhaustive || !strchr(spec, ':'))
        return kr_type_is_wanted(suite, spec, type);
    if (suite->reduced && !suite->listed->is_first_of_kind)
        return 0;
    return type == (hash_of(spec) >> 16 & 1 ? KR_U32 : KR_U64); /* the lowest bits of FNV-1a mix least */
}

int kr_type_is_wanted(const kr_suite *suite, const char *spec, kr_type type)
{
    if (suite->exhaustive || type == KR_U32 || type == KR_U64 || (!suite->reduced && !strchr(spec, ':')))
        return 1;
    static const kr_type others[] = {KR_I16, KR_F64, KR_U8, KR_I64, KR_F32};
    return type == others[(hash_of(spec) >> 16) % 5];
}
