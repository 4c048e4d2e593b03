import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { compiledProgram } from '../support/compiled-program.js';
import { freePort } from '../support/free-port.js';
import { ServiceProcess } from '../support/process.js';
import { TEST_SETTINGS } from '../support/service.js';

let dataDir: string;
beforeAll(async () => void (dataDir = await mkdtemp(join(tmpdir(), 'verbatim-signals-'))));
afterAll(() => rm(dataDir, { recursive: true, force: true }));

it('a second signal does not end the process before everything is closed', async () => {
  const service = await ServiceProcess.start({ environment: { ...TEST_SETTINGS, SHUTDOWN_SECONDS: '20', DATA_DIR: dataDir } });
  const owner = join(dataDir, 'postgres', 'owner');
  expect(existsSync(owner)).toBe(true);
  process.kill(service.pid, 'SIGINT');
  expect(await service.terminate()).toMatchObject({ code: 0 });
  expect(existsSync(owner)).toBe(false);
});

it('a process that waits for its database ends with the first signal', async () => {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [join(await compiledProgram(), 'program', 'main.js')], {
    env: {
      PATH,
      HOME,
      DATA_DIR: dataDir,
      DATABASE_URL: `postgres://nobody@127.0.0.1:${await freePort()}/none`,
      LOG_FORMAT: 'json',
    },
    cwd: tmpdir(),
  });
  let said = '';
  child.stdout.on('data', (text: Buffer) => (said += text.toString()));
  while (!said.includes('Waiting for an unavailable dependency')) await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
