/* A library built with CUDA on a machine without a driver: it loads, says why there is no GPU, and works. */
#include <keyray/keyray.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { SKIP = 77 };

static int failures;

static void expect(int truth, const char *what, const char *text)
{
    printf("%s: %s%s%s\n", truth ? "ok" : "FAILED", what, text[0] ? ": " : "", text);
    failures += !truth;
}

/* kr_device_open(name) answers that there is no such device, in one line. */
static void expect_no_device(const char *name)
{
    kr_error err = {0};
    kr_device *device = NULL;
    kr_status status = kr_device_open(name, NULL, &device, &err);

    expect(status == KR_ERR_NO_DEVICE && err.status == status, name, kr_status_name(status));
    expect(err.text[0] != '\0' && strchr(err.text, '\n') == NULL, "one line says why", err.text);
    expect(device == NULL, "the output was not written", "");
}

static void expect_cpu_works(void)
{
    const uint64_t keys[3] = {UINT64_MAX, 0, 7}, probes[2] = {UINT64_MAX, 8};
    uint32_t rows[2] = {5, 5};
    kr_column key_column = {.type = KR_U64, .count = 3, .data = keys};
    kr_column probe_column = {.type = KR_U64, .count = 2, .data = probes};
    kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    kr_device *device = NULL;
    kr_index *index = NULL;
    kr_device_info info = {.struct_size = sizeof info};
    kr_error err = {0};

    expect(kr_device_open("auto", NULL, &device, &err) == KR_OK, "auto opens", err.text);
    if (device == NULL)
        return;
    expect(kr_device_query(device, &info, &err) == KR_OK && strcmp(info.name, "cpu") == 0, "auto is the CPU",
           err.text);
    if (kr_index_create(device, "best", &key_column, NULL, NULL, &index, &err) == KR_OK)
        expect(kr_index_lookup(index, &probe_column, &sink, NULL, &err) == KR_OK && rows[0] == 0 &&
                   rows[1] == KR_NO_ROW,
               "a lookup answers", err.text);
    expect(index != NULL, "an index is built", err.text);
    kr_index_destroy(index);
    kr_device_close(device);
}

int main(void)
{
    kr_device_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY);

    if (driver != NULL) {
        printf("skipped: there is a CUDA driver here\n");
        dlclose(driver);
        return SKIP;
    }
#ifdef KR_WITH_CUDA
    printf("a library with CUDA\n");
#else
    printf("a library without CUDA\n");
#endif
    expect_no_device("cuda");
    expect_no_device("cuda:1");
    expect(kr_device_describe(0, &info, &err) == KR_OK && strcmp(info.name, "cpu") == 0, "the CPU is listed",
           err.text);
    expect(kr_device_describe(1, &info, &err) == KR_ERR_NO_DEVICE && err.text[0] != '\0', "nothing else is",
           err.text);
    expect_cpu_works();
    return failures != 0;
}
