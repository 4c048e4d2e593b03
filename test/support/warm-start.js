/**
 * Starts the program in a folder when it is told to: `node warm-start.js <folder>`, then a line on standard input. What takes
 * longest, reading the code in, is over by then. The program ends with whoever holds its standard input.
 */
import { pathToFileURL } from 'node:url';

const program = pathToFileURL(`${process.argv[2]}/`);
await import(new URL('src/service.js', program).href);
await import(new URL('src/platform/platform.js', program).href);
process.stdin.once('end', () => process.exit(1));
await new Promise((resolve) => process.stdin.once('data', resolve));
process.stdin.unref();
await import(new URL('src/main.js', program).href);
