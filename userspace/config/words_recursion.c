/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration keys: answers from upstream. */
#include "config/rows.h"
#include "dns/proto.h"

static const struct words_key rows[] = {
	{ ROW("recursion", WORDS_MAP, struct config, recursion),
	  .text = "Answers for names outside the zones, asked upstream. See RECURSION." },
	{ ROW_ARRAY("recursion.allow", WORDS_PREFIXES, struct config_recursion, allow, n_allow),
	  .fallback = "[]",
	  .text = "The clients that may ask for recursion: give your own prefixes, since an open "
		  "resolver "
		  "is used against others. Without any, nothing is asked upstream. A reload turns "
		  "recursion on and off: "
		  "questions that wait for upstreams when it is turned off are answered SERVFAIL." },
	{ ROW("recursion.forward", WORDS_UPSTREAMS, struct config_recursion, forward),
	  .fallback = "[]",
	  .text = "Resolvers that are asked instead of the servers of each zone. Without any "
		  "volleyd "
		  "asks these itself, from the root on. For TLS with the port and the name in its "
		  "certificate: \"192.0.2.1@853#dns.example\". An address at which volleyd itself "
		  "listens is refused, "
		  "for a question would come back without end." },
	{ ROW("recursion.forward-first", WORDS_BOOL, struct config_recursion, forward_first),
	  .fallback = "false",
	  .text = "Whether a question is asked from the root on where no address of "
		  "recursion.forward gives an answer. It "
		  "is then done by libunbound." },
	{ ROW("recursion.transport", WORDS_CHOICE, struct config_recursion, transport),
	  .choices = "udp|tcp|tls", .fallback = "udp",
	  .text = "How upstreams are asked: udp, with TCP for what is truncated, tcp always, or "
		  "tls (RFC "
		  "7858), for which recursion.forward and recursion.tls-bundle are needed: the "
		  "certificate of each has to be valid and for its name, else it is not asked." },
	{ ROW("recursion.tls-bundle", WORDS_PATH, struct config_recursion, tls_bundle),
	  .text = "The file of the certificates that are trusted, in PEM, for recursion.transport: "
		  "tls, "
		  "such as /etc/ssl/certs/ca-certificates.crt. It is read at the start, and at a "
		  "reload where it has changed. A relative path starts at the folder of the "
		  "configuration file, as for all files here." },
	{ ROW_ARRAY("recursion.stubs", WORDS_MAPS, struct config_recursion, stubs, n_stubs),
	  .text = "Zones whose servers are known: names below them are asked there, not where the "
		  "root "
		  "or a forwarder leads to." },
	{ ROW("recursion.stubs[].zone", WORDS_DOMAIN, struct config_stub, zone),
	  .is_required = true,
	  .text = "The name of the zone. Required. Given again, it has more than one server." },
	{ ROW("recursion.stubs[].address", WORDS_UPSTREAM, struct config_stub, address),
	  .is_required = true, .text = "One authoritative server of the zone. Required." },
	{ ROW("recursion.stubs[].first", WORDS_BOOL, struct config_stub, first),
	  .fallback = "false",
	  .text = "Whether a name is asked as if there were no stub zone where no server of the "
		  "zone gives an answer. All "
		  "items of one zone have to say the same, as for the next key." },
	{ ROW("recursion.stubs[].transport", WORDS_CHOICE, struct config_stub, transport),
	  .choices = "udp|tcp",
	  .text = "How the servers of this zone are asked. Default: as recursion.transport. Where "
		  "that is tls it has to be "
		  "said here, since authoritative servers are not asked over TLS." },
	{ ROW_ARRAY("recursion.forward-zones", WORDS_MAPS, struct config_recursion, forward_zones,
		    n_forward_zones),
	  .text = "Zones with resolvers of their own: names below them are asked there, not of "
		  "recursion.forward and not of "
		  "the servers of the zone. A zone is here or in recursion.stubs. With any, "
		  "questions are asked by "
		  "libunbound." },
	{ ROW("recursion.forward-zones[].zone", WORDS_DOMAIN, struct config_stub, zone),
	  .is_required = true,
	  .text = "The name of the zone. Required. Given again, it has more than one resolver." },
	{ ROW("recursion.forward-zones[].address", WORDS_UPSTREAM_NAMED, struct config_stub,
	      address),
	  .is_required = true, .text = "A resolver, as in recursion.forward. Required." },
	{ ROW("recursion.forward-zones[].first", WORDS_BOOL, struct config_stub, first),
	  .fallback = "false",
	  .text = "Whether a name is asked as if there were no forward zone where no resolver of "
		  "the zone gives an answer. "
		  "All items of one zone have to say the same, as for the next key." },
	{ ROW("recursion.forward-zones[].transport", WORDS_CHOICE, struct config_stub, transport),
	  .choices = "udp|tcp|tls",
	  .text = "How the resolvers of this zone are asked. Default: as recursion.transport. tls "
		  "needs "
		  "recursion.tls-bundle." },
	{ ROW("recursion.do-ip4", WORDS_BOOL, struct config_recursion, do_ip4), .fallback = "true",
	  .text = "Whether servers are asked over IPv4. Clients are answered over both. An address "
		  "of the other family in a "
		  "key here is refused where this is false." },
	{ ROW("recursion.do-ip6", WORDS_BOOL, struct config_recursion, do_ip6), .fallback = "true",
	  .text = "Whether servers are asked over IPv6." },
	{ ROW("recursion.outgoing-interface", WORDS_HOSTS, struct config_recursion,
	      outgoing_interface),
	  .fallback = "[]",
	  .text = "The addresses of this host that servers are asked from; each question takes one "
		  "at random. Default: the "
		  "kernel chooses. With any, questions are asked by libunbound." },
	{ ROW("recursion.root-hints", WORDS_PATH, struct config_recursion, root_hints),
	  .text = "The names and addresses of the root servers, as a master file. Default: those "
		  "that were "
		  "installed with volleyd, else those of libunbound." },
	{ ROW("recursion.trust-anchor", WORDS_PATH, struct config_recursion, trust_anchor),
	  .text = "A file of DS or DNSKEY records with which answers are validated (RFC 4035). "
		  "Default: "
		  "none. Without this and the next key nothing is validated. A file without a "
		  "usable "
		  "record is refused." },
	{ ROW("recursion.auto-trust-anchor", WORDS_PATH, struct config_recursion,
	      auto_trust_anchor),
	  .text = "The same, kept up to date as keys roll (RFC 5011). volleyd writes to the file "
		  "and makes "
		  "others beside it, so that folder must be its own. Default: none." },
	{ ROW("recursion.domain-insecure", WORDS_DOMAINS, struct config_recursion, domain_insecure),
	  .fallback = "[]",
	  .text = "Names that are not validated, with all below them (negative trust anchors, RFC "
		  "7646): a zone "
		  "of your own, below a signed zone that does not know it, or a zone whose "
		  "signatures are "
		  "broken. Keep the list short, and take names out again." },
	{ ROW("recursion.root-key-sentinel", WORDS_BOOL, struct config_recursion,
	      root_key_sentinel),
	  .fallback = "true",
	  .text = "Whether names that begin with root-key-sentinel-is-ta- or "
		  "root-key-sentinel-not-ta- and a number "
		  "tell which keys of the root are trusted here (RFC 8509): where the sentence is "
		  "not true, the answer is "
		  "SERVFAIL. Only with a trust anchor." },
	{ ROW("recursion.qname-minimisation", WORDS_BOOL, struct config_recursion,
	      qname_minimisation),
	  .fallback = "true",
	  .text = "Whether a server is told no more of a name than it needs (RFC 9156)." },
	{ ROW("recursion.qname-minimisation-strict", WORDS_BOOL, struct config_recursion,
	      qname_minimisation_strict),
	  .fallback = "false",
	  .text = "Whether it stays so where a server gives an error for the shorter name. Names "
		  "below broken servers are "
		  "then not answered. Of libunbound." },
	{ ROW("recursion.aggressive-nsec", WORDS_BOOL, struct config_recursion, aggressive_nsec),
	  .fallback = "true",
	  .text = "Whether the proof that one name does not exist answers for others in the same "
		  "gap (RFC "
		  "8198), by NSEC or NSEC3. Only what was validated is used; intervals with "
		  "opt-out and zones "
		  "with more than 10 iterations of NSEC3 are not." },
	{ ROW("recursion.caps-for-id", WORDS_BOOL, struct config_recursion, caps_for_id),
	  .text = "Whether names are asked upstream in random letter case, which a forged reply "
		  "does not "
		  "know. A forwarder that does not keep it is asked over TCP, and where it does "
		  "not keep it "
		  "there either, in lower case for ten minutes. Default: true where volleyd "
		  "forwards by "
		  "itself (see RECURSION); else false." },
	{ ROW("recursion.caps-exempt", WORDS_DOMAINS, struct config_recursion, caps_exempt),
	  .fallback = "[]",
	  .text = "Names that are not asked in random letter case, with all below them: those "
		  "whose servers do not answer "
		  "it." },
	{ ROW("recursion.harden-glue", WORDS_BOOL, struct config_recursion, harden_glue),
	  .fallback = "true",
	  .text = "Whether addresses of name servers in a referral are used only where they are "
		  "within the zone that the "
		  "server is asked for. All keys harden-... are of libunbound; they change nothing "
		  "where volleyd forwards "
		  "by itself." },
	{ ROW("recursion.harden-referral-path", WORDS_BOOL, struct config_recursion,
	      harden_referral_path),
	  .fallback = "false",
	  .text = "Whether the NS records and addresses on the way from the root are asked for and "
		  "validated as well. This "
		  "takes many more questions." },
	{ ROW("recursion.harden-below-nxdomain", WORDS_BOOL, struct config_recursion,
	      harden_below_nxdomain),
	  .fallback = "true",
	  .text = "Whether a name in the answer cache that is proved not to exist denies all names "
		  "below it (RFC 8020). "
		  "libunbound is not told to do so: it would deny names below an alias, too." },
	{ ROW("recursion.harden-dnssec-stripped", WORDS_BOOL, struct config_recursion,
	      harden_dnssec_stripped),
	  .fallback = "true",
	  .text = "Whether an answer without signatures is bogus where a trust anchor is for the "
		  "zone itself. Else "
		  "such a zone is as one that is not signed. Below a DS record an answer without "
		  "signatures is always "
		  "bogus." },
	{ ROW("recursion.harden-algo-downgrade", WORDS_BOOL, struct config_recursion,
	      harden_algo_downgrade),
	  .fallback = "false",
	  .text = "Whether a zone has to be signed with all algorithms of its DS records. Else one "
		  "of them is enough." },
	{ ROW("recursion.private-address", WORDS_PREFIXES, struct config_recursion,
	      private_address),
	  .fallback = "[]",
	  .text = "Prefixes that no public name may have an address in: such addresses are taken "
		  "out of answers, so that no "
		  "foreign page reaches servers in your network (DNS rebinding). Zones, local data "
		  "and recursion.rpz may "
		  "have them. An IPv4 prefix counts for IPv4-mapped IPv6 addresses, too. With any, questions are asked by libunbound." },
	{ ROW("recursion.private-domain", WORDS_DOMAINS, struct config_recursion, private_domain),
	  .fallback = "[]",
	  .text = "Names that may have them, with all below: exceptions to "
		  "recursion.private-address." },
	{ ROW_OF("recursion.dns64", WORDS_BOOL), .fallback = "false",
	  .text = "Whether a name with IPv4 addresses alone gets IPv6 addresses made of these (RFC "
		  "6147), for clients "
		  "behind a NAT64. It is for all clients that recurse here: see RECURSION." },
	{ ROW("recursion.dns64-prefix", WORDS_TEXT, struct config_recursion, dns64_prefix),
	  .min = 3, .max = 43,
	  .text = "The prefix of these addresses: 32, 40, 48, 56, 64 or 96 bits. Default: "
		  "64:ff9b::/96 (RFC 6052)." },
	{ ROW("recursion.dns64-synthall", WORDS_BOOL, struct config_recursion, dns64_synthall),
	  .fallback = "false",
	  .text = "Whether names that have IPv6 addresses get addresses made of IPv4 ones all the "
		  "same. For tests." },
	{ ROW("recursion.query-localhost", WORDS_BOOL, struct config_recursion, query_localhost),
	  .fallback = "false", .text = "Whether upstreams may be on 127.0.0.0/8 and ::1." },
	{ ROW("recursion.root-copy", WORDS_BOOL, struct config_recursion, root_copy),
	  .fallback = "false",
	  .text = "Whether the zone . of zones is a local copy of the root (RFC 8806): the "
		  "resolver asks it in the place of the "
		  "root servers, and no client can ask for it. See RECURSION." },
	{ ROW("recursion.threads", WORDS_COUNT, struct config_recursion, n_threads), .min = 1,
	  .max = 16, .fallback = "1", .text = "Threads that ask upstream, beside the workers." },
	{ ROW("recursion.max-outstanding", WORDS_COUNT, struct config_recursion, max_outstanding),
	  .min = 16, .max = 4194304, .fallback = "131072",
	  .text = "Questions that wait for upstreams at a time. What comes on top gets SERVFAIL, "
		  "and so does "
		  "a client (as in max-per-client) that has 8 or more, and 4 times as many as are "
		  "free. A reload "
		  "does not go over what was said when volleyd first had a recursion.allow." },
	{ ROW("recursion.max-per-client", WORDS_COUNT, struct config_recursion, max_per_client),
	  .min = 0, .max = 4194304, .fallback = "0",
	  .text = "The same of one client: an IPv4 address, or the first 64 bits of an IPv6 "
		  "address. 0: no "
		  "limit." },
	{ ROW("recursion.upstream-timeout", WORDS_MS, struct config_recursion, upstream_timeout_ms),
	  .min = 100, .max = 60000, .fallback = "2s",
	  .text = "The longest wait for one reply of a server, before it or another is asked again." },
	{ ROW("recursion.max-query-restarts", WORDS_COUNT, struct config_recursion,
	      max_query_restarts),
	  .min = 1, .max = 100, .fallback = "11",
	  .text = "How many aliases of a chain are followed to other names, then SERVFAIL. Of "
		  "libunbound." },
	{ ROW("recursion.outbound-msg-retry", WORDS_COUNT, struct config_recursion,
	      outbound_msg_retry),
	  .min = 1, .max = 100,
	  .text = "How often a server is asked again that does not reply to a question, before it "
		  "counts as failed for this "
		  "question. Default: 5 with libunbound. Where volleyd forwards by itself it asks "
		  "until no client waits, "
		  "and with this key so often." },
	{ ROW("recursion.target-fetch-policy", WORDS_TEXT, struct config_recursion,
	      target_fetch_policy),
	  .min = 1, .max = 64,
	  .text = "How many addresses of name servers are looked up before they are needed, at "
		  "each depth of such look-ups: "
		  "numbers with spaces between them, as in unbound.conf(5). -1: all. Default: '3 2 "
		  "1 0 0', libunbound's "
		  "own." },
	{ ROW("recursion.query-timeout", WORDS_MS, struct config_recursion, query_timeout_ms),
	  .min = 100, .max = 60000, .fallback = "5s",
	  .text = "The longest wait of a client. After that it gets SERVFAIL." },
	{ ROW("recursion.max-ttl", WORDS_SECONDS, struct config_recursion, max_ttl_s), .min = 1,
	  .max = 7 * 86400, .fallback = "1d",
	  .text = "The longest time for which an answer is kept and told to be good." },
	{ ROW("recursion.min-ttl", WORDS_SECONDS, struct config_recursion, min_ttl_s), .min = 0,
	  .max = 3600, .fallback = "0",
	  .text = "The shortest. More than 0 keeps answers longer than their owners wish." },
	{ ROW("recursion.max-negative-ttl", WORDS_SECONDS, struct config_recursion,
	      max_negative_ttl_s),
	  .min = 1, .max = 86400, .fallback = "1h",
	  .text = "The longest time for answers that say that there is nothing (RFC 2308), and for "
		  "which an "
		  "NSEC3 record denies other names." },
	{ ROW("recursion.serve-stale", WORDS_SECONDS, struct config_recursion, serve_stale_s),
	  .min = 0, .max = 7 * 86400, .fallback = "0",
	  .text = "How long after it has expired an answer may still be given where upstreams do "
		  "not reply "
		  "(RFC 8767). 0: never." },
	{ ROW("recursion.stale-client-timeout", WORDS_MS, struct config_recursion,
	      stale_client_timeout_ms),
	  .min = 0, .max = 60000, .fallback = "1800ms",
	  .text = "How long a client waits for a fresh answer before it gets such a stale one. 0: "
		  "it gets the stale "
		  "one at once, and a fresh one is asked for behind it." },
	{ ROW("recursion.stale-reply-ttl", WORDS_SECONDS, struct config_recursion,
	      stale_reply_ttl_s),
	  .min = 1, .max = 3600, .fallback = "30", .text = "The TTL of stale answers." },
	{ ROW("recursion.prefetch", WORDS_BOOL, struct config_recursion, prefetch),
	  .fallback = "true",
	  .text = "Whether an answer that is asked for in the last tenth of its life is fetched "
		  "anew before it "
		  "expires, from a TTL of 8 seconds on. So names that are in use never make a "
		  "client wait. "
		  "They are fetched up to 11 % more often; one answer is fetched anew once, "
		  "however many ask." },
	{ ROW("recursion.local-data", WORDS_RECORDS, struct config_recursion, local_data),
	  .fallback = "[]",
	  .text = "Records that are answered instead of what upstreams would say, to clients that "
		  "may ask "
		  "for recursion. A name that has any has no others. The configuration is refused "
		  "if one of them cannot be "
		  "read, or if they cannot stand together in a zone." },
	{ ROW("recursion.special-names", WORDS_BOOL, struct config_recursion, special_names),
	  .fallback = "true",
	  .text = "Whether names that have no place in the public DNS are answered here, and not "
		  "asked "
		  "upstream. See RECURSION for which these are. For one of them, or a name below "
		  "it, "
		  "zones, recursion.stubs, recursion.local-data and recursion.rpz come first." },
	{ ROW("recursion.special-names-off", WORDS_DOMAINS, struct config_recursion,
	      special_names_off),
	  .fallback = "[]",
	  .text = "The special names that are asked upstream all the same: each item stands for "
		  "itself and "
		  "all special names below it. [172.in-addr.arpa, home.arpa] is good where the "
		  "resolvers of recursion.forward know such names." },
	{ ROW_ARRAY("recursion.rpz", WORDS_MAPS, struct config_recursion, rpz, n_rpz),
	  .text = "Response policy zones: what is answered otherwise than upstreams would. See "
		  "RESPONSE POLICY ZONES. "
		  "Where a file does not load, the version that was loaded before "
		  "stays in force; at a start there is none, and nothing is filtered by this list. "
		  "volleyctl policy list, "
		  "status, health and metrics tell of both." },
	{ ROW("recursion.rpz[].name", WORDS_DOMAIN, struct config_rpz, name),
	  .text = "The name of the policy zone. Required, and none twice." },
	{ ROW("recursion.rpz[].file", WORDS_PATH, struct config_rpz, file),
	  .text = "Its master file. Required." },
	{ ROW_OF("recursion.rpz[].zone", WORDS_DOMAIN),
	  .text = "In the place of name and file: the zone of this name that is served here, of "
		  "zones or of a catalog, is the policy zone. "
		  "So it may come from primaries, with a key and NOTIFY; its changes hold as soon "
		  "as they are served. While it is not "
		  "served, or no more, the version that was in force stays; where there is none, "
		  "nothing is filtered by it. Who may ask "
		  "for our zones (server.allow) can read it." },
	{ ROW("recursion.rpz[].ede", WORDS_CHOICE, struct config_rpz, ede_code),
	  .min = DNS_EDE_BLOCKED, .choices = "blocked|censored|filtered|prohibited",
	  .fallback = "blocked",
	  .text = "Why its rules change answers, for clients with EDNS: the code 15 (the operator "
		  "blocks it), 16 (somebody else demands it), 17 (the "
		  "client has asked for it) or 18 (the client may not ask this) of RFC 8914." },
};

const struct words_table words_recursion_keys = { rows, sizeof(rows) / sizeof(rows[0]) };
