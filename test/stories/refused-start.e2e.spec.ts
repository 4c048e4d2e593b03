import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, rmdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledProgram } from '../support/compiled-program.js';
import { type TestDatabase, testDatabase } from '../support/postgres-for-tests.js';

let folder: string;
let program: string;
let database: TestDatabase;
let other: Server;
let port: number;

beforeAll(async () => {
  [folder, program, database] = [
    await mkdtemp(join(tmpdir(), 'verbatim-refused-')),
    await compiledProgram(),
    await testDatabase(),
  ];
  other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  port = (other.address() as { port: number }).port;
});
afterAll(async () => {
  other.close();
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

const ended = (environment: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  endedOf('main', environment, ...args);

/** Starts a program as an operator does, and returns how it ended. */
async function endedOf(name: string, environment: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: database.url,
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    ...environment,
  };
  const child = spawn(process.execPath, [join(program, `program/${name}.js`), ...args], { cwd: folder, env });
  const written = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (written.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (written.err += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...written };
}

describe('a program that cannot start', () => {
  it('names HOST and PORT if another process uses the port', async () => {
    const { code, out } = await ended({ PORT: String(port) });
    expect(out).toContain(`HOST 127.0.0.1 and PORT ${port}: another process uses this address.`);
    expect(code).toBe(1);
  });

  it('ends with code 78 and a line for a wrong file of models, without a stack', async () => {
    await writeFile(join(folder, 'models.yaml'), 'models: [');
    const { code, out, err } = await ended({ MODELS_FILE: join(folder, 'models.yaml') });
    expect(err).toMatch(/^The configuration cannot be used:\n {2}MODELS_FILE .*models\.yaml: [^\n]+\n$/);
    expect({ code, out }).toEqual({ code: 78, out: '' });
  });

  it.each([{ MODELS_FILE: 'none.yaml' }, { GUARDRAILS_FLOOR: '{' }])('is refused before Postgres answers: %o', async (wrong) => {
    const { code, err } = await ended({ ...wrong, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    expect(err).toMatch(new RegExp(`^The configuration cannot be used:\\n  ${Object.keys(wrong)[0]} `));
    expect(code).toBe(78);
  });

  it('reports the names in .env that are no settings', async () => {
    await writeFile(join(folder, '.env'), 'OPENAI_BASEURL=http://hidden\nPORT=many\n');
    const { code, err } = await ended({ PORT: '' });
    await rm(join(folder, '.env'));
    expect(err).toBe(
      '.env has names that are no settings: OPENAI_BASEURL. See .env.example.\n' +
        'The configuration cannot be used:\n  PORT must be a whole number, not "many".\n',
    );
    expect(code).toBe(78);
  });

  it('ends with code 78 and a line for a .env that is a folder, without a stack', async () => {
    await mkdir(join(folder, '.env'));
    const { code, err } = await ended({});
    await rmdir(join(folder, '.env'));
    expect(err).toMatch(/^The configuration cannot be used:\n {2}\.env cannot be read: [^\n]+\n$/);
    expect(code).toBe(78);
  });

  it('shows its usage, and refuses arguments that it does not know', async () => {
    const [help, unknown] = [await ended({}, '--help'), await ended({}, 'rebuild')];
    expect([help.code, unknown.code]).toEqual([0, 1]);
    expect(help.out).toContain('.env.example');
    expect(unknown.err).toContain('too many arguments');
  });
});

it.each(['', 'x'.repeat(257)])('no token is printed for a user that the service refuses: %o', async (user) => {
  const { code, out, err } = await endedOf('token', {}, '--user', user);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toContain('1 to 256 characters');
});
