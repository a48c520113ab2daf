/* How many rows have the values wanted? Five calls, host memory in and out.
 *
 *     cc five_lines.c $(pkg-config --cflags --libs keyray) && ./a.out                                   */
#include <keyray/keyray.h>
#include <stdio.h>

int main(void)
{
    const uint32_t ages[] = {31, 18, 44, 18, 27}, wanted[] = {18, 44, 99};
    const kr_column keys = {.type = KR_U32, .count = 5, .data = ages};
    const kr_column probes = {.type = KR_U32, .count = 3, .data = wanted};
    uint64_t counts[3] = {0};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    kr_device *device = NULL;
    kr_index *index = NULL;
    kr_error err = {0};

    int failed = kr_device_open("auto", NULL, &device, &err) ||
                 kr_index_create(device, "best", &keys, NULL, NULL, &index, &err) ||
                 kr_index_lookup(index, &probes, &sink, NULL, &err);
    kr_index_destroy(index);
    kr_device_close(device);

    if (failed)
        fprintf(stderr, "%s: %s\n", kr_status_name(err.status), err.text);
    for (int i = 0; i < 3 && !failed; ++i)
        printf("%u: %llu rows\n", wanted[i], (unsigned long long)counts[i]);
    return failed || counts[0] != 2 || counts[1] != 1 || counts[2] != 0;
}
