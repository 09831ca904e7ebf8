/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chains that close, and such that do not. */
#include "zone/denial.h"
#include "zone_text.h"

/* The hash of "z." with the salt ab and one more iteration; and two others. */
#define H_Z "249l8gl6g54r3jqn7flmrj2ocv29i3fv"
#define H_1 "0123456789abcdefghijklmnopqrstuv"
#define H_2 "v123456789abcdefghijklmnopqrstuv"

#define PARAM           "@ NSEC3PARAM 1 0 1 ab\n"
#define N3(owner, next) owner " NSEC3 1 0 1 ab " next " A\n"

#define NSEC  "@ NSEC a.z. SOA\na A 192.0.2.1\na NSEC ns.z. A\nns NSEC z. A\n"
#define NSEC3 PARAM N3(H_1, H_Z) N3(H_Z, H_2) N3(H_2, H_1)

static const struct {
	const char *what, *a, *b;
	bool agree;
} rows[] = {
	{ "no chains", "", "a A 192.0.2.1\n", true },
	{ "NSEC", NSEC, NSEC, true },
	{ "NSEC, another zone", NSEC, "@ NSEC ns.z. SOA\nns NSEC z. A\n", true },
	{ "NSEC, one name", "@ NSEC ns.z. SOA\nns NSEC z. A\n", "@ NSEC NS.Z. SOA\nns NSEC Z. A\n",
	  true },
	{ "NSEC, an empty non-terminal",
	  "@ NSEC a.b.z. SOA\na.b A 192.0.2.1\na.b NSEC ns.z. A\nns NSEC z. A\n", NSEC, true },
	{ "NSEC, glue has none",
	  "@ NSEC b.z. SOA\nb NS a.b\nb NSEC ns.z. NS\na.b A 192.0.2.1\nns NSEC z. A\n", NSEC,
	  true },
	{ "NSEC, a cut without", NSEC "b NS ns.other.\n", NSEC, false },
	{ "NSEC, a name without", NSEC, NSEC "b A 192.0.2.1\n", false },
	{ "NSEC, leads past a name",
	  "@ NSEC ns.z. SOA\na A 192.0.2.1\na NSEC ns.z. A\nns NSEC z. A\n", NSEC, false },
	{ "NSEC, leads back too early",
	  "@ NSEC a.z. SOA\na A 192.0.2.1\na NSEC z. A\nns NSEC z. A\n", NSEC, false },
	{ "NSEC, does not lead back",
	  "@ NSEC a.z. SOA\na A 192.0.2.1\na NSEC ns.z. A\nns NSEC a.z. A\n", NSEC, false },
	{ "NSEC, two of them", NSEC "a NSEC b.z. A\n", NSEC, false },
	{ "NSEC and none", NSEC, "", false },
	{ "NSEC and NSEC3", NSEC, NSEC3, false },
	{ "NSEC3", NSEC3, NSEC3, true },
	{ "NSEC3, one name", PARAM N3(H_Z, H_Z), NSEC3, true },
	{ "NSEC3, leads past one", PARAM N3(H_1, H_2) N3(H_Z, H_2) N3(H_2, H_1), NSEC3, false },
	{ "NSEC3, does not lead back", NSEC3, PARAM N3(H_1, H_Z) N3(H_Z, H_2) N3(H_2, H_Z), false },
	{ "NSEC3, two of them", NSEC3 N3(H_1, H_2), NSEC3, false },
};

static void agree(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[2][1024];
		struct zone *z[2];

		snprintf(text[0], sizeof(text[0]), ZONE_HEAD "%s", rows[i].a);
		snprintf(text[1], sizeof(text[1]), ZONE_HEAD "%s", rows[i].b);
		z[0] = zone_of("z", text[0]);
		z[1] = zone_of("z", text[1]);
		if (zone_chains_agree(z[0], z[1]) != rows[i].agree ||
		    zone_chains_agree(z[1], z[0]) != rows[i].agree)
			fail_msg("%s: not so", rows[i].what);
		zone_free(z[0]);
		zone_free(z[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
