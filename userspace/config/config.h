/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The configuration: a YAML file read once into plain values, all of them checked.
 *
 *	text ──► yamlwalk: shape, unknown and repeated keys ──► libcyaml (config_raw): text of each value
 *	                    ▲                                                   │
 *	                    └── line of the key at fault ◄── value: checked ◄───┘──► struct config
 *
 * What each key means, its bounds and its default are in config/words_keys.c and nowhere else.
 */
#ifndef VOLLEY_CONFIG_CONFIG_H
#define VOLLEY_CONFIG_CONFIG_H

#include <linux/types.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "config/verify.h"

struct config_addr {
	uint16_t family; /* AF_INET or AF_INET6 */
	__be16 net_port;
	uint8_t addr[16]; /* wire order; IPv4 in the first four bytes, zeros behind; zeros: wildcard */
};

#define CONFIG_PREFIXES_MAX 4096u /* of a list */

/* Addresses with the same first bits; those behind are 0. */
struct config_prefix {
	uint8_t family; /* AF_INET or AF_INET6; no IPv4-mapped addresses */
	uint8_t bits;   /* to 32 or 128 */
	uint8_t addr[16];
};

/* In the order of the choices in words_keys.c. */
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
	uint8_t tunnels; /* that are taken off: VOLLEY_TUNNEL_*, as bits in the order of the choices */
	__be16 net_gue_port;
	enum config_return return_path;
	uint32_t busy_poll_budget; /* packets a poll, 0: off */
	uint32_t n_umem_frames;    /* of each queue; a power of two, at least 2 * ring_size */
	uint32_t ring_size;        /* a power of two */
	uint32_t n_queues;         /* 0: auto, as many as the interface has */
	uint32_t n_cores;          /* 0: not given; else n_queues, when that is a number */
	uint16_t *cores;           /* processor of each queue, none twice */
	char *device;              /* for DPDK; NULL: net_af_xdp on the interface */
};

struct config_zone {
	char *name; /* presentation form, lower case, absolute: "example.com." */
	char *file; /* absolute, or relative to the working directory as the configuration's path is */
	struct verify verify; /* the command likewise, or without a slash: looked for in PATH */
};

enum config_huge { CONFIG_HUGE_AUTO, CONFIG_HUGE_ON, CONFIG_HUGE_OFF };

struct config_dpdk {
	enum config_huge huge_pages;
	uint64_t memory_bytes;
	char **options; /* more words for the EAL; NULL behind the last, or NULL */
};

struct config_stub {
	char *zone;    /* as a zone's name */
	char *address; /* "192.0.2.1@53" */
};

struct config_rpz {
	char *name; /* as a zone's */
	char *file;
};

struct config_recursion {
	struct config_prefix *allow; /* none twice; without any there is no recursion */
	uint32_t n_allow;
	char **forward; /* "192.0.2.1@53", with TLS "192.0.2.1@853#name"; NULL behind the last, or NULL */
	enum config_transport transport;
	char *tls_bundle; /* NULL: none, as all paths here */
	char *root_hints;
	char *trust_anchor;
	char *auto_trust_anchor;
	bool qname_minimisation;
	bool aggressive_nsec;
	bool caps_for_id;
	bool query_localhost;
	bool prefetch;
	uint32_t n_threads;
	uint32_t max_outstanding;
	uint32_t max_per_client; /* 0: no limit */
	uint32_t upstream_timeout_ms;
	uint32_t query_timeout_ms;
	uint32_t stale_client_timeout_ms;
	uint32_t serve_stale_s; /* 0: off */
	uint32_t max_ttl_s;
	uint32_t min_ttl_s;
	uint32_t max_negative_ttl_s;
	struct config_stub *stubs;
	uint32_t n_stubs;
	char **local_data;      /* records as text; as forward */
	struct config_rpz *rpz; /* in the order of their precedence */
	uint32_t n_rpz;
};

struct config {
	char *path; /* as given to config_load() */

	struct config_addr *listen; /* at least one, none twice */
	uint32_t n_listen;
	struct config_prefix *allow; /* who may ask for our zones, none twice; NULL: everyone */
	uint32_t n_allow;
	uint32_t n_workers;      /* 0: auto */
	uint16_t *control_cores; /* of all threads but workers; none twice; none: what workers leave */
	uint32_t n_control_cores;
	uint16_t max_udp_size_bytes;
	bool minimal_responses;
	enum config_any any;
	uint8_t *nsid; /* n_nsid octets; NULL: none */
	uint32_t n_nsid;
	char *version;          /* NULL: not told */
	char *identity;         /* likewise */
	bool has_cookie_secret; /* false: make a random one */
	uint8_t cookie_secret[16];
	uint32_t tcp_connections_cap; /* over all workers */
	uint32_t tcp_idle_s;
	uint32_t tcp_queries_max; /* of one connection, 0: no limit */

	struct config_interface *interfaces; /* none twice */
	uint32_t n_interfaces;

	uint64_t cache_size_bytes;
	uint32_t cache_orphan_serve_s;
	char *cache_snapshot;               /* NULL: none */
	uint32_t cache_snapshot_interval_s; /* 0: at the end only */

	struct config_zone *zones; /* none twice */
	uint32_t n_zones;

	struct config_recursion recursion;
	struct config_dpdk dpdk;

	char *control_socket;
	mode_t control_mode;        /* permission bits */
	struct config_addr metrics; /* where they are told; family 0: nowhere */
	char *pid_file;             /* never NULL: the lock of a running daemon, see bpf/lock.h */
};

/*
 * Reads the file at PATH. On success *OUT is a new configuration, to be given to config_free(), and
 * ERR is "". On failure *OUT is NULL and ERR holds one sentence that ends in a zero byte and names the
 * place as "FILE:LINE: key: sentence" ("FILE: sentence" where no line is at fault); 512 bytes
 * hold any but the longest paths.
 *
 * Nothing outside of the file is looked at: whether interfaces, cores and zone files exist is for
 * those who open them. May be called while another configuration is in use; any one thread.
 * Returns 0, ERR_CONFIG for a configuration at fault, -ENOMEM, or the -errno of reading the file.
 */
int config_load(struct config **out, const char *path, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* Frees a list of zones that was taken out of a configuration. */
void config_zones_free(struct config_zone *zones, uint32_t n);

/* The same of what it says of recursion, where that was taken out; it is zeros then. */
void config_recursion_fini(struct config_recursion *recursion);

/* Frees what config_load() made; NULL is allowed. The cookie secret is wiped. */
void config_free(struct config *config);

#endif
