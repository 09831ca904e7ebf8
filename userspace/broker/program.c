/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/kernel.h"
#include "base/log.h"
#include "base/page.h"
#include "broker/broker.h"
#include "broker/maps.h"
#include "cache/keeper.h"

#define IPV4_UDP_BYTES (20 + 8)
#define IPV6_UDP_BYTES (40 + 8)

struct program {
	char ifname[IF_NAMESIZE];
	uint32_t id;
	enum program_origin origin;
	enum program_mode mode;
	bool is_our_build;
	bool is_waiting;
	char generic_reason[REFUSAL_CAP];
	uint8_t tag[OBJECT_TAG_BYTES];
	int cpu_fd;
	int xsks_fd;
	int lock_fd; /* of the interface's lock: it stays ours if the broker dies */
	struct volley_link *link;
	struct volley_queue *queues; /* VOLLEY_QUEUES of them */
	uint32_t *old_until_s;
};

const char *program_mode_text(enum program_mode mode)
{
	return mode == PROGRAM_NATIVE ? "native" : "generic";
}

const char *program_origin_text(enum program_origin origin)
{
	static const char *const texts[] = { "loaded", "adopted", "replaced" };

	return texts[origin];
}

/* --- Requests --------------------------------------------------------------------------------- */

static struct broker_request request_of(enum broker_operation operation, const char *ifname)
{
	struct broker_request r = { .operation = operation };

	snprintf(r.ifname, sizeof(r.ifname), "%s", ifname);
	return r;
}

/* Asks something about an interface. 0: no, or it cannot be known. */
static int64_t ask_of_interface(enum broker_operation operation, const char *ifname)
{
	struct broker_request request = request_of(operation, ifname);
	struct broker_reply reply;
	struct broker_fds out;

	return broker_call(&request, NULL, &reply, &out) ? 0 : reply.value;
}

/* The program may be another one now. */
static void note_facts(struct program *p, const struct broker_facts *facts)
{
	if (!facts->id)
		return;
	if (facts->id != p->id)
		p->origin = (enum program_origin)facts->origin;
	p->id = facts->id;
	p->mode = (enum program_mode)facts->mode;
	memcpy(p->tag, facts->tag, sizeof(p->tag));
}

static int keep_program_fd(int *kept, int *fd)
{
	if (*kept >= 0)
		close(*kept);
	*kept = *fd;
	*fd = -1;
	return *kept < 0 ? -EPROTO : 0;
}

/* Sends a request about an open program. `maps` NULL: none. xsks_fd -1: none. */
static int ask_of_program(struct program *p, struct broker_request *request,
			  const struct object_maps *maps, int xsks_fd)
{
	struct broker_reply reply;
	struct broker_fds fds, out;
	int code;

	broker_fds_init(&fds);
	if (maps) {
		const struct object_shared shared = object_maps_shared(maps);

		broker_fds_put_shared(&fds, &shared.fds);
	}
	fds.fd[BROKER_FD_xsks] = xsks_fd;
	request->program_id = p->id;
	code = broker_call(request, &fds, &reply, &out);
	note_facts(p, &reply.facts);
	if (!code && out.fd[BROKER_FD_xsks] >= 0)
		code = keep_program_fd(&p->xsks_fd, &out.fd[BROKER_FD_xsks]);
	broker_fds_close(&out);
	return code;
}

static int do_with_program(struct program *p, enum broker_operation operation,
			   const struct object_maps *maps)
{
	struct broker_request request = request_of(operation, p->ifname);

	return ask_of_program(p, &request, maps, -1);
}

/* --- Life ------------------------------------------------------------------------------------- */

uint32_t program_find(const char *ifname)
{
	return (uint32_t)ask_of_interface(BROKER_FIND, ifname);
}

bool program_is_welcome(const char *ifname)
{
	return ask_of_interface(BROKER_IS_WELCOME, ifname);
}

bool program_is_there(const char *ifname)
{
	return ask_of_interface(BROKER_IS_THERE, ifname);
}

bool program_clean_up(const char *ifname)
{
	return ask_of_interface(BROKER_CLEAN_UP, ifname);
}

bool program_is_by_daemon(const struct program *p)
{
	return p->link->by_daemon;
}

bool program_is_attached(const struct program *p)
{
	struct broker_request request = request_of(BROKER_IS_ATTACHED, p->ifname);
	struct broker_reply reply;
	struct broker_fds out;
	int code;

	request.program_id = p->id;
	code = broker_call(&request, NULL, &reply, &out);
	return code ? code == ERR_BROKER || err_is_exhausted(code) : reply.value;
}

static void free_program(struct program *p)
{
	const int fds[] = { p->cpu_fd, p->xsks_fd, p->lock_fd };

	found_unmap(p->old_until_s);
	map_memory_close(p->link, sizeof(*p->link));
	map_memory_close(p->queues, VOLLEY_QUEUES * sizeof(*p->queues));
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(p);
}

/* Maps what the broker has opened. */
static int take_opened(struct program *p, const struct broker_facts *facts, struct broker_fds *fds)
{
	int code = keep_program_fd(&p->cpu_fd, &fds->fd[BROKER_FD_cpu]);

	if (!code)
		code = keep_program_fd(&p->xsks_fd, &fds->fd[BROKER_FD_xsks]);
	(void)!keep_program_fd(&p->lock_fd, &fds->fd[BROKER_FD_LOCK]); /* there may be none */
	p->link = map_memory_open(fds->fd[BROKER_FD_link], sizeof(*p->link));
	p->queues = map_memory_open(fds->fd[BROKER_FD_queues], VOLLEY_QUEUES * sizeof(*p->queues));
	if (fds->fd[BROKER_FD_OLD] >= 0)
		p->old_until_s = found_map_until(fds->fd[BROKER_FD_OLD]);
	p->origin = (enum program_origin)facts->origin;
	note_facts(p, facts);
	p->is_waiting = facts->is_waiting;
	p->is_our_build = facts->is_our_build;
	memcpy(p->generic_reason, facts->generic_reason, sizeof(p->generic_reason) - 1);
	return code ? code : p->link && p->queues ? 0 : -ENOMEM;
}

static struct program *new_program(const char *ifname)
{
	struct program *p = calloc(1, sizeof(*p));

	if (p) {
		snprintf(p->ifname, sizeof(p->ifname), "%s", ifname);
		p->cpu_fd = p->xsks_fd = p->lock_fd = -1;
	}
	return p;
}

static struct broker_request request_to_open(const struct program_want *want)
{
	struct broker_request r = request_of(BROKER_OPEN, want->ifname);

	r.sizes = want->sizes;
	r.flags = (want->native_only ? BROKER_NATIVE_ONLY : 0) |
		  (want->generic_only ? BROKER_GENERIC_ONLY : 0) |
		  (want->takes_frags ? BROKER_TAKES_FRAGS : 0) |
		  (want->driver_answers ? BROKER_DRIVER_ANSWERS : 0);
	return r;
}

/* Takes what the broker has opened: the program, and the shared maps if they are the first. */
static int keep_opened(struct program *p, struct object_maps *maps,
		       const struct broker_reply *reply, struct broker_fds *fds)
{
	const struct object_shared shared = broker_fds_shared(fds, &reply->sizes);
	int code = take_opened(p, &reply->facts, fds);

	if (!code && !maps->is_open)
		code = object_maps_open(maps, &shared.fds, &shared.sizes);
	if (code)
		(void)!do_with_program(p, BROKER_CLOSE, NULL);
	return code;
}

int program_open(struct program **out, struct object_maps *maps, const struct program_want *want,
		 char *err, size_t err_cap)
{
	struct broker_request request = request_to_open(want);
	struct program *p = new_program(want->ifname);
	struct broker_reply reply;
	struct broker_fds fds, got;
	int code;

	*err = 0;
	if (!p)
		return -ENOMEM;
	broker_fds_init(&fds);
	if (maps->is_open) {
		const struct object_shared shared = object_maps_shared(maps);

		broker_fds_put_shared(&fds, &shared.fds);
	}
	code = broker_call(&request, &fds, &reply, &got);
	if (!code)
		code = keep_opened(p, maps, &reply, &got);
	broker_fds_close(&got);
	if (!code) {
		*out = p;
		return 0;
	}
	free_program(p);
	if (*reply.sentence)
		snprintf(err, err_cap, "%.*s", (int)sizeof(reply.sentence) - 1, reply.sentence);
	else
		snprintf(err, err_cap, "%s: XDP program: %s", want->ifname, err_text(code));
	return code;
}

void program_close(struct program *p, bool keep)
{
	struct broker_request request;

	if (!p)
		return;
	request = request_of(BROKER_CLOSE, p->ifname);
	request.flags = keep ? BROKER_KEEP : 0;
	/* another program may be there now, or none: then nothing is left to do there */
	if (ask_of_program(p, &request, NULL, -1) && !keep)
		program_set_answers(p, false);
	free_program(p);
}

uint32_t *program_old_deadline(const struct program *p)
{
	return p->old_until_s;
}

int program_take_place(struct program *p)
{
	if (!p->is_waiting)
		return 0;
	found_unmap(p->old_until_s);
	p->old_until_s = NULL;
	p->is_waiting = false;
	return do_with_program(p, BROKER_TAKE_PLACE, NULL);
}

int program_detach(struct program *p)
{
	return do_with_program(p, BROKER_DETACH, NULL);
}

int program_prepare(struct program *p, const struct object_maps *maps)
{
	return do_with_program(p, BROKER_PREPARE, maps);
}

int program_renew(struct program *p, const struct object_maps *maps)
{
	return do_with_program(p, BROKER_RENEW, maps);
}

int program_switch(struct program *p, const struct object_maps *maps)
{
	return do_with_program(p, BROKER_SWITCH, maps);
}

void program_unprepare(struct program *p)
{
	(void)!do_with_program(p, BROKER_UNPREPARE, NULL);
}

int program_lend(struct program *p)
{
	return do_with_program(p, BROKER_LEND, NULL);
}

int program_take_back(struct program *p, const struct object_maps *maps, bool is_borrowed)
{
	struct broker_request request = request_of(BROKER_TAKE_BACK, p->ifname);

	request.flags = is_borrowed ? BROKER_BORROWED : 0;
	return ask_of_program(p, &request, maps, -1);
}

int program_use_sockets(struct program *p, const struct object_maps *maps, int xsks_fd)
{
	struct broker_request request = request_of(BROKER_USE_SOCKETS, p->ifname);

	return ask_of_program(p, &request, maps, xsks_fd);
}

/* --- What the daemon writes ------------------------------------------------------------------- */

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

	if (!maps_make_grace(&grace))
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
	return object_tag_text(p->tag, text);
}

bool program_is_our_build(const struct program *p)
{
	return p->is_our_build;
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
