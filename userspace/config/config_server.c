/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks the keys of the host: server.tls, server.pid-file, interfaces, cache. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "config/reader.h"
#include "shield/name_filter.h"

/* --- Server ----------------------------------------------------------------------------------- */

/* The file is used in spite of this: perhaps the program that renews keys must be changed first. */
static void warn_of_readers(const char *file)
{
	struct stat st;

	if (file && !stat(file, &st) && st.st_mode & S_IROTH)
		log_warn("server.tls.key: everyone can read %s: chmod o-r it", file);
}

static void check_tls_listen(struct reader *reader)
{
	const struct config *config = reader->config;
	const struct yamltree *list = reader_find(reader, "server.tls.listen");
	const struct yamltree *item = list ? list->first : NULL;

	for (uint32_t i = 0; item; i++, item = item->next)
		for (uint32_t j = 0; j < config->n_listen; j++)
			if (!memcmp(&config->tls_listen[i], &config->listen[j],
				    sizeof(config->listen[j])))
				document_fail(
					&reader->document, item, "",
					"is one of server.listen: give TLS a port of its own");
	if (config->n_tls_listen && !config->tls_certificate)
		document_fail(&reader->document, list, "",
			      "needs server.tls.certificate and server.tls.key");
}

void reader_check_server(struct reader *reader)
{
	struct config *config = reader->config;

	warn_of_readers(config->tls_key);
	if (!config->tls_certificate != !config->tls_key)
		document_fail(&reader->document, NULL, "server.tls",
			      "certificate and key belong together: give both or none");
	check_tls_listen(reader);
	if (!config->pid_file &&
	    asprintf(&config->pid_file, "%s.lock", config->control_socket) < 0) {
		config->pid_file = NULL;
		document_fail_memory(&reader->document);
	}
}

/* --- Interfaces ------------------------------------------------------------------------------- */

/* GUE needs a port of its own, since packets to a service port are queries. */
static void check_tunnels(struct reader *reader, const struct config_interface *interface,
			  const struct yamltree *node)
{
	const struct config *config = reader->config;

	/* Only the XDP program knows the outer address, and a device of DPDK has no program. */
	if (interface->tunnels && interface->device)
		document_fail(
			&reader->document, node, "tunnels",
			"are not taken off where a device is given: leave tunnels or device out");
	for (uint32_t i = 0; i < config->n_listen; i++)
		if (interface->tunnels & VOLLEY_TUNNEL_GUE &&
		    config->listen[i].net_port == interface->net_gue_port)
			document_fail(
				&reader->document, node,
				yamltree_child(node, "gue-port") ? "gue-port" : "tunnels",
				"port %u is one of server.listen: give GUE another in gue-port",
				ntohs(interface->net_gue_port));
	if (interface->n_tunnel_sources && !interface->tunnels)
		document_fail(&reader->document, node, "tunnel-sources",
			      "is for tunnels, and there are none: say tunnels, too");
}

static void check_interface(struct reader *reader, const struct config_interface *interface,
			    const struct yamltree *node)
{
	const char *ring = yamltree_child(node, "ring-size") ? "ring-size" : "umem-frames";

	if (interface->n_umem_frames < 2 * interface->ring_size)
		document_fail(&reader->document, node, ring,
			      "umem-frames %u is less than twice ring-size %u, and frames being "
			      "received and sent would not both fit: give more frames or a smaller "
			      "ring",
			      interface->n_umem_frames, interface->ring_size);
	if (interface->n_cores && interface->n_queues && interface->n_cores != interface->n_queues)
		document_fail(&reader->document, node, "cores",
			      "has %u processors for %u queues, give as many as queues says",
			      interface->n_cores, interface->n_queues);
	check_tunnels(reader, interface, node);
	if (interface->device && interface->port != CONFIG_PORT_DPDK)
		document_fail(&reader->document, node, "device",
			      "is for DPDK alone: say port: dpdk, too");
}

void reader_check_interfaces(struct reader *reader)
{
	const struct yamltree *list = reader_find(reader, "interfaces");
	const struct yamltree *node = list ? list->first : NULL;

	for (uint32_t i = 0; node && !reader->document.failed; i++, node = node->next)
		check_interface(reader, &reader->config->interfaces[i], node);
}

/* --- Cache ------------------------------------------------------------------------------------ */

/* The number of whole lines. A filter below the minimum would be full at once. */
static uint32_t read_server_lines(struct reader *reader, const char *path, const char *what)
{
	uint64_t bytes = reader_number(reader, path);
	const struct yamltree *node = reader_find(reader, path);

	if (bytes && bytes < NAMES_BYTES_MIN)
		document_fail(&reader->document, node, "",
			      "%s is too small%s: give at least 64K, or 0 for none", node->text,
			      what);
	return (uint32_t)(bytes / VOLLEY_NAMES_LINE_BYTES);
}

/* Intervals are stored after the lines of the filter. */
void reader_check_cache(struct reader *reader)
{
	static const char intervals[] = "cache.intervals";
	struct config *config = reader->config;

	config->cache_names_lines = read_server_lines(reader, "cache.names", " for a filter");
	config->cache_intervals_lines = read_server_lines(reader, intervals, "");
	if (!config->cache_names_lines && config->cache_intervals_lines &&
	    reader_find(reader, intervals))
		document_fail(&reader->document, NULL, intervals,
			      "is of no use without a filter of names: give cache.names, too");
	if (!config->cache_names_lines)
		config->cache_intervals_lines = 0;
	if (!config->cache_snapshot && reader_find(reader, "cache.snapshot-interval"))
		document_fail(&reader->document, NULL, "cache.snapshot-interval",
			      "has no file to write to: give cache.snapshot, too");
}
