/* Predicates of DuckDB as conditions of keyray. What is not exactly known is left to DuckDB: a predicate that
 * is claimed by mistake gives wrong rows. */
#include "where.h"

typedef duckdb_v2_expression_handle node;

/* ---- Reading ---------------------------------------------------------------------------------- */

static DUCKDB_V2_EXPRESSION_TYPE kind_of(node of)
{
    DUCKDB_V2_EXPRESSION_TYPE type = DUCKDB_V2_EXPRESSION_TYPE_INVALID;
    duckdb_v2_expression_get_type(of, &type, NULL);
    return type;
}

static idx_t child_count(node of)
{
    idx_t n = 0;
    duckdb_v2_expression_get_child_count(of, &n, NULL);
    return n;
}

static node child(node of, idx_t at)
{
    node found = NULL;
    duckdb_v2_expression_get_child(of, at, &found, NULL);
    return found;
}

static DUCKDB_V2_LOGICAL_TYPE_ID type_of(node of)
{
    DUCKDB_V2_LOGICAL_TYPE_ID id = DUCKDB_V2_LOGICAL_TYPE_ID_INVALID;
    duckdb_v2_logical_type_handle type = NULL;
    if (!duckdb_v2_expression_get_return_type(of, &type, NULL))
        duckdb_v2_logical_type_get_id(type, &id, NULL);
    duckdb_v2_logical_type_destroy(&type);
    return id;
}

/* Bits of an integer, negative if it has a sign; 0: no integer. */
static int bits_of(DUCKDB_V2_LOGICAL_TYPE_ID id)
{
    switch (id) {
    case DUCKDB_V2_LOGICAL_TYPE_ID_UTINYINT: return 8;
    case DUCKDB_V2_LOGICAL_TYPE_ID_TINYINT: return -8;
    case DUCKDB_V2_LOGICAL_TYPE_ID_USMALLINT: return 16;
    case DUCKDB_V2_LOGICAL_TYPE_ID_SMALLINT: return -16;
    case DUCKDB_V2_LOGICAL_TYPE_ID_UINTEGER: return 32;
    case DUCKDB_V2_LOGICAL_TYPE_ID_INTEGER: return -32;
    case DUCKDB_V2_LOGICAL_TYPE_ID_UBIGINT: return 64;
    case DUCKDB_V2_LOGICAL_TYPE_ID_BIGINT: return -64;
    default: return 0;
    }
}

/* 1: the other type has each integer of this one. */
static int widens(DUCKDB_V2_LOGICAL_TYPE_ID from, DUCKDB_V2_LOGICAL_TYPE_ID to)
{
    const int a = bits_of(from), b = bits_of(to);
    return a && b && (a > 0 ? (b > 0 ? b >= a : -b > a) : b <= a);
}

/* A column of the table; NULL: it is something else. `as` is the type that it is compared in: an integer may
 * be cast to a type that has all its values, as keyray compares integers by value. */
static const asked_column *column_of(const translation *of, node at, DUCKDB_V2_LOGICAL_TYPE_ID *as)
{
    DUCKDB_V2_CAST_MODE mode = DUCKDB_V2_CAST_MODE_TRY;
    idx_t index = 0, declared = 0;
    *as = type_of(at);
    if (kind_of(at) == DUCKDB_V2_EXPRESSION_TYPE_OPERATOR_CAST) {
        if (duckdb_v2_expression_cast_get_mode(at, &mode, NULL) || mode != DUCKDB_V2_CAST_MODE_NORMAL ||
            child_count(at) != 1 || !widens(type_of(child(at, 0)), *as))
            return NULL;
        at = child(at, 0);
    }
    if (kind_of(at) != DUCKDB_V2_EXPRESSION_TYPE_BOUND_COLUMN_REF ||
        duckdb_v2_expression_column_ref_get_index(at, &index, NULL) ||
        duckdb_v2_table_function_filter_pushdown_get_column_index(of->info, index, &declared, NULL) ||
        declared >= of->of->n_columns)
        return NULL;
    const asked_column *found = of->of->columns + declared;
    return found->name && found->id == type_of(at) ? found : NULL;
}

/* The values of children first, ... of a node, which are constants of that type. 0: they are not. */
static int constants_of(node at, idx_t first, DUCKDB_V2_LOGICAL_TYPE_ID type, constants *read)
{
    const idx_t n = child_count(at);
    if (!constants_open(read, type, n))
        return 0;
    for (idx_t i = first; i < n; ++i) {
        duckdb_v2_value_handle value = NULL;
        const node one = child(at, i);
        const int is_read = kind_of(one) == DUCKDB_V2_EXPRESSION_TYPE_VALUE_CONSTANT &&
                            !duckdb_v2_expression_constant_get_value(one, &value, NULL) &&
                            constants_add(read, type_of(one), value) && type_of(one) == type;
        duckdb_v2_value_destroy(&value);
        if (!is_read)
            return 0;
    }
    return 1;
}

static int has_null(const constants *of)
{
    for (uint64_t i = 0; i < of->n; ++i)
        if (!(of->validity[i / 8] >> i % 8 & 1))
            return 1;
    return 0;
}

/* ---- Making ----------------------------------------------------------------------------------- */

static exactness compared(const translation *of, const asked_column *column, kr_compare compare,
                          const constants *values, kr_condition **made)
{
    kr_error err = {0};
    const kr_column view = values ? constants_view(values) : (kr_column){0};
    return of->of->state->with->condition_compare(column->name, compare, values ? &view : NULL, made, &err)
               ? LEFT
               : EXACT;
}

/* NOT of what is in `made`, which cannot be if some rows of it are only perhaps true. */
static exactness negated(const translation *of, exactness how, kr_condition **made)
{
    const share *with = of->of->state->with;
    kr_condition *before = *made;
    kr_error err = {0};
    *made = NULL;
    if (how == EXACT && with->condition_not(before, made, &err))
        how = LEFT;
    with->condition_destroy(before);
    return how == EXACT ? EXACT : LEFT;
}

static exactness joined(const translation *of, int all, kr_condition **parts, uint32_t n, kr_condition **made)
{
    const share *with = of->of->state->with;
    kr_error err = {0};
    const kr_condition *const *of_all = (const kr_condition *const *)parts;
    return (all ? with->condition_and : with->condition_or)(of_all, n, made, &err) ? LEFT : EXACT;
}

static kr_compare compare_of(DUCKDB_V2_EXPRESSION_TYPE kind, int is_turned)
{
    switch (kind) {
    case DUCKDB_V2_EXPRESSION_TYPE_COMPARE_EQUAL: return KR_EQUAL;
    case DUCKDB_V2_EXPRESSION_TYPE_COMPARE_NOTEQUAL: return KR_NOT_EQUAL;
    case DUCKDB_V2_EXPRESSION_TYPE_COMPARE_LESSTHAN: return is_turned ? KR_GREATER : KR_LESS;
    case DUCKDB_V2_EXPRESSION_TYPE_COMPARE_GREATERTHAN: return is_turned ? KR_LESS : KR_GREATER;
    case DUCKDB_V2_EXPRESSION_TYPE_COMPARE_LESSTHANOREQUALTO:
        return is_turned ? KR_GREATER_EQUAL : KR_LESS_EQUAL;
    default: return is_turned ? KR_LESS_EQUAL : KR_GREATER_EQUAL;
    }
}

/* ---- Forms ------------------------------------------------------------------------------------ */

static exactness compare_columns(const translation *of, const asked_column *left, kr_compare compare,
                                 const asked_column *right, kr_condition **made)
{
    kr_error err = {0};
    if (left->id != right->id || left->type != right->type || left->type == KR_LARGE_STRING ||
        left->type == KR_LARGE_BINARY) /* dictionaries may differ */
        return LEFT;
    return of->of->state->with->condition_compare_columns(left->name, compare, right->name, made, &err)
               ? LEFT
               : EXACT;
}

/* Children from `first` on are constants that a column is compared with. */
static exactness compare_constants(const translation *of, node at, const asked_column *column,
                                   DUCKDB_V2_LOGICAL_TYPE_ID as, kr_compare compare, kr_condition **made)
{
    constants values;
    exactness how = LEFT;
    if (constants_of(at, 1, as, &values) && (compare == KR_IN || !has_null(&values)))
        how = compared(of, column, compare, &values, made);
    constants_close(&values);
    return how;
}

/* constant < column */
static exactness compare_turned(const translation *of, node at, const asked_column *column,
                                DUCKDB_V2_LOGICAL_TYPE_ID as, kr_compare compare, kr_condition **made)
{
    constants values;
    duckdb_v2_value_handle value = NULL;
    exactness how = LEFT;
    const node one = child(at, 0);
    if (constants_open(&values, as, 1) && kind_of(one) == DUCKDB_V2_EXPRESSION_TYPE_VALUE_CONSTANT &&
        type_of(one) == as && !duckdb_v2_expression_constant_get_value(one, &value, NULL) &&
        constants_add(&values, as, value) && !has_null(&values))
        how = compared(of, column, compare, &values, made);
    duckdb_v2_value_destroy(&value);
    constants_close(&values);
    return how;
}

static exactness translate_comparison(const translation *of, node at, kr_condition **made)
{
    DUCKDB_V2_LOGICAL_TYPE_ID as, other_as;
    if (child_count(at) != 2)
        return LEFT;
    const asked_column *left = column_of(of, child(at, 0), &as);
    const asked_column *right = column_of(of, child(at, 1), &other_as);
    if (left && right)
        return as == left->id && other_as == right->id
                   ? compare_columns(of, left, compare_of(kind_of(at), 0), right, made)
                   : LEFT;
    if (left)
        return compare_constants(of, at, left, as, compare_of(kind_of(at), 0), made);
    return right ? compare_turned(of, at, right, other_as, compare_of(kind_of(at), 1), made) : LEFT;
}

/* a IS NOT DISTINCT FROM 5 is a = 5 AND a IS NOT NULL, which is never unknown. */
static exactness translate_same(const translation *of, node at, kr_condition **made)
{
    DUCKDB_V2_LOGICAL_TYPE_ID as;
    kr_condition *parts[2] = {NULL, NULL};
    const asked_column *left = child_count(at) == 2 ? column_of(of, child(at, 0), &as) : NULL;
    exactness how = left ? compare_constants(of, at, left, as, KR_EQUAL, parts) : LEFT;
    if (how == EXACT)
        how = negated(of, compared(of, left, KR_IS_NULL, NULL, parts + 1), parts + 1);
    if (how == EXACT)
        how = joined(of, 1, parts, 2, made);
    of->of->state->with->condition_destroy(parts[0]);
    of->of->state->with->condition_destroy(parts[1]);
    return how;
}

/* DuckDB makes `a > 3 AND a < 7` a BETWEEN, too, and its API does not tell which bounds belong to it. */
static exactness translate_between(const translation *of, node at, kr_condition **made)
{
    DUCKDB_V2_LOGICAL_TYPE_ID as;
    const asked_column *column = child_count(at) == 3 ? column_of(of, child(at, 0), &as) : NULL;
    return column && compare_constants(of, at, column, as, KR_BETWEEN, made) == EXACT ? WIDER : LEFT;
}

static exactness translate_null(const translation *of, node at, kr_condition **made)
{
    DUCKDB_V2_LOGICAL_TYPE_ID as;
    const asked_column *column = child_count(at) == 1 ? column_of(of, child(at, 0), &as) : NULL;
    return column ? compared(of, column, KR_IS_NULL, NULL, made) : LEFT;
}

/* A column of BOOLEAN is a predicate. */
static exactness translate_flag(const translation *of, node at, kr_condition **made)
{
    static const uint8_t yes[1] = {1};
    DUCKDB_V2_LOGICAL_TYPE_ID as;
    kr_error err = {0};
    const kr_column values = {.type = KR_U8, .count = 1, .data = yes};
    const asked_column *column = column_of(of, at, &as);
    if (!column || column->id != DUCKDB_V2_LOGICAL_TYPE_ID_BOOLEAN)
        return LEFT;
    return of->of->state->with->condition_compare(column->name, KR_EQUAL, &values, made, &err) ? LEFT : EXACT;
}

static exactness translate_constant(const translation *of, node at, kr_condition **made)
{
    duckdb_v2_value_handle value = NULL;
    bool is_null = true, is_true = false;
    exactness how = LEFT;
    if (type_of(at) == DUCKDB_V2_LOGICAL_TYPE_ID_BOOLEAN &&
        !duckdb_v2_expression_constant_get_value(at, &value, NULL) &&
        !duckdb_v2_value_is_null(value, &is_null, NULL) && !is_null &&
        !duckdb_v2_value_get_bool(value, &is_true, NULL))
        how = joined(of, is_true, NULL, 0, made);
    duckdb_v2_value_destroy(&value);
    return how;
}

/* An AND loses nothing but certainty where a part of it is left to DuckDB; an OR loses rows. */
static exactness translate_parts(const translation *of, node at, int all, kr_condition **made)
{
    const idx_t n = child_count(at);
    kr_condition **parts = calloc(n + 1, sizeof *parts);
    exactness how = parts ? EXACT : LEFT;
    uint32_t n_parts = 0;
    for (idx_t i = 0; parts && how != LEFT && i < n; ++i) {
        const exactness one = translate(of, child(at, i), parts + n_parts);
        n_parts += one != LEFT;
        if (one == LEFT && !all)
            how = LEFT;
        else if (one != EXACT)
            how = WIDER;
    }
    if (how != LEFT && (!n_parts || joined(of, all, parts, n_parts, made) == LEFT))
        how = LEFT;
    for (uint32_t i = 0; i < n_parts; ++i)
        of->of->state->with->condition_destroy(parts[i]);
    free(parts);
    return how;
}

/* ---- LIKE ------------------------------------------------------------------------------------- */

/* Functions that DuckDB has for LIKE: what stands before and behind the text in a pattern. */
static const struct like {
    const char *name, *before, *behind;
    int is_negated;
} all_like[] = {{"~~", NULL, NULL, 0},       {"!~~", NULL, NULL, 1},   {"prefix", "", "%", 0},
                {"starts_with", "", "%", 0}, {"^@", "", "%", 0},       {"suffix", "%", "", 0},
                {"ends_with", "%", "", 0},   {"contains", "%", "%", 0}};

/* The pattern of a text; its special characters become themselves behind a backslash. */
static int add_pattern(constants *to, const struct like *of, const char *text, uint64_t nbytes)
{
    char *pattern = malloc(2 * nbytes + 3);
    uint64_t n = 0;
    if (!pattern)
        return 0;
    if (*of->before)
        pattern[n++] = '%';
    for (uint64_t i = 0; i < nbytes; ++i) {
        if (text[i] == '%' || text[i] == '_' || text[i] == '\\')
            pattern[n++] = '\\';
        pattern[n++] = text[i];
    }
    if (*of->behind)
        pattern[n++] = '%';
    const int is_added = constants_add_text(to, pattern, n) && constants_add_text(to, "\\", 1);
    free(pattern);
    return is_added;
}

static exactness translate_like(const translation *of, node at, const struct like *form, kr_condition **made)
{
    DUCKDB_V2_LOGICAL_TYPE_ID as;
    constants values, pattern;
    exactness how = LEFT;
    const asked_column *column = child_count(at) == 2 ? column_of(of, child(at, 0), &as) : NULL;
    if (!column || column->id != DUCKDB_V2_LOGICAL_TYPE_ID_VARCHAR)
        return LEFT;
    const int is_read = constants_open(&pattern, as, 2) & constants_of(at, 1, as, &values);
    if (is_read && !has_null(&values)) {
        if (!form->before)
            how = compared(of, column, KR_LIKE, &values, made);
        else if (add_pattern(&pattern, form, values.bytes, values.n_bytes))
            how = compared(of, column, KR_LIKE, &pattern, made);
    }
    constants_close(&values);
    constants_close(&pattern);
    return form->is_negated ? negated(of, how, made) : how;
}

/* 1: a function of DuckDB itself, not of another extension or of a user. */
static int is_built_in(node at)
{
    duckdb_v2_qname_handle name = NULL;
    duckdb_v2_str text = {NULL, 0};
    idx_t n = 0;
    int is_system = !duckdb_v2_expression_function_get_qname(at, &name, NULL) &&
                    !duckdb_v2_qname_get_part_count(name, &n, NULL) && n <= 3;
    if (is_system && n == 3)
        is_system = !duckdb_v2_qname_get_part(name, 0, &text, NULL) && text.len == 6 &&
                    !memcmp(text.ptr, "system", 6);
    duckdb_v2_qname_destroy(&name);
    return is_system;
}

static exactness translate_function(const translation *of, node at, kr_condition **made)
{
    duckdb_v2_identifier_t name = {NULL, 0};
    if (duckdb_v2_expression_function_get_name(at, &name, NULL) || !is_built_in(at))
        return LEFT;
    for (uint32_t i = 0; i < sizeof all_like / sizeof *all_like; ++i)
        if (name.len == strlen(all_like[i].name) && !memcmp(name.ptr, all_like[i].name, name.len))
            return translate_like(of, at, all_like + i, made);
    return LEFT;
}

/* ---- All -------------------------------------------------------------------------------------- */

static exactness translate_in(const translation *of, node at, kr_condition **made)
{
    DUCKDB_V2_LOGICAL_TYPE_ID as;
    const asked_column *column = child_count(at) > 1 ? column_of(of, child(at, 0), &as) : NULL;
    return column ? compare_constants(of, at, column, as, KR_IN, made) : LEFT;
}

exactness translate(const translation *of, duckdb_v2_expression_handle at, kr_condition **made)
{
    *made = NULL;
    switch (kind_of(at)) {
    case DUCKDB_V2_EXPRESSION_TYPE_COMPARE_EQUAL:
    case DUCKDB_V2_EXPRESSION_TYPE_COMPARE_NOTEQUAL:
    case DUCKDB_V2_EXPRESSION_TYPE_COMPARE_LESSTHAN:
    case DUCKDB_V2_EXPRESSION_TYPE_COMPARE_GREATERTHAN:
    case DUCKDB_V2_EXPRESSION_TYPE_COMPARE_LESSTHANOREQUALTO:
    case DUCKDB_V2_EXPRESSION_TYPE_COMPARE_GREATERTHANOREQUALTO: return translate_comparison(of, at, made);
    case DUCKDB_V2_EXPRESSION_TYPE_COMPARE_IN: return translate_in(of, at, made);
    case DUCKDB_V2_EXPRESSION_TYPE_COMPARE_NOT_IN: return negated(of, translate_in(of, at, made), made);
    case DUCKDB_V2_EXPRESSION_TYPE_COMPARE_BETWEEN: return translate_between(of, at, made);
    case DUCKDB_V2_EXPRESSION_TYPE_COMPARE_NOT_DISTINCT_FROM: return translate_same(of, at, made);
    case DUCKDB_V2_EXPRESSION_TYPE_COMPARE_DISTINCT_FROM:
        return negated(of, translate_same(of, at, made), made);
    case DUCKDB_V2_EXPRESSION_TYPE_OPERATOR_IS_NULL: return translate_null(of, at, made);
    case DUCKDB_V2_EXPRESSION_TYPE_OPERATOR_IS_NOT_NULL:
        return negated(of, translate_null(of, at, made), made);
    case DUCKDB_V2_EXPRESSION_TYPE_OPERATOR_NOT:
        return child_count(at) == 1 ? negated(of, translate(of, child(at, 0), made), made) : LEFT;
    case DUCKDB_V2_EXPRESSION_TYPE_CONJUNCTION_AND: return translate_parts(of, at, 1, made);
    case DUCKDB_V2_EXPRESSION_TYPE_CONJUNCTION_OR: return translate_parts(of, at, 0, made);
    case DUCKDB_V2_EXPRESSION_TYPE_VALUE_CONSTANT: return translate_constant(of, at, made);
    case DUCKDB_V2_EXPRESSION_TYPE_BOUND_FUNCTION: return translate_function(of, at, made);
    case DUCKDB_V2_EXPRESSION_TYPE_BOUND_COLUMN_REF: return translate_flag(of, at, made);
    default: return LEFT;
    }
}
