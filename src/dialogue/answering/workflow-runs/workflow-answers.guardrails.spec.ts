import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { guardrails } from '../../../../test/support/configured-guardrails.js';
import { codePolicy, CodeGuardrails } from '../../../../test/support/guardrails.js';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { offeredAction, roundOf, ScriptedModels, text, toolCall, ToolsForTests } from '../../../../test/support/tool-turns.js';
import { turnSettings } from '../../../../test/support/turn-settings.js';
import { askedTurn, cause, eventsOf, framesOf, workerOver } from '../../../../test/support/turns.js';
import { inARow, node, RUNS_WORKFLOW, workflowRunOf, workflowsOver } from '../../../../test/support/workflows.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { resume } from '../../conversation/pause.decider.js';
import type { Commands } from '../../../kernel/commands.js';
import { LOG_START } from '../../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { AnswerGuards } from '../guardrails/answer-guards.js';
import type { QuestionResolver } from '../intake/resolve-question.js';
import { HeadlessAnswers } from '../runner/headless-answers.js';
import { workflowRunIdOf, workflowRunStream } from './run/workflow-run.events.js';

Logger.overrideLogger(false);

const SECRET = /CODE-[0-9]{4}/;
const KEY_LINE = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw\n';
const silent = (id: string) => node(id, 'agent', { prompt_template: id, output_variable: `said_${id}`, stream_to_user: false });

/** A workflow whose agents each write a secret, split into chunks. With `speaks` the first one streams its text. */
function guardedWorkflow(output: 'redact' | 'block', { speaks = false } = {}) {
  const log = new InMemoryEventStore();
  const blobs = new InMemoryBlobs();
  const first = speaks ? node('one', 'agent', { prompt_template: 'one', output_variable: 'said_one' }) : silent('one');
  const graph = inARow([first, silent('two')], 'It is {{said_one}} and {{said_two}}.');
  const models = new ScriptedModels(({ question }) => [text(`${question} CODE-12`), text('34 it is')]);
  const guards = new AnswerGuards(new CodeGuardrails(), { execute: async () => undefined } as unknown as Commands);
  const composer = workflowsOver(log, graph, models, new ToolsForTests([]), blobs, guards);
  const settings = { ...RUNS_WORKFLOW, guardrails: codePolicy({ output }) };
  const { runner } = workerOver(log, new InProcessSignals(), composer, blobs);
  const run = async () => {
    await askedTurn(log, 'c1', 't1', settings);
    await runner.run('c1', 't1');
    return framesOf(log, 't1');
  };
  const runHeadless = () =>
    new HeadlessAnswers({} as QuestionResolver, composer, new Streams(log, systemTiming)).answer({
      runId: 't1',
      attempt: 1,
      ownerId: 'alice',
      input: 'Go!',
      settings: turnSettings({ modelId: 'scripted', ...settings }),
      cause,
      ledger: { begin: async () => undefined, finish: async () => undefined },
      callIdsTaken: new Set(),
      used: () => undefined,
      signal: new AbortController().signal,
    });
  const stored = () => storedIn(log, blobs);
  const requests = () => JSON.stringify(models.requests.map(({ messages }) => messages));
  return { log, run, runHeadless, stored, requests };
}

/** A workflow whose agent asks for two approvals in the middle of a private key, and whose end shows what the agent has written. */
async function workflowThatPausesInKey(speaks: boolean) {
  const log = new InMemoryEventStore();
  const blobs = new InMemoryBlobs();
  const begun = `The key:\n-----BEGIN PRIVATE KEY-----\n${KEY_LINE}`;
  const rounds = [
    [{ type: 'thought', text: begun } as const, text(begun), toolCall('k1', 'ask')],
    [{ type: 'thought', text: KEY_LINE } as const, text(KEY_LINE), toolCall('k2', 'ask')],
    [text(`${KEY_LINE}-----END PRIVATE KEY-----\nIt ends.`)],
  ];
  const agent = node('one', 'agent', { output_variable: 'said', tools: ['tool-1'], stream_to_user: speaks });
  const tools = new ToolsForTests([offeredAction('ask', { requiresApproval: true })], () => 'done');
  const guards = new AnswerGuards(guardrails, { execute: async () => undefined } as unknown as Commands);
  const models = new ScriptedModels((request) => rounds[roundOf(request)]!);
  const composer = workflowsOver(log, inARow([agent], 'It is {{said}}'), models, tools, blobs, guards);
  const { runner } = workerOver(log, new InProcessSignals(), composer, blobs);
  await askedTurn(log, 'c1', 't1', { ...RUNS_WORKFLOW, guardrails: { ...codePolicy({ output: 'redact' }), timeoutMs: 10_000 } });
  await runner.run('c1', 't1');
  for (const callId of ['k1', 'k2']) {
    const decision = resume([{ callId, decision: 'approved' }], { userId: 'alice' }, new Date());
    await new Streams(log, systemTiming).transact(conversationStream('c1'), conversation, decision, cause);
    await runner.run('c1', 't1');
  }
  return { log, frames: await framesOf(log, 't1'), stored: await storedIn(log, blobs) };
}

async function storedIn(log: InMemoryEventStore, blobs: InMemoryBlobs): Promise<string> {
  let all = blobs.text();
  for await (const page of log.readAll({ after: LOG_START })) all += page.events.map(({ data }) => data).join('\n');
  return all;
}

const answerIn = (frames: readonly Record<string, unknown>[]) => frames.map(({ answer = '' }) => answer as string).join('');

describe("the text of a workflow's nodes", () => {
  it.each([{ speaks: false }, { speaks: true }])(
    'is masked before it is recorded, shown or read by another node (%j)',
    async (how) => {
      const { log, run, stored } = guardedWorkflow('redact', how);
      const frames = await run();
      expect(answerIn(frames)).toContain('It is one [CODE] it is and two [CODE] it is.');
      expect(JSON.stringify(frames)).not.toMatch(SECRET);
      expect((await workflowRunOf(log, 't1')).status).toBe('completed');
      const facts = await eventsOf(log, workflowRunStream(workflowRunIdOf('t1')));
      expect(JSON.stringify(facts.map(({ data }) => data))).toContain('[CODE]');
      expect(await stored()).not.toMatch(SECRET);
    },
  );

  it.each([true, false])('is masked also if the node pauses in a match (the node speaks: %j)', async (speaks) => {
    const { log, frames, stored } = await workflowThatPausesInKey(speaks);
    const said = 'The key:\n[REDACTED]\nIt ends.';
    expect(answerIn(frames)).toBe(`${speaks ? `${said}\n\n` : ''}It is ${said}`);
    expect((await workflowRunOf(log, 't1')).status).toBe('completed');
    expect(stored).not.toContain(KEY_LINE.trim());
    expect(stored).not.toContain('BEGIN PRIVATE KEY');
  });

  it.each([{ speaks: false }, { speaks: true }])('ends turn and run if it is blocked (%j)', async (how) => {
    const { log, run, stored, requests } = guardedWorkflow('block', how);
    const frames = await run();
    expect(frames.slice(-4).map(({ type }) => type)).toEqual(['guardrail', 'error', 'id', 'end']);
    expect(await workflowRunOf(log, 't1')).toMatchObject({ status: 'failed' });
    expect(requests()).not.toMatch(SECRET);
    expect(await stored()).not.toMatch(SECRET);
  });

  it.each([{ speaks: false }, { speaks: true }])('ends a headless run and its record if it is blocked (%j)', async (how) => {
    const { log, runHeadless, stored } = guardedWorkflow('block', how);
    const { error } = await runHeadless();
    expect(error).toMatchObject({ code: 'guardrail' });
    expect(await workflowRunOf(log, 't1')).toMatchObject({ status: 'failed' });
    expect(await stored()).not.toMatch(SECRET);
  });
});
