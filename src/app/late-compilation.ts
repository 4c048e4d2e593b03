import { setFlagsFromString } from 'node:v8';

/** V8's compilers to machine code. Without them V8 interprets, and keeps counting the runs of functions. */
const COMPILERS = ['turbofan', 'sparkplug'];

/**
 * Postpones the compilation of functions to machine code until the returned function is called. During a start it takes 0.2 of 2 s
 * of processor time, for functions most of which do not run again.
 */
export function postponeCompilation(): () => void {
  for (const compiler of COMPILERS) setFlagsFromString(`--no-${compiler}`);
  return () => COMPILERS.forEach((compiler) => setFlagsFromString(`--${compiler}`));
}
