/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/maps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "bpf/tables.h"
#include "broker/broker.h"

/* Opens the shared maps of a reply. Closes the reply's descriptors. */
static int take_shared(struct object_maps *maps, const struct broker_reply *reply,
		       struct broker_fds *fds)
{
	const struct object_shared shared = broker_fds_shared(fds, &reply->sizes);
	int code = object_maps_open(maps, &shared.fds, &shared.sizes);

	broker_fds_close(fds);
	return code;
}

int maps_make(struct object_maps *maps, const struct cache_sizes *sizes)
{
	struct broker_request request = { .operation = BROKER_MAKE_SHARED, .sizes = *sizes };
	struct broker_reply reply;
	struct broker_fds out;
	int code = broker_call(&request, NULL, &reply, &out);

	return code ? code : take_shared(maps, &reply, &out);
}

int maps_make_beside(struct object_maps *maps, const struct cache_sizes *sizes,
		     const struct object_maps *shared)
{
	const struct object_shared beside = object_maps_shared(shared);
	struct broker_request request = { .operation = BROKER_MAKE_BESIDE, .sizes = *sizes };
	struct broker_reply reply;
	struct broker_fds fds, out;
	int code;

	broker_fds_init(&fds);
	broker_fds_put_shared(&fds, &beside.fds);
	code = broker_call(&request, &fds, &reply, &out);
	return code ? code : take_shared(maps, &reply, &out);
}

int maps_make_blocks(uint32_t n_chunks, void **memory)
{
	struct broker_request request = { .operation = BROKER_MAKE_BLOCKS, .n = n_chunks };
	struct broker_reply reply;
	struct broker_fds out;
	int code = broker_call(&request, NULL, &reply, &out);

	return code ? code : block_map_open(out.fd[BROKER_FD_NEW], n_chunks, memory);
}

int maps_make_rings(struct tap_rings **out, int taps_fd)
{
	struct broker_request request = { .operation = BROKER_MAKE_RINGS, .n = tap_rings_wanted() };
	struct broker_reply reply;
	struct broker_fds got;
	int code = broker_call(&request, NULL, &reply, &got);

	return code ? code : tap_rings_open(out, taps_fd, &got.fd[BROKER_FD_NEW], request.n);
}

/* Without maps, grace_open() tries another way. */
int maps_make_grace(struct grace **out)
{
	struct broker_request request = { .operation = BROKER_MAKE_GRACE };
	struct broker_reply reply;
	struct broker_fds got;
	int fds[2] = { -1, -1 };

	if (!broker_call(&request, NULL, &reply, &got))
		memcpy(fds, &got.fd[BROKER_FD_NEW], sizeof(fds));
	return grace_open(out, fds);
}

int maps_clock_offset(int64_t *ahead_ns)
{
	struct broker_request request = { .operation = BROKER_CLOCK };
	struct broker_reply reply;
	struct broker_fds out;
	int code = broker_call(&request, NULL, &reply, &out);

	*ahead_ns = code ? 0 : reply.value;
	return code;
}

int maps_wake_veth(const char *ifname, const uint8_t mac[6])
{
	struct broker_request request = { .operation = BROKER_WAKE_VETH };
	struct broker_reply reply;
	struct broker_fds out;

	snprintf(request.ifname, sizeof(request.ifname), "%s", ifname);
	memcpy(request.mac, mac, sizeof(request.mac));
	return broker_call(&request, NULL, &reply, &out);
}
