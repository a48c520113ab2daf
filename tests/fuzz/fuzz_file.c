/* Column files of any content. The first byte picks the source, the rest is the file. Everything that is read
 * is checked, and a refusal must be as the API promises. */
#include "standalone.h"

#include <keyray/keyray.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const sources[] = {
    "f.npy",
    "f.csv:a",
    "f.csv:a:str",
    "f.csv:b:f32",
    "f.csv:a:u8",
    "f.csv:b:timestamp64",
    "f.tbl:0",
    "f.tbl:1:str",
    "f.tbl:2:date32",
    "f.tbl:1:f64",
    "f.bin:u32",
    "f.csv:0",
    "f.csv:#1:timestamp64[ns]",
    "f.tsv:a",
    "f.npy:timestamp64[ms]",
    "f.csv.gz:a",
    "f.npy.gz",
    "f.bin.gz:u16",
};
enum { N_SOURCES = sizeof sources / sizeof *sources };

static char folder[64];

static void remove_folder(void)
{
    rmdir(folder);
}

static void require(int held, const char *what)
{
    if (held)
        return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static void check_column(const kr_file *file)
{
    const kr_column *column = kr_file_column(file);
    const uint32_t each = kr_type_nbytes(column->type);
    require(each > 0 && column->reserved == 0 && column->validity_offset == 0, "the column");
    uint64_t sum = 0;
    const uint8_t *bytes = column->data;
    for (uint64_t i = 0; i < column->count * each; i++)
        sum += bytes[i];
    size_t nbytes = 0;
    const char *first = kr_file_string(file, 0, &nbytes);
    for (uint64_t i = 0; i < column->count; i++) {
        int valid = !column->validity || (column->validity[i / 8] >> (i % 8) & 1);
        if (first && valid) {
            const char *text = kr_file_string(file, ((const uint32_t *)column->data)[i], &nbytes);
            require(text && nbytes > 0 && text[nbytes] == '\0', "a string");
            sum += (unsigned char)text[nbytes - 1];
        }
    }
    /* The strings ascend. */
    for (uint32_t code = 1; first && kr_file_string(file, code, NULL); code++) {
        size_t n = 0, m = 0;
        const char *low = kr_file_string(file, code - 1, &n), *high = kr_file_string(file, code, &m);
        int order = memcmp(low, high, n < m ? n : m);
        require(order < 0 || (order == 0 && n < m), "the order of strings");
    }
    volatile uint64_t used = sum;
    (void)used;
}

/* The texts of the same column are those of its codes. */
static void check_texts(const char *source, const kr_file *codes)
{
    const kr_file_options options = {.struct_size = sizeof options, .nulls = "NA,NULL", .texts = 1};
    kr_file *texts = NULL;
    const kr_status status = kr_file_read(source, &options, NULL, &texts, NULL);
    require((status == KR_OK) == (codes != NULL), "texts are read as codes are");
    for (uint64_t i = 0; codes && kr_file_is_text(codes) && i < kr_file_column(codes)->count; i++) {
        const kr_column *a = kr_file_column(codes), *b = kr_file_column(texts);
        const int64_t *offsets = b->data;
        size_t nbytes = 0;
        const int valid = !a->validity || (a->validity[i / 8] >> i % 8 & 1);
        const char *text = valid ? kr_file_string(codes, ((const uint32_t *)a->data)[i], &nbytes) : "";
        require((size_t)(offsets[i + 1] - offsets[i]) == nbytes &&
                    !memcmp((const char *)(uintptr_t)b->reserved_words[0] + offsets[i], text, nbytes),
                "a text is that of its code");
    }
    kr_file_close(texts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    if (nbytes == 0)
        return 0;
    if (!*folder) {
        snprintf(folder, sizeof folder, "%s/keyray-fuzz-XXXXXX", P_tmpdir);
        require(mkdtemp(folder) != NULL, "a folder for files");
        atexit(remove_folder);
    }
    const char *source = sources[data[0] % N_SOURCES];
    char path[128], whole[128];
    snprintf(whole, sizeof whole, "%s/%s", folder, source);
    snprintf(path, sizeof path, "%s/%.*s", folder, (int)strcspn(source, ":"), source);
    FILE *out = fopen(path, "wb");
    require(out && fwrite(data + 1, 1, nbytes - 1, out) == nbytes - 1 && fclose(out) == 0, "a file to read");

    const kr_file_options words = {.struct_size = sizeof words, .nulls = "NA,NULL"};
    kr_error err = {0};
    kr_file *file = NULL;
    kr_status status = kr_file_read(whole, &words, NULL, &file, &err);
    if (status == KR_OK) {
        require(file != NULL, "success without a file");
        check_column(file);
    } else {
        require(!file, "a file in spite of an error");
        require(status == KR_ERR_FORMAT || status == KR_ERR_ARGUMENT || status == KR_ERR_TYPE ||
                    (status == KR_ERR_UNSUPPORTED && strstr(source, ".gz")),
                "the status");
        require(err.status == status && err.text[0] && !strpbrk(err.text, "\r\n"), "the error's one line");
        require(strstr(err.text, path) != NULL, "the file's name in the error");
    }
    check_texts(whole, file);
    kr_file_close(file);
    unlink(path);
    return 0;
}

#ifndef KR_LIBFUZZER
int main(int argc, char **argv)
{
    static const char npy[] =
        "\x93NUMPY\x01\x00\x3d\x00{'descr': '<M8[D]', 'fortran_order': False, 'shape': (2,), }\n";
    char whole[128] = {0};
    memcpy(whole + 1, npy, sizeof npy - 1);
    memcpy(whole + sizeof npy, "\x10\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\x80", 16);
    /* "a\n1\n2\n" */
    static const char packed[] = "\17\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\xe4\x32\xe4\x32\xe2\x02\x00"
                                 "\x80\xc2\x7f\x70\x06\x00\x00\x00";
    const struct kr_fuzz_seed seeds[] = {
        {whole, sizeof npy + 16},
        KR_SEED("\1a,b\n1,2\n\"3\",\"x\"\"y\"\n0.5,-1e300\r\n,\n"),
        KR_SEED("\2a,b\nMAIL,2\n\"AIR\nTRUCK\",4\nMAIL,5\n"),
        KR_SEED("\3a,b\n1,1.17549435e-38\n2,nan\n3,123456789012345678901234567890e-25\n"),
        KR_SEED("\5a,b\n1,1995-03-15T12:30:45.5\n2,77\n"),
        KR_SEED("\6"
                "18446744073709551616|x|\n0.5|y|\n"),
        KR_SEED("\7"
                "1|O|0.2|\n2|F|0.3|\n3||1.0|\n"),
        KR_SEED("\10"
                "1|2|1995-03-15|\n1|2|2000-02-29|\n"),
        KR_SEED("\12"
                "abcdabcd"),
        KR_SEED("\13;b;#2\nNULL;2024-01-01;1\n2024-01-01 10:00+02:00;NA;2\n\n"),
        KR_SEED("\14"
                "a\tb\n1\t2024-01-01 10:00:00.5Z\n2\t5\n"),
        KR_SEED("\15"
                "a\tb\n\"1\t\"\t2\n"),
        KR_SEED("\1a,b\r1,2\r\"3\",\"x\ry\"\r\n0.5,\n\r"),
        {packed, sizeof packed - 1},
    };
    return kr_fuzz_main(argc, argv, seeds, sizeof seeds / sizeof *seeds, 4000);
}
#endif
