/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration keys: answers from upstream. */
#include "config/rows.h"
#include "dns/proto.h"

static const struct words_key rows[] = {
	{ ROW("recursion", WORDS_MAP, struct config, recursion),
	  .text = "How volleyd answers questions about names outside its zones, for which it "
		  "asks other name servers. See RECURSION." },
	{ ROW_ARRAY("recursion.allow", WORDS_PREFIXES, struct config_recursion, allow, n_allow),
	  .fallback = "[]",
	  .text = "The clients that may ask for recursion. "
		  "Give your own prefixes only, because an open resolver "
		  "is used to attack others. "
		  "Without any prefix, nothing is asked upstream. "
		  "A reload turns recursion on and off. "
		  "When it is turned off, questions that wait for "
		  "upstreams are answered SERVFAIL." },
	{ ROW("recursion.forward", WORDS_UPSTREAMS, struct config_recursion, forward),
	  .fallback = "[]",
	  .text = "Resolvers that are asked instead of the servers of each zone. "
		  "Without any, volleyd asks the servers itself, from the root on. "
		  "For TLS, give the port and the name in the certificate: "
		  "\"192.0.2.1@853#dns.example\". "
		  "An address at which volleyd itself listens is refused, because the "
		  "question would go round for ever." },
	{ ROW("recursion.forward-first", WORDS_BOOL, struct config_recursion, forward_first),
	  .fallback = "false",
	  .text = "Whether a question is asked from the root on if no address of "
		  "recursion.forward answers it. libunbound then asks all questions." },
	{ ROW("recursion.transport", WORDS_CHOICE, struct config_recursion, transport),
	  .choices = "udp|tcp|tls", .fallback = "udp",
	  .text = "How upstreams are asked: udp, with TCP for truncated answers; tcp always; or "
		  "tls (RFC 7858). tls needs recursion.forward and recursion.tls-bundle. "
		  "An upstream whose certificate is not valid, or not "
		  "for its name, is not asked." },
	{ ROW("recursion.tls-bundle", WORDS_PATH, struct config_recursion, tls_bundle),
	  .text = "The file of trusted certificates, in PEM, for recursion.transport: tls, such "
		  "as /etc/ssl/certs/ca-certificates.crt. "
		  "It is read at the start, and by a reload if it has changed. "
		  "A relative path starts at the folder of the configuration "
		  "file, as for all files here." },
	{ ROW_ARRAY("recursion.stubs", WORDS_MAPS, struct config_recursion, stubs, n_stubs),
	  .text = "Zones with known servers. "
		  "Names below such a zone are asked there, and not from "
		  "the root or a forwarder on." },
	{ ROW("recursion.stubs[].zone", WORDS_DOMAIN, struct config_stub, zone),
	  .is_required = true,
	  .text = "The name of the zone. "
		  "Required. "
		  "A zone with several servers is given several times." },
	{ ROW("recursion.stubs[].address", WORDS_UPSTREAM, struct config_stub, address),
	  .is_required = true,
	  .text = "An authoritative server of the zone. "
		  "Required." },
	{ ROW("recursion.stubs[].first", WORDS_BOOL, struct config_stub, first),
	  .fallback = "false",
	  .text = "Whether a name is asked as if there were no stub zone, if no "
		  "server of the zone answers. "
		  "All items of one zone must have the same value, also of the next key." },
	{ ROW("recursion.stubs[].transport", WORDS_CHOICE, struct config_stub, transport),
	  .choices = "udp|tcp",
	  .text = "How the servers of this zone are asked. "
		  "Default: as recursion.transport. "
		  "If that is tls, this key is required, because authoritative "
		  "servers are not asked over TLS." },
	{ ROW_ARRAY("recursion.forward-zones", WORDS_MAPS, struct config_recursion, forward_zones,
		    n_forward_zones),
	  .text = "Zones with resolvers of their own. "
		  "Names below such a zone are asked there, and neither of recursion.forward "
		  "nor of the servers of the zone. "
		  "A zone may not be in recursion.stubs, too. "
		  "With any, libunbound asks all questions." },
	{ ROW("recursion.forward-zones[].zone", WORDS_DOMAIN, struct config_stub, zone),
	  .is_required = true,
	  .text = "The name of the zone. "
		  "Required. "
		  "A zone with several resolvers is given several times." },
	{ ROW("recursion.forward-zones[].address", WORDS_UPSTREAM_NAMED, struct config_stub,
	      address),
	  .is_required = true,
	  .text = "A resolver, as in recursion.forward. "
		  "Required." },
	{ ROW("recursion.forward-zones[].first", WORDS_BOOL, struct config_stub, first),
	  .fallback = "false",
	  .text = "Whether a name is asked as if there were no forward zone, if no "
		  "resolver of the zone answers. "
		  "All items of one zone must have the same value, also of the next key." },
	{ ROW("recursion.forward-zones[].transport", WORDS_CHOICE, struct config_stub, transport),
	  .choices = "udp|tcp|tls",
	  .text = "How the resolvers of this zone are asked. "
		  "Default: as recursion.transport. tls needs recursion.tls-bundle." },
	{ ROW("recursion.do-ip4", WORDS_BOOL, struct config_recursion, do_ip4), .fallback = "true",
	  .text = "Whether servers are asked over IPv4. "
		  "Clients are answered over IPv4 and IPv6 in any case. "
		  "With false, IPv4 addresses in the other keys of recursion are refused." },
	{ ROW("recursion.do-ip6", WORDS_BOOL, struct config_recursion, do_ip6), .fallback = "true",
	  .text = "Whether servers are asked over IPv6; see recursion.do-ip4." },
	{ ROW("recursion.outgoing-interface", WORDS_HOSTS, struct config_recursion,
	      outgoing_interface),
	  .fallback = "[]",
	  .text = "The addresses of this host from which servers are asked; each "
		  "question takes one at random. "
		  "Default: the kernel chooses. "
		  "With any, libunbound asks all questions." },
	{ ROW("recursion.root-hints", WORDS_PATH, struct config_recursion, root_hints),
	  .text = "The names and addresses of the root servers, as a master file. "
		  "Default: the file that was installed with volleyd, "
		  "else the list in libunbound." },
	{ ROW("recursion.trust-anchor", WORDS_PATH, struct config_recursion, trust_anchor),
	  .text = "A file of DS or DNSKEY records, by which answers are validated (RFC 4035). "
		  "Without this key and the next one nothing is validated. "
		  "A file without a usable record is refused. "
		  "Default: none." },
	{ ROW("recursion.auto-trust-anchor", WORDS_PATH, struct config_recursion,
	      auto_trust_anchor),
	  .text = "A file as for recursion.trust-anchor that is kept up to date when keys roll "
		  "(RFC 5011). volleyd writes to the file and makes other files beside it, so "
		  "the folder must belong to its user. The resolver's process may write to all "
		  "of that folder, so let it have nothing else. "
		  "Default: none." },
	{ ROW("recursion.domain-insecure", WORDS_DOMAINS, struct config_recursion, domain_insecure),
	  .fallback = "[]",
	  .text = "Names that are not validated, with all names below them (negative trust "
		  "anchors, RFC 7646): a zone of your own below a signed zone that does not "
		  "know it, or a zone with broken signatures. "
		  "Keep the list short, and remove names again." },
	{ ROW("recursion.root-key-sentinel", WORDS_BOOL, struct config_recursion,
	      root_key_sentinel),
	  .fallback = "true",
	  .text = "Whether clients can find out which keys of the root are trusted here (RFC "
		  "8509). A client asks for a name whose first label is "
		  "root-key-sentinel-is-ta- or root-key-sentinel-not-ta- with the tag of a key "
		  "behind it. The label says that the key is trusted, or is not trusted. "
		  "If that is false, the answer is SERVFAIL. Needs a trust anchor." },
	{ ROW("recursion.qname-minimisation", WORDS_BOOL, struct config_recursion,
	      qname_minimisation),
	  .fallback = "true",
	  .text = "Whether a server is sent only the part of the name that it needs (RFC 9156)." },
	{ ROW("recursion.qname-minimisation-strict", WORDS_BOOL, struct config_recursion,
	      qname_minimisation_strict),
	  .fallback = "false",
	  .text = "Whether the whole name is also withheld from a server that answers a "
		  "shorter name with an error. "
		  "Names below such servers are then not answered. "
		  "For libunbound only." },
	{ ROW("recursion.aggressive-nsec", WORDS_BOOL, struct config_recursion, aggressive_nsec),
	  .fallback = "true",
	  .text = "Whether a proof that one name does not exist also answers for other names in "
		  "the same interval (RFC 8198), by NSEC or NSEC3. "
		  "Only validated proofs are used. "
		  "Intervals with opt-out, and zones with more than 10 "
		  "iterations of NSEC3, are not used." },
	{ ROW("recursion.caps-for-id", WORDS_BOOL, struct config_recursion, caps_for_id),
	  .text = "Whether names are asked upstream in random letter case, which "
		  "makes forged replies harder. "
		  "A forwarder that does not keep the case is asked over TCP. If it does not "
		  "keep the case there either, it is asked in lower case for ten minutes. "
		  "Default: true if volleyd itself forwards (see RECURSION), else false." },
	{ ROW("recursion.caps-exempt", WORDS_DOMAINS, struct config_recursion, caps_exempt),
	  .fallback = "[]",
	  .text = "Names that are not asked in random letter case, with all names below them, "
		  "because their servers do not answer such queries." },
	{ ROW("recursion.harden-glue", WORDS_BOOL, struct config_recursion, harden_glue),
	  .fallback = "true",
	  .text = "Whether addresses of name servers in a referral are used only if they are "
		  "within the zone of the server that gave them. "
		  "All keys harden-... are for libunbound; they have no effect "
		  "if volleyd itself forwards." },
	{ ROW("recursion.harden-referral-path", WORDS_BOOL, struct config_recursion,
	      harden_referral_path),
	  .fallback = "false",
	  .text = "Whether the NS records and addresses on the way from the root are "
		  "also asked for and validated. "
		  "This takes many more questions." },
	{ ROW("recursion.harden-below-nxdomain", WORDS_BOOL, struct config_recursion,
	      harden_below_nxdomain),
	  .fallback = "true",
	  .text = "Whether a name in the answer cache that is proved not to exist denies all "
		  "names below it (RFC 8020). "
		  "This option of libunbound itself stays off, because libunbound would also "
		  "deny names below an alias." },
	{ ROW("recursion.harden-dnssec-stripped", WORDS_BOOL, struct config_recursion,
	      harden_dnssec_stripped),
	  .fallback = "true",
	  .text = "Whether an answer without signatures is bogus if there is a trust "
		  "anchor for the zone itself. "
		  "With false, such a zone counts as unsigned. "
		  "Below a DS record an answer without signatures is always bogus." },
	{ ROW("recursion.harden-algo-downgrade", WORDS_BOOL, struct config_recursion,
	      harden_algo_downgrade),
	  .fallback = "false",
	  .text = "Whether a zone must be signed with all algorithms of its DS records. "
		  "With false, one of them is enough." },
	{ ROW("recursion.harden-unverified-glue", WORDS_BOOL, struct config_recursion,
	      harden_unverified_glue),
	  .fallback = "false",
	  .text = "A referral may have addresses of name servers whose names are outside the "
		  "zone of the server that sent it. With true, such an address is used only "
		  "after libunbound has asked for it itself. "
		  "Needs libunbound 1.22 or later: with an older one volleyd does not start." },
	{ ROW("recursion.harden-unknown-additional", WORDS_BOOL, struct config_recursion,
	      harden_unknown_additional),
	  .fallback = "false",
	  .text = "Whether records of types that do not belong into the authority and the "
		  "additional section of a reply are removed from it. "
		  "Needs libunbound 1.18 or later: with an older one volleyd does not start." },
	{ ROW("recursion.private-address", WORDS_PREFIXES, struct config_recursion,
	      private_address),
	  .fallback = "[]",
	  .text = "Prefixes in which no public name may have an address. "
		  "Such addresses are removed from answers, so that no foreign web page reaches "
		  "servers in your network (DNS rebinding). "
		  "Zones, local data and recursion.rpz may have them. "
		  "An IPv4 prefix also applies to IPv4-mapped IPv6 addresses; others with an IPv4 "
		  "address in them (64:ff9b::/96, 2002::/16, ::/96) need prefixes of their own. "
		  "With any, libunbound asks all questions." },
	{ ROW("recursion.private-domain", WORDS_DOMAINS, struct config_recursion, private_domain),
	  .fallback = "[]",
	  .text = "Exceptions to recursion.private-address: names that may have such addresses, "
		  "with all names below them." },
	{ ROW_OF("recursion.dns64", WORDS_BOOL), .fallback = "false",
	  .text = "Whether a name that has only IPv4 addresses gets IPv6 addresses that are "
		  "made of them (RFC 6147), for clients behind a NAT64. "
		  "This applies to all clients that recurse here: see RECURSION." },
	{ ROW("recursion.dns64-prefix", WORDS_TEXT, struct config_recursion, dns64_prefix),
	  .min = 3, .max = 43,
	  .text = "The prefix of these addresses: 32, 40, 48, 56, 64 or 96 bits. "
		  "Default: 64:ff9b::/96 (RFC 6052)." },
	{ ROW("recursion.dns64-synthall", WORDS_BOOL, struct config_recursion, dns64_synthall),
	  .fallback = "false",
	  .text = "Whether names with IPv6 addresses also get addresses "
		  "that are made of IPv4 ones. "
		  "For tests." },
	{ ROW("recursion.query-localhost", WORDS_BOOL, struct config_recursion, query_localhost),
	  .fallback = "false", .text = "Whether upstreams may be in 127.0.0.0/8 and at ::1." },
	{ ROW("recursion.root-copy", WORDS_BOOL, struct config_recursion, root_copy),
	  .fallback = "false",
	  .text = "Whether the zone . of zones is a local copy of the root (RFC 8806). "
		  "The resolver asks it in place of the root servers, and "
		  "clients cannot ask for it. "
		  "See RECURSION." },
	{ ROW("recursion.threads", WORDS_COUNT, struct config_recursion, n_threads), .min = 1,
	  .max = 16, .fallback = "1",
	  .text = "The number of threads that ask "
		  "upstream, beside the workers." },
	{ ROW("recursion.max-outstanding", WORDS_COUNT, struct config_recursion, max_outstanding),
	  .min = 16, .max = 4194304, .fallback = "131072",
	  .text = "The number of questions that may wait for upstreams at the same time. "
		  "Further questions get SERVFAIL. So does a client (as in max-per-client) that "
		  "has 8 or more questions waiting, and more than 4 times as many "
		  "as there are free places. "
		  "A reload cannot raise this above its value at the first recursion.allow." },
	{ ROW("recursion.memory-max", WORDS_SIZE, struct config_recursion, memory_max_bytes),
	  .min = 64ULL << 20, .max = 64ULL << 30, .fallback = "1G",
	  .text = "The memory that the resolver's process may have resident. "
		  "If it has more, it is ended and started again, and the questions that it has "
		  "get stale answers or SERVFAIL. It is looked at once a second." },
	{ ROW("recursion.max-per-client", WORDS_COUNT, struct config_recursion, max_per_client),
	  .min = 0, .max = 4194304, .fallback = "0",
	  .text = "The number of waiting questions of one client, that is an IPv4 address, or "
		  "the first 64 bits of an IPv6 address. "
		  "0: no limit." },
	{ ROW("recursion.upstream-timeout", WORDS_MS, struct config_recursion, upstream_timeout_ms),
	  .min = 100, .max = 60000, .fallback = "2s",
	  .text = "The longest wait for a reply of a server, before it or "
		  "another server is asked again." },
	{ ROW("recursion.max-query-restarts", WORDS_COUNT, struct config_recursion,
	      max_query_restarts),
	  .min = 1, .max = 100, .fallback = "11",
	  .text = "The number of aliases in a chain that are followed to other names; a longer "
		  "chain gets SERVFAIL. For libunbound only." },
	{ ROW("recursion.max-global-quota", WORDS_COUNT, struct config_recursion, max_global_quota),
	  .min = 1, .max = 10000,
	  .text = "The number of queries upstream that one question may bring about; then it "
		  "fails. "
		  "Needs libunbound 1.22 or later: with an older one volleyd does not start. "
		  "Default: libunbound's, 200 in 1.26; 1.17 has no such limit. "
		  "For libunbound only." },
	{ ROW("recursion.outbound-msg-retry", WORDS_COUNT, struct config_recursion,
	      outbound_msg_retry),
	  .min = 1, .max = 100,
	  .text = "How often a server that does not reply to a question is asked again, before "
		  "it counts as failed for this question. "
		  "Default: 5 with libunbound. "
		  "If volleyd itself forwards, it asks until no client waits; with "
		  "this key, as often as it says." },
	{ ROW("recursion.target-fetch-policy", WORDS_TEXT, struct config_recursion,
	      target_fetch_policy),
	  .min = 1, .max = 64,
	  .text = "How many addresses of name servers are looked up before they are needed, at "
		  "each depth of such look-ups: numbers with spaces between them, as in "
		  "unbound.conf(5). -1: all. "
		  "Default: '3 2 1 0 0', libunbound's own." },
	{ ROW("recursion.query-timeout", WORDS_MS, struct config_recursion, query_timeout_ms),
	  .min = 100, .max = 60000, .fallback = "5s",
	  .text = "The longest time that a client waits. "
		  "After that it gets SERVFAIL." },
	{ ROW("recursion.max-ttl", WORDS_SECONDS, struct config_recursion, max_ttl_s), .min = 1,
	  .max = 7 * 86400, .fallback = "1d",
	  .text = "The longest time for which an answer is kept, and the "
		  "largest TTL that clients get." },
	{ ROW("recursion.min-ttl", WORDS_SECONDS, struct config_recursion, min_ttl_s), .min = 0,
	  .max = 3600, .fallback = "0",
	  .text = "The shortest time for which an answer is kept. "
		  "More than 0 keeps answers longer than their owners wish." },
	{ ROW("recursion.max-negative-ttl", WORDS_SECONDS, struct config_recursion,
	      max_negative_ttl_s),
	  .min = 1, .max = 86400, .fallback = "1h",
	  .text = "The longest time for which a negative answer (RFC 2308) is kept, and for "
		  "which an NSEC3 record denies other names." },
	{ ROW("recursion.serve-stale", WORDS_SECONDS, struct config_recursion, serve_stale_s),
	  .min = 0, .max = 7 * 86400, .fallback = "0",
	  .text = "How long an expired answer may still be given if "
		  "upstreams do not reply (RFC 8767). "
		  "0: never." },
	{ ROW("recursion.stale-client-timeout", WORDS_MS, struct config_recursion,
	      stale_client_timeout_ms),
	  .min = 0, .max = 60000, .fallback = "1800ms",
	  .text = "How long a client waits for a fresh answer before it gets an expired one. "
		  "0: it gets the expired answer at once, and volleyd asks "
		  "for a fresh one after that." },
	{ ROW("recursion.stale-reply-ttl", WORDS_SECONDS, struct config_recursion,
	      stale_reply_ttl_s),
	  .min = 1, .max = 3600, .fallback = "30", .text = "The TTL of expired answers." },
	{ ROW("recursion.prefetch", WORDS_BOOL, struct config_recursion, prefetch),
	  .fallback = "true",
	  .text = "Whether an answer that is asked for in the last tenth of its life is fetched "
		  "again before it expires; for TTLs of 8 seconds or more. "
		  "So clients do not wait for names that are in use. "
		  "These names are fetched up to 11 % more often. "
		  "An answer is fetched once, however many clients ask." },
	{ ROW("recursion.local-data", WORDS_RECORDS, struct config_recursion, local_data),
	  .fallback = "[]",
	  .text = "Records that clients get in place of answers from upstream, if "
		  "they may ask for recursion. "
		  "A name with local data has no other records. "
		  "The configuration is refused if a record cannot be read, or if the "
		  "records cannot be in one zone." },
	{ ROW("recursion.special-names", WORDS_BOOL, struct config_recursion, special_names),
	  .fallback = "true",
	  .text = "Whether names that have no place in the public DNS are answered "
		  "here and not asked upstream. "
		  "RECURSION lists them. "
		  "For such a name, or a name below it, zones, recursion.stubs, "
		  "recursion.local-data and recursion.rpz come first." },
	{ ROW("recursion.special-names-off", WORDS_DOMAINS, struct config_recursion,
	      special_names_off),
	  .fallback = "[]",
	  .text = "Special names that are asked upstream all the same: each item stands for "
		  "itself and all special names below it. "
		  "Use [172.in-addr.arpa, home.arpa] if the resolvers of "
		  "recursion.forward know such names." },
	{ ROW_ARRAY("recursion.rpz", WORDS_MAPS, struct config_recursion, rpz, n_rpz),
	  .text = "Response policy zones, which change answers from upstream. "
		  "See RESPONSE POLICY ZONES. If a file does not load, the version that was "
		  "loaded before stays in force. "
		  "At a start there is none, and this list filters nothing. volleyctl policy "
		  "list, status, health and metrics report this." },
	{ ROW("recursion.rpz[].name", WORDS_DOMAIN, struct config_rpz, name),
	  .text = "The name of the policy zone. "
		  "Required; each name only once." },
	{ ROW("recursion.rpz[].file", WORDS_PATH, struct config_rpz, file),
	  .text = "The master file of the policy zone. "
		  "Required." },
	{ ROW_OF("recursion.rpz[].zone", WORDS_DOMAIN),
	  .text = "In place of name and file: the name of a zone that is served here, from "
		  "zones or from a catalog, and is the policy zone. "
		  "So it may come from primaries, with a key and NOTIFY. Its changes are in "
		  "force as soon as they are served. "
		  "If it is no longer served, the version that was in force stays. "
		  "If it was never served, it filters nothing. "
		  "Clients that may ask for our zones (server.allow) can read it." },
	{ ROW("recursion.rpz[].ede", WORDS_CHOICE, struct config_rpz, ede_code),
	  .min = DNS_EDE_BLOCKED, .choices = "blocked|censored|filtered|prohibited",
	  .fallback = "blocked",
	  .text = "The extended error (RFC 8914) in answers that the rules of this list change, "
		  "for clients with EDNS: 15 (the operator blocks the name), 16 (somebody else "
		  "demands it), 17 (the client has asked for it) or 18 (the client may not ask)." },
};

const struct words_table words_recursion_keys = { rows, sizeof(rows) / sizeof(rows[0]) };
