/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names in record data that may come compressed: those of RFC 1035, and of the types that RFC 3597
 * section 4 says a receiver takes so. In the data of all other types no name is compressed.
 */
#ifndef VOLLEY_ENGINE_RDNAMES_H
#define VOLLEY_ENGINE_RDNAMES_H

#include <stddef.h>
#include <stdint.h>

#include "engine/message.h"

/*
 * Writes the data with its names whole to out of cap octets; how many, 0: the type has no such
 * names, the data is what it should be as it lies in the message. ERR_RDATA: it does not fit its
 * type; ERR_SPACE.
 */
int rdnames_expand(const struct message *m, const struct message_record *record, uint8_t *out,
		   size_t cap) __attribute__((warn_unused_result));

#endif
