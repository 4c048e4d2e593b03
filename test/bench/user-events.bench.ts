import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { SessionTokens } from '../../src/resources/identity/session-tokens.js';
import { startService } from './measured-service.js';
import { startProgram } from './program.js';
import { type Bench, type Figure, median, quantile } from './report.js';
import { type Call, read } from './token-reader.js';
import { usageOf } from './usage.js';

const USERS = 500;
const EVENTS_PER_SECOND = 50;
/**
 * Each question leads to at least two events: that it runs, and that it is answered. The response, which is read to its end, clears
 * the mark again, which is a third event unless it is sooner than the second.
 */
const EVENTS_PER_QUESTION = 2;
const SECONDS = 30;
/** The first event of a user costs more, and a process needs some time to reach its size. */
const WARM_UP_SECONDS = 15;
const SECRET = 'a secret for benches that is long enough';
/** Memory is partly garbage at any moment, so the median of the first fifth of the time is compared with that of the last. */
const RSS_EVERY_MS = 250;
/** For the measurement of memory: garbage is collected early, so that it is not mistaken for growth. */
const BOUNDED_HEAP = '--max-old-space-size=140 --max-semi-space-size=8';
/** Events that have not arrived by then are lost. */
const PATIENCE_MS = 5_000;

type Side = Readonly<{
  /** The requests with which a user listens and causes an event. */
  listen: (user: number) => [string, Call];
  cause: (user: number) => [string, Call];
  rss: () => Promise<number>;
}>;

type Measured = Readonly<{ lateMs: readonly number[]; rssAtStart: number; rssAtEnd: number }>;

/** All users listen, and one after another causes an event. The delay of an event counts from when its cause was stored. */
async function measure({ listen, cause, rss }: Side): Promise<Measured> {
  const leaving = new AbortController();
  setMaxListeners(0, leaving.signal);
  const lateMs: number[] = [];
  let told = 0;
  for (let user = 0; user < USERS; user++) {
    const [url, call] = listen(user);
    await new Promise<void>((connected, refused) => {
      let rest = '';
      const onText = (piece: string): undefined => {
        const now = performance.timeOrigin + performance.now();
        const records = (rest + piece).split('\n\n');
        rest = records.pop()!;
        for (const record of records) {
          if (record === ': connected') connected();
          const ts = /"ts":"([^"]+)"/.exec(record)?.[1];
          if (ts === undefined) continue;
          told++;
          lateMs.push(now - Date.parse(ts));
        }
      };
      read(url, { ...call, signal: leaving.signal }, { onText }).catch(refused);
    });
  }
  let user = 0;
  const causeFor = async (seconds: number): Promise<void> => {
    told = 0;
    const questions = (seconds * EVENTS_PER_SECOND) / EVENTS_PER_QUESTION;
    const begunAt = performance.now();
    const running: Promise<void>[] = [];
    for (let question = 0; question < questions; question++) {
      await pause(Math.max(0, begunAt + (question * 1000 * EVENTS_PER_QUESTION) / EVENTS_PER_SECOND - performance.now()));
      running.push(read(...cause(user++ % USERS), {}));
    }
    await Promise.all(running);
    const until = performance.now() + PATIENCE_MS;
    while (told < questions * EVENTS_PER_QUESTION && performance.now() < until) await pause(10);
    if (told < questions * EVENTS_PER_QUESTION) throw new Error(`${told} events came of ${questions * EVENTS_PER_QUESTION}.`);
  };
  await causeFor(WARM_UP_SECONDS);
  lateMs.length = 0;
  const held: number[] = [];
  const sampling = setInterval(() => void rss().then((bytes) => held.push(bytes)), RSS_EVERY_MS);
  await causeFor(SECONDS);
  clearInterval(sampling);
  leaving.abort();
  const share = Math.ceil(held.length / 5);
  return { lateMs, rssAtStart: median(held.slice(0, share)), rssAtEnd: median(held.slice(-share)) };
}

/** The way from an append, over the reaction and the user's stored event, to an open tab. */
export const bench: Bench = {
  name: 'user-events',
  title: `${USERS} users with an open tab each, ${EVENTS_PER_SECOND} events a second`,
  async run(context) {
    const model = await startProgram('paced-model');
    const bare = await startProgram('bare-server', model.url);
    const tokens = new SessionTokens(SECRET);
    const headers = await Promise.all(
      Array.from({ length: USERS }, async (_, user) => ({
        authorization: `Bearer ${await tokens.issue({ subject: `user-${user}`, roles: [] })}`,
      })),
    );
    const body = { question: 'paced 1 tokens 0 ms', visibility: 'listed' };
    const ofService = async (environment: Readonly<Record<string, string>>): Promise<Measured> => {
      const service = await startService(context, {
        OPENAI_BASE_URL: `${model.url}/v1`,
        AUTH_TYPE: 'session_jwt',
        JWT_SECRET_KEY: SECRET,
        TITLE_MODEL_ID: 'none',
        ...environment,
      });
      const measured = await measure({
        listen: (user) => [`${service.url}/api/events`, { headers: headers[user]! }],
        cause: (user) => [`${service.url}/api/answer`, { method: 'POST', headers: headers[user]!, body }],
        rss: async () => (await service.usage()).service.rssBytes,
      });
      await service.stop();
      return measured;
    };
    const ours = await ofService({});
    const bounded = await ofService({ NODE_OPTIONS: BOUNDED_HEAP });
    const theirs = await measure({
      listen: (user) => [`${bare.url}/events?user-${user}`, {}],
      cause: (user) => [`${bare.url}/tell?user-${user}`, { method: 'POST', body }],
      rss: async () => (await usageOf([bare.pid])).rssBytes,
    });
    await Promise.all([bare.stop(), model.stop()]);
    return { figures: figuresOf(ours, bounded, theirs), notes: notesOf(ours, theirs) };
  },
};

const MIB = 2 ** 20;
const growth = ({ rssAtStart, rssAtEnd }: Measured): number => (rssAtEnd - rssAtStart) / MIB;

function figuresOf(ours: Measured, bounded: Measured, bare: Measured): Figure[] {
  const late = (name: string, share: number): Figure => ({
    name,
    value: quantile(ours.lateMs, share),
    unit: 'ms',
    baseline: { name: 'bare relay', value: quantile(bare.lateMs, share) },
  });
  return [
    late('an event comes late by, median', 0.5),
    { ...late('p99', 0.99), target: { atMost: 100 } },
    late('at most', 1),
    {
      name: 'RSS of the service at the end',
      value: bounded.rssAtEnd / MIB,
      unit: 'MiB',
      baseline: { name: 'at the start', value: bounded.rssAtStart / MIB },
    },
    {
      name: `its growth over ${SECONDS * EVENTS_PER_SECOND} events`,
      value: growth(bounded),
      unit: 'MiB',
      baseline: { name: 'bare relay', value: growth(bare) },
      target: { atMost: 16 },
    },
  ];
}

const notesOf = (ours: Measured, bare: Measured): string[] => [
  `${ours.lateMs.length} events within ${SECONDS} s, two or three for each question that the service answers meanwhile. The bare relay answers none, stores nothing, and forwards ${bare.lateMs.length} events.`,
  `RSS as the median of the first and of the last fifth of the time, in another process whose heap is bounded (${BOUNDED_HEAP}).`,
  'Measured from the stored time of the cause, which has whole milliseconds.',
];
