import { expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { composerOver, ScriptedModels, text, ToolsForTests } from '../../../../test/support/tool-turns.js';
import { turnSettings } from '../../../../test/support/turn-settings.js';
import { cause } from '../../../../test/support/turns.js';
import type { Search } from '../../../resources/sources/chunks/search.port.js';
import { interactive } from './execution-mode.policy.js';
import { WAITING } from './background-calls.port.js';
import type { AnswerDelta } from './answer-delta.js';
import type { Transcript } from './transcript.js';

/** The deltas of the answer to a question about two sources. */
async function composed(search: Search['search']): Promise<readonly AnswerDelta[]> {
  const models = new ScriptedModels(() => [text('Because.')]);
  const composer = composerOver(models, new ToolsForTests([]), new InMemoryBlobs(), { search });
  const sources = [{ id: 's1' }, { id: 's2' }];
  const transcript = {
    ownerId: 'alice',
    asked: {
      conversationId: 'c1',
      turnId: 't1',
      question: 'Why?',
      requestId: 'r1',
      settings: turnSettings({ modelId: 'scripted', sources }),
    },
    cause,
    exchanges: () => Promise.resolve([]),
    resumption: null,
    calls: { started: new Map(), finished: new Map() },
    waited: [],
  } as unknown as Transcript;
  const ledger = { begin: () => Promise.resolve(), finish: () => Promise.resolve() };
  const { signal } = new AbortController();
  const run = { signal, ledger, executionMode: interactive(WAITING), fencingToken: 1, records: () => [], shown: [] };
  const deltas: AnswerDelta[] = [];
  for await (const delta of composer.compose(transcript, run)) deltas.push(delta);
  return deltas;
}

const skipped = (id: string) => ({ type: 'notice', text: `A source could not be searched and was skipped: ${id}` });
const rest = [{ type: 'sources', sources: [] }, text('Because.')];

it('an answer continues without a deleted source, with a notice', async () => {
  expect(await composed(() => Promise.resolve({ chunks: [], failedSources: ['s2'] }))).toEqual([skipped('s2'), ...rest]);
});

it('an answer continues without a failed search, with a notice for every source and the cause in the log', async () => {
  const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  const failure = new Error('The index is away.');
  expect(await composed(() => Promise.reject(failure))).toEqual([skipped('s1'), skipped('s2'), ...rest]);
  expect(logged).toHaveBeenCalledWith(failure);
  logged.mockRestore();
});
