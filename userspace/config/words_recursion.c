/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration keys: answers from upstream. */
#include "config/words.h"

static const struct words_key rows[] = {
	{ .path = "recursion",
	  .type = WORDS_MAP,
	  .text = "Answers for names outside the zones, asked upstream. See RECURSION." },
	{ .path = "recursion.allow",
	  .type = WORDS_PREFIXES,
	  .fallback = "[]",
	  .text = "The clients that may ask for recursion: give your own prefixes, since an open resolver "
		  "is used against others. Without any, nothing is asked upstream. A reload turns recursion on and off: "
		  "questions that wait for upstreams when it is turned off are answered SERVFAIL." },
	{ .path = "recursion.forward",
	  .type = WORDS_UPSTREAMS,
	  .fallback = "[]",
	  .text = "Resolvers that are asked instead of the servers of each zone. Without any volleyd "
		  "asks these itself, from the root on. For TLS with the port and the name in its "
		  "certificate: \"192.0.2.1@853#dns.example\". An address at which volleyd itself listens is refused, "
		  "for a question would come back without end." },
	{ .path = "recursion.forward-first",
	  .type = WORDS_BOOL,
	  .fallback = "false",
	  .text = "Whether a question is asked from the root on where no address of recursion.forward gives an answer. It "
		  "is then done by libunbound." },
	{ .path = "recursion.transport",
	  .type = WORDS_CHOICE,
	  .choices = "udp|tcp|tls",
	  .fallback = "udp",
	  .text = "How upstreams are asked: udp, with TCP for what is truncated, tcp always, or tls (RFC "
		  "7858), for which recursion.forward and recursion.tls-bundle are needed: the "
		  "certificate of each has to be valid and for its name, else it is not asked." },
	{ .path = "recursion.tls-bundle",
	  .type = WORDS_PATH,
	  .text = "The file of the certificates that are trusted, in PEM, for recursion.transport: tls, "
		  "such as /etc/ssl/certs/ca-certificates.crt. It is read at the start, and at a "
		  "reload where it has changed. A relative path starts at the folder of the "
		  "configuration file, as for all files here." },
	{ .path = "recursion.stubs",
	  .type = WORDS_MAPS,
	  .text = "Zones whose servers are known: names below them are asked there, not where the root "
		  "or a forwarder leads to." },
	{ .path = "recursion.stubs[].zone",
	  .type = WORDS_DOMAIN,
	  .text = "The name of the zone. Required. Given again, it has more than one server." },
	{ .path = "recursion.stubs[].address",
	  .type = WORDS_UPSTREAM,
	  .text = "One authoritative server of the zone. Required." },
	{ .path = "recursion.stubs[].first",
	  .type = WORDS_BOOL,
	  .fallback = "false",
	  .text = "Whether a name is asked as if there were no stub zone where no server of the zone gives an answer. All "
		  "items of one zone have to say the same, as for the next key." },
	{ .path = "recursion.stubs[].transport",
	  .type = WORDS_CHOICE,
	  .choices = "udp|tcp",
	  .text = "How the servers of this zone are asked. Default: as recursion.transport. Where that is tls it has to be "
		  "said here, since authoritative servers are not asked over TLS." },
	{ .path = "recursion.forward-zones",
	  .type = WORDS_MAPS,
	  .text = "Zones with resolvers of their own: names below them are asked there, not of recursion.forward and not of "
		  "the servers of the zone. A zone is here or in recursion.stubs. With any, questions are asked by "
		  "libunbound." },
	{ .path = "recursion.forward-zones[].zone",
	  .type = WORDS_DOMAIN,
	  .text = "The name of the zone. Required. Given again, it has more than one resolver." },
	{ .path = "recursion.forward-zones[].address",
	  .type = WORDS_UPSTREAM_NAMED,
	  .text = "A resolver, as in recursion.forward. Required." },
	{ .path = "recursion.forward-zones[].first",
	  .type = WORDS_BOOL,
	  .fallback = "false",
	  .text = "Whether a name is asked as if there were no forward zone where no resolver of the zone gives an answer. "
		  "All items of one zone have to say the same, as for the next key." },
	{ .path = "recursion.forward-zones[].transport",
	  .type = WORDS_CHOICE,
	  .choices = "udp|tcp|tls",
	  .text = "How the resolvers of this zone are asked. Default: as recursion.transport. tls needs "
		  "recursion.tls-bundle." },
	{ .path = "recursion.do-ip4",
	  .type = WORDS_BOOL,
	  .fallback = "true",
	  .text = "Whether servers are asked over IPv4. Clients are answered over both. An address of the other family in a "
		  "key here is refused where this is false." },
	{ .path = "recursion.do-ip6",
	  .type = WORDS_BOOL,
	  .fallback = "true",
	  .text = "Whether servers are asked over IPv6." },
	{ .path = "recursion.outgoing-interface",
	  .type = WORDS_HOSTS,
	  .fallback = "[]",
	  .text = "The addresses of this host that servers are asked from; each question takes one at random. Default: the "
		  "kernel chooses. With any, questions are asked by libunbound." },
	{ .path = "recursion.root-hints",
	  .type = WORDS_PATH,
	  .text = "The names and addresses of the root servers, as a master file. Default: those that were "
		  "installed with volleyd, else those of libunbound." },
	{ .path = "recursion.trust-anchor",
	  .type = WORDS_PATH,
	  .text = "A file of DS or DNSKEY records with which answers are validated (RFC 4035). Default: "
		  "none. Without this and the next key nothing is validated. A file without a usable "
		  "record is refused." },
	{ .path = "recursion.auto-trust-anchor",
	  .type = WORDS_PATH,
	  .text = "The same, kept up to date as keys roll (RFC 5011). volleyd writes to the file and makes "
		  "others beside it, so that folder must be its own. Default: none." },
	{ .path = "recursion.domain-insecure",
	  .type = WORDS_DOMAINS,
	  .fallback = "[]",
	  .text = "Names that are not validated, with all below them (negative trust anchors, RFC 7646): a zone "
		  "of your own, below a signed zone that does not know it, or a zone whose signatures are "
		  "broken. Keep the list short, and take names out again." },
	{ .path = "recursion.root-key-sentinel",
	  .type = WORDS_BOOL,
	  .fallback = "true",
	  .text = "Whether names that begin with root-key-sentinel-is-ta- or root-key-sentinel-not-ta- and a number "
		  "tell which keys of the root are trusted here (RFC 8509): where the sentence is not true, the answer is "
		  "SERVFAIL. Only with a trust anchor." },
	{ .path = "recursion.qname-minimisation",
	  .type = WORDS_BOOL,
	  .fallback = "true",
	  .text = "Whether a server is told no more of a name than it needs (RFC 9156)." },
	{ .path = "recursion.qname-minimisation-strict",
	  .type = WORDS_BOOL,
	  .fallback = "false",
	  .text = "Whether it stays so where a server gives an error for the shorter name. Names below broken servers are "
		  "then not answered. Of libunbound." },
	{ .path = "recursion.aggressive-nsec",
	  .type = WORDS_BOOL,
	  .fallback = "true",
	  .text = "Whether the proof that one name does not exist answers for others in the same gap (RFC "
		  "8198), by NSEC or NSEC3. Only what was validated is used; intervals with opt-out and zones "
		  "with more than 10 iterations of NSEC3 are not." },
	{ .path = "recursion.caps-for-id",
	  .type = WORDS_BOOL,
	  .text = "Whether names are asked upstream in random letter case, which a forged reply does not "
		  "know. A forwarder that does not keep it is asked over TCP, and where it does not keep it "
		  "there either, in lower case for ten minutes. Default: true where volleyd forwards by "
		  "itself (see RECURSION); else false." },
	{ .path = "recursion.caps-exempt",
	  .type = WORDS_DOMAINS,
	  .fallback = "[]",
	  .text = "Names that are not asked in random letter case, with all below them: those whose servers do not answer "
		  "it." },
	{ .path = "recursion.harden-glue",
	  .type = WORDS_BOOL,
	  .fallback = "true",
	  .text = "Whether addresses of name servers in a referral are used only where they are within the zone that the "
		  "server is asked for. All keys harden-... are of libunbound; they change nothing where volleyd forwards "
		  "by itself." },
	{ .path = "recursion.harden-referral-path",
	  .type = WORDS_BOOL,
	  .fallback = "false",
	  .text = "Whether the NS records and addresses on the way from the root are asked for and validated as well. This "
		  "takes many more questions." },
	{ .path = "recursion.harden-below-nxdomain",
	  .type = WORDS_BOOL,
	  .fallback = "true",
	  .text = "Whether a name in the answer cache that is proved not to exist denies all names below it (RFC 8020). "
		  "libunbound is not told to do so: it would deny names below an alias, too." },
	{ .path = "recursion.harden-dnssec-stripped",
	  .type = WORDS_BOOL,
	  .fallback = "true",
	  .text = "Whether an answer without signatures is bogus where a trust anchor is for the zone itself. Else "
		  "such a zone is as one that is not signed. Below a DS record an answer without signatures is always "
		  "bogus." },
	{ .path = "recursion.harden-algo-downgrade",
	  .type = WORDS_BOOL,
	  .fallback = "false",
	  .text = "Whether a zone has to be signed with all algorithms of its DS records. Else one of them is enough." },
	{ .path = "recursion.private-address",
	  .type = WORDS_PREFIXES,
	  .fallback = "[]",
	  .text = "Prefixes that no public name may have an address in: such addresses are taken out of answers, so that no "
		  "foreign page reaches servers in your network (DNS rebinding). Zones, local data and recursion.rpz may "
		  "have them. With any, questions are asked by libunbound." },
	{ .path = "recursion.private-domain",
	  .type = WORDS_DOMAINS,
	  .fallback = "[]",
	  .text = "Names that may have them, with all below: exceptions to recursion.private-address." },
	{ .path = "recursion.dns64",
	  .type = WORDS_BOOL,
	  .fallback = "false",
	  .text = "Whether a name with IPv4 addresses alone gets IPv6 addresses made of these (RFC 6147), for clients "
		  "behind a NAT64. It is for all clients that recurse here: see RECURSION." },
	{ .path = "recursion.dns64-prefix",
	  .type = WORDS_TEXT,
	  .min = 3,
	  .max = 43,
	  .text = "The prefix of these addresses: 32, 40, 48, 56, 64 or 96 bits. Default: 64:ff9b::/96 (RFC 6052)." },
	{ .path = "recursion.dns64-synthall",
	  .type = WORDS_BOOL,
	  .fallback = "false",
	  .text = "Whether names that have IPv6 addresses get addresses made of IPv4 ones all the same. For tests." },
	{ .path = "recursion.query-localhost",
	  .type = WORDS_BOOL,
	  .fallback = "false",
	  .text = "Whether upstreams may be on 127.0.0.0/8 and ::1." },
	{ .path = "recursion.root-copy",
	  .type = WORDS_BOOL,
	  .fallback = "false",
	  .text = "Whether the zone . of zones is a local copy of the root (RFC 8806): the resolver asks it in the place of the "
		  "root servers, and no client can ask for it. See RECURSION." },
	{ .path = "recursion.threads",
	  .type = WORDS_COUNT,
	  .min = 1,
	  .max = 16,
	  .fallback = "1",
	  .text = "Threads that ask upstream, beside the workers." },
	{ .path = "recursion.max-outstanding",
	  .type = WORDS_COUNT,
	  .min = 16,
	  .max = 4194304,
	  .fallback = "131072",
	  .text = "Questions that wait for upstreams at a time. What comes on top gets SERVFAIL, and so does "
		  "a client (as in max-per-client) that has 8 or more, and 4 times as many as are free. A reload "
		  "does not go over what was said when volleyd first had a recursion.allow." },
	{ .path = "recursion.max-per-client",
	  .type = WORDS_COUNT,
	  .min = 0,
	  .max = 4194304,
	  .fallback = "0",
	  .text = "The same of one client: an IPv4 address, or the first 64 bits of an IPv6 address. 0: no "
		  "limit." },
	{ .path = "recursion.upstream-timeout",
	  .type = WORDS_MS,
	  .min = 100,
	  .max = 60000,
	  .fallback = "2s",
	  .text = "The longest wait for one reply of a server, before it or another is asked again." },
	{ .path = "recursion.max-query-restarts",
	  .type = WORDS_COUNT,
	  .min = 1,
	  .max = 100,
	  .fallback = "11",
	  .text = "How many aliases of a chain are followed to other names, then SERVFAIL. Of libunbound." },
	{ .path = "recursion.outbound-msg-retry",
	  .type = WORDS_COUNT,
	  .min = 1,
	  .max = 100,
	  .text = "How often a server is asked again that does not reply to a question, before it counts as failed for this "
		  "question. Default: 5 with libunbound. Where volleyd forwards by itself it asks until no client waits, "
		  "and with this key so often." },
	{ .path = "recursion.target-fetch-policy",
	  .type = WORDS_TEXT,
	  .min = 1,
	  .max = 64,
	  .text = "How many addresses of name servers are looked up before they are needed, at each depth of such look-ups: "
		  "numbers with spaces between them, as in unbound.conf(5). -1: all. Default: '3 2 1 0 0', libunbound's "
		  "own." },
	{ .path = "recursion.query-timeout",
	  .type = WORDS_MS,
	  .min = 100,
	  .max = 60000,
	  .fallback = "5s",
	  .text = "The longest wait of a client. After that it gets SERVFAIL." },
	{ .path = "recursion.max-ttl",
	  .type = WORDS_SECONDS,
	  .min = 1,
	  .max = 7 * 86400,
	  .fallback = "1d",
	  .text = "The longest time for which an answer is kept and told to be good." },
	{ .path = "recursion.min-ttl",
	  .type = WORDS_SECONDS,
	  .min = 0,
	  .max = 3600,
	  .fallback = "0",
	  .text = "The shortest. More than 0 keeps answers longer than their owners wish." },
	{ .path = "recursion.max-negative-ttl",
	  .type = WORDS_SECONDS,
	  .min = 1,
	  .max = 86400,
	  .fallback = "1h",
	  .text = "The longest time for answers that say that there is nothing (RFC 2308), and for which an "
		  "NSEC3 record denies other names." },
	{ .path = "recursion.serve-stale",
	  .type = WORDS_SECONDS,
	  .min = 0,
	  .max = 7 * 86400,
	  .fallback = "0",
	  .text = "How long after it has expired an answer may still be given where upstreams do not reply "
		  "(RFC 8767). 0: never." },
	{ .path = "recursion.stale-client-timeout",
	  .type = WORDS_MS,
	  .min = 0,
	  .max = 60000,
	  .fallback = "1800ms",
	  .text = "How long a client waits for a fresh answer before it gets such a stale one. 0: it gets the stale "
		  "one at once, and a fresh one is asked for behind it." },
	{ .path = "recursion.stale-reply-ttl",
	  .type = WORDS_SECONDS,
	  .min = 1,
	  .max = 3600,
	  .fallback = "30",
	  .text = "The TTL of stale answers." },
	{ .path = "recursion.prefetch",
	  .type = WORDS_BOOL,
	  .fallback = "true",
	  .text = "Whether an answer that is asked for in the last tenth of its life is fetched anew before it "
		  "expires, from a TTL of 8 seconds on. So names that are in use never make a client wait. "
		  "They are fetched up to 11 % more often; one answer is fetched anew once, however many ask." },
	{ .path = "recursion.local-data",
	  .type = WORDS_RECORDS,
	  .fallback = "[]",
	  .text = "Records that are answered instead of what upstreams would say, to clients that may ask "
		  "for recursion. A name that has any has no others. The configuration is refused if one of them cannot be "
		  "read, or if they cannot stand together in a zone." },
	{ .path = "recursion.special-names",
	  .type = WORDS_BOOL,
	  .fallback = "true",
	  .text = "Whether names that have no place in the public DNS are answered here, and not asked "
		  "upstream. See RECURSION for which these are. For one of them, or a name below it, "
		  "zones, recursion.stubs, recursion.local-data and recursion.rpz come first." },
	{ .path = "recursion.special-names-off",
	  .type = WORDS_DOMAINS,
	  .fallback = "[]",
	  .text = "The special names that are asked upstream all the same: each item stands for itself and "
		  "all special names below it. [172.in-addr.arpa, home.arpa] is good where the "
		  "resolvers of recursion.forward know such names." },
	{ .path = "recursion.rpz",
	  .type = WORDS_MAPS,
	  .text = "Response policy zones: what is answered otherwise than upstreams would. See RESPONSE POLICY ZONES. "
		  "Where a file does not load, the version that was loaded before "
		  "stays in force; at a start there is none, and nothing is filtered by this list. volleyctl policy list, "
		  "status, health and metrics tell of both." },
	{ .path = "recursion.rpz[].name",
	  .type = WORDS_DOMAIN,
	  .text = "The name of the policy zone. Required, and none twice." },
	{ .path = "recursion.rpz[].file", .type = WORDS_PATH, .text = "Its master file. Required." },
	{ .path = "recursion.rpz[].zone",
	  .type = WORDS_DOMAIN,
	  .text = "In the place of name and file: the zone of this name that is served here, of zones or of a catalog, is the policy zone. "
		  "So it may come from primaries, with a key and NOTIFY; its changes hold as soon as they are served. While it is not "
		  "served, or no more, the version that was in force stays; where there is none, nothing is filtered by it. Who may ask "
		  "for our zones (server.allow) can read it." },
	{ .path = "recursion.rpz[].ede",
	  .type = WORDS_CHOICE,
	  .choices = "blocked|censored|filtered|prohibited",
	  .fallback = "blocked",
	  .text = "Why its rules change answers, for clients with EDNS: the code 15 (the operator blocks it), 16 (somebody else demands it), 17 (the "
		  "client has asked for it) or 18 (the client may not ask this) of RFC 8914." },
};

const struct words_table words_recursion_keys = { rows, sizeof(rows) / sizeof(rows[0]) };
