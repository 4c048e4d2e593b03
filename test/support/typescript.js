import { register } from 'node:module';

// `node --import ./test/support/typescript.js <file>.ts`, also in a worker thread: runs TypeScript files directly, compiled on
// import.
register('./typescript-hooks.js', import.meta.url);
