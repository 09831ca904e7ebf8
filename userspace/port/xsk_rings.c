/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/xsk_rings.h"

#include <errno.h>
#include <linux/if_xdp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum xsk_ring_kind { RING_FILL, RING_COMPLETION, RING_RX, RING_TX, N_RINGS };

static int set_rings(int fd, const struct xsk_rings_config *config)
{
	static const int options[N_RINGS] = { XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING,
					      XDP_RX_RING, XDP_TX_RING };

	for (int i = 0; i < N_RINGS; i++) {
		const uint32_t n = i == RING_FILL ? config->fill_cap : config->ring_cap;

		if (setsockopt(fd, SOL_XDP, options[i], &n, sizeof(n)))
			return -errno;
	}
	return 0;
}

/* Maps one ring. Its memory, or NULL with errno. */
static uint8_t *map_ring(struct xsk_rings *rings, enum xsk_ring_kind ring, uint64_t descs,
			 size_t n_bytes)
{
	static const off_t offsets[N_RINGS] = { (off_t)XDP_UMEM_PGOFF_FILL_RING,
						(off_t)XDP_UMEM_PGOFF_COMPLETION_RING,
						XDP_PGOFF_RX_RING, XDP_PGOFF_TX_RING };
	void *at = mmap(NULL, descs + n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			rings->fd, offsets[ring]);

	if (at == MAP_FAILED)
		return NULL;
	rings->maps[ring].at = at;
	rings->maps[ring].n_bytes = descs + n_bytes;
	return at;
}

/* Of a ring that we fill, cached_cons is the consumer plus the size (xsk_prod_nb_free()). */
#define FILL_IN(ring_, at_, offset_, size_)                                            \
	do {                                                                           \
		(ring_)->mask = (size_)-1;                                             \
		(ring_)->size = (size_);                                               \
		(ring_)->producer = (uint32_t *)(void *)((at_) + (offset_)->producer); \
		(ring_)->consumer = (uint32_t *)(void *)((at_) + (offset_)->consumer); \
		(ring_)->flags = (uint32_t *)(void *)((at_) + (offset_)->flags);       \
		(ring_)->ring = (at_) + (offset_)->desc;                               \
		(ring_)->cached_prod = *(ring_)->producer;                             \
		(ring_)->cached_cons = *(ring_)->consumer;                             \
	} while (0)

static int map_produced(struct xsk_rings *rings, enum xsk_ring_kind ring, struct xsk_ring_prod *to,
			const struct xdp_ring_offset *offset, uint32_t n, size_t entry_bytes)
{
	uint8_t *at = map_ring(rings, ring, offset->desc, n * entry_bytes);

	if (!at)
		return -errno;
	FILL_IN(to, at, offset, n);
	to->cached_cons += n;
	return 0;
}

static int map_consumed(struct xsk_rings *rings, enum xsk_ring_kind ring, struct xsk_ring_cons *to,
			const struct xdp_ring_offset *offset, uint32_t n, size_t entry_bytes)
{
	uint8_t *at = map_ring(rings, ring, offset->desc, n * entry_bytes);

	if (!at)
		return -errno;
	FILL_IN(to, at, offset, n);
	return 0;
}

static int map_rings(struct xsk_rings *rings, const struct xsk_rings_config *config)
{
	const uint32_t n = config->ring_cap;
	struct xdp_mmap_offsets offsets;
	socklen_t len = sizeof(offsets);
	int err = 0;

	if (getsockopt(rings->fd, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &len))
		return -errno;
	if (len != sizeof(offsets)) /* before Linux 5.4, without flags */
		return -EOPNOTSUPP;
	err = map_produced(rings, RING_FILL, &rings->fill, &offsets.fr, config->fill_cap,
			   sizeof(uint64_t));
	if (!err)
		err = map_consumed(rings, RING_COMPLETION, &rings->comp, &offsets.cr, n,
				   sizeof(uint64_t));
	if (!err)
		err = map_consumed(rings, RING_RX, &rings->rx, &offsets.rx, n,
				   sizeof(struct xdp_desc));
	if (!err)
		err = map_produced(rings, RING_TX, &rings->tx, &offsets.tx, n,
				   sizeof(struct xdp_desc));
	return err;
}

int xsk_rings_open(struct xsk_rings *rings, int fd, const struct xsk_rings_config *config)
{
	const struct sockaddr_xdp at = { .sxdp_family = AF_XDP,
					 .sxdp_flags = config->bind_flags,
					 .sxdp_ifindex = config->ifindex,
					 .sxdp_queue_id = config->queue };
	int err;

	*rings = (struct xsk_rings){ .fd = fd };
	err = set_rings(fd, config);
	if (!err)
		err = map_rings(rings, config);
	if (!err && bind(fd, (const struct sockaddr *)&at, sizeof(at)))
		err = -errno;
	if (err)
		xsk_rings_close(rings);
	return err;
}

void xsk_rings_close(struct xsk_rings *rings)
{
	if (rings->fd < 0)
		return;
	for (int i = 0; i < N_RINGS; i++)
		if (rings->maps[i].at)
			munmap(rings->maps[i].at, rings->maps[i].n_bytes);
	close(rings->fd);
	*rings = (struct xsk_rings){ .fd = -1 };
}
