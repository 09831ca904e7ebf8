/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is asked upstream, and how: the keys below recursion that a resolver is made of. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "config/loops.h"
#include "config/take.h"
#include "config/value.h"
#include "config/yamlwalk.h"

static char *take_optional_path(struct take *take, const char *leaf, const char *text)
{
	return text ? take_path(take, "recursion.", leaf, text) : NULL;
}

static uint32_t take_u32(struct take *take, const char *leaf, const char *text)
{
	return (uint32_t)take_number(take, "recursion.", leaf, text);
}

static bool take_bool(struct take *take, const char *leaf, const char *text)
{
	return take_number(take, "recursion.", leaf, text) != 0;
}

#define DNS64_PREFIX "64:ff9b::/96" /* RFC 6052 section 2.1 */

/* --- Upstreams ----------------------------------------------------------------------------------- */

static void read_upstream(struct take *take, const char *path, const char *text,
			  struct config_addr *out)
{
	int err = text ? value_read_upstream(text, out) : 0;

	if (take->source.failed)
		return;
	if (!text)
		source_refuse_missing(&take->source, path);
	else if (err == -ENOMEM)
		source_fail_memory(&take->source);
	else if (err)
		source_refuse_value(&take->source, path, text);
}

/* What is forwarded to ourselves would be forwarded again, without end. */
static void refuse_loop(struct take *take, const char *path, const char *text,
			const struct config_addr *to)
{
	const struct config *config = take->config;
	const char *key = NULL;

	if (take->source.failed)
		return;
	if (loops_find(config->listen, config->n_listen, to))
		key = "server.listen";
	else if (loops_find(config->tls_listen, config->n_tls_listen, to))
		key = "server.tls.listen";
	if (key)
		source_fail(&take->source, 0, path,
			    "volleyd itself listens at %s (%s), so each question would come back "
			    "to it: give the address of another server",
			    text, key);
}

static void check_family(struct take *take, const char *path, const char *text,
			 const struct config_addr *addr)
{
	const struct config_recursion *recursion = &take->config->recursion;
	bool is_ip4 = addr->family == AF_INET;

	if (!take->source.failed && !(is_ip4 ? recursion->do_ip4 : recursion->do_ip6))
		source_fail(&take->source, 0, path, "%s is an IPv%c address, and do-ip%c is false",
			    text, is_ip4 ? '4' : '6', is_ip4 ? '4' : '6');
}

/* With TLS a forwarder has a name, by which its certificate is known, and no other has. */
static void check_forwards(struct take *take, const struct config_raw_list *list)
{
	bool is_tls = take->config->recursion.transport == CONFIG_TRANSPORT_TLS;
	char path[YAMLWALK_PATH_CAP];

	for (uint32_t i = 0; i < list->n && !take->source.failed; i++) {
		const char *text = list->items[i];
		const char *port = strchr(text, '@');
		struct config_addr to;

		snprintf(path, sizeof(path), "recursion.forward[%u]", i);
		read_upstream(take, path, text, &to);
		if (is_tls && !(port && strchr(port, '#')))
			source_fail(
				&take->source, 0, path,
				"transport is tls: give ADDRESS@853#NAME, where NAME is that of the "
				"certificate");
		else if (!is_tls && strchr(text, '#'))
			source_fail(&take->source, 0, path,
				    "has the name of a certificate, but transport is not tls");
		check_family(take, path, text, &to);
		refuse_loop(take, path, text, &to);
	}
}

static void check_transport(struct take *take, const struct config_raw_recursion *raw)
{
	if (take->config->recursion.transport != CONFIG_TRANSPORT_TLS)
		return;
	if (!raw->forward.n)
		source_fail(&take->source, 0, "recursion.transport",
			    "tls is for forwarders, and recursion.forward has none");
	else if (!raw->tls_bundle)
		source_fail(&take->source, 0, "recursion.transport",
			    "tls needs recursion.tls-bundle: the certificates that are trusted");
}

/* --- Zones with upstreams of their own ------------------------------------------------------------ */

/* What two items of one zone say besides their addresses has to be the same. */
static void check_same_zone(struct take *take, const char *list, const struct config_stub *all,
			    uint32_t at)
{
	char path[YAMLWALK_PATH_CAP];

	for (uint32_t i = 0; i < at && !take->source.failed; i++) {
		if (strcmp(all[i].zone, all[at].zone) != 0 ||
		    (all[i].first == all[at].first && all[i].transport == all[at].transport))
			continue;
		snprintf(path, sizeof(path), "recursion.%s[%u]", list, at);
		source_fail(&take->source, 0, path,
			    "%s is also recursion.%s[%u], with another first or transport: say the "
			    "same in both",
			    all[at].zone, list, i);
	}
}

/* "quote" would end the name in the text that libunbound reads. */
static void check_zone_name(struct take *take, const char *path, const char *zone)
{
	if (!take->source.failed && strpbrk(zone, "\"'\\"))
		source_refuse_value(&take->source, path, zone);
}

/* What is asked by TCP only is not asked otherwise below a zone. */
static enum config_transport take_transport(struct take *take, const char *prefix, const char *text,
					    bool is_forward)
{
	enum config_transport all = take->config->recursion.transport, own;
	char path[YAMLWALK_PATH_CAP];

	if (take->source.failed)
		return all;
	own = text ? (enum config_transport)take_number(take, prefix, "transport", text) : all;
	if (!take->source.failed && own == CONFIG_TRANSPORT_TLS && !is_forward)
		source_fail(&take->source, 0, take_join_path(take, path, prefix, "transport"),
			    "a stub zone is asked at authoritative servers, and not by tls: "
			    "say udp or tcp");
	else if (all == CONFIG_TRANSPORT_TCP && own != all)
		source_fail(&take->source, 0, take_join_path(take, path, prefix, "transport"),
			    "recursion.transport is for all upstreams: leave it out there to say "
			    "something else here");
	return own;
}

static void check_zone_address(struct take *take, const char *path, const struct config_stub *stub,
			       bool is_forward)
{
	bool is_tls = is_forward && stub->transport == CONFIG_TRANSPORT_TLS;
	const char *text = stub->address;
	const char *port = text ? strchr(text, '@') : NULL;
	const char *name = text ? strchr(text, '#') : NULL;
	struct config_addr to = { 0 };

	read_upstream(take, path, text, &to);
	if (take->source.failed)
		return;
	if (is_tls && !(port && name))
		source_fail(&take->source, 0, path,
			    "transport is tls: give ADDRESS@853#NAME, where NAME is that of the "
			    "certificate");
	else if (!is_tls && name && is_forward)
		source_fail(&take->source, 0, path,
			    "has the name of a certificate, but transport is not tls");
	else if (name && !is_forward)
		source_refuse_value(&take->source, path, text);
	check_family(take, path, text, &to);
	if (is_forward)
		refuse_loop(take, path, text, &to);
}

static struct config_stub *take_zones_upstream(struct take *take, const char *list,
					       const struct config_raw_stub *raw, uint32_t n)
{
	struct config_stub *all = take_memory(take, n, sizeof(*all));
	bool is_forward = !strcmp(list, "forward-zones");
	char prefix[YAMLWALK_PATH_CAP], path[YAMLWALK_PATH_CAP];

	for (uint32_t i = 0; i < n && !take->source.failed; i++) {
		snprintf(prefix, sizeof(prefix), "recursion.%s[%u].", list, i);
		take_join_path(take, path, prefix, "zone");
		all[i].zone = take_domain(take, path, raw[i].zone);
		check_zone_name(take, path, all[i].zone);
		all[i].first = take_number(take, prefix, "first", raw[i].first) != 0;
		all[i].transport = take_transport(take, prefix, raw[i].transport, is_forward);
		if (raw[i].address)
			all[i].address = take_copy(take, raw[i].address);
		check_zone_address(take, take_join_path(take, path, prefix, "address"), &all[i],
				   is_forward);
		check_same_zone(take, list, all, i);
	}
	return all;
}

/* A zone cannot be both: the one would hide the other. The root is forwarded by recursion.forward. */
static void check_forward_zones(struct take *take)
{
	const struct config_recursion *recursion = &take->config->recursion;
	char path[YAMLWALK_PATH_CAP];

	for (uint32_t i = 0; i < recursion->n_forward_zones && !take->source.failed; i++) {
		const struct config_stub *zone = &recursion->forward_zones[i];

		snprintf(path, sizeof(path), "recursion.forward-zones[%u].zone", i);
		if (!strcmp(zone->zone, "."))
			source_fail(&take->source, 0, path,
				    "is the root: recursion.forward is for all names");
		if (zone->transport == CONFIG_TRANSPORT_TLS && !recursion->tls_bundle)
			source_fail(&take->source, 0, path,
				    "is asked by tls, which needs recursion.tls-bundle: the "
				    "certificates that are trusted");
		for (uint32_t k = 0; k < recursion->n_stubs && !take->source.failed; k++)
			if (!strcmp(zone->zone, recursion->stubs[k].zone))
				source_fail(
					&take->source, 0, path,
					"%s is also recursion.stubs[%u]: it is asked in one way "
					"or the other",
					zone->zone, k);
	}
}

static void take_special_zones(struct take *take, const struct config_raw_recursion *raw)
{
	struct config_recursion *recursion = &take->config->recursion;

	recursion->stubs = take_zones_upstream(take, "stubs", raw->stubs, raw->n_stubs);
	recursion->n_stubs = recursion->stubs ? raw->n_stubs : 0;
	recursion->forward_zones = take_zones_upstream(take, "forward-zones", raw->forward_zones,
						       raw->n_forward_zones);
	recursion->n_forward_zones = recursion->forward_zones ? raw->n_forward_zones : 0;
	check_forward_zones(take);
}

/* --- Addresses and answers that are not taken ----------------------------------------------------- */

static void take_private_addresses(struct take *take, const struct config_raw_recursion *raw)
{
	struct config_recursion *recursion = &take->config->recursion;
	struct config_prefix prefix;
	char path[YAMLWALK_PATH_CAP];

	for (uint32_t i = 0; i < raw->private_address.n && !take->source.failed; i++) {
		snprintf(path, sizeof(path), "recursion.private-address[%u]", i);
		if (value_read_prefix(raw->private_address.items[i], &prefix))
			source_refuse_value(&take->source, path, raw->private_address.items[i]);
	}
	recursion->private_address = take_texts(take, &raw->private_address);
	recursion->private_domain =
		take_domains(take, "recursion.private-domain", &raw->private_domain);
	if (recursion->private_domain && !recursion->private_address)
		source_fail(&take->source, 0, "recursion.private-domain",
			    "names exceptions to recursion.private-address, which is not given");
}

static void take_outgoing(struct take *take, const struct config_raw_list *list)
{
	char path[YAMLWALK_PATH_CAP];
	struct config_addr addr;

	for (uint32_t i = 0; i < list->n && !take->source.failed; i++) {
		snprintf(path, sizeof(path), "recursion.outgoing-interface[%u]", i);
		if (strchr(list->items[i], '@') || value_read_addr(list->items[i], 53, &addr))
			source_refuse_value(&take->source, path, list->items[i]);
		else
			check_family(take, path, list->items[i], &addr);
	}
	take->config->recursion.outgoing_interface = take_texts(take, list);
}

/* RFC 6052 section 2.2: the lengths that a prefix may have. */
static bool is_dns64_prefix(const char *text)
{
	struct config_prefix prefix;

	return !value_read_prefix(text, &prefix) && prefix.family == AF_INET6 &&
	       prefix.bits >= 32 && prefix.bits <= 96 && (prefix.bits % 8 == 0) &&
	       prefix.bits != 72 && prefix.bits != 80 && prefix.bits != 88;
}

static void take_dns64(struct take *take, const struct config_raw_recursion *raw)
{
	struct config_recursion *recursion = &take->config->recursion;
	const char *prefix = raw->dns64_prefix;

	recursion->dns64_synthall = take_bool(take, "dns64-synthall", raw->dns64_synthall);
	if (prefix && !take->source.failed && !is_dns64_prefix(prefix))
		source_fail(
			&take->source, 0, "recursion.dns64-prefix",
			"\"%s\" is not accepted, give an IPv6 prefix of 32, 40, 48, 56, 64 or 96 "
			"bits, such as \"64:ff9b::/96\"",
			prefix);
	if (take_bool(take, "dns64", raw->dns64)) {
		recursion->dns64_prefix = take_copy(take, prefix ? prefix : DNS64_PREFIX);
		return;
	}
	if (prefix || recursion->dns64_synthall)
		source_fail(&take->source, 0,
			    prefix ? "recursion.dns64-prefix" : "recursion.dns64-synthall",
			    "is for recursion.dns64, which is off");
}

/* --- How questions are asked ---------------------------------------------------------------------- */

static void take_case(struct take *take, const struct config_raw_recursion *raw)
{
	struct config_recursion *recursion = &take->config->recursion;

	recursion->caps_for_id = take_bool(take, "caps-for-id", raw->caps_for_id);
	recursion->has_caps_for_id = raw->caps_for_id;
	recursion->caps_exempt = take_domains(take, "recursion.caps-exempt", &raw->caps_exempt);
	if (recursion->caps_exempt && recursion->has_caps_for_id && !recursion->caps_for_id)
		source_fail(&take->source, 0, "recursion.caps-exempt",
			    "names exceptions to recursion.caps-for-id, which is off");
}

static void take_hardening(struct take *take, const struct config_raw_recursion *raw)
{
	struct config_recursion *recursion = &take->config->recursion;

	recursion->qname_minimisation =
		take_bool(take, "qname-minimisation", raw->qname_minimisation);
	recursion->qname_minimisation_strict =
		take_bool(take, "qname-minimisation-strict", raw->qname_minimisation_strict);
	recursion->aggressive_nsec = take_bool(take, "aggressive-nsec", raw->aggressive_nsec);
	recursion->root_key_sentinel = take_bool(take, "root-key-sentinel", raw->root_key_sentinel);
	recursion->harden_glue = take_bool(take, "harden-glue", raw->harden_glue);
	recursion->harden_referral_path =
		take_bool(take, "harden-referral-path", raw->harden_referral_path);
	recursion->harden_below_nxdomain =
		take_bool(take, "harden-below-nxdomain", raw->harden_below_nxdomain);
	recursion->harden_dnssec_stripped =
		take_bool(take, "harden-dnssec-stripped", raw->harden_dnssec_stripped);
	recursion->harden_algo_downgrade =
		take_bool(take, "harden-algo-downgrade", raw->harden_algo_downgrade);
	if (recursion->qname_minimisation_strict && !recursion->qname_minimisation)
		source_fail(&take->source, 0, "recursion.qname-minimisation-strict",
			    "is for recursion.qname-minimisation, which is off");
}

static void take_effort(struct take *take, const struct config_raw_recursion *raw)
{
	static const char policy[] = "recursion.target-fetch-policy";
	struct config_recursion *recursion = &take->config->recursion;

	recursion->n_threads = take_u32(take, "threads", raw->threads);
	recursion->max_outstanding = take_u32(take, "max-outstanding", raw->max_outstanding);
	recursion->max_per_client = take_u32(take, "max-per-client", raw->max_per_client);
	recursion->upstream_timeout_ms = take_u32(take, "upstream-timeout", raw->upstream_timeout);
	recursion->max_query_restarts =
		take_u32(take, "max-query-restarts", raw->max_query_restarts);
	if (raw->outbound_msg_retry)
		recursion->outbound_msg_retry =
			take_u32(take, "outbound-msg-retry", raw->outbound_msg_retry);
	recursion->target_fetch_policy = take_string(take, policy, raw->target_fetch_policy);
	if (raw->target_fetch_policy && !take->source.failed &&
	    raw->target_fetch_policy[strspn(raw->target_fetch_policy, "-0123456789 ")])
		source_refuse_value(&take->source, policy, raw->target_fetch_policy);
}

static void take_families(struct take *take, const struct config_raw_recursion *raw)
{
	struct config_recursion *recursion = &take->config->recursion;

	recursion->do_ip4 = take_bool(take, "do-ip4", raw->do_ip4);
	recursion->do_ip6 = take_bool(take, "do-ip6", raw->do_ip6);
	if (!take->source.failed && !recursion->do_ip4 && !recursion->do_ip6)
		source_fail(&take->source, 0, "recursion.do-ip4",
			    "is false, and do-ip6 too: no server could be asked");
}

void take_resolver(struct take *take)
{
	const struct config_raw_recursion *raw = &take->raw->recursion;
	struct config_recursion *recursion = &take->config->recursion;

	take_families(take, raw);
	recursion->transport = (enum config_transport)take_u32(take, "transport", raw->transport);
	check_forwards(take, &raw->forward);
	check_transport(take, raw);
	recursion->forward = take_texts(take, &raw->forward);
	recursion->forward_first = take_bool(take, "forward-first", raw->forward_first);
	if (recursion->forward_first && !raw->forward.n)
		source_fail(&take->source, 0, "recursion.forward-first",
			    "is for recursion.forward, which has no address");
	recursion->tls_bundle = take_optional_path(take, "tls-bundle", raw->tls_bundle);
	take_special_zones(take, raw);
	take_outgoing(take, &raw->outgoing_interface);
	recursion->root_hints = take_optional_path(take, "root-hints", raw->root_hints);
	recursion->trust_anchor = take_optional_path(take, "trust-anchor", raw->trust_anchor);
	recursion->auto_trust_anchor =
		take_optional_path(take, "auto-trust-anchor", raw->auto_trust_anchor);
	recursion->domain_insecure =
		take_domains(take, "recursion.domain-insecure", &raw->domain_insecure);
	recursion->query_localhost = take_bool(take, "query-localhost", raw->query_localhost);
	take_hardening(take, raw);
	take_case(take, raw);
	take_private_addresses(take, raw);
	take_dns64(take, raw);
	take_effort(take, raw);
}
