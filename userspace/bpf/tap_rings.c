/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/tap_rings.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "dns/proto.h"
#include "xdp/abi.h"

#define IPV4_BYTES 20u /* the program answers no packets with IPv4 options */
#define IPV6_BYTES 40u
#define UDP_BYTES  8u

struct tap_rings {
	int taps_fd;
	int fds[VOLLEY_TAP_RINGS];
	unsigned int n;
	struct ring_buffer *reader;
	struct tap *tap; /* valid while it is drained */
	uint64_t ahead_ns;
	union {
		struct tap_event event;
		uint8_t room[TAP_EVENT_MAX];
	};
};

/* This is an answer to the client: its source address is ours. */
static void read_addresses(struct tap_event *e, const uint8_t *ip)
{
	if (e->family == AF_INET) {
		memcpy(e->local, ip + 12, 4);
		memcpy(e->peer, ip + 16, 4);
	} else {
		memcpy(e->local, ip + 8, 16);
		memcpy(e->peer, ip + 24, 16);
	}
}

bool tap_rings_read(struct tap_event *e, const struct volley_tap *record, size_t n,
		    uint64_t ahead_ns)
{
	const uint8_t *ip = record->octets, *reply;
	size_t ip_bytes, n_reply;

	if (n < sizeof(*record) || record->bytes > n - sizeof(*record) || !record->bytes)
		return false;
	ip_bytes = ip[0] >> 4 == 4 ? IPV4_BYTES : IPV6_BYTES;
	if (record->bytes < ip_bytes + UDP_BYTES + DNS_HEADER_BYTES)
		return false;
	reply = ip + ip_bytes + UDP_BYTES;
	n_reply = record->bytes - ip_bytes - UDP_BYTES;
	*e = (struct tap_event){ .way = TAP_DRIVER, .transport = TAP_UDP, .is_rebuilt = true };
	e->family = ip_bytes == IPV4_BYTES ? AF_INET : AF_INET6;
	read_addresses(e, ip);
	memcpy(&e->local_port, ip + ip_bytes, 2);
	memcpy(&e->peer_port, ip + ip_bytes + 2, 2);
	e->asked_ns = e->answered_ns = record->ns + ahead_ns;
	e->n_query = (uint32_t)tap_event_rebuild(e->octets, TAP_MESSAGE_MAX, reply, n_reply);
	e->n_reply = (uint32_t)n_reply;
	memcpy(e->octets + e->n_query, reply, n_reply);
	return true;
}

static int take_tap_rings(void *ctx, void *record, size_t n)
{
	struct tap_rings *rings = ctx;

	if (tap_rings_read(&rings->event, record, n, rings->ahead_ns))
		tap_handle(rings->tap, &rings->event);
	return 0;
}

static uint64_t real_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
}

void tap_rings_drain(void *ctx, struct tap *tap)
{
	struct tap_rings *rings = ctx;

	rings->tap = tap;
	rings->ahead_ns = real_ns() - clock_kernel_ns(clock_ns());
	(void)ring_buffer__consume(rings->reader); /* take_tap_rings() does not fail */
}

int tap_rings_make(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "volley_tap", 0, 0, TAP_RINGS_BYTES, NULL);

	return fd < 0 ? -errno : fd;
}

static int add_ring(struct tap_rings *rings, int fd)
{
	rings->fds[rings->n++] = fd;
	if (rings->reader)
		return ring_buffer__add(rings->reader, fd, take_tap_rings, rings);
	rings->reader = ring_buffer__new(fd, take_tap_rings, rings, NULL);
	return rings->reader ? 0 : errno ? -errno : -ENOMEM;
}

static int put_rings(const struct tap_rings *rings)
{
	for (uint32_t i = 0; i < VOLLEY_TAP_RINGS; i++)
		if (bpf_map_update_elem(rings->taps_fd, &i, &rings->fds[i % rings->n], BPF_ANY))
			return -errno;
	return 0;
}

unsigned int tap_rings_wanted(void)
{
	int n = libbpf_num_possible_cpus();

	return n > 0 && n < (int)VOLLEY_TAP_RINGS ? (unsigned int)n : VOLLEY_TAP_RINGS;
}

/* Closes the rings that were not added. */
static void drop_rings(const int *fds, unsigned int from, unsigned int n)
{
	for (unsigned int i = from; i < n; i++)
		close(fds[i]);
}

int tap_rings_open(struct tap_rings **out, int taps_fd, const int *fds, unsigned int n)
{
	struct tap_rings *rings = calloc(1, sizeof(*rings));
	int err = 0;

	if (!rings) {
		drop_rings(fds, 0, n);
		return -ENOMEM;
	}
	rings->taps_fd = taps_fd;
	while (!err && rings->n < n)
		err = add_ring(rings, fds[rings->n]);
	drop_rings(fds, rings->n, n);
	if (!err)
		err = put_rings(rings);
	if (err)
		tap_rings_close(rings);
	else
		*out = rings;
	return err;
}

void tap_rings_close(struct tap_rings *rings)
{
	if (!rings)
		return;
	for (uint32_t i = 0; i < VOLLEY_TAP_RINGS; i++)
		(void)bpf_map_delete_elem(rings->taps_fd, &i);
	ring_buffer__free(rings->reader);
	for (unsigned int i = 0; i < rings->n; i++)
		close(rings->fds[i]);
	free(rings);
}
