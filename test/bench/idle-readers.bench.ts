import { setTimeout as pause } from 'node:timers/promises';
import { type Bench, median, ratioOf } from './report.js';
import { type MeasuredService, startService } from './measured-service.js';
import { type Program, startProgram } from './program.js';
import type { Call } from './token-reader.js';
import { usageOf } from './usage.js';
import { silentAnswer, waitingReaders } from './waiting-readers.js';

const READERS = 1_000;
const WARM_UP_READERS = 300;
/** Readers share answers like a team shares a conversation. */
const ANSWERS = 100;
const PROCESSES = 3;
/** The time for the garbage of connecting to be collected. */
const SETTLE_MS = 3_000;

/** The memory that a thousand readers add to a process that has had some before, in KiB per reader. */
async function perReader(url: (index: number) => string, rss: () => Promise<number>): Promise<number> {
  const at = (index: number): [string, Call] => [url(index), {}];
  (await waitingReaders(WARM_UP_READERS, at)).abort();
  await pause(SETTLE_MS);
  const before = await rss();
  const readers = await waitingReaders(READERS, at);
  await pause(SETTLE_MS);
  const added = (await rss()) - before;
  readers.abort();
  return added / READERS / 1024;
}

async function ofService(service: MeasuredService): Promise<number> {
  const answers: string[] = [];
  while (answers.length < ANSWERS) answers.push(await silentAnswer(service.url));
  const url = (index: number): string => `${service.url}/api/messages/${answers[index % ANSWERS]}/events`;
  return perReader(url, async () => (await service.usage()).service.rssBytes);
}

const ofBareServer = ({ url, pid }: Program): Promise<number> =>
  perReader(
    () => `${url}/idle`,
    async () => (await usageOf([pid])).rssBytes,
  );

/** The cost of a connection that only waits. */
export const bench: Bench = {
  name: 'idle-readers',
  title: `${READERS} waiting readers of ${ANSWERS} silent answers`,
  async run(context) {
    const model = await startProgram('paced-model');
    const ours: number[] = [];
    const bare: number[] = [];
    for (let process = 0; process < PROCESSES; process++) {
      const service = await startService(context, { OPENAI_BASE_URL: `${model.url}/v1` });
      ours.push(await ofService(service));
      await service.stop();
      const server = await startProgram('bare-server', model.url);
      bare.push(await ofBareServer(server));
      await server.stop();
    }
    await model.stop();
    const baseline = { name: 'bare server', value: median(bare) };
    return {
      figures: [
        { name: 'RSS per reader', value: median(ours), unit: 'KiB', baseline, target: { atMost: 40 } },
        { name: 'RSS per reader: times the bare server', value: ratioOf(ours, bare), unit: '×', target: { atMost: 1.6 } },
      ],
      notes: [
        `In ${PROCESSES} fresh processes each, after ${WARM_UP_READERS} readers had connected and left: ${ours.map((each) => each.toFixed(1)).join(', ')} KiB; the bare server ${bare.map((each) => each.toFixed(1)).join(', ')} KiB.`,
      ],
    };
  },
};
