/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration: a YAML file read once into plain values, all of them checked.
 *
 *	files ─► document: a tree, each node with its line and its row of the table
 *	       ─► reader: each row's text or default, parsed, held against its bounds ─► its field
 *	       ─► config_*.c: what depends on more than one key
 *
 * A row of words_*.c says what a key means, its type, its bounds, its default and its field here.
 * So a new key is a row and a field; what is derived from rows is in config/words.h.
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

struct config_addr {
	uint16_t family; /* AF_INET or AF_INET6 */
	__be16 net_port;
	/* wire order; IPv4 in the first four bytes, zeros behind; zeros: wildcard */
	uint8_t addr[16];
};

#define CONFIG_PREFIXES_MAX       4096u /* of a list */
#define CONFIG_TUNNEL_SOURCES_MAX 16u
#define CONFIG_INTERFACES_MAX     64u /* that a daemon has, commanded ones included */

/* Addresses with the same first bits; those behind are 0. */
#define CONFIG_BLOCK_LISTS_MAX 255u

struct config_prefix {
	uint8_t family; /* AF_INET or AF_INET6; no IPv4-mapped addresses */
	uint8_t bits;   /* to 32 or 128 */
	uint8_t addr[16];
};

/* In the order of the choices of the key. */
enum config_xdp { CONFIG_XDP_AUTO, CONFIG_XDP_NATIVE, CONFIG_XDP_GENERIC, CONFIG_XDP_OFF };
enum config_port { CONFIG_PORT_AUTO, CONFIG_PORT_XSK, CONFIG_PORT_DPDK, CONFIG_PORT_SOCKET };
enum config_any { CONFIG_ANY_MINIMAL, CONFIG_ANY_FULL };
enum config_zero_copy { CONFIG_ZERO_COPY_AUTO, CONFIG_ZERO_COPY_ON, CONFIG_ZERO_COPY_OFF };
enum config_return { CONFIG_RETURN_SWAP, CONFIG_RETURN_FIB };
enum config_transport { CONFIG_TRANSPORT_UDP, CONFIG_TRANSPORT_TCP, CONFIG_TRANSPORT_TLS };

struct config_interface {
	char name[IF_NAMESIZE];
	enum config_xdp xdp;
	enum config_port port;
	enum config_zero_copy zero_copy;
	bool driver_answers;
	/* that are taken off: VOLLEY_TUNNEL_*, as bits in the order of the choices */
	uint8_t tunnels;
	__be16 net_gue_port;
	struct config_prefix
		*tunnel_sources;   /* whose tunnels are taken off, none twice; NULL: everyone's */
	uint32_t n_tunnel_sources; /* at most CONFIG_TUNNEL_SOURCES_MAX */
	enum config_return return_path;
	uint32_t busy_poll_budget; /* packets a poll, 0: off */
	uint32_t n_umem_frames;    /* of each queue; a power of two, at least 2 * ring_size */
	uint32_t ring_size;        /* a power of two */
	uint32_t n_queues;         /* 0: auto, as many as the interface has */
	uint32_t n_cores;          /* 0: not given; else n_queues, when that is a number */
	uint16_t *cores;           /* processor of each queue, none twice */
	char *device;              /* for DPDK; NULL: net_af_xdp on the interface */
};

struct config_cookie_secret {
	uint8_t secret[16];
	char *file; /* NULL: it stands in the configuration */
};

enum config_tsig { CONFIG_TSIG_SHA256, CONFIG_TSIG_SHA384, CONFIG_TSIG_SHA512 };

struct config_tsig_key {
	char *name; /* as a zone's */
	enum config_tsig algorithm;
	uint8_t *secret;
	uint32_t n_secret;
};

/* How far the other side of a TLS connection has to prove who it is: RFC 9103 section 9.3. */
enum config_tls { CONFIG_TLS_OFF, CONFIG_TLS_OPPORTUNISTIC, CONFIG_TLS_STRICT };

/* Another name server, which zones name as a primary, as one to be notified, or both. */
struct config_remote {
	char *name;
	struct config_addr *addresses; /* at least one, tried in turn; port 53, or 853 with TLS */
	uint32_t n_addresses;
	struct config_addr *source; /* to ask from, one of each family at most */
	uint32_t n_source;
	char *key; /* of config.keys, or NULL */
	enum config_tls tls;
	char *tls_name;   /* of its certificate, no dot at the end; strict needs it or tls_pin */
	char *tls_bundle; /* of authorities; NULL: the system's */
	uint8_t *tls_pin; /* SHA-256 of its public key (RFC 7858 section 4.2), 32 octets, or NULL */
};

/* Who may: an address, a key, or both at once. */
struct config_rule {
	bool has_prefix;
	bool has_tls; /* only over TLS */
	struct config_prefix prefix;
	char *key; /* or NULL */
};

struct config_rules {
	struct config_rule *rules; /* the first that fits allows; none: nobody */
	uint32_t n;
};

enum config_denial { CONFIG_DENIAL_NSEC, CONFIG_DENIAL_NSEC3 };
enum config_sign_algorithm {
	CONFIG_SIGN_ECDSAP256SHA256,
	CONFIG_SIGN_ECDSAP384SHA384,
	CONFIG_SIGN_ED25519,
	CONFIG_SIGN_RSASHA256,
};

/* How a zone is signed (RFC 6781, RFC 7583); times in seconds. */
struct config_signing {
	char *name;
	enum config_sign_algorithm algorithm;
	bool single_key; /* a CSK; else KSK and ZSK */
	enum config_denial denial;
	uint16_t nsec3_iterations;
	uint8_t nsec3_salt_bytes;
	bool nsec3_opt_out;
	bool cds; /* CDS and CDNSKEY at the apex while a new key waits for its DS: RFC 7344 */
	char *key_folder;     /* NULL: "keys" in server.storage */
	uint32_t signature_s; /* how long a signature holds */
	uint32_t refresh_s;   /* renewed so long before its end */
	uint32_t jitter_s;    /* at most, off the end of each */
	uint32_t dnskey_ttl_s;
	uint32_t zsk_lifetime_s; /* 0: no rollover by itself; the CSK's or KSK's likewise */
	uint32_t ksk_lifetime_s;
	uint32_t propagation_s; /* until all secondaries have a change */
	uint32_t parent_ttl_s;  /* of the DS RRset, and until the parent's servers have a change */
	uint32_t parent_propagation_s;
};

enum config_denials { CONFIG_DENIALS_AUTO, CONFIG_DENIALS_OFF };
enum config_zonemd { CONFIG_ZONEMD_CHECK, CONFIG_ZONEMD_REQUIRE };
enum config_catalog { CONFIG_CATALOG_NONE, CONFIG_CATALOG_CONSUME, CONFIG_CATALOG_PRODUCE };

/*
 * A zone, with what its template says. A template is one, too, with a name of ours and what a zone
 * of it has; only its file is a pattern (config/member.h), and members of catalogs are made from
 * it.
 */
struct config_zone {
	char *name; /* presentation form, lower case, absolute: "example.com." */
	/*
	 * Absolute, or relative to the working directory as the configuration's path is. Never NULL
	 * but for a template: what a zone with primaries or catalog does not say is
	 * "zones/NAME.zone" in server.storage.
	 */
	char *file;
	struct verify verify; /* the command likewise, or without a slash: looked for in PATH */
	char *template_name;  /* or NULL */
	/* names of remotes; NULL behind the last, or NULL: it is a primary itself */
	char **primaries;
	char **notify; /* likewise: told of each change, beside nobody else */
	struct config_rules allow_transfer;
	struct config_rules allow_notify; /* beside the primaries, who may */
	struct config_rules allow_update;
	bool ixfr; /* asks primaries for changes, gives them; false: whole zones only */
	uint64_t journal_bytes;   /* of changes that are kept, for IXFR out */
	uint32_t zonefile_sync_s; /* from a change to its being in the file; 0: see the key */
	uint64_t transfer_bytes;  /* a zone that comes is no larger */
	uint32_t transfer_s;      /* nor takes longer */
	uint32_t refresh_min_s, refresh_max_s; /* bounds of what the SOA says, likewise */
	uint32_t retry_min_s, retry_max_s;
	uint32_t expire_min_s, expire_max_s;
	char *signing; /* name of a policy, or NULL: served as it is */
	/* what the driver denies of it by itself (xdp/names.h) */
	enum config_denials driver_denials;
	enum config_zonemd zonemd;
	/* recursion.root-copy: the resolver asks it, and no client does. Only of the zone "." */
	bool is_root_copy;
	enum config_catalog catalog;
	char *member_of;      /* a zone that is produced as a catalog, or NULL */
	char *member_group;   /* its group property there, or NULL */
	struct config_group { /* of a catalog that is consumed: templates for groups */
		char *group;  /* NULL: all others */
		char *template_name;
	} * groups;
	uint32_t n_groups;
};

/* Whether primaries may be asked for changes; of an incremental transfer ZONEMD is not checked. */
static inline bool config_zone_asks_ixfr(const struct config_zone *zone)
{
	return zone->ixfr && !zone->is_root_copy && zone->zonemd != CONFIG_ZONEMD_REQUIRE;
}

enum config_huge { CONFIG_HUGE_AUTO, CONFIG_HUGE_ON, CONFIG_HUGE_OFF };

struct config_dpdk {
	enum config_huge huge_pages;
	uint64_t memory_bytes;
	char **options; /* more words for the EAL; NULL behind the last, or NULL */
};

/* A stub zone, or a forward zone. One of several addresses of a zone: all of these say the same
 * else. */
struct config_stub {
	char *zone;                      /* as a zone's name */
	char *address;                   /* "192.0.2.1@53", with TLS "192.0.2.1@853#name" */
	bool first;                      /* where it gives no answer, ask as if it were not there */
	enum config_transport transport; /* recursion.transport where nothing is said */
};

struct config_rpz {
	char *name;        /* as a zone's */
	char *file;        /* NULL: it is the zone of this name that is served here */
	uint16_t ede_code; /* of RFC 8914: 15 to 18 */
};

struct config_recursion {
	struct config_prefix *allow; /* none twice; without any there is no recursion */
	uint32_t n_allow;
	char **forward; /* "192.0.2.1@53", with TLS "192.0.2.1@853#name"; NULL behind the last, or NULL */
	bool forward_first;
	enum config_transport transport;
	char *tls_bundle; /* NULL: none, as all paths here */
	char *root_hints;
	char *trust_anchor;
	char *auto_trust_anchor;
	char **domain_insecure; /* as zones' names; NULL behind the last, or NULL */
	bool do_ip4;            /* one of these two at least */
	bool do_ip6;
	char **outgoing_interface; /* addresses without ports; as forward */
	bool root_key_sentinel;
	bool qname_minimisation;
	bool qname_minimisation_strict;
	bool aggressive_nsec;
	bool caps_for_id; /* where has_caps_for_id is set, else the way upstream decides */
	bool has_caps_for_id;
	char **caps_exempt; /* as domain_insecure */
	bool harden_glue;
	bool harden_referral_path;
	bool harden_below_nxdomain;
	bool harden_dnssec_stripped;
	bool harden_algo_downgrade;
	char **private_address; /* prefixes as text; as forward */
	char **private_domain;  /* as domain_insecure */
	char *dns64_prefix;     /* "64:ff9b::/96"; NULL: no DNS64 */
	bool dns64_synthall;
	uint32_t max_query_restarts;
	uint32_t outbound_msg_retry; /* 0: nothing is said */
	char *target_fetch_policy;   /* numbers with spaces between them; NULL: nothing is said */
	bool query_localhost;
	bool root_copy; /* there is a zone ".", with is_root_copy set */
	bool prefetch;
	uint32_t n_threads;
	uint32_t max_outstanding;
	uint32_t max_per_client; /* 0: no limit */
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
	char **local_data; /* records as text; as forward */
	bool special_names;
	char **special_names_off; /* each with a special name at or below it; as domain_insecure */
	struct config_rpz *rpz;   /* in the order of their precedence */
	uint32_t n_rpz;
};

struct config_rrl {
	uint32_t answers; /* a second, to one address; 0: no limit */
	uint32_t octets;  /* likewise */
	uint32_t slip;
	bool dry_run;
	struct config_prefix *exempt; /* none twice */
	uint32_t n_exempt;
};

/* In the order of the choices of the key, as enum volley_block_action from VOLLEY_BLOCK_DROP on. */
enum config_block_action {
	CONFIG_BLOCK_DROP,
	CONFIG_BLOCK_REFUSE,
	CONFIG_BLOCK_TRUNCATE,
	CONFIG_BLOCK_UP,
	CONFIG_BLOCK_ALLOW,
};

struct config_block {
	char *file;
	char *why; /* or NULL */
	enum config_block_action action;
};

/* How many answers are told, and how much of a client's address. */
struct config_tap {
	bool is_on;
	uint32_t sample;      /* one in so many */
	uint8_t bits4, bits6; /* that stay of an address */
};

struct config_dnstap {
	struct config_tap tap;
	char *socket; /* one of these three, or NULL */
	char *file;
	struct config_addr tcp; /* family 0: none */
	char *identity;         /* NULL: none is said; likewise version */
	char *version;
	uint32_t messages; /* a bit for each choice; never 0 */
};

struct config_query_log {
	struct config_tap tap;
	char *file; /* NULL: the journal */
	bool is_json;
	char **zones;    /* as forward zones of recursion: NULL behind the last; NULL: all */
	uint64_t rcodes; /* a bit for each; 0: all */
	struct config_prefix *clients; /* none: all */
	uint32_t n_clients;
};

struct config {
	char *path; /* as given to config_load() */
	/* what the file says, n_text octets and a zero byte, with its secrets: for
	 * config/settings.h */
	char *text;
	size_t n_text;
	/* of the files that were read those with a secret in them, NULL behind the last; NULL:
	 * none */
	char **secret_files;

	struct config_addr *listen; /* at least one, none twice */
	uint32_t n_listen;
	struct config_prefix *allow; /* who may ask for our zones, none twice; NULL: everyone */
	uint32_t n_allow;
	uint32_t n_workers; /* 0: auto */
	/* of all threads but workers; none twice; none: what workers leave */
	uint16_t *control_cores;
	uint32_t n_control_cores;
	uint16_t max_udp_size_bytes;
	bool minimal_responses;
	enum config_any any;
	uint8_t *nsid; /* n_nsid octets; NULL: none */
	uint32_t n_nsid;
	char *version;  /* NULL: not told */
	char *identity; /* likewise */
	struct config_cookie_secret
		cookie_secrets[VOLLEY_COOKIE_SECRETS]; /* the first makes cookies; none twice */
	uint32_t n_cookie_secrets;                     /* 0: volleyd makes its own */
	uint32_t cookie_rotate_s;                      /* these; 0: by command alone */
	uint32_t tcp_connections_cap;                  /* over all workers and addresses */
	uint32_t tcp_client_cap;                       /* of one client's prefix; 0: half of them */
	uint32_t tcp_idle_s;
	uint32_t tcp_queries_max; /* of one connection, 0: no limit */
	uint32_t tcp_backlog;     /* connections that wait to be accepted; 0: the kernel's most */

	struct config_interface *interfaces; /* none twice */
	uint32_t n_interfaces;

	uint64_t cache_size_bytes;
	uint32_t cache_orphan_serve_s;
	char *cache_snapshot;               /* NULL: none */
	uint32_t cache_snapshot_interval_s; /* 0: at the end only */
	uint32_t cache_names_lines;     /* of the filter of names (xdp/names.h); 0: there is none */
	uint32_t cache_intervals_lines; /* behind it (xdp/intervals.h); 0: there are none */

	char *storage; /* folder for journals, zones that come from elsewhere, keys; or NULL */
	uint64_t storage_bytes;         /* that the journals take at most */
	struct config_addr *tls_listen; /* DNS over TLS, for transfers above all: RFC 9103 */
	uint32_t n_tls_listen;
	char *tls_certificate; /* files in PEM; NULL: none, then none may listen */
	char *tls_key;
	char *tls_ticket_keys; /* a file, read by transfer/ticket_keys.h; NULL: random ones */
	struct config_tsig_key *keys;
	uint32_t n_keys;
	struct config_remote *remotes;
	uint32_t n_remotes;
	struct config_signing *signing;
	uint32_t n_signing;
	struct config_zone *templates;
	uint32_t n_templates;
	uint32_t n_transfers; /* that run at a time, in; likewise out */
	uint32_t n_transfers_out;
	struct config_zone *zones; /* none twice */
	uint32_t n_zones;

	struct config_recursion recursion;
	struct config_rrl rrl;
	struct config_block *block; /* lists; the first that has something holds */
	uint32_t n_block;           /* at most CONFIG_BLOCK_LISTS_MAX */
	struct config_dpdk dpdk;
	struct config_dnstap dnstap;
	struct config_query_log query_log;

	char *control_socket;
	mode_t control_mode;        /* permission bits */
	struct config_addr metrics; /* where they are told; family 0: nowhere */
	enum log_level log_level;
	enum log_format log_format;
	char *pid_file; /* never NULL: the lock of a running daemon, see bpf/lock.h */

	/* Of all that is said with each key that needs a start, by words_key_number(). */
	uint64_t start_digests[WORDS_KEYS_MAX];
};

/*
 * Reads the file at PATH. On success *OUT is a new configuration, to be given to config_free(), and
 * ERR is "". On failure *OUT is NULL and ERR holds one sentence that ends in a zero byte and names
 * the place as "FILE:LINE: key: sentence" ("FILE: sentence" where no line is at fault); 512 bytes
 * hold any but the longest paths.
 *
 * Nothing outside of the file is looked at but the secrets of keys that have a file: whether
 * interfaces, cores and zone files exist is for those who open them. May be called while another
 * configuration is in use; any one thread. Returns 0, ERR_CONFIG for a configuration at fault,
 * -ENOMEM, or the -errno of reading the file.
 */
int config_load(struct config **out, const char *path, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * The same, of the file at FROM, as if it stood at PATH: relative paths in it start at the folder
 * of PATH, and that is the path of the configuration; ERR names FROM.
 */
int config_load_as(struct config **out, const char *from, const char *path, char *err,
		   size_t err_cap) __attribute__((warn_unused_result));

/* What has that name, or NULL; as long as the configuration. Key names are in the form of
 * zones'. */
const struct config_tsig_key *config_find_key(const struct config *config, const char *name);
const struct config_remote *config_find_remote(const struct config *config, const char *name);
const struct config_signing *config_find_signing(const struct config *config, const char *name);
const struct config_zone *config_find_template(const struct config *config, const char *name);
const struct config_interface *config_find_interface(const struct config *config, const char *name);

/* Whether two items of configurations that were loaded say the same of an interface. Pure. */
bool config_interface_is_same(const struct config_interface *a, const struct config_interface *b);

/*
 * From key number *AT on, the first that needs a start and with which two configurations do not say
 * the same; *AT goes behind it. NULL: there is none.
 */
const struct words_key *config_next_for_start(const struct config *running,
					      const struct config *next, unsigned int *at);

/* The key for which a zone needs server.storage ("primaries"); NULL: it needs none. */
const char *config_zone_storage_key(const struct config_zone *zone);

/* Frees a list of zones that was taken out of a configuration. */
void config_zones_free(struct config_zone *zones, uint32_t n);

/* The same of what it says of recursion, where that was taken out; it is zeros then. */
void config_recursion_fini(struct config_recursion *recursion);

/* Frees what config_load() made; NULL is allowed. Secrets are wiped. */
void config_free(struct config *config);

#endif
