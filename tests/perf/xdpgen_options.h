/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of xdpgen; xdpgen.c explains them. */
#ifndef VOLLEY_TESTS_PERF_XDPGEN_OPTIONS_H
#define VOLLEY_TESTS_PERF_XDPGEN_OPTIONS_H

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/perf/front.h"
#include "tests/perf/query.h"

struct options {
	const char *ifname;
	const char *queries;
	double seconds;
	double rate;
	struct perf_query query; /* all except the name */
	int cpu;
	uint32_t draw;
	uint32_t fresh_first;
	uint32_t listed_every;
	uint32_t random_n;
	uint32_t random_of; /* 0: no random labels */
	uint32_t random_first;
	uint32_t burst; /* 0: by the rate */
	bool fresh;
	bool only_count;
	bool once;
	bool latency;
	bool echo;
};

static const char options_usage[] =
	"usage: xdpgen [--from-mac MAC] [--to-mac MAC] [--from IP] [--to IP] "
	"[--no-edns] [--once] [--cpu N] IF QUERIES SECONDS RATE\n"
	"       xdpgen [...] --draw N IF SECONDS RATE\n"
	"       xdpgen [...] --fresh FIRST [--listed-every N] IF QUERIES SECONDS RATE\n"
	"       xdpgen [...] --random N/M [--first NUMBER] IF QUERIES SECONDS RATE\n"
	"       xdpgen --count IF\n";

static inline int options_mac(uint8_t mac[ETH_ALEN], const char *text)
{
	int n = sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx", &mac[0], &mac[1], &mac[2],
		       &mac[3], &mac[4], &mac[5]);

	return n == ETH_ALEN ? 0 : -EINVAL;
}

static inline int options_address(uint8_t address[16], bool *ipv6, const char *text)
{
	*ipv6 = strchr(text, ':') != NULL;
	return inet_pton(*ipv6 ? AF_INET6 : AF_INET, text, address) == 1 ? 0 : -EINVAL;
}

static inline int options_draw(uint32_t *draw, const char *text)
{
	*draw = (uint32_t)strtoul(text, NULL, 10);
	return *draw && *draw <= FRONT_NUMBERS ? 0 : -EINVAL;
}

/* "9/10": nine of ten; at least one. */
static inline int options_share(struct options *o, const char *text)
{
	char end;

	if (strspn(text, "0123456789/") != strlen(text) ||
	    sscanf(text, "%" SCNu32 "/%" SCNu32 "%c", &o->random_n, &o->random_of, &end) != 2)
		return -EINVAL;
	return o->random_n && o->random_n <= o->random_of ? 0 : -EINVAL;
}

static inline int options_positional(struct options *o, char **argv, int n)
{
	int i = 0, wanted = o->only_count ? 1 : o->draw ? 3 : 4;

	if (n != wanted)
		return -EINVAL;
	o->ifname = argv[i++];
	if (o->only_count)
		return if_nametoindex(o->ifname) ? 0 : -EINVAL;
	if (!o->draw)
		o->queries = argv[i++];
	o->seconds = atof(argv[i++]);
	o->rate = atof(argv[i]);
	return o->seconds > 0 && o->rate >= 0 && if_nametoindex(o->ifname) ? 0 : -EINVAL;
}

static const struct option options_known[] = {
	{ "from-mac", required_argument, NULL, 'M' },
	{ "to-mac", required_argument, NULL, 'm' },
	{ "from", required_argument, NULL, 'F' },
	{ "to", required_argument, NULL, 't' },
	{ "no-edns", no_argument, NULL, 'e' },
	{ "cpu", required_argument, NULL, 'c' },
	{ "draw", required_argument, NULL, 'd' },
	{ "fresh", required_argument, NULL, 'f' },
	{ "listed-every", required_argument, NULL, 'l' },
	{ "random", required_argument, NULL, 'r' },
	{ "first", required_argument, NULL, 'n' },
	{ "burst", required_argument, NULL, 'b' },
	{ "latency", no_argument, NULL, 'L' },
	{ "echo", no_argument, NULL, 'E' },
	{ "once", no_argument, NULL, 'o' },
	{ "count", no_argument, NULL, 'C' },
	{ 0 },
};

/* Sets an option that takes a number; false for another letter. */
static inline bool options_set_number(struct options *o, int c, const char *text)
{
	uint32_t number = text ? (uint32_t)strtoul(text, NULL, 10) : 0;

	if (c == 'c')
		o->cpu = (int)number;
	else if (c == 'f')
		o->fresh_first = number;
	else if (c == 'l')
		o->listed_every = number;
	else if (c == 'n')
		o->random_first = number;
	else if (c == 'b')
		o->burst = number;
	else
		return false;
	o->fresh |= c == 'f';
	return true;
}

static inline bool options_set_flag(struct options *o, int c)
{
	if (c == 'e')
		o->query.edns = false;
	else if (c == 'L')
		o->latency = true;
	else if (c == 'E')
		o->echo = true;
	else if (c == 'o')
		o->once = true;
	else if (c == 'C')
		o->only_count = true;
	else
		return false;
	return true;
}

static inline int options_parse(struct options *o, int argc, char **argv)
{
	bool from_ipv6 = false;
	int c, err = 0;

	while (!err && (c = getopt_long(argc, argv, "", options_known, NULL)) != -1) {
		if (c == 'M')
			err = options_mac(o->query.from_mac, optarg);
		else if (c == 'm')
			err = options_mac(o->query.to_mac, optarg);
		else if (c == 'F')
			err = options_address(o->query.from, &from_ipv6, optarg);
		else if (c == 't')
			err = options_address(o->query.to, &o->query.ipv6, optarg);
		else if (c == 'd')
			err = options_draw(&o->draw, optarg);
		else if (c == 'r')
			err = options_share(o, optarg);
		else if (!options_set_number(o, c, optarg) && !options_set_flag(o, c))
			err = -EINVAL;
	}
	if (!err && (from_ipv6 != o->query.ipv6 || !!o->draw + o->fresh + !!o->random_of > 1))
		err = -EINVAL;
	return err ? err : options_positional(o, argv + optind, argc - optind);
}

#endif
