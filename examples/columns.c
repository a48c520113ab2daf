/* An index over several columns: quotes by symbol and time.
 *
 * The last quote of a symbol at or before a time is one lookup, and so are all quotes of a symbol. */
#include <keyray/keyray.h>
#include <stdio.h>
#include <string.h>

enum { QUOTES = 6, TRADES = 4, NOBODY = 3 };

/* Quotes of symbols 1 and 2, in seconds, in any order. */
static const uint32_t quote_symbol[QUOTES] = {1, 2, 1, 1, 2, 1};
static const int64_t quote_time[QUOTES] = {100, 100, 160, 40, 130, 220};
static const kr_column quotes[2] = {{.type = KR_U32, .count = QUOTES, .data = quote_symbol},
                                    {.type = KR_TIMESTAMP64, .count = QUOTES, .data = quote_time}};

/* Nobody quotes symbol 3. */
static const uint32_t trade_symbol[TRADES] = {1, 2, 2, NOBODY};
static const int64_t trade_time[TRADES] = {170, 99, 500, 150};
static const kr_column trades[2] = {{.type = KR_U32, .count = TRADES, .data = trade_symbol},
                                    {.type = KR_TIMESTAMP64, .count = TRADES, .data = trade_time}};

static int failed(kr_status status, const kr_error *err)
{
    if (status != KR_OK)
        fprintf(stderr, "%s: %s\n", kr_status_name(status), err->text);
    return status != KR_OK;
}

static int differs(const char *what, const void *got, const void *right, size_t nbytes)
{
    const int wrong = memcmp(got, right, nbytes) != 0;
    printf("%-44s %s\n", what, wrong ? "WRONG" : "as expected");
    return wrong;
}

static int ask(kr_index *index)
{
    kr_error err = {0};
    uint32_t quote[TRADES];
    uint64_t number[TRADES];
    const kr_nearest_options at_or_before = {.struct_size = sizeof at_or_before, .side = KR_NEAREST_BELOW};
    kr_column_probes probes = {.struct_size = sizeof probes, .columns = trades, .n_columns = 2};
    kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = quote};

    /* Equal in the first column, nearest in the second. */
    probes.nearest = &at_or_before;
    if (failed(kr_index_lookup_columns(index, &probes, &sink, NULL, &err), &err))
        return 1;
    int wrong = differs("the last quote at or before each trade", quote,
                        (uint32_t[]){2, KR_NO_ROW, 4, KR_NO_ROW}, sizeof quote);

    /* The first column alone. */
    probes = (kr_column_probes){.struct_size = sizeof probes, .columns = trades, .n_columns = 1};
    sink = (kr_sink){.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = number};
    if (failed(kr_index_lookup_columns(index, &probes, &sink, NULL, &err), &err))
        return 1;
    return wrong +
           differs("how many quotes each symbol has", number, (uint64_t[]){4, 2, 2, 0}, sizeof number);
}

int main(int argc, char **argv)
{
    kr_error err = {0};
    kr_device *device = NULL;
    kr_index *index = NULL;
    int wrong = failed(kr_device_open(argc > 1 ? argv[1] : "auto", NULL, &device, &err), &err);
    if (!wrong)
        wrong = failed(kr_index_create_columns(device, "best", quotes, 2, NULL, NULL, &index, &err), &err);
    if (!wrong)
        wrong = ask(index);
    kr_index_destroy(index);
    kr_device_close(device);
    return wrong != 0;
}
