/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/rights.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENTRY_BYTES_MAX (4u << 20) /* of one user or group, with its members */
#define GROUPS_CAP      32         /* of a peer, at first */

/* --- Names ------------------------------------------------------------------------------------ */

/* True if TEXT is a number. The last one, (uid_t)-1, is no user. */
static bool read_rights_number(const char *text, id_t *id)
{
	char *end;
	unsigned long value;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	*id = (id_t)value;
	return !*end && !errno && value < UINT32_MAX;
}

/* One call of getpwnam_r() or getgrnam_r(). */
static int look_up_once(const char *name, bool is_group, char *room, size_t cap, id_t *id)
{
	struct passwd user, *found_user = NULL;
	struct group group, *found_group = NULL;
	int err = is_group ? getgrnam_r(name, &group, room, cap, &found_group) :
			     getpwnam_r(name, &user, room, cap, &found_user);

	if (found_group)
		*id = found_group->gr_gid;
	else if (found_user)
		*id = found_user->pw_uid;
	else
		return err == ERANGE ? -ERANGE : -ENOENT;
	return 0;
}

/* 0, -ENOENT or -ENOMEM. */
static int look_up_rights(const char *name, bool is_group, id_t *id)
{
	int err = -ERANGE;

	if (read_rights_number(name, id))
		return 0;
	for (size_t cap = 4096; err == -ERANGE && cap <= ENTRY_BYTES_MAX; cap *= 4) {
		char *room = malloc(cap);

		if (!room)
			return -ENOMEM;
		err = look_up_once(name, is_group, room, cap, id);
		free(room);
	}
	return err == -ERANGE ? -ENOENT : err;
}

/* Begins the sentence, or adds the name to it. */
static void note_unknown(struct rights *rights, const char *key, const char *text)
{
	size_t used = strlen(rights->problem);

	if (used)
		snprintf(rights->problem + used, sizeof(rights->problem) - used, ", %s: %s", key,
			 text);
	else
		snprintf(rights->problem, sizeof(rights->problem),
			 "this host does not have these users or groups, so they have no rights "
			 "at the control socket: %s: %s",
			 key, text);
}

static int read_rights_list(struct rights *rights, struct rights_ids *ids, const char *key,
			    char **texts)
{
	size_t n = 0;

	while (texts && texts[n])
		n++;
	ids->users = calloc(n + 1, sizeof(*ids->users));
	ids->groups = calloc(n + 1, sizeof(*ids->groups));
	if (!ids->users || !ids->groups)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		bool is_group = !strncmp(texts[i], CONFIG_GROUP, strlen(CONFIG_GROUP));
		id_t id;
		int err = look_up_rights(texts[i] + (is_group ? strlen(CONFIG_GROUP) : 0), is_group,
					 &id);

		if (err == -ENOMEM)
			return err;
		if (err)
			note_unknown(rights, key, texts[i]);
		else if (is_group)
			ids->groups[ids->n_groups++] = id;
		else
			ids->users[ids->n_users++] = id;
	}
	return 0;
}

int rights_read(struct rights *rights, const struct config *config)
{
	int err;

	*rights = (struct rights){ .is_limited = config->control_read != NULL };
	err = read_rights_list(rights, &rights->read, "control.read", config->control_read);
	if (!err)
		err = read_rights_list(rights, &rights->change, "control.change",
				       config->control_change);
	if (err)
		rights_fini(rights);
	return err;
}

void rights_fini(struct rights *rights)
{
	free(rights->read.users);
	free(rights->read.groups);
	free(rights->change.users);
	free(rights->change.groups);
	*rights = (struct rights){ 0 };
}

/* --- Peers ------------------------------------------------------------------------------------ */

static int read_groups(struct rights_peer *peer, int fd)
{
	socklen_t len = GROUPS_CAP * sizeof(gid_t);
	int err = 0;

	/* If there is no room, the kernel says how much is needed. */
	for (int i = 0; i < 2; i++) {
		peer->groups = malloc(len ? len : sizeof(gid_t));
		if (!peer->groups)
			return -ENOMEM;
		err = getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, peer->groups, &len) ? -errno : 0;
		if (err != -ERANGE)
			break;
		rights_peer_fini(peer);
	}
	peer->n_groups = err ? 0 : len / sizeof(gid_t);
	return err == -ENODATA ? 0 : err;
}

int rights_peer_read(struct rights_peer *peer, int fd)
{
	socklen_t len = sizeof(peer->id);
	int err;

	*peer = (struct rights_peer){ .id = { .uid = (uid_t)-1, .gid = (gid_t)-1 } };
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer->id, &len))
		return -errno;
	peer->is_owner = peer->id.uid == 0 || peer->id.uid == geteuid();
	err = read_groups(peer, fd);
	if (err)
		rights_peer_fini(peer);
	return err;
}

void rights_peer_fini(struct rights_peer *peer)
{
	free(peer->groups);
	peer->groups = NULL;
	peer->n_groups = 0;
}

/* --- Rights ----------------------------------------------------------------------------------- */

static bool is_rights_member(const struct rights_peer *peer, gid_t group)
{
	if (peer->id.gid == group)
		return true;
	for (size_t i = 0; i < peer->n_groups; i++)
		if (peer->groups[i] == group)
			return true;
	return false;
}

static bool has_peer(const struct rights_ids *ids, const struct rights_peer *peer)
{
	for (size_t i = 0; i < ids->n_users; i++)
		if (ids->users[i] == peer->id.uid)
			return true;
	for (size_t i = 0; i < ids->n_groups; i++)
		if (is_rights_member(peer, ids->groups[i]))
			return true;
	return false;
}

enum ctl_kind rights_of(const struct rights *rights, const struct rights_peer *peer)
{
	if (peer->is_owner)
		return CTL_OWNS;
	if (has_peer(&rights->change, peer))
		return CTL_CHANGES;
	return !rights->is_limited || has_peer(&rights->read, peer) ? CTL_READS : CTL_HEALTH;
}

const char *rights_refusal(enum ctl_kind kind)
{
	switch (kind) {
	case CTL_OWNS:
		return "only root and the user of volleyd may do this";
	case CTL_CHANGES:
		return "this needs the right to change: only root, the user of volleyd, and the "
		       "users and groups of control.change in volley.yaml have it";
	default:
		return "this needs the right to read: only root, the user of volleyd, and the "
		       "users and groups of control.read and control.change in volley.yaml have it";
	}
}
