import { setFlagsFromString } from 'node:v8';

/** V8's compilers to machine code. Without them V8 interprets, and keeps counting the runs of functions. */
const COMPILERS = ['turbofan', 'sparkplug'];
/**
 * The V8 of Node 20. Later versions have a third compiler, Maglev. A function that Maglev compiles while TurboFan is off is never
 * compiled by TurboFan.
 */
const VERSION = /^11\./;

/**
 * Postpones the compilation of functions to machine code until the returned function is called. During a start it takes 0.2 of 2 s
 * of processor time, for functions most of which do not run again. Other versions of V8 than that of Node 20 compile as usual.
 */
export function postponeCompilation(v8 = process.versions.v8): () => void {
  if (!VERSION.test(v8)) return () => undefined;
  for (const compiler of COMPILERS) setFlagsFromString(`--no-${compiler}`);
  return () => COMPILERS.forEach((compiler) => setFlagsFromString(`--${compiler}`));
}
