/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration as libcyaml loads it: its shape, each value still the text that was written.
 *
 * Values stay text because a refusal has to name line and key and what is accepted, and because sizes,
 * times and "auto or a number" have no libcyaml type. NULL means that the key is absent.
 */
#ifndef VOLLEY_CONFIG_CONFIG_RAW_H
#define VOLLEY_CONFIG_CONFIG_RAW_H

#include <stddef.h>

struct config_raw_list {
	char **items;
	unsigned int n;
};

struct config_raw_tcp {
	char *max_connections;
	char *max_connections_per_client;
	char *idle_timeout;
	char *max_queries;
};

struct config_raw_cookies {
	char *secret;
	struct config_raw_list secret_files;
	char *rotate;
};

struct config_raw_tls {
	struct config_raw_list listen;
	char *certificate;
	char *key;
	char *ticket_keys;
};

struct config_raw_server {
	struct config_raw_list listen;
	struct config_raw_list allow;
	char *workers;
	struct config_raw_list control_cores;
	char *max_udp_size;
	char *minimal_responses;
	char *any;
	char *nsid;
	char *version;
	char *identity;
	char *pid_file;
	struct config_raw_tcp tcp;
	struct config_raw_cookies cookies;
	struct config_raw_tls tls;
	char *storage;
	char *storage_size;
	char *transfers_in;
	char *transfers_out;
};

struct config_raw_interface {
	char *name;
	char *xdp;
	char *port;
	char *driver_answers;
	char *zero_copy;
	char *busy_poll;
	char *umem_frames;
	char *ring_size;
	char *queues;
	struct config_raw_list cores;
	struct config_raw_list tunnels;
	char *gue_port;
	struct config_raw_list tunnel_sources;
	char *return_path;
	char *device;
};

struct config_raw_key {
	char *name;
	char *algorithm;
	char *secret;
	char *secret_file;
};

struct config_raw_remote {
	char *name;
	struct config_raw_list address;
	struct config_raw_list source;
	char *key;
	char *tls;
	char *tls_name;
	char *tls_bundle;
	char *tls_pin;
};

struct config_raw_signing {
	char *name;
	char *algorithm;
	char *keys;
	char *denial;
	char *nsec3_iterations;
	char *nsec3_salt_length;
	char *nsec3_opt_out;
	char *cds;
	char *key_folder;
	char *signature_lifetime;
	char *refresh;
	char *jitter;
	char *dnskey_ttl;
	char *zsk_lifetime;
	char *ksk_lifetime;
	char *propagation_delay;
	char *parent_ds_ttl;
	char *parent_propagation_delay;
};

struct config_raw_group {
	char *group;
	char *template_name;
};

/* A zone, and a template. */
struct config_raw_zone {
	char *name;
	char *template_name;
	char *file;
	struct config_raw_list verify;
	char *verify_timeout;
	struct config_raw_list primaries;
	struct config_raw_list notify;
	struct config_raw_list allow_transfer;
	struct config_raw_list allow_notify;
	struct config_raw_list allow_update;
	char *ixfr;
	char *journal_size;
	char *zonefile_sync;
	char *max_transfer_size;
	char *max_transfer_time;
	char *refresh_min;
	char *refresh_max;
	char *retry_min;
	char *retry_max;
	char *expire_min;
	char *expire_max;
	char *signing;
	char *driver_denials;
	char *zonemd;
	char *catalog;
	char *member_of;
	char *group;
	struct config_raw_group *groups;
	unsigned int n_groups;
};

struct config_raw_cache {
	char *size;
	char *orphan_serve;
	char *snapshot;
	char *snapshot_interval;
	char *names;
	char *intervals;
};

/* A stub zone, and a forward zone. */
struct config_raw_stub {
	char *zone;
	char *address;
	char *first;
	char *transport;
};

struct config_raw_rpz {
	char *name;
	char *file;
	char *zone;
	char *ede;
};

struct config_raw_recursion {
	struct config_raw_list allow;
	struct config_raw_list forward;
	char *forward_first;
	char *transport;
	char *tls_bundle;
	struct config_raw_stub *forward_zones;
	unsigned int n_forward_zones;
	struct config_raw_stub *stubs;
	unsigned int n_stubs;
	char *do_ip4;
	char *do_ip6;
	struct config_raw_list outgoing_interface;
	char *root_hints;
	char *trust_anchor;
	char *auto_trust_anchor;
	struct config_raw_list domain_insecure;
	char *root_key_sentinel;
	char *qname_minimisation;
	char *qname_minimisation_strict;
	char *aggressive_nsec;
	char *caps_for_id;
	struct config_raw_list caps_exempt;
	char *harden_glue;
	char *harden_referral_path;
	char *harden_below_nxdomain;
	char *harden_dnssec_stripped;
	char *harden_algo_downgrade;
	struct config_raw_list private_address;
	struct config_raw_list private_domain;
	char *dns64;
	char *dns64_prefix;
	char *dns64_synthall;
	char *max_query_restarts;
	char *outbound_msg_retry;
	char *target_fetch_policy;
	char *query_localhost;
	char *root_copy;
	char *threads;
	char *max_outstanding;
	char *max_per_client;
	char *upstream_timeout;
	char *query_timeout;
	char *max_ttl;
	char *min_ttl;
	char *max_negative_ttl;
	char *serve_stale;
	char *stale_client_timeout;
	char *stale_reply_ttl;
	char *prefetch;
	struct config_raw_list local_data;
	char *special_names;
	struct config_raw_list special_names_off;
	struct config_raw_rpz *rpz;
	unsigned int n_rpz;
};

struct config_raw_rrl {
	char *answers;
	char *octets;
	char *slip;
	char *dry_run;
	struct config_raw_list exempt;
};

struct config_raw_block {
	char *file;
	char *action;
	char *why;
};

struct config_raw_policy {
	struct config_raw_block *block;
	unsigned int n_block;
};

struct config_raw_dnstap {
	char *socket;
	char *tcp;
	char *file;
	char *identity;
	char *version;
	char *sample;
	char *client_prefix;
	struct config_raw_list messages;
};

struct config_raw_query_log {
	char *file;
	char *journal;
	char *format;
	char *sample;
	char *client_prefix;
	struct config_raw_list zones;
	struct config_raw_list rcodes;
	struct config_raw_list clients;
};

struct config_raw_dpdk {
	char *huge_pages;
	char *memory;
	struct config_raw_list options;
};

struct config_raw_control {
	char *socket;
	char *mode;
};

struct config_raw_metrics {
	char *listen;
};

struct config_raw_log {
	char *level;
	char *format;
};

struct config_raw {
	struct config_raw_server server;
	struct config_raw_interface *interfaces;
	unsigned int n_interfaces;
	struct config_raw_cache cache;
	struct config_raw_key *keys;
	unsigned int n_keys;
	struct config_raw_remote *remotes;
	unsigned int n_remotes;
	struct config_raw_signing *signing;
	unsigned int n_signing;
	struct config_raw_zone *templates;
	unsigned int n_templates;
	struct config_raw_zone *zones;
	unsigned int n_zones;
	struct config_raw_recursion recursion;
	struct config_raw_rrl rrl;
	struct config_raw_policy policy;
	struct config_raw_dnstap dnstap;
	struct config_raw_query_log query_log;
	struct config_raw_dpdk dpdk;
	struct config_raw_control control;
	struct config_raw_metrics metrics;
	struct config_raw_log log;
};

/*
 * Loads LEN bytes of YAML. On success *OUT is to be given to config_raw_free(). On failure ERR holds
 * libcyaml's sentence; text that yamlwalk() and the key table have passed fails only for want of
 * memory. Returns 0, -EINVAL or -ENOMEM. Any thread.
 */
int config_raw_load(struct config_raw **out, const char *text, size_t len, char *err,
		    size_t err_cap) __attribute__((warn_unused_result));

/* Wipes the secrets in it. */
void config_raw_free(struct config_raw *raw);

#endif
