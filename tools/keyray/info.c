#include "commands.h"
#include "tools/terminal/output.h"
#include "tools/terminal/tool.h"

#include <string.h>

static const char *name_rt_cores(const kr_device_info *info)
{
    if (info->rt_cores)
        return info->rt_cores > 0 ? "yes" : "not known";
    return strncmp(info->tracer, "none", 4) == 0 ? "none" : "none (software traversal)";
}

static void print_device(output *out, const kr_device_info *info)
{
    output_begin(out, out->json ? NULL : info->name, '{');
    if (out->json)
        output_text(out, "name", info->name);
    output_text(out, "description", info->description);
    output_text(out, "software", info->software);
    output_bytes(out, "memory", info->memory_nbytes);
    output_number(out, "units", info->units);
    if (out->json)
        output_signed(out, "rt_cores", info->rt_cores);
    else
        output_text(out, "rt cores", name_rt_cores(info));
    output_text(out, "tracer", info->tracer);
    output_end(out, '}');
}

static int run(const command *self, int argc, char **argv)
{
    output_options printing = {0};
    const option_group groups[] = {{"Output", output_list_rows, &printing}};
    const int code = options_parse(self, groups, 1, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;

    kr_error err = {0};
    kr_device_info info = {.struct_size = sizeof info};
    uint32_t n = 0;
    const int broken = tool_check(kr_device_describe(0, &info, &err), &err);
    if (broken)
        return broken;
    output out = output_begin_report(stdout, printing.json);
    output_text(&out, "keyray", kr_version());
    output_text(&out, "commit", kr_build_commit());
    if (out.json)
        output_begin(&out, "devices", '[');
    for (; kr_device_describe(n, &info, &err) == KR_OK; ++n)
        print_device(&out, &info);
    if (out.json)
        output_end(&out, ']');
    /* Past the last device the error says why there is no GPU. */
    if (n < 2)
        output_text(&out, out.json ? "no_gpu" : "no GPU", err.text);
    output_end(&out, '}');
    return DONE;
}

const command command_info = {
    "info",
    NULL,
    "devices, tracers and versions",
    "Lists the devices of this machine, and the versions of keyray and of the software behind each device. "
    "It says of each device how much memory it has, what casts rays there, and whether it has RT cores.",
    "keyray info --format json",
    run,
    NULL,
};
