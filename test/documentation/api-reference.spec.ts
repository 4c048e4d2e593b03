import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { NOT_BUILT, NOT_BUILT_FOR_ANYBODY } from '../../src/views/start-up/not-built.http.js';
import { scopesFor } from '../support/access-table.js';
import { routes } from '../support/routes.js';

const ROOT = new URL('../../', import.meta.url);
const DOCUMENTS = ['openapi.json', 'swagger.json'] as const;

type Answer = Readonly<{
  description?: string;
  content?: Readonly<Record<string, Readonly<{ schema?: object }>>>;
  $ref?: string;
  'x-codes'?: readonly string[];
}>;
type Body = Readonly<{ schema?: object; examples?: Readonly<{ example?: Readonly<{ value: unknown }> }> }>;
type Operation = Readonly<{
  summary?: string;
  tags?: readonly string[];
  'x-token-scopes'?: readonly string[];
  security?: unknown;
  parameters: readonly Readonly<{ schema?: object }>[];
  requestBody?: Readonly<{ content: Readonly<Record<string, Body>> }>;
  responses: Readonly<Record<string, Answer>>;
}>;
type Document = Readonly<{
  paths: Record<string, Record<string, Operation>>;
  components: Readonly<{ responses: Readonly<Record<string, Answer>> }>;
  'x-not-built': readonly string[];
}>;

/** Operations that currently only refuse. */
const ALWAYS_REFUSED = [
  'POST /api/push/subscriptions',
  'DELETE /api/push/subscriptions',
  'GET /api/monitors/{id}/secret',
  'PUT /api/monitors/{id}/secret',
];
/** Responses with only a status, or a redirect. */
const ANSWERED_WITHOUT_BODY = ['202', '302'];
const ANSWERS_NOTHING = ['POST /api/auth/oidc/backchannel-logout'];
/** Files, which a JSON schema cannot describe. */
const FILES = ['application/octet-stream', 'application/vnd.docsgpt.artifact-url+json'];

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);

const textOf = (name: string): string => readFileSync(new URL(`docs/${name}`, ROOT), 'utf8');
const document = JSON.parse(textOf('openapi.json')) as Document;
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([verb, operation]) => ({ title: `${verb.toUpperCase()} ${path}`, operation })),
);
ajv.addSchema(document, 'reference');

/** What is not as the schema of an operation's body says. */
function faultsOf(title: string, type: string, body: unknown): readonly string[] {
  const [verb, path] = title.split(' ') as [string, string];
  const place = ['paths', path, verb.toLowerCase(), 'requestBody', 'content', type, 'schema'].map((each) =>
    encodeURIComponent(each.replaceAll('~', '~0').replaceAll('/', '~1')),
  );
  const validate = ajv.compile({ $ref: `reference#/${place.join('/')}` });
  validate(body);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

type Documented = (typeof operations)[number];
const asDocumented = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}');

describe('the API reference', () => {
  it.each(DOCUMENTS)('is valid: %s', async (name) => {
    expect(await new Validator().validate(JSON.parse(textOf(name)) as Record<string, unknown>)).toEqual({ valid: true });
  });

  it('has every route of the service, and no others', () => {
    const refused = routes.filter(({ method }) => method === 'ALL').map(({ path }) => asDocumented(path));
    const answered = routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${asDocumented(path)}`);
    expect(operations.map(({ title }) => title).sort()).toEqual(answered.sort());
    expect([...document['x-not-built']]).toEqual([...refused].sort());
    expect(refused).toHaveLength(Object.values({ ...NOT_BUILT, ...NOT_BUILT_FOR_ANYBODY }).flat().length);
  });

  it('describes for every operation its purpose, credentials, request, responses and refusals', () => {
    const saysNothing = (schema: object | undefined) => !schema || Object.keys(schema).length === 0;
    const lackingIn = ({ title, operation: { summary, tags, security, parameters, requestBody, responses } }: Documented) => {
      const bodies = Object.entries(requestBody?.content ?? {});
      const answers = Object.entries(responses).map(([status, answer]) => ({ status, answer: resolved(answer) }));
      const given = answers.filter(({ status }) => Number(status) < 400);
      return [
        ...(summary ? [] : ['summary']),
        ...(tags?.length ? [] : ['tag']),
        ...(security === undefined ? ['security'] : []),
        ...(parameters.some(({ schema }) => saysNothing(schema)) ? ['schema of a parameter'] : []),
        ...bodies.filter(([, { schema }]) => saysNothing(schema)).map(([type]) => `schema of ${type}`),
        ...bodies.filter(([, { examples }]) => examples?.example?.value === undefined).map(([type]) => `example of ${type}`),
        ...((given.length === 0) === ALWAYS_REFUSED.includes(title) ? [] : ['answer']),
        ...given.flatMap(({ status, answer: { content } }) => {
          if (!content)
            return ANSWERED_WITHOUT_BODY.includes(status) || ANSWERS_NOTHING.includes(title) ? [] : [`body of ${status}`];
          const open = Object.entries(content).filter(([type, { schema }]) => saysNothing(schema) && !FILES.includes(type));
          return open.map(([type]) => `schema of ${status} ${type}`);
        }),
        ...answers.filter(({ answer }) => !answer.description).map(({ status }) => `description of ${status}`),
        ...answers
          .filter(({ status, answer }) => Number(status) >= 400 && !answer.content)
          .map(({ status }) => `body of ${status}`),
        ...('500' in responses ? [] : ['500']),
      ];
    };
    const lacking = operations.map((each): [string, readonly string[]] => [each.title, lackingIn(each)]);
    expect(Object.fromEntries(lacking.filter(([, what]) => what.length > 0))).toEqual({});
  });
});

it('says of every operation but GET that some bodies are refused, because it reads them even if it needs none', () => {
  const silent = operations.filter(
    ({ title, operation: { responses } }) => !title.startsWith('GET ') && !('413' in responses && '415' in responses),
  );
  expect(silent.map(({ title }) => title)).toEqual([]);
});

it('says of every operation that it is refused during the shutdown', () => {
  const silent = operations.filter(({ operation: { responses } }) => {
    const answer = responses['503'];
    return !(answer && resolved(answer)['x-codes']?.includes('shutting_down'));
  });
  expect(silent.map(({ title }) => title)).toEqual([]);
});

it('has examples of JSON bodies that are as the schema of the body says', () => {
  const unlike = operations.flatMap(({ title, operation: { requestBody } }) =>
    Object.entries(requestBody?.content ?? {})
      .filter(([type]) => type.endsWith('json'))
      .flatMap(([type, { examples }]) => faultsOf(title, type, examples!.example!.value).map((fault) => `${title}: ${fault}`)),
  );
  expect(unlike).toEqual([]);
});

describe('the schema of a body has the values that the service takes', () => {
  it.each<[string, object]>([
    ['POST /stream', { question: 'Why?', history: '[{"prompt":"Hi","response":"Hello"}]' }],
    ['POST /stream', { question: 'Why?', history: [{ prompt: 'Hi', response: 'Hello' }] }],
    ['POST /stream', { question: 'Why?', history: '', visibility: 'hidden', active_docs: 'default' }],
    ['POST /stream', { question: 'Why?', active_docs: ['one', 'two', null] }],
    ['POST /api/agents/{agentId}/schedules', { instruction: 'Go', trigger_type: 'once', run_at: '2027-01-01T08:00', name: null }],
    ['PUT /api/schedules/{id}', { tool_allowlist: ['one'], model_id: null, token_budget: 0, end_at: null }],
    ['PATCH /api/schedules/{id}', { action: 'resume', run_at: '2027-01-01T08:00' }],
    ['POST /api/get_token_analytics', { include_side_channel: false }],
    ['PUT /api/update_agent/{id}', { json_schema: null }],
  ])('%s %j', (title, body) => {
    expect(faultsOf(title, 'application/json', body)).toEqual([]);
  });
});

it('names for each operation the scopes that open it to a token', () => {
  const opening = routes.map((route): [string, string] => [`${route.method} ${asDocumented(route.path)}`, scopesFor(route)]);
  const named = operations.map(({ title, operation }): [string, string] => [
    title,
    (operation['x-token-scopes'] ?? []).map((scope) => `\`${scope}\``).join(', '),
  ]);
  const shown = (each: readonly [string, string][]) => Object.fromEntries(each.filter(([, scopes]) => scopes.startsWith('`')));
  expect(shown(named)).toEqual(shown(opening));
});

const resolved = (answer: Answer): Answer =>
  answer.$ref === undefined ? answer : document.components.responses[answer.$ref.split('/').at(-1)!]!;
