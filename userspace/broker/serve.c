/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "bpf/tables.h"
#include "bpf/hook.h"
#include "bpf/hook_state.h"
#include "bpf/tiny_programs.h"
#include "bpf/tap_rings.h"
#include "broker/named.h"
#include "cache/keeper.h"
#include "link/neighbour.h"
#include "link/vethpeer.h"
#include "port/privileged.h"
#include "port/xsk_rings.h"

/* A request in work. */
struct job {
	struct broker_serve *serve;
	const struct broker_request *request;
	const struct broker_fds *fds;
	struct broker_reply *reply;
	struct broker_fds *out;
	struct hook *hook; /* of operations that need a program */
};

/* --- The programs that are open --------------------------------------------------------------- */

static struct hook **place_of(struct broker_serve *serve, const char *ifname)
{
	for (size_t i = 0; i < CONFIG_INTERFACES_MAX; i++)
		if (serve->at[i].hook && !strcmp(serve->at[i].ifname, ifname))
			return &serve->at[i].hook;
	return NULL;
}

static int remember_hook(struct broker_serve *serve, const char *ifname, struct hook *hook)
{
	for (size_t i = 0; i < CONFIG_INTERFACES_MAX; i++) {
		if (serve->at[i].hook)
			continue;
		snprintf(serve->at[i].ifname, IF_NAMESIZE, "%s", ifname);
		serve->at[i].hook = hook;
		return 0;
	}
	return ERR_LIMIT;
}

static void forget_hook(struct broker_serve *serve, const char *ifname, bool keep)
{
	struct hook **place = place_of(serve, ifname);

	if (place) {
		hook_close(*place, keep);
		*place = NULL;
	}
}

static int recover_hook(struct job *job)
{
	const struct broker_request *r = job->request;
	struct hook *hook;
	int code = hook_recover(&hook, r->ifname, r->program_id);

	if (code)
		return code;
	code = remember_hook(job->serve, r->ifname, hook);
	if (code) {
		hook_close(hook, true);
		return code;
	}
	log_info("%s: XDP program %u: found again", r->ifname, r->program_id);
	job->hook = hook;
	return 0;
}

/* The program of the request: open, or found on the interface. Another program is open there if the
 * daemon did not get the reply to the request that changed it. */
static int find_hook(struct job *job)
{
	struct hook **place = place_of(job->serve, job->request->ifname);

	if (!place)
		return recover_hook(job);
	if ((*place)->id != job->request->program_id)
		return -ENOENT;
	job->hook = *place;
	return 0;
}

/* --- Replies ---------------------------------------------------------------------------------- */

static int copy_serve_fd(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static void tell_facts(struct job *job)
{
	const struct hook *hook = job->hook;
	struct broker_facts *facts = &job->reply->facts;

	facts->id = hook->id;
	facts->mode = hook->mode;
	facts->origin = hook->origin;
	facts->is_waiting = hook->is_waiting;
	memcpy(facts->tag, hook->tag, sizeof(facts->tag));
	snprintf(facts->generic_reason, sizeof(facts->generic_reason), "%s", hook->generic_reason);
}

/* The descriptors that the daemon needs of a program. 0 or -errno. */
static int give_own(struct job *job)
{
	const struct hook *hook = job->hook;
	struct broker_fds *out = job->out;

	out->fd[BROKER_FD_link] = copy_serve_fd(hook->link_fd);
	out->fd[BROKER_FD_cpu] = copy_serve_fd(hook->cpu_fd);
	out->fd[BROKER_FD_xsks] = copy_serve_fd(hook->xsks_fd);
	out->fd[BROKER_FD_queues] = copy_serve_fd(hook->queues_fd);
	for (size_t i = BROKER_FD_link; i <= BROKER_FD_queues; i++)
		if (out->fd[i] < 0)
			return -errno;
	return 0;
}

static void give_shared(struct job *job, const struct object_shared *maps)
{
	broker_fds_put_shared(job->out, &maps->fds);
	job->reply->sizes = maps->sizes;
}

/* --- Programs --------------------------------------------------------------------------------- */

static int give_opened(struct job *job)
{
	const struct hook *hook = job->hook;
	int code = give_own(job);

	if (hook->old_fd >= 0)
		job->out->fd[BROKER_FD_OLD] = copy_serve_fd(hook->old_fd);
	if (hook->lock_fd >= 0)
		job->out->fd[BROKER_FD_LOCK] = copy_serve_fd(hook->lock_fd);
	job->reply->facts.is_our_build = hook->origin != PROGRAM_ADOPTED || hook_is_our_build(hook);
	return code;
}

static int serve_OPEN(struct job *job)
{
	const struct broker_request *r = job->request;
	const struct program_want want = {
		.ifname = r->ifname,
		.native_only = r->flags & BROKER_NATIVE_ONLY,
		.generic_only = r->flags & BROKER_GENERIC_ONLY,
		.takes_frags = r->flags & BROKER_TAKES_FRAGS,
		.driver_answers = r->flags & BROKER_DRIVER_ANSWERS,
		.sizes = r->sizes,
		.owner = job->serve->owner,
	};
	struct object_shared maps = broker_fds_shared(job->fds, &r->sizes);
	const bool had_maps = maps.is_open;
	int code;

	forget_hook(job->serve, r->ifname, true);
	code = hook_open(&job->hook, &maps, &want, job->reply->sentence, BROKER_SENTENCE_CAP);
	if (code)
		return code;
	if (!had_maps)
		give_shared(job, &maps);
	code = give_opened(job);
	if (!code)
		code = remember_hook(job->serve, r->ifname, job->hook);
	if (code) {
		hook_close(job->hook, false);
		job->hook = NULL;
	}
	return code;
}

static int serve_FIND(struct job *job)
{
	job->reply->value = hook_find(job->request->ifname);
	return 0;
}

static int serve_IS_THERE(struct job *job)
{
	job->reply->value = hook_is_there(job->request->ifname);
	return 0;
}

static int serve_IS_WELCOME(struct job *job)
{
	job->reply->value = hook_is_welcome(job->request->ifname);
	return 0;
}

static int serve_CLEAN_UP(struct job *job)
{
	if (place_of(job->serve, job->request->ifname))
		return -EBUSY;
	job->reply->value = hook_clean_up(job->request->ifname, job->serve->owner);
	return 0;
}

static int serve_WAKE_VETH(struct job *job)
{
	const unsigned int ifindex = if_nametoindex(job->request->ifname);

	return ifindex ? vethring_wake(ifindex, job->request->mac) : -ENODEV;
}

static int serve_IS_ATTACHED(struct job *job)
{
	job->reply->value = hook_is_attached(job->hook);
	return 0;
}

static int serve_TAKE_PLACE(struct job *job)
{
	return hook_take_place(job->hook);
}

static int serve_CLOSE(struct job *job)
{
	forget_hook(job->serve, job->request->ifname, job->request->flags & BROKER_KEEP);
	job->hook = NULL;
	return 0;
}

static int serve_DETACH(struct job *job)
{
	return hook_detach(job->hook);
}

static int serve_PREPARE(struct job *job)
{
	const struct object_shared maps = broker_fds_shared(job->fds, &job->request->sizes);

	return hook_prepare(job->hook, &maps);
}

static int serve_RENEW(struct job *job)
{
	const struct object_shared maps = broker_fds_shared(job->fds, &job->request->sizes);

	return hook_renew(job->hook, &maps);
}

static int serve_SWITCH(struct job *job)
{
	const struct object_shared maps = broker_fds_shared(job->fds, &job->request->sizes);

	return hook_switch(job->hook, &maps);
}

static int serve_UNPREPARE(struct job *job)
{
	hook_unprepare(job->hook);
	return 0;
}

static int serve_LEND(struct job *job)
{
	return hook_lend(job->hook);
}

static int serve_TAKE_BACK(struct job *job)
{
	const struct object_shared maps = broker_fds_shared(job->fds, &job->request->sizes);
	int code = hook_take_back(job->hook, &maps, job->request->flags & BROKER_BORROWED);

	return code ? code : give_own(job);
}

static int serve_USE_SOCKETS(struct job *job)
{
	const struct object_shared maps = broker_fds_shared(job->fds, &job->request->sizes);
	int code = hook_use_sockets(job->hook, &maps, job->fds->fd[BROKER_FD_xsks]);

	return code ? code : give_own(job);
}

/* --- Sockets ---------------------------------------------------------------------------------- */

static int give_new(struct job *job, uint32_t i, int fd)
{
	if (fd < 0)
		return fd;
	job->out->fd[BROKER_FD_NEW + i] = fd;
	return 0;
}

static int serve_XSK_SOCKET(struct job *job)
{
	const struct xsk_socket_wish *wish = &job->request->xsk;
	const int memory_fd = job->fds->fd[BROKER_FD_MEMORY];

	if (!xsk_is_memory(memory_fd, (uint64_t)wish->n_frames * wish->frame_bytes))
		return -EBADF;
	return give_new(job, 0, xsk_socket_open(memory_fd, wish));
}

static int serve_USE_NEIGHBOUR(struct job *job)
{
	const struct broker_request *r = job->request;
	const unsigned int ifindex = if_nametoindex(r->ifname);

	return ifindex ? neighbour_use(ifindex, (uint8_t)r->address.family, r->address.bytes) :
			 -ENODEV;
}

static int serve_VETH_PEER(struct job *job)
{
	const unsigned int ifindex = if_nametoindex(job->request->ifname);
	struct vethpeer peer;

	if (!ifindex)
		return -ENODEV;
	vethpeer_look(&peer, ifindex);
	job->reply->value = peer.kind;
	job->reply->mtu = peer.mtu;
	return 0;
}

static int serve_BUFFER(struct job *job)
{
	return port_force_buffer(job->fds->fd[BROKER_FD_SOCKET], job->request->n);
}

static int serve_BIND(struct job *job)
{
	if (!job->serve->named)
		return ERR_PORT;
	return named_bind(job->serve->named, job->fds->fd[BROKER_FD_SOCKET],
			  &job->request->address);
}

static int serve_READ_TEXT(struct job *job)
{
	return job->serve->named ?
		       named_read_text(job->serve->named, job->fds->fd[BROKER_FD_TEXT]) :
		       0;
}

/* --- The clock and maps ----------------------------------------------------------------------- */

static int serve_CLOCK(struct job *job)
{
	return ktime_offset(&job->reply->value);
}

static int serve_MAKE_SHARED(struct job *job)
{
	struct object_shared maps = { 0 };
	int code = object_shared_make(&maps, &job->request->sizes);

	if (!code)
		give_shared(job, &maps);
	return code;
}

static int serve_MAKE_BESIDE(struct job *job)
{
	const struct object_shared shared = broker_fds_shared(job->fds, &job->request->sizes);
	struct object_shared maps = { 0 };
	int code = object_shared_make_beside(&maps, &job->request->sizes, &shared);

	if (!code)
		give_shared(job, &maps);
	return code;
}

static int serve_MAKE_BLOCKS(struct job *job)
{
	return give_new(job, 0, block_map_make(job->request->n));
}

static int serve_MAKE_RINGS(struct job *job)
{
	int code = 0;

	for (uint32_t i = 0; !code && i < job->request->n; i++)
		code = give_new(job, i, tap_rings_make());
	return code;
}

static int serve_MAKE_GRACE(struct job *job)
{
	int fds[2];
	int code = grace_make_maps(fds);

	if (code)
		return code;
	(void)give_new(job, 0, fds[0]);
	return give_new(job, 1, fds[1]);
}

/* --- All of them ------------------------------------------------------------------------------ */

void broker_serve(struct broker_serve *serve, enum broker_channel channel,
		  const struct broker_request *request, const struct broker_fds *fds,
		  struct broker_reply *reply, struct broker_fds *out)
{
	static int (*const operations[])(struct job *) = {
#define OPERATION(name, ...) serve_##name,
		BROKER_OPERATIONS(OPERATION)
#undef OPERATION
	};
	struct job job = {
		.serve = serve, .request = request, .fds = fds, .reply = reply, .out = out
	};
	const char *why = NULL;

	memset(reply, 0, sizeof(*reply));
	broker_fds_init(out);
	reply->number = request->number;
	reply->code = broker_check(request, channel, serve->has_dpdk, &why);
	if (reply->code) {
		log_error("broker: a request is refused: %s: %s",
			  broker_operation_text(request->operation), why);
		return;
	}
	log_set_level((enum log_level)request->log_level);
	log_set_format((enum log_format)request->log_format);
	if (serve->named && broker_needs_named(request->operation) &&
	    !named_allow_interface(serve->named, request->ifname))
		reply->code = ERR_INTERFACE;
	else if (request->program_id)
		reply->code = find_hook(&job);
	if (!reply->code)
		reply->code = operations[request->operation](&job);
	if (reply->code)
		broker_fds_close(out);
	if (job.hook)
		tell_facts(&job);
	reply->fds_mask = broker_fds_mask(out);
}
