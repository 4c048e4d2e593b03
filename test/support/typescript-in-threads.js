import { register } from 'node:module';

/** Lets a worker thread run TypeScript sources, as jest lets tests: `--import` this. */
register('./typescript-loader.js', import.meta.url);
