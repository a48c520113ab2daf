/* An instruction has a latency of three cycles and can start in each, so three streams are summed side by
 * side and then joined: the sum of a stream is moved over the bytes of the next by tables. */
#include "base/image/crc32c.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#define TARGET __attribute__((target("sse4.2")))
#define HAS_INSTRUCTION __builtin_cpu_supports("sse4.2")
#define STEP_BYTE(sum, byte) _mm_crc32_u8((uint32_t)(sum), byte)
#define STEP_WORD(sum, word) _mm_crc32_u64(sum, word)
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#define TARGET __attribute__((target("+crc")))
#define HAS_INSTRUCTION (getauxval(AT_HWCAP) >> 7 & 1) /* HWCAP_CRC32 */
#define STEP_BYTE(sum, byte) __crc32cb((uint32_t)(sum), byte)
#define STEP_WORD(sum, word) __crc32cd((uint32_t)(sum), word)
#endif

enum { STREAM = 2048 }; /* bytes of a stream before it is joined: 170 times three of them are nearly 1 MiB */

static uint32_t of_byte[256];
static uint32_t moved[4][256]; /* [i][b]: byte i of a sum, moved over STREAM bytes */

static void make_tables(void)
{
    for (uint32_t b = 0; b < 256; ++b) {
        uint32_t sum = b;
        for (int bit = 0; bit < 8; ++bit)
            sum = sum >> 1 ^ (sum & 1 ? 0x82F63B78u : 0);
        of_byte[b] = sum;
    }
    for (uint32_t bit = 0; bit < 32; ++bit) {
        uint32_t sum = 1u << bit;
        for (int i = 0; i < STREAM; ++i)
            sum = sum >> 8 ^ of_byte[sum & 0xFF];
        for (uint32_t b = 0; b < 256; ++b)
            if (b >> (bit % 8) & 1)
                moved[bit / 8][b] ^= sum;
    }
}

static void need_tables(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_tables);
}

uint32_t kr_crc32c_plain(uint32_t before, const void *data, uint64_t nbytes)
{
    const uint8_t *at = data;
    uint32_t sum = ~before;
    need_tables();
    for (; nbytes; --nbytes)
        sum = sum >> 8 ^ of_byte[(sum ^ *at++) & 0xFF];
    return ~sum;
}

#if defined(HAS_INSTRUCTION)
static uint64_t move(uint64_t sum)
{
    return moved[0][sum & 0xFF] ^ moved[1][sum >> 8 & 0xFF] ^ moved[2][sum >> 16 & 0xFF] ^
           moved[3][sum >> 24 & 0xFF];
}

TARGET static uint64_t word_at(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

TARGET static uint32_t sum_fast(uint32_t before, const uint8_t *at, uint64_t nbytes)
{
    uint64_t sum = (uint32_t)~before;
    for (; nbytes >= 3 * STREAM; nbytes -= 3 * STREAM, at += 3 * STREAM) {
        uint64_t second = 0, third = 0;
        for (int i = 0; i < STREAM; i += 8) {
            sum = STEP_WORD(sum, word_at(at + i));
            second = STEP_WORD(second, word_at(at + STREAM + i));
            third = STEP_WORD(third, word_at(at + 2 * STREAM + i));
        }
        sum = move(move(sum) ^ second) ^ third;
    }
    for (; nbytes >= 8; nbytes -= 8, at += 8)
        sum = STEP_WORD(sum, word_at(at));
    for (; nbytes; --nbytes)
        sum = STEP_BYTE(sum, *at++);
    return ~(uint32_t)sum;
}
#endif

uint32_t kr_crc32c(uint32_t before, const void *data, uint64_t nbytes)
{
#if defined(HAS_INSTRUCTION)
    if (HAS_INSTRUCTION) {
        need_tables();
        return sum_fast(before, data, nbytes);
    }
#endif
    return kr_crc32c_plain(before, data, nbytes);
}
