import { afterEach, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { conversationCodec } from '../../src/dialogue/conversation/conversation.codec.js';
import { type ConversationStarted, conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { FRAME_EVENT, type JournalAccess, messageStream } from '../../src/dialogue/journal/message.events.js';
import { renderFrames } from '../../src/dialogue/journal/message.policy.js';
import { newId } from '../../src/kernel/ids.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import type { Backing } from '../support/backing.js';
import { type Client, recordsIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import type { ServiceProcess } from '../support/process.js';
import { type ScriptedModelServer, words } from '../support/scripted-model-server.js';
import { type ScriptedProcess, startScriptedProcess } from '../support/scripted-process.js';
import { cause } from '../support/turns.js';

const STALLED = 40;
/** Longer than the test: stalled readers are not disconnected, so an answer that waited for them would not end. */
const NEVER_SECONDS = 3_600;
const STALL_SECONDS = 10;
/** By then the buffers between the service and the stalled readers are full. */
const FULL_MS = 4_000;
/** How long the size of the service is observed while its readers are stalled. */
const OBSERVED_MS = 15_000;
const FRAMES = 10_000;
const FRAME_CHARACTERS = 4_000;
const FRAMES_PER_APPEND = 200;
/** The maximum growth: per reader a page of the log and its parts, including garbage. Each reader leaves 40 MB unread. */
const GROWTH_BYTES_MAX = 6 * 1024 * 1024 * STALLED;

let running: ScriptedProcess | undefined;
let backing: Backing;
let model: ScriptedModelServer;
let service: ServiceProcess;
let client: Client;
async function start(stallSeconds: number): Promise<void> {
  running = await startScriptedProcess({ SSE_STALL_SECONDS: String(stallSeconds) });
  ({ backing, model, service, client } = running);
}
afterEach(() => running?.close());

/** Writes a message of 40 MB, like that of a long run with many tools. */
async function longMessage(): Promise<{ messageId: string; journal: string }> {
  const [messageId, conversationId] = [newId(), newId()];
  const start = { conversationId, ownerId: 'local', agentId: null, agentKeyId: null } as const;
  const named = { name: 'Long', visibility: 'hidden', sharedUsage: false, history: [] } as const;
  const began: ConversationStarted = { type: 'ConversationStarted', data: { ...start, ...named } };
  await new Streams(backing.store, systemTiming).append(
    conversationStream(conversationId),
    'none',
    conversationCodec,
    [began],
    cause,
  );
  const access: JournalAccess = { conversationId, ownerId: 'local', agentKeyId: null, agentId: null };
  const frames = Array.from({ length: FRAMES }, (_, index) =>
    JSON.stringify(
      index === FRAMES - 1 ? { type: 'end' } : { type: 'notice', notice: `${index} `.padEnd(FRAME_CHARACTERS, 'x') },
    ),
  );
  for (let first = 0; first < FRAMES; first += FRAMES_PER_APPEND) {
    const events = frames.slice(first, first + FRAMES_PER_APPEND).map((data, index) => ({
      id: newId(),
      type: FRAME_EVENT,
      data,
      metadata: JSON.stringify(first + index === 0 ? access : {}),
    }));
    await backing.store.append(messageStream(messageId), first === 0 ? 'none' : first - 1, events);
  }
  return { messageId, journal: renderFrames(0, frames) };
}

/** A reader that requests everything and then reads nothing. */
async function stalledReader(messageId: string): Promise<Socket> {
  const socket = connect(service.port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`GET /api/messages/${messageId}/events HTTP/1.1\r\nHost: verbatim\r\n\r\n`);
  return socket;
}

async function restOf(socket: Socket): Promise<string> {
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  if (!socket.closed) await once(socket, 'close');
  return Buffer.concat(parts).toString();
}

/** The resident size of the service in bytes, from the operating system. */
const residentSize = (): number =>
  1024 * Number(execFileSync('ps', ['-o', 'rss=', '-p', String(service.pid)], { encoding: 'utf8' }).trim());

/** The open requests of the service, including the one that asks. */
const openRequests = async (): Promise<number> =>
  Number(/^verbatim_http_open_requests (\d+)$/m.exec(await (await client.get('/metrics')).text())![1]);

async function answerTen(): Promise<void> {
  const answers = await Promise.all(Array.from({ length: 10 }, () => client.stream({ question: 'Why?' })));
  for (const { frames } of answers) expect(frames.at(-1)!.data.type).toBe('end');
}

it('readers that read nothing cost bounded memory and slow down no other reader', async () => {
  await start(NEVER_SECONDS);
  model.always(words(40, 20));
  const { messageId, journal } = await longMessage();
  expect(recordsIn((await client.resume(messageId)).text)).toBe(journal);
  await answerTen();
  const usualSize = residentSize();

  const stalled = await Promise.all(Array.from({ length: STALLED }, () => stalledReader(messageId)));
  const sizes: number[] = [];
  const sampling = setInterval(() => sizes.push(residentSize()), 100);
  try {
    await pause(FULL_MS);
    await answerTen();
    await pause(OBSERVED_MS);
  } finally {
    clearInterval(sampling);
    for (const each of stalled) each.destroy();
  }
  expect(Math.max(...sizes) - usualSize).toBeLessThan(GROWTH_BYTES_MAX);
});

it('a reader that read nothing for too long is disconnected, and can resume from its cursor', async () => {
  await start(STALL_SECONDS);
  const { messageId, journal } = await longMessage();
  const socket = await stalledReader(messageId);
  await eventually(async () => (await openRequests()) === 2);
  await eventually(async () => (await openRequests()) === 1);

  const received = await restOf(socket);
  const chunks = received.slice(received.indexOf('\r\n\r\n') + 4);
  expect(chunks.endsWith('0\r\n\r\n')).toBe(false);
  const cursor = Number(/^id: (\d+)\r?\n/m.exec(chunks.slice(chunks.lastIndexOf('\nid: ') + 1))![1]) - 1;
  const rest = recordsIn((await client.resume(messageId, cursor)).text);
  expect(journal.endsWith(rest)).toBe(true);
  expect(rest.startsWith(`id: ${cursor + 1}\n`)).toBe(true);
});
