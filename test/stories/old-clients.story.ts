import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { askOver } from '../support/asked.js';
import type { MakeBacking } from '../support/backing.js';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { broken, call, hang, say, think, wait } from '../support/scripted-model-server.js';
import { TEST_SETTINGS } from '../support/service.js';
import { openWorld, replyOf, type World } from '../support/world.js';

/** A session token of another issuer: HS256 over `sub` only. */
function foreignToken(sub: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub })}`;
  return `${signed}.${createHmac('sha256', TEST_SETTINGS.JWT_SECRET_KEY).update(signed).digest('base64url')}`;
}

type Data = Record<string, unknown> & { type: string };

/** The web client's parser of a stream: records with any line ends, an id only if it is digits, data of several lines. */
class WebClient {
  answer = '';
  thought = '';
  sources: unknown[] = [];
  conversationId: string | null = null;
  messageId: string | null = null;
  cursor: string | null = null;
  error: string | undefined;
  over = false;

  async read(response: Response, leavesAfter = Infinity): Promise<void> {
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      const body = (await response.json()) as Record<string, string>;
      this.error = body['message'] ?? body['error'] ?? body['detail'] ?? response.statusText;
      this.over = true;
      return;
    }
    let buffer = '';
    let frames = 0;
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      buffer = (buffer + Buffer.from(chunk).toString()).replaceAll('\r\n', '\n');
      for (let end; (end = buffer.indexOf('\n\n')) >= 0; buffer = buffer.slice(end + 2)) {
        this.take(buffer.slice(0, end));
        if (++frames >= leavesAfter) return;
      }
    }
  }

  private take(record: string): void {
    const lines = record.split('\n').filter((line) => !line.startsWith(':'));
    const id = lines
      .find((line) => line.startsWith('id:'))
      ?.slice(3)
      .trim();
    if (id !== undefined && /^\d+$/.test(id)) this.cursor = id;
    const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trim());
    if (data.length > 0) this.handle(JSON.parse(data.join('\n')) as Data);
  }

  private handle(data: Data): void {
    if (data.type === 'message_id') {
      this.messageId = data['message_id'] as string;
      if (data['conversation_id']) this.conversationId = data['conversation_id'] as string;
    } else if (data.type === 'end') this.over = true;
    else if (data.type === 'error') [this.error, this.over] = [data['error'] as string, true];
    else if (data.type === 'id') this.conversationId = data['id'] as string;
    else if (data.type === 'source') this.sources = data['source'] as unknown[];
    else if (data.type === 'thought') this.thought += data['thought'] as string;
    else this.answer += (data['answer'] as string | undefined) ?? '';
  }
}

/** The widget's parser of a stream: only `data:` lines, and the `answer` of every unknown frame is appended. */
function widgetReads(text: string) {
  const seen = { answer: '', id: null as unknown, error: undefined as unknown, source: [] as unknown[], ended: false };
  for (const line of text.split('\n')) {
    if (!line.startsWith('data:')) continue;
    const data = JSON.parse(line.slice(5)) as Data;
    if (data.type === 'end') seen.ended = true;
    else if (data.type === 'id') seen.id = data['id'];
    else if (data.type === 'error') seen.error = data['error'];
    else if (data.type === 'source') seen.source = data['source'] as unknown[];
    else if (data['answer']) seen.answer += data['answer'] as string;
  }
  return seen;
}

/** Clients that are older than the service: the web client, the widget, bots and extensions. */
export function oldClientsStory(makeBacking: MakeBacking): void {
  let world: World;
  let web: Client;
  let key: string;
  let agentId: string;
  let sourceId: string;
  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
    const authorization = `Bearer ${foreignToken('erin')}`;
    web = new Client(world.service.url, { authorization });
    const form = new FormData();
    form.append('user', 'local');
    form.append('name', 'Handbook');
    form.append('file', new Blob(['# Parking\n\nThe garage opens at six in the morning.']), 'handbook.md');
    const uploaded = await fetch(`${world.service.url}/api/upload`, { method: 'POST', body: form, headers: { authorization } });
    const { task_id, source_id } = (await uploaded.json()) as { task_id: string; source_id: string };
    await eventually(async () => (await web.json(`/api/task_status?task_id=${task_id}`))['status'] === 'SUCCESS');
    sourceId = source_id;
    ({ id: agentId, key } = await world.agent({ source: source_id, description: 'Knows the house' }, web));
  });
  afterAll(() => world.close());

  /** The body that the web client sends. */
  const webBody = (question: string, more: object = {}) => ({
    question,
    history: JSON.stringify([]),
    conversation_id: null,
    prompt_id: 'default',
    chunks: '2',
    isNoneDoc: true,
    retriever: 'classic',
    save_conversation: true,
    visibility: 'listed',
    attachments: [],
    ...more,
  });

  describe('the web client', () => {
    it('starts', async () => {
      expect(await world.nobody.json('/api/config')).toMatchObject({ auth_type: 'session_jwt', requires_auth: true });
      expect(await web.json('/api/user/me')).toMatchObject({ success: true, user_id: await world.idOf('erin') });
      expect(await web.json('/api/teams')).toEqual({ success: true, teams: [] });
      const models = await web.json<{ models: { id: string }[]; default_model_id: string; count: number }>('/api/models');
      expect(models).toMatchObject({ default_model_id: 'scripted', count: 1, models: [{ id: 'scripted', enabled: true }] });
      const sources = await web.json<Record<string, unknown>[]>('/api/sources');
      expect(sources).toEqual([
        expect.objectContaining({ name: 'Default', date: 'default' }),
        expect.objectContaining({ id: sourceId, name: 'Handbook', type: 'file' }),
      ]);
      const prompts = await web.json<Record<string, unknown>[]>('/api/get_prompts');
      expect(prompts.slice(0, 3)).toEqual(['default', 'creative', 'strict'].map((name) => ({ id: name, name, type: 'public' })));
      expect(Array.isArray(await web.json('/api/get_conversations'))).toBe(true);
      expect(await web.json('/api/pinned_agents')).toEqual([]);
      const [agent] = await web.json<Record<string, unknown>[]>('/api/get_agents');
      expect(agent).toMatchObject({
        id: agentId,
        status: 'published',
        chunks: '4',
        key: `${key.slice(0, 4)}...${key.slice(-4)}`,
      });
      for (const path of [
        '/api/get_tools',
        '/api/available_tools',
        '/api/shared_agents',
        '/api/agents/folders/',
        '/api/template_agents',
      ])
        expect((await web.get(path)).status).toBe(200);
    });

    it('asks, continues the conversation, and finds it again after a reload', async () => {
      world.model.next([...think('Hm.'), ...say('Light ', 'scatters.')]);
      const first = new WebClient();
      await first.read(await web.post('/stream', webBody('Why is the sky blue?'), { 'idempotency-key': 'web 1' }));
      expect(first).toMatchObject({ answer: 'Light scatters.', thought: 'Hm.', sources: [], over: true, error: undefined });
      const second = new WebClient();
      await second.read(await web.post('/stream', webBody('And at night?', { conversation_id: first.conversationId })));
      expect(second).toMatchObject({ conversationId: first.conversationId, over: true });

      const listed = await web.json<{ id: string }[]>('/api/get_conversations');
      expect(listed.map(({ id }) => id)).toContain(first.conversationId);
      const { queries } = await web.json<{ queries: Record<string, unknown>[] }>(
        `/api/get_single_conversation?id=${first.conversationId}`,
      );
      expect(queries.map(({ prompt, response, status, message_id }) => [prompt, response, status, message_id])).toEqual([
        ['Why is the sky blue?', 'Light scatters.', 'complete', first.messageId],
        ['And at night?', 'Hello from the script.', 'complete', second.messageId],
      ]);
    });

    it('answers from documents, and shows them', async () => {
      const chat = new WebClient();
      await chat.read(
        await web.post('/stream', webBody('When does the garage open?', { isNoneDoc: false, active_docs: [sourceId] })),
      );
      expect(chat.sources).toEqual([
        {
          text: expect.stringContaining('The garage opens at six'),
          title: expect.any(String),
          source: expect.any(String),
          filename: 'handbook.md',
        },
      ]);
      const asked = JSON.stringify(world.model.completions.at(-1)!.body.messages);
      expect(asked).toContain('The garage opens at six');
    });

    it('continues once after a broken connection with its cursor in the query, and misses nothing', async () => {
      world.model.next([...say('The ', 'sky '), wait(300), ...say('is ', 'blue.')]);
      const chat = new WebClient();
      await chat.read(await web.post('/stream', webBody('Why?')), 2);
      expect(chat.over).toBe(false);
      await chat.read(await web.get(`/api/messages/${chat.messageId}/events?last_event_id=${chat.cursor}`));
      expect(chat).toMatchObject({ answer: 'The sky is blue.', over: true, error: undefined });
    });

    it('polls after a reload during an answer until it is complete', async () => {
      world.model.next([...say('The ', 'sky '), wait(500), ...say('is ', 'blue.')]);
      const chat = new WebClient();
      await chat.read(await web.post('/stream', webBody('Why?')), 2);
      const statuses = new Set<unknown>();
      await eventually(async () => {
        const tail = await web.json(`/api/messages/${chat.messageId}/tail`);
        statuses.add(tail['status']);
        return tail['status'] === 'complete' && tail['response'] === 'The sky is blue.';
      });
      expect([...statuses].every((status) => ['pending', 'streaming', 'complete'].includes(status as string))).toBe(true);
    });

    it('shows why an answer failed, at once and after a reload', async () => {
      world.model.next([...say('Half'), broken]);
      const chat = new WebClient();
      await chat.read(await web.post('/stream', webBody('Why?')));
      expect(chat).toMatchObject({ answer: 'Half', error: expect.any(String), over: true });
      await eventually(async () => (await web.json(`/api/messages/${chat.messageId}/tail`))['status'] === 'failed');
      expect(await web.json(`/api/messages/${chat.messageId}/tail`)).toMatchObject({ error: chat.error, response: 'Half' });
    });

    it('shows a reason for every refusal', async () => {
      for (const [body, headers] of [
        [webBody(''), {}],
        [webBody('Why?', { conversation_id: 'gone' }), {}],
        [webBody('Why?'), { authorization: 'Bearer old' }],
      ] as const) {
        const chat = new WebClient();
        await chat.read(await web.post('/stream', body, headers));
        expect(chat).toMatchObject({ error: expect.stringMatching(/\w/), over: true });
      }
    });

    it('renames, rates and deletes', async () => {
      const chat = new WebClient();
      await chat.read(await web.post('/stream', webBody('Why?')));
      const id = chat.conversationId!;
      const calls = [
        web.post('/api/update_conversation_name', { id, name: 'Reasons' }),
        web.post('/api/feedback', {
          question: 'Why?',
          answer: chat.answer,
          feedback: 'LIKE',
          conversation_id: id,
          question_index: 0,
        }),
      ];
      for (const response of await Promise.all(calls)) expect(await response.json()).toEqual({ success: true });
      expect(await (await web.post(`/api/delete_conversation?id=${id}`, {})).json()).toEqual({ success: true });
    });
  });

  describe('the widget', () => {
    /** The body that the widget sends: its own records as history, an invented model, and no bearer. */
    const widgetBody = (question: string, queries: object[], conversationId: unknown = null) => ({
      question,
      history: JSON.stringify(queries),
      conversation_id: conversationId,
      model: 'default',
      api_key: key,
    });

    it('asks with its key only, and rates the answer', async () => {
      const first = widgetReads((await replyOf(world.nobody.post('/stream', widgetBody('When does the garage open?', [])))).text);
      expect(first).toMatchObject({ answer: 'Hello from the script.', ended: true, error: undefined });
      expect(first.source).toEqual([
        expect.objectContaining({ title: expect.any(String), text: expect.any(String), source: expect.any(String) }),
      ]);
      const queries = [{ prompt: 'When does the garage open?', response: first.answer, sources: first.source, feedback: 'LIKE' }];
      const second = widgetReads(
        (await replyOf(world.nobody.post('/stream', widgetBody('And on Sundays?', queries, first.id)))).text,
      );
      expect(second).toMatchObject({ id: first.id, ended: true });
      for (const feedback of ['LIKE', 'DISLIKE', null]) {
        const body = { question: 'q', answer: 'a', feedback, conversation_id: first.id, question_index: 1, api_key: key };
        expect((await world.nobody.post('/api/feedback', body)).status).toBe(200);
      }
    });

    it('shows a structured answer once', async () => {
      const schema = { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] };
      const structured = await world.agent({ json_schema: schema }, web);
      world.model.next(say('{"at":', '"six"}'));
      const body = { ...widgetBody('When?', []), api_key: structured.key };
      expect(widgetReads((await replyOf(world.nobody.post('/stream', body))).text)).toMatchObject({
        answer: '{"at":"six"}',
        ended: true,
      });
    });

    it('searches, and gets a plain array', async () => {
      const found = await replyOf(world.nobody.post('/api/search', { question: 'garage', api_key: key }));
      expect(found.body).toEqual([
        { text: expect.stringContaining('The garage opens at six'), title: expect.any(String), source: expect.any(String) },
      ]);
    });
  });

  it('bots and extensions ask with the bodies that they have always sent', async () => {
    const { nobody } = world;
    const chatwoot = { sender: '7', question: 'When?', api_key: key, embeddings_key: 'e', history: '' };
    const telegram = { question: 'When?', api_key: key, history: [{ prompt: 'Hi', response: 'Hello' }], conversation_id: null };
    const commandLine = { question: 'When?', api_key: key, history: '[]', retriever: 'classic', model: 'docsgpt' };
    for (const body of [chatwoot, telegram, commandLine]) {
      expect((await replyOf(nobody.post('/api/answer', body))).body).toEqual({
        ...(body === chatwoot && { query: 'When?', result: 'Hello from the script.' }),
        conversation_id: expect.any(String),
        answer: 'Hello from the script.',
        sources: expect.any(Array),
        tool_calls: [],
        thought: '',
      });
    }
  });

  it.each(['/stream', '/api/answer'] as const)(
    'a bot whose types are strict reads structured results of tools over %s: they are text',
    async (route) => {
      world.model.next([call('c1', 'list_scheduled_tasks', {})], say('None.'));
      const { toolCalls } = await askOver(route, web, { question: 'What is scheduled?' });
      expect(toolCalls).toMatchObject([{ call_id: 'c1', status: 'completed', result: '{"tasks":[]}', artifact_id: null }]);
    },
  );

  it('a stopped answer has ended for every client', async () => {
    world.model.next([...say('Half '), hang]);
    const chat = new WebClient();
    await chat.read(await web.post('/stream', webBody('Why?')), 2);
    expect((await web.post(`/api/messages/${chat.messageId}/cancel`, {})).status).toBe(202);
    await chat.read(await web.get(`/api/messages/${chat.messageId}/events?last_event_id=${chat.cursor}`));
    expect(chat).toMatchObject({ answer: 'Half ', over: true });
    expect(await web.json(`/api/messages/${chat.messageId}/tail`)).toMatchObject({ status: 'complete', response: 'Half ' });
  });
}
