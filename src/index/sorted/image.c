/* What is saved of sorted columns (base/image/image.h). */
#include "index/sorted/sorted.h"

/* Whatever they are, no search leaves the entries; kr_sorted_order_check compares them with the keys. */
void kr_sorted_image_ends(kr_image *image, uint32_t key_bits, uint64_t *lowest, uint64_t *highest)
{
    const uint64_t most = UINT64_MAX >> (64 - key_bits);
    kr_image_u64(image, "lowest", lowest, 0, most);
    kr_image_u64(image, "highest", highest, 0, most);
}

void kr_sorted_image(kr_image *image, uint32_t type, kr_sorted *sorted)
{
    const uint32_t key_bits = kr_type_key_bits(type);
    kr_image_u64(image, "n", &sorted->n, 0, KR_NO_ROW - 1);
    kr_sorted_image_ends(image, key_bits, &sorted->lowest, &sorted->highest);
    kr_image_buffer(image, "keys", &sorted->keys, sorted->n * (key_bits / 8));
    kr_image_buffer(image, "rows", &sorted->rows, sorted->n * sizeof(uint32_t));
}
