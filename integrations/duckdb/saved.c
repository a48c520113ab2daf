#include "saved.h"
#include "functions.h"

#include <sys/stat.h>

/* The attachment "duckdb": this, types of columns in SQL, and their names, each ended by 0. */
typedef struct head {
    char magic[4];
    uint32_t n_columns, is_struct;
    uint32_t value_type; /* in SQL; 0: there are no values */
    contents holds;
} head;
static const char magic[4] = {'K', 'R', 'D', '1'};

static kr_status no_memory(kr_error *err)
{
    return fail(err, KR_ERR_HOST_MEMORY, "a file needs memory, which there is not");
}

/* ---- Saving ----------------------------------------------------------------------------------- */

static void *describe(const item *of, uint64_t *nbytes)
{
    uint64_t n = sizeof(head) + of->n_columns * sizeof(uint32_t);
    for (uint32_t c = 0; c < of->n_columns; ++c)
        n += (of->columns[c].name ? strlen(of->columns[c].name) : 0) + 1;
    char *made = calloc(n, 1), *at = made;
    if (!made)
        return NULL;
    head first = {.n_columns = of->n_columns,
                  .is_struct = (uint32_t)of->is_struct,
                  .value_type = of->values.type.type ? of->values.type.sql : 0,
                  .holds = of->holds};
    memcpy(first.magic, magic, sizeof magic);
    memcpy(at, &first, sizeof first);
    at += sizeof first;
    for (uint32_t c = 0; c < of->n_columns; ++c, at += sizeof(uint32_t)) {
        const uint32_t sql = of->columns[c].sql;
        memcpy(at, &sql, sizeof sql);
    }
    for (uint32_t c = 0; c < of->n_columns; ++c)
        if (of->columns[c].name) {
            memcpy(at, of->columns[c].name, strlen(of->columns[c].name));
            at += strlen(of->columns[c].name) + 1;
        } else {
            ++at;
        }
    *nbytes = n;
    return made;
}

/* How many rows item->rows has: of an index those that were given, NULLs too. */
static uint64_t n_kept(const item *of)
{
    return of->n_rows;
}

kr_status saved_save(registry *in, const item *of, const char *path, kr_error *err)
{
    uint64_t n_described = 0;
    kr_status status = registry_may_use_files(in, err);
    void *described = status == KR_OK ? describe(of, &n_described) : NULL;
    if (status == KR_OK && !described)
        status = no_memory(err);
    const column *values = &of->values;
    kr_attachment attachments[4] = {{"duckdb", described, n_described}};
    kr_save_options options = {.struct_size = sizeof options, .attachments = attachments, .n_attachments = 1};
    if (of->rows)
        attachments[options.n_attachments++] =
            (kr_attachment){"duckdb.rows", of->rows, n_kept(of) * sizeof *of->rows};
    if (values->count)
        attachments[options.n_attachments++] =
            (kr_attachment){"duckdb.values", values->data, values->count * 8};
    if (values->count && values->validity)
        attachments[options.n_attachments++] =
            (kr_attachment){"duckdb.validity", values->validity, (values->count + 7) / 8};
    if (status == KR_OK)
        status = of->kind == ITEM_INDEX ? kr_index_save(of->index, path, &options, NULL, err)
                                        : kr_table_save(of->table, path, &options, NULL, err);
    free(described);
    return status;
}

/* ---- Loading ---------------------------------------------------------------------------------- */

/* Of a file that another program wrote: types are those of the columns. */
static kr_status guess_columns(item *made, const kr_saved *saved, kr_error *err)
{
    for (uint32_t c = 0; c < made->n_columns; ++c) {
        const char *name = NULL;
        kr_type type = 0;
        kr_unit unit = KR_UNIT_NONE;
        int has_texts = 0;
        kr_status status = kr_saved_column(saved, c, &name, &type, &unit, &has_texts, err);
        if (status == KR_OK)
            status = column_type_of(sql_type_of(has_texts == 2 ? KR_LARGE_STRING : type, unit),
                                    &made->columns[c], err);
        if (status != KR_OK)
            return status;
        made->columns[c].name = name && *name ? copy_text((span){name, strlen(name)}) : NULL;
        if (name && *name && !made->columns[c].name)
            return no_memory(err);
    }
    made->is_struct = made->kind == ITEM_TABLE || made->n_columns > 1;
    return KR_OK;
}

/* 0: the attachment is not what this program writes, or there is no memory for names. */
static int read_head(item *made, const char *at, uint64_t nbytes, head *first)
{
    const char *end = at + nbytes;
    kr_error ignored = {0};
    if (nbytes < sizeof *first)
        return 0;
    memcpy(first, at, sizeof *first);
    at += sizeof *first;
    if (memcmp(first->magic, magic, sizeof magic) || first->n_columns != made->n_columns ||
        (uint64_t)(end - at) < (uint64_t)first->n_columns * (sizeof(uint32_t) + 1))
        return 0;
    const char *names = at + first->n_columns * sizeof(uint32_t);
    for (uint32_t c = 0; c < made->n_columns; ++c, at += sizeof(uint32_t)) {
        uint32_t sql = 0;
        const char *stop = memchr(names, 0, (size_t)(end - names));
        memcpy(&sql, at, sizeof sql);
        const column_type before = made->columns[c];
        if (!stop || column_type_of((duckdb_type)sql, &made->columns[c], &ignored) != KR_OK ||
            value_nbytes(&made->columns[c]) != value_nbytes(&before)) {
            made->columns[c] = before;
            return 0;
        }
        free(before.name);
        made->columns[c].name = stop > names ? copy_text((span){names, (size_t)(stop - names)}) : NULL;
        if (stop > names && !made->columns[c].name)
            return 0;
        names = stop + 1;
    }
    made->is_struct = first->is_struct != 0;
    made->holds = first->holds;
    return 1;
}

static void *copy_of(const void *data, uint64_t nbytes)
{
    void *made = malloc(nbytes ? nbytes : 1);
    if (made && nbytes)
        memcpy(made, data, nbytes);
    return made;
}

/* Row ids are below `most`; rows and values must have one for each. */
static kr_status take_arrays(item *made, const kr_saved *saved, const head *first, uint64_t most,
                             kr_error *err)
{
    uint64_t n_rows = 0, n_values = 0, n_valid = 0;
    const void *rows = kr_saved_attachment(saved, "duckdb.rows", &n_rows);
    const void *values = kr_saved_attachment(saved, "duckdb.values", &n_values);
    const void *validity = kr_saved_attachment(saved, "duckdb.validity", &n_valid);
    column_type type;
    if ((rows && n_rows / sizeof *made->rows < most) ||
        (first->value_type &&
         (n_values / 8 < most || (validity && n_valid < (most + 7) / 8) ||
          column_type_of((duckdb_type)first->value_type, &type, err) != KR_OK || value_nbytes(&type) != 8)))
        return fail(err, KR_ERR_FORMAT, "what SQL knows of it is damaged: make it again");
    if (rows) {
        made->rows = copy_of(rows, n_rows);
        made->n_rows = n_rows / sizeof *made->rows;
    }
    if (first->value_type && values) {
        column_init(&made->values, &type);
        made->values.data = copy_of(values, n_values);
        made->values.validity = validity ? copy_of(validity, n_valid) : NULL;
        made->values.count = made->values.room = n_values / 8;
        if (validity && n_valid < (made->values.count + 7) / 8)
            made->values.count = made->values.room = n_valid * 8;
    }
    const int lacks = (rows && !made->rows) || (made->values.count && !made->values.data) ||
                      (made->values.count && validity && !made->values.validity);
    return lacks ? no_memory(err) : KR_OK;
}

static kr_status load(registry *in, item *made, const kr_saved *saved, const kr_saved_info *info,
                      kr_error *err)
{
    uint64_t nbytes = 0;
    head first = {0};
    made->n_rows = info->what == KR_SAVED_TABLE ? info->rows : info->next_row;
    made->columns = calloc(info->n_columns + 1, sizeof *made->columns);
    made->n_columns = made->columns ? info->n_columns : 0;
    kr_status status = made->columns ? guess_columns(made, saved, err) : no_memory(err);
    const char *described = kr_saved_attachment(saved, "duckdb", &nbytes);
    if (status == KR_OK && described && !read_head(made, described, nbytes, &first))
        status = fail(err, KR_ERR_FORMAT,
                      "what SQL knows of it is damaged (make it again), or there is no memory for it");
    if (status == KR_OK && described)
        status = take_arrays(made, saved, &first, made->n_rows, err);
    if (status == KR_OK)
        status = registry_device(in, info->what == KR_SAVED_TABLE, &made->on, err);
    if (status == KR_OK)
        status = info->what == KR_SAVED_TABLE
                     ? kr_table_load(made->on->device, saved, NULL, NULL, &made->table, err)
                     : kr_index_load(made->on->device, saved, NULL, &made->index, err);
    return status;
}

kr_status saved_load(registry *in, const char *name, const char *path, item **loaded, kr_error *err)
{
    kr_saved *saved = NULL;
    kr_saved_info info = {.struct_size = sizeof info};
    kr_status status = registry_may_use_files(in, err);
    if (status == KR_OK)
        status = kr_saved_open(path, NULL, &saved, err);
    if (status == KR_OK)
        status = kr_saved_query(saved, &info, err);
    item *made = status == KR_OK ? item_create(info.what == KR_SAVED_TABLE ? ITEM_TABLE : ITEM_INDEX) : NULL;
    if (status == KR_OK && !made)
        status = no_memory(err);
    if (status == KR_OK) {
        made->name = copy_text((span){name, strlen(name)});
        made->source = copy_text((span){path, strlen(path)});
        made->n_uses = 1;
        status = made->name && made->source ? load(in, made, saved, &info, err) : no_memory(err);
        if (status == KR_ERR_FORMAT && !strstr(err->text, path)) {
            char before[400];
            snprintf(before, sizeof before, "%.399s", err->text);
            fail(err, status, "%s: %s", path, before);
        }
    }
    kr_saved_close(saved);
    if (status != KR_OK)
        item_free(in, made);
    else
        *loaded = made;
    return status;
}

/* ---- keyray_save, keyray_load ----------------------------------------------------------------- */

typedef kr_status (*file_call)(registry *in, span name, const char *path, int64_t *answer, kr_error *err);

static kr_status save(registry *in, span name, const char *path, int64_t *answer, kr_error *err)
{
    item *of = NULL;
    struct stat made;
    kr_error ignored = {0};
    kr_status status = registry_find(in, name, ITEM_INDEX, &of, err);
    if (status == KR_ERR_TYPE)
        status = registry_find(in, name, ITEM_TABLE, &of, &ignored);
    if (status == KR_OK)
        status = saved_save(in, of, path, err);
    *answer = status == KR_OK && !stat(path, &made) ? made.st_size : 0;
    item_leave(in, of);
    return status;
}

static kr_status load_as(registry *in, span name, const char *path, int64_t *answer, kr_error *err)
{
    item *made = NULL;
    char *named = NULL;
    kr_index_info info = {.struct_size = sizeof info};
    kr_status status = take_text(name, "the name", &named, err);
    if (status == KR_OK)
        status = saved_load(in, named, path, &made, err);
    if (status == KR_OK && made->kind == ITEM_INDEX)
        status = kr_index_query(made->index, &info, err);
    if (status == KR_OK) {
        *answer = (int64_t)(made->kind == ITEM_INDEX ? info.rows : made->n_rows);
        status = registry_add(in, made, 0, err);
    }
    if (status != KR_OK)
        item_free(in, made);
    free(named);
    return status;
}

static void each(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output, file_call one,
                 const char *who)
{
    registry *in = duckdb_scalar_function_get_extra_info(info);
    duckdb_vector names = duckdb_data_chunk_get_vector(input, 0),
                  paths = duckdb_data_chunk_get_vector(input, 1);
    int64_t *answers = duckdb_vector_get_data(output);
    for (idx_t i = 0; i < duckdb_data_chunk_get_size(input); ++i) {
        kr_error err = {0};
        char message[MESSAGE_NBYTES];
        if (is_null(names, i) || is_null(paths, i)) {
            set_null(output, i);
            continue;
        }
        char *path = NULL;
        kr_status status = take_text(text_at(paths, i), "the path", &path, &err);
        if (status == KR_OK)
            status = one(in, text_at(names, i), path, answers + i, &err);
        free(path);
        if (status != KR_OK) {
            put_message(message, who, &err);
            duckdb_scalar_function_set_error(info, message);
            return;
        }
    }
}

static void call_save(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    each(info, input, output, save, "keyray_save");
}

static void call_load(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    each(info, input, output, load_as, "keyray_load");
}

void register_files(registering *job)
{
    static const scalar functions[] = {{"keyray_save", "tt", DUCKDB_TYPE_BIGINT, call_save},
                                       {"keyray_load", "tt", DUCKDB_TYPE_BIGINT, call_load}};
    register_scalars(job, functions, 2);
}
