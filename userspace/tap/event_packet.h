/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The packets of an event over UDP. IP and UDP headers are rebuilt, because driver and ports keep
 * only addresses, ports and messages. Pure; any thread. */
#ifndef VOLLEY_TAP_EVENT_PACKET_H
#define VOLLEY_TAP_EVENT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tap/event.h"

#define TAP_PACKET_HEADERS_MAX 48u /* IPv6 and UDP */

/*
 * The IP packet of the event's query or reply, in at most cap octets, with correct checksums (RFC
 * 791, RFC 8200, RFC 768): TTL or hop limit 64, ID 0, DF. Returns its length; 0: the event is not
 * UDP, does not have the message, or there is no room.
 */
size_t tap_packet_make(uint8_t *out, size_t cap, const struct tap_event *e, bool is_reply);

#endif
