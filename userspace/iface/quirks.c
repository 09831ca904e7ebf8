/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/quirks.h"

#include <string.h>

struct quirk {
	const char *driver;
	const char *zerocopy;
};

static const struct quirk quirks[] = {
	/*
	 * XDP_TX of a frame in AF_XDP's memory copies the frame without headroom (net/core/xdp.c,
	 * xdp_convert_zc_to_xdp_frame()). virtio_net needs headroom for its own header and drops
	 * the frame (__virtnet_xdp_xmit_one(): headroom < hdr_len). So no hit leaves; seen on 7.3.
	 * Besides, virtnet_xsk_pool_disable() refuses queues that have gone with the program: the
	 * pool is freed while the queue still points to it, and the next program uses it.
	 */
	{ "virtio_net", "virtio_net loses what the XDP program answers" },
	{ NULL, NULL },
};

const char *quirks_zerocopy(const char *driver)
{
	const struct quirk *quirk;

	for (quirk = quirks; quirk->driver; quirk++)
		if (!strcmp(quirk->driver, driver))
			return quirk->zerocopy;
	return NULL;
}

bool quirks_has_pairs(const char *driver)
{
	return !strcmp(driver, "virtio_net");
}

uint32_t quirks_pairs_beside(uint32_t n_queues, uint32_t n_cpus)
{
	return n_queues > n_cpus ? n_queues - n_cpus : n_queues;
}

bool quirks_native_is_fatal(const char *driver, const struct quirks_pairs *pairs)
{
	return quirks_has_pairs(driver) && pairs->n > pairs->n_cpus &&
	       pairs->n + pairs->n_cpus > pairs->n_max;
}

uint32_t quirks_pairs_wanted(const struct quirks_pairs *pairs)
{
	const uint32_t n_own = pairs->n_max > pairs->n_cpus ? pairs->n_max - pairs->n_cpus : 0;
	const uint32_t n = n_own > pairs->n_cpus ? n_own : pairs->n_cpus;

	return n < pairs->n_max ? n : pairs->n_max;
}
