/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/iface_guard.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "iface/iface_peer.h"
#include "iface/quirks.h"
#include "iface/xdpdrops.h"
#include "port/xsk.h"

/* --- What is known of the driver -------------------------------------------------------------- */

/* The pairs that virtio_net adds for XDP receive; the kernel does not see their transmit queues. */
static void read_pairs(const struct iface *iface, struct quirks_pairs *pairs)
{
	const int n_cpus = libbpf_num_possible_cpus();
	const struct link *link = &iface->link;

	*pairs = (struct quirks_pairs){
		.n = link->n_tx_queues ? link->n_tx_queues : iface->n_pairs,
		.n_max = link->n_queues_max ? link->n_queues_max : link->n_queues,
		.n_cpus = n_cpus > 0 ? (uint32_t)n_cpus : 1,
	};
}

void iface_guard_note_pairs(struct iface *iface)
{
	const bool is_there = program_is_there(iface->config.name);
	const int n_cpus = libbpf_num_possible_cpus();

	if (!quirks_has_pairs(iface->link.driver))
		iface->n_pairs = 0;
	else if (is_there && n_cpus > 0)
		iface->n_pairs = quirks_pairs_beside(iface->link.n_queues, (uint32_t)n_cpus);
	else
		iface->n_pairs = iface->link.n_queues;
}

uint32_t iface_guard_tx_queues(const struct iface *iface, const struct link *before)
{
	if (!iface->link.n_tx_queues && !iface->link.is_up && before->n_tx_queues)
		return before->n_tx_queues;
	if (iface->link.n_tx_queues || program_mode(iface->program) != PROGRAM_NATIVE)
		return iface->link.n_tx_queues;
	return iface->n_pairs;
}

bool iface_guard_is_native_fatal(const struct iface *iface)
{
	struct quirks_pairs pairs;

	read_pairs(iface, &pairs);
	return quirks_native_is_fatal(iface->link.driver, &pairs);
}

void iface_guard_say_fatal(struct iface *iface)
{
	const bool is_generic = iface->program && program_mode(iface->program) == PROGRAM_GENERIC;
	struct quirks_pairs pairs;

	read_pairs(iface, &pairs);
	iface_say(iface, IFACE_TOPIC_QUIRK, !is_generic,
		  "%u of %u queues on %u processors leave virtio_net none to answer by, and "
		  "answers by native XDP would crash the kernel: %s; say ethtool -L %s combined "
		  "%u, then detach it, and attach it anew",
		  pairs.n, pairs.n_max, pairs.n_cpus,
		  is_generic ? "XDP is generic" : "the driver does not answer", iface->config.name,
		  quirks_pairs_wanted(&pairs));
}

const char *iface_guard_zerocopy(const struct iface *iface)
{
	return iface->config.zero_copy == CONFIG_ZERO_COPY_ON ? NULL :
								quirks_zerocopy(iface->link.driver);
}

/* --- Sockets ---------------------------------------------------------------------------------- */

bool iface_guard_is_barred(const struct iface *iface, uint32_t queue, uint64_t now_ns)
{
	return leaving_is_barred(&iface->leaving.queues[queue].pause, now_ns);
}

bool iface_guard_is_stuck(struct iface *iface, uint32_t queue, uint64_t now_ns)
{
	struct leaving_queue *q = &iface->leaving.queues[queue];
	struct xsk_sent sent;

	if (!iface->link.is_up || !iface->link.has_carrier) {
		leaving_excuse(q);
		return false;
	}
	xsk_sent_read(iface->ports[queue], &sent);
	return leaving_is_stuck(q, &sent, now_ns);
}

void iface_guard_say_stuck(struct iface *iface, uint64_t now_ns)
{
	uint32_t n = 0, first = 0;
	char queues[64];
	size_t len = 0;

	for (uint32_t queue = 0; queue < VOLLEY_QUEUES; queue++) {
		if (!iface_guard_is_barred(iface, queue, now_ns))
			continue;
		first = n++ ? first : queue;
		if (len < sizeof(queues))
			len += (size_t)snprintf(queues + len, sizeof(queues) - len, "%s%u",
						len ? ", " : "", queue);
	}
	if (!n)
		iface_unsay(iface, IFACE_TOPIC_LEAVING);
	else if (first)
		iface_say(iface, IFACE_TOPIC_LEAVING, true,
			  "queue%s %s: the kernel does not send the replies of the AF_XDP "
			  "socket: kernel sockets answer there, and it is tried again later; if "
			  "that does not help, run volleyctl port queues %s %u",
			  n > 1 ? "s" : "", queues, iface->config.name, first);
	else
		iface_say(iface, IFACE_TOPIC_LEAVING, true,
			  "queue%s %s: the kernel does not send the replies of the AF_XDP "
			  "socket: kernel sockets answer there, and it is tried again later; if "
			  "that does not help, set port: socket for %s",
			  n > 1 ? "s" : "", queues, iface->config.name);
}

/* --- Hits ------------------------------------------------------------------------------------- */

static int count_hits(const struct program *program, uint64_t *n_hits)
{
	struct volley_cpu sum;
	int err = program_counters(program, &sum);

	*n_hits = 0;
	for (int i = 0; !err && i < VOLLEY_N_REASONS; i++)
		if (program_reason_class((enum volley_reason)i) == VOLLEY_CLASS_HIT)
			*n_hits += sum.reasons[i];
	return err;
}

static bool can_see_hits(const struct iface *iface, const struct xdpdrops_driver *driver)
{
	return driver && iface->program && iface->config.driver_answers &&
	       program_mode(iface->program) == PROGRAM_NATIVE &&
	       !iface->remarks[IFACE_TOPIC_QUIRK].is_fault;
}

static void silence_iface_guard(struct iface *iface, const struct xdpdrops_driver *driver)
{
	iface_mute(iface, IFACE_MUTE_HITS, true);
	iface_peer_wake(iface);
	iface_say(
		iface, IFACE_TOPIC_HITS, true,
		"the driver drops what the XDP program answers (ethtool -S %s): workers answer in "
		"its place, and it is tried again later%s%s",
		iface->config.name, *driver->hint ? "; " : "", driver->hint);
}

static void say_some_lost(struct iface *iface, const struct xdpdrops_driver *driver)
{
	iface_say(
		iface, IFACE_TOPIC_HITS, true,
		"the driver drops some of what the XDP program answers (ethtool -S %s): more than "
		"it can send, or some of its queues do not send%s%s",
		iface->config.name, *driver->hint ? "; " : "", driver->hint);
}

static void judge_hits(struct iface *iface, const struct xdpdrops_driver *driver, uint64_t n_hits,
		       uint64_t n_lost, uint64_t now_ns)
{
	switch (leaving_judge_hits(&iface->leaving.hits, n_hits, n_lost, now_ns)) {
	case LEAVING_WELL:
		iface_unsay(iface, IFACE_TOPIC_HITS);
		break;
	case LEAVING_SOME_LOST:
		say_some_lost(iface, driver);
		break;
	case LEAVING_ALL_LOST:
		silence_iface_guard(iface, driver);
		break;
	}
}

static void let_answer(struct iface *iface)
{
	iface_mute(iface, IFACE_MUTE_HITS, false);
	iface_unsay(iface, IFACE_TOPIC_HITS);
}

void iface_guard_hits(struct iface *iface, uint64_t now_ns)
{
	const struct xdpdrops_driver *driver = xdpdrops_find(iface->link.driver);
	struct leaving_hits *h = &iface->leaving.hits;
	uint64_t n_hits, n_lost;

	if (!can_see_hits(iface, driver) || leaving_is_barred(&h->pause, now_ns) ||
	    now_ns - iface->hits_seen_ns < driver->every_s * CLOCK_NS_PER_S)
		return;
	iface->hits_seen_ns = now_ns;
	/* Reads hits first: a hit that is lost meanwhile is counted early, not missed. */
	if (count_hits(iface->program, &n_hits) ||
	    xdpdrops_read(driver, iface->config.name, &n_lost))
		return;
	if (iface->mute & IFACE_MUTE_HITS)
		let_answer(iface);
	if (!h->is_begun)
		leaving_begin_hits(h, n_hits, n_lost, now_ns);
	else
		judge_hits(iface, driver, n_hits, n_lost, now_ns);
}

void iface_guard_reset(struct iface *iface)
{
	iface->leaving = (struct leaving){ 0 };
	iface_mute(iface, IFACE_MUTE_HITS, false);
	iface->hits_seen_ns = 0;
}
