/* SPDX-License-Identifier: GPL-2.0-only */
/* From the text of a configuration to checked values; see config.h for the way. */
#include "control/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "control/config_raw.h"
#include "control/source.h"
#include "control/value.h"
#include "control/yamlwalk.h"

/* One load. Once source.failed is set, every step behind does nothing: the first error is told. */
struct load {
	struct source source;
	struct config *config;
	struct config_raw *raw;
};

static void load_raw(struct load *load)
{
	char message[256];
	int err;

	if (load->source.failed)
		return;
	err = config_raw_load(&load->raw, load->source.text, load->source.len, message,
			      sizeof(message));
	if (err == -ENOMEM)
		source_fail_memory(&load->source);
	else if (err)
		source_fail(&load->source, 1, "", "%s", message);
	else if (!load->raw) /* no key at all */
		source_refuse_missing(&load->source, "server.listen");
}

/* Values: each is taken once, by the path of its key; what is absent is the table's default. */

static char *join_path(struct load *load, char *buf, const char *prefix, const char *leaf)
{
	if (snprintf(buf, YAMLWALK_PATH_CAP, "%s%s", prefix, leaf) >= YAMLWALK_PATH_CAP)
		source_fail(&load->source, 1, "", "a key is too long");
	return buf;
}

/* TEXT, or the default of the key; NULL after a failure or when there is neither. */
static const char *take_text(struct load *load, const char *path, const char *text)
{
	if (load->source.failed)
		return NULL;
	return text ? text : source_find_key(path)->fallback;
}

static uint64_t take_number(struct load *load, const char *prefix, const char *leaf,
			    const char *text)
{
	char path[YAMLWALK_PATH_CAP];
	uint64_t value = 0;

	join_path(load, path, prefix, leaf);
	text = take_text(load, path, text);
	if (text && value_read_number(source_find_key(path), text, &value))
		source_refuse_value(&load->source, path, text);
	return value;
}

static void *take_memory(struct load *load, size_t n, size_t size)
{
	void *memory;

	if (load->source.failed || !n)
		return NULL;
	memory = calloc(n, size);
	if (!memory)
		source_fail_memory(&load->source);
	return memory;
}

/* A path starts at the folder of the configuration, unless it is absolute. */
static char *take_path(struct load *load, const char *prefix, const char *leaf, const char *text)
{
	const char *slash = strrchr(load->source.path, '/');
	int folder = slash ? (int)(slash - load->source.path) + 1 : 0;
	char path[YAMLWALK_PATH_CAP];
	char *out = NULL;

	join_path(load, path, prefix, leaf);
	text = take_text(load, path, text);
	if (load->source.failed)
		return NULL;
	if (!text)
		source_refuse_missing(&load->source, path);
	else if (!*text)
		source_refuse_value(&load->source, path, text);
	else if (asprintf(&out, "%.*s%s", *text == '/' ? 0 : folder, load->source.path, text) < 0)
		source_fail_memory(&load->source);
	return load->source.failed ? NULL : out;
}

/* A copy of a text whose length is checked, or NULL where the key is absent. */
static char *take_string(struct load *load, const char *path, const char *text)
{
	const struct words_key *key = source_find_key(path);
	char *copy;

	if (load->source.failed || !text)
		return NULL;
	if (strlen(text) < key->min || strlen(text) > key->max) {
		source_refuse_value(&load->source, path, text);
		return NULL;
	}
	copy = strdup(text);
	if (!copy)
		source_fail_memory(&load->source);
	return copy;
}

static void take_nsid(struct load *load, const char *text)
{
	const struct words_key *key = source_find_key("server.nsid");
	struct config *config = load->config;
	size_t n;

	if (load->source.failed || !text)
		return;
	if (value_read_octets(text, key->min, key->max, NULL, &n)) {
		source_refuse_value(&load->source, "server.nsid", text);
		return;
	}
	config->nsid = take_memory(load, n, 1);
	if (config->nsid && !value_read_octets(text, key->min, key->max, config->nsid, &n))
		config->n_nsid = (uint32_t)n;
}

static void take_listen(struct load *load, const struct config_raw_list *list)
{
	struct config_addr *addrs = take_memory(load, list->n, sizeof(*addrs));
	char path[YAMLWALK_PATH_CAP], first[YAMLWALK_PATH_CAP];

	if (!list->n)
		source_refuse_missing(&load->source, "server.listen");
	load->config->listen = addrs;
	for (uint32_t i = 0; i < list->n && !load->source.failed; i++) {
		snprintf(path, sizeof(path), "server.listen[%u]", i);
		if (value_read_addr(list->items[i], &addrs[i]))
			source_refuse_value(&load->source, path, list->items[i]);
		for (uint32_t j = 0; j < i && !load->source.failed; j++) {
			if (memcmp(&addrs[i], &addrs[j], sizeof(addrs[i])))
				continue;
			snprintf(first, sizeof(first), "server.listen[%u]", j);
			source_refuse_twice(&load->source, path, list->items[i], first);
		}
	}
	load->config->n_listen = list->n;
}

static void take_cookies(struct load *load, const struct config_raw_cookies *raw)
{
	struct config *config = load->config;

	config->has_cookie_secret = raw->secret != NULL;
	if (load->source.failed || !raw->secret)
		return;
	/* The refusal does not show what was written: it may be most of a secret. */
	if (value_read_hex(raw->secret, config->cookie_secret, sizeof(config->cookie_secret)))
		source_refuse_value(&load->source, "server.cookies.secret", "(hidden)");
}

static void take_server(struct load *load)
{
	const struct config_raw_server *raw = &load->raw->server;
	struct config *config = load->config;

	take_listen(load, &raw->listen);
	config->n_workers = (uint32_t)take_number(load, "server.", "workers", raw->workers);
	config->max_udp_size_bytes =
		(uint16_t)take_number(load, "server.", "max-udp-size", raw->max_udp_size);
	config->minimal_responses =
		take_number(load, "server.", "minimal-responses", raw->minimal_responses) != 0;
	config->any = (enum config_any)take_number(load, "server.", "any", raw->any);
	take_nsid(load, raw->nsid);
	config->version = take_string(load, "server.version", raw->version);
	config->identity = take_string(load, "server.identity", raw->identity);
	config->tcp_connections_cap = (uint32_t)take_number(load, "server.tcp.", "max-connections",
							    raw->tcp.max_connections);
	config->tcp_idle_s =
		(uint32_t)take_number(load, "server.tcp.", "idle-timeout", raw->tcp.idle_timeout);
	config->tcp_queries_max =
		(uint32_t)take_number(load, "server.tcp.", "max-queries", raw->tcp.max_queries);
	take_cookies(load, &raw->cookies);
}

static void take_cores(struct load *load, struct config_interface *interface, const char *prefix,
		       const struct config_raw_list *list)
{
	char path[YAMLWALK_PATH_CAP], leaf[24];

	interface->cores = take_memory(load, list->n, sizeof(*interface->cores));
	for (uint32_t i = 0; i < list->n && !load->source.failed; i++) {
		snprintf(leaf, sizeof(leaf), "cores[%u]", i);
		interface->cores[i] = (uint16_t)take_number(load, prefix, leaf, list->items[i]);
		join_path(load, path, prefix, leaf);
		for (uint32_t j = 0; j < i; j++)
			if (interface->cores[j] == interface->cores[i])
				source_refuse_value(&load->source, path, list->items[i]);
	}
	interface->n_cores = list->n;
	join_path(load, path, prefix, "cores");
	if (list->n && interface->n_queues && list->n != interface->n_queues)
		source_fail(&load->source, 0, path,
			    "has %u processors for %u queues, give as many as queues says", list->n,
			    interface->n_queues);
}

static void take_rings(struct load *load, struct config_interface *interface, const char *prefix,
		       const struct config_raw_interface *raw)
{
	char path[YAMLWALK_PATH_CAP];

	interface->busy_poll_budget =
		(uint32_t)take_number(load, prefix, "busy-poll", raw->busy_poll);
	interface->n_umem_frames =
		(uint32_t)take_number(load, prefix, "umem-frames", raw->umem_frames);
	interface->ring_size = (uint32_t)take_number(load, prefix, "ring-size", raw->ring_size);
	join_path(load, path, prefix, raw->ring_size ? "ring-size" : "umem-frames");
	if (interface->n_umem_frames < 2 * interface->ring_size)
		source_fail(
			&load->source, 0, path,
			"umem-frames %u is less than twice ring-size %u, and frames being received "
			"and sent would not both fit: give more frames or a smaller ring",
			interface->n_umem_frames, interface->ring_size);
}

static void take_interface_name(struct load *load, uint32_t at, const char *text)
{
	struct config_interface *interfaces = load->config->interfaces;
	char path[YAMLWALK_PATH_CAP], first[YAMLWALK_PATH_CAP];

	snprintf(path, sizeof(path), "interfaces[%u].name", at);
	if (!text) {
		source_refuse_missing(&load->source, path);
		return;
	}
	if (value_check_interface(text)) {
		source_refuse_value(&load->source, path, text);
		return;
	}
	snprintf(interfaces[at].name, sizeof(interfaces[at].name), "%s", text);
	for (uint32_t i = 0; i < at; i++) {
		if (strcmp(interfaces[i].name, text))
			continue;
		snprintf(first, sizeof(first), "interfaces[%u].name", i);
		source_refuse_twice(&load->source, path, text, first);
	}
}

static void take_interface(struct load *load, uint32_t at, const struct config_raw_interface *raw)
{
	struct config_interface *interface = &load->config->interfaces[at];
	char prefix[YAMLWALK_PATH_CAP];

	snprintf(prefix, sizeof(prefix), "interfaces[%u].", at);
	take_interface_name(load, at, raw->name);
	interface->xdp = (enum config_xdp)take_number(load, prefix, "xdp", raw->xdp);
	interface->port = (enum config_port)take_number(load, prefix, "port", raw->port);
	interface->driver_answers =
		take_number(load, prefix, "driver-answers", raw->driver_answers) != 0;
	interface->zero_copy =
		(enum config_zero_copy)take_number(load, prefix, "zero-copy", raw->zero_copy);
	take_rings(load, interface, prefix, raw);
	interface->n_queues = (uint32_t)take_number(load, prefix, "queues", raw->queues);
	take_cores(load, interface, prefix, &raw->cores);
}

static void take_interfaces(struct load *load)
{
	struct config *config = load->config;

	config->interfaces =
		take_memory(load, load->raw->n_interfaces, sizeof(*config->interfaces));
	if (config->interfaces)
		config->n_interfaces = load->raw->n_interfaces;
	for (uint32_t i = 0; i < config->n_interfaces && !load->source.failed; i++)
		take_interface(load, i, &load->raw->interfaces[i]);
}

/* A command with a slash in it is a path like others; without one it is looked for in PATH. */
static char *take_command(struct load *load, const char *prefix, const char *text)
{
	char *copy;

	if (load->source.failed)
		return NULL;
	if (!*text || strchr(text, '/'))
		return take_path(load, prefix, "verify[0]", text);
	copy = strdup(text);
	if (!copy)
		source_fail_memory(&load->source);
	return copy;
}

static void take_verify(struct load *load, struct verify *verify, const char *prefix,
			const struct config_raw_zone *raw)
{
	const struct config_raw_list *list = &raw->verify;

	verify->timeout_s =
		(uint32_t)take_number(load, prefix, "verify-timeout", raw->verify_timeout);
	if (!list->n)
		return;
	verify->argv = take_memory(load, list->n + 1, sizeof(char *));
	for (uint32_t i = 0; i < list->n && !load->source.failed; i++) {
		verify->argv[i] = i ? strdup(list->items[i]) :
				      take_command(load, prefix, list->items[i]);
		if (!verify->argv[i])
			source_fail_memory(&load->source);
	}
}

static void take_zone(struct load *load, uint32_t at, const struct config_raw_zone *raw)
{
	struct config_zone *zone = &load->config->zones[at];
	char prefix[YAMLWALK_PATH_CAP], path[YAMLWALK_PATH_CAP];
	int err;

	snprintf(prefix, sizeof(prefix), "zones[%u].", at);
	join_path(load, path, prefix, "name");
	if (!raw->name) {
		source_refuse_missing(&load->source, path);
		return;
	}
	err = value_read_domain(raw->name, &zone->name);
	if (err == -ENOMEM)
		source_fail_memory(&load->source);
	else if (err)
		source_refuse_value(&load->source, path, raw->name);
	zone->file = take_path(load, prefix, "file", raw->file);
	take_verify(load, &zone->verify, prefix, raw);
}

/* By name, then by place in the file: zones stand in one array, so their addresses are that order. */
static int compare_zones(const void *a, const void *b)
{
	const struct config_zone *const *left = a, *const *right = b;
	int order = strcmp((*left)->name, (*right)->name);

	return order ? order : (*left > *right) - (*left < *right);
}

static void check_zones_unique(struct load *load)
{
	const struct config *config = load->config;
	const struct config_zone **sorted = take_memory(load, config->n_zones, sizeof(*sorted));
	char path[YAMLWALK_PATH_CAP], first[YAMLWALK_PATH_CAP];

	if (!sorted)
		return;
	for (uint32_t i = 0; i < config->n_zones; i++)
		sorted[i] = &config->zones[i];
	qsort(sorted, config->n_zones, sizeof(*sorted), compare_zones);
	for (uint32_t i = 1; i < config->n_zones && !load->source.failed; i++) {
		if (strcmp(sorted[i - 1]->name, sorted[i]->name))
			continue;
		snprintf(path, sizeof(path), "zones[%td].name", sorted[i] - config->zones);
		snprintf(first, sizeof(first), "zones[%td].name", sorted[i - 1] - config->zones);
		source_refuse_twice(&load->source, path, sorted[i]->name, first);
	}
	free(sorted);
}

static void take_zones(struct load *load)
{
	struct config *config = load->config;

	config->zones = take_memory(load, load->raw->n_zones, sizeof(*config->zones));
	if (config->zones)
		config->n_zones = load->raw->n_zones;
	for (uint32_t i = 0; i < config->n_zones && !load->source.failed; i++)
		take_zone(load, i, &load->raw->zones[i]);
	check_zones_unique(load);
}

static void take_cache(struct load *load)
{
	const struct config_raw_cache *raw = &load->raw->cache;
	struct config *config = load->config;

	config->cache_size_bytes = take_number(load, "cache.", "size", raw->size);
	config->cache_orphan_serve_s =
		(uint32_t)take_number(load, "cache.", "orphan-serve", raw->orphan_serve);
	config->cache_snapshot_interval_s =
		(uint32_t)take_number(load, "cache.", "snapshot-interval", raw->snapshot_interval);
	if (raw->snapshot)
		config->cache_snapshot = take_path(load, "cache.", "snapshot", raw->snapshot);
	else if (raw->snapshot_interval)
		source_fail(&load->source, 0, "cache.snapshot-interval",
			    "says when, but cache.snapshot does not say where: give that, too");
}

static void take_control(struct load *load)
{
	const struct config_raw *raw = load->raw;
	struct config *config = load->config;

	config->control_socket = take_path(load, "control.", "socket", raw->control.socket);
	config->control_mode = (mode_t)take_number(load, "control.", "mode", raw->control.mode);
	if (load->source.failed)
		return;
	if (strlen(config->control_socket) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		source_refuse_value(&load->source, "control.socket", config->control_socket);
	else if (raw->server.pid_file)
		config->pid_file = take_path(load, "server.", "pid-file", raw->server.pid_file);
	else if (asprintf(&config->pid_file, "%s.lock", config->control_socket) < 0)
		source_fail_memory(&load->source);
}

static void take_values(struct load *load)
{
	const struct config_raw *raw = load->raw;

	take_server(load);
	take_interfaces(load);
	take_cache(load);
	take_zones(load);
	if (raw->recursion.allow.n)
		source_refuse_value(&load->source, "recursion.allow[0]",
				    raw->recursion.allow.items[0]);
	take_control(load);
}

int config_load(struct config **out, const char *path, char *err, size_t err_cap)
{
	struct load load = { .source = { .path = path, .err = err, .err_cap = err_cap } };

	*out = NULL;
	err[0] = '\0';
	load.config = calloc(1, sizeof(*load.config));
	if (load.config)
		load.config->path = strdup(path);
	if (!load.config || !load.config->path)
		source_fail_memory(&load.source);
	source_read(&load.source);
	source_check_shape(&load.source);
	load_raw(&load);
	if (!load.source.failed)
		take_values(&load);
	config_raw_free(load.raw);
	source_fini(&load.source);
	if (load.source.failed)
		config_free(load.config);
	else
		*out = load.config;
	return load.source.failed;
}

void config_zones_free(struct config_zone *zones, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		free(zones[i].name);
		free(zones[i].file);
		verify_fini(&zones[i].verify);
	}
	free(zones);
}

void config_free(struct config *config)
{
	if (!config)
		return;
	for (uint32_t i = 0; i < config->n_interfaces; i++)
		free(config->interfaces[i].cores);
	config_zones_free(config->zones, config->n_zones);
	explicit_bzero(config->cookie_secret, sizeof(config->cookie_secret));
	free(config->path);
	free(config->cache_snapshot);
	free(config->nsid);
	free(config->version);
	free(config->identity);
	free(config->listen);
	free(config->interfaces);
	free(config->control_socket);
	free(config->pid_file);
	free(config);
}
