/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is limits and a sequence of answers. A model that counts each prefix in floating point,
 * without a table, tells which answers are over a limit. If a load is so near the limit that
 * rounding decides, the model follows the limiter. No load in the table ever exceeds its limit.
 *
 *      8 octets: answers (3), octets (3), slip, flags
 *      then 4 octets for each answer: client, octets / 8, milliseconds (2)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "limits/limiter.h"
#include "xdp/rrl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD_BYTES 8
#define STEP_BYTES 4
#define STEPS_MAX  2000
#define N_CLIENTS  32
#define START_MS   123456
#define WRAP_MS    65536 /* after so long the milliseconds of a load come round */
#define SURE       1e-4  /* of a limit: the model does not judge nearer loads */

static const int bits_v4[] = { 32, 24, 20, 18 }, bits_v6[] = { 128, 64, 56, 48, 32 };
static const double weights_v4[] = { 1, 32, 256, 768 }, weights_v6[] = { 1, 2, 3, 4, 64 };

/* The load of a prefix, in units of its limit. */
struct model {
	uint8_t address[16];
	int is_ipv6, bits;
	double load;
	uint64_t at_ms;
};

static struct volley_rrl rrl;
static struct volley_rrl_line loads[VOLLEY_RRL_LINES];
static struct volley_near near_;
static struct model models[N_CLIENTS * RRL_PREFIXES];
static size_t n_models;

static void must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz_limiter: %s\n", what);
	abort();
}

static struct model *find(const uint8_t address[16], int is_ipv6, int bits, uint64_t now_ms)
{
	uint8_t masked[16];
	struct model *m;

	memset(masked, 0, sizeof(masked));
	memcpy(masked, address, (size_t)bits / 8);
	if (bits % 8)
		masked[bits / 8] = (uint8_t)(address[bits / 8] & 0xff << (8 - bits % 8));
	for (m = models; m < models + n_models; m++)
		if (m->is_ipv6 == is_ipv6 && m->bits == bits &&
		    !memcmp(m->address, masked, sizeof(masked)))
			return m;
	m = &models[n_models++];
	*m = (struct model){ .is_ipv6 = is_ipv6, .bits = bits, .at_ms = now_ms };
	memcpy(m->address, masked, sizeof(masked));
	return m;
}

/* Clients share prefixes of every length. */
static uint8_t client_of(uint8_t number, uint8_t address[16])
{
	static const uint8_t ipv6[16] = { 0x20, 1, 0x0d, 0xb8 };
	int is_ipv6 = number & 1, far = number >> 1 & 7;

	memset(address, 0, 16);
	if (is_ipv6) {
		memcpy(address, ipv6, sizeof(ipv6));
		address[15 - far * 2] = 1;
	} else {
		memcpy(address, "\300\0\2\1", 4);
		address[3] = (uint8_t)(number >> 4 & 1);
		address[2] = (uint8_t)(far * 5);
	}
	return is_ipv6 ? AF_INET6 : AF_INET;
}

/* The load of the fullest prefix with this answer; above 1 it is over its limit. */
static double judge(const uint8_t address[16], int is_ipv6, double cost, uint64_t now_ms,
		    struct model *out[RRL_PREFIXES])
{
	int n = is_ipv6 ? RRL_PREFIXES : RRL_PREFIXES_V4;
	double fullest = 0;

	for (int i = 0; i < n; i++) {
		struct model *m = find(address, is_ipv6, (is_ipv6 ? bits_v6 : bits_v4)[i], now_ms);

		m->load *= pow(0.999, (double)(now_ms - m->at_ms));
		m->at_ms = now_ms;
		fullest = fmax(fullest, m->load + cost / (is_ipv6 ? weights_v6 : weights_v4)[i]);
		out[i] = m;
	}
	return fullest;
}

static void check_loads(void)
{
	for (uint32_t i = 0; i < VOLLEY_RRL_LINES; i++)
		for (unsigned int way = 0; way < VOLLEY_RRL_WAYS; way++)
			must((uint32_t)loads[i].slots[way] <= VOLLEY_RRL_FULL,
			     "a load above its limit");
}

static int set_up(const uint8_t *data)
{
	const struct limiter_config config = {
		.answers = (uint32_t)data[0] | (uint32_t)data[1] << 8 |
			   (uint32_t)(data[2] & 15) << 16,
		.octets = (uint32_t)data[3] | (uint32_t)data[4] << 8 | (uint32_t)data[5] << 16,
		.slip = data[6],
		.dry_run = data[7] & 1,
		.n_readers = 1u + (data[7] >> 1),
	};

	memset(&rrl, 0, sizeof(rrl));
	memset(loads, 0, sizeof(loads));
	memset(&near_, 0, sizeof(near_));
	n_models = 0;
	for (uint64_t i = 0; i < 4; i++)
		rrl.keys[i] = 0x0123456789abcdefull * (2 * i + 1);
	if (limiter_configure(&rrl, &config))
		return -1;
	rrl.near_cost = 0;
	return config.answers || config.octets;
}

static void step(const uint8_t *data, uint64_t *now_ms, int is_on)
{
	const struct limiter limiter = { &rrl, loads };
	struct model *prefixes[RRL_PREFIXES];
	uint8_t address[16];
	struct limiter_answer a = { .client = address, .octets = data[1] * 8u };
	enum limiter_verdict verdict;
	double cost, fullest;
	int is_ipv6, is_over;

	*now_ms += data[2] & 1 ? (uint32_t)(data[2] >> 1) << (data[3] & 3) : 0;
	*now_ms += data[3] == 0xff ? WRAP_MS : 0;
	a.family = client_of(data[0], address);
	a.now_ms = *now_ms;
	a.now_s = (uint32_t)(*now_ms / 1000);
	a.net_id = (uint16_t)(data[2] << 8 | data[3]);
	verdict = limiter_judge(&limiter, &near_, &a);
	if (!is_on) {
		must(verdict == LIMITER_GIVEN, "limited without a limit");
		return;
	}
	is_ipv6 = a.family == AF_INET6;
	is_over = verdict != LIMITER_GIVEN;
	cost = (double)rrl_cost(&rrl, a.octets) / VOLLEY_RRL_FULL;
	fullest = judge(address, is_ipv6, cost, *now_ms, prefixes);
	must(!is_over || fullest > 1 - SURE, "limited, but there was room");
	must(is_over || fullest < 1 + SURE, "given, but there was no room");
	for (int i = 0; !is_over && i < (is_ipv6 ? RRL_PREFIXES : RRL_PREFIXES_V4); i++)
		prefixes[i]->load =
			fmin(1, prefixes[i]->load + cost / (is_ipv6 ? weights_v6 : weights_v4)[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t now_ms = START_MS;
	int is_on;

	if (size < HEAD_BYTES)
		return 0;
	is_on = set_up(data);
	if (is_on < 0)
		return 0;
	data += HEAD_BYTES;
	size -= HEAD_BYTES;
	for (size_t i = 0; i < STEPS_MAX && (i + 1) * STEP_BYTES <= size; i++)
		step(data + i * STEP_BYTES, &now_ms, is_on);
	check_loads();
	return 0;
}
