/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the text of a configuration to checked values; see config.h for the way. */
#include "config/config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "config/include.h"
#include "config/member.h"
#include "config/take.h"
#include "config/value.h"
#include "config/yamlwalk.h"
#include "engine/name_filter.h"

static void load_raw(struct take *take)
{
	char message[256];
	int err;

	if (take->source.failed)
		return;
	err = config_raw_load(&take->raw, take->source.text, take->source.len, message,
			      sizeof(message));
	if (err == -ENOMEM)
		source_fail_memory(&take->source);
	else if (err)
		source_fail(&take->source, 1, "", "%s", message);
	else if (!take->raw) /* no key at all */
		source_refuse_missing(&take->source, "server.listen");
}

static void take_nsid(struct take *take, const char *text)
{
	const struct words_key *key = source_find_key("server.nsid");
	struct config *config = take->config;
	size_t n;

	if (take->source.failed || !text)
		return;
	if (value_read_octets(text, key->min, key->max, NULL, &n)) {
		source_refuse_value(&take->source, "server.nsid", text);
		return;
	}
	config->nsid = take_memory(take, n, 1);
	if (config->nsid && !value_read_octets(text, key->min, key->max, config->nsid, &n))
		config->n_nsid = (uint32_t)n;
}

static void take_listen(struct take *take, const struct config_raw_list *list)
{
	struct config *config = take->config;

	if (!list->n)
		source_refuse_missing(&take->source, "server.listen");
	config->listen = take_addresses(take, "server.listen", list, 53, &config->n_listen);
}

/* Processors, none twice. */
static uint16_t *take_cores(struct take *take, const char *prefix, const char *name,
			    const struct config_raw_list *list)
{
	uint16_t *cores = take_memory(take, list->n, sizeof(*cores));
	char path[YAMLWALK_PATH_CAP], leaf[32];

	for (uint32_t i = 0; i < list->n && !take->source.failed; i++) {
		snprintf(leaf, sizeof(leaf), "%s[%u]", name, i);
		cores[i] = (uint16_t)take_number(take, prefix, leaf, list->items[i]);
		take_join_path(take, path, prefix, leaf);
		for (uint32_t j = 0; j < i; j++)
			if (cores[j] == cores[i])
				source_refuse_value(&take->source, path, list->items[i]);
	}
	return cores;
}

static void take_server(struct take *take)
{
	const struct config_raw_server *raw = &take->raw->server;
	struct config *config = take->config;

	take_listen(take, &raw->listen);
	config->n_workers = (uint32_t)take_number(take, "server.", "workers", raw->workers);
	config->control_cores = take_cores(take, "server.", "control-cores", &raw->control_cores);
	config->n_control_cores = raw->control_cores.n;
	config->max_udp_size_bytes =
		(uint16_t)take_number(take, "server.", "max-udp-size", raw->max_udp_size);
	config->minimal_responses =
		take_number(take, "server.", "minimal-responses", raw->minimal_responses) != 0;
	config->any = (enum config_any)take_number(take, "server.", "any", raw->any);
	take_nsid(take, raw->nsid);
	config->version = take_string(take, "server.version", raw->version);
	config->identity = take_string(take, "server.identity", raw->identity);
	config->tcp_connections_cap = (uint32_t)take_number(take, "server.tcp.", "max-connections",
							    raw->tcp.max_connections);
	config->tcp_client_cap = (uint32_t)take_number(take, "server.tcp.",
						       "max-connections-per-client",
						       raw->tcp.max_connections_per_client);
	config->tcp_idle_s =
		(uint32_t)take_number(take, "server.tcp.", "idle-timeout", raw->tcp.idle_timeout);
	config->tcp_queries_max =
		(uint32_t)take_number(take, "server.tcp.", "max-queries", raw->tcp.max_queries);
	take_cookies(take);
	if (raw->storage)
		config->storage = take_path(take, "server.", "storage", raw->storage);
	config->storage_bytes = take_number(take, "server.", "storage-size", raw->storage_size);
	config->n_transfers =
		(uint32_t)take_number(take, "server.", "transfers-in", raw->transfers_in);
	config->n_transfers_out =
		(uint32_t)take_number(take, "server.", "transfers-out", raw->transfers_out);
	take_tls(take);
}

static void take_queue_cores(struct take *take, struct config_interface *interface,
			     const char *prefix, const struct config_raw_list *list)
{
	char path[YAMLWALK_PATH_CAP];

	interface->cores = take_cores(take, prefix, "cores", list);
	interface->n_cores = list->n;
	take_join_path(take, path, prefix, "cores");
	if (list->n && interface->n_queues && list->n != interface->n_queues)
		source_fail(&take->source, 0, path,
			    "has %u processors for %u queues, give as many as queues says", list->n,
			    interface->n_queues);
}

static void take_rings(struct take *take, struct config_interface *interface, const char *prefix,
		       const struct config_raw_interface *raw)
{
	char path[YAMLWALK_PATH_CAP];

	interface->busy_poll_budget =
		(uint32_t)take_number(take, prefix, "busy-poll", raw->busy_poll);
	interface->n_umem_frames =
		(uint32_t)take_number(take, prefix, "umem-frames", raw->umem_frames);
	interface->ring_size = (uint32_t)take_number(take, prefix, "ring-size", raw->ring_size);
	take_join_path(take, path, prefix, raw->ring_size ? "ring-size" : "umem-frames");
	if (interface->n_umem_frames < 2 * interface->ring_size)
		source_fail(
			&take->source, 0, path,
			"umem-frames %u is less than twice ring-size %u, and frames being received "
			"and sent would not both fit: give more frames or a smaller ring",
			interface->n_umem_frames, interface->ring_size);
}

static void take_interface_name(struct take *take, uint32_t at, const char *text)
{
	struct config_interface *interfaces = take->config->interfaces;
	char path[YAMLWALK_PATH_CAP], first[YAMLWALK_PATH_CAP];

	snprintf(path, sizeof(path), "interfaces[%u].name", at);
	if (!text) {
		source_refuse_missing(&take->source, path);
		return;
	}
	if (value_check_interface(text)) {
		source_refuse_value(&take->source, path, text);
		return;
	}
	snprintf(interfaces[at].name, sizeof(interfaces[at].name), "%s", text);
	take_note(take, path, text, strlen(text));
	for (uint32_t i = 0; i < at; i++) {
		if (strcmp(interfaces[i].name, text))
			continue;
		snprintf(first, sizeof(first), "interfaces[%u].name", i);
		source_refuse_twice(&take->source, path, text, first);
	}
}

/* A query to a service is one, so GUE needs a port of its own. */
static void take_tunnels(struct take *take, struct config_interface *interface, const char *prefix,
			 const struct config_raw_interface *raw)
{
	uint64_t port = take_number(take, prefix, "gue-port", raw->gue_port);
	char path[YAMLWALK_PATH_CAP], leaf[32];
	uint8_t bit;

	for (uint32_t i = 0; i < raw->tunnels.n && !take->source.failed; i++) {
		snprintf(leaf, sizeof(leaf), "tunnels[%u]", i);
		bit = (uint8_t)(1 << take_number(take, prefix, leaf, raw->tunnels.items[i]));
		if (interface->tunnels & bit)
			source_refuse_value(&take->source, take_join_path(take, path, prefix, leaf),
					    raw->tunnels.items[i]);
		interface->tunnels |= bit;
	}
	/* The outer address is known to the XDP program, which a device of DPDK's own has not. */
	if (raw->tunnels.n && raw->device)
		source_fail(&take->source, 0, take_join_path(take, path, prefix, "tunnels"),
			    "are not taken off with a device that is given: leave device out");
	interface->net_gue_port = htons((uint16_t)port);
	take_join_path(take, path, prefix, raw->gue_port ? "gue-port" : "tunnels");
	for (uint32_t i = 0; i < take->config->n_listen; i++)
		if (interface->tunnels & VOLLEY_TUNNEL_GUE &&
		    take->config->listen[i].net_port == interface->net_gue_port)
			source_fail(&take->source, 0, path,
				    "port %u is one of server.listen: give GUE another in gue-port",
				    (unsigned int)port);
}

static void take_tunnel_sources(struct take *take, struct config_interface *interface,
				const char *prefix, const struct config_raw_interface *raw)
{
	const struct config_raw_list *list = &raw->tunnel_sources;
	char path[YAMLWALK_PATH_CAP];

	take_join_path(take, path, prefix, "tunnel-sources");
	if (source_has_empty(&take->source, path))
		source_fail(
			&take->source, 0, path,
			"has no prefix, so no tunnel could be taken off: leave it out to believe "
			"everyone");
	if (list->n && !raw->tunnels.n)
		source_fail(&take->source, 0, path, "is for tunnels: say tunnels, too");
	interface->tunnel_sources = take_prefixes(take, path, list, CONFIG_TUNNEL_SOURCES_MAX,
						  &interface->n_tunnel_sources);
	take_note(take, path, interface->tunnel_sources,
		  interface->n_tunnel_sources * sizeof(*interface->tunnel_sources));
}

static void take_device(struct take *take, struct config_interface *interface, const char *prefix,
			const char *text)
{
	char path[YAMLWALK_PATH_CAP];

	take_join_path(take, path, prefix, "device");
	interface->device = take_string(take, path, text);
	if (text && interface->port != CONFIG_PORT_DPDK)
		source_fail(&take->source, 0, path, "is for DPDK alone: say port: dpdk, too");
}

static void take_interface(struct take *take, uint32_t at, const struct config_raw_interface *raw)
{
	struct config_interface *interface = &take->config->interfaces[at];
	char prefix[YAMLWALK_PATH_CAP];

	snprintf(prefix, sizeof(prefix), "interfaces[%u].", at);
	take_interface_name(take, at, raw->name);
	interface->xdp = (enum config_xdp)take_number(take, prefix, "xdp", raw->xdp);
	interface->port = (enum config_port)take_number(take, prefix, "port", raw->port);
	interface->driver_answers =
		take_number(take, prefix, "driver-answers", raw->driver_answers) != 0;
	interface->zero_copy =
		(enum config_zero_copy)take_number(take, prefix, "zero-copy", raw->zero_copy);
	take_rings(take, interface, prefix, raw);
	interface->n_queues = (uint32_t)take_number(take, prefix, "queues", raw->queues);
	take_queue_cores(take, interface, prefix, &raw->cores);
	take_tunnels(take, interface, prefix, raw);
	take_tunnel_sources(take, interface, prefix, raw);
	interface->return_path =
		(enum config_return)take_number(take, prefix, "return-path", raw->return_path);
	take_device(take, interface, prefix, raw->device);
}

static void take_interfaces(struct take *take)
{
	struct config *config = take->config;

	if (take->raw->n_interfaces > CONFIG_INTERFACES_MAX)
		source_fail(&take->source, 0, "interfaces", "%u, give at most %u",
			    take->raw->n_interfaces, CONFIG_INTERFACES_MAX);
	config->interfaces =
		take_memory(take, take->raw->n_interfaces, sizeof(*config->interfaces));
	if (config->interfaces)
		config->n_interfaces = take->raw->n_interfaces;
	for (uint32_t i = 0; i < config->n_interfaces && !take->source.failed; i++)
		take_interface(take, i, &take->raw->interfaces[i]);
}

/* Whole lines of the filter; a smaller one would be full at once. */
static uint32_t take_names(struct take *take, const char *text)
{
	uint64_t bytes = take_number(take, "cache.", "names", text);

	if (bytes && bytes < NAMES_BYTES_MIN)
		source_fail(&take->source, 0, "cache.names",
			    "%s is too small for a filter: give at least 64K, or 0 for none", text);
	return (uint32_t)(bytes / VOLLEY_NAMES_LINE_BYTES);
}

/* Whole lines, behind those of the filter. */
static uint32_t take_intervals(struct take *take, const char *text)
{
	uint64_t bytes = take_number(take, "cache.", "intervals", text);

	if (!text && !take->config->cache_names_lines)
		return 0;
	if (bytes && !take->config->cache_names_lines)
		source_fail(&take->source, 0, "cache.intervals",
			    "is of no use without a filter of names: give cache.names, too");
	if (bytes && bytes < NAMES_BYTES_MIN)
		source_fail(&take->source, 0, "cache.intervals",
			    "%s is too small: give at least 64K, or 0 for none", text);
	return (uint32_t)(bytes / VOLLEY_NAMES_LINE_BYTES);
}

static void take_cache(struct take *take)
{
	const struct config_raw_cache *raw = &take->raw->cache;
	struct config *config = take->config;

	config->cache_size_bytes = take_number(take, "cache.", "size", raw->size);
	config->cache_orphan_serve_s =
		(uint32_t)take_number(take, "cache.", "orphan-serve", raw->orphan_serve);
	config->cache_snapshot_interval_s =
		(uint32_t)take_number(take, "cache.", "snapshot-interval", raw->snapshot_interval);
	config->cache_names_lines = take_names(take, raw->names);
	config->cache_intervals_lines = take_intervals(take, raw->intervals);
	if (raw->snapshot)
		config->cache_snapshot = take_path(take, "cache.", "snapshot", raw->snapshot);
	else if (raw->snapshot_interval)
		source_fail(&take->source, 0, "cache.snapshot-interval",
			    "says when, but cache.snapshot does not say where: give that, too");
}

static void take_dpdk(struct take *take)
{
	const struct config_raw_dpdk *raw = &take->raw->dpdk;
	struct config_dpdk *dpdk = &take->config->dpdk;

	dpdk->huge_pages =
		(enum config_huge)take_number(take, "dpdk.", "huge-pages", raw->huge_pages);
	dpdk->memory_bytes = take_number(take, "dpdk.", "memory", raw->memory);
	if (!raw->options.n)
		return;
	dpdk->options = take_memory(take, raw->options.n + 1, sizeof(char *));
	for (uint32_t i = 0; i < raw->options.n && !take->source.failed; i++) {
		const char *word = raw->options.items[i];

		dpdk->options[i] = take_copy(take, word);
		take_note(take, "dpdk.options", word, strlen(word));
	}
}

static void take_control(struct take *take)
{
	const struct config_raw *raw = take->raw;
	struct config *config = take->config;

	config->control_socket = take_path(take, "control.", "socket", raw->control.socket);
	config->control_mode = (mode_t)take_number(take, "control.", "mode", raw->control.mode);
	if (take->source.failed)
		return;
	if (strlen(config->control_socket) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		source_refuse_value(&take->source, "control.socket", config->control_socket);
	else if (raw->server.pid_file)
		config->pid_file = take_path(take, "server.", "pid-file", raw->server.pid_file);
	else if (asprintf(&config->pid_file, "%s.lock", config->control_socket) < 0)
		source_fail_memory(&take->source);
}

static void take_metrics(struct take *take, const char *text)
{
	if (take->source.failed || !text)
		return;
	if (!strchr(text, '@') || value_read_addr(text, 0, &take->config->metrics))
		source_refuse_value(&take->source, "metrics.listen", text);
	take_note(take, "metrics.listen", &take->config->metrics, sizeof(take->config->metrics));
}

/* The choices of both keys are in the order of the numbers. */
static void take_log(struct take *take)
{
	const struct config_raw_log *raw = &take->raw->log;

	take->config->log_level =
		LOG_LEVEL_ERROR + (enum log_level)take_number(take, "log.", "level", raw->level);
	take->config->log_format =
		(enum log_format)take_number(take, "log.", "format", raw->format);
}

static void take_values(struct take *take)
{
	take_server(take);
	take_interfaces(take);
	take_cache(take);
	take_keys(take);
	take_remotes(take);
	take_signing(take);
	take_zones(take);
	take_recursion(take);
	take_limits(take);
	take_blocks(take);
	take_taps(take);
	take_dpdk(take);
	take_control(take);
	take_metrics(take, take->raw->metrics.listen);
	take_log(take);
}

/* The configuration keeps the text. */
static void take_source_text(struct take *take)
{
	take->config->secret_files = take->source.secret_files;
	take->source.secret_files = NULL;
	take->config->text = take->source.text;
	take->config->n_text = take->source.len;
	take->source.text = NULL;
}

int config_load_as(struct config **out, const char *from, const char *path, char *err,
		   size_t err_cap)
{
	struct take take = { .source = {
				     .path = from, .base = path, .err = err, .err_cap = err_cap } };

	*out = NULL;
	err[0] = '\0';
	take.config = calloc(1, sizeof(*take.config));
	if (take.config)
		take.config->path = strdup(path);
	if (!take.config || !take.config->path)
		source_fail_memory(&take.source);
	source_read(&take.source);
	include_run(&take.source);
	source_check_shape(&take.source);
	load_raw(&take);
	if (!take.source.failed)
		take_values(&take);
	if (!take.source.failed)
		take_source_text(&take);
	config_raw_free(take.raw);
	source_fini(&take.source);
	if (take.source.failed)
		config_free(take.config);
	else
		*out = take.config;
	return take.source.failed;
}

int config_load(struct config **out, const char *path, char *err, size_t err_cap)
{
	return config_load_as(out, path, path, err, err_cap);
}

const struct config_tsig_key *config_find_key(const struct config *config, const char *name)
{
	for (uint32_t i = 0; i < config->n_keys; i++)
		if (!strcmp(config->keys[i].name, name))
			return &config->keys[i];
	return NULL;
}

const struct config_remote *config_find_remote(const struct config *config, const char *name)
{
	for (uint32_t i = 0; i < config->n_remotes; i++)
		if (!strcmp(config->remotes[i].name, name))
			return &config->remotes[i];
	return NULL;
}

const struct config_signing *config_find_signing(const struct config *config, const char *name)
{
	for (uint32_t i = 0; i < config->n_signing; i++)
		if (!strcmp(config->signing[i].name, name))
			return &config->signing[i];
	return NULL;
}

const struct config_zone *config_find_template(const struct config *config, const char *name)
{
	for (uint32_t i = 0; i < config->n_templates; i++)
		if (!strcmp(config->templates[i].name, name))
			return &config->templates[i];
	return NULL;
}

const struct words_key *config_next_for_start(const struct config *running,
					      const struct config *next, unsigned int *at)
{
	const struct words_key *key;

	while ((key = words_key_at(*at))) {
		unsigned int number = (*at)++;

		if (running->start_digests[number] != next->start_digests[number])
			return key;
	}
	return NULL;
}

const struct config_interface *config_find_interface(const struct config *config, const char *name)
{
	for (uint32_t i = 0; i < config->n_interfaces; i++)
		if (!strcmp(config->interfaces[i].name, name))
			return &config->interfaces[i];
	return NULL;
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Octet by octet, so that a new field is compared, too. */
bool config_interface_is_same(const struct config_interface *a, const struct config_interface *b)
{
	struct config_interface x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	x.tunnel_sources = y.tunnel_sources = NULL;
	x.cores = y.cores = NULL;
	x.device = y.device = NULL;
	return !memcmp(&x, &y, sizeof(x)) &&
	       (!x.n_tunnel_sources || !memcmp(a->tunnel_sources, b->tunnel_sources,
					       x.n_tunnel_sources * sizeof(*a->tunnel_sources))) &&
	       (!x.n_cores || !memcmp(a->cores, b->cores, x.n_cores * sizeof(*a->cores))) &&
	       is_same_text(a->device, b->device);
}

void config_zones_free(struct config_zone *zones, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		config_zone_fini(&zones[i]);
	free(zones);
}

static void free_list(char **list)
{
	for (char **at = list; at && *at; at++)
		free(*at);
	free(list);
}

static void free_stubs(struct config_stub *stubs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		free(stubs[i].zone);
		free(stubs[i].address);
	}
	free(stubs);
}

void config_recursion_fini(struct config_recursion *recursion)
{
	free_stubs(recursion->stubs, recursion->n_stubs);
	free_stubs(recursion->forward_zones, recursion->n_forward_zones);
	for (uint32_t i = 0; i < recursion->n_rpz; i++) {
		free(recursion->rpz[i].name);
		free(recursion->rpz[i].file);
	}
	free(recursion->rpz);
	free(recursion->allow);
	free_list(recursion->forward);
	free_list(recursion->domain_insecure);
	free_list(recursion->local_data);
	free_list(recursion->special_names_off);
	free_list(recursion->outgoing_interface);
	free_list(recursion->caps_exempt);
	free_list(recursion->private_address);
	free_list(recursion->private_domain);
	free(recursion->dns64_prefix);
	free(recursion->target_fetch_policy);
	free(recursion->tls_bundle);
	free(recursion->root_hints);
	free(recursion->trust_anchor);
	free(recursion->auto_trust_anchor);
	*recursion = (struct config_recursion){ 0 };
}

static void free_keys(struct config_tsig_key *keys, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		free(keys[i].name);
		if (keys[i].secret)
			explicit_bzero(keys[i].secret, keys[i].n_secret);
		free(keys[i].secret);
	}
	free(keys);
}

static void free_remotes(struct config_remote *remotes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		free(remotes[i].name);
		free(remotes[i].addresses);
		free(remotes[i].source);
		free(remotes[i].key);
		free(remotes[i].tls_name);
		free(remotes[i].tls_bundle);
		free(remotes[i].tls_pin);
	}
	free(remotes);
}

static void free_signing(struct config_signing *signing, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		free(signing[i].name);
		free(signing[i].key_folder);
	}
	free(signing);
}

static void free_taps(struct config *config)
{
	free(config->dnstap.socket);
	free(config->dnstap.file);
	free(config->dnstap.identity);
	free(config->dnstap.version);
	free(config->query_log.file);
	free_list(config->query_log.zones);
	free(config->query_log.clients);
}

void config_free(struct config *config)
{
	if (!config)
		return;
	for (uint32_t i = 0; i < config->n_interfaces; i++) {
		free(config->interfaces[i].cores);
		free(config->interfaces[i].tunnel_sources);
		free(config->interfaces[i].device);
	}
	config_zones_free(config->zones, config->n_zones);
	config_zones_free(config->templates, config->n_templates);
	free_keys(config->keys, config->n_keys);
	free_remotes(config->remotes, config->n_remotes);
	free_signing(config->signing, config->n_signing);
	free(config->storage);
	free(config->tls_listen);
	free(config->tls_certificate);
	free(config->tls_key);
	free(config->tls_ticket_keys);
	for (uint32_t i = 0; i < config->n_cookie_secrets; i++)
		free(config->cookie_secrets[i].file);
	explicit_bzero(config->cookie_secrets, sizeof(config->cookie_secrets));
	config_recursion_fini(&config->recursion);
	free(config->path);
	if (config->text)
		explicit_bzero(config->text, config->n_text);
	free(config->text);
	free_list(config->secret_files);
	free(config->allow);
	free(config->cache_snapshot);
	free(config->nsid);
	free(config->version);
	free(config->identity);
	free(config->listen);
	free(config->control_cores);
	free_list(config->dpdk.options);
	free(config->rrl.exempt);
	free_taps(config);
	for (uint32_t i = 0; i < config->n_block; i++) {
		free(config->block[i].file);
		free(config->block[i].why);
	}
	free(config->block);
	free(config->interfaces);
	free(config->control_socket);
	free(config->pid_file);
	free(config);
}
