/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration keys: zones, and the name servers, keys and policies that they name. */
#include "config/rows.h"

#define SIZE_T (1ull << 40)

static const struct words_key rows[] = {
	{ ROW_ARRAY("keys", WORDS_MAPS, struct config, keys, n_keys),
	  .text = "Keys that sign messages between name servers (TSIG, RFC 8945)." },
	{ ROW("keys[].name", WORDS_DOMAIN, struct config_tsig_key, name), .is_required = true,
	  .is_unique = true,
	  .text = "The name of the key, the same at both ends. "
		  "Required; each name only once." },
	{ ROW("keys[].algorithm", WORDS_CHOICE, struct config_tsig_key, algorithm),
	  .choices = "hmac-sha256|hmac-sha384|hmac-sha512|hmac-sha224|hmac-sha1|hmac-md5",
	  .fallback = "hmac-sha256",
	  .text = "The algorithm, the same at both ends. hmac-sha1 and hmac-md5 are weak, and a "
		  "warning says so; use them only with servers that have nothing better." },
	{ ROW_ARRAY("keys[].secret", WORDS_BASE64, struct config_tsig_key, secret, n_secret),
	  .min = 16, .max = 1024, .is_secret = true,
	  .text = "The secret. "
		  "Let no one else read the configuration file, or give secret-file instead. "
		  "One of the two is required." },
	{ ROW_OF("keys[].secret-file", WORDS_PATH),
	  .text = "A file that has the secret in the same form and nothing else. "
		  "It is refused if everyone can read it. "
		  "It is read together with the configuration. "
		  "A relative path starts at the folder of the configuration file." },
	{ ROW_ARRAY("remotes", WORDS_MAPS, struct config, remotes, n_remotes),
	  .text = "Other name servers, each with a name that zones use, "
		  "as primaries or for NOTIFY." },
	{ ROW("remotes[].name", WORDS_NAME, struct config_remote, name), .is_required = true,
	  .is_unique = true, .min = 1, .max = 63,
	  .text = "A name of your choice for this server, which zones use. "
		  "Required; each name only once." },
	{ ROW_ARRAY("remotes[].address", WORDS_PEERS, struct config_remote, addresses, n_addresses),
	  .is_required = true,
	  .text = "The addresses of the server, tried in turn. "
		  "Required; each address only once. "
		  "Without a port: 53, or 853 with tls." },
	{ ROW_ARRAY("remotes[].source", WORDS_PEERS, struct config_remote, source, n_source),
	  .text = "Addresses of this host from which the server is asked, at most "
		  "one of IPv4 and one of IPv6. "
		  "Default: the kernel chooses." },
	{ ROW("remotes[].key", WORDS_DOMAIN, struct config_remote, key),
	  .text = "The name of an item of keys. "
		  "This key signs all messages to the server. "
		  "Default: none." },
	{ ROW("remotes[].tls", WORDS_CHOICE, struct config_remote, tls),
	  .choices = "off|opportunistic|strict", .fallback = "off",
	  .text = "Whether the server is asked and notified over TLS (RFC 9103). opportunistic "
		  "encrypts, whoever answers. strict takes nothing from a server that does not "
		  "prove its identity; it needs tls-name, tls-pin or both." },
	{ ROW("remotes[].tls-name", WORDS_DOMAIN, struct config_remote, tls_name),
	  .text = "The name that the server's certificate must have." },
	{ ROW("remotes[].tls-bundle", WORDS_PATH, struct config_remote, tls_bundle),
	  .text = "The file of authorities, in PEM, that are trusted for tls-name. "
		  "A relative path starts at the folder of the configuration file. "
		  "Default: those of the system." },
	{ ROW("remotes[].tls-pin", WORDS_BASE64, struct config_remote, tls_pin), .min = 32,
	  .max = 32,
	  .text = "The SHA-256 digest of the server's public key (SPKI, RFC 7858). "
		  "With it a self-signed certificate can be trusted." },
	{ ROW_ARRAY("signing", WORDS_MAPS, struct config, signing, n_signing),
	  .text = "Ways to sign zones (DNSSEC), each with a name that zones use. "
		  "See SIGNING." },
	{ ROW("signing[].name", WORDS_NAME, struct config_signing, name), .is_required = true,
	  .is_unique = true, .min = 1, .max = 63,
	  .text = "A name of your choice for this way to sign, which zones[].signing uses. "
		  "The name none is not allowed. "
		  "Required; each name only once." },
	{ ROW("signing[].algorithm", WORDS_CHOICE, struct config_signing, algorithm),
	  .choices = "ecdsap256sha256|ecdsap384sha384|ed25519|rsasha256",
	  .fallback = "ecdsap256sha256",
	  .text = "The algorithm of the keys. "
		  "If a zone has keys of another algorithm, they are replaced (RFC 6781 section "
		  "4.1.4); this needs volleyctl zone ds-seen in between." },
	{ ROW("signing[].keys", WORDS_CHOICE, struct config_signing, single_key),
	  .choices = "ksk-zsk|csk", .fallback = "csk",
	  .text = "Whether one key signs everything (csk), or one key signs the keys and "
		  "another one the rest (ksk-zsk). "
		  "A change works as that of algorithm." },
	{ ROW("signing[].denial", WORDS_CHOICE, struct config_signing, denial),
	  .choices = "nsec|nsec3", .fallback = "nsec",
	  .text = "How the zone proves that a name does not exist. "
		  "With nsec anyone can list the names of the zone; with "
		  "nsec3 one has to guess them." },
	{ ROW("signing[].nsec3-iterations", WORDS_COUNT, struct config_signing, nsec3_iterations),
	  .min = 0, .max = 50, .fallback = "0",
	  .text = "The number of further rounds of the hash. "
		  "RFC 9276 wants 0, and resolvers may refuse more." },
	{ ROW("signing[].nsec3-salt-length", WORDS_COUNT, struct config_signing, nsec3_salt_bytes),
	  .min = 0, .max = 64, .fallback = "0",
	  .text = "The number of octets of the salt. "
		  "RFC 9276 wants 0." },
	{ ROW("signing[].nsec3-opt-out", WORDS_BOOL, struct config_signing, nsec3_opt_out),
	  .fallback = "false",
	  .text = "Whether delegations without DS records get no NSEC3 record. "
		  "For large zones that consist of such delegations." },
	{ ROW("signing[].cds", WORDS_BOOL, struct config_signing, cds), .fallback = "true",
	  .text = "Whether CDS and CDNSKEY records tell the parent which DS "
		  "it should have (RFC 7344)." },
	{ ROW("signing[].key-folder", WORDS_PATH, struct config_signing, key_folder),
	  .use = WORDS_FOLDER,
	  .text = "The folder of the private keys; it cannot change while volleyd runs. "
		  "A relative path starts at the folder of the configuration file. "
		  "Keys of BIND's tools, ldns and PowerDNS in this folder are used, so the DS "
		  "at the parent stays valid. "
		  "Default: keys are in server.storage." },
	{ ROW("signing[].signature-lifetime", WORDS_SECONDS, struct config_signing, signature_s),
	  .min = 60, .max = 365 * 86400, .fallback = "14d",
	  .text = "How long a signature is valid." },
	{ ROW("signing[].refresh", WORDS_SECONDS, struct config_signing, refresh_s), .min = 1,
	  .max = 365 * 86400, .fallback = "7d",
	  .text = "How long before its end a signature is renewed." },
	{ ROW("signing[].jitter", WORDS_SECONDS, struct config_signing, jitter_s), .min = 0,
	  .max = 365 * 86400, .fallback = "12h",
	  .text = "How much earlier than the others a signature may end, so that not all are "
		  "renewed at once. jitter and refresh together must be "
		  "less than signature-lifetime." },
	{ ROW("signing[].dnskey-ttl", WORDS_SECONDS, struct config_signing, dnskey_ttl_s), .min = 0,
	  .max = 7 * 86400, .fallback = "1h",
	  .text = "The TTL of the DNSKEY, CDS and CDNSKEY records." },
	{ ROW("signing[].zsk-lifetime", WORDS_SECONDS, struct config_signing, zsk_lifetime_s),
	  .min = 0, .max = 3650 * 86400, .fallback = "30d",
	  .text = "The age at which the ZSK is replaced, with keys: ksk-zsk. "
		  "0: only by volleyctl zone rollover." },
	{ ROW("signing[].ksk-lifetime", WORDS_SECONDS, struct config_signing, ksk_lifetime_s),
	  .min = 0, .max = 3650 * 86400, .fallback = "0",
	  .text = "The age at which the KSK or CSK is replaced. "
		  "The rollover waits for the DS at the parent. "
		  "0: only by volleyctl zone rollover." },
	{ ROW("signing[].propagation-delay", WORDS_SECONDS, struct config_signing, propagation_s),
	  .min = 0, .max = 30 * 86400, .fallback = "1h",
	  .text = "How long it may take until all secondaries have a change (RFC 7583)." },
	{ ROW("signing[].parent-ds-ttl", WORDS_SECONDS, struct config_signing, parent_ttl_s),
	  .min = 0, .max = 30 * 86400, .fallback = "1d",
	  .text = "The TTL of the DS records at the parent." },
	{ ROW("signing[].parent-propagation-delay", WORDS_SECONDS, struct config_signing,
	      parent_propagation_s),
	  .min = 0, .max = 30 * 86400, .fallback = "1h",
	  .text = "How long it may take until all servers of the parent have a change." },
	{ ROW_ARRAY("templates", WORDS_MAPS, struct config, templates, n_templates),
	  .text = "Settings that many zones have in common. "
		  "A template may have every key of zones[] except "
		  "template, and the keys below. "
		  "A zone that names the template has its settings, except those that it has "
		  "itself; a list in the zone replaces the template's list, also if it is []. "
		  "A template with the name default is for all zones that name none." },
	{ ROW("templates[].name", WORDS_NAME, struct config_zone, name), .is_required = true,
	  .is_unique = true, .min = 1, .max = 63,
	  .text = "A name of your choice for this template, which zones[].template uses. "
		  "Required; each name only once." },
	{ ROW("templates[].file", WORDS_PATH, struct config_zone, file),
	  .text = "As zones[].file. "
		  "%s in it stands for the name of the zone, without its last dot. "
		  "See TEMPLATES." },
	{ ROW_ARRAY("zones", WORDS_MAPS, struct config, zones, n_zones),
	  .text = "The zones to serve." },
	{ ROW("zones[].name", WORDS_DOMAIN, struct config_zone, name), .is_required = true,
	  .is_unique = true,
	  .text = "The name of the zone, always absolute, with or without the last dot. "
		  "Required; each name only once." },
	{ ROW_OF("zones[].template", WORDS_NAME), .min = 1, .max = 63,
	  .text = "The template with the settings that the zone does not have itself. "
		  "Default: the template with the name default, if there is one." },
	{ ROW("zones[].file", WORDS_PATH, struct config_zone, file),
	  .text = "The master file (RFC 1035) of the zone. "
		  "A relative path starts at the folder of the configuration file. "
		  "If the zone comes from primaries, volleyd writes this file. "
		  "Required, except for a zone with primaries or catalog: its default is "
		  "NAME.zone in the folder zones of server.storage." },
	{ ROW("zones[].verify", WORDS_COMMAND, struct config_zone, verify.argv),
	  .text = "A command with its arguments that must accept each new version of the "
		  "zone before it is served. "
		  "No shell reads it. "
		  "A path with a slash starts at the folder of the configuration file; a name "
		  "without one is looked for in PATH. See VERIFYING ZONES. Default: every "
		  "version that can be read is served." },
	{ ROW("zones[].verify-timeout", WORDS_SECONDS, struct config_zone, verify.timeout_s),
	  .min = 1, .max = 86400, .fallback = "30s",
	  .text = "How long the command may take. "
		  "After that it is killed with all processes of its group, "
		  "and the version is refused." },
	{ ROW("zones[].primaries", WORDS_REMOTES, struct config_zone, primaries),
	  .text = "The remotes from which the zone comes, tried in turn. "
		  "With any, volleyd is a secondary of the zone. "
		  "Default: none; the zone comes from its file." },
	{ ROW("zones[].notify", WORDS_REMOTES, struct config_zone, notify),
	  .text = "The remotes that are told of each change (NOTIFY, RFC 1996). "
		  "Default: none." },
	{ ROW("zones[].allow-transfer", WORDS_RULES, struct config_zone, allow_transfer),
	  .text = "Rules for clients that may transfer the zone or its changes (AXFR, IXFR). "
		  "A rule matches if all of its words match; the first rule that "
		  "matches allows the transfer. "
		  "Default: nobody." },
	{ ROW("zones[].allow-notify", WORDS_RULES, struct config_zone, allow_notify),
	  .text = "Rules for servers, besides the primaries, that may say "
		  "that the zone has changed." },
	{ ROW("zones[].allow-update", WORDS_RULES, struct config_zone, allow_update),
	  .text = "Rules for clients that may change the zone by dynamic updates (RFC 2136). "
		  "A rule needs a key or a prefix. "
		  "Not with primaries. "
		  "Default: nobody." },
	{ ROW("zones[].ixfr", WORDS_BOOL, struct config_zone, ixfr), .fallback = "true",
	  .text = "Whether the zone is transferred, in and out, by its "
		  "changes (IXFR, RFC 1995). "
		  "With false, only as a whole." },
	{ ROW("zones[].journal-size", WORDS_SIZE, struct config_zone, journal_bytes), .min = 0,
	  .max = SIZE_T, .fallback = "64M",
	  .text = "The largest size of the changes of the zone that are kept for secondaries." },
	{ ROW("zones[].zonefile-sync", WORDS_SECONDS, struct config_zone, zonefile_sync_s),
	  .min = 0, .max = 365 * 86400, .fallback = "0",
	  .text = "How soon after a change volleyd writes the zone to its file, as "
		  "volleyctl zone flush does. "
		  "Order, comments and $INCLUDE of the file are lost. "
		  "If the journal gets short of room, it writes sooner. "
		  "A file that somebody else has changed meanwhile is left as it "
		  "is, and zone status says so. "
		  "0: only volleyctl zone flush writes the file. "
		  "Files that volleyd itself makes (of zones with primaries or signing, and of "
		  "catalogs with produce) are then written after 5 minutes." },
	{ ROW("zones[].max-transfer-size", WORDS_SIZE, struct config_zone, transfer_bytes),
	  .min = 512, .max = SIZE_T, .fallback = "4G",
	  .text = "The largest size of a transfer from a primary. "
		  "A larger one is stopped, and the zone stays as it is." },
	{ ROW("zones[].max-transfer-time", WORDS_SECONDS, struct config_zone, transfer_s), .min = 1,
	  .max = 7 * 86400, .fallback = "2h",
	  .text = "The longest time of a transfer from a primary. "
		  "A longer one is stopped, and the zone stays as it is. "
		  "A transfer that brings less than 60 KiB in a minute, or a message that takes "
		  "longer than 30 seconds, is stopped, too." },
	{ ROW("zones[].refresh-min", WORDS_SECONDS, struct config_zone, refresh_min_s), .min = 1,
	  .max = 36500 * 86400ull, .fallback = "2s",
	  .text = "The shortest time between two questions to the primaries for a newer "
		  "version, whatever the SOA record says." },
	{ ROW("zones[].refresh-max", WORDS_SECONDS, struct config_zone, refresh_max_s), .min = 1,
	  .max = 36500 * 86400ull, .fallback = "28d",
	  .text = "The longest time between two "
		  "such questions." },
	{ ROW("zones[].retry-min", WORDS_SECONDS, struct config_zone, retry_min_s), .min = 1,
	  .max = 36500 * 86400ull, .fallback = "1s",
	  .text = "The shortest time before the next try, if no primary could be asked." },
	{ ROW("zones[].retry-max", WORDS_SECONDS, struct config_zone, retry_max_s), .min = 1,
	  .max = 36500 * 86400ull, .fallback = "14d",
	  .text = "The longest time before the "
		  "next try." },
	{ ROW("zones[].expire-min", WORDS_SECONDS, struct config_zone, expire_min_s), .min = 1,
	  .max = 36500 * 86400ull, .fallback = "3s",
	  .text = "The shortest time for which the zone is served if no primary can be asked. "
		  "After that every answer is SERVFAIL." },
	{ ROW("zones[].expire-max", WORDS_SECONDS, struct config_zone, expire_max_s), .min = 1,
	  .max = 36500 * 86400ull, .fallback = "36500d",
	  .text = "The longest time for which "
		  "the zone is served if no "
		  "primary can be asked." },
	{ ROW("zones[].signing", WORDS_NAME, struct config_zone, signing), .min = 1, .max = 63,
	  .text = "The name of an item of signing, which says how the zone is signed. "
		  "Not allowed for a zone with primaries. "
		  "none: the zone is not signed here, even if its template has a name here. "
		  "Default: none." },
	{ ROW("zones[].driver-denials", WORDS_CHOICE, struct config_zone, driver_denials),
	  .choices = "auto|off", .fallback = "auto",
	  .text = "Whether the driver answers NXDOMAIN for names that the zone does not have, "
		  "if cache.names gives it a filter. "
		  "With auto, it does so for all queries; if the zone is signed and has no "
		  "intervals (cache.intervals), for queries without DO only. "
		  "With off, workers answer." },
	{ ROW("zones[].zonemd", WORDS_CHOICE, struct config_zone, zonemd),
	  .choices = "check|require", .fallback = "check",
	  .text = "How the digest in the zone (ZONEMD, RFC 8976) is checked. "
		  "With check, a zone whose digest does not match is refused. "
		  "With require, a zone without a digest that volleyd can check is refused, "
		  "too; its primaries are then asked for whole zones, since an incremental "
		  "transfer is not checked. "
		  "The signature of the record is not checked." },
	{ ROW("zones[].serial", WORDS_CHOICE, struct config_zone, serial),
	  .choices = "file|increment|unixtime|date", .fallback = "file",
	  .text = "The serial number that the zone gets if its file has changed and the serial "
		  "in it is not newer than the one that was served. "
		  "With file, the serial of the file; volleyd then warns, because "
		  "secondaries do not fetch the zone. "
		  "With increment, the next number. "
		  "With unixtime, the seconds since 1970. "
		  "With date, the day and a number (YYYYMMDDnn). unixtime and date take the "
		  "next number if theirs is not newer. "
		  "The file itself is not changed. "
		  "Zones that are signed here, zones from primaries and catalogs that are made "
		  "here have serials of their own. "
		  "Needs server.storage." },
	{ ROW("zones[].catalog", WORDS_CHOICE, struct config_zone, catalog),
	  .choices = "none|consume|produce", .fallback = "none",
	  .text = "Whether the zone is a catalog of zones (RFC 9432). "
		  "With consume, its members are served, by the templates in groups. "
		  "With produce, volleyd writes the catalog; its members are the zones "
		  "that name it in member-of." },
	{ ROW("zones[].member-of", WORDS_DOMAIN, struct config_zone, member_of),
	  .text = "The zone with catalog: produce of which this zone is a member. "
		  "Default: none." },
	{ ROW("zones[].group", WORDS_TEXT, struct config_zone, member_group), .min = 1, .max = 255,
	  .text = "The group of the zone in that catalog. "
		  "It tells the consumers of the catalog how to serve the zone." },
	{ ROW_ARRAY("zones[].groups", WORDS_MAPS, struct config_zone, groups, n_groups),
	  .text = "For catalog: consume, the templates of its members. "
		  "A member without a template is not served." },
	{ ROW("zones[].groups[].group", WORDS_TEXT, struct config_group, group), .min = 1,
	  .max = 255,
	  .text = "The name of the group. "
		  "Each name only once. "
		  "Without it, the item is for all other members." },
	{ ROW("zones[].groups[].template", WORDS_NAME, struct config_group, template_name),
	  .is_required = true, .min = 1, .max = 63,
	  .text = "The template of these members. "
		  "Required." },
};

const struct words_table words_zone_keys = { rows, sizeof(rows) / sizeof(rows[0]) };
