import { expect, it } from '@jest/globals';
import { guardrails as configured } from '../../../../test/support/configured-guardrails.js';
import { codePolicy, CodeGuardrails } from '../../../../test/support/guardrails.js';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { researcher, researchOver } from '../../../../test/support/researches.js';
import {
  composerOver,
  offeredAction,
  roundOf,
  ScriptedModels,
  text,
  toolCall,
  ToolsForTests,
  WITH_TOOLS,
} from '../../../../test/support/tool-turns.js';
import { askedTurn, cause, eventsOf, framesOf, workerOver } from '../../../../test/support/turns.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { resume } from '../../conversation/pause.decider.js';
import type { Commands } from '../../../kernel/commands.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { LOG_START } from '../../../kernel/event-sourcing/event-store.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../../platform/system-timing.js';
import type { ModelRequest } from '../../../resources/models/model/language-model.port.js';
import type { Search } from '../../../resources/sources/chunks/search.port.js';
import { AnswerGuards } from '../guardrails/answer-guards.js';
import { researchStream } from './research.events.js';

const SECRET = /CODE-[0-9]{4}/;

it('plans, reports and retrieved chunks are checked before they are recorded or shown', async () => {
  const log = new InMemoryEventStore();
  const blobs = new InMemoryBlobs();
  const chunk = { text: 'CODE-3333', title: 'T', source: 's', filename: 'f', sourceId: 'x', score: 1, tokens: 3 };
  const search = { search: async () => ({ chunks: [chunk], failedSources: [] }) } as unknown as Search;
  const models = new ScriptedModels(
    researcher(['Where is CODE-1111?'], {
      step: () => [text('It is CODE-22'), text('22.')],
      answer: () => [text('So it is CODE-44'), text('44.')],
    }),
  );
  const tools = new ToolsForTests([]);
  const research = researchOver({ store: log, models, tools, blobs, search, timing: systemTiming });
  const guards = new AnswerGuards(new CodeGuardrails(), { execute: async () => undefined } as unknown as Commands);
  const { runner } = workerOver(log, new InProcessSignals(), composerOver(models, tools, blobs, search, research, guards), blobs);
  const guardrails = codePolicy({ output: 'redact', retrieval: 'redact' });
  await askedTurn(log, 'c1', 't1', { ...WITH_TOOLS, agentType: 'research', sources: [{ id: 'x' }], guardrails });
  await runner.run('c1', 't1');

  const frames = await framesOf(log, 't1');
  expect(JSON.stringify(frames)).toContain('Where is [CODE]?');
  expect(frames.map(({ answer = '' }) => answer as string).join('')).toBe('So it is [CODE].');
  expect(JSON.stringify((await eventsOf(log, researchStream('t1'))).map(({ data }) => data))).toContain('It is [CODE].');
  let stored = blobs.text();
  for await (const page of log.readAll({ after: LOG_START })) stored += page.events.map(({ data }) => data).join('\n');
  expect(stored).not.toMatch(SECRET);
  expect(JSON.stringify(models.requests.slice(1).map(({ messages, documents }) => [messages, documents]))).not.toContain(
    'CODE-3333',
  );
});

it.each([false, true])(
  'a report after a call in the middle of a private key has no line of it (the call pauses: %j)',
  async (requiresApproval) => {
    const log = new InMemoryEventStore();
    const blobs = new InMemoryBlobs();
    const line = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw\n';
    const rounds = [
      [text(`-----BEGIN PRIVATE KEY-----\n${line}`), toolCall('k1', 'look')],
      [text(line), toolCall('k2', 'look')],
      [text(`${line}-----END PRIVATE KEY-----\nFound.`)],
    ];
    const step = (request: ModelRequest) => rounds[roundOf(request)]!;
    const models = new ScriptedModels(researcher(['Where?'], { step, answer: () => [text('So it is.')] }));
    const tools = new ToolsForTests([offeredAction('look', { requiresApproval })], () => 'done');
    const search = { search: async () => ({ chunks: [], failedSources: [] }) } as unknown as Search;
    const research = researchOver({ store: log, models, tools, blobs, search, timing: systemTiming });
    const guards = new AnswerGuards(configured, { execute: async () => undefined } as unknown as Commands);
    const { runner } = workerOver(
      log,
      new InProcessSignals(),
      composerOver(models, tools, blobs, search, research, guards),
      blobs,
    );
    const guardrails = { ...codePolicy({ output: 'redact' }), timeoutMs: 10_000 };
    await askedTurn(log, 'c1', 't1', { ...WITH_TOOLS, agentType: 'research', guardrails });
    await runner.run('c1', 't1');
    for (const callId of requiresApproval ? ['k1', 'k2'] : []) {
      const decision = resume([{ callId, decision: 'approved' }], { userId: 'alice' }, new Date());
      await new Streams(log, systemTiming).transact(conversationStream('c1'), conversation, decision, cause);
      await runner.run('c1', 't1');
    }
    const reports = JSON.stringify((await eventsOf(log, researchStream('t1'))).map(({ data }) => data));
    expect(reports).toContain('Found.');
    expect(reports + blobs.text()).not.toContain(line.trim());
    for await (const page of log.readAll({ after: LOG_START }))
      expect(page.events.map(({ data }) => data).join()).not.toContain(line.trim());
  },
);
