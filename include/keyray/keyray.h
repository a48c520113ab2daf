/**
 * keyray: indexes over database columns in GPU or CPU memory, answering lookups in bulk.
 *
 * Rules that hold for every function, unless its comment says otherwise:
 *
 * Shapes:    counts are numbers of elements (uint64_t); sizes end in _nbytes and are bytes.
 * Memory:    a pointer inside a kr_column, a kr_sink or a row id array may be host or device memory of the
 *            index's device; the library finds out which. Data must be aligned to its element.
 * Ownership: the caller keeps what it passes in; objects returned through a pointer are released by the
 *            function of the same object named _close, _destroy or _release, which accepts NULL.
 * Streams:   NULL means the device's own stream. A call whose pointers are all device memory enqueues its
 *            work and returns; with any host pointer it returns when done.
 * Threads:   any number of threads may look up in one index at the same time; creating and destroying an
 *            object requires exclusive access to it. Devices share only threads of the CPU and the libraries
 *            that cast rays.
 * Errors:    outputs are written only on success (KR_OK, which is 0); the arrays of a kr_sink may be partly
 *            written when a lookup fails or is cancelled. `err` may be NULL, and is not written on success.
 * Structs:   those that may grow begin with struct_size, which the caller sets to sizeof the struct. "Input"
 *            in their comment: zero the rest, then fill in fields; zero means default. An older caller's
 *            struct is read as if its missing fields were 0; a newer caller's is accepted as long as the
 *            fields that this library does not know are 0 (up to 16384 bytes). "Output": the library writes
 *            the fields that both know, fills the rest of the caller's with 0, and reads nothing but
 *            struct_size. Structs without struct_size never grow.
 *
 * The comment of a call says what it does, and then, as far as there is more to say than these rules:
 * Cost, Memory, Lifetime, Stream, Threads, Errors, Source (the paper that a method is from), and parameters.
 *
 * docs/errors.md, docs/memory-and-streams.md and docs/threads.md say more. An installation has the folder
 * docs, the README and examples in share/doc/keyray.
 */
#ifndef KEYRAY_KEYRAY_H
#define KEYRAY_KEYRAY_H

#include <keyray/advise.h>
#include <keyray/common.h>
#include <keyray/devices.h>
#include <keyray/files.h>
#include <keyray/indexes.h>
#include <keyray/joins.h>
#include <keyray/lookups.h>
#include <keyray/prepared.h>
#include <keyray/saved.h>
#include <keyray/scans.h>
#include <keyray/texts.h>

#endif
