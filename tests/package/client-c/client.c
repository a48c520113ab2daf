/* A client of the installed package: builds an index and looks up, and says which library it ran with. */
#include <keyray/keyray.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    const uint32_t keys[4] = {30, 10, 20, 10}, probes[3] = {10, 20, 99}, want[3] = {1, 2, KR_NO_ROW};
    uint32_t rows[3];
    kr_column key_column = {.type = KR_U32, .count = 4, .data = keys};
    kr_column probe_column = {.type = KR_U32, .count = 3, .data = probes};
    kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    kr_device *device = NULL;
    kr_index *index = NULL;
    kr_error err;
    kr_status status = kr_device_open("cpu", NULL, &device, &err);

    if (status == KR_OK)
        status = kr_index_create(device, "array", &key_column, NULL, NULL, &index, &err);
    if (status == KR_OK)
        status = kr_index_lookup(index, &probe_column, &sink, NULL, &err);
    if (status != KR_OK)
        fprintf(stderr, "%s: %s\n", kr_status_name(status), err.text);
    else if (memcmp(rows, want, sizeof want) != 0)
        status = KR_ERR_INTERNAL, fprintf(stderr, "rows %u %u %u\n", rows[0], rows[1], rows[2]);
    else
        printf("%s %s\n", KR_VERSION_STRING, kr_version());
    kr_index_destroy(index);
    kr_device_close(device);
    return status != KR_OK;
}
