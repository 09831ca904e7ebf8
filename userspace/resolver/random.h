/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpredictable random numbers: the kernel's generator (getrandom(2)), read ahead in blocks, so
 * that most query IDs cost no system call. One thread.
 */
#ifndef VOLLEY_RESOLVER_RANDOM_H
#define VOLLEY_RESOLVER_RANDOM_H

#include <stdint.h>

#define RANDOM_BLOCK_BYTES 2048

struct random {
	uint32_t at; /* of the next unused octet */
	uint8_t bytes[RANDOM_BLOCK_BYTES];
};

void random_init(struct random *r);
uint16_t random_u16(struct random *r);
uint64_t random_u64(struct random *r);

/* Uniform from 0 to n - 1; n is 1 to 65536. */
uint32_t random_below(struct random *r, uint32_t n);

#endif
