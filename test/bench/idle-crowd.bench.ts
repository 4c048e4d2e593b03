import { setTimeout as pause } from 'node:timers/promises';
import { SessionTokens } from '../../src/resources/identity/session-tokens.js';
import { type Bench, type Figure } from './report.js';
import { type MeasuredService, startService } from './measured-service.js';
import { startProgram } from './program.js';
import type { Call } from './token-reader.js';
import { processorMsSince } from './usage.js';
import { silentAnswer, waitingReaders } from './waiting-readers.js';

const READERS = 10_000;
/** Readers share answers like a team shares a conversation, and a user has several tabs open. */
const ANSWERS = 100;
const USERS = 1_000;
const CONNECTING_AT_ONCE = 16;
/** The time for work that connecting leaves behind. */
const SETTLE_MS = 4_000;
/** In this time two of three readers get a keepalive, and the log is polled twice. */
const SECONDS = 10;
/** A model that sends nothing for longer counts as failed. */
const SILENT_MS = 60_000;
const SECRET = 'a secret for benches that is long enough';

/** The percentage of one core that service and database use while no client asks anything. */
async function shareOfCore(service: MeasuredService): Promise<number> {
  await pause(SETTLE_MS);
  const before = await service.usage();
  const begunAt = performance.now();
  await pause(SECONDS * 1000);
  return (100 * processorMsSince(before, await service.usage())) / (performance.now() - begunAt);
}

async function shareWith(service: MeasuredService, at: (index: number) => [string, Call]): Promise<number> {
  const readers = await waitingReaders(READERS, at, CONNECTING_AT_ONCE);
  const share = await shareOfCore(service);
  readers.abort();
  return share;
}

async function headersOf(subject: string): Promise<{ authorization: string }> {
  return { authorization: `Bearer ${await new SessionTokens(SECRET).issue({ subject, roles: [] })}` };
}

/** The CPU cost of waiting readers: keepalives, and polls of the log in case a signal was lost. */
export const bench: Bench = {
  name: 'idle-crowd',
  title: `${READERS} waiting readers, of ${ANSWERS} silent answers and of the events of ${USERS} users`,
  async run(context) {
    const model = await startProgram('paced-model');
    const service = await startService(context, {
      OPENAI_BASE_URL: `${model.url}/v1`,
      AUTH_TYPE: 'session_jwt',
      JWT_SECRET_KEY: SECRET,
      CONNECTIONS_MAX: String(READERS + ANSWERS),
      ASYNC_REDIS_MAX_CONNECTIONS: String(READERS + ANSWERS),
      SSE_MAX_CONCURRENT_PER_USER: String(READERS / USERS),
    });
    const headers = await headersOf('asking');
    const users = await Promise.all(Array.from({ length: USERS }, (_, user) => headersOf(`user-${user}`)));
    const answers: string[] = [];
    const askedAt = performance.now();
    while (answers.length < ANSWERS) answers.push(await silentAnswer(service.url, headers));
    const ofAnswers = await shareWith(service, (index) => [
      `${service.url}/api/messages/${answers[index % ANSWERS]}/events`,
      { headers },
    ]);
    const nobodyOfAnswers = await shareOfCore(service);
    const silentMs = performance.now() - askedAt;
    if (silentMs > SILENT_MS) throw new Error('The answers ended before their readers were measured.');
    await pause(SILENT_MS + SETTLE_MS - silentMs);
    const ofEvents = await shareWith(service, (index) => [`${service.url}/api/events`, { headers: users[index % USERS]! }]);
    const nobody = await shareOfCore(service);
    await Promise.all([service.stop(), model.stop()]);
    const more = (name: string, share: number, nobody: number): Figure => ({
      name: `CPU more than with nobody, ${name}`,
      value: share - nobody,
      unit: '% of a core',
      target: { atMost: 1 },
    });
    return {
      figures: [more('readers of answers', ofAnswers, nobodyOfAnswers), more('open tabs', ofEvents, nobody)],
      notes: [
        `Service and Postgres together, each over ${SECONDS} s: ${ofAnswers.toFixed(1)} % with readers of answers and ${nobodyOfAnswers.toFixed(1)} % without, while ${ANSWERS} answers are under way; ${ofEvents.toFixed(1)} % with open tabs and ${nobody.toFixed(1)} % without.`,
      ],
    };
  },
};
