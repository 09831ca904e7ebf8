/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/probe.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"

#define TRIES 3

int probe_read(struct probe *probe, const char *text)
{
	const char *slash = strrchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : strlen(text);
	int type = slash ? proto_type_from_text(slash + 1, strlen(slash + 1)) : DNS_TYPE_SOA;
	int len = name_from_text(probe->name, sizeof(probe->name), text, n);

	if (len < 0 || type < 0)
		return len < 0 ? len : type;
	probe->name_bytes = (size_t)len;
	probe->type = (uint16_t)type;
	return 0;
}

size_t probe_write(const struct probe *probe, uint16_t id, uint8_t message[PROBE_QUERY_MAX])
{
	uint8_t *at = message + DNS_HEADER_BYTES;

	memset(message, 0, DNS_HEADER_BYTES);
	wire_store_be16(message + DNS_ID_AT, id);
	wire_store_be16(message + DNS_QDCOUNT_AT, 1);
	memcpy(at, probe->name, probe->name_bytes);
	at += probe->name_bytes;
	wire_store_be16(at, probe->type);
	wire_store_be16(at + 2, DNS_CLASS_IN);
	return (size_t)(at + DNS_QUESTION_FIXED_BYTES - message);
}

int probe_judge(const struct probe *probe, uint16_t id, const uint8_t *reply, size_t len)
{
	uint8_t query[PROBE_QUERY_MAX];
	size_t n = probe_write(probe, id, query);
	uint16_t flags;

	if (len < n || wire_load_be16(reply + DNS_ID_AT) != id ||
	    memcmp(reply + DNS_HEADER_BYTES, query + DNS_HEADER_BYTES, n - DNS_HEADER_BYTES) != 0)
		return PROBE_NOT_OURS;
	flags = wire_load_be16(reply + DNS_FLAGS_AT);
	if (!(flags & DNS_FLAG_QR))
		return PROBE_NOT_OURS;
	if (flags & DNS_RCODE_MASK)
		return flags & DNS_RCODE_MASK;
	if (flags & DNS_FLAG_TC || wire_load_be16(reply + DNS_ANCOUNT_AT))
		return 0;
	return PROBE_NO_RECORDS;
}

/* --- On the wire ------------------------------------------------------------------------------ */

static int open_probe_socket(const struct port_addr *server)
{
	static const uint8_t none[16];
	struct port_addr to = *server;
	struct sockaddr_storage ss;
	socklen_t len;
	int fd, err;

	if (!memcmp(to.bytes, none, sizeof(none))) {
		if (to.family == AF_INET)
			memcpy(to.bytes, "\x7f\0\0\1", 4);
		else
			to.bytes[15] = 1;
	}
	len = port_addr_to_sockaddr(&to, &ss);
	fd = socket(to.family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (struct sockaddr *)&ss, len))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Waits until END_NS for a reply. Returns probe_judge() of it; *err is 0, -ETIMEDOUT or -errno. */
static int receive_probe(const struct probe *probe, uint16_t id, int fd, uint64_t end_ns, int *err)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	uint8_t reply[DNS_MESSAGE_MAX];
	int said = PROBE_NOT_OURS;

	*err = 0;
	while (said == PROBE_NOT_OURS) {
		uint64_t now_ns = clock_ns();
		ssize_t n;

		if (now_ns >= end_ns ||
		    !poll(&pollfd, 1, (int)((end_ns - now_ns) / CLOCK_NS_PER_MS + 1))) {
			*err = -ETIMEDOUT;
			return 0;
		}
		n = recv(fd, reply, sizeof(reply), MSG_DONTWAIT);
		if (n >= 0) {
			said = probe_judge(probe, id, reply, (size_t)n);
		} else if (errno != EAGAIN && errno != EINTR) {
			*err = -errno;
			return 0;
		}
	}
	return said;
}

static int ask_probe(const struct probe *probe, int fd, int wait_ms, int *said)
{
	uint8_t query[PROBE_QUERY_MAX];
	int err = -ETIMEDOUT;
	uint16_t id;

	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		return -errno;
	for (int i = 0; i < TRIES && err == -ETIMEDOUT; i++) {
		uint64_t wait_ns = (unsigned int)wait_ms * CLOCK_NS_PER_MS / TRIES;

		if (send(fd, query, probe_write(probe, id, query), MSG_NOSIGNAL) < 0)
			return -errno;
		*said = receive_probe(probe, id, fd, clock_ns() + wait_ns, &err);
	}
	return err;
}

int probe_ask(const struct probe *probe, const struct port_addr *server, int wait_ms, char *err,
	      size_t err_cap)
{
	char rcode[PROTO_TEXT_MAX] = "no records";
	int fd = open_probe_socket(server), code, said = 0;

	code = fd < 0 ? fd : ask_probe(probe, fd, wait_ms, &said);
	if (fd >= 0)
		close(fd);
	if (!code && !said)
		return 0;
	if (said > 0)
		proto_rcode_to_text(rcode, (uint16_t)said);
	snprintf(err, err_cap, "%s", code ? err_text(code) : rcode);
	return code ? code : ERR_NOT_FOUND;
}
