import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transformFileSync } from '@swc/core';

/** Compiles the TypeScript files of one directory into another. Outside of jest's own modules nobody else does. */
export function compileDirectory(source, target) {
  mkdirSync(target, { recursive: true });
  for (const file of readdirSync(source).filter((name) => /^[\w-]+\.ts$/.test(name))) {
    const { code } = transformFileSync(join(source, file), {
      jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
      module: { type: 'es6' },
    });
    writeFileSync(join(target, file.replace(/ts$/, 'js')), code);
  }
}

export async function importEmbeddedPostgres(rootDir) {
  const compiled = join(rootDir, 'node_modules/.cache/postgres-for-tests', String(process.pid));
  try {
    compileDirectory(join(rootDir, 'src/platform/postgres'), compiled);
    return await import(pathToFileURL(join(compiled, 'embedded-postgres.js')).href);
  } finally {
    rmSync(compiled, { recursive: true, force: true });
  }
}
