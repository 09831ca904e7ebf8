/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets with descriptors: as they are sent, and as no Volley sends them. No descriptor leaks. */
#include "broker/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/must.h"

#define FDS_CAP 256
#define MASK_AT offsetof(struct broker_request, fds_mask)

static int pair[2];

static int open_pair(void **state)
{
	(void)state;
	MUST(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	return 0;
}

static int close_pair(void **state)
{
	(void)state;
	close(pair[0]);
	close(pair[1]);
	return 0;
}

static int n_open_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < FDS_CAP; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static int receive(struct broker_request *r, struct broker_fds *fds)
{
	return channel_receive(pair[1], r, sizeof(*r), MASK_AT, fds, MSG_DONTWAIT);
}

/* Every second descriptor, up to the last: each arrives at its place, and is closed at exec. */
static void test_places(void **state)
{
	struct broker_request sent = { .operation = BROKER_OPEN, .number = 3 }, got;
	struct broker_fds fds, out;
	const int before = n_open_fds();

	(void)state;
	broker_fds_init(&fds);
	for (size_t i = 0; i < BROKER_N_FDS; i += 2)
		fds.fd[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sent.fds_mask = broker_fds_mask(&fds);
	assert_int_equal(channel_send(pair[0], &sent, sizeof(sent), &fds, 0), 0);
	broker_fds_close(&fds);
	assert_int_equal(receive(&got, &out), 0);
	assert_memory_equal(&got, &sent, sizeof(sent));
	for (size_t i = 0; i < BROKER_N_FDS; i++) {
		assert_int_equal(out.fd[i] >= 0, i % 2 == 0);
		if (out.fd[i] >= 0)
			assert_int_equal(fcntl(out.fd[i], F_GETFD), FD_CLOEXEC);
	}
	broker_fds_close(&out);
	assert_int_equal(broker_fds_mask(&out), 0);
	assert_int_equal(n_open_fds(), before);
}

/* The mask promises more, fewer or other descriptors than came. */
static void test_masks(void **state)
{
	static const uint64_t masks[] = { 0, 1, 7, UINT64_MAX, 1ull << 63 | 1 };
	const int before = n_open_fds();
	struct broker_request r = { .number = 1 };
	struct broker_fds fds, out;

	(void)state;
	broker_fds_init(&fds);
	fds.fd[0] = fds.fd[1] = pair[0];
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		r.fds_mask = masks[i];
		assert_int_equal(channel_send(pair[0], &r, sizeof(r), &fds, 0), 0);
		assert_int_equal(receive(&r, &out), -EPROTO);
		assert_int_equal(broker_fds_mask(&out), 0);
		assert_int_equal(n_open_fds(), before);
	}
}

/* Shorter, longer, empty: an empty one is not the end of the other side. */
static void test_lengths(void **state)
{
	static const size_t lengths[] = { 0, 1, MASK_AT, sizeof(struct broker_request) - 1,
					  sizeof(struct broker_request) + 1 };
	const int before = n_open_fds();
	uint8_t octets[sizeof(struct broker_request) + 1] = { 0 };
	struct broker_request r;
	struct broker_fds fds, out;
	uint64_t mask;

	(void)state;
	broker_fds_init(&fds);
	fds.fd[3] = pair[0];
	mask = broker_fds_mask(&fds);
	memcpy(octets + MASK_AT, &mask, sizeof(mask)); /* so only the length is wrong */
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		assert_int_equal(channel_send(pair[0], octets, lengths[i], &fds, 0), 0);
		assert_int_equal(receive(&r, &out), -EPROTO);
		assert_int_equal(n_open_fds(), before);
	}
}

/* More descriptors than there are places: the kernel drops them, and the packet is refused. */
static void test_too_many(void **state)
{
	enum { N = BROKER_N_FDS + 1 };
	const int before = n_open_fds();
	union {
		struct cmsghdr head;
		uint8_t room[CMSG_SPACE(N * sizeof(int))];
	} control = { .head = { CMSG_LEN(N * sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct broker_request r = { .fds_mask = (1ull << BROKER_N_FDS) - 1 };
	struct iovec part = { &r, sizeof(r) };
	const struct msghdr msg = { .msg_iov = &part,
				    .msg_iovlen = 1,
				    .msg_control = &control,
				    .msg_controllen = sizeof(control) };
	struct broker_fds out;
	int list[N];

	(void)state;
	for (int i = 0; i < N; i++)
		list[i] = pair[0];
	memcpy(CMSG_DATA(&control.head), list, sizeof(list));
	assert_int_equal(sendmsg(pair[0], &msg, 0), sizeof(r));
	assert_int_equal(receive(&r, &out), -EPROTO);
	assert_int_equal(n_open_fds(), before);
}

static void test_the_end(void **state)
{
	struct broker_request r = { 0 };
	struct broker_fds fds;

	(void)state;
	broker_fds_init(&fds);
	assert_int_equal(receive(&r, &fds), -EAGAIN);
	close(pair[0]);
	assert_int_equal(receive(&r, &fds), -EPIPE);
	assert_int_equal(channel_send(pair[1], &r, sizeof(r), &fds, 0), -EPIPE);
	pair[0] = dup(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_places, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_masks, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_lengths, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_too_many, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_the_end, open_pair, close_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
