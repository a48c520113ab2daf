#include "inside.h"

#include "index/kinds/index.h"

uint64_t kr_slot_count(const kr_index *index)
{
    return index->ops->rows(index->self).n_slots;
}

void kr_divide_indexes(kr_device *device, uint64_t part_rows, uint64_t probe_nbytes)
{
    device->keeping = (kr_keeping){1, part_rows, probe_nbytes};
}

void kr_divide_indexes_like(kr_device *device, const kr_device *other)
{
    device->keeping = other->keeping;
}

void kr_divide_no_indexes(kr_device *device)
{
    device->keeping = (kr_keeping){0};
}
