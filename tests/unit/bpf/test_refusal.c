/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of the verifier's log that give its verdict, from old and new kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "bpf/refusal.h"

struct row {
	const char *name, *log, *words;
};

static const struct row rows[] = {
	{ "nothing", "", "" },
	{ "no verdict", "0: (bf) r6 = r1\n", "" },
	{ "6.1, a packet",
	  "; udp = data + offset;\n612: (0f) r1 += r2\n613: R0=scalar(id=4) "
	  "R1_w=pkt(id=5,off=2,r=0)\n"
	  "613: (69) r1 = *(u16 *)(r1 +2)\n"
	  "invalid access to packet, off=2 size=2, R1(id=5,off=2,r=0)\n"
	  "R1 offset is outside of the packet\n"
	  "processed 713 insns (limit 1000000) max_states_per_insn 1 total_states 30\n",
	  "invalid access to packet, off=2 size=2, R1(id=5,off=2,r=0); R1 offset is outside of the "
	  "packet" },
	{ "5.10, a helper",
	  "1204: (85) call unknown#189\ninvalid func unknown#189\n"
	  "processed 1100 insns (limit 1000000) max_states_per_insn 0 total_states 1 peak_states 1 "
	  "mark_read 1\n\n",
	  "invalid func unknown#189" },
	{ "registers before it",
	  "R1_w=pkt(off=0) R10=fp0\nR3 type=scalar expected=fp\nverification time 93 usec\n"
	  "stack depth 160\nprocessed 2 insns\n",
	  "R3 type=scalar expected=fp" },
	{ "5.10, registers before it",
	  " R0=inv(id=0) R10=fp0\nmath between pkt pointer and register with unbounded min value "
	  "is "
	  "not allowed\nprocessed 2 insns\n",
	  "math between pkt pointer and register with unbounded min value is not allowed" },
	{ "another branch",
	  "from 17 to 40: R0=1 R10=fp0\nThe sequence of 8193 jumps is too complex.\nprocessed 8 "
	  "insns\n",
	  "The sequence of 8193 jumps is too complex." },
	{ "no instructions",
	  "Extension program changes packet data, while original does not\nprocessed 0 insns\n",
	  "Extension program changes packet data, while original does not" },
	{ "too large",
	  "99: (bf) r1 = r2\nBPF program is too large. Processed 1000001 insn\nprocessed 1000001 "
	  "insns\n",
	  "BPF program is too large. Processed 1000001 insn" },
};

static void test_words(void **state)
{
	char words[REFUSAL_CAP];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		refusal_read_log(rows[i].log, words, sizeof(words));
		if (strcmp(words, rows[i].words) != 0)
			fail_msg("%s: \"%s\"", rows[i].name, words);
	}
}

static void test_words_that_are_too_long(void **state)
{
	char words[16];

	(void)state;
	refusal_read_log(rows[2].log, words, sizeof(words));
	assert_string_equal(words, "invalid access ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_words_that_are_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
