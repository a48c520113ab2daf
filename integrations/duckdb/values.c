#include "values.h"

kr_status value_column_open(value_column *opened, const item *of, uint32_t c, kr_error *err)
{
    *opened = (value_column){.type = of->columns[c], .texts = kr_table_texts(of->table, c)};
    kr_device *device = of->on->device;
    kr_device_info info = {.struct_size = sizeof info};
    kr_column *codes = &opened->codes;
    kr_status status = kr_table_column(of->table, c, NULL, NULL, codes, err);
    if (status == KR_OK)
        status = kr_device_query(device, &info, err);
    if (status != KR_OK || !strcmp(info.name, "cpu") || !codes->count)
        return status;
    const uint64_t nbytes = codes->count * kr_type_nbytes(codes->type);
    const uint64_t n_valid = codes->validity ? (codes->validity_offset + codes->count + 7) / 8 : 0;
    opened->copied = malloc(nbytes);
    opened->copied_validity = malloc(n_valid + 1);
    if (!opened->copied || !opened->copied_validity)
        return fail(err, KR_ERR_HOST_MEMORY, "a column needs %llu bytes of memory, which there are not",
                    (unsigned long long)nbytes);
    status = kr_memory_copy(device, opened->copied, codes->data, nbytes, NULL, err);
    if (status == KR_OK && n_valid)
        status = kr_memory_copy(device, opened->copied_validity, codes->validity, n_valid, NULL, err);
    codes->data = opened->copied;
    codes->validity = n_valid ? opened->copied_validity : NULL;
    return status;
}

void value_column_close(value_column *closed)
{
    free(closed->copied);
    free(closed->copied_validity);
    *closed = (value_column){0};
}

static int is_valid(const kr_column *of, uint64_t row)
{
    const uint64_t bit = of->validity_offset + row;
    return !of->validity || (of->validity[bit / 8] >> bit % 8 & 1);
}

static kr_status write_texts(const value_column *of, const uint32_t *rows, idx_t n, duckdb_vector to,
                             kr_error *err)
{
    const uint32_t *codes = of->codes.data;
    uint32_t *wanted = malloc(n * sizeof *wanted);
    int64_t *offsets = malloc((n + 1) * sizeof *offsets);
    char *bytes = NULL;
    kr_status status =
        wanted && offsets ? KR_OK : fail(err, KR_ERR_HOST_MEMORY, "texts need memory, which there is not");
    for (idx_t i = 0; status == KR_OK && i < n; ++i) {
        const uint64_t row = rows[i];
        wanted[i] = is_valid(&of->codes, row) ? codes[row] : KR_NO_ROW;
    }
    if (status == KR_OK)
        status = kr_texts_decode(of->texts, wanted, n, offsets, NULL, 0, NULL, err);
    if (status == KR_OK && !(bytes = malloc((size_t)offsets[n] + 1)))
        status = fail(err, KR_ERR_HOST_MEMORY, "texts need memory, which there is not");
    if (status == KR_OK)
        status = kr_texts_decode(of->texts, wanted, n, offsets, bytes, (uint64_t)offsets[n], NULL, err);
    for (idx_t i = 0; status == KR_OK && i < n; ++i)
        if (wanted[i] == KR_NO_ROW)
            set_null(to, i);
        else
            duckdb_vector_assign_string_element_len(to, i, bytes + offsets[i],
                                                    (idx_t)(offsets[i + 1] - offsets[i]));
    free(wanted);
    free(offsets);
    free(bytes);
    return status;
}

kr_status value_column_write(const value_column *of, const uint32_t *rows, idx_t n, duckdb_vector to,
                             kr_error *err)
{
    if (is_text(&of->type))
        return write_texts(of, rows, n, to, err);
    const uint32_t size = value_nbytes(&of->type);
    const char *from = of->codes.data;
    char *out = duckdb_vector_get_data(to);
    for (idx_t i = 0; i < n; ++i)
        memcpy(out + i * size, from + (uint64_t)rows[i] * size, size);
    for (idx_t i = 0; of->codes.validity && i < n; ++i)
        if (!is_valid(&of->codes, rows[i]))
            set_null(to, i);
    return KR_OK;
}
