/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rdatatext FOLDER N SEED: for each type that is written in its own form, N random records as zone
 * "example.", as Volley writes them (FOLDER/TYPE.text) and by RFC 3597 (FOLDER/TYPE.octets). Prints
 * the types.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/rdgen.h"
#include "tests/lib/rdtypes_each.h"
#include "zone/rdprint.h"

static const char head[] =
	"$ORIGIN example.\n$TTL 300\n@ SOA ns root 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n";

static FILE *file_of(const char *folder, const char *type, const char *kind)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.%s", folder, type, kind);
	f = fopen(path, "w");
	MUST(f && fputs(head, f) >= 0);
	return f;
}

static void write_type(const char *folder, const struct rdata_type *row, unsigned n_records)
{
	static char line[RDPRINT_TEXT_MAX];
	FILE *text = file_of(folder, row->mnemonic, "text");
	FILE *octets = file_of(folder, row->mnemonic, "octets");
	uint8_t rdata[RDGEN_MAX];

	for (unsigned i = 0; i < n_records; i++) {
		unsigned n = rdgen(row, rdata);
		size_t length = rdprint_record(line, row->number, rdata, n);

		if (line[0] == 'T' && line[1] == 'Y') /* as octets both times: nothing to compare */
			continue;
		fprintf(text, "r%u %.*s\n", i, (int)length, line);
		fprintf(octets, "r%u TYPE%u \\# %u ", i, row->number, n);
		for (unsigned at = 0; at < n; at++)
			fprintf(octets, "%02x", rdata[at]);
		fputc('\n', octets);
	}
	MUST(!fclose(text) && !fclose(octets));
	puts(row->mnemonic);
}

int main(int argc, char **argv)
{
	const struct rdata_type *row;

	MUST(argc == 4);
	seed = strtoul(argv[3], NULL, 10);
	for (size_t i = 0; (row = rdata_type_at(i)); i++)
		if (row->print == RD_TEXT_FORM)
			write_type(argv[1], row, (unsigned)strtoul(argv[2], NULL, 10));
	return 0;
}
