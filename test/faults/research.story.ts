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

/** A process is killed during a research: the missing steps are run, the finished ones are not. */
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
   * Asks, kills the process as soon as its model gets this task, and restarts it. The next process knows from the first progress
   * frame alone that nothing had to be clarified.
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

  it.each(TASKS)('a research that is killed while its model works on %s continues at that task', async (task) => {
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

  it('a research that is killed after text of the answer was shown ends as interrupted, with that text', async () => {
    running.model.always(researchScript(QUERIES, { answer: () => [...say('Half an'), hang] }));
    const before = await running.client.stream({ question: 'Why?', agent_id: agentId }, (text) => text.includes('Half an'));
    await running.service.kill();
    await running.service.start();
    const frames = framesIn(await journalOf(messageIdIn(before)));
    expect(frames.slice(-4).map(({ data }) => data['code'] ?? data.type)).toEqual(['answer', 'interrupted', 'id', 'end']);
    expect(asked()).toEqual(TASKS);
  });
}
