/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/broker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/kernel.h"
#include "broker/channel.h"
#include "broker/ports.h"
#include "broker/serve.h"

#define PAUSE_MIN_MS 10
#define PAUSE_MAX_MS 5000 /* between a broker that dies at once and the next one */

static struct {
	pid_t guardian; /* 0: there is no broker; requests are served in the calling thread */
	bool had_xdp;
	atomic_bool is_gone;
	atomic_uint number;
	int fds[BROKER_N_CHANNELS];
	pthread_mutex_t locks[BROKER_N_CHANNELS];
	struct broker_serve here;
} broker = { .locks = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER },
	     .here.has_dpdk = true };

/* --- The broker ------------------------------------------------------------------------------- */

struct channel {
	struct broker_serve *serve;
	enum broker_channel number;
	int fd;
};

/* Serves until the daemon has closed the channel. After any other error the process ends, so that
 * the guardian starts the next one: nobody would answer on this channel. */
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

static int run_broker(const int fds[BROKER_N_CHANNELS], struct broker_serve *serve)
{
	struct channel hook = { serve, BROKER_CHANNEL_HOOK, fds[BROKER_CHANNEL_HOOK] };
	struct channel map = { serve, BROKER_CHANNEL_MAP, fds[BROKER_CHANNEL_MAP] };
	pthread_t thread;
	int err;

	raise_broker_files();
	err = pthread_create(&thread, NULL, serve_channel, &map);
	if (err)
		return 1;
	serve_channel(&hook);
	return 0;
}

/* --- The guardian ----------------------------------------------------------------------------- */

/* Ends with the parent. False: it has ended already. */
static bool end_with_parent(pid_t parent)
{
	return !prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) && getppid() == parent;
}

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
static void tell_death(const int fds[BROKER_N_CHANNELS])
{
	const struct broker_reply reply = { .code = ERR_BROKER };
	struct broker_fds none;

	broker_fds_init(&none);
	for (int i = 0; i < BROKER_N_CHANNELS; i++) {
		drop_old_requests(fds[i]);
		(void)!channel_send(fds[i], &reply, sizeof(reply), &none, MSG_DONTWAIT);
	}
}

/* Runs one broker to its end. True if the daemon has let it go. */
static bool run_one(const int fds[BROKER_N_CHANNELS], struct broker_serve serve)
{
	const pid_t guardian = getpid(), pid = fork();
	int status = 0;

	if (!pid)
		_exit(end_with_parent(guardian) ? run_broker(fds, &serve) : 0);
	if (pid < 0) {
		log_error("broker: cannot be started: %s", err_text(-errno));
		return false;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return true;
	log_error("broker: process %d has ended by %s %d: the next one starts", (int)pid,
		  WIFSIGNALED(status) ? "signal" : "status",
		  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return false;
}

/* Closes all files but the standard ones and the channels: others of the daemon, such as the
 * channel of its runner, must end with the daemon. */
static void close_other_files(const int fds[BROKER_N_CHANNELS])
{
	unsigned int from = STDERR_FILENO + 1;

	/* the channels were opened one after the other, so their numbers ascend */
	for (int i = 0; i < BROKER_N_CHANNELS; i++) {
		if (from < (unsigned int)fds[i])
			(void)close_range(from, (unsigned int)fds[i] - 1, 0);
		from = (unsigned int)fds[i] + 1;
	}
	(void)close_range(from, ~0u, 0);
	log_open("volley-broker", log_get_level());
}

static void guard(const int fds[BROKER_N_CHANNELS], pid_t daemon, const struct config *config)
{
	static struct ports ports;
	const struct broker_serve serve = { .owner = daemon, .ports = &ports };
	unsigned int pause_ms = PAUSE_MIN_MS;
	uint64_t begun_ns;

	prctl(PR_SET_NAME, "volley-broker", 0, 0, 0);
	close_other_files(fds);
	if (privilege_drop_broker())
		log_warn("broker: capabilities that are not needed could not be given up");
	if (!end_with_parent(daemon))
		_exit(1);
	ports_init(&ports, config);
	for (;;) {
		begun_ns = clock_ns();
		if (run_one(fds, serve))
			_exit(0);
		tell_death(fds);
		if (clock_ns() - begun_ns > CLOCK_NS_PER_S)
			pause_ms = PAUSE_MIN_MS;
		usleep(pause_ms * 1000);
		pause_ms = pause_ms * 2 > PAUSE_MAX_MS ? PAUSE_MAX_MS : pause_ms * 2;
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

int broker_start(const struct config *config, uint32_t patience_ms)
{
	const pid_t daemon = getpid();
	int ends[BROKER_N_CHANNELS][2], fds[BROKER_N_CHANNELS], n = 0, err = 0;
	pid_t pid = -1;

	broker.had_xdp = privilege_has_xdp();
	while (!err && n < BROKER_N_CHANNELS)
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends[n]))
			err = -errno;
		else
			n++;
	if (!err) {
		pid = fork();
		err = pid < 0 ? -errno : 0;
	}
	for (int i = 0; i < n; i++) {
		broker.fds[i] = ends[i][0];
		fds[i] = ends[i][1];
		limit_wait(broker.fds[i], patience_ms);
		close(pid && !err ? fds[i] : broker.fds[i]);
		if (err)
			close(fds[i]);
	}
	if (!err && !pid)
		guard(fds, daemon, config);
	if (!err)
		broker.guardian = pid;
	return err;
}

void broker_stop(void)
{
	if (!broker.guardian)
		return;
	for (int i = 0; i < BROKER_N_CHANNELS; i++)
		close(broker.fds[i]);
	/* if the broker hangs, both end with this process */
	while (!atomic_load(&broker.is_gone) && waitpid(broker.guardian, NULL, 0) < 0 &&
	       errno == EINTR)
		continue;
	broker.guardian = 0;
	broker.had_xdp = false;
	atomic_store(&broker.is_gone, false);
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

int broker_call(struct broker_request *request, const struct broker_fds *fds,
		struct broker_reply *reply, struct broker_fds *out)
{
	struct broker_fds none;
	int err = 0;

	broker_fds_init(&none);
	if (!fds)
		fds = &none;
	do
		request->number = atomic_fetch_add(&broker.number, 1);
	while (!request->number);
	request->log_level = (uint8_t)log_get_level();
	request->log_format = (uint8_t)log_get_format();
	request->fds_mask = broker_fds_mask(fds);
	if (broker.guardian)
		err = exchange_packets(request, fds, reply, out);
	else
		broker_serve(&broker.here, broker_channel_of(request->operation), request, fds,
			     reply, out);
	if (err) {
		memset(reply, 0, sizeof(*reply));
		reply->code = err;
	}
	return reply->code;
}

const char *broker_problem(void)
{
	if (broker.guardian && !atomic_load(&broker.is_gone) &&
	    waitpid(broker.guardian, NULL, WNOHANG) == broker.guardian)
		atomic_store(&broker.is_gone, true);
	return atomic_load(&broker.is_gone) ?
		       "the broker has ended or hangs: XDP programs and maps stay as they are, and "
		       "none is attached, renewed or detached: restart volleyd" :
		       "";
}

bool broker_has_xdp(void)
{
	return broker.guardian ? broker.had_xdp : privilege_has_xdp();
}
