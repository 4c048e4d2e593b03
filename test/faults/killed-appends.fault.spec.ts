import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AppendProxy } from '../support/append-proxy.js';
import { onPostgres } from '../support/backing.js';
import { compiledProgram } from '../support/compiled-program.js';
import { eventually } from '../support/eventually.js';
import { type ScriptedProcess, startScriptedProcess } from '../support/scripted-process.js';
import { TEST_SETTINGS } from '../support/service.js';
import { type Flow, KilledFlows, NEEDED_SETTINGS } from './killed-flows.js';

/**
 * The appends at which the service is killed and started again, each named by the type of an event: the first append of such an
 * event in the flow. Killed before it, the append never reaches the database. Killed after it, the append is committed, and the
 * service never learns that.
 *
 * Each time the flow must come to a good end (`killed-flows.ts`): one turn, run or agent for each idempotency key, no tool call
 * executed twice, and a replay that begins with what the client has seen. In the end every read model must match the log.
 */
const KILLED_AT = {
  delivery: ['DeliveryAccepted', 'TaskQueued', 'RunToolCallStarted', 'RunToolCallFinished'],
  approval: ['TurnAsked', 'FrameJournaled', 'TurnPaused', 'ToolCallStarted', 'ToolCallFinished'],
  job: ['JobStarted', 'FollowUpRequested'],
  import: ['IdempotencyKeyUsed', 'AgentImportAccepted', 'AgentCreated'],
} as const;

const REACHED_MS_MAX = 10_000;

let proxy: AppendProxy;
let running: ScriptedProcess;
let flows: KilledFlows;
let runs = 0;

beforeAll(async () => {
  const backing = await onPostgres();
  proxy = await AppendProxy.to(backing.environment['DATABASE_URL']!);
  running = await startScriptedProcess({ ...NEEDED_SETTINGS, DATABASE_URL: proxy.url }, { backing, standbys: 1 });
  flows = await KilledFlows.over(running);
});
afterAll(async () => {
  await running.close();
  await flows.close();
  await proxy.close();
});

describe.each(Object.keys(KILLED_AT) as (keyof typeof KILLED_AT)[])('The flow %s', (name) => {
  let flow: Flow;
  beforeAll(async () => void (flow = await flows[name]()));

  const kills = KILLED_AT[name].flatMap((type) => [['before', type] as const, ['after', type] as const]);

  it.each(kills)(
    'comes to a good end when the service is killed %s %s',
    async (moment, eventType) => {
      let restarted: Promise<void> | undefined;
      const stopped = () => void (restarted = running.service.kill().then(() => running.service.start()));
      proxy.stopAt({ moment, eventType, stopped });
      await flow(++runs);
      await eventually(() => restarted !== undefined, REACHED_MS_MAX, `the flow appends ${eventType}`);
      await restarted;
    },
    600_000,
  );
});

describe('After all flows', () => {
  it('every read model is as the log has it', async () => {
    const environment = { ...TEST_SETTINGS, ...running.backing.environment, PATH: process.env['PATH'] };
    const rebuild = [join(await compiledProgram(), 'program/rebuild.js'), 'all', '--verify'];
    const { stdout } = await promisify(execFile)(process.execPath, rebuild, { env: environment, cwd: tmpdir() });
    expect(stdout).toMatch(/the same: .*turn [1-9]/);
  });
});
