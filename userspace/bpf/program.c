/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "base/err.h"
#include "base/kernel.h"
#include "base/log.h"
#include "base/page.h"
#include "bpf/found.h"
#include "bpf/lock.h"
#include "bpf/program_state.h"
#include "cache/keeper.h"
#include "volley.skel.h"

#define IPV4_UDP_BYTES (20 + 8)
#define IPV6_UDP_BYTES (40 + 8)

const char *program_mode_text(enum program_mode mode)
{
	return mode == PROGRAM_NATIVE ? "native" : "generic";
}

const char *program_origin_text(enum program_origin origin)
{
	static const char *const texts[] = { "loaded", "adopted", "replaced" };

	return texts[origin];
}

/* --- Life ------------------------------------------------------------------------------------- */

static uint32_t n_resizes(const struct found *found)
{
	struct volley_state state = { 0 };
	uint32_t zero = 0;

	return bpf_map_lookup_elem(found->maps.state, &zero, &state) ? 0 : state.n_resizes;
}

uint32_t program_find(const char *ifname)
{
	unsigned int ifindex = if_nametoindex(ifname);
	struct found found;
	uint32_t n = 0;

	if (!ifindex || found_look(&found, (int)ifindex))
		return 0;
	if (found.kind == FOUND_VOLLEY)
		n = 1 + n_resizes(&found);
	found_close(&found);
	return n;
}

bool program_is_by_daemon(const struct program *p)
{
	return p->link->by_daemon;
}

bool program_is_welcome(const char *ifname)
{
	unsigned int ifindex = if_nametoindex(ifname);
	struct found found;
	bool is_welcome;

	if (!ifindex || found_look(&found, (int)ifindex))
		return false;
	is_welcome = found.kind == FOUND_NOTHING || found.kind == FOUND_VOLLEY ||
		     (found.kind == FOUND_OTHER_ABI && found_is_by_daemon(&found));
	found_close(&found);
	return is_welcome;
}

bool program_is_there(const char *ifname)
{
	unsigned int ifindex = if_nametoindex(ifname);
	struct found found;

	if (!ifindex || found_look(&found, (int)ifindex))
		return false;
	found_close(&found);
	return found.kind == FOUND_VOLLEY || found.kind == FOUND_OTHER_ABI;
}

bool program_is_attached(const struct program *p)
{
	struct found found;
	bool is_there;
	int err = found_look(&found, p->ifindex);

	if (err)
		return err_is_exhausted(err);
	is_there = (found.kind == FOUND_VOLLEY || found.kind == FOUND_OTHER_ABI) &&
		   found.id == p->id;
	found_close(&found);
	return is_there;
}

int program_fd(const struct program *p)
{
	return p->xdp ? xdp_program__fd(p->xdp) : p->prog_fd;
}

void program_identify(struct program *p, int fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	(void)bpf_obj_get_info_by_fd(fd, &info, &len);
	p->id = info.id;
	memcpy(p->tag, info.tag, sizeof(p->tag));
}

enum xdp_attach_mode program_libxdp_mode(const struct program *p)
{
	return p->mode == PROGRAM_NATIVE ? XDP_MODE_NATIVE : XDP_MODE_SKB;
}

/* libxdp has no handle for an adopted program yet. */
int program_leave_dispatcher(const struct program *p)
{
	struct xdp_program *xdp = p->xdp ? p->xdp : xdp_program__from_fd(p->prog_fd);
	int err = (int)libxdp_get_error(xdp);

	if (err)
		return err;
	err = xdp_program__detach(xdp, p->ifindex, program_libxdp_mode(p), 0);
	if (xdp != p->xdp)
		xdp_program__close(xdp);
	return err;
}

/* libxdp 1.3.1 leaks a descriptor when it detaches a program without a dispatcher; see found.c. */
int program_detach_once(struct program *p)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, opts, .old_prog_fd = program_fd(p));

	if (!program_is_alone(p))
		return program_leave_dispatcher(p);
	return bpf_xdp_detach(p->ifindex, program_xdp_flags(p) | XDP_FLAGS_REPLACE, &opts);
}

static void close_program_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

int program_take_maps(struct program *p, struct object_maps *maps, const struct found_maps *found,
		      const struct cache_sizes *sizes)
{
	if (!maps->is_open) {
		int err = object_maps_open(maps, found, sizes);

		if (err)
			return err;
	}
	p->cpu_fd = dup(found->cpu);
	p->xsks_fd = dup(found->xsks);
	p->link_fd = dup(found->link);
	p->queues_fd = dup(found->queues);
	p->shares_fd = dup(found->shares);
	p->near_fd = dup(found->near);
	p->cookies_fd = dup(found->cookies);
	if (p->cpu_fd < 0 || p->xsks_fd < 0 || p->link_fd < 0 || p->queues_fd < 0 ||
	    p->shares_fd < 0 || p->near_fd < 0 || p->cookies_fd < 0)
		return -errno;
	p->link = map_memory_open(p->link_fd, sizeof(*p->link));
	p->queues = map_memory_open(p->queues_fd, VOLLEY_QUEUES * sizeof(*p->queues));
	return p->link && p->queues ? 0 : -ENOMEM;
}

void program_drop_maps(struct program *p)
{
	int *fds[] = { &p->cpu_fd,    &p->xsks_fd, &p->link_fd,   &p->queues_fd,
		       &p->shares_fd, &p->near_fd, &p->cookies_fd };

	map_memory_close(p->link, sizeof(*p->link));
	map_memory_close(p->queues, VOLLEY_QUEUES * sizeof(*p->queues));
	p->link = NULL;
	p->queues = NULL;
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		close_program_fd(*fds[i]);
		*fds[i] = -1;
	}
}

/* The interface may have moved to another network namespace, with the program still running there:
 * then it is not attached here, and is told to stop answering. */
static void leave_program(struct program *p)
{
	int err = 0;

	if (!program_is_attached(p))
		program_set_answers(p, false);
	else if (p->link->by_daemon)
		err = program_detach(p);
	if (err)
		log_warn("%s: cannot detach the XDP program: %s", p->ifname, err_text(err));
}

void program_close(struct program *p, bool keep)
{
	if (!p)
		return;
	if (p->id && p->link && !keep)
		leave_program(p);
	program_unprepare(p);
	found_unmap(p->old_until_s);
	if (p->xdp)
		xdp_program__close(p->xdp);
	program_drop_maps(p);
	close_program_fd(p->prog_fd);
	if (p->lock_fd >= 0)
		lock_close(p->lock_fd, p->lock_path);
	volley_bpf__destroy(p->skel);
	free(p);
}

void program_set_answers(struct program *p, bool driver_answers)
{
	__atomic_store_n(&p->link->driver_answers, driver_answers, __ATOMIC_RELEASE);
}

void program_set_ways(struct program *p, uint8_t tunnels, __be16 gue_port, bool return_fib)
{
	p->link->gue_port = gue_port;
	__atomic_store_n(&p->link->return_fib, return_fib, __ATOMIC_RELEASE);
	__atomic_store_n(&p->link->tunnels, tunnels, __ATOMIC_RELEASE);
}

static struct volley_prefix prefix_of_program(const struct config_prefix *from)
{
	const uint32_t at = from->family == AF_INET ? 12 : 0, bits = at * 8 + from->bits;
	uint8_t address[16] = { [10] = 0xff, [11] = 0xff }, mask[16] = { 0 };
	struct volley_prefix p;

	memcpy(address + at, from->addr, sizeof(address) - at);
	for (uint32_t i = 0; i < bits; i++)
		mask[i / 8] |= (uint8_t)(0x80 >> i % 8);
	memcpy(p.address, address, sizeof(address));
	memcpy(p.mask, mask, sizeof(mask));
	return p;
}

/* Returns when all runs that began before have ended: the trial of grace_open() waits for them. */
static void wait_for_runs(void)
{
	struct grace *grace;

	if (!grace_open(&grace))
		grace_close(grace);
}

/* If the list changes, no tunnel is taken off while it is written. */
void program_set_tunnel_sources(struct program *p, const struct config_prefix *sources, uint32_t n)
{
	struct volley_prefix prefixes[VOLLEY_TUNNEL_SOURCES] = { 0 };
	struct volley_link *link = p->link;
	uint8_t tunnels = link->tunnels;

	for (uint32_t i = 0; i < n; i++)
		prefixes[i] = prefix_of_program(&sources[i]);
	if (link->n_tunnel_sources == n &&
	    !memcmp(link->tunnel_sources, prefixes, sizeof(prefixes)))
		return;
	__atomic_store_n(&link->tunnels, 0, __ATOMIC_SEQ_CST);
	if (tunnels)
		wait_for_runs();
	memcpy(link->tunnel_sources, prefixes, sizeof(prefixes));
	link->n_tunnel_sources = n;
	__atomic_store_n(&link->tunnels, tunnels, __ATOMIC_RELEASE);
}

_Static_assert(CONFIG_TUNNEL_SOURCES_MAX == VOLLEY_TUNNEL_SOURCES, "all have room");

void program_set_mac(struct program *p, const uint8_t mac[6])
{
	if (memcmp(p->link->mac, mac, 6))
		memcpy(p->link->mac, mac, 6);
}

uint8_t *program_hops(struct program *p)
{
	return p->link->hops;
}

/* How many of VOLLEY_UDP_MAX octets of DNS do not fit a packet of `mtu` octets. */
static uint16_t udp_less(uint32_t mtu, uint32_t headers)
{
	const uint32_t room = mtu > headers ? mtu - headers : 0;

	return (uint16_t)(mtu && room < VOLLEY_UDP_MAX ? VOLLEY_UDP_MAX - room : 0);
}

void program_set_mtu(struct program *p, uint32_t mtu)
{
	__atomic_store_n(&p->link->udp_less[0], udp_less(mtu, IPV4_UDP_BYTES), __ATOMIC_RELAXED);
	__atomic_store_n(&p->link->udp_less[1], udp_less(mtu, IPV6_UDP_BYTES), __ATOMIC_RELAXED);
}

void program_set_finer(struct program *p, unsigned int finer)
{
	__atomic_store_n(&p->link->finer, (uint8_t)finer, __ATOMIC_RELAXED);
}

enum program_origin program_origin(const struct program *p)
{
	return p->origin;
}

enum program_mode program_mode(const struct program *p)
{
	return p->mode;
}

const char *program_generic_reason(const struct program *p)
{
	return p->generic_reason;
}

uint32_t program_id(const struct program *p)
{
	return p->id;
}

const char *program_tag_text(const struct program *p, char text[PROGRAM_TAG_CAP])
{
	for (int i = 0; i < OBJECT_TAG_BYTES; i++)
		snprintf(text + 2 * i, PROGRAM_TAG_CAP - (size_t)(2 * i), "%02x", p->tag[i]);
	return text;
}

bool program_is_our_build(const struct program *p)
{
	uint8_t ours[OBJECT_TAG_BYTES];

	return object_tag(ours) || !memcmp(ours, p->tag, sizeof(ours));
}

int program_xsks_fd(const struct program *p)
{
	return p->xsks_fd;
}

struct volley_queue *program_queue(const struct program *p, uint32_t queue)
{
	return &p->queues[queue];
}

uint32_t program_xdp_flags(const struct program *p)
{
	return p->mode == PROGRAM_NATIVE ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
}

/* --- Counters --------------------------------------------------------------------------------- */

int program_cpus(const struct program *p, struct volley_cpu **cpus, int *n)
{
	const uint32_t n_rooms = kernel_is_realtime() ? VOLLEY_ROOMS : 1;
	int err = 0, n_cpus = libbpf_num_possible_cpus();

	if (n_cpus < 0)
		return n_cpus;
	*n = n_cpus * (int)n_rooms;
	*cpus = calloc((size_t)*n, sizeof(**cpus));
	if (!*cpus)
		return -ENOMEM;
	for (uint32_t room = 0; !err && room < n_rooms; room++)
		if (bpf_map_lookup_elem(p->cpu_fd, &room, *cpus + room * (uint32_t)n_cpus))
			err = -errno;
	if (err)
		free(*cpus);
	return err;
}

void program_add_counters(struct volley_cpu *sum, const struct volley_cpu *one)
{
	sum->received += one->received;
	sum->to_worker += one->to_worker;
	for (int i = 0; i < VOLLEY_N_REASONS; i++)
		sum->reasons[i] += one->reasons[i];
#define ADD(name, words) sum->name += one->name;
	VOLLEY_NOTES(ADD)
#undef ADD
	for (size_t i = 0; i < sizeof(sum->answers) / sizeof(uint64_t); i++)
		((uint64_t *)&sum->answers)[i] += ((const uint64_t *)&one->answers)[i];
}

int program_counters(const struct program *p, struct volley_cpu *sum)
{
	struct volley_cpu *cpus;
	int cpu, n, err;

	memset(sum, 0, sizeof(*sum));
	err = program_cpus(p, &cpus, &n);
	if (err)
		return err;
	for (cpu = 0; cpu < n; cpu++)
		program_add_counters(sum, &cpus[cpu]);
	free(cpus);
	return 0;
}

enum volley_class program_reason_class(enum volley_reason reason)
{
	static const enum volley_class classes[] = {
#define CLASS(name, class, words) VOLLEY_CLASS_##class,
		VOLLEY_REASONS(CLASS)
#undef CLASS
	};

	return classes[reason];
}
