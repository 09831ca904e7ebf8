/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration keys: zones, and the name servers, keys and policies that they name. */
#include "config/rows.h"

#define SIZE_T (1ull << 40)

static const struct words_key rows[] = {
	{ ROW_ARRAY("keys", WORDS_MAPS, struct config, keys, n_keys),
	  .text = "Keys that messages between name servers are signed with (TSIG, RFC 8945)." },
	{ ROW("keys[].name", WORDS_DOMAIN, struct config_tsig_key, name), .is_required = true,
	  .is_unique = true,
	  .text = "The name of the key, the same at both ends. Required, and none twice." },
	{ ROW("keys[].algorithm", WORDS_CHOICE, struct config_tsig_key, algorithm),
	  .choices = "hmac-sha256|hmac-sha384|hmac-sha512|hmac-sha224|hmac-sha1|hmac-md5",
	  .fallback = "hmac-sha256",
	  .text = "The algorithm, the same at both ends. hmac-sha1 and hmac-md5 are for servers "
		  "that have no "
		  "better one: they are weak, and a warning says so." },
	{ ROW_ARRAY("keys[].secret", WORDS_BASE64, struct config_tsig_key, secret, n_secret),
	  .min = 16, .max = 1024, .is_secret = true,
	  .text = "The secret. Keep the file unreadable to others, or give the next key instead. "
		  "One of the "
		  "two is required." },
	{ ROW_OF("keys[].secret-file", WORDS_PATH),
	  .text = "A file that has the secret and nothing else, in the same form, and that not "
		  "everyone "
		  "can read. It is read with the configuration. A relative path starts at the "
		  "folder of "
		  "that." },
	{ ROW_ARRAY("remotes", WORDS_MAPS, struct config, remotes, n_remotes),
	  .text = "Other name servers, by a name that zones use: as primaries, to be notified, or "
		  "both." },
	{ ROW("remotes[].name", WORDS_NAME, struct config_remote, name), .is_required = true,
	  .is_unique = true, .min = 1, .max = 63, .text = "Any name. Required, and none twice." },
	{ ROW_ARRAY("remotes[].address", WORDS_PEERS, struct config_remote, addresses, n_addresses),
	  .is_required = true,
	  .text = "Its addresses, tried in turn. Required, and none twice. The usual port is 53, "
		  "with tls "
		  "853." },
	{ ROW_ARRAY("remotes[].source", WORDS_PEERS, struct config_remote, source, n_source),
	  .text = "Addresses of this host to ask it from, one of IPv4 and one of IPv6 at most. "
		  "Default: "
		  "the kernel chooses." },
	{ ROW("remotes[].key", WORDS_DOMAIN, struct config_remote, key),
	  .text = "The name of one of keys, for all that is asked of it and told to it. Default: "
		  "none." },
	{ ROW("remotes[].tls", WORDS_CHOICE, struct config_remote, tls),
	  .choices = "off|opportunistic|strict", .fallback = "off",
	  .text = "Whether it is asked and notified over TLS (RFC 9103): opportunistic encrypts, "
		  "whoever "
		  "answers; strict takes nothing unless the server proves who it is, for which "
		  "tls-name, "
		  "tls-pin or both are needed." },
	{ ROW("remotes[].tls-name", WORDS_DOMAIN, struct config_remote, tls_name),
	  .text = "The name that its certificate must be for." },
	{ ROW("remotes[].tls-bundle", WORDS_PATH, struct config_remote, tls_bundle),
	  .text = "The file of the authorities that are trusted for that, in PEM. A relative path "
		  "starts at "
		  "the folder of the configuration file. Default: those of the system." },
	{ ROW("remotes[].tls-pin", WORDS_BASE64, struct config_remote, tls_pin), .min = 32,
	  .max = 32,
	  .text = "The SHA-256 digest of its public key (SPKI, RFC 7858), with which a certificate "
		  "of its "
		  "own making can be trusted." },
	{ ROW_ARRAY("signing", WORDS_MAPS, struct config, signing, n_signing),
	  .text = "Ways to sign zones (DNSSEC), by a name that zones use. See SIGNING." },
	{ ROW("signing[].name", WORDS_NAME, struct config_signing, name), .is_required = true,
	  .is_unique = true, .min = 1, .max = 63,
	  .text = "Any name but none. Required, and none twice." },
	{ ROW("signing[].algorithm", WORDS_CHOICE, struct config_signing, algorithm),
	  .choices = "ecdsap256sha256|ecdsap384sha384|ed25519|rsasha256",
	  .fallback = "ecdsap256sha256",
	  .text = "The algorithm of keys. Where a zone has others, they are replaced "
		  "(RFC 6781 section 4.1.4): volleyctl zone ds-seen is needed on the way." },
	{ ROW("signing[].keys", WORDS_CHOICE, struct config_signing, single_key),
	  .choices = "ksk-zsk|csk", .fallback = "csk",
	  .text = "Whether one key signs everything (csk), or one the keys and another the rest "
		  "(ksk-zsk). It is changed as algorithm is." },
	{ ROW("signing[].denial", WORDS_CHOICE, struct config_signing, denial),
	  .choices = "nsec|nsec3", .fallback = "nsec",
	  .text = "How it is proven that a name is not there. With nsec3 names cannot be listed at "
		  "once, "
		  "but guessed." },
	{ ROW("signing[].nsec3-iterations", WORDS_COUNT, struct config_signing, nsec3_iterations),
	  .min = 0, .max = 50, .fallback = "0",
	  .text = "Further rounds of the hash. RFC 9276 wants 0: resolvers may refuse more." },
	{ ROW("signing[].nsec3-salt-length", WORDS_COUNT, struct config_signing, nsec3_salt_bytes),
	  .min = 0, .max = 64, .fallback = "0", .text = "Octets of salt. RFC 9276 wants 0, too." },
	{ ROW("signing[].nsec3-opt-out", WORDS_BOOL, struct config_signing, nsec3_opt_out),
	  .fallback = "false",
	  .text = "Whether delegations without DS records are left out, as in large zones of such." },
	{ ROW("signing[].cds", WORDS_BOOL, struct config_signing, cds), .fallback = "true",
	  .text = "Whether CDS and CDNSKEY records tell the parent which DS it should have (RFC "
		  "7344)." },
	{ ROW("signing[].key-folder", WORDS_PATH, struct config_signing, key_folder),
	  .text = "The folder of the private keys, which stays as long as volleyd runs. A relative "
		  "path starts at the folder of the "
		  "configuration file. Keys of BIND's tools, ldns and PowerDNS that are there are "
		  "used, so that the DS at the parent stays valid. Default: keys in server.storage." },
	{ ROW("signing[].signature-lifetime", WORDS_SECONDS, struct config_signing, signature_s),
	  .min = 60, .max = 365 * 86400, .fallback = "14d", .text = "How long a signature holds." },
	{ ROW("signing[].refresh", WORDS_SECONDS, struct config_signing, refresh_s), .min = 1,
	  .max = 365 * 86400, .fallback = "7d",
	  .text = "How long before its end a signature is renewed." },
	{ ROW("signing[].jitter", WORDS_SECONDS, struct config_signing, jitter_s), .min = 0,
	  .max = 365 * 86400, .fallback = "12h",
	  .text = "How much sooner than the others a signature may end, so that not all are "
		  "renewed at "
		  "once. With refresh it has to fit into signature-lifetime." },
	{ ROW("signing[].dnskey-ttl", WORDS_SECONDS, struct config_signing, dnskey_ttl_s), .min = 0,
	  .max = 7 * 86400, .fallback = "1h",
	  .text = "The TTL of the DNSKEY, CDS and CDNSKEY records." },
	{ ROW("signing[].zsk-lifetime", WORDS_SECONDS, struct config_signing, zsk_lifetime_s),
	  .min = 0, .max = 3650 * 86400, .fallback = "30d",
	  .text = "How old the ZSK gets before the next one takes its place, with keys: ksk-zsk. "
		  "0: until "
		  "volleyctl zone rollover." },
	{ ROW("signing[].ksk-lifetime", WORDS_SECONDS, struct config_signing, ksk_lifetime_s),
	  .min = 0, .max = 3650 * 86400, .fallback = "0",
	  .text = "The same of the KSK or CSK. Its rollover waits for the parent's DS." },
	{ ROW("signing[].propagation-delay", WORDS_SECONDS, struct config_signing, propagation_s),
	  .min = 0, .max = 30 * 86400, .fallback = "1h",
	  .text = "How long it may take until all secondaries have a change (RFC 7583)." },
	{ ROW("signing[].parent-ds-ttl", WORDS_SECONDS, struct config_signing, parent_ttl_s),
	  .min = 0, .max = 30 * 86400, .fallback = "1d",
	  .text = "The TTL of the parent's DS records." },
	{ ROW("signing[].parent-propagation-delay", WORDS_SECONDS, struct config_signing,
	      parent_propagation_s),
	  .min = 0, .max = 30 * 86400, .fallback = "1h",
	  .text = "How long it may take until all servers of the parent have a change." },
	{ ROW_ARRAY("templates", WORDS_MAPS, struct config, templates, n_templates),
	  .text = "What many zones have in common. Beside those here, every key of zones[] can be "
		  "given, but "
		  "for template. A zone that names the template has them, but for those it has "
		  "itself: a list "
		  "takes the place of the template's, also when it is []. A template named default "
		  "is for all "
		  "zones that name none." },
	{ ROW("templates[].name", WORDS_NAME, struct config_zone, name), .is_required = true,
	  .is_unique = true, .min = 1, .max = 63, .text = "Any name. Required, and none twice." },
	{ ROW("templates[].file", WORDS_PATH, struct config_zone, file),
	  .text = "As zones[].file, with %s where the name of the zone is to stand, without its "
		  "last dot. "
		  "See TEMPLATES." },
	{ ROW_ARRAY("zones", WORDS_MAPS, struct config, zones, n_zones),
	  .text = "The zones to serve." },
	{ ROW("zones[].name", WORDS_DOMAIN, struct config_zone, name), .is_required = true,
	  .is_unique = true,
	  .text = "The name of the zone, always absolute, with or without the last dot. Required, "
		  "and "
		  "none twice." },
	{ ROW_OF("zones[].template", WORDS_NAME), .min = 1, .max = 63,
	  .text = "The template that has what is not said here. Default: the one named default, if "
		  "there "
		  "is one." },
	{ ROW("zones[].file", WORDS_PATH, struct config_zone, file),
	  .text = "The master file (RFC 1035) of the zone. A relative path starts at the folder of "
		  "the "
		  "configuration file. volleyd writes to it what comes from elsewhere. Required, "
		  "but for a "
		  "zone with primaries or catalog: then the default is NAME.zone in the folder "
		  "zones of "
		  "server.storage." },
	{ ROW("zones[].verify", WORDS_COMMAND, struct config_zone, verify.argv),
	  .text = "A command that has to accept each new version of the zone before it is served, "
		  "with "
		  "its arguments: no shell reads them. A path with a slash starts at the folder of "
		  "the "
		  "configuration file; a name without one is looked for in PATH. See "
		  "VERIFYING ZONES. Default: every version that can be read is served." },
	{ ROW("zones[].verify-timeout", WORDS_SECONDS, struct config_zone, verify.timeout_s),
	  .min = 1, .max = 86400, .fallback = "30s",
	  .text = "How long the command may take. After that it is killed with all processes of "
		  "its "
		  "group, and the version is refused." },
	{ ROW("zones[].primaries", WORDS_REMOTES, struct config_zone, primaries),
	  .text = "Where the zone comes from, tried in turn: it is a secondary then. Default: "
		  "none, it is "
		  "what its file says." },
	{ ROW("zones[].notify", WORDS_REMOTES, struct config_zone, notify),
	  .text = "Who is told of each change (NOTIFY, RFC 1996). Default: nobody." },
	{ ROW("zones[].allow-transfer", WORDS_RULES, struct config_zone, allow_transfer),
	  .text = "Who may have the whole zone or its changes (AXFR, IXFR). A rule holds when all "
		  "that it "
		  "says does; the first that holds allows. Default: nobody." },
	{ ROW("zones[].allow-notify", WORDS_RULES, struct config_zone, allow_notify),
	  .text = "Who may say that the zone has changed, beside its primaries." },
	{ ROW("zones[].allow-update", WORDS_RULES, struct config_zone, allow_update),
	  .text = "Who may change the zone by dynamic updates (RFC 2136). A rule needs a key or a "
		  "prefix. "
		  "Not with primaries. Default: nobody." },
	{ ROW("zones[].ixfr", WORDS_BOOL, struct config_zone, ixfr), .fallback = "true",
	  .text = "Whether changes are asked for and given (IXFR, RFC 1995), or only whole zones." },
	{ ROW("zones[].journal-size", WORDS_SIZE, struct config_zone, journal_bytes), .min = 0,
	  .max = SIZE_T, .fallback = "64M",
	  .text = "What the changes of the zone take at most that are kept for secondaries." },
	{ ROW("zones[].zonefile-sync", WORDS_SECONDS, struct config_zone, zonefile_sync_s),
	  .min = 0, .max = 365 * 86400, .fallback = "0",
	  .text = "How long after its first change that the file has not the zone is written to "
		  "its file, as by "
		  "volleyctl zone flush: what was written there by hand, order, comments and "
		  "$INCLUDE, is lost. "
		  "Sooner where the journal gets short of room. A file that somebody else has "
		  "changed meanwhile is left alone, and zone status says so. 0: only volleyctl "
		  "zone "
		  "flush writes it; files that volleyd makes itself, those of zones with primaries "
		  "or "
		  "signing and of catalogs with produce, are written after 5 minutes." },
	{ ROW("zones[].max-transfer-size", WORDS_SIZE, struct config_zone, transfer_bytes),
	  .min = 512, .max = SIZE_T, .fallback = "4G",
	  .text = "How large a transfer from a primary may be. A larger one is broken off, and the "
		  "zone "
		  "stays as it is." },
	{ ROW("zones[].max-transfer-time", WORDS_SECONDS, struct config_zone, transfer_s), .min = 1,
	  .max = 7 * 86400, .fallback = "2h", .text = "How long it may take, likewise." },
	{ ROW("zones[].refresh-min", WORDS_SECONDS, struct config_zone, refresh_min_s), .min = 1,
	  .max = 36500 * 86400ull, .fallback = "2s",
	  .text = "The shortest time between two questions whether a primary has something newer, "
		  "whatever "
		  "the SOA record says." },
	{ ROW("zones[].refresh-max", WORDS_SECONDS, struct config_zone, refresh_max_s), .min = 1,
	  .max = 36500 * 86400ull, .fallback = "28d", .text = "The longest, likewise." },
	{ ROW("zones[].retry-min", WORDS_SECONDS, struct config_zone, retry_min_s), .min = 1,
	  .max = 36500 * 86400ull, .fallback = "1s",
	  .text = "The shortest time before the next try when no primary could be asked." },
	{ ROW("zones[].retry-max", WORDS_SECONDS, struct config_zone, retry_max_s), .min = 1,
	  .max = 36500 * 86400ull, .fallback = "14d", .text = "The longest." },
	{ ROW("zones[].expire-min", WORDS_SECONDS, struct config_zone, expire_min_s), .min = 1,
	  .max = 36500 * 86400ull, .fallback = "3s",
	  .text = "The shortest time for which the zone is served when no primary can be asked. "
		  "After it "
		  "every answer is SERVFAIL." },
	{ ROW("zones[].expire-max", WORDS_SECONDS, struct config_zone, expire_max_s), .min = 1,
	  .max = 36500 * 86400ull, .fallback = "36500d", .text = "The longest." },
	{ ROW("zones[].signing", WORDS_NAME, struct config_zone, signing), .min = 1, .max = 63,
	  .text = "The name of one of signing: the zone is kept signed that way. Not for a zone "
		  "with "
		  "primaries. none: as it is, whatever the template says. Default: none." },
	{ ROW("zones[].driver-denials", WORDS_CHOICE, struct config_zone, driver_denials),
	  .choices = "auto|off", .fallback = "auto",
	  .text = "Whether the driver answers NXDOMAIN by itself for names that the zone has not, "
		  "where cache.names "
		  "gives it a filter. With auto to all queries, of a zone that is signed to those "
		  "without DO; with "
		  "off to none: workers answer." },
	{ ROW("zones[].zonemd", WORDS_CHOICE, struct config_zone, zonemd),
	  .choices = "check|require", .fallback = "check",
	  .text = "What is expected of the digest that a zone states of itself (ZONEMD, RFC 8976). "
		  "A zone whose digest does not "
		  "hold is refused in any case. With require a zone without one that volleyd can "
		  "check is refused too, and "
		  "its primaries are asked for whole zones, since an incremental transfer is not "
		  "checked. That the record "
		  "is signed is not looked at." },
	{ ROW("zones[].serial", WORDS_CHOICE, struct config_zone, serial),
	  .choices = "file|increment|unixtime|date", .fallback = "file",
	  .text = "Which serial number the zone gets when its file has changed and the serial in "
		  "it is not newer than the one that was served. With file that of the file, and "
		  "volleyd warns, because secondaries do not fetch the zone. Otherwise the file "
		  "needs no new serial: with increment the zone gets the next number, with "
		  "unixtime the seconds since 1970, with date the day and a number (YYYYMMDDnn), "
		  "or the next number if that is not newer. The file itself stays as it is. A "
		  "zone that is signed here, or comes from primaries, or is a catalog made here "
		  "has a serial of its own. Needs server.storage." },
	{ ROW("zones[].catalog", WORDS_CHOICE, struct config_zone, catalog),
	  .choices = "none|consume|produce", .fallback = "none",
	  .text = "Whether the zone is a catalog of zones (RFC 9432): with consume its members are "
		  "served, "
		  "as groups says; with produce volleyd writes it, and its members are the zones "
		  "that name "
		  "it in member-of." },
	{ ROW("zones[].member-of", WORDS_DOMAIN, struct config_zone, member_of),
	  .text = "The zone with catalog: produce that this one is a member of. Default: none." },
	{ ROW("zones[].group", WORDS_TEXT, struct config_zone, member_group), .min = 1, .max = 255,
	  .text = "Its group there, from which those that consume the catalog know how to serve it." },
	{ ROW_ARRAY("zones[].groups", WORDS_MAPS, struct config_zone, groups, n_groups),
	  .text = "For catalog: consume the templates of its members. A member that none is for is "
		  "not "
		  "served." },
	{ ROW("zones[].groups[].group", WORDS_TEXT, struct config_group, group), .min = 1,
	  .max = 255,
	  .text = "The group, none twice. Without it the item is for all other members." },
	{ ROW("zones[].groups[].template", WORDS_NAME, struct config_group, template_name),
	  .is_required = true, .min = 1, .max = 63, .text = "Their template. Required." },
};

const struct words_table words_zone_keys = { rows, sizeof(rows) / sizeof(rows[0]) };
