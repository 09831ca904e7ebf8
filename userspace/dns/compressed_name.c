/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dns/name.h"

#include <string.h>

#include "base/err.h"
#include "base/wire.h"

int name_follow(uint8_t dst[static NAME_FOLDED_BYTES], const uint8_t *msg, size_t len, size_t at,
		size_t *end)
{
	size_t run_at = at, run_end = len, n = 0;

	*end = 0;
	while (at < run_end) {
		uint8_t label = msg[at];

		if (label >= DNS_POINTER_BITS) {
			if (run_end - at < 2)
				return ERR_SHORT;
			if (!*end)
				*end = at + 2;
			at = wire_load_be16(msg + at) & DNS_POINTER_MAX;
			if (at < DNS_HEADER_BYTES)
				return ERR_NAME;
			run_end = run_at;
			run_at = at;
			continue;
		}
		if (label > DNS_LABEL_MAX)
			return ERR_NAME;
		if (n + 1u + label > DNS_NAME_MAX)
			return ERR_NAME_LONG;
		if (label >= run_end - at)
			break;
		memcpy(dst + n, msg + at, 1u + label);
		n += 1u + label;
		at += 1u + label;
		if (label)
			continue;
		if (!*end)
			*end = at;
		return (int)n;
	}
	return *end ? ERR_NAME : ERR_SHORT;
}
