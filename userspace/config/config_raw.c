/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The libcyaml schema. Keys here and in the tables of words.h are held equal by tests/unit/config/test_config*.c. */
#include "config/config_raw.h"

#include <cyaml/cyaml.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(key, type, member)                                                                \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, 0, \
			       CYAML_UNLIMITED)
#define MAP(key, type, member, fields) \
	CYAML_FIELD_MAPPING(key, CYAML_FLAG_OPTIONAL, type, member, fields)
#define LIST(key, type, member)                                                         \
	CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, \
				   member.items, member.n, &text_value, 0, CYAML_UNLIMITED)
#define MAPS(key, type, member, item)                                                           \
	CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, \
				   n_##member, item, 0, CYAML_UNLIMITED)

static const cyaml_schema_value_t text_value = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, CYAML_UNLIMITED),
};

static const cyaml_schema_field_t tcp_fields[] = {
	TEXT("max-connections", struct config_raw_tcp, max_connections),
	TEXT("max-connections-per-client", struct config_raw_tcp, max_connections_per_client),
	TEXT("idle-timeout", struct config_raw_tcp, idle_timeout),
	TEXT("max-queries", struct config_raw_tcp, max_queries),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t cookies_fields[] = {
	TEXT("secret", struct config_raw_cookies, secret),
	LIST("secret-files", struct config_raw_cookies, secret_files),
	TEXT("rotate", struct config_raw_cookies, rotate),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t tls_fields[] = {
	LIST("listen", struct config_raw_tls, listen),
	TEXT("certificate", struct config_raw_tls, certificate),
	TEXT("key", struct config_raw_tls, key),
	TEXT("ticket-keys", struct config_raw_tls, ticket_keys),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t server_fields[] = {
	LIST("listen", struct config_raw_server, listen),
	LIST("allow", struct config_raw_server, allow),
	TEXT("workers", struct config_raw_server, workers),
	LIST("control-cores", struct config_raw_server, control_cores),
	TEXT("max-udp-size", struct config_raw_server, max_udp_size),
	TEXT("minimal-responses", struct config_raw_server, minimal_responses),
	TEXT("any", struct config_raw_server, any),
	TEXT("nsid", struct config_raw_server, nsid),
	TEXT("version", struct config_raw_server, version),
	TEXT("identity", struct config_raw_server, identity),
	TEXT("pid-file", struct config_raw_server, pid_file),
	MAP("tcp", struct config_raw_server, tcp, tcp_fields),
	MAP("cookies", struct config_raw_server, cookies, cookies_fields),
	MAP("tls", struct config_raw_server, tls, tls_fields),
	TEXT("storage", struct config_raw_server, storage),
	TEXT("storage-size", struct config_raw_server, storage_size),
	TEXT("transfers-in", struct config_raw_server, transfers_in),
	TEXT("transfers-out", struct config_raw_server, transfers_out),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t interface_fields[] = {
	TEXT("name", struct config_raw_interface, name),
	TEXT("xdp", struct config_raw_interface, xdp),
	TEXT("port", struct config_raw_interface, port),
	TEXT("driver-answers", struct config_raw_interface, driver_answers),
	TEXT("zero-copy", struct config_raw_interface, zero_copy),
	TEXT("busy-poll", struct config_raw_interface, busy_poll),
	TEXT("umem-frames", struct config_raw_interface, umem_frames),
	TEXT("ring-size", struct config_raw_interface, ring_size),
	TEXT("queues", struct config_raw_interface, queues),
	LIST("cores", struct config_raw_interface, cores),
	LIST("tunnels", struct config_raw_interface, tunnels),
	TEXT("gue-port", struct config_raw_interface, gue_port),
	LIST("tunnel-sources", struct config_raw_interface, tunnel_sources),
	TEXT("return-path", struct config_raw_interface, return_path),
	TEXT("device", struct config_raw_interface, device),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t interface_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_interface, interface_fields),
};

static const cyaml_schema_field_t cache_fields[] = {
	TEXT("size", struct config_raw_cache, size),
	TEXT("orphan-serve", struct config_raw_cache, orphan_serve),
	TEXT("snapshot", struct config_raw_cache, snapshot),
	TEXT("snapshot-interval", struct config_raw_cache, snapshot_interval),
	TEXT("names", struct config_raw_cache, names),
	TEXT("intervals", struct config_raw_cache, intervals),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t key_fields[] = {
	TEXT("name", struct config_raw_key, name),
	TEXT("algorithm", struct config_raw_key, algorithm),
	TEXT("secret", struct config_raw_key, secret),
	TEXT("secret-file", struct config_raw_key, secret_file),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t key_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_key, key_fields),
};

static const cyaml_schema_field_t remote_fields[] = {
	TEXT("name", struct config_raw_remote, name),
	LIST("address", struct config_raw_remote, address),
	LIST("source", struct config_raw_remote, source),
	TEXT("key", struct config_raw_remote, key),
	TEXT("tls", struct config_raw_remote, tls),
	TEXT("tls-name", struct config_raw_remote, tls_name),
	TEXT("tls-bundle", struct config_raw_remote, tls_bundle),
	TEXT("tls-pin", struct config_raw_remote, tls_pin),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t remote_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_remote, remote_fields),
};

static const cyaml_schema_field_t signing_fields[] = {
	TEXT("name", struct config_raw_signing, name),
	TEXT("algorithm", struct config_raw_signing, algorithm),
	TEXT("keys", struct config_raw_signing, keys),
	TEXT("denial", struct config_raw_signing, denial),
	TEXT("nsec3-iterations", struct config_raw_signing, nsec3_iterations),
	TEXT("nsec3-salt-length", struct config_raw_signing, nsec3_salt_length),
	TEXT("nsec3-opt-out", struct config_raw_signing, nsec3_opt_out),
	TEXT("cds", struct config_raw_signing, cds),
	TEXT("key-folder", struct config_raw_signing, key_folder),
	TEXT("signature-lifetime", struct config_raw_signing, signature_lifetime),
	TEXT("refresh", struct config_raw_signing, refresh),
	TEXT("jitter", struct config_raw_signing, jitter),
	TEXT("dnskey-ttl", struct config_raw_signing, dnskey_ttl),
	TEXT("zsk-lifetime", struct config_raw_signing, zsk_lifetime),
	TEXT("ksk-lifetime", struct config_raw_signing, ksk_lifetime),
	TEXT("propagation-delay", struct config_raw_signing, propagation_delay),
	TEXT("parent-ds-ttl", struct config_raw_signing, parent_ds_ttl),
	TEXT("parent-propagation-delay", struct config_raw_signing, parent_propagation_delay),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t signing_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_signing, signing_fields),
};

static const cyaml_schema_field_t group_fields[] = {
	TEXT("group", struct config_raw_group, group),
	TEXT("template", struct config_raw_group, template_name),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t group_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_group, group_fields),
};

static const cyaml_schema_field_t zone_fields[] = {
	TEXT("name", struct config_raw_zone, name),
	TEXT("template", struct config_raw_zone, template_name),
	TEXT("file", struct config_raw_zone, file),
	LIST("verify", struct config_raw_zone, verify),
	TEXT("verify-timeout", struct config_raw_zone, verify_timeout),
	LIST("primaries", struct config_raw_zone, primaries),
	LIST("notify", struct config_raw_zone, notify),
	LIST("allow-transfer", struct config_raw_zone, allow_transfer),
	LIST("allow-notify", struct config_raw_zone, allow_notify),
	LIST("allow-update", struct config_raw_zone, allow_update),
	TEXT("ixfr", struct config_raw_zone, ixfr),
	TEXT("journal-size", struct config_raw_zone, journal_size),
	TEXT("zonefile-sync", struct config_raw_zone, zonefile_sync),
	TEXT("max-transfer-size", struct config_raw_zone, max_transfer_size),
	TEXT("max-transfer-time", struct config_raw_zone, max_transfer_time),
	TEXT("refresh-min", struct config_raw_zone, refresh_min),
	TEXT("refresh-max", struct config_raw_zone, refresh_max),
	TEXT("retry-min", struct config_raw_zone, retry_min),
	TEXT("retry-max", struct config_raw_zone, retry_max),
	TEXT("expire-min", struct config_raw_zone, expire_min),
	TEXT("expire-max", struct config_raw_zone, expire_max),
	TEXT("signing", struct config_raw_zone, signing),
	TEXT("driver-denials", struct config_raw_zone, driver_denials),
	TEXT("zonemd", struct config_raw_zone, zonemd),
	TEXT("catalog", struct config_raw_zone, catalog),
	TEXT("member-of", struct config_raw_zone, member_of),
	TEXT("group", struct config_raw_zone, group),
	MAPS("groups", struct config_raw_zone, groups, &group_value),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t zone_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_zone, zone_fields),
};

static const cyaml_schema_field_t stub_fields[] = {
	TEXT("zone", struct config_raw_stub, zone),
	TEXT("address", struct config_raw_stub, address),
	TEXT("first", struct config_raw_stub, first),
	TEXT("transport", struct config_raw_stub, transport),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t stub_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_stub, stub_fields),
};

static const cyaml_schema_field_t rpz_fields[] = {
	TEXT("name", struct config_raw_rpz, name),
	TEXT("file", struct config_raw_rpz, file),
	TEXT("zone", struct config_raw_rpz, zone),
	TEXT("ede", struct config_raw_rpz, ede),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t rpz_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_rpz, rpz_fields),
};

static const cyaml_schema_field_t recursion_fields[] = {
	LIST("allow", struct config_raw_recursion, allow),
	LIST("forward", struct config_raw_recursion, forward),
	TEXT("forward-first", struct config_raw_recursion, forward_first),
	TEXT("transport", struct config_raw_recursion, transport),
	TEXT("tls-bundle", struct config_raw_recursion, tls_bundle),
	MAPS("forward-zones", struct config_raw_recursion, forward_zones, &stub_value),
	MAPS("stubs", struct config_raw_recursion, stubs, &stub_value),
	TEXT("do-ip4", struct config_raw_recursion, do_ip4),
	TEXT("do-ip6", struct config_raw_recursion, do_ip6),
	LIST("outgoing-interface", struct config_raw_recursion, outgoing_interface),
	TEXT("root-hints", struct config_raw_recursion, root_hints),
	TEXT("trust-anchor", struct config_raw_recursion, trust_anchor),
	TEXT("auto-trust-anchor", struct config_raw_recursion, auto_trust_anchor),
	LIST("domain-insecure", struct config_raw_recursion, domain_insecure),
	TEXT("root-key-sentinel", struct config_raw_recursion, root_key_sentinel),
	TEXT("qname-minimisation", struct config_raw_recursion, qname_minimisation),
	TEXT("qname-minimisation-strict", struct config_raw_recursion, qname_minimisation_strict),
	TEXT("aggressive-nsec", struct config_raw_recursion, aggressive_nsec),
	TEXT("caps-for-id", struct config_raw_recursion, caps_for_id),
	LIST("caps-exempt", struct config_raw_recursion, caps_exempt),
	TEXT("harden-glue", struct config_raw_recursion, harden_glue),
	TEXT("harden-referral-path", struct config_raw_recursion, harden_referral_path),
	TEXT("harden-below-nxdomain", struct config_raw_recursion, harden_below_nxdomain),
	TEXT("harden-dnssec-stripped", struct config_raw_recursion, harden_dnssec_stripped),
	TEXT("harden-algo-downgrade", struct config_raw_recursion, harden_algo_downgrade),
	LIST("private-address", struct config_raw_recursion, private_address),
	LIST("private-domain", struct config_raw_recursion, private_domain),
	TEXT("dns64", struct config_raw_recursion, dns64),
	TEXT("dns64-prefix", struct config_raw_recursion, dns64_prefix),
	TEXT("dns64-synthall", struct config_raw_recursion, dns64_synthall),
	TEXT("max-query-restarts", struct config_raw_recursion, max_query_restarts),
	TEXT("outbound-msg-retry", struct config_raw_recursion, outbound_msg_retry),
	TEXT("target-fetch-policy", struct config_raw_recursion, target_fetch_policy),
	TEXT("query-localhost", struct config_raw_recursion, query_localhost),
	TEXT("root-copy", struct config_raw_recursion, root_copy),
	TEXT("threads", struct config_raw_recursion, threads),
	TEXT("max-outstanding", struct config_raw_recursion, max_outstanding),
	TEXT("max-per-client", struct config_raw_recursion, max_per_client),
	TEXT("upstream-timeout", struct config_raw_recursion, upstream_timeout),
	TEXT("query-timeout", struct config_raw_recursion, query_timeout),
	TEXT("max-ttl", struct config_raw_recursion, max_ttl),
	TEXT("min-ttl", struct config_raw_recursion, min_ttl),
	TEXT("max-negative-ttl", struct config_raw_recursion, max_negative_ttl),
	TEXT("serve-stale", struct config_raw_recursion, serve_stale),
	TEXT("stale-client-timeout", struct config_raw_recursion, stale_client_timeout),
	TEXT("stale-reply-ttl", struct config_raw_recursion, stale_reply_ttl),
	TEXT("prefetch", struct config_raw_recursion, prefetch),
	LIST("local-data", struct config_raw_recursion, local_data),
	TEXT("special-names", struct config_raw_recursion, special_names),
	LIST("special-names-off", struct config_raw_recursion, special_names_off),
	MAPS("rpz", struct config_raw_recursion, rpz, &rpz_value),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t rrl_fields[] = {
	TEXT("answers", struct config_raw_rrl, answers),
	TEXT("octets", struct config_raw_rrl, octets),
	TEXT("slip", struct config_raw_rrl, slip),
	TEXT("dry-run", struct config_raw_rrl, dry_run),
	LIST("exempt", struct config_raw_rrl, exempt),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t block_fields[] = {
	TEXT("file", struct config_raw_block, file),
	TEXT("action", struct config_raw_block, action),
	TEXT("why", struct config_raw_block, why),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t block_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_block, block_fields),
};

static const cyaml_schema_field_t policy_fields[] = {
	MAPS("block", struct config_raw_policy, block, &block_value),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t dnstap_fields[] = {
	TEXT("socket", struct config_raw_dnstap, socket),
	TEXT("tcp", struct config_raw_dnstap, tcp),
	TEXT("file", struct config_raw_dnstap, file),
	TEXT("identity", struct config_raw_dnstap, identity),
	TEXT("version", struct config_raw_dnstap, version),
	TEXT("sample", struct config_raw_dnstap, sample),
	TEXT("client-prefix", struct config_raw_dnstap, client_prefix),
	LIST("messages", struct config_raw_dnstap, messages),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t query_log_fields[] = {
	TEXT("file", struct config_raw_query_log, file),
	TEXT("journal", struct config_raw_query_log, journal),
	TEXT("format", struct config_raw_query_log, format),
	TEXT("sample", struct config_raw_query_log, sample),
	TEXT("client-prefix", struct config_raw_query_log, client_prefix),
	LIST("zones", struct config_raw_query_log, zones),
	LIST("rcodes", struct config_raw_query_log, rcodes),
	LIST("clients", struct config_raw_query_log, clients),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t dpdk_fields[] = {
	TEXT("huge-pages", struct config_raw_dpdk, huge_pages),
	TEXT("memory", struct config_raw_dpdk, memory),
	LIST("options", struct config_raw_dpdk, options),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t control_fields[] = {
	TEXT("socket", struct config_raw_control, socket),
	TEXT("mode", struct config_raw_control, mode),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t metrics_fields[] = {
	TEXT("listen", struct config_raw_metrics, listen),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t log_fields[] = {
	TEXT("level", struct config_raw_log, level),
	TEXT("format", struct config_raw_log, format),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t top_fields[] = {
	MAP("server", struct config_raw, server, server_fields),
	MAPS("interfaces", struct config_raw, interfaces, &interface_value),
	MAP("cache", struct config_raw, cache, cache_fields),
	MAPS("keys", struct config_raw, keys, &key_value),
	MAPS("remotes", struct config_raw, remotes, &remote_value),
	MAPS("signing", struct config_raw, signing, &signing_value),
	MAPS("templates", struct config_raw, templates, &zone_value),
	MAPS("zones", struct config_raw, zones, &zone_value),
	MAP("recursion", struct config_raw, recursion, recursion_fields),
	MAP("rrl", struct config_raw, rrl, rrl_fields),
	MAP("policy", struct config_raw, policy, policy_fields),
	MAP("dnstap", struct config_raw, dnstap, dnstap_fields),
	MAP("query-log", struct config_raw, query_log, query_log_fields),
	MAP("dpdk", struct config_raw, dpdk, dpdk_fields),
	MAP("control", struct config_raw, control, control_fields),
	MAP("metrics", struct config_raw, metrics, metrics_fields),
	MAP("log", struct config_raw, log, log_fields),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t top_value = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct config_raw, top_fields),
};

struct message {
	char *text;
	size_t cap;
};

/* Keeps the first error: those behind it are libcyaml's way back up. */
__attribute__((format(printf, 3, 0))) static void keep_first(cyaml_log_t level, void *user,
							     const char *format, va_list args)
{
	struct message *message = user;

	if (level < CYAML_LOG_ERROR || message->text[0])
		return;
	vsnprintf(message->text, message->cap, format, args);
	message->text[strcspn(message->text, "\n")] = '\0';
}

/*
 * Memory for libcyaml. It makes a list longer by one item at a time: a realloc() for each item would copy the list
 * each time, and 20,000 zones would cost 20,000 copies. So a block that grows gets half its size more than was asked.
 */
struct block {
	size_t cap_bytes;
	_Alignas(max_align_t) unsigned char bytes[];
};

static void *resize_block(void *unused, void *ptr, size_t n_bytes)
{
	struct block *block = ptr ? (struct block *)((char *)ptr - sizeof(*block)) : NULL;
	size_t cap_bytes = block ? n_bytes + n_bytes / 2 : n_bytes;

	(void)unused;
	if (!n_bytes) {
		free(block);
		return NULL;
	}
	if (block && n_bytes <= block->cap_bytes)
		return ptr;
	if (cap_bytes < n_bytes || cap_bytes > SIZE_MAX - sizeof(*block))
		return NULL;
	block = realloc(block, sizeof(*block) + cap_bytes);
	if (!block)
		return NULL;
	block->cap_bytes = cap_bytes;
	return block->bytes;
}

static cyaml_config_t make_cyaml_config(struct message *message)
{
	return (cyaml_config_t){
		.log_fn = message ? keep_first : NULL,
		.log_ctx = message,
		.log_level = CYAML_LOG_ERROR,
		.mem_fn = resize_block,
		.flags = CYAML_CFG_NO_ALIAS,
	};
}

int config_raw_load(struct config_raw **out, const char *text, size_t len, char *err,
		    size_t err_cap)
{
	struct message message = { err, err_cap };
	cyaml_config_t cyaml_config = make_cyaml_config(&message);
	cyaml_data_t *data = NULL;
	cyaml_err_t ret;

	err[0] = '\0';
	*out = NULL;
	ret = cyaml_load_data((const uint8_t *)text, len, &cyaml_config, &top_value, &data, NULL);
	if (ret == CYAML_OK) {
		*out = data;
		return 0;
	}
	if (!err[0])
		snprintf(err, err_cap, "%s", cyaml_strerror(ret));
	return ret == CYAML_ERR_OOM ? -ENOMEM : -EINVAL;
}

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
}

void config_raw_free(struct config_raw *raw)
{
	cyaml_config_t cyaml_config = make_cyaml_config(NULL);

	if (!raw)
		return;
	wipe(raw->server.cookies.secret);
	for (unsigned int i = 0; i < raw->n_keys; i++)
		wipe(raw->keys[i].secret);
	/* Fails only for a schema that is not one, which every test would have shown. */
	(void)cyaml_free(&cyaml_config, &top_value, raw, 0);
}
