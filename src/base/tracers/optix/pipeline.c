/* Modules and pipelines, made on first use and kept: a module per PTX, sort of primitive and depth of scene,
 * a program per ray program on top of it. */
#include "base/tracers/optix/optix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_NBYTES = 2048, NAME_NBYTES = 128 };

/* OptiX compiles PTX for one sort of scene. */
typedef struct kr_optix_module {
    struct kr_optix_module *next;
    const kr_ray_module *source;
    uint32_t prim, grouped, n_payload;
    void *module;
} kr_optix_module;

static const kr_optix_module_options module_options = {.optimize = KR_OPTIX_OPTIMIZE_MOST,
                                                       .debug = KR_OPTIX_DEBUG_NONE};

/* Without RT cores the depth of the graph sizes the stack of a traversal; where a tree needs more, rays miss
 * primitives (README.md). Only pipelines for graphs of any shape may have this depth. */
static uint32_t graphs_of(const kr_optix *optix, uint32_t grouped)
{
    if (!optix->rt_cores)
        return KR_OPTIX_GRAPH_ANY;
    /* programs over groups may trace in a part of it */
    return KR_OPTIX_GRAPH_SINGLE | (grouped ? KR_OPTIX_GRAPH_INSTANCES : 0u);
}

static uint32_t graph_depth_of(const kr_optix *optix, uint32_t grouped)
{
    return !optix->rt_cores ? KR_OPTIX_MOST_GRAPH_DEPTH : grouped ? 2 : 1;
}

static kr_optix_pipeline_options pipeline_options(const kr_optix *optix, uint32_t prim, uint32_t grouped,
                                                  uint32_t n_payload)
{
    static const uint32_t uses[KR_PRIMS] = {[KR_PRIM_TRIANGLE] = KR_OPTIX_USES_TRIANGLES,
                                            [KR_PRIM_SPHERE] = KR_OPTIX_USES_SPHERES,
                                            [KR_PRIM_AABB] = KR_OPTIX_USES_BOXES};
    return (kr_optix_pipeline_options){
        .graphs = graphs_of(optix, grouped),
        .n_payload = (int32_t)n_payload,
        .n_attributes = 2, /* OptiX's minimum: triangles have two */
        .params_name = KR_OPTIX_LAUNCH_NAME,
        .primitives = uses[prim],
    };
}

/* ---- Modules ------------------------------------------------------------------------------- */

/* The words after `key` in a text, up to the end of their line. */
static void read_line(const char *text, const char *key, char *line, size_t nbytes)
{
    const char *found = strstr(text, key);
    found = found ? found + strlen(key) : "";
    snprintf(line, nbytes, "%.*s", (int)strcspn(found, "\r\n"), found);
}

/* As kr_optix_check, with the first line of OptiX's own report. */
static kr_status check_logged(const kr_optix *optix, int result, const char *call, const char *program,
                              const char *log, kr_error *err)
{
    char first[160], what[256];
    if (!result)
        return KR_OK;
    read_line(log, "", first, sizeof first);
    snprintf(what, sizeof what, "program %s (%s)", program, first[0] ? first : "no report");
    return kr_optix_check(optix, result, call, what, err);
}

/* A driver refuses PTX of a newer CUDA than its own, so both versions are named. */
static kr_status fail_module(const kr_optix *optix, const kr_ray_program *program, int result,
                             const char *log, kr_error *err)
{
    char ptx[16], first[160];
    kr_device_info info = {0};
    read_line(program->module->ptx, ".version ", ptx, sizeof ptx);
    read_line(log, "", first, sizeof first);
    (void)kr_device_read(optix->head.device, &info, NULL);
    return kr_fail_call(err, KR_ERR_UNSUPPORTED, "optixModuleCreate", result,
                        "OptiX rejects the program %s, which is PTX %s, on %s (%s): %s (%s); update the "
                        "driver, or build keyray with an older CUDA toolkit",
                        program->program.name, ptx, optix->head.device->name, info.software,
                        first[0] ? first : optix->api->error_string(result), optix->api->error_name(result));
}

static kr_status module_create(kr_optix *optix, const kr_optix_program *p, kr_optix_module *made,
                               kr_error *err)
{
    char log[LOG_NBYTES] = "";
    size_t log_nbytes = sizeof log;
    const int result =
        optix->api->module_create(optix->context, &module_options, &p->options, made->source->ptx,
                                  made->source->nbytes, log, &log_nbytes, &made->module);
    log[sizeof log - 1] = '\0';
    return result ? fail_module(optix, p->program, result, log, err) : KR_OK;
}

static kr_status find_module(kr_optix *optix, const kr_optix_program *p, void **module, kr_error *err)
{
    const kr_ray_program *program = p->program;
    for (const kr_optix_module *m = optix->modules; m; m = m->next)
        if (m->source == program->module && m->prim == p->prim && m->grouped == p->grouped &&
            m->n_payload == program->n_payload) {
            *module = m->module;
            return KR_OK;
        }
    kr_optix_module *made = kr_host_calloc(1, sizeof *made, "an OptiX module", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    made->source = program->module;
    made->prim = p->prim;
    made->grouped = p->grouped;
    made->n_payload = program->n_payload;
    const kr_status status = module_create(optix, p, made, err);
    if (status) {
        free(made);
        return status;
    }
    made->next = optix->modules;
    optix->modules = made;
    *module = made->module;
    return KR_OK;
}

/* ---- Programs ------------------------------------------------------------------------------ */

/* Ray generation, an empty miss, and what a hit does with this sort of primitive. */
static kr_status create_groups(kr_optix *optix, kr_optix_program *p, void *module, kr_error *err)
{
    static const char *const any_hit_ends[KR_PRIMS] = {
        [KR_PRIM_TRIANGLE] = "", [KR_PRIM_SPHERE] = "", [KR_PRIM_AABB] = "_box"};
    const char *name = p->program->program.name;
    const kr_optix_group_options options = {NULL};
    char raygen[NAME_NBYTES], closest[NAME_NBYTES], any[NAME_NBYTES], intersection[NAME_NBYTES];
    kr_optix_group groups[KR_OPTIX_RECORDS] = {
        {.kind = KR_OPTIX_GROUP_RAYGEN}, {.kind = KR_OPTIX_GROUP_MISS}, {.kind = KR_OPTIX_GROUP_HIT}};
    char log[LOG_NBYTES] = "";
    size_t log_nbytes = sizeof log;
    snprintf(raygen, sizeof raygen, "__raygen__%s", name);
    snprintf(closest, sizeof closest, "__closesthit__%s", name);
    snprintf(any, sizeof any, "__anyhit__%s%s", name, any_hit_ends[p->prim]);
    snprintf(intersection, sizeof intersection, "__intersection__%s", name);
    groups[0].of.raygen = (kr_optix_entry){module, raygen};
    groups[2].of.hit.closest = (kr_optix_entry){module, closest};
    groups[2].of.hit.any = (kr_optix_entry){module, any};
    if (p->prim == KR_PRIM_AABB)
        groups[2].of.hit.intersection = (kr_optix_entry){module, intersection};
    else if (p->prim == KR_PRIM_SPHERE)
        groups[2].of.hit.intersection = (kr_optix_entry){p->sphere_module, NULL};
    const int result = optix->api->group_create(optix->context, groups, KR_OPTIX_RECORDS, &options, log,
                                                &log_nbytes, p->groups);
    return check_logged(optix, result, "optixProgramGroupCreate", name, log, err);
}

static kr_status pack_records(const kr_optix *optix, kr_optix_program *p, kr_error *err)
{
    kr_status status = KR_OK;
    for (int i = 0; !status && i < KR_OPTIX_RECORDS; ++i)
        status = kr_optix_check(
            optix, optix->api->record_header(p->groups[i], p->records + i * KR_OPTIX_RECORD_NBYTES),
            "optixSbtRecordPackHeader", p->program->program.name, err);
    return status;
}

static void program_destroy(kr_optix *optix, kr_optix_program *p)
{
    for (uint32_t i = 0; i < p->n_lanes; ++i) {
        optix->head.device->ops->event_destroy(optix->head.device, p->lanes[i].done);
        (void)optix->api->pipeline_destroy(p->lanes[i].pipeline);
    }
    for (int i = 0; i < KR_OPTIX_RECORDS; ++i)
        if (p->groups[i])
            (void)optix->api->group_destroy(p->groups[i]);
    if (p->sphere_module)
        (void)optix->api->module_destroy(p->sphere_module);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static kr_status fill_program(kr_optix *optix, kr_optix_program *p, kr_error *err)
{
    void *module = NULL;
    p->options = pipeline_options(optix, p->prim, p->grouped, p->program->n_payload);
    kr_status status = find_module(optix, p, &module, err);
    if (!status && p->prim == KR_PRIM_SPHERE) {
        const kr_optix_builtin_options builtin = {.primitive = KR_OPTIX_BUILTIN_SPHERE,
                                                  .build_flags = p->build_flags};
        status = kr_optix_check(optix,
                                optix->api->builtin_module(optix->context, &module_options, &p->options,
                                                           &builtin, &p->sphere_module),
                                "optixBuiltinISModuleGet", p->program->program.name, err);
    }
    if (!status)
        status = create_groups(optix, p, module, err);
    if (!status)
        status = pack_records(optix, p, err);
    return status;
}

static kr_status program_create(kr_optix *optix, const kr_optix_program *wanted, kr_error *err)
{
    kr_optix_program *made = kr_host_calloc(1, sizeof *made, "an OptiX program", err);
    if (!made)
        return KR_ERR_HOST_MEMORY;
    *made = *wanted;
    pthread_mutex_init(&made->lock, NULL);
    const kr_status status = fill_program(optix, made, err);
    if (status) {
        program_destroy(optix, made);
        return status;
    }
    made->next = optix->programs;
    optix->programs = made;
    return KR_OK;
}

static kr_optix_program *find_program(const kr_optix *optix, const kr_optix_program *wanted)
{
    kr_optix_program *p = optix->programs;
    while (p && !(p->program == wanted->program && p->prim == wanted->prim && p->grouped == wanted->grouped &&
                  p->build_flags == wanted->build_flags))
        p = p->next;
    return p;
}

kr_status kr_optix_program_of(kr_optix *optix, const kr_ray_program *program, const kr_optix_scene *scene,
                              kr_optix_program **found, kr_error *err)
{
    const kr_scene_view *view = &scene->head.view;
    /* Only OptiX's intersection of spheres depends on how the scene was built. */
    const kr_optix_program wanted = {
        .program = program,
        .prim = view->prim,
        /* Without RT cores all pipelines are for any graph. */
        .grouped = optix->rt_cores && view->part != 0,
        .build_flags = view->prim == KR_PRIM_SPHERE ? scene->build_flags : 0,
    };
    kr_status status = KR_OK;
    pthread_mutex_lock(&optix->lock);
    kr_optix_program *p = find_program(optix, &wanted);
    if (!p) {
        status = program_create(optix, &wanted, err);
        p = optix->programs;
    }
    pthread_mutex_unlock(&optix->lock);
    if (!status)
        *found = p;
    return status;
}

void kr_optix_programs_destroy(kr_optix *optix)
{
    while (optix->programs) {
        kr_optix_program *gone = optix->programs;
        optix->programs = gone->next;
        program_destroy(optix, gone);
    }
    while (optix->modules) {
        kr_optix_module *gone = optix->modules;
        optix->modules = gone->next;
        (void)optix->api->module_destroy(gone->module);
        free(gone);
    }
}

/* ---- Pipelines ----------------------------------------------------------------------------- */

/* Rays are cast from ray generation only: its stack, and on top of it that of a closest hit, or of an
 * intersection that calls an any-hit program. None of these programs calls another. */
static kr_status set_stack(const kr_optix *optix, const kr_optix_program *p, void *pipeline, kr_error *err)
{
    const char *name = p->program->program.name;
    uint32_t raygen = 0, closest = 0, traversal = 0;
    kr_status status = KR_OK;
    for (int i = 0; !status && i < KR_OPTIX_RECORDS; ++i) {
        kr_optix_stack_sizes sizes = {0};
        status = kr_optix_check(optix, optix->api->group_stack(p->groups[i], &sizes, pipeline),
                                "optixProgramGroupGetStackSize", name, err);
        const uint32_t both = sizes.intersection + sizes.any,
                       end = sizes.closest > sizes.miss ? sizes.closest : sizes.miss;
        raygen = sizes.raygen > raygen ? sizes.raygen : raygen;
        closest = end > closest ? end : closest;
        traversal = both > traversal ? both : traversal;
    }
    if (status)
        return status;
    return kr_optix_check(optix,
                          optix->api->pipeline_stack(pipeline, 0, 0,
                                                     raygen + (closest > traversal ? closest : traversal),
                                                     graph_depth_of(optix, p->grouped)),
                          "optixPipelineSetStackSize", name, err);
}

kr_status kr_optix_pipeline_create(kr_optix *optix, kr_optix_program *program, void **pipeline, kr_error *err)
{
    const kr_optix_link_options link = {.trace_depth = 1};
    char log[LOG_NBYTES] = "";
    size_t log_nbytes = sizeof log;
    void *made = NULL;
    const int result = optix->api->pipeline_create(optix->context, &program->options, &link, program->groups,
                                                   KR_OPTIX_RECORDS, log, &log_nbytes, &made);
    kr_status status =
        check_logged(optix, result, "optixPipelineCreate", program->program->program.name, log, err);
    if (status)
        return status;
    status = set_stack(optix, program, made, err);
    if (status)
        (void)optix->api->pipeline_destroy(made);
    else
        *pipeline = made;
    return status;
}
