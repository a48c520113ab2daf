#include "inside.h"

#include "index/kinds/index.h"

uint64_t kr_slot_count(const kr_index *index)
{
    return index->ops->rows(index->self).n_slots;
}
