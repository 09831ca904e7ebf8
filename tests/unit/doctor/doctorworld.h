/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host without faults, for tests of doctor's checks. A row changes one fact of it, and says what
 * the check then finds.
 *
 *	X(name, check, change of the world `w`, level, words of the sentence or the command)
 */
#ifndef VOLLEY_TESTS_DOCTORWORLD_H
#define VOLLEY_TESTS_DOCTORWORLD_H

#include <errno.h>
#include <linux/ethtool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/finding.h"

struct world {
	struct doctor_host host;
	struct doctor_daemon daemon;
	struct doctor_nic nic;
	struct doctor_service service;
	struct config config;
	struct config_interface want;
	struct doctor_case c;
};

struct world_row {
	const char *name;
	const char *check;
	void (*change)(struct world *w);
	enum doctor_level level;
	const char *words;
};

#define WORLD_FUNCTION(name, check, change, level, words) \
	static void set_##name(struct world *w)           \
	{                                                 \
		(void)w;                                  \
		change;                                   \
	}
#define WORLD_ROW(name, check, change, level, words) { #name, check, set_##name, level, words },

static void world_add_cpus(cpu_set_t *set, size_t n)
{
	for (size_t i = 0; i < n; i++)
		CPU_SET(i, set);
}

static void world_make_host(struct doctor_host *h)
{
	*h = (struct doctor_host){
		.release = "6.12.1",
		.kernel = { 6, 12, 1 },
		.btf = 1,
		.jit = 1,
		.load = { .is_tried = true },
		.af_xdp = 1,
		.bpffs = 1,
		.available_bytes = 8ll << 30,
		.cgroup_bytes = DOCTOR_UNLIMITED,
		.hugepage_bytes = 1ll << 30,
		.hugetlbfs = 1,
		.page_bytes = 4096,
		.n_workers = 4,
		.process = { .caps = ~0ull, .memlock_bytes = 8 << 20, .is_root = true },
		.cpus = { .idle_us = 2, .governor = "performance" },
	};
	world_add_cpus(&h->cpus.online, 8);
	world_add_cpus(&h->cpus.nodes[0], 8);
	world_add_cpus(&h->workers, 4);
}

/* An ice with four queues, each with a worker on the processor that it interrupts. */
static void world_make_nic(struct doctor_nic *nic)
{
	*nic = (struct doctor_nic){
		.name = "eth0",
		.ifindex = 2,
		.is_up = true,
		.has_carrier = true,
		.mtu = 1500,
		.driver = "ice",
		.xdp_features = 127,
		.features = { .gro = 1 },
		.peer = { .mtu = -ENOENT },
		.n_queues = 4,
		.max_queues = 8,
		.rx_ring = 2048,
		.rx_ring_max = 4096,
		.tx_ring = 2048,
		.tx_ring_max = 4096,
		.hash_udp4 = RXH_IP_SRC | RXH_IP_DST | RXH_L4_B_0_1 | RXH_L4_B_2_3,
		.hash_udp6 = RXH_IP_SRC | RXH_IP_DST | RXH_L4_B_0_1 | RXH_L4_B_2_3,
		.rss_queues = 4,
		.is_default_route = 1,
		.n_irqs = 4,
		.serves = 4,
	};
	for (int q = 0; q < 4; q++) {
		nic->queue_cpus[q] = q;
		nic->irqs[q].number = 100 + q;
		CPU_SET((size_t)q, &nic->irqs[q].cpus);
	}
}

/* The same for a veth pair. */
static inline void world_make_veth(struct world *w)
{
	strcpy(w->nic.driver, "veth");
	strcpy(w->nic.kind, "veth");
	w->nic.xdp_features = 7;
	w->nic.peer = (struct doctor_peer){ .mtu = 1500, .has_xdp = true };
	w->nic.threaded = 1;
	w->nic.rx_ring_max = -EOPNOTSUPP;
}

static void world_make(struct world *w)
{
	memset(w, 0, sizeof(*w));
	world_make_host(&w->host);
	world_make_nic(&w->nic);
	w->daemon.err = -ENOENT;
	w->service = (struct doctor_service){
		.text = "192.0.2.53@53", .address = "192.0.2.53", .port = 53, .is_here = 1
	};
	w->want = (struct config_interface){ .n_umem_frames = 4096, .ring_size = 2048 };
	strcpy(w->want.name, "eth0");
	w->config.cache_size_bytes = 256 << 20;
	w->config.interfaces = &w->want;
	w->config.n_interfaces = 1;
	w->c = (struct doctor_case){
		.host = &w->host,
		.daemon = &w->daemon,
		.config = &w->config,
		.config_path = "volley.yaml",
		.config_err = "",
		.want = &w->want,
		.nic = &w->nic,
		.service = &w->service,
		.umem_bytes = 32 << 20,
	};
}

static const struct doctor_check *world_find_check(const struct doctor_check *checks,
						   const char *name)
{
	while (checks->name && strcmp(checks->name, name))
		checks++;
	return checks->name ? checks : NULL;
}

/* Fails if a row has another finding, or if a check has no row. */
static void world_test(const struct doctor_check *checks, const struct world_row *rows, size_t n)
{
	struct world *w = malloc(sizeof(*w));

	assert_non_null(w);
	for (size_t i = 0; i < n; i++) {
		const struct doctor_check *check = world_find_check(checks, rows[i].check);
		struct doctor_finding f = { .level = DOCTOR_NOTHING };

		if (!check)
			fail_msg("%s: no check %s", rows[i].name, rows[i].check);
		world_make(w);
		rows[i].change(w);
		check->run(&w->c, &f);
		if (f.level != rows[i].level ||
		    (!strstr(f.text, rows[i].words) && !strstr(f.fix, rows[i].words)))
			fail_msg("%s: %s, not %s: \"%s\" -> \"%s\"", rows[i].name,
				 doctor_level_text(f.level), doctor_level_text(rows[i].level),
				 f.text, f.fix);
		/* A warning or failure must say what to do. */
		if (f.level >= DOCTOR_WARN && !*f.fix)
			fail_msg("%s: nothing to do against: %s", rows[i].name, f.text);
	}
	for (; checks->name; checks++) {
		size_t i = 0;

		while (i < n && strcmp(rows[i].check, checks->name))
			i++;
		if (i == n)
			fail_msg("no row for %s", checks->name);
	}
	free(w);
}

/* On a host without faults, no check finds one. */
static inline void world_test_healthy(const struct doctor_check *checks)
{
	struct world *w = malloc(sizeof(*w));

	assert_non_null(w);
	world_make(w);
	for (; checks->name; checks++) {
		struct doctor_finding f = { .level = DOCTOR_NOTHING };

		checks->run(&w->c, &f);
		if (f.level > DOCTOR_OK)
			fail_msg("%s: %s: %s", checks->name, doctor_level_text(f.level), f.text);
	}
	free(w);
}

#endif
