/* What every public header needs of the compiler. */
#ifndef KRAIT_EXPORT_H
#define KRAIT_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#define KRAIT_EXPORT __attribute__((visibility("default")))
#define KRAIT_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define KRAIT_EXPORT
#define KRAIT_PRINTF(text, first)
#endif

#endif
