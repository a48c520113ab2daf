#include "columns.h"

void column_init(column *made, const column_type *type)
{
    *made = (column){.type = *type};
}

void column_free(column *freed)
{
    free(freed->type.name);
    free(freed->data);
    free(freed->validity);
    free(freed->bytes);
    *freed = (column){0};
}

void column_clear(column *cleared)
{
    cleared->count = cleared->n_bytes = 0;
    free(cleared->validity);
    cleared->validity = NULL;
}

/* ---- Room ------------------------------------------------------------------------------------- */

static kr_status no_memory(uint64_t nbytes, kr_error *err)
{
    return fail(err, KR_ERR_HOST_MEMORY, "a column needs %llu bytes of memory, which there are not",
                (unsigned long long)nbytes);
}

static kr_status grow(void **memory, uint64_t nbytes, kr_error *err)
{
    void *grown = realloc(*memory, nbytes ? nbytes : 1);
    if (!grown)
        return no_memory(nbytes, err);
    *memory = grown;
    return KR_OK;
}

/* Room for n more rows; a bitmap keeps pace if there is one. */
static kr_status make_room(column *grown, uint64_t n, kr_error *err)
{
    const uint64_t need = grown->count + n;
    if (need <= grown->room && grown->data)
        return KR_OK;
    uint64_t room = grown->room ? 2 * grown->room : 2048;
    room = room < need ? need : room;
    const int texts = is_text(&grown->type);
    const uint64_t nbytes = texts ? (room + 1) * sizeof(int64_t) : room * value_nbytes(&grown->type);
    kr_status status = grow(&grown->data, nbytes, err);
    void *validity = grown->validity;
    if (status == KR_OK && validity)
        status = grow(&validity, (room + 7) / 8, err);
    if (status != KR_OK)
        return status;
    if (grown->validity)
        memset((uint8_t *)validity + (grown->room + 7) / 8, 0xFF, (room + 7) / 8 - (grown->room + 7) / 8);
    grown->validity = validity;
    if (texts && !grown->count)
        *(int64_t *)grown->data = 0;
    grown->room = room;
    return KR_OK;
}

static kr_status need_validity(column *grown, kr_error *err)
{
    if (grown->validity)
        return KR_OK;
    grown->validity = malloc((grown->room + 7) / 8 + 1);
    if (!grown->validity)
        return no_memory(grown->room / 8, err);
    memset(grown->validity, 0xFF, (grown->room + 7) / 8 + 1);
    return KR_OK;
}

static kr_status add_bytes(column *grown, const char *bytes, uint64_t n, kr_error *err)
{
    if (grown->n_bytes + n > grown->bytes_room) {
        const uint64_t twice = 2 * grown->bytes_room + 4096, need = grown->n_bytes + n;
        void *memory = grown->bytes;
        const kr_status status = grow(&memory, twice < need ? need : twice, err);
        if (status != KR_OK)
            return status;
        grown->bytes = memory;
        grown->bytes_room = twice < need ? need : twice;
    }
    if (n)
        memcpy(grown->bytes + grown->n_bytes, bytes, n);
    grown->n_bytes += n;
    return KR_OK;
}

/* ---- Rows ------------------------------------------------------------------------------------- */

static void set_bit(uint8_t *bits, uint64_t at, int value)
{
    const uint8_t bit = (uint8_t)(1u << at % 8);
    bits[at / 8] = (uint8_t)(value ? bits[at / 8] | bit : bits[at / 8] & ~bit);
}

int column_is_null(const column *of, uint64_t row)
{
    return of->validity && !(of->validity[row / 8] >> row % 8 & 1);
}

/* Notes which of the n rows behind the last are NULL. */
static kr_status append_validity(column *grown, uint64_t *validity, idx_t first, idx_t n, kr_error *err)
{
    idx_t i = 0;
    if (!validity && !grown->validity)
        return KR_OK;
    while (validity && i < n && duckdb_validity_row_is_valid(validity, first + i))
        ++i;
    if (!grown->validity && (!validity || i == n))
        return KR_OK;
    const kr_status status = need_validity(grown, err);
    for (i = 0; status == KR_OK && i < n; ++i)
        set_bit(grown->validity, grown->count + i,
                !validity || duckdb_validity_row_is_valid(validity, first + i));
    return status;
}

static kr_status append_texts(column *grown, duckdb_vector vector, idx_t first, idx_t n, kr_error *err)
{
    int64_t *offsets = grown->data;
    for (idx_t i = first; i < first + n; ++i) {
        const span one = is_null(vector, i) ? (span){NULL, 0} : text_at(vector, i);
        const kr_status status = add_bytes(grown, one.data, one.nbytes, err);
        if (status != KR_OK)
            return status;
        offsets[grown->count + (i - first) + 1] = (int64_t)grown->n_bytes;
    }
    return KR_OK;
}

kr_status column_append(column *grown, duckdb_vector vector, idx_t first, idx_t n, kr_error *err)
{
    kr_status status = make_room(grown, n, err);
    if (status == KR_OK)
        status = append_validity(grown, duckdb_vector_get_validity(vector), first, n, err);
    if (status != KR_OK)
        return status;
    const uint32_t size = value_nbytes(&grown->type);
    if (is_text(&grown->type))
        status = append_texts(grown, vector, first, n, err);
    else if (n)
        memcpy((char *)grown->data + grown->count * size,
               (char *)duckdb_vector_get_data(vector) + first * size, n * size);
    if (status == KR_OK)
        grown->count += n;
    return status;
}

kr_status column_convert(column *grown, const column_type *from, duckdb_vector vector, idx_t first, idx_t n,
                         rounding round, uint64_t *n_rounded, kr_error *err)
{
    if (is_same_type(from, &grown->type) || is_text(&grown->type))
        return column_append(grown, vector, first, n, err);
    kr_status status = make_room(grown, n, err);
    if (status == KR_OK)
        status = need_validity(grown, err);
    if (status != KR_OK)
        return status;
    conversion job = {.to = &grown->type, .round = round};
    const uint32_t size = value_nbytes(&grown->type), from_size = value_nbytes(from);
    const char *values = duckdb_vector_get_data(vector);
    for (idx_t i = 0; i < n; ++i) {
        char *at = (char *)grown->data + (grown->count + i) * size;
        memset(at, 0, size);
        const int there =
            !is_null(vector, first + i) && convert(&job, from, values + (first + i) * from_size, at);
        set_bit(grown->validity, grown->count + i, there);
    }
    grown->count += n;
    *n_rounded += job.n_rounded;
    return KR_OK;
}

kr_status column_concat(column *grown, const column *other, kr_error *err)
{
    kr_status status = make_room(grown, other->count, err);
    if (status == KR_OK && (other->validity || grown->validity))
        status = need_validity(grown, err);
    if (status == KR_OK && is_text(&grown->type)) {
        const int64_t *offsets = other->data;
        int64_t *to = (int64_t *)grown->data + grown->count;
        const int64_t moved = (int64_t)grown->n_bytes;
        for (uint64_t i = 1; i <= other->count; ++i)
            to[i] = offsets[i] + moved;
        status = add_bytes(grown, other->bytes, other->n_bytes, err);
    } else if (status == KR_OK && other->count) {
        const uint32_t size = value_nbytes(&grown->type);
        memcpy((char *)grown->data + grown->count * size, other->data, other->count * size);
    }
    if (status != KR_OK)
        return status;
    for (uint64_t i = 0; grown->validity && i < other->count; ++i)
        set_bit(grown->validity, grown->count + i, !column_is_null(other, i));
    grown->count += other->count;
    return KR_OK;
}

static void reorder_texts(const column *of, column *made, const uint32_t *from)
{
    const int64_t *offsets = of->data;
    int64_t *to = made->data;
    to[0] = 0;
    for (uint64_t i = 0; i < of->count; ++i) {
        const int64_t first = offsets[from[i]], n = offsets[from[i] + 1] - first;
        if (n)
            memcpy(made->bytes + to[i], of->bytes + first, (size_t)n);
        to[i + 1] = to[i] + n;
    }
}

static void reorder_values(const column *of, column *made, const uint32_t *from)
{
    const uint32_t size = value_nbytes(&of->type);
    const char *values = of->data;
    char *to = made->data;
    for (uint64_t i = 0; i < of->count; ++i)
        memcpy(to + i * size, values + (uint64_t)from[i] * size, size);
}

kr_status column_reorder(column *moved, const uint32_t *from, kr_error *err)
{
    column made = {.type = moved->type};
    kr_status status = make_room(&made, moved->count, err);
    if (status == KR_OK && moved->validity)
        status = need_validity(&made, err);
    if (status == KR_OK && is_text(&moved->type)) {
        made.bytes = malloc(moved->n_bytes + 1);
        status = made.bytes ? KR_OK : no_memory(moved->n_bytes, err);
    }
    if (status == KR_OK && is_text(&moved->type))
        reorder_texts(moved, &made, from);
    else if (status == KR_OK)
        reorder_values(moved, &made, from);
    for (uint64_t i = 0; status == KR_OK && moved->validity && i < moved->count; ++i)
        set_bit(made.validity, i, !column_is_null(moved, from[i]));
    made.count = moved->count;
    made.n_bytes = made.bytes_room = moved->n_bytes;
    column *freed = status == KR_OK ? moved : &made;
    free(freed->data);
    free(freed->validity);
    free(freed->bytes);
    if (status == KR_OK)
        *moved = made;
    return status;
}

static uint64_t mix(uint64_t seed, uint64_t word)
{
    uint64_t mixed = (seed ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ mixed >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return mixed ^ mixed >> 29;
}

uint64_t column_hash(const column *of, uint64_t row, uint64_t seed)
{
    uint64_t word = 0;
    if (column_is_null(of, row))
        return mix(seed, UINT64_C(0xA0761D6478BD642F));
    if (!is_text(&of->type)) {
        const uint32_t size = value_nbytes(&of->type);
        memcpy(&word, (const char *)of->data + row * size, size);
        return mix(seed, word);
    }
    const int64_t *offsets = of->data;
    const uint64_t n = (uint64_t)(offsets[row + 1] - offsets[row]);
    const char *bytes = of->bytes + offsets[row];
    seed = mix(seed, n);
    for (uint64_t i = 0; i < n; i += 8) {
        word = 0;
        memcpy(&word, bytes + i, n - i < 8 ? n - i : 8);
        seed = mix(seed, word);
    }
    return seed;
}

kr_column column_view(const column *of)
{
    return column_slice(of, 0, of->count);
}

kr_column column_slice(const column *of, uint64_t first, uint64_t n)
{
    static const int64_t none[1] = {0};
    kr_column made = {.type = of->type.type, .count = n, .validity = of->validity, .validity_offset = first};
    if (!is_text(&of->type)) {
        made.data = of->data ? (const char *)of->data + first * value_nbytes(&of->type) : NULL;
        return made;
    }
    made.data = of->data ? (const int64_t *)of->data + first : none;
    made.reserved_words[0] = (uint64_t)(uintptr_t)of->bytes;
    made.reserved_words[1] = of->n_bytes;
    return made;
}
