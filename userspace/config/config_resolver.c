/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks the keys below recursion about upstreams and the way of asking. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "config/addresses.h"
#include "config/reader.h"
#include "config/value.h"

#define DNS64_PREFIX "64:ff9b::/96" /* RFC 6052 section 2.1 */

static const struct yamltree *find_resolver_key(const struct reader *reader, const char *leaf)
{
	return yamltree_child(reader_find(reader, "recursion"), leaf);
}

/* The first item of a list below recursion, or NULL. */
static const struct yamltree *find_first(const struct reader *reader, const char *leaf)
{
	const struct yamltree *list = find_resolver_key(reader, leaf);

	return list ? list->first : NULL;
}

/* Fails at a key below recursion. */
#define FAIL(reader, leaf, ...) \
	document_fail(&(reader)->document, NULL, "recursion." leaf, __VA_ARGS__)

/* --- Upstreams -------------------------------------------------------------------------------- */

/* The text was accepted before, so only memory can be short. */
static void read_upstream(struct reader *reader, const struct yamltree *node,
			  struct config_addr *out)
{
	*out = (struct config_addr){ 0 };
	if (value_read_upstream(node->text, out))
		document_fail_memory(&reader->document);
	reader_check_scope(reader, node, out, true);
}

/* A question that volleyd forwards to itself would be forwarded again, without end. */
static void refuse_loop(struct reader *reader, const struct yamltree *node,
			const struct config_addr *to)
{
	const struct config *config = reader->config;
	const char *key = NULL;

	if (reader->document.failed)
		return;
	if (loops_find(config->listen, config->n_listen, to))
		key = "server.listen";
	else if (loops_find(config->tls_listen, config->n_tls_listen, to))
		key = "server.tls.listen";
	if (key)
		document_fail(&reader->document, node, "",
			      "volleyd itself listens at %s (%s), so each question would come back "
			      "to it: give the address of another server",
			      node->text, key);
}

static void check_family(struct reader *reader, const struct yamltree *node,
			 const struct config_addr *addr)
{
	const struct config_recursion *recursion = &reader->config->recursion;
	bool is_ip4 = addr->family == AF_INET;

	if (!(is_ip4 ? recursion->do_ip4 : recursion->do_ip6))
		document_fail(&reader->document, node, "",
			      "%s is an IPv%c address, and do-ip%c is false: set that to true, or "
			      "give another address",
			      node->text, is_ip4 ? '4' : '6', is_ip4 ? '4' : '6');
}

/* A resolver with TLS needs the name in its certificate; without TLS a name is refused. */
static void check_resolver(struct reader *reader, const struct yamltree *node, bool is_tls)
{
	const char *port = strchr(node->text, '@');
	struct config_addr to;

	read_upstream(reader, node, &to);
	if (is_tls && !(port && strchr(port, '#')))
		document_fail(&reader->document, node, "",
			      "transport is tls: give ADDRESS@853#NAME, where NAME is that of the "
			      "certificate");
	else if (!is_tls && strchr(node->text, '#'))
		document_fail(&reader->document, node, "",
			      "has the name of a certificate, but transport is not tls");
	check_family(reader, node, &to);
	refuse_loop(reader, node, &to);
}

static void check_forward(struct reader *reader)
{
	const struct config_recursion *recursion = &reader->config->recursion;
	bool is_tls = recursion->transport == RESOLVER_TLS;
	const struct yamltree *item = find_first(reader, "forward");

	for (; item && !reader->document.failed; item = item->next)
		check_resolver(reader, item, is_tls);
	if (is_tls && !recursion->forward)
		FAIL(reader, "transport",
		     "tls is for forwarders, and recursion.forward has none: give one there");
	else if (is_tls && !recursion->tls_bundle)
		FAIL(reader, "transport",
		     "tls needs recursion.tls-bundle: the certificates that are trusted");
	if (recursion->forward_first && !recursion->forward)
		FAIL(reader, "forward-first",
		     "is for recursion.forward, which has no address: give one there");
}

/* --- Zones with upstreams of their own -------------------------------------------------------- */

/* All items of one zone must have the same `first` and `transport`. */
static void check_same_zone(struct reader *reader, const struct yamltree *node,
			    const struct config_stub *all, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++)
		if (!strcmp(all[i].zone, all[at].zone) &&
		    (all[i].first != all[at].first || all[i].transport != all[at].transport))
			document_fail(
				&reader->document, node, "",
				"%s is also recursion.%s[%u], with another first or transport: "
				"say the same in both",
				all[at].zone, node->parent->name, i);
}

/* If recursion.transport is tcp, a zone cannot have another transport. */
static void complete_transport(struct reader *reader, const struct yamltree *node,
			       struct config_stub *stub, bool is_forward)
{
	enum resolver_transport all = reader->config->recursion.transport;

	if (!yamltree_child(node, "transport"))
		stub->transport = all;
	if (stub->transport == RESOLVER_TLS && !is_forward)
		document_fail(&reader->document, node, "transport",
			      "a stub zone is asked at authoritative servers, and not by tls: say "
			      "udp or tcp");
	else if (all == RESOLVER_TCP && stub->transport != all)
		document_fail(&reader->document, node, "transport",
			      "recursion.transport is for all upstreams: leave it out there to say "
			      "something else here");
}

static void check_stub(struct reader *reader, const struct yamltree *node, struct config_stub *stub,
		       bool is_forward)
{
	const struct yamltree *zone = yamltree_child(node, "zone");
	const struct yamltree *address = yamltree_child(node, "address");
	struct config_addr to;

	/* These characters would end the name in the text that libunbound reads. */
	if (strpbrk(stub->zone, "\"'\\"))
		document_refuse(&reader->document, zone, stub->zone);
	complete_transport(reader, node, stub, is_forward);
	if (is_forward) {
		check_resolver(reader, address, stub->transport == RESOLVER_TLS);
		return;
	}
	read_upstream(reader, address, &to);
	check_family(reader, address, &to);
}

static void check_stubs(struct reader *reader, const char *leaf, struct config_stub *all,
			bool is_forward)
{
	const struct yamltree *node = find_first(reader, leaf);

	for (uint32_t i = 0; node && !reader->document.failed; i++, node = node->next) {
		check_stub(reader, node, &all[i], is_forward);
		check_same_zone(reader, node, all, i);
	}
}

/* A stub zone would hide a forward zone of its name. For the root there is recursion.forward. */
static void check_forward_zones(struct reader *reader)
{
	const struct config_recursion *recursion = &reader->config->recursion;
	const struct yamltree *node = find_first(reader, "forward-zones");

	for (uint32_t i = 0; node && !reader->document.failed; i++, node = node->next) {
		const struct config_stub *zone = &recursion->forward_zones[i];

		if (!strcmp(zone->zone, "."))
			document_fail(&reader->document, node, "zone",
				      "is the root: recursion.forward is for all names");
		if (zone->transport == RESOLVER_TLS && !recursion->tls_bundle)
			document_fail(&reader->document, node, "zone",
				      "is asked by tls, which needs recursion.tls-bundle: the "
				      "certificates that are trusted");
		for (uint32_t k = 0; k < recursion->n_stubs; k++)
			if (!strcmp(zone->zone, recursion->stubs[k].zone))
				document_fail(&reader->document, node, "zone",
					      "%s is also recursion.stubs[%u]: it is asked in one "
					      "way or the other",
					      zone->zone, k);
	}
}

/* --- Refused addresses and answers ------------------------------------------------------------ */

static void check_outgoing(struct reader *reader)
{
	const struct yamltree *item = find_first(reader, "outgoing-interface");
	struct config_addr addr;

	for (; item; item = item->next) {
		read_upstream(reader, item, &addr);
		check_family(reader, item, &addr);
	}
}

/* RFC 6052 section 2.2: the allowed lengths of a prefix. */
static bool is_dns64_prefix(const char *text)
{
	struct config_prefix prefix;

	return !value_read_prefix(text, &prefix) && prefix.family == AF_INET6 &&
	       prefix.bits >= 32 && prefix.bits <= 96 && (prefix.bits % 8 == 0) &&
	       prefix.bits != 72 && prefix.bits != 80 && prefix.bits != 88;
}

static void check_dns64(struct reader *reader)
{
	struct config_recursion *recursion = &reader->config->recursion;
	bool is_on = reader_number(reader, "recursion.dns64");

	if (recursion->dns64_prefix && !is_dns64_prefix(recursion->dns64_prefix))
		FAIL(reader, "dns64-prefix",
		     "\"%s\" is not accepted, give an IPv6 prefix of 32, 40, 48, 56, 64 or 96 "
		     "bits, such as \"64:ff9b::/96\"",
		     recursion->dns64_prefix);
	if (is_on && !recursion->dns64_prefix)
		recursion->dns64_prefix = reader_copy(reader, DNS64_PREFIX);
	else if (!is_on && recursion->dns64_prefix)
		FAIL(reader, "dns64-prefix",
		     "is for recursion.dns64, which is off: say dns64: true, too");
	else if (!is_on && recursion->dns64_synthall)
		FAIL(reader, "dns64-synthall",
		     "is for recursion.dns64, which is off: say dns64: true, too");
}

/* --- How questions are asked ------------------------------------------------------------------ */

static void check_questions(struct reader *reader)
{
	struct config_recursion *recursion = &reader->config->recursion;
	const char *policy = recursion->target_fetch_policy;

	recursion->has_caps_for_id = find_resolver_key(reader, "caps-for-id");
	if (recursion->caps_exempt && recursion->has_caps_for_id && !recursion->caps_for_id)
		FAIL(reader, "caps-exempt",
		     "names exceptions to recursion.caps-for-id, which is off: leave one out");
	if (recursion->qname_minimisation_strict && !recursion->qname_minimisation)
		FAIL(reader, "qname-minimisation-strict",
		     "is for recursion.qname-minimisation, which is off: leave one out");
	if (recursion->private_domain && !recursion->private_address)
		FAIL(reader, "private-domain",
		     "names exceptions to recursion.private-address, which is not given: give it");
	if (policy && policy[strspn(policy, "-0123456789 ")])
		document_refuse(&reader->document, find_resolver_key(reader, "target-fetch-policy"),
				policy);
}

void reader_check_resolver(struct reader *reader)
{
	struct config_recursion *recursion = &reader->config->recursion;

	if (!recursion->do_ip4 && !recursion->do_ip6)
		FAIL(reader, "do-ip4",
		     "is false, and do-ip6 too: no server could be asked, so set one to true");
	check_forward(reader);
	check_stubs(reader, "stubs", recursion->stubs, false);
	check_stubs(reader, "forward-zones", recursion->forward_zones, true);
	check_forward_zones(reader);
	check_outgoing(reader);
	check_questions(reader);
	check_dns64(reader);
}
