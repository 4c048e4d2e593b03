import { register } from 'node:module';

// `node --import ./test/support/typescript.js <file>.ts`, or so in a worker thread: runs TypeScript where it lies, compiled in memory.
register('./typescript-hooks.js', import.meta.url);
