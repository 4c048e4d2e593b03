import { WEB_CLIENT_CONFIG } from '../../support/web-client-form.js';
import { Api } from './api.js';
import { Chat, type Query } from './chat.js';
import { type Upload, Uploads } from './uploads.js';
import { followUserEvents, type UserEvent } from './user-events.js';

type Named = Readonly<{ id?: string; name: string }>;

const TOKEN = 'authToken';
const api = new Api(new URLSearchParams(location.search).get('api') ?? location.origin, localStorage.getItem(TOKEN));
// Tests make the requests of the other pages.
Object.assign(globalThis, { api });
const chat = new Chat(api, render, () => void listConversations());
const uploads = new Uploads(api, render, () => void listSources());
/** Conversations with a pending decision, according to user events. */
const toasts = new Set<string>();

const byId = <E extends HTMLElement>(id: string): E => document.getElementById(id) as E;

type Data = Readonly<Record<string, string | number | undefined>>;

/** An element with data attributes for tests, a text, and children. */
function element(tag: string, data: Data, text = '', ...children: Node[]): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(data)) if (value !== undefined) made.dataset[name] = `${value}`;
  made.textContent = text;
  made.append(...children);
  return made;
}

function button(text: string, click: () => void): HTMLElement {
  const made = element('button', {}, text);
  made.addEventListener('click', click);
  return made;
}

function shownQuery(query: Query, index: number): HTMLElement {
  const state = !query.isOver ? 'loading' : query.error ? 'failed' : 'idle';
  const awaits = query.toolCalls.some(({ status }) => status === 'awaiting_approval');
  const decisions = awaits
    ? [button('Approve', () => void chat.decide('approved')), button('Deny', () => void chat.decide('denied', 'Not today.'))]
    : [];
  return element(
    'article',
    { query: index, state, message: query.messageId },
    '',
    element('h2', {}, query.prompt),
    element('p', { response: '' }, query.response),
    element('p', { error: '' }, query.error),
    ...(query.sources ?? []).map(({ title, text }) => element('cite', {}, `${title}: ${text}`)),
    ...query.toolCalls.map(({ action_name, status }) => element('code', { status }, action_name)),
    ...decisions,
  );
}

const shownUpload = ({ name, status, event, warnings, error }: Upload): HTMLElement =>
  element('li', { status, event, warnings: warnings?.length }, error ?? name);

function render(): void {
  byId('queries').replaceChildren(...chat.queries.map(shownQuery));
  byId('uploads').replaceChildren(...uploads.all.map(shownUpload));
  byId('toasts').replaceChildren(...[...toasts].map((id) => element('li', { conversation: id })));
  if (chat.conversationId !== null) history.replaceState(null, '', `#/c/${chat.conversationId}`);
}

async function listConversations(): Promise<void> {
  const listed = await api.json<readonly Named[]>('/api/get_conversations');
  byId('conversations').replaceChildren(
    ...listed.map(({ id, name }) =>
      element(
        'li',
        { id },
        '',
        button(name, () => void chat.load(id!)),
      ),
    ),
  );
}

async function listSources(): Promise<void> {
  const listed = await api.json<readonly Named[]>('/api/sources');
  byId('sources').replaceChildren(
    ...listed.map(({ id, name }) => {
      const configure = async (): Promise<void> => {
        const touched = { ...WEB_CLIENT_CONFIG, graph: { ...WEB_CLIENT_CONFIG.graph, gleanings: 1 } };
        const answer = await api.patch(`/api/sources/${id}/config`, touched);
        const { warnings } = (await answer.json()) as { warnings: readonly string[] };
        shown.dataset['warnings'] = warnings.join(' ');
      };
      const shown = element(
        'li',
        { id },
        '',
        element('span', {}, name),
        button('Configure', () => void configure()),
      );
      return shown;
    }),
  );
}

async function listAgents(): Promise<void> {
  const listed = await api.json<readonly Named[]>('/api/get_agents');
  const select = (id: string | undefined) => () => {
    chat.agentId = id;
    document.body.dataset['agent'] = id;
  };
  byId('agents').replaceChildren(...listed.map(({ id, name }) => element('li', { id }, '', button(name, select(id)))));
}

function heard({ type, scope, payload }: UserEvent): void {
  if (type.startsWith('source.ingest.')) uploads.note(scope.id ?? String(payload['source_id']), type);
  if (type === 'tool.approval.required') toasts.add(String(payload['conversation_id']));
  if (type === 'tool.approval.cleared') toasts.delete(String(payload['conversation_id']));
  render();
}

/** Identifies the user first, then loads everything that the sidebar shows. */
async function start(): Promise<void> {
  const config = (await (await fetch(`${api.base}/api/config`)).json()) as { auth_type: string | null };
  if (config.auth_type === 'session_jwt' && !api.token) {
    api.token = (await api.json<{ token: string }>('/api/generate_token')).token;
    localStorage.setItem(TOKEN, api.token);
  }
  await Promise.all([
    api.json('/api/user/me'),
    api.json('/api/teams'),
    api.json('/api/models'),
    api.json('/api/get_prompts'),
    api.json('/api/pinned_agents'),
    listSources(),
    listConversations(),
    listAgents(),
  ]);
  void followUserEvents(api, heard);
  const [, id] = /^#\/c\/(.+)$/.exec(location.hash) ?? [];
  document.body.dataset['state'] = 'started';
  if (id) await chat.load(id);
}

byId('upload').addEventListener('submit', (event) => {
  event.preventDefault();
  void uploads.upload(byId<HTMLInputElement>('source-name').value, byId<HTMLInputElement>('file').files!);
});
byId('ask').addEventListener('submit', (event) => {
  event.preventDefault();
  void chat.ask(byId<HTMLInputElement>('question').value);
});
byId('retry').addEventListener('click', () => void chat.retry());

start().catch((error: unknown) => {
  document.body.dataset['state'] = 'refused';
  byId('toasts').textContent = String(error);
});
