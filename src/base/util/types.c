#include <keyray/keyray.h>

#include <stddef.h>

static const struct {
    const char *name;
    uint32_t nbytes;
} types[] = {
    [KR_U8] = {"u8", 1},
    [KR_I8] = {"i8", 1},
    [KR_U16] = {"u16", 2},
    [KR_I16] = {"i16", 2},
    [KR_U32] = {"u32", 4},
    [KR_I32] = {"i32", 4},
    [KR_U64] = {"u64", 8},
    [KR_I64] = {"i64", 8},
    [KR_F32] = {"f32", 4},
    [KR_F64] = {"f64", 8},
    [KR_DATE32] = {"date32", 4},
    [KR_TIMESTAMP64] = {"timestamp64", 8},
    [KR_STRING] = {"string", 0},
    [KR_LARGE_STRING] = {"large_string", 0},
    [KR_STRING_VIEW] = {"string_view", 0},
    [KR_BINARY] = {"binary", 0},
    [KR_LARGE_BINARY] = {"large_binary", 0},
    [KR_BINARY_VIEW] = {"binary_view", 0},
};

static int known(kr_type type)
{
    return (unsigned)type >= KR_U8 && (unsigned)type <= KR_BINARY_VIEW;
}

uint32_t kr_type_nbytes(kr_type type)
{
    return known(type) ? types[type].nbytes : 0;
}

const char *kr_type_name(kr_type type)
{
    return known(type) ? types[type].name : NULL;
}
