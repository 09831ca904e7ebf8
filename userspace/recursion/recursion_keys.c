/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recursion/recursion_keys.h"

#include "config/config.h"
#include "config/rows.h"
#include "engine/engine_config.h"
#include "resolver/resolver_config.h"

#define MEMBER(type, name)                                                    \
	{                                                                     \
		offsetof(struct type, name), sizeof(((struct type *)0)->name) \
	}

/* The kind of a member that a field is copied to. A copy of a pointer shares its text or list. */
#define KIND(type, name) \
	_Generic(&((struct type *)0)->name,          \
		const char **: WORDS_FIELD_TEXT,     \
		const char *const **: WORDS_FIELD_TEXTS, \
		default: WORDS_FIELD_NUMBER)

#define FITS(from, type, name)                                            \
	(KIND(type, name) == ROWS_FIELD(struct config_recursion, from) && \
	 sizeof(((struct type *)0)->name) == sizeof(((struct config_recursion *)0)->from))

/* If the two members do not fit, an array of -1 octets, which does not compile. */
#define COPY(from, type, name)                                                    \
	{                                                                         \
		offsetof(struct type, name),                                      \
			sizeof(((struct type *)0)->name) +                        \
				0 * sizeof(char[FITS(from, type, name) ? 1 : -1]) \
	}

#define KEY(name, member)                                                    \
	.key = (name), .field = ROWS_FIELD(struct config_recursion, member), \
	.config = MEMBER(config_recursion, member)
#define TO_RESOLVER(from, member) .resolver = COPY(from, resolver_config, member)
#define TO_ENGINE(from, member)   .engine = COPY(from, engine_recursion, member)
#define OPTION(name)              .option = name ":"
#define IF_GIVEN(name)            .option = name ":", .option_if_given = true
#define NEEDS(what)               .needs = RECURSION_##what
#define NEEDS_UNBOUND(what)       .needs_unbound = RECURSION_##what

/* clang-format off */
const struct recursion_key recursion_keys[] = {
	/* recursion_service.c, without the resolver and the answers */
	{ KEY("allow", allow) },

	{ KEY("forward", forward), TO_RESOLVER(forward, forwards), NEEDS(BOTH) },
	{ KEY("forward-first", forward_first), TO_RESOLVER(forward_first, forward_first),
	  NEEDS_UNBOUND(BOTH) },
	{ KEY("transport", transport), TO_RESOLVER(transport, transport), NEEDS(RESTART) },
	{ KEY("tls-bundle", tls_bundle), TO_RESOLVER(tls_bundle, tls_bundle), .is_file = true,
	  NEEDS(RESTART) },

	/* make_resolver_stubs() */
	{ KEY("stubs", stubs), NEEDS(BOTH) },
	{ .key = "stubs[].zone", NEEDS(BOTH) },
	{ .key = "stubs[].address", NEEDS(BOTH) },
	{ .key = "stubs[].first", NEEDS(BOTH) },
	{ .key = "stubs[].transport", NEEDS(BOTH) },
	{ KEY("forward-zones", forward_zones), NEEDS(BOTH) },
	{ .key = "forward-zones[].zone", NEEDS(BOTH) },
	{ .key = "forward-zones[].address", NEEDS(BOTH) },
	{ .key = "forward-zones[].first", NEEDS(BOTH) },
	{ .key = "forward-zones[].transport", NEEDS(BOTH) },

	{ KEY("do-ip4", do_ip4), OPTION("do-ip4"), NEEDS_UNBOUND(BOTH) },
	{ KEY("do-ip6", do_ip6), OPTION("do-ip6"), NEEDS_UNBOUND(BOTH) },
	{ KEY("outgoing-interface", outgoing_interface),
	  TO_RESOLVER(outgoing_interface, outgoing_interfaces), NEEDS(RESTART) },
	{ KEY("root-hints", root_hints), TO_RESOLVER(root_hints, root_hints), .is_file = true,
	  NEEDS(RESTART) },

	{ KEY("trust-anchor", trust_anchor), TO_RESOLVER(trust_anchor, trust_anchor_file),
	  .is_file = true, NEEDS(BOTH) },
	/* The resolver itself writes to the file, so only the name is compared. */
	{ KEY("auto-trust-anchor", auto_trust_anchor),
	  TO_RESOLVER(auto_trust_anchor, auto_trust_anchor_file), NEEDS(BOTH) },
	{ KEY("domain-insecure", domain_insecure), TO_RESOLVER(domain_insecure, insecure),
	  NEEDS(BOTH) },
	{ KEY("root-key-sentinel", root_key_sentinel), OPTION("root-key-sentinel"),
	  NEEDS_UNBOUND(BOTH) },

	{ KEY("qname-minimisation", qname_minimisation), OPTION("qname-minimisation"),
	  NEEDS(RESTART) },
	{ KEY("qname-minimisation-strict", qname_minimisation_strict),
	  OPTION("qname-minimisation-strict"), NEEDS_UNBOUND(BOTH) },
	{ KEY("aggressive-nsec", aggressive_nsec), TO_RESOLVER(aggressive_nsec, aggressive_nsec),
	  NEEDS(RESTART) },
	/* set_resolver() has its default. */
	{ KEY("caps-for-id", caps_for_id), TO_RESOLVER(caps_for_id, caps_for_id), NEEDS(RESTART) },
	{ KEY("caps-exempt", caps_exempt), TO_RESOLVER(caps_exempt, caps_exempt), NEEDS(RESTART) },

	{ KEY("harden-glue", harden_glue), OPTION("harden-glue"), NEEDS_UNBOUND(BOTH) },
	{ KEY("harden-referral-path", harden_referral_path), OPTION("harden-referral-path"),
	  NEEDS_UNBOUND(BOTH) },
	/* resolver/context.c switches off libunbound's option of this name, and says why. */
	{ KEY("harden-below-nxdomain", harden_below_nxdomain),
	  TO_ENGINE(harden_below_nxdomain, cuts) },
	{ KEY("harden-dnssec-stripped", harden_dnssec_stripped), OPTION("harden-dnssec-stripped"),
	  NEEDS_UNBOUND(BOTH) },
	{ KEY("harden-algo-downgrade", harden_algo_downgrade), OPTION("harden-algo-downgrade"),
	  NEEDS_UNBOUND(BOTH) },
	{ KEY("harden-unverified-glue", harden_unverified_glue),
	  IF_GIVEN("harden-unverified-glue"), NEEDS_UNBOUND(BOTH) },
	{ KEY("harden-unknown-additional", harden_unknown_additional),
	  IF_GIVEN("harden-unknown-additional"), NEEDS_UNBOUND(BOTH) },

	{ KEY("private-address", private_address), TO_RESOLVER(private_address, private_addresses),
	  NEEDS_UNBOUND(BOTH) },
	{ KEY("private-domain", private_domain), OPTION("private-domain"), NEEDS_UNBOUND(BOTH) },
	/* on: dns64-prefix has a value */
	{ .key = "dns64", NEEDS_UNBOUND(BOTH) },
	{ KEY("dns64-prefix", dns64_prefix), TO_RESOLVER(dns64_prefix, dns64_prefix),
	  NEEDS_UNBOUND(BOTH) },
	{ KEY("dns64-synthall", dns64_synthall), TO_RESOLVER(dns64_synthall, dns64_synthall),
	  NEEDS_UNBOUND(BOTH) },
	{ KEY("query-localhost", query_localhost), TO_RESOLVER(query_localhost, query_localhost),
	  NEEDS(RESTART) },
	/* recursion_set_root_copy() has the address, and starts the resolver anew for it. */
	{ KEY("root-copy", root_copy), NEEDS(RESTART) },

	{ KEY("threads", n_threads), TO_RESOLVER(n_threads, n_threads), NEEDS(RESTART) },
	{ KEY("max-outstanding", max_outstanding), TO_RESOLVER(max_outstanding, max_outstanding),
	  NEEDS(RESTART) },
	{ KEY("memory-max", memory_max_bytes), TO_RESOLVER(memory_max_bytes, memory_max_bytes),
	  NEEDS(RESTART) },
	{ KEY("max-per-client", max_per_client), TO_RESOLVER(max_per_client, max_per_client),
	  NEEDS(RESTART) },
	{ KEY("upstream-timeout", upstream_timeout_ms),
	  TO_RESOLVER(upstream_timeout_ms, upstream_timeout_ms), NEEDS(RESTART) },
	{ KEY("max-query-restarts", max_query_restarts), OPTION("max-query-restarts"),
	  NEEDS_UNBOUND(BOTH) },
	{ KEY("max-global-quota", max_global_quota), IF_GIVEN("max-global-quota"),
	  NEEDS_UNBOUND(BOTH) },
	{ KEY("outbound-msg-retry", outbound_msg_retry), TO_RESOLVER(outbound_msg_retry, msg_retry),
	  NEEDS(RESTART) },
	{ KEY("target-fetch-policy", target_fetch_policy), OPTION("target-fetch-policy"),
	  NEEDS_UNBOUND(BOTH) },

	{ KEY("query-timeout", query_timeout_ms), TO_ENGINE(query_timeout_ms, timeout_ms) },
	/* What has expired for us must have expired in libunbound, too, which is asked again. */
	{ KEY("max-ttl", max_ttl_s), TO_ENGINE(max_ttl_s, max_ttl_s), OPTION("cache-max-ttl"),
	  NEEDS(FLUSH), NEEDS_UNBOUND(RESTART) },
	{ KEY("min-ttl", min_ttl_s), TO_ENGINE(min_ttl_s, min_ttl_s), OPTION("cache-min-ttl"),
	  NEEDS(FLUSH), NEEDS_UNBOUND(RESTART) },
	{ KEY("max-negative-ttl", max_negative_ttl_s),
	  TO_RESOLVER(max_negative_ttl_s, max_negative_ttl_s),
	  TO_ENGINE(max_negative_ttl_s, max_negative_ttl_s), NEEDS(BOTH) },
	{ KEY("serve-stale", serve_stale_s), TO_ENGINE(serve_stale_s, stale_s) },
	{ KEY("stale-client-timeout", stale_client_timeout_ms),
	  TO_ENGINE(stale_client_timeout_ms, stale_wait_ms) },
	{ KEY("stale-reply-ttl", stale_reply_ttl_s), TO_ENGINE(stale_reply_ttl_s, stale_ttl_s) },
	{ KEY("prefetch", prefetch), TO_ENGINE(prefetch, prefetch) },

	/* recursion/rpz_manager.c withdraws the answers that other rules would change. */
	{ KEY("local-data", local_data) },
	{ KEY("rpz", rpz) },
	{ .key = "rpz[].name" },
	{ .key = "rpz[].file" },
	{ .key = "rpz[].zone" },
	{ .key = "rpz[].ede" },

	/* set_special() */
	{ KEY("special-names", special_names), NEEDS(FLUSH) },
	{ KEY("special-names-off", special_names_off), NEEDS(FLUSH) },
};
/* clang-format on */

const size_t recursion_n_keys = sizeof(recursion_keys) / sizeof(recursion_keys[0]);
