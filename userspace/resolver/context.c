/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/context.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unbound-event.h>

#include "base/err.h"
#include "base/files.h"
#include "dns/name.h"
#include "resolver/anchors.h"
#include "resolver/given_files.h"
#include "resolver/unbound_version.h"

/* libunbound's defaults, divided among the contexts of a thread. */
#define KEY_CACHE_BYTES   ((4u << 20) / RESOLVER_MEMORIES)
#define NEG_CACHE_BYTES   ((1u << 20) / RESOLVER_MEMORIES)
#define INFRA_CACHE_HOSTS (10000u / RESOLVER_MEMORIES)

/* The name of the first question: libunbound answers it by itself, so no server is asked. */
#define FIRST_NAME "first.volley.invalid."

/* A context that is being made. After the first error, nothing more is set. */
struct making {
	struct ub_ctx *ctx;
	char *err;
	size_t cap;
	int code;
};

static void fail_context(struct making *m, const char *what, const char *why)
{
	if (m->code)
		return;
	snprintf(m->err, m->cap, "%s: %s", what, why);
	m->code = ERR_CONFIG;
}

static void check_context(struct making *m, int ub_code, const char *what, const char *value)
{
	if (!ub_code || m->code)
		return;
	snprintf(m->err, m->cap, "%s %s: libunbound: %s", what, value, ub_strerror(ub_code));
	m->code = ERR_CONFIG;
}

static void set_context(struct making *m, const char *name, const char *value)
{
	if (!m->code)
		check_context(m, ub_ctx_set_option(m->ctx, name, value), name, value);
}

/* Values of tuning are sound, so a syntax error means that this libunbound lacks the option. */
static void set_tuning_option(struct making *m, const struct resolver_option *option)
{
	int code = m->code ? UB_NOERROR : ub_ctx_set_option(m->ctx, option->name, option->value);

	if (code != UB_SYNTAX) {
		check_context(m, code, option->name, option->value);
		return;
	}
	snprintf(m->err, m->cap, "%.*s: libunbound %s does not have this option",
		 (int)strcspn(option->name, ":"), option->name, ub_version());
	m->code = ERR_CONFIG;
}

static void set_bool(struct making *m, const char *name, bool value)
{
	set_context(m, name, value ? "yes" : "no");
}

static void set_number(struct making *m, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	set_context(m, name, text);
}

static void set_each(struct making *m, const char *name, const char *const *values)
{
	for (; values && *values; values++)
		set_context(m, name, *values);
}

/*
 * IPv4-mapped addresses (RFC 4291 section 2.5.5.2) lead to the IPv4 address in them, so the IPv4
 * prefixes count in this form, too: 10.0.0.0/8 is also ::ffff:10.0.0.0/104.
 */
static void set_mapped(struct making *m, const char *const *prefixes)
{
	for (; prefixes && *prefixes; prefixes++) {
		const char *slash = strchr(*prefixes, '/');
		unsigned int bits = slash ? (unsigned int)strtoul(slash + 1, NULL, 10) : 32;
		int n = slash ? (int)(slash - *prefixes) : (int)strlen(*prefixes);
		char text[64];

		if (strchr(*prefixes, ':'))
			continue;
		snprintf(text, sizeof(text), "::ffff:%.*s/%u", n, *prefixes, 96 + bits);
		set_context(m, "private-address:", text);
	}
}

/* libunbound would only say that it could not start. */
static bool is_readable(struct making *m, const char *key, const char *path)
{
	int err;

	if (!path || m->code)
		return false;
	err = regular_check(path);
	if (!err)
		return true;
	snprintf(m->err, m->cap, "%s: %s: %s%s", key, path, err_text(err),
		 err == -ENOENT && strstr(key, "trust-anchor") ?
			 ": copy /usr/share/dns/root.key there" :
			 "");
	m->code = ERR_CONFIG;
	return false;
}

/* With a file without usable anchors, libunbound would validate nothing. */
static bool has_anchor(struct making *m, const char *key, const char *path)
{
	char why[256] = "";
	int err;

	if (!is_readable(m, key, path))
		return false;
	err = anchors_check(path, why, sizeof(why));
	if (!err)
		return true;
	snprintf(
		m->err, m->cap,
		"%s: %s: %s: nothing would be validated; give the DS or DNSKEY records of the root "
		"zone, as in /usr/share/dns/root.key",
		key, path, *why ? why : err_text(err));
	m->code = ERR_CONFIG;
	return false;
}

static void set_anchors(struct making *m, const struct resolver_config *c)
{
	bool validate = c->trust_anchor_file || c->auto_trust_anchor_file;
	char modules[48], room[GIVEN_PATH_CAP];

	snprintf(modules, sizeof(modules), "%s%siterator", c->dns64_prefix ? "dns64 " : "",
		 validate ? "validator " : "");
	set_context(m, "module-config:", modules);
	set_each(m, "domain-insecure:", c->insecure);
	set_each(m, "domain-insecure:", special_names);
	if (has_anchor(m, "trust-anchor", c->trust_anchor_file))
		check_context(
			m, ub_ctx_add_ta_file(m->ctx, given_files_path(c->trust_anchor_file, room)),
			"trust anchor", c->trust_anchor_file);
	if (has_anchor(m, "auto-trust-anchor", c->auto_trust_anchor_file))
		check_context(m, ub_ctx_add_ta_autr(m->ctx, c->auto_trust_anchor_file),
			      "trust anchor", c->auto_trust_anchor_file);
}

static void set_stub(struct making *m, const struct resolver_stub *stub)
{
	if (!m->code && !stub->is_forward) /* else context_file_open() has written it */
		check_context(m, ub_ctx_set_stub(m->ctx, stub->zone, stub->address, stub->prime),
			      "stub", stub->zone);
}

/* Called before the functions that add to the zones of the file. */
static void read_context_file(struct making *m, const struct resolver_config *c)
{
	char path[32];
	int fd = m->code ? -ENOENT : context_file_open(c);

	if (fd == -ENOENT)
		return;
	if (fd < 0) {
		fail_context(m, "a file in memory for libunbound", err_text(fd));
		return;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check_context(m, ub_ctx_config(m->ctx, path),
		      "forward-zones, stubs, forward-first or dns64", "");
	close(fd);
}

/* Forbids the addresses of the prefix that are not ours. */
static void forbid(struct making *m, uint32_t prefix, unsigned int bits, const uint32_t *ours,
		   unsigned int n_ours)
{
	uint32_t mask = ~0u << (32 - bits), half;
	unsigned int n_inside = 0;
	char text[INET_ADDRSTRLEN + 4];

	for (unsigned int i = 0; i < n_ours; i++)
		n_inside += (ours[i] & mask) == prefix;
	if (!n_inside) {
		snprintf(text, sizeof(text), "%u.%u.%u.%u/%u", prefix >> 24, prefix >> 16 & 255,
			 prefix >> 8 & 255, prefix & 255, bits);
		set_context(m, "do-not-query-address:", text);
	} else if (bits < 32) {
		half = 1u << (31 - bits);
		forbid(m, prefix, bits + 1, ours, n_ours);
		forbid(m, prefix | half, bits + 1, ours, n_ours);
	}
}

/* Adds the address of "127.0.0.1@53"; another family and NULL add nothing. */
static unsigned int add_loopback(uint32_t *ours, unsigned int n, const char *at)
{
	char text[INET_ADDRSTRLEN] = "";
	struct in_addr address;

	if (at)
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(at, "@"), at);
	if (inet_pton(AF_INET, text, &address) == 1)
		ours[n++] = ntohl(address.s_addr);
	return n;
}

/*
 * Addresses that no server can have. On Linux a query to 0.0.0.0 or :: reaches a service of this
 * host, so a hostile delegation could have it asked (CVE-2026-50251). libunbound forbids these from
 * 1.25.2 on, and not if loopback addresses are allowed.
 */
static void forbid_unspecified(struct making *m)
{
	set_context(m, "do-not-query-address:", "0.0.0.0/8");
	set_context(m, "do-not-query-address:", "::");
	set_context(m, "do-not-query-address:", "::ffff:0.0.0.0/96");
}

/*
 * libunbound has one switch for all loopback addresses. With an address of ours they are allowed,
 * and all prefixes without such an address are forbidden. So a delegation to a loopback address
 * brings no question to other services of this host.
 */
static void set_loopback(struct making *m, const struct resolver_config *c)
{
	bool has_ours = c->root_copy || c->tls_relay;
	uint32_t ours[2];
	unsigned int n_ours;

	forbid_unspecified(m);
	set_bool(m, "do-not-query-localhost:", !c->query_localhost && !has_ours);
	if (c->query_localhost || !has_ours)
		return;
	n_ours = add_loopback(ours, 0, c->root_copy);
	n_ours = add_loopback(ours, n_ours, c->tls_relay);
	forbid(m, INADDR_LOOPBACK & 0xff000000, 8, ours, n_ours);
	set_context(m, "do-not-query-address:", "::ffff:127.0.0.0/104");
	if (!c->tls_relay || strncmp(c->tls_relay, "::1", 3) != 0)
		set_context(m, "do-not-query-address:", "::1");
}

/* A stub zone for the root replaces the hints: with both, libunbound would use the hints. */
static void set_root(struct making *m, const struct resolver_config *c)
{
	bool has_hints = is_readable(m, "root-hints", c->root_hints);
	char room[GIVEN_PATH_CAP];

	if (c->root_copy && !m->code)
		check_context(m, ub_ctx_set_stub(m->ctx, ".", c->root_copy, 0),
			      "the copy of the root at", c->root_copy);
	else if (has_hints)
		set_context(m, "root-hints:", given_files_path(c->root_hints, room));
}

/*
 * Faults of a libunbound older than UNBOUND_VERSION_SOUND that options avoid. docs/libraries.md has
 * the list.
 */
static void avoid_faults(struct making *m)
{
	if (unbound_version_is_sound(ub_version()))
		return;
	/*
	 * Before 1.26.1 libunbound writes keys and records that are longer than a message past the
	 * end of a buffer of this size, by default 64 KiB (CVE-2026-81642, CVE-2026-81634,
	 * CVE-2026-56416). The largest record set of one message has 1.2 MB in canonical form.
	 * Pages that are not written take no memory.
	 */
	set_context(m, "msg-buffer-size:", "2097152");
	/* Before 1.25.2 a zone can put a wildcard of its parent into the cache: CVE-2026-44690. */
	set_context(m, "aggressive-nsec:", "no");
}

static void set_upstreams(struct making *m, const struct resolver_config *c)
{
	read_context_file(m, c);
	set_root(m, c);
	for (const char *const *f = c->forwards; f && *f; f++)
		if (!m->code)
			check_context(m, ub_ctx_set_fwd(m->ctx, *f), "forward", *f);
	for (size_t i = 0; i < c->n_stubs; i++)
		set_stub(m, &c->stubs[i]);
	set_bool(m, "tcp-upstream:", c->transport == RESOLVER_TCP);
}

static void set_ports(struct making *m, const struct resolver_config *c)
{
	char range[16];

	if (!c->port_first)
		return;
	snprintf(range, sizeof(range), "%u-%u", c->port_first, c->port_last);
	set_context(m, "outgoing-port-avoid:", "0-65535");
	set_context(m, "outgoing-port-permit:", range);
}

static void set_limits(struct making *m, const struct resolver_config *c)
{
	set_number(m, "outgoing-range:", c->upstream_max);
	set_number(m, "outgoing-num-tcp:", context_tcp_max(c));
	set_number(m, "num-queries-per-thread:", c->upstream_max);
	set_number(m, "infra-cache-max-rtt:", c->upstream_timeout_ms);
	set_number(m, "infra-host-ttl:", c->upstream_forget_s);
	/* Single queries try a server again that was given up. */
	set_context(m, "infra-keep-probing:", "yes");
	set_number(m, "ratelimit:", c->upstream_qps);
	if (c->msg_retry)
		set_number(m, "outbound-msg-retry:", c->msg_retry);
}

static void set_behaviour(struct making *m, const struct resolver_config *c)
{
	set_bool(m, "aggressive-nsec:", c->aggressive_nsec);
	set_bool(m, "use-caps-for-id:", c->caps_for_id);
	set_loopback(m, c);
	set_number(m, "msg-cache-size:", c->msg_cache_bytes);
	set_number(m, "rrset-cache-size:", c->rrset_cache_bytes);
	/*
	 * The answer cache does this (RFC 8020). libunbound 1.17 applies the NXDOMAIN of an alias's
	 * target to all names below the alias.
	 */
	set_context(m, "harden-below-nxdomain:", "no");
	set_number(m, "key-cache-size:", KEY_CACHE_BYTES);
	set_number(m, "neg-cache-size:", NEG_CACHE_BYTES);
	set_number(m, "infra-cache-numhosts:", INFRA_CACHE_HOSTS);
	set_number(m, "cache-max-negative-ttl:", c->max_negative_ttl_s);
	set_each(m, "caps-whitelist:", c->caps_exempt);
	set_each(m, "private-address:", c->private_addresses);
	set_mapped(m, c->private_addresses);
	set_each(m, "outgoing-interface:", c->outgoing_interfaces);
}

static void ignore_context(void *user, int rcode, void *msg, int n_bytes, int security, char *why,
			   int was_limited)
{
	(void)user, (void)rcode, (void)msg, (void)n_bytes, (void)security, (void)why;
	(void)was_limited;
}

/*
 * libunbound has zones of its own for special names, which would hide stub zones. A transparent
 * zone replaces each. "nodefault" is meant for this, but ub_ctx_set_option() takes the word for a
 * part of the name.
 */
static void set_local_zones(struct making *m)
{
	for (const char *const *name = special_names; *name; name++) {
		char text[NAME_TEXT_MAX];

		snprintf(text, sizeof(text), "%s transparent", *name);
		set_context(m, "local-zone:", text);
	}
	set_context(m, "local-zone:", FIRST_NAME " static");
}

/* The first question makes libunbound read its files. It answers this one by itself. */
static void finish_context(struct making *m)
{
	int code = m->code ? 0 :
			     ub_resolve_event(m->ctx, FIRST_NAME, 1, 1, NULL, ignore_context, NULL);

	if (code)
		check_context(m, code, "the hints, the trust anchor", "or an option");
}

int context_open(struct ub_ctx **out, const struct resolver_config *config, struct event_base *base,
		 char *err, size_t cap)
{
	struct making m = { .ctx = ub_ctx_create_event(base), .err = err, .cap = cap };

	if (!m.ctx)
		return -ENOMEM;
	set_behaviour(&m, config);
	set_upstreams(&m, config);
	set_ports(&m, config);
	set_limits(&m, config);
	set_anchors(&m, config);
	set_local_zones(&m);
	avoid_faults(&m);
	for (size_t i = 0; i < config->n_tuning; i++)
		set_tuning_option(&m, &config->tuning[i]);
	for (size_t i = 0; i < config->n_options; i++)
		set_context(&m, config->options[i].name, config->options[i].value);
	finish_context(&m);
	if (m.code) {
		ub_ctx_delete(m.ctx);
		return m.code;
	}
	*out = m.ctx;
	return 0;
}
