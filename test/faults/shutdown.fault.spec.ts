import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Backing } from '../support/backing.js';
import { answerIn, type Client, recordsIn, withoutRepeats } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import type { ServiceProcess } from '../support/process.js';
import { hang, say, type ScriptedModelServer, words } from '../support/scripted-model-server.js';
import { type ScriptedProcess, startScriptedProcess } from '../support/scripted-process.js';
import { TurnLog } from '../support/turn-log.js';
import { Viewer } from '../support/viewer.js';
import { expectTurnWhole } from '../support/whole-turn.js';

/** The shutdown time. Half of it is for answers that are nearly complete. */
const SHUTDOWN_SECONDS = 20;
const STREAMS = 20;

let running: ScriptedProcess;
let backing: Backing;
let model: ScriptedModelServer;
let service: ServiceProcess;
let client: Client;
beforeAll(async () => {
  running = await startScriptedProcess({ SHUTDOWN_SECONDS: String(SHUTDOWN_SECONDS) }, { standbys: 1 });
  ({ backing, model, service, client } = running);
});
afterAll(() => running.close());

async function inFlight(options: { asksAgain?: boolean } = {}): Promise<{ viewers: Viewer[]; watching: Promise<unknown> }> {
  const viewers = Array.from({ length: STREAMS }, (_, number) => {
    const idempotencyKey = `key ${number} ${Date.now()}`;
    return new Viewer({
      client,
      body: { question: 'Why?', visibility: 'listed' },
      idempotencyKey,
      mayEndEarly: true,
      ...options,
    });
  });
  const watching = Promise.all(viewers.map((viewer) => viewer.watch(new AbortController().signal)));
  watching.catch(() => undefined);
  await eventually(() => viewers.every((viewer) => viewer.lastId > 0));
  return { viewers, watching };
}

async function expectWhole(viewers: readonly Viewer[]): Promise<TurnLog> {
  const log = new TurnLog(backing.store);
  // An answer is sealed after its readers have received its end.
  await eventually(async () => (await log.refresh()).unsealed.length === 0);
  for (const viewer of viewers) {
    await expectTurnWhole(log, viewer.messageId!, client);
    expect(recordsIn((await client.resume(viewer.messageId!)).text)).toBe(viewer.seen);
  }
  return log;
}

it('SIGTERM lets answers that are nearly complete finish, and their readers continue where they were', async () => {
  model.always(words(20, 50));
  const { viewers, watching } = await inFlight();
  const { code, ms } = await service.terminate();
  expect({ code, inTime: ms < SHUTDOWN_SECONDS * 1000 }).toEqual({ code: 0, inTime: true });
  await service.start();
  await watching;
  const log = await expectWhole(viewers);
  for (const viewer of viewers) expect(log.turns.get(viewer.messageId!)!.outcomes[0]!.type).toBe('TurnAnswered');
});

it('SIGTERM interrupts answers that would take longer, in the journal, so that no client waits for a successor', async () => {
  model.always([...say('The ', 'sky '), hang]);
  const { viewers, watching } = await inFlight();
  const { code, ms } = await service.terminate();
  expect({ code, inTime: ms < SHUTDOWN_SECONDS * 1000 + 500 }).toEqual({ code: 0, inTime: true });
  const log = await new TurnLog(backing.store).refresh();
  expect(log.unsealed).toEqual([]);
  await service.start();
  await watching;
  await expectWhole(viewers);
  for (const { frames } of viewers) {
    expect(withoutRepeats(frames.map(({ data }) => (data['code'] as string | undefined) ?? data.type))).toEqual([
      'message_id',
      'answer',
      'interrupted',
      'id',
      'end',
    ]);
  }
});

it('SIGTERM ends a stream between two frames, with a cursor that remains valid', async () => {
  model.always([...say('The ', 'sky '), hang]);
  let seen = '';
  const reading = client.stream({ question: 'Why?' }, (text) => {
    seen = text;
    return false;
  });
  await eventually(() => seen.includes('sky'));
  const [{ text, frames }] = await Promise.all([reading, service.terminate()]);
  expect(text.endsWith('\n\n')).toBe(true);
  expect(withoutRepeats(frames.map(({ data }) => data.type))).toEqual(['message_id', 'answer']);
  expect(answerIn({ frames })).toBe('The sky ');
  await service.start();
  const rest = await client.resume(frames[0]!.data['message_id'] as string, frames.at(-1)!.id);
  expect(rest.text.startsWith(': connected\n\n')).toBe(true);
  const all = await client.resume(frames[0]!.data['message_id'] as string);
  expect(recordsIn(all.text)).toBe(text + recordsIn(rest.text));
});

it('a service that shuts down refuses questions', async () => {
  model.always(words(15, 100));
  const { viewers, watching } = await inFlight();
  const ended = service.terminate();
  await eventually(async () => {
    const response = await client.post('/api/answer', { question: 'Why?' }).catch(() => undefined);
    if (!response) return true;
    await response.arrayBuffer();
    return response.status === 503 && response.headers.get('retry-after') === '1';
  });
  await ended;
  await service.start();
  await watching;
  await expectWhole(viewers);
});
