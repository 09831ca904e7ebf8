/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

#include <stdio.h>

#include "base/json_put.h"

static const char *mode_text(const struct recursion_report *report,
			     const struct config_recursion *config)
{
	if (!report->is_on)
		return "off";
	return config->forward ? "forward" : "iterate";
}

static json_t *list_texts(char *const *texts)
{
	json_t *list = json_array();

	for (; texts && *texts; texts++)
		json_array_append_new(list, json_string(*texts));
	return list;
}

static void put_upstreams(json_t *o, const struct recursion_report *report,
			  const struct config_recursion *config)
{
	static const char *const transports[] = { "udp", "tcp", "tls" };

	json_put_text(o, "by", report->has_own_forwarder ? "forwarder" : "libunbound");
	json_put_text(o, "transport", transports[config->transport]);
	if (config->forward)
		json_object_set_new(o, "upstreams", list_texts(config->forward));
	else
		json_put_text(o, "root_hints",
			      report->root_hints ? report->root_hints : "those of libunbound");
	json_put_int(o, "stubs", config->n_stubs);
	json_put_int(o, "forward_zones", config->n_forward_zones);
	json_put_int(o, "client_prefixes", config->n_allow);
	json_put_bool(o, "validates", config->trust_anchor || config->auto_trust_anchor);
	json_put_int(o, "threads", config->n_threads);
	json_put_int(o, "outstanding", report->process.counters.outstanding);
	json_put_int(o, "max_outstanding", config->max_outstanding);
	json_put_int(o, "process", (uint64_t)report->process.pid);
	json_put_int(o, "process_restarts", report->process.n_restarts);
	json_put_int(o, "process_bytes", report->process.rss_bytes);
	if (report->process.refuses)
		json_put_bool(o, "refuses_suspects", true);
}

/* "serial 5, asked at 127.88.0.6@40001", or the reason why the root servers are asked. */
static void put_root_copy(json_t *o, const struct report_view *v)
{
	struct root_copy_report copy;
	char text[320];

	root_copy_report(v->root_copy, &copy);
	if (copy.address)
		snprintf(text, sizeof(text), "serial %u, asked at %s", copy.serial, copy.address);
	else
		snprintf(text, sizeof(text), "the root servers are asked: %s",
			 copy.problem ? copy.problem : "there is no copy");
	json_put_text(o, "root_copy", text);
}

json_t *report_recursion(const struct report_view *v)
{
	const struct config_recursion *config = recursion_config(v->recursion);
	struct recursion_report report;
	json_t *o = json_object();

	recursion_report(v->recursion, &report);
	json_put_text(o, "mode", mode_text(&report, config));
	json_put_bool(o, "zones_for_everyone", !recursion_restricts_zones(v->recursion));
	json_put_text(o, "libunbound", report.libunbound);
	if (report.is_on)
		put_upstreams(o, &report, config);
	if (report.is_on && config->root_copy)
		put_root_copy(o, v);
	return o;
}

static json_t *report_resolver(const struct resolver_counters *c)
{
	json_t *o = json_object();

#define PUT(name, words) json_put_int(o, #name, c->name);
	RESOLVER_COUNTERS(PUT)
#undef PUT
	json_put_int(o, "outstanding", c->outstanding);
	return o;
}

static json_t *report_responder(const struct report_view *v)
{
	struct responder_counters c;
	json_t *o = json_object();

	workers_responder_counters(v->workers, &c);
#define PUT(name, words) json_put_int(o, #name, c.name);
	RESPONDER_COUNTERS(PUT)
#undef PUT
	return o;
}

void report_recursion_counters(json_t *o, const struct report_view *v)
{
	struct recursion_report report;

	recursion_report(v->recursion, &report);
	if (!report.is_on)
		return;
	json_object_set_new(o, "resolver", report_resolver(&report.process.counters));
	json_object_set_new(o, "responder", report_responder(v));
}
