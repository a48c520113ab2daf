#include "index/kept/travel.h"
#include "index/kinds/column.h"

#include <string.h>

/* ---- Loading a part ---------------------------------------------------------------------------- */

static void fill(kr_image *image, const kr_field *field, kr_buffer *buffer)
{
    travel_source *from = (travel_source *)(uintptr_t)image->source;
    *buffer = (kr_buffer){(void *)(uintptr_t)field->data, field->value, 1};
    if (!from->to)
        return;
    buffer->data = from->to + from->used;
    from->used += (field->value + KEPT_ALIGNMENT - 1) / KEPT_ALIGNMENT * KEPT_ALIGNMENT;
    if (from->is_pinned)
        kr_work_copy(image->work, buffer->data, field->data, field->value);
    else /* of a mapped file: through pinned buffers */
        KR_STEP(image->work, kr_column_upload(image->work->device, buffer->data, field->data, field->value,
                                              image->work->stream, image->work->err));
}

static void read(kr_image *image, const kr_field *field, void *to)
{
    (void)image;
    memcpy(to, field->data, field->value);
}

void *travel_load(kr_work *w, const kr_divided *d, uint32_t part, void *to)
{
    const kr_field_list *list = &d->parts[part].fields;
    travel_source from = {.source = {.fields = list->fields,
                                     .n = list->n,
                                     .name = "a part of an index",
                                     .fill = fill,
                                     .read = read},
                          .to = to,
                          .is_pinned = d->parts[part].is_pinned};
    const kr_image_of of = {.spec = &d->spec, .type = divided_code_type(d)};
    void *self = NULL;
    if (!kr_work_goes_on(w))
        return NULL;
    kr_image image = kr_image_to_load(w, &from.source);
    d->family->image(&image, &of, &self);
    kr_image_end(&image);
    if (!kr_work_goes_on(w) && self) {
        d->family->destroy(w->device, self, w->stream);
        self = NULL;
    }
    return self;
}

/* ---- Slots ------------------------------------------------------------------------------------- */

enum { SLOTS = 2 };

typedef struct slot {
    kr_stream *stream;
    kr_work work; /* on that stream */
    void *memory; /* of the caller's work */
    void *self;   /* the part that is there, or NULL */
    kr_index index;
} slot;

typedef struct travel {
    kr_work *work;
    const travel_job *job;
    slot slots[SLOTS];
    uint32_t next;
} travel;

uint64_t travel_nbytes(const kr_divided *d)
{
    return d->largest_nbytes * (d->n_parts < SLOTS ? d->n_parts : SLOTS);
}

static void open_slot(travel *t, slot *s)
{
    kr_work *w = t->work;
    s->memory = kr_work_take_or(w, t->job->of->largest_nbytes, "a part that travels",
                                "this index is kept in host memory, in parts; release some memory, or build "
                                "it under a smaller cap, for smaller parts");
    s->stream = kr_work_fork(w);
    s->work = kr_work_on(w->device, s->stream, w->err);
    s->work.status = w->status;
}

/* The searches before are ahead of it in the stream. */
static void leave(travel *t, slot *s)
{
    if (s->self)
        t->job->of->family->destroy(t->work->device, s->self, s->stream);
    s->self = NULL;
}

static void close_slot(travel *t, slot *s)
{
    if (!s->stream)
        return;
    kr_device_sync(t->work->device, s->stream, NULL);
    leave(t, s);
    kr_work_end(&s->work);
    kr_stream_destroy(s->stream);
}

/* Sends a part to the slot whose turn it is. */
static slot *send(travel *t, uint32_t part)
{
    const kr_divided *d = t->job->of;
    slot *s = &t->slots[t->next++ % SLOTS];
    leave(t, s);
    s->self = travel_load(&s->work, d, part, s->memory);
    if (s->self)
        divided_describe_part(d, part, d->device, s->self, &s->index);
    KR_STEP(t->work, s->work.status);
    if (t->job->log) {
        ++t->job->log->kept[KR_KEPT_TRAVELS];
        t->job->log->kept[KR_KEPT_NBYTES] += d->parts[part].nbytes;
    }
    return s;
}

/* ---- All parts --------------------------------------------------------------------------------- */

static uint32_t next_part(const travel_job *job, uint32_t part)
{
    while (part < job->of->n_parts && job->starts[part + 1] == job->starts[part])
        ++part;
    return part;
}

static uint32_t count_parts(const travel_job *job, uint32_t most)
{
    uint32_t n = 0;
    for (uint32_t p = next_part(job, 0); p < job->of->n_parts && n < most; p = next_part(job, p + 1))
        ++n;
    return n;
}

static void report(kr_work *w, const travel_job *job, uint32_t part)
{
    KR_STEP(w, kr_progress_report(&w->device->options.progress, "lookup",
                                  (double)(part + 1) / (double)job->of->n_parts, w->err));
}

static void search_here(kr_work *w, const travel_job *job)
{
    const uint32_t mark = kr_work_mark(w), n = job->of->n_parts;
    for (uint32_t p = next_part(job, 0); p < n && kr_work_goes_on(w); p = next_part(job, p + 1)) {
        job->search(job->ctx, w, job->of->parts[p].on_host, p);
        kr_work_give_since(w, mark);
        report(w, job, p);
    }
}

/* A part is sent before the one ahead of it is searched. */
static void search_there(travel *t)
{
    const travel_job *job = t->job;
    const uint32_t n = job->of->n_parts;
    uint32_t p = next_part(job, 0);
    slot *here = p < n && kr_work_goes_on(t->work) ? send(t, p) : NULL;
    while (p < n && kr_work_goes_on(t->work)) {
        const uint32_t next = next_part(job, p + 1);
        slot *coming = next < n ? send(t, next) : NULL;
        if (kr_work_goes_on(&here->work))
            job->search(job->ctx, &here->work, &here->index, p);
        kr_work_give_since(&here->work, 0);
        KR_STEP(t->work, here->work.status);
        report(t->work, job, p);
        p = next;
        here = coming;
    }
}

void travel_parts(kr_work *w, const travel_job *job)
{
    travel t = {.work = w, .job = job};
    const uint32_t mark = kr_work_mark(w);
    if (!kr_work_goes_on(w))
        return;
    if (w->device == job->of->host) {
        search_here(w, job);
        return;
    }
    const uint32_t slots = count_parts(job, SLOTS);
    for (uint32_t i = 0; i < slots && kr_work_goes_on(w); ++i)
        open_slot(&t, &t.slots[i]);
    if (kr_work_goes_on(w))
        search_there(&t);
    for (uint32_t i = 0; i < slots && kr_work_goes_on(w); ++i)
        KR_STEP(w, kr_device_sync(w->device, t.slots[i].stream, w->err));
    for (uint32_t i = 0; i < slots; ++i)
        close_slot(&t, &t.slots[i]);
    kr_work_give_since(w, mark);
}
