/* An image as a sequence of bytes, for files and streams (kr_pieces_next). */
#ifndef KEYRAY_BASE_IMAGE_PIECES_H
#define KEYRAY_BASE_IMAGE_PIECES_H

#include "base/image/image.h"

/* What is saved. */
typedef struct kr_pieces_of {
    kr_device *device;
    const uint64_t *version; /* of the index or table, which every change raises */
    const char *what;        /* "index", "table", for errors */
    void *ready;             /* event after which its arrays may be read; NULL: now */
} kr_pieces_of;

/* Takes the fields of a walk that saves, whose memory stays as it is until the pieces are destroyed. A step
 * of the work that failed is its error. */
kr_status kr_pieces_make(kr_image *image, const kr_pieces_of *of, kr_pieces **pieces);

#endif
