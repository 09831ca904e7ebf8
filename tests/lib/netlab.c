/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/netlab.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES (4 << 20)

static int run_script(const char *verb, const char *name)
{
	char command[128];

	snprintf(command, sizeof(command), "scripts/lab.sh %s %s", verb, name);
	return system(command) ? -1 : 0;
}

static int open_ns(const char *name, char end)
{
	char path[64];

	snprintf(path, sizeof(path), "/run/netns/%s-%c", name, end);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int netlab_open(struct netlab *lab)
{
	*lab = (struct netlab){ .client_ns = -1, .server_ns = -1 };
	snprintf(lab->name, sizeof(lab->name), "vbt%d", (int)getpid());
	if (run_script("up", lab->name))
		return -1;
	lab->client_ns = open_ns(lab->name, 'c');
	lab->server_ns = open_ns(lab->name, 's');
	if (lab->client_ns >= 0 && lab->server_ns >= 0)
		return 0;
	netlab_close(lab);
	return -1;
}

void netlab_close(struct netlab *lab)
{
	if (!*lab->name)
		return;
	close(lab->client_ns);
	close(lab->server_ns);
	run_script("down", lab->name);
	*lab->name = 0;
}

int netlab_enter(const struct netlab *lab, bool server)
{
	return setns(server ? lab->server_ns : lab->client_ns, CLONE_NEWNET);
}

int netlab_packet_socket(const char *device)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET,
				       .sll_protocol = htons(ETH_P_ALL),
				       .sll_ifindex = (int)if_nametoindex(device) };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	const int bytes = BUFFER_BYTES, on = 1;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
	if (!bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	close(fd);
	return -1;
}

/* Whether an untagged frame has UDP to this port. */
static bool is_udp_to(const uint8_t *frame, size_t n, uint16_t port)
{
	size_t ip = 14, udp;

	if (n < ip + 48)
		return n >= ip + 28 && frame[12] == 8 && frame[ip + 9] == 17 &&
		       (frame[ip + 22] << 8 | frame[ip + 23]) == port;
	udp = ip + (frame[12] == 8 ? 20u : 40u);
	if (frame[12] == 8 ? frame[ip + 9] != 17 : frame[12] != 0x86 || frame[ip + 6] != 17)
		return false;
	return (frame[udp + 2] << 8 | frame[udp + 3]) == port;
}

static int now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int)(ts.tv_sec * 1000 + ts.tv_nsec / 1000000);
}

size_t netlab_receive(int packet_fd, uint16_t to_port, uint8_t *frame, size_t cap, int timeout_ms)
{
	struct pollfd p = { .fd = packet_fd, .events = POLLIN };
	int until = now_ms() + timeout_ms, left;

	while ((left = until - now_ms()) >= 0) {
		ssize_t n;

		if (poll(&p, 1, left) != 1)
			return 0;
		n = recv(packet_fd, frame, cap, MSG_DONTWAIT);
		if (n > 0 && is_udp_to(frame, (size_t)n, to_port))
			return (size_t)n;
	}
	return 0;
}
