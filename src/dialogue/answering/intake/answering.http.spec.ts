import { expect, it } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { NoLimits } from '../../../../test/support/no-limits.js';
import { answeringOptions } from '../../../../test/support/turns.js';
import type { Identity } from '../../../resources/identity/identity.js';
import { LastWrites } from '../../../kernel/event-sourcing/last-writes.js';
import type { SseStreams } from '../../../platform/http/sse.js';
import type { AskQuestionIntake } from './ask-question-intake.js';
import { AnsweringController } from './answering.http.js';
import type { FrameTail } from '../../journal/frame-tail.js';

it('no question is accepted whose answer this process has no room to stream', async () => {
  const intake = { accept: () => Promise.reject(new Error('It was accepted.')) } as unknown as AskQuestionIntake;
  const full = { size: answeringOptions.settings.streamsMax } as SseStreams;
  const controller = new AnsweringController(intake, {} as FrameTail, full, new LastWrites(), answeringOptions, new NoLimits());
  const asking = controller.stream({ question: 'Why?' }, {} as Identity, {}, {} as FastifyReply);
  await expect(asking).rejects.toMatchObject({ code: 'too-many-requests' });
});
