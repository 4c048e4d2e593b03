import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { researcher, taskOf } from '../../../../test/support/researches.js';
import { offeredAction, roundOf, text, toolCall, ToolsForTests } from '../../../../test/support/tool-turns.js';
import { eventsOf } from '../../../../test/support/turns.js';
import { runWorkflow, briefFrames } from '../../../../test/support/workflow-turns.js';
import { inARow, node } from '../../../../test/support/workflows.js';
import { ModelFailed } from '../../../resources/models/model/language-model.port.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { researchStream } from '../research/research.events.js';
import { researchIdOf, workflowRunIdOf } from './run/workflow-run.events.js';

Logger.overrideLogger(false);

describe('an agent node', () => {
  it('answers with its own prompt, model and settings', async () => {
    const { models } = await runWorkflow(
      inARow([node('ask', 'agent', { system_prompt: 'You are {{query}}', prompt_template: 'Say {{query}}', model_id: 'other' })]),
    );
    expect(models.requests[0]).toMatchObject({ modelId: 'other', question: 'Say Why?' });
    expect(models.requests[0]!.messages).toEqual([
      { role: 'system', content: 'You are Why?' },
      { role: 'user', content: 'Say Why?' },
    ]);
  });

  it('does not use the sampling parameters of the caller', async () => {
    const { models } = await runWorkflow(inARow([node('ask', 'agent')]), {
      settings: { sampling: { temperature: 2, maxTokens: 1 } },
    });
    expect(models.requests).toHaveLength(1);
    expect(models.requests[0]!.sampling).toBeUndefined();
    expect(models.requests[0]!.maxTokens).toBeUndefined();
  });

  it('waits for a long call, because the run would end before a job', async () => {
    const tools = new ToolsForTests([offeredAction('send', { access: 'write' })]);
    const { answer } = await runWorkflow(inARow([node('ask', 'agent', { tools: ['tool-1'] })]), {
      tools,
      says: (request) => (roundOf(request) === 0 ? [toolCall('k1', 'send')] : [text(request.messages.at(-1)!.content as string)]),
      calls: { run: () => Promise.resolve({ status: 'running', job_id: 'j1' }) },
    });
    expect(answer).toBe('send is done');
    expect(tools.names).toEqual(['send']);
  });

  it('without streaming shows no text, and later nodes read its text', async () => {
    const { answer, steps, outcome } = await runWorkflow(
      inARow([
        node('draft', 'agent', { stream_to_user: false, output_variable: 'draft' }),
        node('last', 'agent', { prompt_template: 'Better: {{draft}}' }),
      ]),
    );
    expect(answer).toBe('Better: Why?!!');
    expect(outcome.data['answer']).toBe('Better: Why?!!');
    expect(steps.find(({ node_id: id, status }) => id === 'draft' && status === 'completed')).toMatchObject({ output: 'Why?!' });
  });

  it('with a schema outputs a value, also from a code fence, and fails if the answer does not fit', async () => {
    const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const graph = inARow([node('count', 'agent', { json_schema: schema, output_variable: 'counted' })]);
    const fits = await runWorkflow(graph, { says: () => [text('```json\n{"n": 1}\n```')] });
    expect(fits.steps.find(({ node_id: id, status }) => id === 'count' && status === 'completed')).toMatchObject({
      output: { n: 1 },
      state_delta: { counted: { n: 1 } },
    });
    expect(fits.answer).toBe('{"n":1}');
    const does = await runWorkflow(graph, { says: () => [text('one')] });
    expect(does.steps.at(-1)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('schema of this node') as unknown,
    });
    expect(does.run.status).toBe('failed');
    expect(does.answer).toBe('');
  });

  it('with a file_passing setting other than auto shows a notice', async () => {
    const settings = { attachments: [{ id: 'f1', filename: 'a.pdf', mimeType: 'application/pdf' }] };
    const asked = { file_passing: 'native', input_documents: ['*'] };
    const { frames } = await runWorkflow(inARow([node('ask', 'agent', asked)]), { settings });
    expect(frames.flatMap(({ type, notice }) => (type === 'notice' ? [notice] : []))).toEqual([
      expect.stringContaining('file_passing "native" acts as "auto"'),
    ]);
    const plain = await runWorkflow(inARow([node('ask', 'agent', { input_documents: ['*'] })]), { settings });
    expect(plain.frames.filter(({ type }) => type === 'notice')).toEqual([]);
  });

  it('of the type research uses its own prompt, asks nothing back, and records its research for its step', async () => {
    const asked = { agent_type: 'research', system_prompt: 'Dig deep.', output_variable: 'found' };
    const { frames, models, log, steps, run } = await runWorkflow(inARow([node('dig', 'agent', asked)]), {
      says: researcher(['q1']),
    });
    expect(briefFrames(frames).slice(4, -6)).toEqual([
      ...['dig running', 'research_progress', 'research_plan', 'research_progress', 'research_progress'],
      ...['research_progress', 'answer', 'dig completed'],
    ]);
    expect(models.requests.map(taskOf)).toEqual(['plan', 'step', 'answer']);
    expect(models.requests.slice(1).every(({ messages }) => JSON.stringify(messages[0]).includes('Dig deep.'))).toBe(true);
    expect(steps.find(({ node_id: id, status }) => id === 'dig' && status === 'completed')).toMatchObject({
      state_delta: { found: 'The answer.' },
    });
    const recorded = async (id: string) => (await eventsOf(log, researchStream(id))).map(({ type }) => type);
    expect(await recorded(researchIdOf(workflowRunIdOf('t1'), 2))).toEqual(['ResearchPlanned', 'ResearchStepReported']);
    expect(await recorded('t1')).toEqual([]);
    expect(run.status).toBe('completed');
  });

  it('of the type research without streaming shows no frames of its research', async () => {
    const asked = { agent_type: 'research', stream_to_user: false };
    const { frames, run } = await runWorkflow(inARow([node('dig', 'agent', asked)], 'Done.'), { says: researcher(['q1']) });
    expect(frames.filter(({ type }) => String(type).startsWith('research'))).toEqual([]);
    expect([run.status, run.values['node_dig_output']]).toEqual(['completed', { value: 'The answer.' }]);
  });

  it('uses a template that cannot be rendered unchanged, and records a problem', async () => {
    const { frames, run, models } = await runWorkflow(
      inARow([node('ask', 'agent', { prompt_template: '{{broken}} {{query}}' })]),
    );
    expect(models.requests[0]!.question).toBe('{{broken}} {{query}}');
    expect(frames.find(({ type }) => type === 'notice')!['notice']).toContain('It is broken.');
    expect(run.steps[1]!.ended!.problems).toEqual([expect.stringContaining('It is broken.')]);
  });

  it('records the calls of its tools with its step', async () => {
    const tools = new ToolsForTests([offeredAction('send', { access: 'write' })]);
    const { log, run, frames } = await runWorkflow(inARow([node('ask', 'agent', { tools: ['tool-1'] })]), {
      tools,
      says: (request) => (roundOf(request) === 0 ? [toolCall('k1', 'send')] : [text('Sent.')]),
    });
    expect(tools.names).toEqual(['send']);
    const begun = (await eventsOf(log, conversationStream('c1'))).find(({ type }) => type === 'ToolCallStarted')!;
    expect(JSON.parse(begun.data)).toMatchObject({ call: { callId: 'k1', step: 2 } });
    expect(run.steps[1]!.ended!.toolCalls).toEqual([
      { tool_name: 'api_tool', action_name: 'send', status: 'completed', call_id: 'k1' },
    ]);
    expect(frames.filter(({ type }) => type === 'tool_call')).toHaveLength(2);
  });

  it('whose model fails ends its step, the run and the answer with that error', async () => {
    const { frames, run, outcome } = await runWorkflow(inARow([node('ask', 'agent')]), {
      says: function* () {
        yield text('Be');
        throw new ModelFailed('overloaded', 'The model is busy.', true);
      },
    });
    expect(briefFrames(frames).slice(4)).toEqual(['ask running', 'answer', 'ask failed', 'error', 'id', 'end']);
    expect(frames.find(({ type }) => type === 'error')).toEqual({
      type: 'error',
      error: 'The model is busy.',
      code: 'overloaded',
    });
    expect(outcome).toMatchObject({ type: 'TurnFailed', data: { answer: 'Be', code: 'overloaded' } });
    expect(run.finished).toMatchObject({ status: 'failed', reason: 'node_failed', error: 'The model is busy.' });
  });
});
