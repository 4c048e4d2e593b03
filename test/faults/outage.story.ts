import { expect } from '@jest/globals';
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Backing } from '../support/backing.js';
import { type Client, recordsIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import type { ServiceProcess } from '../support/process.js';
import { words } from '../support/scripted-model-server.js';
import { startScriptedProcess } from '../support/scripted-process.js';
import { USUAL_DEADLINES } from '../support/service.js';
import { TurnLog } from '../support/turn-log.js';
import { Viewer } from '../support/viewer.js';
import { expectTurnWhole } from '../support/whole-turn.js';

/** A service's infrastructure that can fail while it runs. */
export type Breakable = Readonly<{ backing: Backing; goAway(): Promise<void> | void; comeBack(): Promise<void> | void }>;

const AWAY_MS = 10_000;
const STREAMS = 20;
const ASKED_MEANWHILE = 10;
const WORDS = 120;
const EVERY_MS = 100;
const OVER_MS_MAX = 80_000;
/** Includes the start of the service and a check of each answer afterwards. */
export const OUTAGE_TEST_MS_MAX = 300_000;

/** Streams in flight during an outage of ten seconds: each continues where it was, and all answers are complete. */
export async function outageStory(make: () => Promise<Breakable>): Promise<void> {
  const { backing, goAway, comeBack } = await make();
  const running = await startScriptedProcess(USUAL_DEADLINES, { backing });
  const { service, model, client } = running;
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  try {
    model.always(words(WORDS, EVERY_MS));
    const ask = (number: number) => {
      const body = { question: `Question ${number}`, visibility: 'listed' };
      const viewer = new Viewer({ client, body, idempotencyKey: `key ${number}` });
      return { viewer, watching: viewer.watch(over.signal) };
    };
    const before = Array.from({ length: STREAMS }, (_, number) => ask(number));
    await eventually(() => before.every(({ viewer }) => viewer.lastId > 5));

    await goAway();
    await pause(AWAY_MS / 2);
    const meanwhile = Array.from({ length: ASKED_MEANWHILE }, (_, number) => ask(STREAMS + number));
    await pause(AWAY_MS / 2);
    await comeBack();

    const all = [...before, ...meanwhile];
    await Promise.race([Promise.all(all.map(({ watching }) => watching)), tooLate(all, service)]);
    await expectNothingLost(
      all.map(({ viewer }) => viewer),
      new TurnLog(backing.store),
      client,
    );
  } finally {
    over.abort();
    await running.close();
  }
}

async function tooLate(all: readonly { viewer: Viewer }[], service: ServiceProcess): Promise<never> {
  await pause(OVER_MS_MAX, undefined, { ref: false });
  const open = all.filter(({ viewer }) => !viewer.isOver).map(({ viewer }) => `${viewer.messageId} at ${viewer.lastId}`);
  throw new Error(`Still open after ${OVER_MS_MAX} ms: ${open.join(', ')}\n${service.output}`);
}

async function expectNothingLost(viewers: readonly Viewer[], log: TurnLog, client: Client): Promise<void> {
  await eventually(async () => (await log.refresh()).unsealed.length === 0);
  expect(log.turns.size).toBe(viewers.length);
  for (const viewer of viewers) {
    const messageId = viewer.messageId!;
    await expectTurnWhole(log, messageId, client);
    expect(recordsIn((await client.resume(messageId)).text)).toBe(viewer.seen);
    expect(log.turns.get(messageId)!.outcomes[0]!.type).toBe('TurnAnswered');
  }
}
