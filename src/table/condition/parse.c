/* Reads a condition from text. Operators wait on a stack of their own until their operands are complete, so
 * nesting takes memory and no recursion. */
#include "base/values/values.h"
#include "table/condition/condition.h"
#include "table/condition/grow.h"

#include <math.h>
#include <stdio.h>

enum token_kind { END, WORD, NAME, NUMBER, TEXT, SYMBOL };

typedef struct token {
    enum token_kind kind;
    const char *at;
    uint64_t nbytes;
} token;

/* What waits for an operand, or for its parenthesis. Larger ones bind tighter. */
enum { OPEN, OR, AND, NOT };

typedef struct waiting {
    uint32_t op;
    const char *at;
} waiting;

typedef struct parsing {
    const char *text;
    token next;
    kr_condition *made;
    waiting *stack;
    uint64_t n_stack, room_stack;
    uint64_t source;  /* where the whole text is among the texts of `made` */
    kr_status status; /* of the first error */
    kr_error *err;
} parsing;

/* ---- Tokens ---------------------------------------------------------------------------------- */

static int is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Letters, digits, '_' and all bytes of characters beyond ASCII. */
static int is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static uint64_t place(const parsing *p, const char *at)
{
    return (uint64_t)(at - p->text) + 1;
}

/* What stands there, for errors. */
static int fail_at(parsing *p, const char *at, const char *what)
{
    char shown[32];
    snprintf(shown, sizeof shown, "%.24s%s", at, strlen(at) > 24 ? "..." : "");
    if (p->status == KR_OK)
        p->status = *at ? kr_fail(p->err, KR_ERR_FORMAT, "the condition, character %llu, at \"%s\": %s",
                                  (unsigned long long)place(p, at), shown, what)
                        : kr_fail(p->err, KR_ERR_FORMAT, "the condition, character %llu, its end: %s",
                                  (unsigned long long)place(p, at), what);
    return 0;
}

static int no_memory(parsing *p)
{
    if (p->status == KR_OK)
        p->status = KR_ERR_HOST_MEMORY;
    return 0;
}

/* The end of a quoted text, after its last quote; a quote inside is doubled. NULL: it does not end. */
static const char *end_of_quoted(const char *at)
{
    const char quote = *at++;
    for (; *at; ++at) {
        if (*at != quote)
            continue;
        if (at[1] != quote)
            return at + 1;
        ++at;
    }
    return NULL;
}

static const char *end_of_number(const char *at)
{
    at += *at == '-' || *at == '+';
    while (is_word(*at) || *at == '.' || ((*at == '-' || *at == '+') && (at[-1] == 'e' || at[-1] == 'E')))
        ++at;
    return at;
}

static int begins_number(const char *at)
{
    const char *digits = at + (*at == '-' || *at == '+');
    return is_digit(*digits) || (*digits == '.' && is_digit(digits[1])) || (digits != at && is_word(*digits));
}

/* A date or a time without quotes, which begins like a number: 2024-01-31, 12:30. */
static int fail_without_quotes(parsing *p, const char *at)
{
    char what[128];
    const size_t nbytes = strspn(at, "0123456789-:.TZ+");
    snprintf(what, sizeof what, "put dates and times in single quotes: '%.*s'",
             nbytes < 40 ? (int)nbytes : 40, at);
    return fail_at(p, at, what);
}

static int begins_time(const char *at)
{
    const size_t digits = strspn(at, "0123456789");
    return (digits == 4 && at[4] == '-' && is_digit(at[5]) && is_digit(at[6]) && at[7] == '-') ||
           (digits > 0 && digits < 3 && at[digits] == ':' && is_digit(at[digits + 1]));
}

/* Reads the token after p->next. */
static int advance(parsing *p)
{
    static const char *const symbols[] = {"<=", ">=", "<>", "!=", "==", "<", ">", "=", "(", ")", ","};
    const char *at = p->next.at + p->next.nbytes, *end = NULL;
    enum token_kind kind = SYMBOL;
    while (is_space(*at))
        ++at;
    if (!*at) {
        p->next = (token){END, at, 0};
        return 1;
    }
    if (*at == '\'' || *at == '"') {
        kind = *at == '"' ? NAME : TEXT;
        end = end_of_quoted(at);
        if (!end)
            return fail_at(p, at, "this quote is not closed");
    } else if (begins_time(at)) {
        return fail_without_quotes(p, at);
    } else if (begins_number(at)) {
        kind = NUMBER;
        end = end_of_number(at);
    } else if (is_word(*at)) {
        kind = WORD;
        for (end = at; is_word(*end);)
            ++end;
    }
    for (size_t i = 0; !end && i < sizeof symbols / sizeof *symbols; ++i)
        if (!strncmp(at, symbols[i], strlen(symbols[i])))
            end = at + strlen(symbols[i]);
    if (!end)
        return fail_at(p, at, "no condition has this character");
    p->next = (token){kind, at, (uint64_t)(end - at)};
    return 1;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int token_is(const token *t, const char *word)
{
    if ((t->kind != WORD && t->kind != SYMBOL) || strlen(word) != t->nbytes)
        return 0;
    for (uint64_t i = 0; i < t->nbytes; ++i)
        if (lower(t->at[i]) != word[i])
            return 0;
    return 1;
}

static int next_is(const parsing *p, const char *word)
{
    return token_is(&p->next, word);
}

/* Reads the word if it comes next. */
static int accept(parsing *p, const char *word)
{
    return next_is(p, word) && advance(p);
}

static int expect(parsing *p, const char *word)
{
    char what[64];
    if (next_is(p, word))
        return advance(p);
    snprintf(what, sizeof what, "expected '%s'", word);
    return fail_at(p, p->next.at, what);
}

/* ---- Values and names ------------------------------------------------------------------------ */

/* The text between quotes, or a word, kept with single quotes inside. */
static int keep_text(parsing *p, const token *t, uint64_t *where, uint64_t *nbytes)
{
    kr_condition *made = p->made;
    const int quoted = t->kind != WORD;
    if (!kr_condition_add_text(made, t->at + quoted, t->nbytes - 2 * (uint64_t)quoted, where, p->err))
        return no_memory(p);
    char *to = made->texts + *where;
    for (const char *from = to; *from; ++from) {
        *to++ = *from;
        from += quoted && *from == *t->at; /* doubled */
    }
    *to = '\0';
    *nbytes = (uint64_t)(to - (made->texts + *where));
    return 1;
}

static int read_integer(const char *at, uint64_t nbytes, kr_literal *literal)
{
    const int has_sign = *at == '-' || *at == '+';
    literal->negative = *at == '-';
    literal->kind = KR_LITERAL_INTEGER;
    literal->bits = 0;
    for (uint64_t i = (uint64_t)has_sign; i < nbytes; ++i) {
        const uint64_t digit = (uint64_t)(at[i] - '0');
        if (!is_digit(at[i]))
            return 0;
        if (literal->bits > (UINT64_MAX - digit) / 10)
            literal->kind = KR_LITERAL_HUGE;
        literal->bits = literal->bits * 10 + digit;
    }
    return nbytes > (uint64_t)has_sign;
}

/* nan and inf are words, with a sign or without. */
static int read_number(parsing *p, const token *t, kr_literal *literal)
{
    double real = 0;
    const int is_integer = read_integer(t->at, t->nbytes, literal);
    if (is_integer && literal->kind == KR_LITERAL_INTEGER)
        return 1;
    const kr_value_result read = kr_value_parse(KR_F64, KR_UNIT_NONE, t->at, t->nbytes, &real);
    if (read == KR_VALUE_MALFORMED)
        return fail_at(p, t->at, "this is not a number");
    literal->beyond = read == KR_VALUE_RANGE;
    if (literal->beyond)
        real = *t->at == '-' ? -HUGE_VAL : HUGE_VAL;
    if (!is_integer)
        literal->kind = KR_LITERAL_REAL;
    memcpy(&literal->bits, &real, sizeof real);
    return 1;
}

static int is_value(const token *t)
{
    return t->kind == NUMBER || t->kind == TEXT || token_is(t, "null") || token_is(t, "nan") ||
           token_is(t, "inf") || token_is(t, "infinity");
}

/* DATE '...' and TIMESTAMP '...': the word says nothing that the column does not. */
static int skip_type(parsing *p)
{
    const token before = p->next;
    if (!next_is(p, "date") && !next_is(p, "timestamp"))
        return 1;
    if (!advance(p))
        return 0;
    if (p->next.kind != TEXT)
        p->next = before;
    return 1;
}

static int is_reserved(const token *t)
{
    static const char *const words[] = {"and", "or", "not", "between", "in", "is", "null", "true", "false"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (token_is(t, words[i]))
            return 1;
    return 0;
}

/* A word or a name where a value must stand is probably a text. */
static int fail_no_value(parsing *p, const token *t)
{
    char what[160];
    const int is_name = t->kind == NAME && t->nbytes > 2;
    if (!is_name && (t->kind != WORD || is_reserved(t)))
        return fail_at(p, t->at, "expected a value: a number, a text in single quotes, or NULL");
    const uint64_t nbytes = t->nbytes - 2 * (uint64_t)is_name;
    snprintf(what, sizeof what, "expected a value; %sput texts in single quotes: '%.*s'",
             is_name ? "double quotes are for names of columns; " : "", nbytes < 40 ? (int)nbytes : 40,
             t->at + is_name);
    return fail_at(p, t->at, what);
}

static int read_value(parsing *p)
{
    kr_literal literal = {.kind = KR_LITERAL_NULL};
    if (!skip_type(p))
        return 0;
    const token t = p->next;
    literal.at = place(p, t.at);
    if (!is_value(&t))
        return fail_no_value(p, &t);
    if (t.kind == TEXT) {
        literal.kind = KR_LITERAL_TEXT;
        if (!keep_text(p, &t, &literal.bits, &literal.nbytes))
            return 0;
    } else if (!token_is(&t, "null") && !read_number(p, &t, &literal)) {
        return 0;
    }
    return kr_condition_add_literal(p->made, literal, p->err) ? advance(p) : no_memory(p);
}

static int is_column(const token *t)
{
    return t->kind == NAME || (t->kind == WORD && !is_reserved(t) && !is_value(t));
}

static int read_column(parsing *p, uint64_t *where, uint64_t *at)
{
    const token t = p->next;
    uint64_t nbytes = 0;
    *at = place(p, t.at);
    if (!is_column(&t))
        return fail_at(p, t.at, "expected the name of a column");
    return keep_text(p, &t, where, &nbytes) && advance(p);
}

/* ---- Comparisons ----------------------------------------------------------------------------- */

static const struct {
    const char *symbol;
    kr_compare compare, turned; /* turned: a < b is b > a */
} comparisons[] = {
    {"<", KR_LESS, KR_GREATER},         {"<=", KR_LESS_EQUAL, KR_GREATER_EQUAL},
    {">", KR_GREATER, KR_LESS},         {">=", KR_GREATER_EQUAL, KR_LESS_EQUAL},
    {"=", KR_EQUAL, KR_EQUAL},          {"==", KR_EQUAL, KR_EQUAL},
    {"<>", KR_NOT_EQUAL, KR_NOT_EQUAL}, {"!=", KR_NOT_EQUAL, KR_NOT_EQUAL},
};

/* Which row of `comparisons` comes next; -1: none. */
static int read_symbol(parsing *p)
{
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; ++i)
        if (next_is(p, comparisons[i].symbol))
            return advance(p) ? (int)i : -1;
    return -1;
}

static int add_node(parsing *p, kr_node node)
{
    return kr_condition_add_node(p->made, node, p->err) || no_memory(p);
}

static int add_not(parsing *p, int is_negated)
{
    return !is_negated || add_node(p, (kr_node){.op = KR_NODE_NOT, .n = 1});
}

static int read_list(parsing *p)
{
    if (!expect(p, "("))
        return 0;
    if (accept(p, ")"))
        return 1;
    do
        if (!read_value(p))
            return 0;
    while (accept(p, ","));
    return p->status == KR_OK && expect(p, ")");
}

/* After a column: IS, BETWEEN, IN, LIKE. */
static int read_predicate(parsing *p, kr_node node)
{
    int is_negated = accept(p, "not");
    if (!is_negated && accept(p, "is")) {
        is_negated = accept(p, "not");
        node.compare = KR_IS_NULL;
        if (!expect(p, "null"))
            return 0;
    } else if (accept(p, "between")) {
        node.compare = KR_BETWEEN;
        if (!read_value(p) || !expect(p, "and") || !read_value(p))
            return 0;
    } else if (accept(p, "in")) {
        node.compare = KR_IN;
        if (!read_list(p))
            return 0;
    } else if (accept(p, "like")) {
        node.compare = KR_LIKE;
        if (!read_value(p) || (accept(p, "escape") && !read_value(p)))
            return 0;
    } else {
        return fail_at(p, p->next.at,
                       is_negated ? "expected BETWEEN, IN or LIKE"
                                  : "expected a comparison, BETWEEN, IN, LIKE or IS");
    }
    node.n = p->made->n_literals - node.literal;
    return p->status == KR_OK && add_node(p, node) && add_not(p, is_negated);
}

static int read_after_column(parsing *p, kr_node node)
{
    if (!read_column(p, &node.column, &node.column_at))
        return 0;
    const int i = read_symbol(p);
    if (i < 0)
        return p->status == KR_OK && read_predicate(p, node);
    node.compare = comparisons[i].compare;
    if (!skip_type(p))
        return 0;
    if (is_column(&p->next)) {
        node.op = KR_NODE_COLUMNS;
        return read_column(p, &node.other, &node.other_at) && add_node(p, node);
    }
    node.n = 1;
    return read_value(p) && add_node(p, node);
}

/* 5 < a */
static int read_after_value(parsing *p, kr_node node)
{
    if (!read_value(p))
        return 0;
    const int i = read_symbol(p);
    if (i < 0)
        return p->status == KR_OK && fail_at(p, p->next.at, "expected a comparison");
    node.n = 1;
    node.compare = comparisons[i].turned;
    return read_column(p, &node.column, &node.column_at) && add_node(p, node);
}

static int read_comparison(parsing *p)
{
    const kr_node node = {.op = KR_NODE_COMPARE,
                          .literal = p->made->n_literals,
                          .at = place(p, p->next.at),
                          .source = p->source};
    if (accept(p, "true"))
        return add_node(p, (kr_node){.op = KR_NODE_AND});
    if (accept(p, "false"))
        return add_node(p, (kr_node){.op = KR_NODE_OR});
    if (!skip_type(p))
        return 0;
    if (is_value(&p->next))
        return read_after_value(p, node);
    if (is_column(&p->next))
        return read_after_column(p, node);
    return fail_at(p, p->next.at, "expected a comparison, NOT or '('");
}

/* ---- And, or, not ---------------------------------------------------------------------------- */

static int push(parsing *p, uint32_t op)
{
    if (!kr_condition_grow((void **)&p->stack, &p->room_stack, p->n_stack, 1, sizeof *p->stack, "a condition",
                           p->err))
        return no_memory(p);
    p->stack[p->n_stack++] = (waiting){op, p->next.at};
    return 1;
}

/* Completes what binds at least as tight as `op`. Neighbouring ANDs become one node, and so do ORs. */
static int reduce(parsing *p, uint32_t op)
{
    while (p->n_stack && p->stack[p->n_stack - 1].op >= op) {
        const uint32_t top = p->stack[p->n_stack - 1].op;
        uint64_t n = 0;
        if (top == OPEN)
            break;
        while (p->n_stack && p->stack[p->n_stack - 1].op == top && (top != NOT || !n)) {
            --p->n_stack;
            ++n;
        }
        if (top == NOT ? !add_not(p, 1)
                       : !add_node(p, (kr_node){.op = top == AND ? KR_NODE_AND : KR_NODE_OR, .n = n + 1}))
            return 0;
    }
    return 1;
}

/* NOTs and parentheses before a comparison, and the comparison. */
static int read_operand(parsing *p)
{
    while (next_is(p, "not") || next_is(p, "("))
        if (!push(p, next_is(p, "not") ? NOT : OPEN) || !advance(p))
            return 0;
    return read_comparison(p);
}

/* Closing parentheses after an operand; then AND or OR, or the end (0, with the status still KR_OK). */
static int read_operator(parsing *p)
{
    for (; next_is(p, ")"); --p->n_stack) {
        if (!reduce(p, OR))
            return 0;
        if (!p->n_stack)
            return fail_at(p, p->next.at, "no parenthesis is open");
        if (!advance(p))
            return 0;
    }
    const uint32_t op = next_is(p, "and") ? AND : OR;
    if (op == OR && !next_is(p, "or")) {
        if (p->next.kind != END)
            return fail_at(p, p->next.at, "expected AND, OR or the end");
        return 0;
    }
    /* One AND after another waits with it; a NOT before it is complete. */
    return reduce(p, op + 1) && push(p, op) && advance(p);
}

static void parse(parsing *p)
{
    if (!advance(p))
        return;
    if (p->next.kind == END) {
        add_node(p, (kr_node){.op = KR_NODE_AND});
        return;
    }
    while (read_operand(p) && read_operator(p))
        ;
    if (p->status == KR_OK && reduce(p, OR) && p->n_stack)
        fail_at(p, p->stack[p->n_stack - 1].at, "this parenthesis is not closed");
}

kr_status kr_condition_parse(const char *text, kr_condition **condition, kr_error *err)
{
    if (!text || !condition)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_condition_parse: %s is NULL", text ? "condition" : "text");
    parsing p = {.text = text, .next = {.at = text}, .err = err};
    p.made = kr_host_calloc(1, sizeof *p.made, "a condition", err);
    if (!p.made)
        return KR_ERR_HOST_MEMORY;
    if (!kr_condition_add_text(p.made, text, strlen(text), &p.source, err))
        no_memory(&p);
    else
        parse(&p);
    free(p.stack);
    if (p.status != KR_OK) {
        kr_condition_destroy(p.made);
        return p.status;
    }
    *condition = p.made;
    return KR_OK;
}
