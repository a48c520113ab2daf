/* Keys as texts, of one length each and in the order of the numbers. */
#include "bench/workload/workload.h"

#include <string.h>

static const char digits[] = "0123456789abcdef";

static void write_number(char *end, uint64_t number, uint32_t base, uint32_t n)
{
    for (; n; --n, number /= base)
        *--end = digits[number % base];
}

/* As wide as the texts of the greatest number. */
static uint32_t number_digits(kr_text_form form, kr_type type)
{
    const uint32_t is_wide = type == KR_U64;
    return form == KR_TEXTS_CUSTOMER ? is_wide ? 20 : 10 : is_wide ? 16 : 8;
}

uint32_t kr_text_nbytes(kr_text_form form, kr_type type)
{
    switch (form) {
    case KR_TEXTS_HEX: return 16;
    case KR_TEXTS_CUSTOMER: return 9 + number_digits(form, type);
    default: return 36 + number_digits(form, type);
    }
}

static void write_text(kr_text_form form, kr_type type, uint64_t number, char *to)
{
    const uint32_t n = number_digits(form, type), length = kr_text_nbytes(form, type);
    const uint32_t high = (uint32_t)(type == KR_U64 ? number >> 32 : number);
    switch (form) {
    case KR_TEXTS_HEX:
        write_number(to + n, number, 16, n);
        if (n < length) /* so that no text ends as it begins */
            write_number(to + length, (number * UINT64_C(0x9E3779B97F4A7C15)) >> 32, 16, length - n);
        break;
    case KR_TEXTS_CUSTOMER:
        memcpy(to, "Customer#", 9);
        write_number(to + length, number, 10, n);
        break;
    default:
        memcpy(to, "https://www.shop00.example.com/item/", 36);
        write_number(to + 18, ((uint64_t)high * 48) >> 32, 10, 2);
        write_number(to + length, number, 16, n);
    }
}

typedef struct writing {
    kr_text_form form;
    kr_type type;
    const void *numbers;
    int64_t *offsets;
    char *bytes;
} writing;

static void write_part(void *ctx, uint32_t part, uint64_t first, uint64_t end)
{
    const writing *w = ctx;
    const uint32_t length = kr_text_nbytes(w->form, w->type);
    (void)part;
    for (uint64_t i = first; i < end; ++i) {
        const uint64_t number =
            w->type == KR_U64 ? ((const uint64_t *)w->numbers)[i] : ((const uint32_t *)w->numbers)[i];
        write_text(w->form, w->type, number, w->bytes + i * length);
        w->offsets[i + 1] = (int64_t)((i + 1) * length);
    }
}

void kr_generate_texts(kr_text_form form, kr_type type, uint64_t count, const void *numbers, uint32_t threads,
                       int64_t *offsets, char *bytes)
{
    writing w = {form, type, numbers, offsets, bytes};
    offsets[0] = 0;
    kr_workload_run(kr_workload_parts(threads, count), count, write_part, &w);
}
