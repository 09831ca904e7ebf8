/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/kernel.h"
#include "base/parent.h"
#include "base/sandbox.h"
#include "base/activation.h"
#include "broker/channel.h"
#include "broker/named.h"
#include "broker/serve.h"

#define BROKER_TEXTS_MAX ((int)CONFIG_INTERFACES_MAX + 2) /* those of `attach`, of `config apply` */

static struct {
	bool has_process; /* false: requests are served in the calling thread */
	bool had_xdp;
	atomic_bool is_gone;
	atomic_uint number;
	int fds[BROKER_N_CHANNELS];
	pthread_mutex_t locks[BROKER_N_CHANNELS];
	struct broker_serve here;
	pthread_mutex_t text_lock;
	struct {
		char key[IF_NAMESIZE];
		int fd;
	} texts[BROKER_TEXTS_MAX]; /* key "": none */
	int last_given_up;
} broker = { .text_lock = PTHREAD_MUTEX_INITIALIZER,
	     .locks = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER },
	     .here.has_dpdk = true };

/* --- The broker ------------------------------------------------------------------------------- */

struct channel {
	struct broker_serve *serve;
	enum broker_channel number;
	int fd;
};

/* Serves until the daemon has closed the channel. After any other error the process ends, so that
 * its parent starts the next one: nobody would answer on this channel. */
static void *serve_channel(void *user)
{
	const struct channel *c = user;
	struct broker_fds fds, out;
	struct broker_request request;
	struct broker_reply reply;
	int err;

	do {
		err = channel_receive(c->fd, &request, sizeof(request),
				      offsetof(struct broker_request, fds_mask), &fds, 0);
		if (err == -EPROTO) { /* not a request: nobody waits for its number */
			reply = (struct broker_reply){ .code = err };
			broker_fds_init(&out);
		} else if (!err) {
			broker_serve(c->serve, c->number, &request, &fds, &reply, &out);
		} else {
			break;
		}
		if (c->number == BROKER_CHANNEL_HOOK)
			sandbox_tick(); /* by one of the threads */
		log_flush();
		err = channel_send(c->fd, &reply, sizeof(reply), &out, 0);
		broker_fds_close(&fds);
		broker_fds_close(&out);
	} while (!err);
	if (err != -EPIPE) {
		log_error("broker: channel %d: %s", (int)c->number, err_text(err));
		log_flush();
		_exit(1);
	}
	return NULL;
}

/* The broker has descriptors of each map of each interface. */
static void raise_broker_files(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int broker_run(const struct broker_ends *ends)
{
	struct named named;
	struct broker_serve serve = { .owner = ends->daemon, .named = &named };
	struct channel hook = { &serve, BROKER_CHANNEL_HOOK, ends->fds[BROKER_CHANNEL_HOOK] };
	struct channel map = { &serve, BROKER_CHANNEL_MAP, ends->fds[BROKER_CHANNEL_MAP] };
	pthread_t thread;

	named_init(&named, ends->config);
	raise_broker_files();
	sandbox_start_process(SANDBOX_BROKER);
	if (pthread_create(&thread, NULL, serve_channel, &map))
		return 1;
	serve_channel(&hook);
	return 0;
}

static int run_forked_broker(void *user, bool is_next)
{
	(void)is_next;
	return broker_run(user);
}

/* --- Its parent ------------------------------------------------------------------------------- */

/* The daemon takes these requests for lost, so the next broker must not do them. */
static void drop_old_requests(int fd)
{
	struct broker_request request;
	struct broker_fds fds;
	int err;

	do {
		err = channel_receive(fd, &request, sizeof(request),
				      offsetof(struct broker_request, fds_mask), &fds,
				      MSG_DONTWAIT);
		broker_fds_close(&fds);
	} while (!err || err == -EPROTO);
}

/* Where there is no room, the daemon has not read what was told before, so it waits for nothing. */
static void tell_death(void *user)
{
	const struct broker_reply reply = { .code = ERR_BROKER };
	const struct broker_ends *ends = user;
	struct broker_fds none;

	broker_fds_init(&none);
	for (int i = 0; i < BROKER_N_CHANNELS; i++) {
		drop_old_requests(ends->fds[i]);
		(void)!channel_send(ends->fds[i], &reply, sizeof(reply), &none, MSG_DONTWAIT);
	}
}

/* --- The daemon ------------------------------------------------------------------------------- */

/* After patience_ms without a reply, a call fails with -EAGAIN. */
static void limit_wait(int fd, uint32_t patience_ms)
{
	const struct timeval patience = { .tv_sec = patience_ms / 1000,
					  .tv_usec = patience_ms % 1000 * 1000 };

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

int broker_prepare(const struct config *config, uint32_t patience_ms)
{
	static struct broker_ends ends; /* the parent's copy, too */
	struct parent_child child = {
		.name = "volley-broker",
		.run = run_forked_broker,
		.on_end = tell_death,
		.user = &ends,
		.n_fds = BROKER_N_CHANNELS,
	};
	int pairs[BROKER_N_CHANNELS][2], n = 0, err = 0;

	while (!err && n < BROKER_N_CHANNELS)
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pairs[n]))
			err = -errno;
		else
			n++;
	for (int i = 0; i < n; i++) {
		broker.fds[i] = pairs[i][0];
		child.fds[i] = ends.fds[i] = pairs[i][1];
		limit_wait(broker.fds[i], patience_ms);
		if (err) {
			close(pairs[i][0]);
			close(pairs[i][1]);
		}
	}
	if (err)
		return err;
	ends.daemon = getpid();
	ends.config = config;
	broker.had_xdp = activation_folder() || privilege_has_xdp();
	broker.has_process = true;
	parent_add(&child);
	return 0;
}

bool broker_stop(void)
{
	const bool is_well = !*broker_problem();

	if (!broker.has_process)
		return true;
	for (int i = 0; i < BROKER_N_CHANNELS; i++)
		close(broker.fds[i]);
	broker.has_process = broker.had_xdp = false;
	atomic_store(&broker.is_gone, false);
	return is_well;
}

/* Takes the next packet. Its number is `number`, or 0 if a broker has died. */
static int await_reply(int fd, uint32_t number, struct broker_reply *reply, struct broker_fds *out)
{
	int err;

	for (;;) {
		err = channel_receive(fd, reply, sizeof(*reply),
				      offsetof(struct broker_reply, fds_mask), out, 0);
		if (err || reply->number == number || !reply->number)
			return err;
		broker_fds_close(out);
	}
}

/* A reply that nobody waits for: a broker has died since the last request. */
static void drop_old_replies(int fd)
{
	struct broker_reply reply;
	struct broker_fds fds;

	while (!channel_receive(fd, &reply, sizeof(reply), offsetof(struct broker_reply, fds_mask),
				&fds, MSG_DONTWAIT))
		broker_fds_close(&fds);
}

static int exchange_packets(const struct broker_request *request, const struct broker_fds *fds,
			    struct broker_reply *reply, struct broker_fds *out)
{
	const enum broker_channel channel = broker_channel_of(request->operation);
	const int fd = broker.fds[channel];
	int err;

	broker_fds_init(out);
	if (atomic_load(&broker.is_gone))
		return ERR_BROKER;
	pthread_mutex_lock(&broker.locks[channel]);
	drop_old_replies(fd);
	err = channel_send(fd, request, sizeof(*request), fds, 0);
	if (!err)
		err = await_reply(fd, request->number, reply, out);
	pthread_mutex_unlock(&broker.locks[channel]);
	if (err != -EPIPE && err != -EAGAIN)
		return err;
	if (err == -EAGAIN)
		log_error("broker: no reply to %s: it is given up",
			  broker_operation_text(request->operation));
	atomic_store(&broker.is_gone, true);
	return ERR_BROKER;
}

static void call_once(struct broker_request *request, const struct broker_fds *fds,
		      struct broker_reply *reply, struct broker_fds *out)
{
	int err = 0;

	do
		request->number = atomic_fetch_add(&broker.number, 1);
	while (!request->number);
	request->log_level = (uint8_t)log_get_level();
	request->log_format = (uint8_t)log_get_format();
	request->fds_mask = broker_fds_mask(fds);
	if (broker.has_process)
		err = exchange_packets(request, fds, reply, out);
	else
		broker_serve(&broker.here, broker_channel_of(request->operation), request, fds,
			     reply, out);
	if (err) {
		memset(reply, 0, sizeof(*reply));
		reply->code = err;
	}
}

/* --- Texts ------------------------------------------------------------------------------------ */

static int find_text(const char *key)
{
	for (int i = 0; i < BROKER_TEXTS_MAX; i++)
		if (!strcmp(broker.texts[i].key, key))
			return i;
	return -1;
}

/* If all places are taken, an interface gives up its own: most of them must be gone by then. */
static int free_text(void)
{
	int i = find_text("");

	while (i < 0) {
		broker.last_given_up = (broker.last_given_up + 1) % BROKER_TEXTS_MAX;
		if (*broker.texts[broker.last_given_up].key == '/') /* a configuration's */
			continue;
		i = broker.last_given_up;
		close(broker.texts[i].fd);
	}
	return i;
}

void broker_keep_text(const char *key, int fd)
{
	const bool is_key = strlen(key) < IF_NAMESIZE;
	const int copy = fd < 0 || !is_key ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int i;

	pthread_mutex_lock(&broker.text_lock);
	i = find_text(key);
	if (i >= 0)
		close(broker.texts[i].fd);
	else if (copy >= 0)
		i = free_text();
	if (i >= 0) {
		broker.texts[i].fd = copy;
		snprintf(broker.texts[i].key, IF_NAMESIZE, "%s", copy < 0 ? "" : key);
	}
	pthread_mutex_unlock(&broker.text_lock);
}

/* Sends all of them, since a broker that follows another knows none. True if it took one. */
static bool pass_texts(void)
{
	struct broker_request request = { .operation = BROKER_READ_TEXT };
	struct broker_reply reply;
	struct broker_fds fds, out;
	bool is_taken = false;

	broker_fds_init(&fds);
	pthread_mutex_lock(&broker.text_lock);
	for (int i = 0; i < BROKER_TEXTS_MAX; i++) {
		if (!*broker.texts[i].key)
			continue;
		fds.fd[BROKER_FD_TEXT] = broker.texts[i].fd;
		call_once(&request, &fds, &reply, &out);
		is_taken |= !reply.code;
	}
	pthread_mutex_unlock(&broker.text_lock);
	return is_taken;
}

int broker_call(struct broker_request *request, const struct broker_fds *fds,
		struct broker_reply *reply, struct broker_fds *out)
{
	struct broker_fds none;

	broker_fds_init(&none);
	if (!fds)
		fds = &none;
	call_once(request, fds, reply, out);
	if ((reply->code == ERR_INTERFACE || reply->code == ERR_PORT) && pass_texts())
		call_once(request, fds, reply, out);
	return reply->code;
}

const char *broker_problem(void)
{
	if (broker.has_process && !parent_is_alive())
		atomic_store(&broker.is_gone, true);
	return atomic_load(&broker.is_gone) ?
		       "the broker has ended or hangs: XDP programs and maps stay as they are, and "
		       "none is attached, renewed or detached: restart volleyd" :
		       "";
}

bool broker_has_xdp(void)
{
	return broker.has_process ? broker.had_xdp : privilege_has_xdp();
}
