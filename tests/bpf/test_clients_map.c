/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the driver's map of clients with the engine's table, made of the same prefixes: every
 * address has the same views. While one list replaces another, no client has a view that it does
 * not have in both lists.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "bpf/tables.h"
#include "xdp/abi.h"

#define MAP_CAP   512
#define N_ROUNDS  300
#define LISTS_CAP 16
#define N_ASKED   200

static int make_map(uint32_t cap)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
	int fd = bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, "clients", sizeof(struct volley_client), 4,
				cap, &options);

	if (fd == -EPERM)
		skip();
	assert_true(fd >= 0);
	return fd;
}

/* Looks up an address as the driver does: IPv4 mapped, all bits. */
static uint32_t ask_map(int fd, uint8_t family, const uint8_t *address)
{
	struct volley_client key = { .prefix_bits = 128 };
	uint32_t views;

	if (family == AF_INET6) {
		memcpy(key.address, address, 16);
	} else {
		memset(key.address + 10, 0xff, 2);
		memcpy(key.address + 12, address, 4);
	}
	return bpf_map_lookup_elem(fd, &key, &views) ? CLIENTS_VIEW(VOLLEY_VIEW_PUBLIC) : views;
}

static uint32_t draw(uint32_t n)
{
	return (uint32_t)rand() % n;
}

/* Few different octets, so that prefixes nest and addresses lie in them. */
static void draw_address(uint8_t address[16], uint8_t family)
{
	memset(address, 0, 16);
	for (unsigned int i = 0; i < (family == AF_INET ? 4 : 16); i++)
		address[i] = (uint8_t)(draw(3) ? 0x80 : draw(256));
}

static void draw_prefix(struct config_prefix *p)
{
	p->family = draw(3) ? AF_INET : AF_INET6;
	p->bits = (uint8_t)draw(p->family == AF_INET ? 33 : 129);
	draw_address(p->addr, p->family);
	for (unsigned int i = p->bits; i < 128; i++)
		p->addr[i / 8] &= (uint8_t) ~(0x80 >> i % 8);
}

struct lists {
	struct config_prefix server[LISTS_CAP], recursion[LISTS_CAP];
	struct config config;
	struct clients_list list;
	struct clients *clients;
};

static void draw_lists(struct lists *l, uint32_t n_max)
{
	memset(l, 0, sizeof(*l));
	l->config.n_allow = draw(n_max + 1);
	l->config.allow = l->server;
	l->config.recursion.n_allow = draw(n_max + 1);
	l->config.recursion.allow = l->recursion;
	for (uint32_t i = 0; i < n_max; i++) {
		draw_prefix(&l->server[i]);
		draw_prefix(&l->recursion[i]);
	}
	assert_int_equal(clients_list_make(&l->list, &l->config), 0);
	assert_int_equal(clients_new(&l->clients, l->list.prefixes, l->list.n), 0);
}

static void free_lists(struct lists *l)
{
	clients_list_fini(&l->list);
	clients_free(l->clients);
}

/* Addresses of all kinds, those at the ends of prefixes among them. */
static void draw_client(const struct lists *l, uint8_t *family, uint8_t address[16])
{
	const struct clients_prefix *p = l->list.n ? &l->list.prefixes[draw((uint32_t)l->list.n)] :
						     NULL;

	if (!p || !draw(3)) {
		*family = draw(2) ? AF_INET : AF_INET6;
		draw_address(address, *family);
		return;
	}
	*family = p->family;
	memcpy(address, p->address, 16);
	for (unsigned int i = p->bits; draw(2) && i < (p->family == AF_INET ? 32 : 128); i++)
		address[i / 8] |= (uint8_t)(0x80 >> i % 8);
}

static void compare(int fd, const struct lists *before, const struct lists *l, bool is_between)
{
	for (uint32_t i = 0; i < N_ASKED; i++) {
		uint8_t family, address[16];
		uint32_t have, want, was;

		draw_client(draw(2) ? before : l, &family, address);
		have = ask_map(fd, family, address);
		want = clients_views(l->clients, family, address);
		was = clients_views(before->clients, family, address);
		if (is_between ? have & ~(want & was) : have != want)
			fail_msg("family %u, address %02x%02x%02x%02x...: %x, want %x, had %x",
				 family, address[0], address[1], address[2], address[3], have, want,
				 was);
	}
}

static void follow(int fd, uint32_t n_max)
{
	struct lists before, after;

	draw_lists(&before, 0);
	for (uint32_t i = 0; i < N_ROUNDS; i++) {
		draw_lists(&after, n_max);
		assert_int_equal(clients_map_restrict(fd, &after.list), 0);
		compare(fd, &before, &after, true);
		assert_int_equal(clients_map_extend(fd, &after.list), 0);
		compare(fd, &before, &after, false);
		free_lists(&before);
		before = after;
	}
	free_lists(&before);
}

static void test_the_same_views(void **state)
{
	int fd = make_map(MAP_CAP);

	(void)state;
	follow(fd, LISTS_CAP);
	close(fd);
}

/* Each list alone fits, but two of them do not. */
static void test_no_room_for_both(void **state)
{
	int fd = make_map(2 * LISTS_CAP + 1);

	(void)state;
	follow(fd, LISTS_CAP);
	close(fd);
}

static void test_too_many(void **state)
{
	struct lists before, l;
	int fd = make_map(3);

	(void)state;
	draw_lists(&before, 0);
	do
		draw_lists(&l, LISTS_CAP);
	while (l.list.n < 4);
	assert_int_equal(clients_map_restrict(fd, &l.list), 0);
	assert_int_equal(clients_map_extend(fd, &l.list), -ENOSPC);
	compare(fd, &l, &l, true);
	free_lists(&before);
	free_lists(&l);
	close(fd);
}

static void test_no_map(void **state)
{
	struct clients_list none = { 0 };

	(void)state;
	assert_int_equal(clients_map_restrict(-1, &none), 0);
	assert_int_equal(clients_map_extend(-1, &none), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_views),
		cmocka_unit_test(test_no_room_for_both),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_no_map),
	};

	srand(12);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
