/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rights of a client of the control socket, by the user and the groups of its process:
 *
 *	CTL_HEALTH   everyone who reaches the socket
 *	CTL_READS    control.read; without that key everyone who reaches the socket
 *	CTL_CHANGES  control.change
 *	CTL_OWNS     root, and the user of the daemon
 *
 * Each right includes those above it. The kernel tells user and groups as they were when the client
 * connected (SO_PEERCRED, SO_PEERGROUPS; unix(7)), so the supplementary groups of the process
 * count, and no list of the members of a group is read. Names are looked up when a configuration is
 * put in place. A name that the host does not have gives rights to nobody.
 */
#ifndef VOLLEY_CONTROL_RIGHTS_H
#define VOLLEY_CONTROL_RIGHTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "config/config.h"
#include "control/ctl_command.h"

struct rights_ids {
	uid_t *users;
	gid_t *groups;
	size_t n_users, n_groups;
};

struct rights {
	bool is_limited; /* control.read is given */
	struct rights_ids read, change;
	char problem[512]; /* a sentence about names that the host does not have; "": there are none */
};

struct rights_peer {
	struct ucred id;
	bool is_owner; /* it is root, or the daemon's user */
	gid_t *groups; /* supplementary */
	size_t n_groups;
};

/*
 * Looks up the names in the configuration. 0 or -ENOMEM, and then there are none. rights_fini()
 * frees the lists. May read the host's databases of users (nsswitch.conf(5)).
 */
int rights_read(struct rights *rights, const struct config *config)
	__attribute__((warn_unused_result));
void rights_fini(struct rights *rights);

/*
 * Reads who is at the other end of FD. 0 or -errno: the peer is not known. rights_peer_fini() frees
 * its groups.
 */
int rights_peer_read(struct rights_peer *peer, int fd) __attribute__((warn_unused_result));
void rights_peer_fini(struct rights_peer *peer);

/* The greatest right of the peer. Pure. */
enum ctl_kind rights_of(const struct rights *rights, const struct rights_peer *peer);

/* A sentence that says who may run a command of this kind. Static. */
const char *rights_refusal(enum ctl_kind kind);

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

/* In TEXT, in place: all between the first and the last ' behind a place, ":NUMBER: ". Pure. */
void quoted_hide_text(char *text);

/* In all strings of VALUE. 0 or -ENOMEM. */
int quoted_hide(json_t *value) __attribute__((warn_unused_result));

#endif
