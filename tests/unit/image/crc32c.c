/* CRC-32C against published values (RFC 3720 B.4, and the check value of the catalogue of CRCs), and sums
 * with instructions against sums without, of every length and alignment. */
#include "base/image/crc32c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void published_values(void **state)
{
    (void)state;
    unsigned char bytes[32], command[48] = {0x01, 0xC0};
    assert_int_equal(kr_crc32c(0, "123456789", 9), 0xE3069283);
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(kr_crc32c(0, bytes, 32), 0x8A9136AA);
    memset(bytes, 0xFF, sizeof bytes);
    assert_int_equal(kr_crc32c(0, bytes, 32), 0x62A8AB43);
    for (int i = 0; i < 32; ++i)
        bytes[i] = (unsigned char)i;
    assert_int_equal(kr_crc32c(0, bytes, 32), 0x46DD794E);
    for (int i = 0; i < 32; ++i)
        bytes[i] = (unsigned char)(31 - i);
    assert_int_equal(kr_crc32c(0, bytes, 32), 0x113FDB5C);
    /* An iSCSI read command. */
    command[16] = 0x14;
    command[22] = 0x04;
    command[27] = 0x14;
    command[31] = 0x18;
    command[32] = 0x28;
    command[40] = 0x02;
    assert_int_equal(kr_crc32c(0, command, 48), 0xD9963A56);
    assert_int_equal(kr_crc32c(0, NULL, 0), 0);
}

static void every_length(void **state_of_test)
{
    (void)state_of_test;
    enum { MOST = 20000 };
    static unsigned char bytes[MOST + 16];
    uint64_t state = 1;
    for (int i = 0; i < MOST + 16; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (unsigned char)(state >> 56);
    }
    int wrong = 0;
    for (int n = 0; n < MOST; n += n < 300 ? 1 : 61)
        for (int from = 0; from < 16; from += n < 300 ? 1 : 5) {
            const uint32_t whole = kr_crc32c(7, bytes + from, n);
            wrong += whole != kr_crc32c_plain(7, bytes + from, n);
            wrong += whole != kr_crc32c(kr_crc32c(7, bytes + from, n / 3), bytes + from + n / 3, n - n / 3);
        }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(published_values), cmocka_unit_test(every_length)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
