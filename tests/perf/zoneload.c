/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zoneload ORIGIN FILE: loads a zone as the daemon does and prints one line of JSON: seconds,
 * records, names, octets of the image, growth of resident memory and its peak.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "zone/zone.h"

/* A field of /proc/self/status, in octets. */
static size_t status_bytes(const char *field)
{
	FILE *fp = fopen("/proc/self/status", "r");
	char line[256];
	size_t kib = 0;

	while (fp && fgets(line, sizeof(line), fp))
		if (!strncmp(line, field, strlen(field)))
			kib = strtoull(line + strlen(field), NULL, 10);
	if (fp)
		fclose(fp);
	return kib * 1024;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	size_t before = status_bytes("VmRSS:"), peak, after;
	struct zone_error err;
	struct zone *z;
	double start;

	if (argc != 3) {
		fprintf(stderr, "zoneload ORIGIN FILE\n");
		return 2;
	}
	mallopt(M_MMAP_THRESHOLD, 128 * 1024); /* as the daemon */
	start = now();
	if (zone_load(&z, argv[1], argv[2], NULL, &err)) {
		fprintf(stderr, "%s:%u: %s\n", err.file, err.line, err.sentence);
		return 1;
	}
	start = now() - start;
	peak = status_bytes("VmHWM:");
	malloc_trim(0);
	after = status_bytes("VmRSS:");
	printf("{\"seconds\": %.3f, \"records\": %zu, \"names\": %zu, \"image\": %zu, "
	       "\"resident\": %zu, \"peak\": %zu, \"ns_per_record\": %.0f, \"peak_ratio\": %.2f}\n",
	       start, zone_n_records(z), zone_n_names(z), zone_memory_bytes(z), after - before,
	       peak - before, start * 1e9 / (double)zone_n_records(z),
	       (double)(peak - before) / (double)zone_memory_bytes(z));
	zone_free(z);
	return 0;
}
