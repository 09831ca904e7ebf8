// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * udpecho ADDRESS PORT: returns every datagram with QR set, in bursts (recvmmsg, sendmmsg). It
 * shows the limit of a server on a kernel socket whose answers cost nothing: the peer of the socket
 * port.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BURST          64
#define DATAGRAM_BYTES 1500
#define SOCKET_BYTES   (4 << 20)
#define QR             0x80 /* of the third octet */

static struct mmsghdr messages[BURST];
static struct iovec parts[BURST];
static struct sockaddr_in from[BURST];
static uint8_t data[BURST][DATAGRAM_BYTES];

static int open_socket(const char *text, int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), bytes = SOCKET_BYTES;

	if (fd < 0 || inet_pton(AF_INET, text, &address.sin_addr) != 1)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
	return bind(fd, (struct sockaddr *)&address, sizeof(address)) ? -1 : fd;
}

/* Sets each message's buffer, with its whole room. */
static void prepare(void)
{
	for (int i = 0; i < BURST; i++) {
		parts[i] = (struct iovec){ data[i], DATAGRAM_BYTES };
		messages[i].msg_hdr = (struct msghdr){
			.msg_name = &from[i],
			.msg_namelen = sizeof(from[i]),
			.msg_iov = &parts[i],
			.msg_iovlen = 1,
		};
	}
}

static void echo(int fd)
{
	int n, done, sent = 0;

	prepare();
	n = recvmmsg(fd, messages, BURST, MSG_WAITFORONE, NULL);
	for (int i = 0; i < n; i++) {
		parts[i].iov_len = messages[i].msg_len;
		data[i][2] |= QR;
	}
	while (sent < n) {
		done = sendmmsg(fd, messages + sent, (unsigned int)(n - sent), 0);
		if (done <= 0)
			return;
		sent += done;
	}
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 3) {
		fprintf(stderr, "usage: udpecho ADDRESS PORT\n");
		return 2;
	}
	fd = open_socket(argv[1], atoi(argv[2]));
	if (fd < 0) {
		perror("udpecho");
		return 1;
	}
	for (;;)
		echo(fd);
}
