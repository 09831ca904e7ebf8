/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "limits/limiter.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "limits/clients.h"
#include "xdp/rrl.h"

#define LEFT_PER_MS 0.999L /* of a load after 1 ms: a limit is regained in about 1 s */
#define NEAR_SHARE  2      /* all first stages together hold back so small a part of a limit */

/* decay[i][n]: the rest of 2^32 after n times 1, 32 and 1024 ms. */
static void fill_decay(struct volley_rrl *rrl)
{
	long double step = LEFT_PER_MS;

	for (int i = 0; i < 3; i++) {
		long double left = 1;

		rrl->decay[i][0] = UINT32_MAX;
		for (int n = 1; n < 32; n++) {
			left *= step;
			rrl->decay[i][n] = (uint32_t)(left * 4294967296.0L + 0.5L);
		}
		step = left * step;
	}
}

static int make_limiter_keys(struct volley_rrl *rrl)
{
	uint64_t keys[4];

	if (rrl->keys[0] | rrl->keys[1] | rrl->keys[2] | rrl->keys[3])
		return 0;
	if (getrandom(keys, sizeof(keys), 0) != sizeof(keys))
		return -errno;
	memcpy(rrl->keys, keys, sizeof(keys));
	return 0;
}

/*
 * The cost that one first stage may hold back: its part of a share of the limit, but at least one
 * answer. With less, each client that asks would need a look-up in the table. So with many readers,
 * a prefix whose queries are spread over all of them may get up to twice its limit before the table
 * notices it; from then on it is counted exactly.
 */
static uint64_t near_cost(uint32_t answer_cost, unsigned int n_readers)
{
	uint64_t cost = (VOLLEY_RRL_FULL / NEAR_SHARE) * (1ull << RRL_PERIOD_BITS) / 1000;

	cost /= n_readers;
	return cost > answer_cost ? cost : answer_cost;
}

static void store(uint32_t *to, uint32_t value)
{
	__atomic_store_n(to, value, __ATOMIC_RELEASE);
}

int limiter_configure(struct volley_rrl *rrl, const struct limiter_config *config)
{
	const bool is_on = config->answers || config->octets;
	uint32_t answer_cost = config->answers ? VOLLEY_RRL_FULL / config->answers : is_on;
	int err;

	if (config->answers > LIMITER_ANSWERS_MAX || config->octets > LIMITER_OCTETS_MAX ||
	    !config->n_readers)
		return -EINVAL;
	err = make_limiter_keys(rrl);
	if (err)
		return err;
	if (!rrl->decay[0][0])
		fill_decay(rrl);
	store(&rrl->octet_cost, config->octets ? VOLLEY_RRL_FULL / config->octets : 0);
	store(&rrl->slip, config->slip);
	rrl->dry_run = config->dry_run;
	rrl->has_exempt = config->has_exempt;
	rrl->near_cost = near_cost(answer_cost, config->n_readers);
	store(&rrl->answer_cost, answer_cost);
	return 0;
}

/* The client's address in the form of the table. */
static void client_of_limiter(struct rrl_client *client, const struct limiter_answer *answer)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	uint8_t address[16];

	if (answer->family == AF_INET) {
		memcpy(address, mapped, sizeof(mapped));
		memcpy(address + 12, answer->client, 4);
	} else {
		memcpy(address, answer->client, 16);
	}
	memcpy(client->address, address, sizeof(address));
	client->is_ipv6 = memcmp(address, mapped, sizeof(mapped)) != 0;
}

static uint64_t near_prefix(const struct rrl_client *client)
{
	if (client->is_ipv6)
		return rrl_near_prefix_ipv6(client->address[0]);
	return rrl_near_prefix_ipv4((uint32_t)(client->address[1] >> 32));
}

static bool is_exempt(const struct limiter_answer *answer)
{
	return answer->clients && clients_views(answer->clients, answer->family, answer->client) &
					  VOLLEY_CLIENT_EXEMPT;
}

enum limiter_verdict limiter_judge(const struct limiter *limiter, struct volley_near *near,
				   const struct limiter_answer *answer)
{
	struct volley_try tries[RRL_PREFIXES] = { 0 };
	struct volley_rrl *rrl = limiter->rrl;
	struct rrl_client client;
	enum rrl_verdict verdict;
	uint64_t cost, carry;
	uint64_t now_ms;
	int over;

	if (!__atomic_load_n(&rrl->answer_cost, __ATOMIC_ACQUIRE))
		return LIMITER_GIVEN;
	if (answer->is_exempt)
		return LIMITER_EXEMPT;
	client_of_limiter(&client, answer);
	now_ms = answer->now_ms + rrl->ahead_ms;
	cost = rrl_cost(rrl, answer->octets);
	carry = rrl_near(near, rrl, near_prefix(&client), now_ms, cost);
	if (!carry)
		return LIMITER_GIVEN;
	if (rrl->has_exempt && is_exempt(answer))
		return LIMITER_EXEMPT;
	over = rrl_charge(tries, limiter->loads, rrl, &client, now_ms, cost, carry);
	if (over < 0)
		return LIMITER_GIVEN;
	verdict = rrl_slip(rrl, &client, answer->net_id, now_ms);
	rrl_list(rrl, &client, over, verdict, answer->now_s);
	if (rrl->dry_run)
		return LIMITER_DRY;
	return verdict == RRL_SLIPS ? LIMITER_SLIPS : LIMITER_DROPPED;
}
