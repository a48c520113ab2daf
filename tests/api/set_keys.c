/* kr_index_set_keys: wrong calls, and a kind that cannot. */
#include "check.h"

static const uint32_t data[4] = {4, 3, 2, 1}, row_ids[4] = {0, 1, 2, 3};
static const kr_column keys = {.type = KR_U32, .count = 4, .data = data};

static void check_arguments(kr_index *index, kr_stream *foreign)
{
    const kr_column wrong_type = {.type = KR_I32, .count = 4, .data = data};
    const kr_column no_type = {.count = 4, .data = data};
    const kr_column no_data = {.type = KR_U32, .count = 4};
    const kr_column misaligned = {.type = KR_U32, .count = 2, .data = (const char *)data + 2};
    REFUSED(KR_ERR_ARGUMENT, kr_index_set_keys(NULL, row_ids, &keys, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_set_keys(index, row_ids, NULL, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_set_keys(index, NULL, &keys, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_set_keys(index, row_ids, &keys, foreign, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_set_keys(index, row_ids, &no_data, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT, kr_index_set_keys(index, row_ids, &misaligned, NULL, &err));
    REFUSED(KR_ERR_ARGUMENT,
            kr_index_set_keys(index, (const uint32_t *)(const void *)((const char *)row_ids + 2), &keys, NULL,
                              &err));
    REFUSED(KR_ERR_TYPE, kr_index_set_keys(index, row_ids, &wrong_type, NULL, &err));
    REFUSED(KR_ERR_TYPE, kr_index_set_keys(index, row_ids, &no_type, NULL, &err));
}

/* Refused with any number of keys, and the index answers as before. */
static void check_array(kr_index *index)
{
    const kr_column none = {.type = KR_U32};
    uint32_t rows[4] = {0};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    kr_error said = {0};
    REFUSED(KR_ERR_UNSUPPORTED, kr_index_set_keys(index, row_ids, &keys, NULL, &err));
    REFUSED(KR_ERR_UNSUPPORTED, kr_index_set_keys(index, NULL, &none, NULL, &err));
    kr_index_set_keys(index, row_ids, &keys, NULL, &said);
    CHECK(strcmp(
              said.text,
              "kind 'array' cannot give rows other keys; create the index with a kind that can: dense, rx") ==
          0);
    CHECK(kr_index_set_keys(index, row_ids, &keys, NULL, NULL) == KR_ERR_UNSUPPORTED);
    WORKS(kr_index_lookup(index, &keys, &sink, NULL, &err));
    CHECK(rows[0] == 0 && rows[1] == 1 && rows[2] == 2 && rows[3] == 3);
}

int main(void)
{
    kr_device *device = NULL, *other = NULL;
    kr_stream *foreign = NULL;
    kr_index *index = NULL;
    WORKS(kr_device_open("cpu", NULL, &device, &err));
    WORKS(kr_device_open("cpu", NULL, &other, &err));
    WORKS(kr_stream_create(other, &foreign, &err));
    WORKS(kr_index_create(device, "array", &keys, NULL, NULL, &index, &err));
    if (index) {
        check_arguments(index, foreign);
        check_array(index);
    }
    kr_index_destroy(index);
    kr_stream_destroy(foreign);
    kr_device_close(other);
    kr_device_close(device);
    return failures != 0;
}
