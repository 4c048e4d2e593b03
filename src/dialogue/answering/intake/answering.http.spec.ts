import { expect, it } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { NoLimits } from '../../../../test/support/no-limits.js';
import { answeringOptions } from '../../../../test/support/turns.js';
import type { Identity } from '../../../resources/identity/identity.js';
import { LastWrites } from '../../../kernel/event-sourcing/last-writes.js';
import { SseStreams } from '../../../platform/http/sse.js';
import type { AskQuestionIntake } from './ask-question-intake.js';
import { AnsweringController } from './answering.http.js';
import type { FrameTail } from '../../journal/frame-tail.js';

const { streamsMax } = answeringOptions.settings;

it('accepts no question whose answer this process has no room to stream, however many come at once', async () => {
  const accepted: (() => void)[] = [];
  const accept = () => new Promise((_, reject) => accepted.push(() => reject(new Error('It is wrong.'))));
  const streams = new SseStreams({ keepaliveMs: 60_000, stallMs: 60_000, bufferedBytesMax: 1_024 });
  const intake = { accept } as unknown as AskQuestionIntake;
  const controller = new AnsweringController(
    intake,
    {} as FrameTail,
    streams,
    new LastWrites(),
    answeringOptions,
    new NoLimits(),
  );
  const alice = { callerOrReader: () => Promise.resolve({ kind: 'user', userId: 'alice' }) } as unknown as Identity;
  const ask = () => controller.stream({ question: 'Why?' }, alice, {}, {} as FastifyReply);

  const asking = Array.from({ length: streamsMax + 1 }, ask);
  await expect(asking.at(-1)).rejects.toMatchObject({ code: 'too-many-requests' });
  expect(accepted).toHaveLength(streamsMax);
  for (const refuse of accepted) refuse();
  for (const refused of asking.slice(0, -1)) await expect(refused).rejects.toThrow('It is wrong.');
  expect(streams.size).toBe(0);
});
