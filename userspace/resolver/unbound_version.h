/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is the libunbound that runs one that strangers can harm?
 *
 * This header is the one place that has the oldest sound version and the reason. Whoever finds a
 * fault of libunbound that concerns Volley raises the version here, and adds a row to
 * docs/libraries.md. Log, status, doctor and metrics follow.
 *
 * A distribution may mend faults and keep the number. libunbound does not report that, so a warning
 * about the number says where to look.
 */
#ifndef VOLLEY_RESOLVER_UNBOUND_VERSION_H
#define VOLLEY_RESOLVER_UNBOUND_VERSION_H

#include <stdbool.h>

/*
 * 1.26.2 (October 2026) has all fixes of 2026. context.c avoids some of the faults of older
 * versions. It cannot avoid these three, which 1.17.1, that of Debian 12, has.
 */
#define UNBOUND_VERSION_SOUND "1.26.2"
#define UNBOUND_VERSION_REASON                                                                 \
	"a hostile zone can end the resolver's process, perhaps run code in it "               \
	"(CVE-2026-33278), put false "                                                         \
	"records into its cache (CVE-2026-42960), and live on after its delegation has ended " \
	"(CVE-2026-40622)"
/* The shared library that volley-resolver is linked with. */
#define UNBOUND_VERSION_LIBRARY "libunbound.so.8"

/*
 * True if VERSION ("1.26.2", as from ub_version()) is UNBOUND_VERSION_SOUND or later. A candidate
 * ("1.26.2rc1") counts as the release. False if the text does not begin with two numbers. Pure.
 */
bool unbound_version_is_sound(const char *version);

#endif
