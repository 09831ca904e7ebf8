/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who has which right at the control socket: by user, by group, by supplementary group. */
#include "control/rights.h"

#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/config.h"

#define LIST(...) ((char *[]){ __VA_ARGS__, NULL })

static const struct {
	const char *name;
	char **read, **change; /* NULL: the key is absent */
	uid_t uid;
	gid_t gid, supplementary; /* 0: no supplementary group */
	enum ctl_kind kind;
} rows[] = {
	{ "no keys: all who come may read", NULL, NULL, 4001, 4001, 0, CTL_READS },
	{ "root", LIST("root"), NULL, 0, 4001, 0, CTL_OWNS },
	{ "a reader by number", LIST("4001"), NULL, 4001, 4002, 0, CTL_READS },
	{ "not a reader", LIST("4001"), NULL, 4002, 4002, 0, CTL_HEALTH },
	{ "a group's number is no user's", LIST("group:4001"), NULL, 4001, 4002, 0, CTL_HEALTH },
	{ "a user's number is no group's", LIST("4001"), NULL, 4002, 4001, 4001, CTL_HEALTH },
	{ "a reader by group", LIST("group:4001"), NULL, 4002, 4001, 0, CTL_READS },
	{ "a reader by supplementary group", LIST("group:4003"), NULL, 4002, 4001, 4003,
	  CTL_READS },
	{ "one who changes reads, too", LIST("root"), LIST("4001"), 4001, 4001, 0, CTL_CHANGES },
	{ "one who changes, by the second group", NULL, LIST("9", "group:8", "group:4003"), 4001,
	  4001, 4003, CTL_CHANGES },
	{ "reading is not changing", LIST("4001"), LIST("4002"), 4001, 4001, 0, CTL_READS },
	{ "by name", NULL, LIST("daemon"), 1, 1, 0, CTL_CHANGES },
	{ "by the name of a group", NULL, LIST("group:daemon"), 4001, 4001, 1, CTL_CHANGES },
	{ "an unknown name is nobody", LIST("root"), LIST("no-such-user", "group:no-such-group"),
	  4001, 4001, 0, CTL_HEALTH },
	{ "the last number is no user", NULL, LIST("4294967295"), (uid_t)-1, (gid_t)-1, 0,
	  CTL_READS },
};

static void test_rights(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct config config = { .control_read = rows[i].read,
					 .control_change = rows[i].change };
		gid_t groups[] = { 77, rows[i].supplementary };
		struct rights_peer peer = { .id = { .uid = rows[i].uid, .gid = rows[i].gid },
					    .is_owner = !rows[i].uid,
					    .groups = groups,
					    .n_groups = rows[i].supplementary ? 2 : 0 };
		struct rights rights;
		enum ctl_kind kind;

		assert_int_equal(rights_read(&rights, &config), 0);
		kind = rights_of(&rights, &peer);
		if (kind != rows[i].kind)
			fail_msg("%s: %d, not %d", rows[i].name, (int)kind, (int)rows[i].kind);
		rights_fini(&rights);
	}
}

static void test_unknown_names_are_told(void **state)
{
	char *read[] = { "no-such-user", NULL },
	     *change[] = { "root", "group:no-such-group", NULL };
	struct config config = { .control_read = read, .control_change = change };
	struct rights rights;

	(void)state;
	assert_int_equal(rights_read(&rights, &config), 0);
	assert_non_null(strstr(rights.problem, "control.read: no-such-user, "
					       "control.change: group:no-such-group"));
	rights_fini(&rights);
	config.control_read = NULL;
	change[1] = NULL;
	assert_int_equal(rights_read(&rights, &config), 0);
	assert_string_equal(rights.problem, "");
	rights_fini(&rights);
}

/* Becomes another user with more groups than rights.c expects, and makes the pair. */
static int make_pair_as(int ends[2], uid_t uid, size_t n_groups)
{
	gid_t groups[100];

	for (size_t i = 0; i < n_groups; i++)
		groups[i] = (gid_t)(5000 + i);
	return setgroups(n_groups, groups) || setresgid(4002, 4002, 4002) ||
	       setresuid(uid, uid, uid) || socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
}

static void test_peers(void **state)
{
	static const size_t counts[] = { 0, 1, 32, 33, 100 };

	(void)state;
	if (getuid())
		skip();
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct rights_peer peer;
		int status, ends[2];
		pid_t child = fork();

		if (!child) {
			status = make_pair_as(ends, 4001, counts[i]) ||
				 rights_peer_read(&peer, ends[0]) || peer.id.uid != 4001 ||
				 peer.id.gid != 4002 || peer.n_groups != counts[i] ||
				 (counts[i] && peer.groups[counts[i] - 1] != 4999 + counts[i]) ||
				 !peer.is_owner; /* the daemon's user is the child's, too */
			_exit(status);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rights),
		cmocka_unit_test(test_unknown_names_are_told),
		cmocka_unit_test(test_peers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
