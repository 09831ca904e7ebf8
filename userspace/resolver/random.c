/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/random.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

void random_init(struct random *r)
{
	r->at = RANDOM_BLOCK_BYTES;
}

static void refill_random(struct random *r)
{
	size_t n_bytes = 0;

	while (n_bytes < RANDOM_BLOCK_BYTES) {
		ssize_t n = getrandom(r->bytes + n_bytes, RANDOM_BLOCK_BYTES - n_bytes, 0);

		/* After the start of the machine only a signal can interrupt getrandom(). */
		assert(n > 0 || errno == EINTR);
		if (n > 0)
			n_bytes += (size_t)n;
	}
	r->at = 0;
}

static void take_random(struct random *r, void *out, uint32_t n_bytes)
{
	if (n_bytes > RANDOM_BLOCK_BYTES - r->at)
		refill_random(r);
	memcpy(out, r->bytes + r->at, n_bytes);
	r->at += n_bytes;
}

uint16_t random_u16(struct random *r)
{
	uint16_t value;

	take_random(r, &value, sizeof(value));
	return value;
}

uint64_t random_u64(struct random *r)
{
	uint64_t value;

	take_random(r, &value, sizeof(value));
	return value;
}

uint32_t random_below(struct random *r, uint32_t n)
{
	uint32_t fair = 65536 / n * n; /* values from here on would favour small results */
	uint32_t value;

	do
		value = random_u16(r);
	while (value >= fair);
	return value % n;
}
