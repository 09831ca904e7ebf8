// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For LD_PRELOAD: a resolver's process that was taken over, and writes into the memory that it
 * shares with volleyd while volleyd reads it. SCRIBBLE says what:
 *
 *	octets    any octet
 *	words     32 and 64 bits that are sizes, positions or next to the largest ones
 *	heads     the same, in the first 256 octets of each 4 KiB: positions of rings, counters
 *
 * Most of the memory is never used, so places that hold something are preferred.
 * It begins when the process serves, and goes on until that is ended. In volleyd it does nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SERVES_AFTER_NS 300000000
#define BATCH           256
#define PLACES          65536
#define ROUNDS          100 /* between two looks */

static uint64_t state;
static size_t places[PLACES], n_places;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* The memory that is shared: a file in memory of this name. */
static uint8_t *find_memory(size_t *n)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to, found = 0;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "memfd:volley-resolver") &&
		    sscanf(line, "%lx-%lx", &from, &to) == 2) {
			found = from;
			*n = to - from;
		}
	if (maps)
		fclose(maps);
	return (uint8_t *)found;
}

static uint64_t odd_number(void)
{
	static const uint64_t numbers[] = { 0,         1,          7,         8,
					    16,        4096,       65535,     65536,
					    INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX };

	return numbers[draw() % (sizeof(numbers) / sizeof(numbers[0]))] + draw() % 3 - 1;
}

static void write_number(uint8_t *memory, size_t at)
{
	const uint64_t number = odd_number();

	memcpy(memory + at, &number, draw() & 1 ? 8 : 4);
}

/* Notes where something is. */
static void look_around(const uint8_t *memory, size_t n, int in_heads)
{
	static const uint8_t nothing[4];

	n_places = 0;
	for (size_t at = 0; at + 8 <= n && n_places < PLACES; at += 4)
		if ((!in_heads || at % 4096 < 256) &&
		    memcmp(memory + at, nothing, sizeof(nothing)) != 0)
			places[n_places++] = at;
}

static void scribble(uint8_t *memory, size_t n, const char *how)
{
	const size_t at = n_places && draw() % 8 ? places[draw() % n_places] :
						   (size_t)draw() % (n - 8) & ~(size_t)3;

	if (*how == 'o')
		memory[at + draw() % 4] = (uint8_t)draw();
	else
		write_number(memory, at);
}

static void *run_scribble(void *how)
{
	struct timespec pause = { .tv_nsec = 10000000 };
	uint8_t *memory;
	size_t n = 0;

	while (!(memory = find_memory(&n)))
		nanosleep(&pause, NULL);
	pause.tv_nsec = SERVES_AFTER_NS;
	nanosleep(&pause, NULL);
	for (unsigned int round = 0;; round++) {
		if (round % ROUNDS == 0)
			look_around(memory, n, *(const char *)how == 'h');
		for (int i = 0; i < BATCH; i++)
			scribble(memory, n, how);
		pause.tv_nsec = 20000;
		nanosleep(&pause, NULL);
	}
	return NULL;
}

__attribute__((constructor)) static void prepare_scribble(void)
{
	pthread_t thread;

	if (strcmp(program_invocation_short_name, "volley-resolver") != 0 || !getenv("SCRIBBLE"))
		return;
	state = (uint64_t)getpid() * 2654435761u + 1;
	(void)!pthread_create(&thread, NULL, run_scribble, getenv("SCRIBBLE"));
}
