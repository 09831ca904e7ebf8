/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One configuration value: the text of a scalar read as what its key takes (config/words.h).
 *
 * The readers are strict: no white space, no sign, nothing left over, never a silent wrap. They are
 * pure, for any thread. All return 0, -EINVAL when the text is not of the key's kind, -ERANGE when
 * it is but its bounds are passed; *out is then untouched. The sentence for a person is
 * words_accepts().
 */
#ifndef VOLLEY_CONFIG_VALUE_H
#define VOLLEY_CONFIG_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "config/words.h"

struct config_addr;
struct config_prefix;

/*
 * Reads what is a number in the end: COUNT, PORT, AUTO_COUNT (auto: 0), POWER, BUDGET, SIZE
 * (octets), SECONDS, MS, BOOL (0 or 1), CHOICE (.min for the first choice, and so on), MODE
 * (permission bits), and one item of CORES or CHOICES.
 */
int value_read_number(const struct words_key *key, const char *text, uint64_t *out)
	__attribute__((warn_unused_result));

/*
 * Reads ADDRESS or ADDRESS@PORT, PORT when absent. Refused with -ERANGE: port 0, multicast, the
 * IPv4 broadcast address, and IPv4-mapped IPv6 addresses (RFC 4291 section 2.5.5.2), for no service
 * can be bound to them as such.
 */
int value_read_addr(const char *text, uint16_t port, struct config_addr *out)
	__attribute__((warn_unused_result));

/*
 * Reads the address of ADDRESS, ADDRESS@PORT or ADDRESS@PORT#NAME, port 53 when absent. -ENOMEM is
 * possible.
 */
int value_read_upstream(const char *text, struct config_addr *out)
	__attribute__((warn_unused_result));

/*
 * Reads ADDRESS/LENGTH, or ADDRESS alone for all its bits. Refused with -ERANGE: bits that are set
 * behind the prefix, since it is not what was meant, and IPv4-mapped IPv6 addresses, which no
 * client has.
 */
int value_read_prefix(const char *text, struct config_prefix *out)
	__attribute__((warn_unused_result));

/*
 * Reads a domain name in presentation form and writes it the way it is compared: lower case,
 * absolute, every escape in one form ("EXAMPLE.com" is "example.com."). *out is a new string,
 * free() it; -ENOMEM is possible.
 */
int value_read_domain(const char *text, char **out) __attribute__((warn_unused_result));

/*
 * Reads the octets of a text, or of the hexadecimal digits behind 0x. *N is how many, MIN to MAX;
 * BYTES, unless NULL, has room for MAX. -EINVAL, -ERANGE.
 */
int value_read_octets(const char *text, size_t min, size_t max, uint8_t *bytes, size_t *n)
	__attribute__((warn_unused_result));

/*
 * Reads exactly 2 * N hexadecimal digits into N bytes, the first digit the high half of bytes[0].
 */
int value_read_hex(const char *text, uint8_t *bytes, size_t n) __attribute__((warn_unused_result));

/*
 * Reads base64 (RFC 4648 section 4, with its padding) of min to max octets. *N is how many; BYTES
 * has room for MAX, and may be half written after an error.
 */
int value_read_base64(const char *text, size_t min, size_t max, uint8_t *bytes, size_t *n)
	__attribute__((warn_unused_result));

/* 0 if the text is min to max letters, digits, dots, hyphens and underscores. */
int value_check_name(const char *text, size_t min, size_t max) __attribute__((warn_unused_result));

/* 0 if the kernel could have an interface of that name (dev_valid_name() in the kernel). */
int value_check_interface(const char *text) __attribute__((warn_unused_result));

#endif
