/* Fails the n-th allocation, for every n, in every reader and the writer: a status, nothing leaked (the
 * sanitizer build looks), nothing left in the folder. */
#include "files.h"

#include <dlfcn.h>

static bool armed;
static unsigned long left; /* allocations that still succeed while armed */
static bool failed;

static bool may_allocate(void)
{
    if (!armed || left-- > 0)
        return true;
    armed = false;
    failed = true;
    return false;
}

/* These take precedence over those of the C library and of a sanitizer's runtime. */
void *calloc(size_t n, size_t each)
{
    static void *(*next)(size_t, size_t);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "calloc");
    return may_allocate() ? next(n, each) : NULL;
}

void *realloc(void *memory, size_t nbytes)
{
    static void *(*next)(void *, size_t);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "realloc");
    return may_allocate() ? next(memory, nbytes) : NULL;
}

static kr_file *like; /* a column of strings */
static kr_file *narrow;

/* Of no use to the caller where it fails. */
static kr_status convert(kr_file **file, const kr_file *to, kr_error *err)
{
    const kr_status status = kr_file_convert(*file, to, err);
    if (status != KR_OK) {
        kr_file_close(*file);
        *file = NULL;
    }
    return status;
}

static const kr_file_options spelled = {.struct_size = sizeof spelled, .texts = 1};

static kr_status attempt(const char *source, unsigned long n, kr_error *err)
{
    char path[800];
    snprintf(path, sizeof path, "%s", in_folder(source));
    kr_file *file = NULL;
    failed = false;
    left = n;
    armed = true;
    kr_status status;
    if (strcmp(source, "out.npy") == 0)
        status = kr_file_write(path, KR_DATE32, 1, 1, "\0\0\0", NULL, err);
    else if (strcmp(source, "list") == 0)
        status = kr_file_literals("'b',NULL,a", like, &file, err);
    else if (strcmp(source, "empty") == 0)
        status = kr_file_empty("x", KR_U32, KR_UNIT_NONE, "abc", (const uint64_t[]){0, 1, 3}, 2, &file, err);
    else
        status = kr_file_read(path, strcmp(source, "a.csv:s:str") ? NULL : &spelled, NULL, &file, err);
    if (status == KR_OK && strcmp(source, "a.csv:n") == 0)
        status = convert(&file, narrow, err);
    if (status == KR_OK && strcmp(source, "a.tbl:1:str") == 0)
        status = convert(&file, like, err);
    armed = false;
    if (status != KR_OK)
        assert_null(file);
    kr_file_close(file);
    return status;
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    const int64_t days[] = {1, INT64_MIN, 2};
    put_bytes("a.bin", days, sizeof days);
    static const char header[] =
        "\x93NUMPY\x01\x00\x76\x00{'descr': '<M8[D]', 'fortran_order': False, 'shape': (3,)}";
    unsigned char npy[128 + sizeof days];
    memset(npy, ' ', 128);
    memcpy(npy, header, sizeof header - 1);
    memcpy(npy + 128, days, sizeof days);
    put_bytes("a.npy", npy, sizeof npy);
    FILE *out = fopen(in_folder("a.csv"), "wb");
    assert_non_null(out);
    fputs("n,s\n,\n1,x\n0.5,y\n", out);
    for (int i = 0; i < 5000; i++)
        fprintf(out, "%d,string %d\n", i, i);
    fclose(out);
    put_text("a.tbl", "1|x|\n");

    put_text("mixed.csv", "t\n2024-01-01\n\n2024-01-01 10:00\n");
    put_text("half.csv", "h\n0.5\n");
    narrow = must_read("half.csv:h:f32");
    like = must_read("a.tbl:1:str");
    static const unsigned char packed[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
                                           0x03, 0x4b, 0xe4, 0x32, 0xe4, 0x32, 0xe2, 0x02, 0x00,
                                           0x80, 0xc2, 0x7f, 0x70, 0x06, 0x00, 0x00, 0x00} /* "a\n1\n2\n" */;
    put_bytes("p.csv.gz", packed, sizeof packed);
    put_bytes("p.bin.gz", packed, sizeof packed);
    static const char *const sources[] = {
        "a.bin:i64", "a.npy", "a.csv:n", "a.csv:n:f32", "a.csv:s:str",       "a.tbl:1:str", "a.tbl:0",
        "out.npy",   "list",  "empty",   "mixed.csv:t", "a.npy:timestamp64", "p.csv.gz:a",  "p.bin.gz:u16"};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        unsigned long n = 0;
        for (;; n++) {
            kr_error err = {0};
            unsigned before = count_files();
            kr_status status = attempt(sources[i], n, &err);
            if (status == KR_ERR_UNSUPPORTED && strstr(sources[i], ".gz"))
                break; /* no zlib */
            if (!failed) {
                if (status != KR_OK)
                    fail_msg("%s: %s", sources[i], err.text);
                break;
            }
            /* Only a copy that the C library makes may also fail as the system's refusal. */
            assert_true(status == KR_ERR_HOST_MEMORY || (status == KR_ERR_IO && err.vendor_code == 12));
            assert_true(status == KR_ERR_IO || strstr(err.text, "no host memory for "));
            assert_int_equal(count_files(), before);
            assert_int_equal(attempt(sources[i], 1000000, &err), KR_OK);
            if (strcmp(sources[i], "out.npy") == 0)
                remove(in_folder("out.npy"));
        }
        assert_true(n >= 3 || strstr(sources[i], ".gz"));
    }
    kr_file_close(like);
    kr_file_close(narrow);
}

int main(void)
{
#if defined(__clang__)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
    puts("skipped: the runtime of clang's sanitizers is linked in, so its allocator cannot be wrapped");
    return 77;
#endif
#endif
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_fails_once)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
