/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of an interface's queues: number, share of the packets, processors. Pure. */
#include <errno.h>
#include <linux/ethtool.h>
#include <string.h>

#include "base/affinity.h"
#include "doctor/drivers.h"
#include "doctor/finding.h"
#include "iface/quirks.h"
#include "xdp/abi.h"

/* Addresses and ports, ethtool's "sdfn". */
#define HASH_PORTS (RXH_IP_SRC | RXH_IP_DST | RXH_L4_B_0_1 | RXH_L4_B_2_3)

static bool wants_queue_xdp(const struct doctor_case *c)
{
	return c->nic->ifindex > 0 && c->want->xdp != CONFIG_XDP_OFF;
}

/* The queues of a driver that needs one more queue for each possible processor. An attached program
 * already has its own queues. */
static struct quirks_pairs pairs_of(const struct doctor_case *c)
{
	const struct doctor_nic *nic = c->nic;
	const int n_possible = c->host->cpus.n_possible;
	const bool has_own = nic->n_tx_queues > 0 && nic->n_tx_queues < nic->n_queues;

	return (struct quirks_pairs){
		.n = (uint32_t)(has_own ? nic->n_tx_queues : nic->n_queues),
		.n_max = (uint32_t)nic->max_queues,
		.n_cpus = n_possible > 0 ? (uint32_t)n_possible :
					   (uint32_t)CPU_COUNT(&c->host->cpus.online),
	};
}

/* The largest number of queues that may be configured. */
static int most_queues(const struct doctor_case *c, const struct doctor_driver *d)
{
	const struct quirks_pairs pairs = pairs_of(c);

	return d && d->takes_tx_queues ? (int)quirks_pairs_wanted(&pairs) : c->nic->max_queues;
}

static void queues(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_driver *d = doctor_driver_find(c->nic->driver);
	int n = c->nic->n_queues, max = c->nic->max_queues, workers = c->host->n_workers;
	int most = most_queues(c, d);

	if (!wants_queue_xdp(c) || doctor_is_unknown(f, n, "queues"))
		return;
	if (c->want->n_queues && (int)c->want->n_queues > n) {
		doctor_warn(f, "queues: %u, but the interface has %d", c->want->n_queues, n);
		doctor_fix(f, "ethtool -L %s combined %u", c->nic->name, c->want->n_queues);
	} else if (n > (int)VOLLEY_QUEUES) {
		doctor_warn(f,
			    "%d queues, and Volley serves %u: misses on the others go to kernel "
			    "sockets",
			    n, (unsigned int)VOLLEY_QUEUES);
		doctor_fix(f, "ethtool -L %s combined %u", c->nic->name,
			   (unsigned int)VOLLEY_QUEUES);
	} else if (d && d->max_queues && n > d->max_queues) {
		doctor_warn(f, "%d queues: with %s at most %d are known to work", n, d->name,
			    d->max_queues);
		doctor_fix(f, "ethtool -L %s combined %d", c->nic->name, d->max_queues);
	} else if (d && d->halves_queues && max > 1 && 2 * n > max) {
		doctor_refuse(f, c->want,
			      "%d of %d queues: %s takes an XDP program with at most half of them",
			      n, max, d->name);
		doctor_fix(f, "ethtool -L %s combined %d", c->nic->name, max / 2);
	} else if (workers > n) {
		doctor_warn(f, "%d queue(s) and %d workers: %d of them have no queue here", n,
			    workers, workers - n);
		if (most > n)
			doctor_fix(f, "ethtool -L %s combined %d", c->nic->name,
				   most < workers ? most : workers);
		else
			doctor_fix(f,
				   "workers: %d below server:, because the interface has no more "
				   "queues",
				   n);
	} else {
		doctor_ok(f, "%d queue(s), %d worker(s)", n, workers);
	}
}

/*
 * virtnet_xdp_set(): if there is one more queue for each possible processor, answers leave by
 * these. Otherwise "XDP_TX and XDP_REDIRECT will operate in a slower locked tx mode".
 */
static void tx_queues(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_driver *d = doctor_driver_find(c->nic->driver);
	const struct quirks_pairs pairs = pairs_of(c);
	const uint32_t n = pairs.n, n_all = pairs.n + pairs.n_cpus;

	if (!wants_queue_xdp(c) || !d || !d->takes_tx_queues || c->nic->max_queues <= 0)
		return;
	if (!c->nic->n_tx_queues && c->nic->xdp_program > DOCTOR_NO_PROGRAM &&
	    c->nic->xdp_generic <= 0) {
		/* It is not known how many of the queues belong to the program. */
		(void)doctor_is_unknown(f, -EXDEV, "transmit queues");
		return;
	}
	if (quirks_native_is_fatal(d->name, &pairs)) {
		doctor_refuse(f, c->want,
			      "%u of %u queues are in use, and XDP wants one more for each of %u "
			      "processors: with %s the kernel would crash at the first answer by "
			      "native XDP",
			      n, pairs.n_max, pairs.n_cpus, d->name);
		doctor_fix(f, "ethtool -L %s combined %u", c->nic->name,
			   quirks_pairs_wanted(&pairs));
	} else if (n_all <= pairs.n_max) {
		doctor_ok(
			f,
			"each processor has a queue for replies of XDP; AF_XDP serves queues 0 to "
			"%u, kernel sockets the others",
			n - 1);
	} else if (pairs.n_max > pairs.n_cpus) {
		doctor_warn(f,
			    "%u of %u queues are in use, and XDP wants one more for each of %u "
			    "processors: they share them, with locks",
			    n, pairs.n_max, pairs.n_cpus);
		doctor_fix(f, "ethtool -L %s combined %u", c->nic->name,
			   pairs.n_max - pairs.n_cpus);
	} else {
		doctor_warn(f,
			    "%u of %u queues are in use, and XDP wants one more for each of %u "
			    "processors: they share them, with locks",
			    n, pairs.n_max, pairs.n_cpus);
		doctor_fix(
			f,
			"give the guest %u queues (queues= of the hypervisor), and use %u of them: "
			"ethtool -L %s combined %u; or leave it: replies are a little slower",
			n_all, n, c->nic->name, n);
	}
}

static void put_hash(char *buf, int hash)
{
	*buf = 0;
	if (hash & RXH_IP_SRC)
		strcat(buf, "s");
	if (hash & RXH_IP_DST)
		strcat(buf, "d");
	if (hash & RXH_L4_B_0_1)
		strcat(buf, "f");
	if (hash & RXH_L4_B_2_3)
		strcat(buf, "n");
}

static void rss_hash(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_nic *nic = c->nic;
	bool bad4, bad6;
	char hash[8];

	if (!wants_queue_xdp(c) || nic->n_queues < 2 || (nic->hash_udp4 < 0 && nic->hash_udp6 < 0))
		return;
	bad4 = nic->hash_udp4 >= 0 && (nic->hash_udp4 & HASH_PORTS) != HASH_PORTS;
	bad6 = nic->hash_udp6 >= 0 && (nic->hash_udp6 & HASH_PORTS) != HASH_PORTS;
	if (!bad4 && !bad6) {
		doctor_ok(f, "UDP is spread over queues by addresses and ports");
		return;
	}
	put_hash(hash, bad4 ? nic->hash_udp4 : nic->hash_udp6);
	doctor_warn(
		f,
		"UDP over %s is spread by \"%s\", without the ports: a large resolver's queries "
		"all come to one queue",
		bad4 && bad6 ? "IPv4 and IPv6" :
		bad4         ? "IPv4" :
			       "IPv6",
		hash);
	doctor_fix(f, "ethtool -N %s rx-flow-hash udp%d sdfn%s%s%s", nic->name, bad4 ? 4 : 6,
		   bad4 && bad6 ? "; ethtool -N " : "", bad4 && bad6 ? nic->name : "",
		   bad4 && bad6 ? " rx-flow-hash udp6 sdfn" : "");
}

static void rss_table(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_nic *nic = c->nic;

	if (!wants_queue_xdp(c) || nic->n_queues < 2 ||
	    doctor_is_unknown(f, nic->rss_queues, "RSS table"))
		return;
	if (nic->rss_outside > 0) {
		doctor_warn(f,
			    "the RSS table leads to queues from %d on, which have no worker: their "
			    "misses go to kernel sockets",
			    nic->serves);
		doctor_fix(f, "ethtool -X %s equal %d", nic->name, nic->serves);
	} else if (nic->rss_queues < nic->serves) {
		doctor_warn(f, "the RSS table uses %d of %d queues: the other workers get nothing",
			    nic->rss_queues, nic->serves);
		doctor_fix(f, "ethtool -X %s equal %d", nic->name, nic->serves);
	} else {
		doctor_ok(f, "the table uses all %d queues", nic->rss_queues);
	}
}

static void rings(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_nic *nic = c->nic;
	int small = nic->rx_ring_max / 4;

	if (!wants_queue_xdp(c) || nic->rx_ring_max <= 0 || nic->rx_ring < 0)
		return;
	/* Knot DNS manual, xdp ring-size: at least as large as the card's ring. */
	if (doctor_wants_xsk(c->want) && (int)c->want->ring_size < nic->rx_ring) {
		doctor_warn(f,
			    "the card's RX ring has %d places, but ring-size is %u: a burst that "
			    "fits the card does not fit AF_XDP",
			    nic->rx_ring, c->want->ring_size);
		doctor_fix(f, "ring-size: %d for %s", nic->rx_ring, nic->name);
	} else if (nic->rx_ring < small) {
		doctor_warn(f, "the RX ring has %d places of %d: bursts are lost in the card",
			    nic->rx_ring, nic->rx_ring_max);
		doctor_fix(f, "ethtool -G %s rx %u tx %u", nic->name, c->want->ring_size,
			   c->want->ring_size);
	} else {
		doctor_ok(f, "RX %d of %d, TX %d of %d", nic->rx_ring, nic->rx_ring_max,
			  nic->tx_ring, nic->tx_ring_max);
	}
}

/* Each queue's interrupt should go only to the processor of its worker. */
static void irqs(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_nic *nic = c->nic;
	int n_bad = 0, first = -1;

	if (!wants_queue_xdp(c) || nic->n_irqs <= 0)
		return;
	for (int q = 0; q < nic->serves && q < (int)DOCTOR_QUEUES; q++) {
		const struct doctor_irq *irq = &nic->irqs[q];

		if (!irq->number || nic->queue_cpus[q] < 0)
			continue;
		if (CPU_COUNT(&irq->cpus) == 1 && CPU_ISSET((size_t)nic->queue_cpus[q], &irq->cpus))
			continue;
		first = n_bad++ ? first : q;
	}
	if (!n_bad) {
		doctor_ok(f, "each queue interrupts the processor of its worker");
		return;
	}
	doctor_warn(f,
		    "the interrupts of %d queue(s) are not on their worker's processor alone; the "
		    "first is queue %d, interrupt %d, worker on %d",
		    n_bad, first, nic->irqs[first].number, nic->queue_cpus[first]);
	doctor_fix(f, "echo %d >/proc/irq/%d/smp_affinity_list", nic->queue_cpus[first],
		   nic->irqs[first].number);
}

static void rps(const struct doctor_case *c, struct doctor_finding *f)
{
	if (!wants_queue_xdp(c) || doctor_is_unknown(f, c->nic->rps, "receive packet steering"))
		return;
	if (!c->nic->rps) {
		doctor_ok(f, "off: packets for the kernel stay on their processor");
		return;
	}
	doctor_warn(f,
		    "%d queue(s) have rps_cpus: packets that the driver passes to the kernel go to "
		    "other processors, also to those of workers",
		    c->nic->rps);
	doctor_fix(f, "for q in /sys/class/net/%s/queues/rx-*; do echo 0 >$q/rps_cpus; done",
		   c->nic->name);
}

static void ntuple(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_nic *nic = c->nic;
	const struct doctor_steer *first = &nic->steered[0];

	if (!wants_queue_xdp(c) || doctor_is_unknown(f, nic->n_steered, "flow rules"))
		return;
	if (!nic->n_steered) {
		doctor_ok(f, "no rule moves DNS to one queue");
		return;
	}
	if (first->queue < 0)
		doctor_fail(f, "flow rule %d of the card drops UDP to port 53", first->location);
	else
		doctor_warn(
			f,
			"flow rule %d of the card sends UDP to port 53 to queue %d only (%d such "
			"rules)",
			first->location, first->queue, nic->n_steered);
	doctor_fix(f, "ethtool -N %s delete %d", nic->name, first->location);
}

static void numa(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_cpus *cpus = &c->host->cpus;
	int node = c->nic->numa_node;
	cpu_set_t near;
	char list[64];

	if (!wants_queue_xdp(c) || node < 0 || node >= (int)DOCTOR_NODES)
		return;
	CPU_AND(&near, &c->host->workers, &cpus->nodes[node]);
	if (CPU_EQUAL(&near, &c->host->workers)) {
		doctor_ok(f, "card and workers are of node %d", node);
		return;
	}
	affinity_text(&cpus->nodes[node], list, sizeof(list));
	doctor_warn(f,
		    "the card is of NUMA node %d, and workers run on processors of another: each "
		    "frame crosses the link between them",
		    node);
	doctor_fix(f, "choose cores from %s for %s", list, c->nic->name);
}

static void rp_filter(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_nic *nic = c->nic;

	if (nic->ifindex <= 0 || doctor_is_unknown(f, nic->rp_filter, "rp_filter"))
		return;
	if (nic->rp_filter != 1 || nic->is_default_route > 0) {
		doctor_ok(f, nic->rp_filter == 1 ? "strict, and replies leave by this "
						   "interface" :
						   "not strict");
		return;
	}
	doctor_warn(
		f,
		"rp_filter is strict, and replies do not leave by %s: the kernel drops packets to "
		"its sockets that arrive here, above all TCP. Anycast and asymmetric routes do "
		"this",
		nic->name);
	doctor_fix(f, "sysctl -w net.ipv4.conf.all.rp_filter=2 net.ipv4.conf.%s.rp_filter=2",
		   nic->name);
}

const struct doctor_check doctor_queue_checks[] = {
	{ "queues", queues },     { "tx-queues", tx_queues },
	{ "rss-hash", rss_hash }, { "rss-table", rss_table },
	{ "rings", rings },       { "irq-affinity", irqs },
	{ "rps", rps },           { "flow-rules", ntuple },
	{ "numa", numa },         { "rp-filter", rp_filter },
	{ NULL, NULL },
};
