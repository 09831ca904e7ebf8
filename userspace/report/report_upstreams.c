/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

#include <string.h>

#include "base/clock.h"
#include "base/json_put.h"
#include "port/addr.h"

static const char *const transports[] = { "udp", "tcp", "tls" };

static void put_ago(json_t *o, const char *key, uint64_t then_ns, uint64_t now_ns)
{
	if (then_ns)
		json_put_int(o, key, now_ns > then_ns ? (now_ns - then_ns) / CLOCK_NS_PER_S : 0);
}

/* --- The forwarder ---------------------------------------------------------------------------- */

static const char *upstream_state_text(const struct forward_seen *seen)
{
	if (seen->down)
		return "down";
	if (seen->silent)
		return "silent";
	if (seen->failing >= UPSTREAM_FAILING)
		return "failing";
	if (seen->heard_ns)
		return "well";
	return seen->sent ? "asked" : "not asked yet";
}

static const char *cookie_text(const struct inspect_upstream *u, uint64_t now_ns)
{
	if (u->ways.tcp_only)
		return "not used";
	if (u->seen.cookie_off_until_ns > now_ns)
		return "refused";
	return u->seen.has_cookie ? "known" : "none";
}

static const char *caps_text(const struct inspect_upstream *u, uint64_t now_ns)
{
	if (!u->ways.caps_for_id || u->ways.tcp_only)
		return "not used";
	return u->seen.caseless_until_ns > now_ns ? "not kept" : "kept";
}

static const char *tcp_text(const struct forward_seen *seen, uint64_t now_ns)
{
	if (seen->tcp_open)
		return "open";
	if (seen->tcp_connected)
		return "connecting";
	return seen->tcp_shut_until_ns > now_ns ? "handshake failed" : "closed";
}

static void put_upstream_address(json_t *o, const struct inspect_upstream *u)
{
	char text[PORT_ADDR_TEXT_CAP];
	struct port_addr addr;

	if (!port_addr_from_sockaddr(&addr, (const struct sockaddr *)&u->address))
		json_put_text(o, "address", port_addr_text(&addr, text));
	if (*u->name)
		json_put_text(o, "tls_name", u->name);
}

static void put_times(json_t *o, const struct forward_seen *seen, uint64_t now_ns)
{
	if (seen->srtt_ns) {
		json_put_int(o, "rtt_ns", seen->srtt_ns);
		json_put_int(o, "rtt_variation_ns", seen->rttvar_ns);
	}
	json_put_int(o, "wait_ns", seen->wait_ns);
	put_ago(o, "heard_s", seen->heard_ns, now_ns);
}

/* The features of an upstream, as its replies have shown them. */
static void put_form(json_t *o, const struct inspect_upstream *u, uint64_t now_ns)
{
	if (!u->seen.heard_ns)
		return;
	json_put_bool(o, "edns", u->seen.plain_until_ns <= now_ns);
	json_put_text(o, "cookie", cookie_text(u, now_ns));
	json_put_text(o, "caps", caps_text(u, now_ns));
}

static json_t *report_upstream(const struct inspect_upstream *u, unsigned int thread,
			       uint64_t now_ns)
{
	const struct forward_seen *seen = &u->seen;
	json_t *o = json_object();

	put_upstream_address(o, u);
	json_put_int(o, "thread", thread);
	json_put_text(o, "state", upstream_state_text(seen));
	json_put_text(o, "transport",
		      transports[u->ways.has_tls  ? RESOLVER_TLS :
				 u->ways.tcp_only ? RESOLVER_TCP :
						    RESOLVER_UDP]);
	put_times(o, seen, now_ns);
	json_put_int(o, "under_way", seen->in_flight);
	json_put_int(o, "window", seen->window);
	json_put_int(o, "sent", seen->sent);
	json_put_int(o, "answers", seen->answers);
	json_put_int(o, "failures", seen->failures);
	json_put_int(o, "timeouts", seen->timeouts);
	json_put_int(o, "failures_in_a_row", seen->failing);
	json_put_int(o, "timeouts_in_a_row", seen->silent);
	put_form(o, u, now_ns);
	json_put_text(o, "tcp", tcp_text(seen, now_ns));
	json_put_int(o, "tcp_under_way", seen->tcp_queries);
	return o;
}

json_t *report_upstreams(struct querier *r)
{
	uint64_t now_ns = clock_ns();
	struct inspect_upstream u;
	json_t *list = json_array();

	for (unsigned int i = 0; inspect_upstream(r, 0, i, &u); i++)
		for (unsigned int thread = 0; inspect_upstream(r, thread, i, &u); thread++)
			json_array_append_new(list, report_upstream(&u, thread, now_ns));
	return list;
}

/* --- libunbound ------------------------------------------------------------------------------- */

static bool is_upstream_of(const struct resolver_stub *stub, const uint8_t *zone)
{
	uint8_t name[DNS_NAME_MAX];

	return name_from_text(name, sizeof(name), stub->zone, strlen(stub->zone)) > 0 &&
	       name_equal(name, zone);
}

/* UDP of a zone stands for the transport of all upstreams, unless that is TLS. */
static enum resolver_transport transport_of_upstream(const struct resolver_config *config,
						     const struct resolver_stub *stub)
{
	bool is_own = stub->transport != RESOLVER_UDP || config->transport == RESOLVER_TLS;

	return is_own ? stub->transport : config->transport;
}

static void put_stubs(json_t *o, const struct resolver_config *config, const uint8_t *zone)
{
	json_t *list = json_array();
	const struct resolver_stub *stub = NULL;

	for (size_t i = 0; i < config->n_stubs; i++) {
		if (!is_upstream_of(&config->stubs[i], zone))
			continue;
		stub = &config->stubs[i];
		json_array_append_new(list, json_string(stub->address));
	}
	if (stub) {
		json_put_text(o, "way", stub->is_forward ? "forward zone" : "stub");
		json_put_text(o, "zone", stub->zone);
		json_put_bool(o, "first", stub->first);
		json_put_text(o, "transport", transports[transport_of_upstream(config, stub)]);
	}
	json_object_set_new(o, "addresses", list);
}

static void put_rest(json_t *o, const struct resolver_config *config)
{
	json_t *list;

	if (!config->forwards || !*config->forwards) {
		json_put_text(o, "way", "from the root down");
		json_put_text(o, "zone", ".");
		if (config->root_copy)
			json_put_text(o, "root_copy", config->root_copy);
		else
			json_put_text(o, "root_hints",
				      config->root_hints ? config->root_hints :
							   "those of libunbound");
		json_put_text(o, "transport", transports[config->transport]);
		return;
	}
	list = json_array();
	for (const char *const *forward = config->forwards; *forward; forward++)
		json_array_append_new(list, json_string(*forward));
	json_put_text(o, "way", "forward");
	json_put_text(o, "zone", ".");
	json_put_bool(o, "first", config->forward_first);
	json_put_text(o, "transport", transports[config->transport]);
	json_object_set_new(o, "addresses", list);
}

json_t *report_upstreams_way(const struct resolver_config *config, struct querier *r, size_t target)
{
	struct inspect_target t = { 0 };
	json_t *o = json_object();

	if (target)
		(void)inspect_target(r, target, &t);
	if (t.zone)
		put_stubs(o, config, t.zone);
	else
		put_rest(o, config);
	return o;
}

json_t *report_upstreams_target(const struct resolver_config *config, struct querier *r,
				size_t target)
{
	const struct target_counters *c;
	uint64_t now_ns = clock_ns();
	struct inspect_target t;
	json_t *o;

	if (!inspect_target(r, target, &t))
		return NULL;
	c = &t.counters;
	o = report_upstreams_way(config, r, target);
	json_put_int(o, "asked", c->asked);
	json_put_int(o, "under_way", c->asked > c->done ? c->asked - c->done : 0);
	json_put_int(o, "answered", c->answered);
	json_put_int(o, "known", c->known);
	json_put_int(o, "bogus", c->bogus);
	json_put_int(o, "failed", c->failed);
	json_put_int(o, "timed_out", c->timed_out);
	if (c->answered)
		json_put_int(o, "mean_ns", c->took_ns / c->answered);
	put_ago(o, "last_answer_s", c->last_answered_ns, now_ns);
	put_ago(o, "last_failure_s", c->last_failed_ns, now_ns);
	return o;
}

/* --- All of it -------------------------------------------------------------------------------- */

static void put_targets(json_t *o, const struct resolver_config *config, struct querier *r)
{
	static const char *const untold[] = {
		"libunbound tells no round trips, timeouts, EDNS, cookies or state of single "
		"servers",
		"rows are counts of questions by where they begin: servers that a delegation leads "
		"to are not listed",
	};
	json_t *list = json_array(), *sentences = json_array(), *row;

	for (size_t i = 0; i < inspect_n_targets(r); i++)
		if ((row = report_upstreams_target(config, r, i)))
			json_array_append_new(list, row);
	for (size_t i = 0; i < sizeof(untold) / sizeof(untold[0]); i++)
		json_array_append_new(sentences, json_string(untold[i]));
	json_object_set_new(o, "targets", list);
	list = report_upstreams(r);
	if (json_array_size(list)) /* the TLS upstreams that volleyd asks for libunbound */
		json_object_set(o, "upstreams", list);
	json_decref(list);
	json_object_set_new(o, "not_told", sentences);
}

json_t *report_upstreams_all(const struct resolver_config *config, struct querier *r)
{
	json_t *o = json_object();

	if (!r) {
		json_put_text(o, "by", "nobody: recursion is off");
	} else if (inspect_n_targets(r)) {
		json_put_text(o, "by", "libunbound");
		put_targets(o, config, r);
	} else {
		json_put_text(o, "by", "forwarder");
		json_object_set_new(o, "upstreams", report_upstreams(r));
	}
	return o;
}
