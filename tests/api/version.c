/* Version, names of statuses and types, and invalid numbers of both. */
#include "check.h"

static void check_version(void)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", KR_VERSION_MAJOR, KR_VERSION_MINOR, KR_VERSION_PATCH);
    CHECK(strcmp(text, KR_VERSION_STRING) == 0);
    CHECK(strcmp(kr_version(), KR_VERSION_STRING) == 0);
    CHECK(kr_build_commit() != NULL && kr_build_commit()[0] != '\0');
}

static void check_statuses(void)
{
    static const struct {
        kr_status status;
        const char *name;
    } known[] = {
        {KR_OK, "KR_OK"},
        {KR_ERR_ARGUMENT, "KR_ERR_ARGUMENT"},
        {KR_ERR_TYPE, "KR_ERR_TYPE"},
        {KR_ERR_SPEC, "KR_ERR_SPEC"},
        {KR_ERR_LIMIT, "KR_ERR_LIMIT"},
        {KR_ERR_UNSUPPORTED, "KR_ERR_UNSUPPORTED"},
        {KR_ERR_NO_DEVICE, "KR_ERR_NO_DEVICE"},
        {KR_ERR_HOST_MEMORY, "KR_ERR_HOST_MEMORY"},
        {KR_ERR_DEVICE_MEMORY, "KR_ERR_DEVICE_MEMORY"},
        {KR_ERR_DEVICE, "KR_ERR_DEVICE"},
        {KR_ERR_DEVICE_LOST, "KR_ERR_DEVICE_LOST"},
        {KR_ERR_IO, "KR_ERR_IO"},
        {KR_ERR_FORMAT, "KR_ERR_FORMAT"},
        {KR_ERR_INVARIANT, "KR_ERR_INVARIANT"},
        {KR_ERR_CANCELLED, "KR_ERR_CANCELLED"},
        {KR_ERR_INTERNAL, "KR_ERR_INTERNAL"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        CHECK(strcmp(kr_status_name(known[i].status), known[i].name) == 0);
    CHECK(kr_status_name((kr_status)12345) != NULL);
    CHECK(kr_status_name((kr_status)-1) != NULL);
    CHECK(kr_status_name((kr_status)1) != NULL);
}

static void check_types(void)
{
    static const struct {
        const char *name;
        uint32_t nbytes;
    } known[] = {{"u8", 1},           {"i8", 1},           {"u16", 2},         {"i16", 2},
                 {"u32", 4},          {"i32", 4},          {"u64", 8},         {"i64", 8},
                 {"f32", 4},          {"f64", 8},          {"date32", 4},      {"timestamp64", 8},
                 {"string", 0},       {"large_string", 0}, {"string_view", 0}, {"binary", 0},
                 {"large_binary", 0}, {"binary_view", 0}};
    for (int i = 0; i < 18; ++i) {
        CHECK(kr_type_nbytes((kr_type)(i + 1)) == known[i].nbytes);
        CHECK(strcmp(kr_type_name((kr_type)(i + 1)), known[i].name) == 0);
    }
    CHECK(kr_type_nbytes((kr_type)0) == 0 && kr_type_name((kr_type)0) == NULL);
    CHECK(kr_type_nbytes((kr_type)19) == 0 && kr_type_name((kr_type)19) == NULL);
    CHECK(kr_type_nbytes((kr_type)-1) == 0 && kr_type_name((kr_type)-1) == NULL);
}

int main(void)
{
    check_version();
    check_statuses();
    check_types();
    return failures != 0;
}
