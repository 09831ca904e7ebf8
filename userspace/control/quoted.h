/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hides the words that a sentence quotes from a file:
 *
 *	"zone a.test.: /srv/a.zone:7: 'secret' is not a TTL"
 *	"zone a.test.: /srv/a.zone:7: '...' is not a TTL"
 *
 * The daemon may read files that the client of the control socket cannot read. A file that is named
 * in the configuration, and lies in a folder of somebody else, may be a symbolic link to such a
 * file. So a client gets the place and the kind of a mistake. Root, the daemon's user and the log
 * get the words, too.
 */
#ifndef VOLLEY_CONTROL_QUOTED_H
#define VOLLEY_CONTROL_QUOTED_H

#include <jansson.h>

/* In TEXT, in place: all between the first and the last ' behind a place, ":NUMBER: ". Pure. */
void quoted_hide_text(char *text);

/* In all strings of VALUE. 0 or -ENOMEM. */
int quoted_hide(json_t *value) __attribute__((warn_unused_result));

#endif
