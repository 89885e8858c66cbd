/* Loaded before the Python module bochscpu, whose CPU is a Core i3-8121U of 2018: has it make the newest one that Bochs
   knows, an Arrow Lake, which has AVX-VNNI and no AVX-512. The module is built for glibc 2.38; the names below are what
   it takes from there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* create_corei3_cnl_cpuid(BX_CPU_C *) and create_arrow_lake_cpuid(BX_CPU_C *) */
void *_Z23create_corei3_cnl_cpuidP8BX_CPU_C(void *cpu) {
	void *module = dlopen(getenv("BOCHSCPU"), RTLD_NOLOAD | RTLD_LAZY);
	void *(*create)(void *) = module ? (void *(*)(void *))dlsym(module, "_Z23create_arrow_lake_cpuidP8BX_CPU_C") : NULL;
	if (!create) {
		fprintf(stderr, "bochscpu has no Arrow Lake: %s\n", dlerror());
		exit(1);
	}
	return create(cpu);
}

unsigned long long __isoc23_strtoull(const char *s, char **end, int base) { return strtoull(s, end, base); }

int __isoc23_sscanf(const char *s, const char *format, ...) {
	va_list list;
	va_start(list, format);
	int n = vsscanf(s, format, list);
	va_end(list);
	return n;
}
