/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tap/querylog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "dns/proto.h"
#include "tap/record_writer.h"

#define QUEUE_BYTES (8u << 20)

struct querylog {
	struct querylog_file *file; /* NULL: the journal */
	struct querylog_config config;
	struct tap_writer *out;
	size_t lead_bytes; /* that the sink needs before a line */
};

void querylog_config_fini(struct querylog_config *config)
{
	free(config->path);
	free(config->zones);
	free(config->clients);
	*config = (struct querylog_config){ 0 };
}

/* --- Filters ---------------------------------------------------------------------------------- */

static bool is_in(const struct querylog_net *net, const struct tap_event *e)
{
	struct tap_prefix prefix = { net->bits, net->bits };
	uint8_t address[16];

	if (net->family != e->family)
		return false;
	memcpy(address, e->peer, sizeof(address));
	tap_shorten(address, e->family, &prefix);
	return !memcmp(address, net->address, e->family == AF_INET ? 4 : 16);
}

static bool wants_client(const struct querylog_config *config, const struct tap_event *e)
{
	for (size_t i = 0; i < config->n_clients; i++)
		if (is_in(&config->clients[i], e))
			return true;
	return !config->n_clients;
}

static bool wants_name(const struct querylog_config *config, const struct tap_view *view)
{
	for (size_t i = 0; i < config->n_zones; i++)
		if (view->name && name_is_under(view->name, config->zones[i]))
			return true;
	return !config->n_zones;
}

bool querylog_wants(const struct querylog_config *config, const struct tap_event *e,
		    const struct tap_view *view)
{
	if (config->rcodes && (view->rcode > 63 || !(config->rcodes >> view->rcode & 1)))
		return false;
	return wants_name(config, view) && wants_client(config, e);
}

/* --- The queue -------------------------------------------------------------------------------- */

/* Messages with upstreams are for dnstap only: a line of the log is an answer of ours. */
void querylog_put(struct querylog *log, const struct tap_event *e)
{
	struct tap_view view;
	char *line;
	size_t n;

	if (e->way == TAP_FORWARDER || !tap_view_read(&view, tap_event_reply(e), e->n_reply) ||
	    !querylog_wants(&log->config, e, &view))
		return;
	line = tap_writer_reserve(log->out, log->lead_bytes + QUERYLOG_LINE_MAX + 1);
	if (!line)
		return;
	memcpy(line, QUERYLOG_LEAD, log->lead_bytes);
	n = log->lead_bytes;
	n += querylog_line(&log->config, e, &view, line + n);
	if (log->config.path)
		line[n++] = '\n';
	tap_writer_commit(log->out, n);
}

void querylog_kick(struct querylog *log)
{
	tap_writer_kick(log->out);
}

void querylog_counters(const struct querylog *log, uint64_t *written, uint64_t *lost)
{
	*written = tap_writer_written(log->out);
	*lost = tap_writer_lost(log->out);
}

int querylog_open(struct querylog **out, struct querylog_config *config)
{
	struct querylog *log = calloc(1, sizeof(*log));
	struct tap_sink sink;
	int err;

	if (!log) {
		querylog_config_fini(config);
		return -ENOMEM;
	}
	log->config = *config;
	*config = (struct querylog_config){ 0 };
	log->lead_bytes = log->config.path ? 0 : strlen(QUERYLOG_LEAD);
	err = querylog_sink_new(&sink, &log->file, log->config.path, &log->out);
	if (!err)
		err = tap_writer_open(&log->out, &sink, QUEUE_BYTES, "volley-qlog");
	if (!err) {
		*out = log;
		return 0;
	}
	querylog_config_fini(&log->config);
	free(log);
	return err;
}

int querylog_reopen(struct querylog *log)
{
	int err = querylog_file_reopen(log->file);

	querylog_kick(log);
	return err;
}

void querylog_close(struct querylog *log, uint64_t *written, uint64_t *lost)
{
	if (!log)
		return;
	tap_writer_close(log->out, written, lost);
	querylog_config_fini(&log->config);
	free(log);
}
