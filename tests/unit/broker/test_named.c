/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which ports the broker binds, which sockets, and on which interfaces it works. */
#include "broker/named.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/files.h"
#include "config/config.h"
#include "tests/lib/must.h"
#include "tests/lib/tmpfolder.h"

#define LISTEN "server: { listen: ['192.0.2.1'] }\n"

static struct named named;

static void write_config(const char *text)
{
	FILE *file = fopen(tmpfolder_file, "w");

	MUST(file && fputs(text, file) >= 0 && !fclose(file));
}

static void init_from_file(const char *text)
{
	struct config *config;
	char err[512];

	write_config(text);
	if (config_load(&config, tmpfolder_file, err, sizeof(err)))
		fail_msg("%s", err);
	named_init(&named, config);
	config_free(config);
}

enum { TCP = 1, UDP = 2 };

/* By which of both a port is allowed. */
static int allowed(uint16_t port)
{
	return (named_allow_port(&named, true, port) ? TCP : 0) |
	       (named_allow_port(&named, false, port) ? UDP : 0);
}

static void test_ports_of_dns(void **state)
{
	(void)state;
	named_init(&named, NULL);
	for (uint32_t port = 0; port < 65536; port++)
		assert_int_equal(allowed((uint16_t)port), port == 53  ? TCP | UDP :
							  port == 853 ? TCP :
									0);
}

static void test_ports_of_a_configuration(void **state)
{
	static const struct {
		uint16_t port;
		int want;
	} cases[] = {
		{ 53, TCP | UDP }, { 853, TCP },      { 54, TCP | UDP }, { 55, TCP | UDP },
		{ 56, TCP | UDP }, { 57, TCP | UDP }, { 80, TCP },       { 0, 0 },
		{ 22, 0 },         { 58, 0 },         { 65535, 0 },
	};

	(void)state;
	init_from_file("server: { listen: ['192.0.2.1@54', '2001:db8::1@55'] }\n"
		       "metrics: { listen: '127.0.0.1@80' }\n"
		       "remotes:\n"
		       "- { name: a, address: ['192.0.2.9@58'],"
		       " source: ['192.0.2.1@56', '2001:db8::1@57'] }\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (allowed(cases[i].port) != cases[i].want)
			fail_msg("port %u: %d", cases[i].port, allowed(cases[i].port));
}

/* A port that is not known yet makes the broker read the file again. What it knows stays. */
static void test_a_file_that_changes(void **state)
{
	(void)state;
	init_from_file("server: { listen: ['192.0.2.1@54'] }\n");
	assert_int_equal(allowed(55), 0);
	write_config("server: { listen: ['192.0.2.1@55'] }\n");
	assert_int_equal(allowed(55), TCP | UDP);
	assert_int_equal(allowed(54), TCP | UDP);
	write_config("server: { listen: ['192.0.2.1@56'], nonsense: 1 }\n");
	assert_int_equal(allowed(56), 0);
	assert_int_equal(allowed(55), TCP | UDP);
	MUST(!unlink(tmpfolder_file));
	assert_int_equal(allowed(56), 0);
}

static bool has(const char *ifname)
{
	return named_allow_interface(&named, ifname);
}

static void test_interfaces_of_a_configuration(void **state)
{
	(void)state;
	init_from_file(LISTEN "interfaces: [ { name: eth0 }, { name: a.5 } ]\n");
	assert_true(has("eth0") && has("a.5"));
	assert_false(has("eth1") || has("eth") || has("eth00") || has(""));
	write_config(LISTEN "interfaces: [ { name: eth1 } ]\n");
	assert_true(has("eth1") && has("eth0"));
	write_config(LISTEN "interfaces: [ { name: eth2 } ]\nnonsense: 1\n");
	assert_false(has("eth2"));
	MUST(!unlink(tmpfolder_file));
	assert_false(has("eth2"));
	assert_true(has("eth1"));
}

/* The oldest ones are forgotten. */
static void test_many_interfaces(void **state)
{
	char name[IF_NAMESIZE];

	(void)state;
	named_init(&named, NULL);
	assert_false(has("eth0"));
	snprintf(named.path, sizeof(named.path), "%s", tmpfolder_file);
	for (unsigned int i = 0; i <= NAMED_INTERFACES_MAX; i++) {
		char text[128];

		snprintf(name, sizeof(name), "i%u", i);
		snprintf(text, sizeof(text), LISTEN "interfaces: [ { name: %s } ]\n", name);
		write_config(text);
		assert_true(has(name));
	}
	assert_false(has("i0"));
	assert_true(has("i1"));
	MUST(!unlink(tmpfolder_file));
}

static int text_of(const char *text, bool is_sealed)
{
	const int fd = memory_file_open("text", MFD_ALLOW_SEALING);

	MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	MUST(!is_sealed || !memory_file_seal(fd));
	return fd;
}

/* As `config apply` and `attach` pass it: from the owner of the file, and final. */
static void test_texts(void **state)
{
	static const char text[] = "server: { listen: ['192.0.2.1@59'] }\n"
				   "interfaces: [ { name: eth3 } ]\n";
	const struct {
		int fd;
		int want;
	} cases[] = {
		{ text_of(text, false), -EPERM },
		{ open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC), -EPERM },
		{ STDIN_FILENO, -EPERM },
		{ text_of("nonsense", true), ERR_CONFIG },
		{ text_of(text, true), 0 },
	};

	(void)state;
	init_from_file(LISTEN);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int code;

		assert_false(has("eth3"));
		code = named_read_text(&named, cases[i].fd);
		if (code != cases[i].want)
			fail_msg("case %zu: %d", i, code);
		if (cases[i].fd != STDIN_FILENO)
			close(cases[i].fd);
	}
	assert_true(has("eth3"));
	assert_int_equal(allowed(59), TCP | UDP);
	MUST(!unlink(tmpfolder_file));
}

static int bind_to(int fd, int family, uint16_t port)
{
	struct broker_address address = { .family = (uint16_t)family, .net_port = htons(port) };

	if (family == AF_INET)
		memcpy(address.bytes, (const uint8_t[]){ 127, 0, 0, 1 }, 4);
	else
		address.bytes[15] = 1;
	return named_bind(&named, fd, &address);
}

static void allow_only(uint16_t port)
{
	struct config_addr listen = { .family = AF_INET, .net_port = htons(port) };
	struct config config = { .path = (char[]){ "/nowhere" }, .listen = &listen, .n_listen = 1 };

	named_init(&named, &config);
}

/* A port of 127.0.0.1 that was free a moment ago. */
static uint16_t port_of(int fd)
{
	struct sockaddr_in at;
	socklen_t len = sizeof(at);

	MUST(!getsockname(fd, (struct sockaddr *)&at, &len));
	return ntohs(at.sin_port);
}

static void test_sockets(void **state)
{
	static const struct {
		int family, type, protocol, want;
	} cases[] = {
		{ AF_INET, SOCK_DGRAM, 0, 0 },
		{ AF_INET, SOCK_STREAM, 0, 0 },
		{ AF_INET6, SOCK_DGRAM, 0, -EPROTOTYPE },
		{ AF_INET6, SOCK_STREAM, 0, -EPROTOTYPE },
		{ AF_UNIX, SOCK_DGRAM, 0, -EPROTOTYPE },
		{ AF_UNIX, SOCK_STREAM, 0, -EPROTOTYPE },
		{ AF_NETLINK, SOCK_RAW, 0, -EPROTOTYPE },
		{ AF_INET, SOCK_RAW, IPPROTO_UDP, -EPROTOTYPE },
		{ AF_INET, SOCK_RAW, IPPROTO_TCP, -EPROTOTYPE },
		{ AF_INET, SOCK_STREAM, IPPROTO_SCTP, -EPROTOTYPE },
		{ AF_INET, SOCK_STREAM, IPPROTO_MPTCP, -EPROTOTYPE },
		{ AF_INET, SOCK_DGRAM, IPPROTO_ICMP, -EPROTOTYPE },
		{ AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE, -EPROTOTYPE },
	};
	unsigned int n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int fd = socket(cases[i].family, cases[i].type | SOCK_CLOEXEC, cases[i].protocol);
		int free_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		struct sockaddr_in any = { .sin_family = AF_INET,
					   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		uint16_t port;
		int code;

		MUST(free_fd >= 0 && !bind(free_fd, (struct sockaddr *)&any, sizeof(any)));
		port = port_of(free_fd);
		close(free_fd);
		if (fd < 0) /* the kernel does not have it, or it needs a capability */
			continue;
		allow_only(port);
		code = bind_to(fd, AF_INET, port);
		if (code != cases[i].want)
			fail_msg("case %zu: %d", i, code);
		if (!code)
			assert_int_equal(port_of(fd), port);
		n++;
		close(fd);
	}
	assert_in_range(n, 7, sizeof(cases) / sizeof(cases[0]));
	assert_int_equal(bind_to(STDIN_FILENO, AF_INET, 53), -EPROTOTYPE);
}

/* The port is asked for before the kernel is. */
static void test_a_port_that_is_not_allowed(void **state)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)state;
	named_init(&named, NULL);
	assert_int_equal(bind_to(fd, AF_INET, 5353), ERR_PORT);
	assert_int_equal(bind_to(fd, AF_INET, 853), ERR_PORT); /* DNS over TLS is TCP */
	assert_int_equal(port_of(fd), 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ports_of_dns),
		cmocka_unit_test(test_ports_of_a_configuration),
		cmocka_unit_test(test_a_file_that_changes),
		cmocka_unit_test(test_interfaces_of_a_configuration),
		cmocka_unit_test(test_many_interfaces),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_a_port_that_is_not_allowed),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
