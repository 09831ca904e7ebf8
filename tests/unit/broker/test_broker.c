/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests in work. */
#include "broker/serve.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/log.h"
#include "bpf/hook_state.h"

/* The reply to a request that changed the program is lost: the daemon's number is an old one. */
static void test_another_program(void **state)
{
	struct hook hook = { .ifname = "lo", .ifindex = 1, .id = 5 };
	struct broker_serve serve = { .at[3] = { .ifname = "lo", .hook = &hook } };
	struct broker_request request = { .operation = BROKER_IS_ATTACHED,
					  .number = 1,
					  .log_level = LOG_LEVEL_INFO,
					  .ifname = "lo" };
	struct broker_reply reply;
	struct broker_fds none, out;

	(void)state;
	broker_fds_init(&none);
	for (request.program_id = 4; request.program_id < 7; request.program_id++) {
		broker_serve(&serve, BROKER_CHANNEL_HOOK, &request, &none, &reply, &out);
		assert_int_equal(reply.code, request.program_id == 5 ? 0 : -ENOENT);
		assert_int_equal(reply.facts.id, request.program_id == 5 ? 5 : 0);
		assert_int_equal(broker_fds_mask(&out), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_another_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
