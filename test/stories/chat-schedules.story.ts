import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import { defaultToolId } from '../../src/resources/tools/defaults/default-tools.policy.js';
import { askOver } from '../support/asked.js';
import type { MakeBacking } from '../support/backing.js';
import { answerIn, type Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { call, refuse, say, type Step, until } from '../support/scripted-model-server.js';
import { TabForTests } from '../support/tab.js';
import { openWorld, replyOf, type World } from '../support/world.js';

type Fields = Record<string, unknown>;
const SCHEDULES_MAX = 3;
const SCHEDULER = defaultToolId('scheduler');
const ACTIONS = ['schedule_task', 'list_scheduled_tasks', 'cancel_scheduled_task'];

/** Tasks that chats schedule for later: a model creates, lists and cancels them, and their answers appear in the chat. */
export function chatSchedulesStory(makeBacking: MakeBacking): void {
  let world: World;
  let alice: Client;

  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    world.model.reset();
    world.model.always(say('Done.'));
    // A new user, so that no other task counts towards the limits.
    alice = await world.as(`user-${newId()}`);
  });

  /** Lets a model call the scheduler in a chat. Returns the text of the result. */
  const calling = async (action: string, args: Fields, chat: Fields = {}, as = alice) => {
    world.model.next([call('c1', action, args)]);
    const asked = await askOver('/stream', as, { question: 'Please.', visibility: 'listed', ...chat });
    const [toolCall] = asked.toolCalls;
    return { conversationId: asked.conversationId, result: toolCall?.['result'], toolCall };
  };
  const scheduled = (text: string | null | undefined) => {
    const result = JSON.parse(text!) as Fields & { task_id: string };
    return { id: result.task_id, result };
  };
  const schedule = async (args: Fields = {}, chat: Fields = {}, as = alice) => {
    const { conversationId, result } = await calling(
      'schedule_task',
      { instruction: 'Look again.', delay: '1d', ...args },
      chat,
      as,
    );
    return { conversationId, ...scheduled(result) };
  };
  /**
   * Schedules a task in a chat whose answer ends before the task is due, because it is part of the history of the run. On a slow
   * machine that takes several chats, each with twice the delay.
   */
  const scheduledInTime = async (seconds = 4): Promise<Awaited<ReturnType<typeof schedule>>> => {
    world.model.next(say('It is sunny.'));
    const { conversationId } = await askOver('/stream', alice, { question: 'What is the weather?', visibility: 'listed' });
    whenDue('Look at the weather.', ...say('Now it ', 'rains.'));
    const chat = { conversation_id: conversationId };
    const made = await schedule({ instruction: 'Look at the weather.', delay: `${seconds}s` }, chat);
    if (Date.now() < Date.parse(String(made.result['resolved_run_at']))) return made;
    await endOfRun(made.id);
    return scheduledInTime(2 * seconds);
  };
  const listed = async (chat: Fields) => {
    const { result } = await calling('list_scheduled_tasks', {}, chat);
    return (JSON.parse(result!) as { tasks: Fields[] }).tasks;
  };
  /** The model's answer once a task is due, however soon that is. */
  const whenDue = (instruction: string, ...steps: readonly Step[]) =>
    world.model.always(({ messages }) => (messages.at(-1)!.content === instruction ? steps : say('Done.')));
  const sentToModel = () => world.model.completions.at(-1)!.body.messages;
  const offeredToModel = (at = -1) =>
    ((world.model.completions.at(at)!.body['tools'] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);
  const scheduleOf = async (id: string) => (await alice.json<{ schedule: Fields }>(`/api/schedules/${id}`)).schedule;
  const runsOf = async (id: string) => (await alice.json<{ runs: Fields[] }>(`/api/schedules/${id}/runs`)).runs;
  const messagesIn = async (conversationId: string) =>
    (await alice.json<{ queries: Fields[] }>(`/api/get_single_conversation?id=${conversationId}`)).queries;
  const isOver = ({ status }: Fields) => status !== 'pending' && status !== 'running';
  const endOfRun = async (id: string): Promise<Fields> => {
    let newest: Fields | undefined;
    await eventually(async () => ((newest = (await runsOf(id))[0]), newest !== undefined && isOver(newest)));
    return newest!;
  };

  describe('a task that a chat scheduled', () => {
    it('runs at its time with the chat’s history, and its answer appears in the chat', async () => {
      const tab = await TabForTests.open(alice);
      const { conversationId, id, result } = await scheduledInTime();
      expect(result).toEqual({
        task_id: id,
        resolved_run_at: expect.stringMatching(/Z$/),
        timezone: 'UTC',
        instruction: 'Look at the weather.',
        name: 'Look at the weather.',
      });
      expect(await endOfRun(id)).toMatchObject({ status: 'success', agent_id: null, output: 'Now it rains.' });
      expect(sentToModel().map(({ role, content }) => (role === 'system' ? role : content))).toEqual([
        'system',
        'What is the weather?',
        'It is sunny.',
        'Please.',
        'Done.',
        'Look at the weather.',
      ]);
      expect(offeredToModel()).toEqual(expect.not.arrayContaining(ACTIONS));
      await eventually(async () => (await messagesIn(conversationId)).length === 3);
      const message = (await messagesIn(conversationId))[2]!;
      expect(message).toMatchObject({ prompt: 'Look at the weather.', response: 'Now it rains.', status: 'complete' });
      await eventually(async () => (await runsOf(id))[0]!['message_id'] !== null);
      const [run] = await runsOf(id);
      expect(run).toMatchObject({ conversation_id: conversationId, message_id: message['message_id'] });
      expect(message['metadata']).toEqual({
        scheduled: true,
        schedule_id: id,
        run_id: run!['id'],
        scheduled_run_at: result['resolved_run_at'],
      });
      const replayed = await alice.resume(String(message['message_id']));
      expect([replayed.status, answerIn(replayed), replayed.frames.at(-1)!.data.type]).toEqual([200, 'Now it rains.', 'end']);
      await tab.has((text) => text.includes('schedule.message.appended'));
      const told = tab.events.find(({ type }) => type === 'schedule.message.appended')!;
      expect(told.payload).toEqual({
        conversation_id: conversationId,
        message_id: message['message_id'],
        schedule_id: id,
        run_id: run!['id'],
        position: 2,
      });
      expect(await scheduleOf(id)).toMatchObject({
        status: 'completed',
        origin_conversation_id: conversationId,
        created_via: 'chat',
      });
      await tab.close();
      world.model.next(say('As I said, rain.'));
      await askOver('/stream', alice, { question: 'And now?', conversation_id: conversationId });
      expect(sentToModel().map(({ content }) => content)).toEqual(
        expect.arrayContaining(['Look at the weather.', 'Now it rains.']),
      );
    });

    it('is an ordinary schedule, even without an agent', async () => {
      const { id, conversationId } = await schedule({ delay: undefined, run_at: runAt, timezone: 'Europe/Prague' });
      expect(await scheduleOf(id)).toMatchObject({
        agent_id: null,
        trigger_type: 'once',
        timezone: 'Europe/Prague',
        run_at: new Date(`${runAt}+01:00`).toISOString(),
        tool_allowlist: expect.arrayContaining([defaultToolId('memory')]) as unknown,
        origin_conversation_id: conversationId,
        created_via: 'chat',
      });
      const put = await replyOf(alice.put(`/api/schedules/${id}`, { instruction: 'Look twice.' }));
      expect(put.body).toMatchObject({ schedule: { instruction: 'Look twice.', agent_id: null } });
      const patch = (body: Fields) => replyOf(alice.patch(`/api/schedules/${id}`, body));
      expect((await patch({ action: 'pause' })).body).toMatchObject({ schedule: { status: 'paused' } });
      expect((await patch({ action: 'resume' })).body).toMatchObject({ schedule: { status: 'active' } });
      world.model.next(say('Twice.'));
      expect((await alice.post(`/api/schedules/${id}/run`, {})).status).toBe(202);
      expect(await endOfRun(id)).toMatchObject({ status: 'success', trigger_source: 'manual', output: 'Twice.' });
      await eventually(async () => (await runsOf(id))[0]!['conversation_id'] === conversationId);
      expect((await replyOf(alice.delete(`/api/schedules/${id}`))).body).toEqual({ success: true });
      expect((await alice.get(`/api/schedules/${id}`)).status).toBe(404);
    });

    it('adds nothing to the chat when it fails', async () => {
      whenDue('Look again.', refuse(400));
      const { id, conversationId } = await schedule({ delay: '1s' });
      expect(await endOfRun(id)).toMatchObject({ status: 'failed', conversation_id: null, message_id: null });
      expect(await messagesIn(conversationId)).toHaveLength(1);
    });

    it('still runs when its chat is deleted meanwhile, and its answer appears nowhere', async () => {
      let goOn = (): void => undefined;
      whenDue('Look again.', until(new Promise<void>((resolve) => (goOn = resolve))), ...say('Too late.'));
      const { id, conversationId } = await schedule({ delay: '1s' });
      await eventually(async () => (await runsOf(id))[0]?.['status'] === 'running');
      expect((await alice.post(`/api/delete_conversation?id=${conversationId}`, {})).status).toBe(200);
      goOn();
      expect(await endOfRun(id)).toMatchObject({ status: 'success', output: 'Too late.', conversation_id: null });
      expect((await alice.get(`/api/get_single_conversation?id=${conversationId}`)).status).toBe(404);
    });
  });

  describe('tasks', () => {
    it('are listed and cancelled only by the chat that created them', async () => {
      const { id, conversationId, result } = await schedule();
      const chat = { conversation_id: conversationId };
      const task = { ...result, status: 'active' };
      expect(await listed(chat)).toEqual([task]);
      const elsewhere = await schedule();
      expect(await listed(chat)).toEqual([task]);
      const cancel = async (taskId: string, where: Fields = chat) =>
        (await calling('cancel_scheduled_task', { task_id: taskId }, where)).result;
      const notFound = 'Error: scheduled task not found or already terminal.';
      expect(await cancel(elsewhere.id)).toBe(notFound);
      expect(await cancel(newId())).toBe(notFound);
      expect(JSON.parse((await cancel(id))!)).toEqual({ task_id: id, status: 'cancelled' });
      expect(await listed(chat)).toEqual([]);
      expect(await scheduleOf(id)).toMatchObject({ status: 'cancelled', next_run_at: null });
      expect((await alice.post(`/api/schedules/${id}/run`, {})).status).toBe(409);
    });

    it('of an agent are those of all its chats with the user', async () => {
      const agent = await world.agent({ tools: [SCHEDULER] }, alice);
      const chat = { agent_id: agent.id };
      const { id } = await schedule({}, chat);
      expect((await listed(chat)).map(({ task_id: each }) => each)).toEqual([id]);
      expect(await listed({})).toEqual([]);
      const { schedules } = await alice.json<{ schedules: Fields[] }>(`/api/agents/${agent.id}/schedules`);
      expect(schedules).toMatchObject([{ id, created_via: 'chat', tool_allowlist: [SCHEDULER] }]);
      expect(JSON.parse((await calling('cancel_scheduled_task', { task_id: id }, chat)).result!)).toEqual({
        task_id: id,
        status: 'cancelled',
      });
    });

    it('of a chat without an agent are cancelled with it', async () => {
      const { id, conversationId } = await schedule();
      const agent = await world.agent({ tools: [SCHEDULER] }, alice);
      const kept = await schedule({}, { agent_id: agent.id });
      for (const each of [conversationId, kept.conversationId]) await alice.post(`/api/delete_conversation?id=${each}`, {});
      await eventually(async () => (await scheduleOf(id))['status'] === 'cancelled');
      expect(await scheduleOf(kept.id)).toMatchObject({ status: 'active' });
    });

    it('count towards the limit per user, together with other schedules', async () => {
      await world.service.restart({ SCHEDULE_MAX_PER_USER: String(SCHEDULES_MAX) });
      for (let count = 0; count < SCHEDULES_MAX; count++) await schedule();
      const { result } = await calling('schedule_task', { instruction: 'Look.', delay: '1d' });
      expect(result).toBe('Error: you have reached the maximum number of active schedules.');
      await world.service.restart();
    });

    it.each<[string, Fields, string]>([
      ['schedule_task', { instruction: ' ', delay: '1h' }, 'instruction is required.'],
      ['schedule_task', { instruction: 'Look.' }, 'provide either `delay` or `run_at`.'],
      ['schedule_task', { instruction: 'Look.', delay: '1h', run_at: '2030-01-01' }, 'provide only one of `delay` or `run_at`.'],
      ['schedule_task', { instruction: 'Look.', delay: '1 week' }, "delay must look like '30s', '15m', '2h', or '1d'."],
      ['schedule_task', { instruction: 'Look.', delay: '0m' }, 'delay must be positive.'],
      ['schedule_task', { instruction: 'Look.', delay: '1h', timezone: 'Mars' }, 'Unknown timezone: Mars'],
      ['schedule_task', { instruction: 'Look.', run_at: 'tomorrow' }, 'Invalid run_at: tomorrow'],
      ['schedule_task', { instruction: 'Look.', run_at: '2020-01-01' }, 'run_at is in the past.'],
      ['schedule_task', { instruction: 'Look.', delay: '9999d' }, 'run_at is beyond the maximum allowed scheduling horizon.'],
      ['cancel_scheduled_task', { task_id: '7' }, 'task_id must be a valid id.'],
    ])('%s with %j returns an error to model and client', async (action, args, words) => {
      const { result, toolCall } = await calling(action, args);
      expect(result).toBe(`Error: ${words}`);
      expect(toolCall).toMatchObject({ tool_name: 'scheduler', action_name: action, status: 'completed' });
      expect(sentToModel().at(-1)!.content).toBe(`Error: ${words}`);
    });
  });

  describe('the scheduler', () => {
    it('is available in chats without an agent until its user disables it, and with an agent that has it', async () => {
      await askOver('/stream', alice, { question: 'Hello?' });
      expect(offeredToModel()).toEqual(expect.arrayContaining(ACTIONS));
      const { tools } = await alice.json<{ tools: Fields[] }>('/api/get_tools');
      expect(tools.find(({ id }) => id === SCHEDULER)).toMatchObject({ name: 'scheduler', status: true });
      const { data } = await alice.json<{ data: Fields[] }>('/api/available_tools');
      expect(data.map(({ name }) => name)).not.toContain('scheduler');
      await alice.post('/api/update_tool_status', { id: SCHEDULER, status: false });
      await askOver('/stream', alice, { question: 'Hello?' });
      expect(offeredToModel()).toEqual(expect.not.arrayContaining(ACTIONS));
    });

    it('is not available to callers with an agent’s key who are not its owner', async () => {
      const agent = await world.agent({ tools: [SCHEDULER] }, alice);
      const ask = (client: Client) => askOver('/stream', client, { question: 'Hello?', api_key: agent.key });
      expect((await ask(world.nobody)).status).toBe(200);
      expect(offeredToModel()).toEqual([]);
      await ask(world.bob);
      expect(offeredToModel()).toEqual([]);
      await ask(alice);
      expect(offeredToModel()).toEqual(ACTIONS);
    });
  });
}

const nextYear = new Date().getUTCFullYear() + (new Date().getUTCMonth() < 1 ? 0 : 1);
/** In winter, when clocks in Prague are an hour ahead of UTC. */
const runAt = `${nextYear}-02-01T12:00:00`;
