#include "facts.h"
#include "tool.h"

#include <stdio.h>
#include <string.h>

static void add(facts *list, const char *name, double seconds, uint64_t number)
{
    if (list->n == FACTS_MOST)
        return;
    snprintf(list->at[list->n].name, sizeof list->at[list->n].name, "%s", name);
    list->at[list->n].seconds = seconds;
    list->at[list->n++].number = number;
}

uint64_t facts_number(const facts *list, const char *name)
{
    for (uint32_t i = 0; i < list->n; ++i)
        if (strcmp(list->at[i].name, name) == 0)
            return list->at[i].number;
    return 0;
}

void facts_add(facts *sum, const facts *one)
{
    for (uint32_t i = 0; i < one->n; ++i) {
        uint32_t at = 0;
        while (at < sum->n && strcmp(sum->at[at].name, one->at[i].name) != 0)
            ++at;
        if (at == sum->n) {
            add(sum, one->at[i].name, one->at[i].seconds, one->at[i].number);
            continue;
        }
        sum->at[at].seconds += one->at[i].seconds;
        sum->at[at].number += one->at[i].number;
    }
}

void facts_divide(facts *list, uint64_t n)
{
    for (uint32_t i = 0; i < list->n; ++i) {
        list->at[i].seconds /= (double)n;
        list->at[i].number = (list->at[i].number + n / 2) / n;
    }
}

int index_facts_take(const kr_index *index, index_facts *taken)
{
    kr_error err = {0};
    *taken = (index_facts){.info = {.struct_size = sizeof taken->info}};
    const int code = tool_check(kr_index_query(index, &taken->info, &err), &err);
    for (uint32_t i = 0; i < kr_index_phase_count(index); ++i)
        add(&taken->phases, kr_index_phase_name(index, i), kr_index_phase_seconds(index, i), 0);
    for (uint32_t i = 0; i < kr_index_component_count(index); ++i)
        add(&taken->components, kr_index_component_name(index, i), 0, kr_index_component_nbytes(index, i));
    for (uint32_t i = 0; i < kr_index_counter_count(index); ++i)
        add(&taken->counters, kr_index_counter_name(index, i), 0, kr_index_counter_value(index, i));
    return code;
}

void report_facts_take(const kr_report *report, report_facts *taken)
{
    *taken = (report_facts){.probes = kr_report_probe_count(report)};
    for (uint32_t i = 0; i < kr_report_order_count(report); ++i)
        add(&taken->orders, kr_report_order_name(report, i), 0, kr_report_order_probes(report, i));
    for (uint32_t i = 0; i < kr_report_phase_count(report); ++i)
        add(&taken->phases, kr_report_phase_name(report, i), kr_report_phase_seconds(report, i), 0);
    for (uint32_t i = 0; i < kr_report_counter_count(report); ++i)
        add(&taken->counters, kr_report_counter_name(report, i), 0, kr_report_counter_value(report, i));
}

void join_phases_take(const kr_join *join, facts *taken)
{
    *taken = (facts){0};
    for (uint32_t i = 0; i < kr_join_phase_count(join); ++i)
        add(taken, kr_join_phase_name(join, i), kr_join_phase_seconds(join, i), 0);
}

void table_phases_take(const kr_table *table, facts *taken)
{
    *taken = (facts){0};
    for (uint32_t i = 0; i < kr_table_phase_count(table); ++i)
        add(taken, kr_table_phase_name(table, i), kr_table_phase_seconds(table, i), 0);
}

int table_facts_take(const kr_table *table, index_facts *taken)
{
    kr_error err = {0};
    kr_table_info info = {.struct_size = sizeof info};
    *taken = (index_facts){.info = {.struct_size = sizeof taken->info}};
    const int code = tool_check(kr_table_query(table, &info, &err), &err);
    memcpy(taken->info.spec, info.spec, sizeof info.spec);
    memcpy(taken->info.device, info.device, sizeof info.device);
    memcpy(taken->info.tracer, info.tracer, sizeof info.tracer);
    taken->info.rows = info.rows;
    taken->info.footprint_nbytes = info.footprint_nbytes;
    taken->info.peak_nbytes = info.peak_nbytes;
    table_phases_take(table, &taken->phases);
    for (uint32_t i = 0; i < kr_table_component_count(table); ++i)
        add(&taken->components, kr_table_component_name(table, i), 0, kr_table_component_nbytes(table, i));
    for (uint32_t i = 0; i < kr_table_counter_count(table); ++i)
        add(&taken->counters, kr_table_counter_name(table, i), 0, kr_table_counter_value(table, i));
    return code;
}

int index_facts_has_lists(const index_facts *index)
{
    return facts_number(&index->counters, "node entries") != 0;
}

double index_facts_fill(const index_facts *index)
{
    const double slots = (double)facts_number(&index->counters, "nodes") *
                         (double)facts_number(&index->counters, "node entries");
    return slots > 0 ? (double)index->info.rows / slots : 0;
}

double index_facts_nodes_per_list(const index_facts *index)
{
    const uint64_t lists = facts_number(&index->counters, "lists");
    return lists ? (double)facts_number(&index->counters, "nodes") / (double)lists : 0;
}

const char *report_facts_order(const report_facts *report, char text[96])
{
    size_t used = 0;
    snprintf(text, 96, "%s", report->orders.n ? report->orders.at[0].name : "as-is");
    for (uint32_t i = 0; report->orders.n > 1 && i < report->orders.n; ++i)
        used += (size_t)snprintf(text + used, 96 - used, "%s%s %llu", i ? ", " : "",
                                 report->orders.at[i].name, (unsigned long long)report->orders.at[i].number);
    return text;
}
