/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/xdpworld.h"

#include <time.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include <urcu-qsbr.h>

#include "base/clock.h"

#define SETTLED_NS (CLOCK_NS_PER_S / 50)

static const char *const reason_names[] = {
#define NAME_OF(name, class, words) #name,
	VOLLEY_REASONS(NAME_OF)
#undef NAME_OF
};

const char *xdp_reason_name(int reason)
{
	return reason >= 0 && reason < VOLLEY_N_REASONS ? reason_names[reason] : "none";
}

static int open_world(void **state, uint32_t flags)
{
	const struct cache_sizes sizes = { .n_segments = XDP_WORLD_SEGMENTS,
					   .n_buckets = XDP_WORLD_BUCKETS,
					   .n_zones = XDP_WORLD_ZONES };
	struct xdp_world *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	err = bpfmaps_open_flags(&w->maps, &sizes, flags);
	if (err)
		free(w);
	*state = err ? NULL : w;
	return err == -EPERM ? 0 : err;
}

int xdp_world_open(void **state)
{
	return open_world(state, 0);
}

int xdp_world_open_frags(void **state)
{
	return open_world(state, BPF_F_XDP_HAS_FRAGS);
}

int xdp_world_close(void **state)
{
	struct xdp_world *w = *state;

	if (w)
		bpfmaps_close(&w->maps);
	free(w);
	return 0;
}

static void serve(struct volley_state *state, const struct pkt *p)
{
	uint32_t address[4] = { 0 };

	memcpy(address, p->to, p->ipv6 ? 16 : 4);
	bpfmaps_serve(state, address, p->ipv6 ? 6 : 4, p->to_port);
}

void xdp_serve(struct volley_state *state)
{
	serve(state, &pkt_ipv4);
	serve(state, &pkt_ipv6);
}

int xdp_engines_open(void **state)
{
	static char allowed;
	struct bpfmaps maps;
	int err = bpfmaps_open(&maps, NULL);

	rcu_register_thread();
	*state = err ? NULL : &allowed;
	if (!err)
		bpfmaps_close(&maps);
	return err == -EPERM ? 0 : err;
}

int xdp_engines_close(void **state)
{
	(void)state;
	rcu_unregister_thread();
	return 0;
}

static void forget_clients(const struct xdp_world *w)
{
	int fd = bpfmaps_map_fd(&w->maps, "volley_clients");
	struct volley_client client;

	while (!bpf_map_get_next_key(fd, NULL, &client))
		assert_int_equal(bpf_map_delete_elem(fd, &client), 0);
}

struct xdp_world *xdp_world_take(void **state)
{
	struct xdp_world *w = *state;
	const struct cache_memory *memory;

	if (!w)
		skip();
	memory = &w->maps.memory;
	memset(memory->state, 0, sizeof(*memory->state));
	memset(memory->index, 0, XDP_WORLD_BUCKETS * VOLLEY_BUCKET_SLOTS * sizeof(uint64_t));
	memset(memory->zones, 0, XDP_WORLD_ZONES * sizeof(struct volley_zone));
	*w->maps.link = (struct volley_link){ .driver_answers = 1 };
	forget_clients(w);
	w->next = 0;
	entry_set_up(memory);
	memory->state->max_udp_bytes = XDP_WORLD_MAX_UDP;
	memory->state->option_up_mask = 1u << 10; /* COOKIE */
	xdp_serve(memory->state);
	assert_int_equal(bpfmaps_counters(&w->maps, &w->counted), 0);
	return w;
}

struct volley_entry *xdp_world_put(struct xdp_world *w, const struct entry *e)
{
	const struct cache_memory *memory = &w->maps.memory;
	uint64_t *slot = entry_slot(memory, entry_hash(memory, e), false, 0);
	uint64_t *end = slot + VOLLEY_BUCKET_SLOTS;
	uint64_t word;

	if (w->next / VOLLEY_SEGMENT_UNITS >= XDP_WORLD_SEGMENTS)
		fail_msg("the test has filled its cache");
	word = entry_write(memory, e, w->next, &w->next);
	while (slot < end && *slot)
		slot++;
	if (slot == end)
		fail_msg("the test has filled a bucket");
	*slot = word;
	return (void *)(memory->store + (size_t)(uint32_t)word * VOLLEY_UNIT_BYTES);
}

struct xdp_world *xdp_world_take_with(void **state, const uint8_t *name)
{
	struct xdp_world *w = xdp_world_take(state);
	struct entry e = { .name = name, .full_bytes = 40, .short_bytes = 20 };

	xdp_world_put(w, &e);
	return w;
}

int xdp_world_counted(struct xdp_world *w)
{
	struct volley_cpu now;
	int reason = -1;

	assert_int_equal(bpfmaps_counters(&w->maps, &now), 0);
	for (int i = 0; i < VOLLEY_N_REASONS; i++) {
		uint64_t more = now.reasons[i] - w->counted.reasons[i];

		if (more > 1 || (more && reason >= 0))
			fail_msg("one frame, but %s counts %lu more beside %s", xdp_reason_name(i),
				 more, xdp_reason_name(reason));
		reason = more ? i : reason;
	}
	if (now.received - w->counted.received != 1 || reason < 0)
		fail_msg("one frame: received counts %lu more, reason %s",
			 (uint64_t)(now.received - w->counted.received), xdp_reason_name(reason));
	w->counted = now;
	return reason;
}

void xdp_world_run(struct xdp_world *w, const uint8_t *frame, size_t n, struct xdp_result *r)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = (__u32)n,
		    .data_out = r->frame, .data_size_out = sizeof(r->frame), .repeat = 1);
	int err = bpf_prog_test_run_opts(w->maps.prog_fd, &opts);

	if (err)
		fail_msg("test run of %zu octets: %s", n, strerror(errno));
	r->action = (int)opts.retval;
	r->bytes = opts.data_size_out;
	r->reason = xdp_world_counted(w);
}

void xdp_expect_unchanged(struct xdp_world *w, const char *what, const uint8_t *frame, size_t n,
			  int reason)
{
	static struct xdp_result r;

	xdp_world_run(w, frame, n, &r);
	if (r.reason != reason)
		fail_msg("%s: %s, not %s", what, xdp_reason_name(r.reason),
			 xdp_reason_name(reason));
	if (r.action != XDP_PASS)
		fail_msg("%s: action %d", what, r.action);
	if (r.bytes != n || memcmp(r.frame, frame, n))
		fail_msg("%s: passed, but not unchanged", what);
}

uint64_t xdp_coarse_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

uint32_t xdp_ahead_s(uint64_t ahead_ns)
{
	const struct timespec jiffy = { .tv_nsec = SETTLED_NS / 4 };
	uint64_t now_ns;

	while ((now_ns = xdp_coarse_ns() + ahead_ns) % CLOCK_NS_PER_S < SETTLED_NS)
		nanosleep(&jiffy, NULL);
	return (uint32_t)(now_ns / CLOCK_NS_PER_S);
}

uint32_t xdp_coarse_s(void)
{
	return xdp_ahead_s(0);
}

void xdp_expect_answer(struct xdp_world *w, const char *what, const uint8_t *frame, size_t n,
		       int reason, struct xdp_result *r, struct pkt_answer *a)
{
	const char *wrong;

	xdp_world_run(w, frame, n, r);
	if (r->reason != reason || r->action != XDP_TX)
		fail_msg("%s: %s (action %d), not %s", what, xdp_reason_name(r->reason), r->action,
			 xdp_reason_name(reason));
	wrong = pkt_check_answer(frame, n, r->frame, r->bytes, w->maps.memory.state->max_udp_bytes,
				 a);
	if (wrong)
		fail_msg("%s: %s", what, wrong);
	if (a->opt && a->opt_udp_size != w->maps.memory.state->max_udp_bytes)
		fail_msg("%s: OPT says %u octets", what, a->opt_udp_size);
}
