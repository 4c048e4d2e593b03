import { expect, it } from '@jest/globals';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import {
  composerOver,
  offeredAction,
  resultsIn,
  roundOf,
  ScriptedModels,
  text,
  toolCall,
  ToolsForTests,
  WITH_TOOLS,
} from '../../../../test/support/tool-turns.js';
import { askedTurn, workerOver } from '../../../../test/support/turns.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';

const JOB = { status: 'running', job_id: 'j1' };

it.each([
  ['of a user may become a job', undefined, JOB],
  ['over another protocol is waited for, because its caller reads no follow-up', 'openai-chat', { done: 'send' }],
  ['of an MCP client is waited for, because its caller reads no follow-up', 'mcp', { done: 'send' }],
] as const)('a long call %s', async (_, dialect, result) => {
  const log = new InMemoryEventStore();
  const models = new ScriptedModels((request) => [roundOf(request) === 0 ? toolCall('k1', 'send') : text('So.')]);
  const tools = new ToolsForTests([offeredAction('send')], ({ name }) => ({ done: name }));
  const composer = composerOver(models, tools, new InMemoryBlobs());
  await askedTurn(log, 'c1', 't1', { ...WITH_TOOLS, ...(dialect && { dialect: { name: dialect, translator: 1 } }) });
  const calls = { run: () => Promise.resolve(JOB) };
  const worker = workerOver(log, new InProcessSignals(), composer, undefined, undefined, undefined, calls);
  await worker.runner.run('c1', 't1');
  expect(JSON.parse(resultsIn(models.requests[1]!)['k1']!)).toEqual(result);
});
