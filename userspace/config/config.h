/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration: a YAML file is read once into plain values, which are all checked.
 *
 *	files ─► document: a tree, each node with its line and its row of the table
 *	       ─► reader: each row's text or default, parsed, held against its bounds ─► its field
 *	       ─► config_*.c: checks of more than one key
 *
 * A row of words_*.c has a key's meaning, type, bounds, default and field here. So a new key needs
 * a row and a field; config/words.h lists the parts that are derived from rows.
 */
#ifndef VOLLEY_CONFIG_CONFIG_H
#define VOLLEY_CONFIG_CONFIG_H

#include <linux/types.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "config/verify.h"
#include "config/words.h"
#include "engine/engine_config.h"
#include "resolver/resolver_config.h"
#include "xdp/block.h"
#include "xfr/tsig_algorithm.h"

/* Before the name of a group in control.read and control.change. */
#define CONFIG_GROUP "group:"

struct config_addr {
	uint16_t family; /* AF_INET or AF_INET6 */
	__be16 net_port;
	/* wire order; IPv4 in the first four octets, then zeros; all zeros: wildcard */
	uint8_t addr[16];
	uint32_t scope_id; /* the interface of a link-local IPv6 address (RFC 4007), else 0 */
};

#define CONFIG_DIGEST_BYTES       32u   /* SHA-256 */
#define CONFIG_PREFIXES_MAX       4096u /* of a list */
#define CONFIG_TUNNEL_SOURCES_MAX 16u
#define CONFIG_INTERFACES_MAX     64u /* of a daemon, including those of commands */

#define CONFIG_BLOCK_LISTS_MAX 255u

/* Addresses with the same first bits; all other bits are 0. */
struct config_prefix {
	uint8_t family; /* AF_INET or AF_INET6; no IPv4-mapped addresses */
	uint8_t bits;   /* at most 32 or 128 */
	uint8_t addr[16];
};

/* The enums that follow are in the order of the choices of their keys. */
enum config_xdp { CONFIG_XDP_AUTO, CONFIG_XDP_NATIVE, CONFIG_XDP_GENERIC, CONFIG_XDP_OFF };
enum config_port { CONFIG_PORT_AUTO, CONFIG_PORT_XSK, CONFIG_PORT_DPDK, CONFIG_PORT_SOCKET };
enum config_zero_copy { CONFIG_ZERO_COPY_AUTO, CONFIG_ZERO_COPY_ON, CONFIG_ZERO_COPY_OFF };
enum config_return { CONFIG_RETURN_SWAP, CONFIG_RETURN_FIB };

struct config_interface {
	char name[IF_NAMESIZE];
	enum config_xdp xdp;
	enum config_port port;
	enum config_zero_copy zero_copy;
	bool driver_answers;
	/* tunnels to remove: VOLLEY_TUNNEL_*, as bits in the order of the choices */
	uint8_t tunnels;
	__be16 net_gue_port;
	struct config_prefix *tunnel_sources; /* remove only their tunnels, none twice; NULL: all */
	uint32_t n_tunnel_sources;            /* at most CONFIG_TUNNEL_SOURCES_MAX */
	enum config_return return_path;
	uint32_t busy_poll_budget; /* packets for each poll; 0: off */
	uint32_t n_umem_frames;    /* of each queue; a power of two, at least 2 * ring_size */
	uint32_t ring_size;        /* a power of two */
	uint32_t n_queues;         /* 0: auto, as many as the interface has */
	uint32_t n_cores;          /* 0: not given; otherwise n_queues, if that is not auto */
	uint16_t *cores;           /* processor of each queue, none twice */
	char *device;              /* for DPDK; NULL: net_af_xdp on the interface */
};

struct config_cookie_secret {
	uint8_t secret[16];
	char *file; /* NULL: the secret is in the configuration */
};

struct config_tsig_key {
	char *name; /* as a zone's */
	enum tsig_algorithm algorithm;
	uint8_t *secret;
	uint32_t n_secret;
};

/* The oldest version of TLS that clients may use. */
enum config_tls_version { CONFIG_TLS_1_2, CONFIG_TLS_1_3 };

/* The proof of identity that the other side of a TLS connection must give: RFC 9103 section 9.3. */
enum config_tls { CONFIG_TLS_OFF, CONFIG_TLS_OPPORTUNISTIC, CONFIG_TLS_STRICT };

/* Another name server. Zones name it as a primary, as a receiver of NOTIFY, or both. */
struct config_remote {
	char *name;
	struct config_addr *addresses; /* at least one, tried in turn; port 53, or 853 with TLS */
	uint32_t n_addresses;
	struct config_addr *source; /* local addresses to ask from, at most one of each family */
	uint32_t n_source;
	char *key; /* of config.keys, or NULL */
	enum config_tls tls;
	char *tls_name;   /* in its certificate, without a final dot; strict needs it or tls_pin */
	char *tls_bundle; /* certificates of authorities; NULL: the system's */
	uint8_t *tls_pin; /* SHA-256 of its public key (RFC 7858 section 4.2), 32 octets, or NULL */
};

/* A client that may do something: by address, by key, or by both together. */
struct config_rule {
	bool has_prefix;
	bool has_tls; /* only over TLS */
	struct config_prefix prefix;
	char *key; /* or NULL */
};

struct config_rules {
	struct config_rule *rules; /* a client that fits one is allowed; no rule: no client */
	uint32_t n;
};

enum config_denial { CONFIG_DENIAL_NSEC, CONFIG_DENIAL_NSEC3 };
enum config_sign_algorithm {
	CONFIG_SIGN_ECDSAP256SHA256,
	CONFIG_SIGN_ECDSAP384SHA384,
	CONFIG_SIGN_ED25519,
	CONFIG_SIGN_RSASHA256,
	CONFIG_N_SIGN_ALGORITHMS,
};

/* The way to sign a zone (RFC 6781, RFC 7583). */
struct config_signing {
	char *name;
	enum config_sign_algorithm algorithm;
	bool single_key; /* a CSK; otherwise a KSK and a ZSK */
	enum config_denial denial;
	uint16_t nsec3_iterations;
	uint8_t nsec3_salt_bytes;
	bool nsec3_opt_out;
	bool cds; /* CDS and CDNSKEY at the apex while a new key waits for its DS: RFC 7344 */
	char *key_folder;     /* NULL: "keys" in server.storage */
	uint32_t signature_s; /* the validity of a signature */
	uint32_t refresh_s;   /* a signature is renewed so long before its end */
	uint32_t jitter_s;    /* the end of each comes earlier by up to this */
	uint32_t dnskey_ttl_s;
	uint32_t zsk_lifetime_s; /* 0: no automatic rollover; ksk_lifetime_s likewise */
	uint32_t ksk_lifetime_s;
	uint32_t propagation_s;        /* the time until all secondaries have a change */
	uint32_t parent_ttl_s;         /* the TTL of the DS RRset */
	uint32_t parent_propagation_s; /* the time until all servers of the parent have a change */
};

enum config_denials { CONFIG_DENIALS_AUTO, CONFIG_DENIALS_OFF };
enum config_zonemd { CONFIG_ZONEMD_CHECK, CONFIG_ZONEMD_REQUIRE };
enum config_serial {
	CONFIG_SERIAL_FILE, /* as in the file */
	CONFIG_SERIAL_INCREMENT,
	CONFIG_SERIAL_UNIXTIME,
	CONFIG_SERIAL_DATE,
};
enum config_catalog { CONFIG_CATALOG_NONE, CONFIG_CATALOG_CONSUME, CONFIG_CATALOG_PRODUCE };

/*
 * A zone, completed by its template. A template has the same struct: its name is not a domain name,
 * and its file is a pattern (config/member.h). Members of catalogs are made from templates.
 */
struct config_zone {
	char *name; /* presentation form, lower case, absolute: "example.com." */
	/*
	 * Absolute, or relative to the working directory, as the configuration's path. NULL only in
	 * a template. The default of a zone with primaries or catalog is "zones/NAME.zone" in
	 * server.storage.
	 */
	char *file;
	struct verify verify; /* its command: a path as above, or a name to find in PATH */
	char *template_name;  /* or NULL */
	/* names of remotes, ended by NULL; NULL: volleyd is the primary */
	char **primaries;
	char **notify; /* remotes, ended by NULL, that get a NOTIFY of each change; NULL: none */
	struct config_rules allow_transfer;
	struct config_rules allow_notify; /* in addition to the primaries */
	struct config_rules allow_update;
	bool ixfr;                /* ask for and give changes; false: only whole zones */
	uint64_t journal_bytes;   /* of changes that are kept for IXFR to others */
	uint32_t zonefile_sync_s; /* from a change to the writing of the file; 0: see the key */
	uint64_t transfer_bytes;  /* a larger zone is refused */
	uint32_t transfer_s;      /* the longest transfer */
	uint32_t refresh_min_s, refresh_max_s; /* bounds of the SOA's times */
	uint32_t retry_min_s, retry_max_s;
	uint32_t expire_min_s, expire_max_s;
	char *signing; /* name of a policy; NULL: volleyd does not sign it */
	/* the names that the driver denies (xdp/names.h) */
	enum config_denials driver_denials;
	enum config_zonemd zonemd;
	enum config_serial serial;
	/* recursion.root-copy: only the resolver asks it. Only for the zone "." */
	bool is_root_copy;
	enum config_catalog catalog;
	char *member_of;      /* the name of a catalog that volleyd produces, or NULL */
	char *member_group;   /* its group property there, or NULL */
	struct config_group { /* of a consumed catalog: templates for groups */
		char *group;  /* NULL: all other groups */
		char *template_name;
	} * groups;
	uint32_t n_groups;
	uint32_t n_refs; /* config/zone_pool.h; 0: not shared */
};

/* True if primaries may be asked for changes. After these transfers ZONEMD is not checked. */
static inline bool config_zone_asks_ixfr(const struct config_zone *zone)
{
	return zone->ixfr && !zone->is_root_copy && zone->zonemd != CONFIG_ZONEMD_REQUIRE;
}

enum config_huge { CONFIG_HUGE_AUTO, CONFIG_HUGE_ON, CONFIG_HUGE_OFF };

struct config_dpdk {
	enum config_huge huge_pages;
	uint64_t memory_bytes;
	char **options; /* more words for the EAL, ended by NULL; or NULL */
};

/* One address of a stub zone or a forward zone. The rest is equal in all items of a zone. */
struct config_stub {
	char *zone;                        /* as a zone's name */
	char *address;                     /* "192.0.2.1@53", with TLS "192.0.2.1@853#name" */
	bool first;                        /* without an answer, ask as if it were not configured */
	enum resolver_transport transport; /* default: recursion.transport */
};

struct config_rpz {
	char *name;        /* as a zone's */
	char *file;        /* NULL: a zone of this name in `zones` */
	uint16_t ede_code; /* RFC 8914: 15 to 18 */
};

/*
 * A field for each key, each with a meaning of its own; config_resolver.c refuses values that do
 * not go together. Its booleans are keys of users. recursion/recursion_keys.c says where each value
 * goes.
 */
struct config_recursion {
	struct config_prefix *allow; /* none twice; if there are none, there is no recursion */
	uint32_t n_allow;
	char **forward; /* as config_stub.address, ended by NULL; or NULL */
	bool forward_first;
	enum resolver_transport transport;
	char *tls_bundle; /* NULL: none; so for all paths here */
	char *root_hints;
	char *trust_anchor;
	char *auto_trust_anchor;
	char **domain_insecure; /* as zones' names, ended by NULL; or NULL */
	bool do_ip4;            /* at least one of the two is true */
	bool do_ip6;
	char **outgoing_interface; /* addresses without ports, listed as forward */
	bool root_key_sentinel;
	bool qname_minimisation;
	bool qname_minimisation_strict;
	bool aggressive_nsec;
	bool caps_for_id; /* if has_caps_for_id; otherwise it depends on the way upstream */
	bool has_caps_for_id;
	char **caps_exempt; /* as domain_insecure */
	bool harden_glue;
	bool harden_referral_path;
	bool harden_below_nxdomain;
	bool harden_dnssec_stripped;
	bool harden_algo_downgrade;
	bool harden_unverified_glue;
	bool harden_unknown_additional;
	char **private_address; /* prefixes as text, listed as forward */
	char **private_domain;  /* as domain_insecure */
	char *dns64_prefix;     /* "64:ff9b::/96"; NULL: no DNS64 */
	bool dns64_synthall;
	uint32_t max_query_restarts;
	uint32_t max_global_quota;   /* 0: not given */
	uint32_t outbound_msg_retry; /* 0: not given */
	char *target_fetch_policy;   /* numbers with spaces between them; NULL: not given */
	bool query_localhost;
	bool root_copy; /* there is a zone ".", with is_root_copy set */
	bool prefetch;
	uint32_t n_threads;
	uint32_t max_outstanding;
	uint32_t max_per_client; /* 0: no limit */
	uint64_t memory_max_bytes;
	uint32_t upstream_timeout_ms;
	uint32_t query_timeout_ms;
	uint32_t stale_client_timeout_ms;
	uint32_t stale_reply_ttl_s;
	uint32_t serve_stale_s; /* 0: off */
	uint32_t max_ttl_s;
	uint32_t min_ttl_s;
	uint32_t max_negative_ttl_s;
	struct config_stub *stubs;
	uint32_t n_stubs;
	struct config_stub *forward_zones;
	uint32_t n_forward_zones;
	char **local_data; /* records as text, listed as forward */
	bool special_names;
	char **special_names_off; /* each has a special name at or below it; as domain_insecure */
	struct config_rpz *rpz;   /* in the order of their precedence */
	uint32_t n_rpz;
};

struct config_rrl {
	uint32_t answers; /* for each second and address; 0: no limit */
	uint32_t octets;  /* for each second and address; 0: no limit */
	uint32_t slip;
	bool dry_run;
	struct config_prefix *exempt; /* none twice */
	uint32_t n_exempt;
};

struct config_block {
	char *file;
	char *why; /* or NULL */
	enum volley_block_action action;
};

/* The share of answers that is reported, and the reported part of a client's address. */
struct config_tap {
	bool is_on;
	uint32_t sample;      /* one answer in so many */
	uint8_t bits4, bits6; /* reported bits of an address */
};

struct config_dnstap {
	struct config_tap tap;
	char *socket; /* one of these three is given, or none */
	char *file;
	struct config_addr tcp; /* family 0: none */
	char *identity;         /* NULL: not reported; version likewise */
	char *version;
	uint32_t messages; /* a bit for each choice; not 0 */
};

struct config_query_log {
	struct config_tap tap;
	char *file; /* NULL: the journal */
	bool is_json;
	char **zones;                  /* ended by NULL; NULL: all */
	uint64_t rcodes;               /* a bit for each; 0: all */
	struct config_prefix *clients; /* n_clients 0: all */
	uint32_t n_clients;
};

struct config {
	char *path; /* as given to config_load() */
	/* the file's text with secrets, n_text octets and a zero octet: config/settings.h */
	char *text;
	size_t n_text;
	/* of the names and texts of all files, and of the names of read_folders */
	uint8_t digest[CONFIG_DIGEST_BYTES];
	/* the files with a secret in them, ended by NULL; NULL: none */
	char **secret_files;

	struct config_addr *listen; /* at least one, none twice */
	uint32_t n_listen;
	struct config_prefix *allow; /* clients that may ask for our zones, none twice; NULL: all */
	uint32_t n_allow;
	uint32_t n_workers; /* 0: auto */
	/* of all other threads, none twice; NULL: cores without a worker */
	uint16_t *control_cores;
	uint32_t n_control_cores;
	uint16_t max_udp_size_bytes;
	bool minimal_responses;
	enum engine_any any;
	uint8_t *nsid; /* n_nsid octets; NULL: none */
	uint32_t n_nsid;
	char *version;  /* NULL: not answered */
	char *identity; /* NULL: not answered */
	struct config_cookie_secret
		cookie_secrets[VOLLEY_COOKIE_SECRETS]; /* the first one makes cookies; none twice */
	uint32_t n_cookie_secrets;                     /* 0: volleyd makes a secret */
	uint32_t cookie_rotate_s;                      /* of volleyd's; 0: only by command */
	uint32_t tcp_connections_cap;                  /* over all workers and addresses */
	uint32_t tcp_client_cap;                       /* for a client's prefix; 0: half of these */
	uint32_t tcp_idle_s;
	uint32_t tcp_queries_max; /* on one connection; 0: no limit */
	uint32_t tcp_backlog;     /* waiting connections; 0: the kernel's maximum */

	struct config_interface *interfaces; /* none twice */
	uint32_t n_interfaces;

	uint64_t cache_size_bytes;
	uint32_t cache_orphan_serve_s;
	char *cache_snapshot;               /* NULL: none */
	uint32_t cache_snapshot_interval_s; /* 0: only at the end */
	uint32_t cache_zones;       /* that may be served; 0: those of the configuration, twice */
	uint32_t cache_names_lines; /* of the filter of names (xdp/names.h); 0: no filter */
	uint32_t cache_intervals_lines; /* after the filter (xdp/intervals.h); 0: no intervals */

	char *storage;          /* folder for journals, transferred zones and keys; or NULL */
	uint64_t storage_bytes; /* limit of all journals */
	struct config_addr *tls_listen; /* DNS over TLS, mainly for transfers: RFC 9103 */
	uint32_t n_tls_listen;
	char *tls_certificate; /* files in PEM; NULL: none, and then tls_listen is empty */
	char *tls_key;
	enum config_tls_version tls_min;
	char *tls_ticket_keys; /* a file for port/ticket_keys.h; NULL: random keys */
	struct config_tsig_key *keys;
	uint32_t n_keys;
	struct config_remote *remotes;
	uint32_t n_remotes;
	struct config_signing *signing;
	uint32_t n_signing;
	struct config_zone *templates;
	uint32_t n_templates;
	uint32_t n_transfers; /* incoming transfers at a time; n_transfers_out: outgoing */
	uint32_t n_transfers_out;
	struct config_zone *zones; /* none twice */
	uint32_t n_zones;
	/* config_load_again(): they are those of the configuration before, and `zones` is empty */
	bool has_same_zones;

	struct config_recursion recursion;
	struct config_rrl rrl;
	struct config_block *block; /* lists; the first list with a match decides */
	uint32_t n_block;           /* at most CONFIG_BLOCK_LISTS_MAX */
	struct config_dpdk dpdk;
	struct config_dnstap dnstap;
	struct config_query_log query_log;

	char *control_socket;
	mode_t control_mode; /* permission bits */
	/* users, and groups behind CONFIG_GROUP; names or numbers; see control/rights.h */
	char **control_read; /* NULL: everyone who reaches the socket */
	char **control_change;
	char **control_zones_add;   /* names of templates, ended by NULL; NULL: none */
	struct config_addr metrics; /* the listening address; family 0: none */
	enum log_level log_level;
	enum log_format log_format;
	char *pid_file; /* not NULL: the lock of a running daemon, see bpf/lock.h */

	/* For each key that needs a start: a digest of its values, by words_key_number(). */
	uint64_t start_digests[WORDS_KEYS_MAX];

	/* Where the keys with paths stand, for config_locate(), by words_key_number(). */
	struct config_place {
		uint32_t file; /* number in `files` */
		uint32_t line; /* 0: the key is not given, or stands in an item of a list */
	} places[WORDS_KEYS_MAX];
	char **files; /* the configuration and the files that it includes */
	uint32_t n_files;
	char **read_files;   /* files with a secret and nothing else, ended by NULL; NULL: none */
	char **read_folders; /* those that were searched for included files, likewise */
};

/*
 * Reads the file at PATH. On success *OUT is a new configuration for config_free(), and ERR is "".
 * On failure *OUT is NULL, and ERR is a sentence with its place: "FILE:LINE: key: sentence", or
 * "FILE: sentence" if no line is at fault. 512 bytes are enough except for very long paths.
 *
 * Reads nothing else but included files, and files with secrets of keys; it does not check whether
 * interfaces, cores and zone files exist. May be called while another configuration is in use; any
 * thread, one at a time. 0, ERR_CONFIG for a fault in the configuration, -ENOMEM, or the -errno of
 * reading the file.
 */
int config_load(struct config **out, const char *path, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * The same, but if all files have the text that they had for BEFORE (NULL: none), the zones are not
 * read again: then *OUT has_same_zones. All else is read, since other files belong to it, too.
 */
int config_load_again(struct config **out, const char *path, const struct config *before, char *err,
		      size_t err_cap) __attribute__((warn_unused_result));

/*
 * True if all files of the configuration at PATH have the text that has this digest, and the same
 * folders were searched for them. Does not look for faults in it.
 */
bool config_has_digest(const char *path, const uint8_t digest[CONFIG_DIGEST_BYTES]);

/*
 * The same, but reads the open file FD from its start, as if it were at PATH: relative paths in it
 * start at the folder of PATH, and the configuration's path is PATH. ERR calls the file FROM. FD
 * stays open; it must be a regular file.
 */
int config_load_as(struct config **out, int fd, const char *from, const char *path, char *err,
		   size_t err_cap) __attribute__((warn_unused_result));

/* The item with that name, or NULL. Names of keys have the form of zones' names. */
const struct config_tsig_key *config_find_key(const struct config *config, const char *name);
const struct config_remote *config_find_remote(const struct config *config, const char *name);
const struct config_signing *config_find_signing(const struct config *config, const char *name);
const struct config_zone *config_find_template(const struct config *config, const char *name);
const struct config_interface *config_find_interface(const struct config *config, const char *name);

/* True if two items of loaded configurations have the same values. Pure. */
bool config_interface_is_same(const struct config_interface *a, const struct config_interface *b);

/*
 * Searches from key number *AT on for a key that needs a start and has different values in two
 * configurations. *AT is then the number after it. NULL: there is none.
 */
const struct words_key *config_next_for_start(const struct config *running,
					      const struct config *next, unsigned int *at);

/* The key that makes a zone need server.storage, such as "primaries"; NULL: it does not need it. */
const char *config_zone_storage_key(const struct config_zone *zone);

/*
 * If SENTENCE, in a buffer of CAP octets, begins with the path of a key that names a file
 * ("recursion.root-hints: ..."), writes the place of that key before it: "FILE:LINE: ". For faults
 * of files that are opened after the configuration was read. A key below a list has no place.
 */
void config_locate(const struct config *config, char *sentence, size_t cap);

/* Frees zones and text of a configuration that is read no further, and gives the memory of a
 * million zones back to the kernel. */
void config_forget_zones(struct config *config);

/* Frees a list of zones that was taken out of a configuration. */
void config_zones_free(struct config_zone *zones, uint32_t n);

/* Frees config_recursion that was taken out of a configuration, and makes it zeros. */
void config_recursion_fini(struct config_recursion *recursion);

/* Frees a configuration and wipes its secrets. NULL is allowed. */
void config_free(struct config *config);

#endif
