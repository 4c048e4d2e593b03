import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { oncePerState } from '../support/once-per-state.js';

const ROOT = new URL('../../', import.meta.url);
const DOCUMENTS = ['openapi.json', 'swagger.json'] as const;
/** The compiler reads all sources, possibly on a busy machine. */
const COMPILING_MS_MAX = 900_000;
/** With the default of 16 MB a fifth of the time is spent copying what the compiler keeps anyway. */
const YOUNG_MEGABYTES = 64;
/** What the dump reads. */
const READ = ['src', 'projections', 'test/support', 'tsconfig.json', 'tsconfig.build.json', '.swcrc'];
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

const textOf = (name: string): string => readFileSync(new URL(`docs/${name}`, ROOT), 'utf8');

describe('the API reference', () => {
  it(
    'matches the sources, as npm run openapi:dump writes it',
    async () => {
      const flags = [`--max-semi-space-size=${YOUNG_MEGABYTES}`, '--import', './test/support/typescript.js'];
      const program = [...flags, 'test/support/dump-openapi.ts', '--print'];
      const options = { cwd: ROOT, maxBuffer: OUTPUT_BYTES_MAX };
      const print = async () => (await promisify(execFile)(process.execPath, program, options)).stdout;
      const inputs = READ.map((name) => fileURLToPath(new URL(name, ROOT)));
      const dumped = JSON.parse(await oncePerState('api-reference', inputs, print)) as Record<(typeof DOCUMENTS)[number], string>;
      for (const name of DOCUMENTS) expect(textOf(name) === dumped[name]).toBe(true);
    },
    COMPILING_MS_MAX,
  );
});
