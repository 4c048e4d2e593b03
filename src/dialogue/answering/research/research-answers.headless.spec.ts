import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { usageChunk } from '../../../../test/support/research-turns.js';
import { queryOf, researcher, researchOver, taskOf } from '../../../../test/support/researches.js';
import { composerOver, ScriptedModels, text, ToolsForTests } from '../../../../test/support/tool-turns.js';
import { turnSettings } from '../../../../test/support/turn-settings.js';
import { cause } from '../../../../test/support/turns.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { systemTiming } from '../../../platform/system-timing.js';
import type { Search } from '../../../resources/sources/chunks/search.port.js';
import type { Usage } from '../../conversation/conversation.events.js';
import type { QuestionResolver } from '../intake/resolve-question.js';
import { HeadlessAnswers } from '../runner/headless-answers.js';

Logger.overrideLogger(false);

describe('a headless research', () => {
  it('asks nothing back, and a later attempt continues with the unfinished steps', async () => {
    const log = new InMemoryEventStore();
    const blobs = new InMemoryBlobs();
    const attempts: AbortController[] = [];
    const models = new ScriptedModels(
      researcher(['q1', 'q2', 'q3'], {
        clarify: () => [text('{"needs_clarification": true, "question": "Which?"}')],
        step: (request) => {
          if (queryOf(request) === 'q2' && attempts.length === 1) attempts[0]!.abort(new Error('The process ends.'));
          return [text('Found.'), usageChunk(100)];
        },
      }),
    );
    const search = { search: async () => ({ chunks: [], failedSources: [] }) } as unknown as Search;
    const tools = new ToolsForTests([]);
    const attempt = async () => {
      attempts.push(new AbortController());
      const research = researchOver({ store: log, models, tools, blobs, search });
      const composer = composerOver(models, tools, blobs, search, research);
      const agent = new HeadlessAnswers({} as QuestionResolver, composer, new Streams(log, systemTiming));
      let used: Usage | null = null;
      const { parts } = await agent.answer({
        ...{ runId: 'r1', attempt: attempts.length, ownerId: 'alice', input: 'Why?', cause, callIdsTaken: new Set<string>() },
        settings: turnSettings({ modelId: 'scripted', agentType: 'research' }),
        ledger: { begin: async () => undefined, finish: async () => undefined },
        used: (all) => (used = all),
        signal: attempts.at(-1)!.signal,
      });
      return { answer: parts.answer, used };
    };
    await expect(attempt()).rejects.toThrow('The process ends.');
    // The usage of the first attempt is counted with that attempt.
    expect(await attempt()).toEqual({ answer: 'The answer.', used: { promptTokens: 200, completionTokens: 0 } });
    const tasks = models.requests.map((request) => (taskOf(request) === 'step' ? queryOf(request) : taskOf(request)));
    expect(tasks).toEqual(['plan', 'q1', 'q2', 'q2', 'q3', 'answer']);
  });
});
