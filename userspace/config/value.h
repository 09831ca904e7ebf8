/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads one configuration value: the text of a scalar, by the type of its key (config/words.h).
 *
 * The readers are strict: they accept no white space, sign or trailing text, and no number wraps.
 * Pure; any thread. All return 0; or -EINVAL if the text does not have the key's type, or -ERANGE
 * if it is out of bounds, and then *out has not changed. words_accepts() has the sentence for the
 * operator.
 */
#ifndef VOLLEY_CONFIG_VALUE_H
#define VOLLEY_CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/words.h"

struct config_addr;
struct config_prefix;

/*
 * Reads types that are stored as a number: COUNT, PORT, AUTO_COUNT (auto: 0), POWER, BUDGET, SIZE
 * (octets), SECONDS, MS, BOOL (0 or 1), CHOICE (.min for the first choice, and so on), MODE
 * (permission bits), and one item of CORES or CHOICES.
 */
int value_read_number(const struct words_key *key, const char *text, uint64_t *out)
	__attribute__((warn_unused_result));

/*
 * Reads ADDRESS or ADDRESS@PORT; `port` is the default. -ERANGE for port 0, multicast, the IPv4
 * broadcast address, and IPv4-mapped IPv6 addresses (RFC 4291 section 2.5.5.2), since no service
 * can be bound to them. A link-local IPv6 address may have its interface: "fe80::1%eth0@53"
 * (port/addr.h). If this host does not have that interface, scope_id is 0.
 */
int value_read_addr(const char *text, uint16_t port, struct config_addr *out)
	__attribute__((warn_unused_result));

/*
 * Reads the address of ADDRESS, ADDRESS@PORT or ADDRESS@PORT#NAME; port 53 by default. Also
 * -ENOMEM.
 */
int value_read_upstream(const char *text, struct config_addr *out)
	__attribute__((warn_unused_result));

/*
 * Reads ADDRESS/LENGTH, or ADDRESS alone for all its bits. -ERANGE for bits that are set after the
 * prefix, which are a mistake, and for IPv4-mapped IPv6 addresses, which no client has.
 */
int value_read_prefix(const char *text, struct config_prefix *out)
	__attribute__((warn_unused_result));

/*
 * If a text that was refused begins with an IPv4-mapped address, writes it with the IPv4 address in
 * its place into out, which has VALUE_IPV4_CAP octets: "::ffff:192.0.2.0/120" is "192.0.2.0/24".
 * False: it does not.
 */
#define VALUE_IPV4_CAP 64
bool value_ipv4_of(const char *text, char *out);

/* As value_read_prefix(), also for IPv4-mapped addresses: records may have these. */
int value_read_any_prefix(const char *text, struct config_prefix *out)
	__attribute__((warn_unused_result));

/*
 * Reads a domain name in presentation form and writes it in the form for comparisons: lower case,
 * absolute, each escape in one form ("EXAMPLE.com" is "example.com."). *out is a new string, to be
 * freed with free(). -ENOMEM is possible.
 */
int value_read_domain(const char *text, char **out) __attribute__((warn_unused_result));

/*
 * Reads the octets of a text, or of hexadecimal digits after 0x. *N is their number, MIN to MAX;
 * BYTES, unless NULL, has room for MAX. -EINVAL, -ERANGE.
 */
int value_read_octets(const char *text, size_t min, size_t max, uint8_t *bytes, size_t *n)
	__attribute__((warn_unused_result));

/*
 * Reads base64 (RFC 4648 section 4, with its padding) of min to max octets. *N is their number.
 * BYTES has room for MAX, and may be half written after an error.
 */
int value_read_base64(const char *text, size_t min, size_t max, uint8_t *bytes, size_t *n)
	__attribute__((warn_unused_result));

/* 0 if the text is min to max letters, digits, dots, hyphens and underscores. */
int value_check_name(const char *text, size_t min, size_t max) __attribute__((warn_unused_result));

/* 0 if the kernel could have an interface of that name (dev_valid_name() in the kernel). */
int value_check_interface(const char *text) __attribute__((warn_unused_result));

#endif
