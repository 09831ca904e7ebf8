/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/refresh.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_CAP 64u

struct refresh {
	struct ring_buffer *ring;
	struct responder *responder;
	struct volley_refresh batch[BATCH_CAP];
	unsigned int n;
};

static void flush_refresh(struct refresh *refresh)
{
	if (refresh->n)
		responder_refresh(refresh->responder, refresh->batch, refresh->n);
	refresh->n = 0;
}

static int take_refresh(void *user, void *data, size_t bytes)
{
	struct refresh *refresh = user;

	if (bytes < sizeof(refresh->batch[0]))
		return 0;
	memcpy(&refresh->batch[refresh->n++], data, sizeof(refresh->batch[0]));
	if (refresh->n == BATCH_CAP)
		flush_refresh(refresh);
	return 0;
}

static void ready_refresh(void *ctx, uint64_t now_ns)
{
	struct refresh *refresh = ctx;

	(void)now_ns;
	(void)ring_buffer__consume(refresh->ring); /* take_refresh() never fails */
	flush_refresh(refresh);
}

int refresh_open(struct refresh **out, int fd, struct responder *responder)
{
	struct refresh *refresh = calloc(1, sizeof(*refresh));
	int err;

	if (!refresh)
		return -ENOMEM;
	refresh->responder = responder;
	refresh->ring = ring_buffer__new(fd, take_refresh, refresh, NULL);
	if (!refresh->ring) {
		err = errno ? -errno : -ENOMEM;
		free(refresh);
		return err;
	}
	*out = refresh;
	return 0;
}

struct worker_source refresh_source(struct refresh *refresh)
{
	return (struct worker_source){
		.fd = ring_buffer__epoll_fd(refresh->ring),
		.ready = ready_refresh,
		.ctx = refresh,
	};
}

void refresh_close(struct refresh *refresh)
{
	if (!refresh)
		return;
	ring_buffer__free(refresh->ring);
	free(refresh);
}
