/* The programs of store.c at one key width. */
#include "lightweight/store_body.h"
