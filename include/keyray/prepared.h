/**
 * keyray: prepared lookups and scans: bound once, run many times, with no device memory taken in between.
 * Include <keyray/keyray.h>.
 */
#ifndef KEYRAY_PREPARED_H
#define KEYRAY_PREPARED_H

#include <keyray/lookups.h>
#include <keyray/scans.h>
#include <keyray/texts.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * An index, columns of probes and a sink, or a table, conditions and sinks, bound once. It owns the scratch
 * memory of its runs.
 *
 * A run reads what the columns hold then, and writes the sink: contents may change between runs, pointers,
 * sizes and types may not. It allocates no device memory, waits for nothing and does what kr_index_lookup or
 * kr_scan does. On a GPU it replays a CUDA graph that was recorded when it was prepared, which costs the host
 * less than one launch; kinds that cast rays, and runs that the caller captures, are enqueued anew
 * (kr_prepared_is_recorded).
 *
 * Runs can be captured in CUDA graphs, unless the kind casts rays (OptiX cannot be captured:
 * KR_ERR_UNSUPPORTED; scans that cast rays are not even prepared). Every other lookup, scan, change and
 * allocation refuses a stream that is being captured, before it breaks the capture.
 *
 * Lifetime: the index or table, all arrays and this object must outlive every run and every
 *          replay; destroy it before its device. After the index or the table has changed or was destroyed,
 *          kr_prepared_run is KR_ERR_ARGUMENT, until it is bound again (kr_prepared_rebind). A graph that was
 *          captured before must not be replayed any more, and nothing can notice if it is.
 * Threads: one at a time; a second one is refused with KR_ERR_ARGUMENT. Runs share the scratch memory: put
 *          them on one stream, or order them. Replays of a graph count as runs.
 */
typedef struct kr_prepared kr_prepared;

/**
 * Prepares kr_index_lookup, kr_index_range or kr_index_nearest. Looks everything up once, so all arrays must
 * be there, and the sink is written. All arrays must be in device memory (on "cpu": host memory).
 *
 * ROWS: row ids that do not fit in kr_sink.rows_capacity are left out, also on "cpu", where kr_index_lookup
 * returns KR_ERR_LIMIT. The offsets are of all rows that match (within the limit), whether they fit or not:
 * if offsets[n] is more than rows_capacity, row ids were left out, those from place rows_capacity on. Of a
 * probe whose row ids fit only in part, any of them may be kept. Ranges in KR_ORDER_ROW take 16 bytes of
 * scratch memory for each row id of rows_capacity, and the time to sort them; on "cpu" only as many as there
 * are. A limit of ROWS by row id of ranges needs sizes on the host and is KR_ERR_UNSUPPORTED, as are reports
 * and indexes of keep=host on a GPU.
 *
 * Memory:  kr_prepared_scratch_nbytes, in device memory, counted against the cap; the recording itself is the
 *          driver's, and not counted.
 * Stream:  none; the call blocks until its work is done.
 * Threads: any number may prepare. CUDA refuses calls that wait for a whole GPU, such as
 *          cudaDeviceSynchronize, while work is recorded, for a moment at the end: nobody but keyray should
 *          make one then. Do not prepare while another thread captures in CUDA's global mode.
 * Errors:  as the lookup; KR_ERR_ARGUMENT for host memory; KR_ERR_DEVICE_MEMORY if the scratch memory does
 *          not fit.
 */
KR_API kr_status kr_prepare_lookup(kr_index *index, const kr_column *probes, const kr_sink *sink,
                                   kr_prepared **prepared, kr_error *err);
/** As kr_prepare_lookup, with ranges. */
KR_API kr_status kr_prepare_range(kr_index *index, const kr_column *lower, const kr_column *upper,
                                  const kr_sink *sink, kr_prepared **prepared, kr_error *err);
/** As kr_prepare_lookup, with nearest keys. */
KR_API kr_status kr_prepare_nearest(kr_index *index, const kr_column *probes,
                                    const kr_nearest_options *options, const kr_sink *sink,
                                    kr_prepared **prepared, kr_error *err);

/** As kr_prepare_lookup, of kr_index_lookup_columns. Columns become keys anew in each run. */
KR_API kr_status kr_prepare_lookup_columns(kr_index *index, const kr_column_probes *probes,
                                           const kr_sink *sink, kr_prepared **prepared, kr_error *err);

/**
 * Prepares kr_index_lookup_texts, as kr_prepare_range. Runs make codes of texts anew; a broken row, as a
 * NULL, has no answer there. kr_text_buffer arrays of views are read now.
 */
KR_API kr_status kr_prepare_texts(kr_index *index, const kr_column *probes, kr_texts_bound how,
                                  const kr_sink *sink, kr_prepared **prepared, kr_error *err);

/**
 * Prepares kr_scan: n conditions of a table of kind "full" or "bindex". Scans twice, so the sinks are
 * written. `out`, `valid`, `rows` and `alive` must be in device memory (on "cpu": host memory); what may
 * change between runs are the bits of `alive`. Conditions are planned when they are prepared, and their texts
 * are looked for then. ROWS that do not fit are left out, also on "cpu": if `out` is more than rows_capacity,
 * only the first rows_capacity ids are there.
 *
 * Memory:  kr_prepared_scratch_nbytes, in device memory, counted against the cap.
 * Stream:  none; the call blocks until its work is done.
 * Errors:  as kr_scan; KR_ERR_ARGUMENT for host memory; KR_ERR_UNSUPPORTED for a report and for kinds that
 *          cast rays; KR_ERR_DEVICE_MEMORY if the scratch memory does not fit.
 *
 * @param conditions, sinks, n, options  as in kr_scan; conditions, arrays and structs are read now
 */
KR_API kr_status kr_prepare_scan(kr_table *table, const kr_condition *const *conditions,
                                 const kr_scan_sink *const *sinks, uint32_t n, const kr_scan_options *options,
                                 kr_prepared **prepared, kr_error *err);

/** Enqueues the lookup or scan on `stream` (NULL: the device's own). On "cpu" it is done on return. */
KR_API kr_status kr_prepared_run(kr_prepared *prepared, kr_stream *stream, kr_error *err);

/**
 * 1: runs replay a recording, 0: they enqueue anew, on "cpu", for kinds that cast rays, and where recording
 * failed, which costs nothing but time.
 */
KR_API int kr_prepared_is_recorded(const kr_prepared *prepared);

/** Bytes of device memory that it holds. */
KR_API uint64_t kr_prepared_scratch_nbytes(const kr_prepared *prepared);

/**
 * Binds a prepared lookup to another index, as a version (kr_index_next_version) of the one that it has:
 * later runs ask `next`. Columns of probes and sink stay. Looks everything up once in `next`, so all arrays
 * must be there, and the sink is written.
 *
 * The scratch memory stays where it suffices for `next`, which takes none then; else it is replaced. On a GPU
 * the recording is made anew. The index that it was bound to may be destroyed before, and is not read. On an
 * error the lookup is bound as it was.
 *
 * Memory:  up to a second block of scratch memory while the call lasts, if the sizes of its parts differ.
 * Stream:  none; the call blocks until its work is done. Runs that were enqueued are waited for.
 * Threads: as kr_prepared_run; a graph of the caller's that captured a run must be captured again.
 * Errors:  those of preparing; the text says what differs. KR_ERR_ARGUMENT: another device, kind or number of
 *          columns, too few values for the row ids of `next`, a scan. KR_ERR_TYPE: keys of another type,
 *          codes of another dictionary.
 * Source:  as kr_index_next_version.
 *
 * @param next  an index of the same device, kind, key type and number of columns; not of keep=host on a GPU
 */
KR_API kr_status kr_prepared_rebind(kr_prepared *prepared, kr_index *next, kr_error *err);

/**
 * Binds a prepared scan to another table, as a version of the one that it has, as kr_prepared_rebind.
 * Conditions are not planned anew: columns must have the types, the dictionaries and validity or none as when
 * they were planned. Where a sink is a bitmap or `alive` was given, `next` must have as many rows.
 *
 * Memory:  a second block of scratch memory while the call lasts.
 * Errors:  as kr_prepared_rebind.
 *
 * @param next  a table of the same device, kind and columns, with times in the same units
 */
KR_API kr_status kr_prepared_rebind_table(kr_prepared *prepared, kr_table *next, kr_error *err);

/** Releases it, with its scratch memory. Waits for the streams on which it ran, and for no other work. */
KR_API void kr_prepared_destroy(kr_prepared *prepared);

#ifdef __cplusplus
}
#endif
#endif
