/* Asks the system: nobody in the process knows what its libraries, its stacks and the gaps in its heap take.
 * Elsewhere than on Linux nothing is known. Costs some microseconds, trimming up to some milliseconds. */
#define _DEFAULT_SOURCE /* sysconf's names */
#include "base/resident.h"

#ifdef __linux__

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

size_t kr_resident(void)
{
	char text[160];
	unsigned long long pages;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return sscanf(text, "%*u %llu", &pages) == 1 ? (size_t)pages * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

void kr_resident_trim(void)
{
#ifdef __GLIBC__
	(void)malloc_trim(0);
#endif
}

#else

size_t kr_resident(void) { return 0; }

void kr_resident_trim(void) {}

#endif
