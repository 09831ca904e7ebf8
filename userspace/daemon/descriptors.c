/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/descriptors.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/err.h"
#include "port/tcp_peers.h"
#include "port/handshake.h"
#include "transfer/primary_state.h"
#include "transfer/secondary.h"
#include "transfer/slots.h"
#include "xdp/abi.h"

#define CONTROL_FDS   192 /* clients of control and metrics, maps, zone files, the journal, logs */
#define WORKER_FDS    14  /* epolls, mailboxes, inboxes */
#define ADDRESS_FDS   2   /* of a worker: UDP and TCP */
#define INTERFACE_FDS (VOLLEY_QUEUES + 16)

static uint64_t n_fixed(const struct config *config, unsigned int n_workers)
{
	return CONTROL_FDS +
	       (uint64_t)n_workers * (WORKER_FDS + ADDRESS_FDS * (uint64_t)config->n_listen) +
	       (uint64_t)config->n_interfaces * INTERFACE_FDS + config->n_tls_listen +
	       config->n_transfers + SECONDARY_STREAM_CHECKS;
}

/* Sockets to primaries beyond the fixed ones: without them, zones are asked later. */
static uint64_t n_more_of_secondary(const struct config *config)
{
	if (!config->n_remotes)
		return 0;
	return slots_most(config->n_transfers) - config->n_transfers +
	       slots_most(SECONDARY_STREAM_CHECKS) - SECONDARY_STREAM_CHECKS +
	       slots_most(SECONDARY_CHECKS);
}

static void shrink_descriptors(struct descriptors *out, uint64_t limit)
{
	const uint32_t n_tcp = out->n_tcp, n_transfer = out->n_transfer;
	const uint64_t left = limit - out->n_fixed, wanted = out->n_wanted - out->n_fixed;

	out->n_tcp = (uint32_t)(left * n_tcp / wanted);
	out->n_tcp += !out->n_tcp;
	out->n_transfer = (uint32_t)(left * n_transfer / wanted);
	out->n_transfer += !out->n_transfer;
	snprintf(
		out->problem, sizeof(out->problem),
		"RLIMIT_NOFILE is %llu, and %llu are wanted: at most %u of %u connections over TCP "
		"and TLS, and %u "
		"of %u for transfers: raise LimitNOFILE= or lower server.tcp.max-connections",
		(unsigned long long)limit, (unsigned long long)out->n_wanted, out->n_tcp, n_tcp,
		out->n_transfer, n_transfer);
}

int descriptors_plan(struct descriptors *out, const struct config *config, unsigned int n_workers,
		     uint64_t limit, char *err, size_t err_cap)
{
	*out = (struct descriptors){
		.n_fixed = n_fixed(config, n_workers),
		.n_tcp = config->tcp_connections_cap,
		.n_transfer = TCP_PEERS_DEFAULT,
	};
	/* A worker may have one connection too many, for a moment. */
	out->n_wanted =
		out->n_fixed + out->n_tcp + n_workers + out->n_transfer + NOTIFY_RUNNING_MAX;
	out->n_wanted += n_more_of_secondary(config);
	if (config->n_tls_listen)
		out->n_wanted += HANDSHAKES_MAX + HANDSHAKES_NEW;
	if (limit >= out->n_wanted)
		return 0;
	if (limit >= out->n_fixed + DESCRIPTORS_CONNS_MIN) {
		shrink_descriptors(out, limit);
		return 0;
	}
	snprintf(err, err_cap,
		 "this configuration needs %llu file descriptors at least, and RLIMIT_NOFILE is "
		 "%llu: raise "
		 "LimitNOFILE=, or give fewer workers or addresses",
		 (unsigned long long)out->n_fixed + DESCRIPTORS_CONNS_MIN,
		 (unsigned long long)limit);
	return -EMFILE;
}

/* At most to the hard limit. */
static void raise_to(struct rlimit *limit, uint64_t wanted)
{
	struct rlimit wish = *limit;

	wish.rlim_cur = wanted < limit->rlim_max ? wanted : limit->rlim_max;
	if (!setrlimit(RLIMIT_NOFILE, &wish))
		*limit = wish;
}

int descriptors_raise(struct descriptors *out, const struct config *config, unsigned int n_workers,
		      char *err, size_t err_cap)
{
	struct rlimit limit;
	int code;

	if (getrlimit(RLIMIT_NOFILE, &limit)) {
		snprintf(err, err_cap, "RLIMIT_NOFILE: %s", err_text(-errno));
		return -errno;
	}
	code = descriptors_plan(out, config, n_workers, limit.rlim_cur, err, err_cap);
	if (!code && !*out->problem)
		return 0;
	raise_to(&limit, out->n_wanted);
	return descriptors_plan(out, config, n_workers, limit.rlim_cur, err, err_cap);
}

static uint64_t excess(uint32_t n, uint32_t planned)
{
	return n > planned ? n - planned : 0;
}

int descriptors_grow(const struct descriptors *d, const struct config *running,
		     unsigned int n_workers, uint32_t n_listen, uint32_t n_interfaces, char *err,
		     size_t err_cap)
{
	const uint64_t n_more =
		(uint64_t)n_workers * ADDRESS_FDS * excess(n_listen, running->n_listen) +
		INTERFACE_FDS * excess(n_interfaces, running->n_interfaces);
	const uint64_t n = d->n_fixed + n_more + d->n_tcp + n_workers + d->n_transfer;
	struct rlimit limit;

	if (!n_more)
		return 0;
	if (getrlimit(RLIMIT_NOFILE, &limit)) {
		snprintf(err, err_cap, "RLIMIT_NOFILE: %s", err_text(-errno));
		return -errno;
	}
	if (limit.rlim_cur < n)
		raise_to(&limit, n);
	if (limit.rlim_cur >= n)
		return 0;
	snprintf(err, err_cap,
		 "%u addresses and %u interfaces need %llu file descriptors, and RLIMIT_NOFILE is "
		 "%llu: raise "
		 "LimitNOFILE= and restart volleyd, or lower server.tcp.max-connections",
		 n_listen, n_interfaces, (unsigned long long)n, (unsigned long long)limit.rlim_max);
	return -EMFILE;
}
