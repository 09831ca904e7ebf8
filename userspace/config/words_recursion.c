/* SPDX-License-Identifier: GPL-2.0-only */
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
		  "is used against others. Without any at the start, nothing is asked upstream until "
		  "volleyd is started again." },
	{ .path = "recursion.forward",
	  .type = WORDS_UPSTREAMS,
	  .fallback = "[]",
	  .text = "Resolvers that are asked instead of the servers of each zone. Without any volleyd "
		  "asks these itself, from the root on. For TLS with the port and the name in its "
		  "certificate: \"192.0.2.1@853#dns.example\". An address at which volleyd itself listens is refused, "
		  "for a question would come back without end." },
	{ .path = "recursion.transport",
	  .type = WORDS_CHOICE,
	  .choices = "udp|tcp|tls",
	  .fallback = "udp",
	  .text = "How upstreams are asked: udp, with TCP for what is truncated, tcp always, or tls (RFC "
		  "7858), for which recursion.forward and recursion.tls-bundle are needed: the "
		  "certificate of each has to be valid and for its name, else it is not asked. With "
		  "a trust anchor or stubs tls needs a libunbound that was built with it." },
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
	{ .path = "recursion.qname-minimisation",
	  .type = WORDS_BOOL,
	  .fallback = "true",
	  .text = "Whether a server is told no more of a name than it needs (RFC 9156)." },
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
		  "there either, in lower case for ten minutes. Default: true where questions are only "
		  "forwarded, without a trust anchor and stubs; else false." },
	{ .path = "recursion.query-localhost",
	  .type = WORDS_BOOL,
	  .fallback = "false",
	  .text = "Whether upstreams may be on 127.0.0.0/8 and ::1." },
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
		  "does not go over what was said at the start." },
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
	  .min = 10,
	  .max = 60000,
	  .fallback = "1800ms",
	  .text = "How long a client waits for a fresh answer before it gets such a stale one." },
	{ .path = "recursion.prefetch",
	  .type = WORDS_BOOL,
	  .fallback = "true",
	  .text = "Whether answers that are in use are asked for anew shortly before they expire, from a "
		  "TTL of 8 seconds on." },
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
	  .text = "Response policy zones: which names are answered otherwise than upstreams would. The "
		  "first that has a rule for a name decides. Where a file does not load, the version that was loaded before "
		  "stays in force; at a start there is none, and names are answered as upstreams say. volleyctl policy list, "
		  "status, health and metrics tell of both." },
	{ .path = "recursion.rpz[].name",
	  .type = WORDS_DOMAIN,
	  .text = "The name of the policy zone. Required, and none twice." },
	{ .path = "recursion.rpz[].file",
	  .type = WORDS_PATH,
	  .text = "Its master file. Required. A record NAME.ZONE is a rule for questions for NAME, *.NAME.ZONE for all below "
		  "it: CNAME . says NXDOMAIN, CNAME *. NODATA, CNAME rpz-passthru. as if there were no rule, CNAME rpz-drop. "
		  "gives no reply, CNAME rpz-tcp-only. a reply with TC=1 over UDP. CNAME to another name is answered as an alias, and "
		  "what it leads to is asked for, in our zones, local data or upstream; in CNAME *.OTHER the asterisk stands for the name that "
		  "was asked for. Other records are the answer. Other triggers (rpz-ip, rpz-client-ip, rpz-nsip, rpz-nsdname) are "
		  "ignored." },
};

const struct words_table words_recursion_keys = { rows, sizeof(rows) / sizeof(rows[0]) };
