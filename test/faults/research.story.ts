import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import { framesIn, messageIdIn, recordsIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { researchScript, tasksOf } from '../support/researches.js';
import { hang, say } from '../support/scripted-model-server.js';
import { type ScriptedProcess, startScriptedProcess } from '../support/scripted-process.js';
import { TurnLog } from '../support/turn-log.js';

const QUERIES = ['q1', 'q2', 'q3'];
const TASKS = ['clarify', 'plan', ...QUERIES, 'answer'];

/** A process that is killed while its research is at work: the steps that are left are run, those that are finished are not. */
export function researchKillsStory(makeBacking: MakeBacking): void {
  let running: ScriptedProcess;
  let agentId: string;
  let log: TurnLog;

  beforeAll(async () => {
    running = await startScriptedProcess({ TITLE_MODEL_ID: 'none' }, { backing: await makeBacking(), standbys: 1 });
    log = new TurnLog(running.backing.store);
    const agent = { name: 'Researcher', description: '-', chunks: 4, retriever: 'classic', prompt_id: 'default' };
    const body = { ...agent, agent_type: 'research', status: 'published' };
    agentId = ((await (await running.client.post('/api/create_agent', body)).json()) as { id: string }).id;
  });
  afterAll(() => running.close());
  beforeEach(() => running.model.reset());

  const asked = () => tasksOf(running.model.completions);

  /**
   * Asks, kills the process as soon as its model has this task, and brings it back. That nothing had to be clarified is known to the
   * next process by the first progress that was shown, and only by that.
   */
  async function killedAt(task: string): Promise<string> {
    let isFirst = true;
    const stuck = () => {
      if (!isFirst) return undefined;
      isFirst = false;
      return [hang];
    };
    running.model.always(researchScript(QUERIES, { [task]: stuck }));
    const shown = task === 'clarify' ? 'message_id' : 'research_progress';
    const before = await running.client.stream({ question: 'Why?', agent_id: agentId }, (text) => text.includes(shown));
    await eventually(() => asked().includes(task));
    await running.service.kill();
    await running.service.start();
    return messageIdIn(before);
  }

  async function journalOf(messageId: string): Promise<string> {
    await eventually(async () => (await log.refresh()).turns.get(messageId)?.seals.length === 1);
    const journal = await log.journalOf(messageId);
    expect(recordsIn((await running.client.resume(messageId)).text)).toBe(journal);
    return journal;
  }

  it.each(TASKS)('killed while its model works on %s, it goes on there and nowhere before', async (task) => {
    const journal = await journalOf(await killedAt(task));
    expect(asked()).toEqual([...TASKS.slice(0, TASKS.indexOf(task) + 1), ...TASKS.slice(TASKS.indexOf(task))]);
    const frames = framesIn(journal).map(({ data }) => {
      const { status, step } = (data['data'] ?? {}) as { status?: string; step?: number };
      return [data.type, status, step].filter((part) => part !== undefined).join(' ');
    });
    expect(frames).toEqual([
      ...['message_id', 'research_progress planning', 'research_plan'],
      ...QUERIES.flatMap((_, index) => [`research_progress researching ${index + 1}`, `research_progress complete ${index + 1}`]),
      ...['research_progress synthesizing', 'answer', 'source', 'tool_calls', 'id', 'end'],
    ]);
  });

  it('killed once text of the answer was shown, it is ended as interrupted, with that text', async () => {
    running.model.always(researchScript(QUERIES, { answer: () => [...say('Half an'), hang] }));
    const before = await running.client.stream({ question: 'Why?', agent_id: agentId }, (text) => text.includes('Half an'));
    await running.service.kill();
    await running.service.start();
    const frames = framesIn(await journalOf(messageIdIn(before)));
    expect(frames.slice(-4).map(({ data }) => data['code'] ?? data.type)).toEqual(['answer', 'interrupted', 'id', 'end']);
    expect(asked()).toEqual(TASKS);
  });
}
