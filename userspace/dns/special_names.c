/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dns/name.h"

#include <stddef.h>

#define IN4(octets) octets ".in-addr.arpa."
#define IN6(digits) digits ".ip6.arpa."
#define ZEROS_16    "0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0"
#define ZEROS_15    "0.0.0.0.0.0.0.0.0.0.0.0.0.0.0"

#define TEN(tens, rest)                                                                         \
	IN4(#tens "0." rest), IN4(#tens "1." rest), IN4(#tens "2." rest), IN4(#tens "3." rest), \
		IN4(#tens "4." rest), IN4(#tens "5." rest), IN4(#tens "6." rest),               \
		IN4(#tens "7." rest), IN4(#tens "8." rest), IN4(#tens "9." rest)

const char *const special_names[] = {
	"localhost.",
	"invalid.",
	"test.",
	"onion.",
	"home.arpa.",
	"resolver.arpa.",
	"service.arpa.",

	/* RFC 1918 */
	IN4("10"),
	IN4("16.172"),
	IN4("17.172"),
	IN4("18.172"),
	IN4("19.172"),
	TEN(2, "172"),
	IN4("30.172"),
	IN4("31.172"),
	IN4("168.192"),

	/* RFC 6598: 100.64.0.0/10 */
	IN4("64.100"),
	IN4("65.100"),
	IN4("66.100"),
	IN4("67.100"),
	IN4("68.100"),
	IN4("69.100"),
	TEN(7, "100"),
	TEN(8, "100"),
	TEN(9, "100"),
	TEN(10, "100"),
	TEN(11, "100"),
	IN4("120.100"),
	IN4("121.100"),
	IN4("122.100"),
	IN4("123.100"),
	IN4("124.100"),
	IN4("125.100"),
	IN4("126.100"),
	IN4("127.100"),

	/* RFC 6303 sections 4.2 to 4.6 */
	IN4("0"),
	IN4("127"),
	IN4("254.169"),
	IN4("2.0.192"),
	IN4("100.51.198"),
	IN4("113.0.203"),
	IN4("255.255.255.255"),
	IN6("0." ZEROS_15 "." ZEROS_16),
	IN6("1." ZEROS_15 "." ZEROS_16),
	IN6("d.f"),
	IN6("8.e.f"),
	IN6("9.e.f"),
	IN6("a.e.f"),
	IN6("b.e.f"),
	IN6("8.b.d.0.1.0.0.2"),
	NULL,
};

_Static_assert(sizeof(special_names) / sizeof(special_names[0]) == SPECIAL_NAMES_N + 1,
	       "as the header says");
