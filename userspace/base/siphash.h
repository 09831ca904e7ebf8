/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SipHash-2-4 with a 64-bit result (Aumasson and Bernstein, 2012): a short keyed hash for DNS
 * cookies (RFC 9018 section 4.4). Pure; any thread. */
#ifndef VOLLEY_BASE_SIPHASH_H
#define VOLLEY_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define SIPHASH_KEY_BYTES 16

/* The hash of n_bytes at data as a number; as a byte string, it is in little-endian order. */
uint64_t siphash24(const uint8_t key[SIPHASH_KEY_BYTES], const void *data, size_t n_bytes);

#endif
