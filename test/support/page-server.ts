import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';
import { LocalServer } from './local-server.js';

const TESTS = join(dirname(fileURLToPath(import.meta.url)), '..');
const PAGE = '/browser/page/index.html';
const SCRIPT = /^\/(?<path>(browser\/page|support)\/[a-z-]+)\.js$/;

/** Serves the test page and its scripts, which are compiled from TypeScript on request. */
export async function pageServer(): Promise<LocalServer> {
  return LocalServer.started(({ path }, response) => {
    const { pathname } = new URL(path, 'http://page');
    const script = SCRIPT.exec(pathname)?.groups?.['path'];
    const reading = script === undefined ? html(pathname) : javaScript(join(TESTS, `${script}.ts`));
    reading.then(
      ([type, text]) => response.writeHead(200, { 'content-type': type }).end(text),
      () => response.writeHead(404).end(),
    );
  });
}

async function html(path: string): Promise<[string, string]> {
  if (path !== '/') throw new Error('There is one page.');
  return ['text/html; charset=utf-8', await readFile(join(TESTS, PAGE), 'utf8')];
}

async function javaScript(file: string): Promise<[string, string]> {
  const options = { swcrc: false, jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } } as const;
  return ['text/javascript; charset=utf-8', (await transform(await readFile(file, 'utf8'), { filename: file, ...options })).code];
}
