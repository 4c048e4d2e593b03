import { describe, expect, it } from '@jest/globals';
import { Rejection } from '../../../kernel/rejection.js';
import { definitionOf } from './api-action.policy.js';
import { apiActions } from './api-config.policy.js';
import { apiRequest } from './api-request.policy.js';
import { YamlBusy } from '../../../platform/yaml/yaml-documents.port.js';
import { YamlThreads } from '../../../platform/yaml/yaml-threads.js';
import { parseSpec, SPEC_ACTIONS_MAX } from './spec-actions.js';
import { type Json, SPEC_DEADLINES, SPEC_ENTRIES_MAX, SPEC_YAML, SpecDocuments } from './spec-document.js';
import { SCHEMA_DEPTH_MAX, SCHEMAS_MAX } from './spec-schemas.js';

const OPENAPI = `
openapi: 3.1.0
info: { title: Pets, version: "1.2", description: All about pets. }
servers: [{ url: "https://{region}.pets.example/v1/", variables: { region: { default: eu } } }]
security: [{ token: [] }]
paths:
  /pets/{petId}:
    parameters:
      - { $ref: "#/components/parameters/PetId" }
      - { name: verbose, in: query, schema: { type: boolean }, description: From the path. }
    get:
      operationId: getPet
      summary: Finds a pet
      parameters:
        - { name: verbose, in: query, required: true, schema: { type: boolean }, description: From the operation. }
        - { name: X-Trace, in: header, schema: { type: string } }
        - { name: Accept, in: header, schema: { type: string } }
        - { name: tags, in: query, style: pipeDelimited, explode: false, schema: { type: array, items: { type: string } } }
      responses: { "200": { description: The pet } }
    put:
      description: Changes a pet
      security: [{ key: [] }]
      requestBody:
        required: true
        content:
          application/xml: { schema: { type: string } }
          application/json: { schema: { $ref: "#/components/schemas/Pet" } }
  /pets:
    post:
      operationId: add pets!
      servers: [{ url: "https://write.pets.example" }]
      requestBody: { content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Pet" } } } } }
  /photos:
    post:
      operationId: getPet
      requestBody:
        content:
          multipart/form-data:
            schema: { type: object, properties: { file: { type: string, format: binary } } }
            encoding: { file: { contentType: image/png } }
components:
  parameters:
    PetId: { name: petId, in: path, required: true, schema: { type: [integer, "null"], minimum: 1 } }
  securitySchemes:
    token: { type: http, scheme: bearer }
    key: { type: apiKey, in: query, name: api_key }
  schemas:
    Named: { type: object, required: [name], properties: { name: { type: string, pattern: "^(a+)+$" } } }
    Pet:
      allOf:
        - { $ref: "#/components/schemas/Named" }
        - type: object
          properties:
            id: { type: integer, readOnly: true }
            owner: { $ref: "#/components/schemas/Owner" }
    Owner: { type: object, required: [name], properties: { name: { type: string }, pets: { type: array, items: { $ref: "#/components/schemas/Pet" } } } }
`;

const SWAGGER = {
  swagger: '2.0',
  info: { title: 'Old', version: '1' },
  host: 'old.example',
  basePath: '/api/',
  schemes: ['http', 'https'],
  consumes: ['application/json'],
  securityDefinitions: { basic: { type: 'basic' } },
  security: [{ basic: [] }],
  paths: {
    '/items': {
      get: { parameters: [{ name: 'ids', in: 'query', type: 'array', items: { type: 'integer' }, collectionFormat: 'multi' }] },
      post: { parameters: [{ name: 'item', in: 'body', required: true, schema: { $ref: '#/definitions/Item' } }] },
    },
    '/files': {
      post: {
        parameters: [
          { name: 'file', in: 'formData', type: 'file', required: true },
          { name: 'note', in: 'formData', type: 'string' },
        ],
      },
    },
  },
  definitions: {
    Item: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, size: { type: 'number' } } },
  },
};

const documents = new SpecDocuments(new YamlThreads(SPEC_DEADLINES, undefined, SPEC_YAML));
const openApi = parseSpec(await documents.read(OPENAPI));

describe('an API description in OpenAPI 3', () => {
  const { metadata, actions } = openApi;

  it('has the metadata of the API and its address', () => {
    expect(metadata).toEqual({
      title: 'Pets',
      version: '1.2',
      description: 'All about pets.',
      base_url: 'https://eu.pets.example/v1',
      operations: 4,
    });
  });

  it('becomes one action per operation, each with a unique name', () => {
    expect(actions.map(({ name, method, url }) => [name, method, url])).toEqual([
      ['getPet', 'GET', 'https://eu.pets.example/v1/pets/{petId}'],
      ['put_pets_petId', 'PUT', 'https://eu.pets.example/v1/pets/{petId}'],
      ['add_pets', 'POST', 'https://write.pets.example/pets'],
      ['getPet_2', 'POST', 'https://eu.pets.example/v1/photos'],
    ]);
    expect(actions.map(({ description }) => description)).toEqual(['Finds a pet', 'Changes a pet', '', '']);
  });

  it("keeps parameters, prefers the operation's to its path's, and adds the credentials that the owner has to fill in", () => {
    expect(actions[0]).toMatchObject({
      query_params: {
        type: 'object',
        properties: {
          petId: { type: 'integer', minimum: 1, required: true, filled_by_llm: true },
          verbose: { type: 'boolean', description: 'From the operation.', required: true },
          tags: { type: 'array', items: { type: 'string' }, style: 'pipeDelimited', explode: false, required: false },
        },
      },
      active: true,
    });
    expect(Object.keys(actions[0]!.headers.properties)).toEqual(['X-Trace', 'Authorization']);
    expect(actions[0]!.headers.properties['Authorization']).toMatchObject({ filled_by_llm: false, value: '' });
    expect(actions[1]!.query_params.properties['api_key']).toMatchObject({ filled_by_llm: false, value: '' });
    expect(actions[1]!.headers.properties).toEqual({});
  });

  it('expands references, omits read-only properties and stops at cycles', () => {
    expect(actions[1]).toMatchObject({
      body_content_type: 'application/json',
      body: {
        properties: {
          name: { type: 'string', required: true, filled_by_llm: true },
          owner: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, pets: { type: 'array', items: { type: 'object' } } },
          },
        },
      },
    });
    expect(JSON.stringify(actions)).not.toMatch(/pattern|readOnly|\$ref/);
  });

  it('supports bodies that are not objects, and encoding rules of fields', () => {
    expect(actions[2]!.body).toMatchObject({ whole: true, properties: { body: { type: 'array', items: { type: 'object' } } } });
    expect(actions[3]).toMatchObject({
      body_content_type: 'multipart/form-data',
      body_encoding_rules: { file: { contentType: 'image/png' } },
    });
  });

  it('gives actions that a tool accepts', () => {
    const kept = apiActions({ actions: Object.fromEntries(actions.map((action) => [action.name, action])) });
    expect(kept.map(definitionOf).map(({ parameters }) => [Object.keys(parameters.properties), parameters.required])).toEqual([
      [
        ['petId', 'verbose', 'tags', 'X-Trace'],
        ['petId', 'verbose'],
      ],
      [
        ['petId', 'verbose', 'name', 'owner'],
        ['petId', 'name'],
      ],
      [['body'], []],
      [['file'], []],
    ]);
  });
});

describe('an API description in Swagger 2', () => {
  it('becomes actions too', () => {
    const { metadata, actions } = parseSpec(SWAGGER);
    expect(metadata.base_url).toBe('https://old.example/api');
    expect(actions).toMatchObject([
      {
        name: 'get_items',
        url: 'https://old.example/api/items',
        query_params: { properties: { ids: { type: 'array', explode: true } } },
      },
      {
        name: 'post_items',
        body: { properties: { name: { required: true }, size: { required: false } } },
        body_content_type: 'application/json',
      },
      {
        name: 'post_files',
        body: { properties: { file: { type: 'string', required: true }, note: {} } },
        body_content_type: 'multipart/form-data',
      },
    ]);
    expect(actions[0]!.headers.properties['Authorization']).toMatchObject({ filled_by_llm: false });
  });

  it('writes lists with commas, unless it names another format', () => {
    const list = (name: string, place: string, more: object = {}) => ({
      name,
      in: place,
      type: 'array',
      items: { type: 'string' },
      ...more,
    });
    const query = [
      list('a', 'query'),
      list('b', 'query', { collectionFormat: 'pipes' }),
      list('c', 'query', { collectionFormat: 'multi' }),
    ];
    const form = [list('d', 'formData'), list('e', 'formData', { collectionFormat: 'ssv' })];
    const paths = { '/lists': { post: { consumes: ['application/x-www-form-urlencoded'], parameters: [...query, ...form] } } };
    const [parsed] = parseSpec({ ...SWAGGER, security: [], paths }).actions;
    const [action] = apiActions({ actions: { lists: parsed } });
    const lists = Object.fromEntries([...'abcde'].map((name) => [name, ['x', 'y']]));
    const { url, body } = apiRequest(action!, lists, {});
    expect([...new URL(url).searchParams].map(String)).toEqual(['a,x,y', 'b,x|y', 'c,x', 'c,y']);
    expect([...new URLSearchParams(body)].map(String)).toEqual(['d,x,y', 'e,x y']);
  });
});

describe('an API description', () => {
  const spec = (paths: object, more: object = {}): Json => ({ openapi: '3.0.0', info: {}, paths, ...more });
  const bodyOf = (schema: object) => ({ '/x': { post: { requestBody: { content: { 'application/json': { schema } } } } } });

  it.each([
    '',
    'just text',
    '[]',
    '{"openapi": "3.0.0"',
    '{"openapi": "4.0.0"}',
    '{"swagger": "1.2"}',
    '{"asyncapi": "2.0.0"}',
    'openapi: 3.0.0\nx: !!js/function "function () {}"',
    'openapi: 3.0.0\nopenapi: 3.0.0',
    `openapi: 3.0.0\nx: ${'['.repeat(200)}`,
  ])('is refused if it is %j', async (text) => {
    await expect(documents.read(text)).rejects.toThrow(Rejection);
  });

  it('in JSON is not parsed if it has more than SPEC_ENTRIES_MAX entries', async () => {
    const text = `{"openapi":"3.0.0","x":[${'{},'.repeat(SPEC_ENTRIES_MAX)}{}]}`;
    await expect(documents.read(text)).rejects.toMatchObject({
      code: 'too-large',
      message: expect.stringContaining(`${SPEC_ENTRIES_MAX} fields`),
    });
    expect(await documents.read(JSON.stringify({ ...SWAGGER, x: Array.from({ length: 10_000 }, () => ({})) }))).toMatchObject(
      SWAGGER,
    );
  });

  it('in YAML is not read in the thread of requests, and has to wait if no other thread is free', async () => {
    const read: string[] = [];
    const busy = new SpecDocuments({
      read: (text) => {
        read.push(text);
        return Promise.reject(new YamlBusy('Too many texts.'));
      },
    });
    expect(await busy.read(JSON.stringify(SWAGGER))).toEqual(SWAGGER);
    await expect(busy.read(OPENAPI)).rejects.toMatchObject({ code: 'unavailable', message: 'Too many texts.' });
    expect(read).toEqual([OPENAPI]);
  });

  it('in YAML may have aliases, but not ones that multiply', async () => {
    const levels = Array.from({ length: 30 }, (_, n) => `l${n}: &l${n} [${`*l${n - 1}, `.repeat(n === 0 ? 0 : 9)}]`);
    expect(await documents.read('openapi: 3.0.0\na: &a { b: 1 }\nc: *a\n')).toMatchObject({ c: { b: 1 } });
    await expect(documents.read(`openapi: 3.0.0\n${levels.join('\n')}`)).rejects.toThrow(/neither JSON nor YAML: .*alias/);
  });

  it('is refused if its references form a loop', () => {
    const schemas = { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } };
    expect(() => parseSpec(spec(bodyOf({ $ref: '#/components/schemas/A' }), { components: { schemas } }))).toThrow(Rejection);
  });

  it('is refused if its expanded schemas exceed the maximum number', () => {
    const wide = (next: string) => ({
      type: 'object',
      properties: Object.fromEntries('abcdefghij'.split('').map((name) => [name, { $ref: `#/components/schemas/${next}` }])),
    });
    const schemas = Object.fromEntries(Array.from({ length: 9 }, (_, level) => [`L${level}`, wide(`L${level + 1}`)]));
    expect(10 ** SCHEMA_DEPTH_MAX).toBeGreaterThan(SCHEMAS_MAX);
    expect(() => parseSpec(spec(bodyOf({ $ref: '#/components/schemas/L0' }), { components: { schemas } }))).toThrow(/too large/);
  });

  describe('that repeats something long often', () => {
    const operations = (item: object) => Object.fromEntries(Array.from({ length: SPEC_ACTIONS_MAX }, (_, n) => [`/p${n}`, item]));
    const long = 'x'.repeat(100_000);
    const many = <T>(value: (at: number) => T) => Array.from({ length: 50_000 }, (_, at) => value(at));
    const body = (media: object) => ({ post: { requestBody: { content: { 'application/json': media } } } });
    const fields = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`f${n}`, { $ref: '#/shared' }]));
    const header = { type: 'apiKey', in: 'header', name: long };
    const security = [Object.fromEntries(many((at) => [`k${at}`, []]))];

    it.each<[string, object, object?]>([
      ['an address of a server', { get: {} }, { servers: [{ url: 'x{a}'.repeat(500), variables: { a: { default: long } } }] }],
      ['a host', { get: {} }, { openapi: undefined, swagger: '2.0', host: long }],
      ['a summary', { $ref: '#/shared' }, { shared: { get: { summary: long } } }],
      ['an operationId', { $ref: '#/shared' }, { shared: { get: { operationId: long } } }],
      ['a list of parameters', { $ref: '#/shared' }, { shared: { get: { parameters: many(() => ({})) } } }],
      [
        'a text of a parameter',
        { $ref: '#/shared' },
        { shared: { parameters: [{ name: 'a', in: 'query', schema: {}, description: long }], get: {} } },
      ],
      ['an encoding', { $ref: '#/shared' }, { shared: body({ encoding: { a: { contentType: long } } }) }],
      ['an enumeration', body({ schema: { properties: fields } }), { shared: { enum: many(String) } }],
      ['a list of required fields', body({ schema: { properties: fields } }), { shared: { required: many(String) } }],
      ['a name of a field', body({ schema: { $ref: '#/shared' } }), { shared: { properties: { [long]: true } } }],
      ['a reference', body({ schema: { properties: fields } }), { shared: { $ref: `#/${long}` } }],
      ['a list of credentials', { get: {} }, { security }],
      ['the header of a credential', { get: {} }, { security: [{ key: [] }], components: { securitySchemes: { key: header } } }],
    ])('is refused: %s', (_, item, more = {}) => {
      expect(() => parseSpec(spec(operations(item), more))).toThrow(/too large|longer than 2048 characters/);
    });
  });

  it.each(['basic', 'Basic', 'bearer'])('asks for a credential of the scheme %s', (scheme) => {
    const components = { securitySchemes: { a: { type: 'http', scheme } } };
    const given = { openapi: '3.1.0', servers: [{ url: 'https://a.example' }], security: [{ a: [] }], components };
    const [action] = parseSpec({ ...given, paths: { '/x': { get: {} } } }).actions;
    expect(JSON.stringify(action)).toContain(scheme === 'bearer' ? 'Bearer ' : 'Basic ');
  });

  it('resolves only references within itself', () => {
    const { actions } = parseSpec(
      spec(
        bodyOf({
          properties: { a: { $ref: 'http://127.0.0.1/x.json' }, b: { $ref: '#/__proto__/toString' }, c: { $ref: '#/nowhere' } },
        }),
      ),
    );
    expect(Object.keys(actions[0]!.body.properties)).toEqual(['a', 'b', 'c']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('gives parameters a type and a description only if they are texts, as a tool requires', () => {
    const schema = {
      properties: { a: { type: 7, description: 7 }, b: { type: ['null'] }, c: { type: ['null', 'integer'], description: 'C' } },
    };
    const { actions } = parseSpec(spec(bodyOf({ type: 'object', ...schema })));
    const { a, b, c } = actions[0]!.body.properties;
    expect([a?.type, a?.description, b?.type]).toEqual([undefined, '', undefined]);
    expect(c).toMatchObject({ type: 'integer', description: 'C' });
  });

  it('with too many operations gives the first of them and their total number', () => {
    const paths = Object.fromEntries(Array.from({ length: SPEC_ACTIONS_MAX + 1 }, (_, n) => [`/p${n}`, { get: {} }]));
    const { actions, metadata } = parseSpec(spec(paths));
    expect([actions.length, metadata.operations]).toEqual([SPEC_ACTIONS_MAX, SPEC_ACTIONS_MAX + 1]);
  });

  it('is expanded to a maximum depth', () => {
    let schema: object = { type: 'string', description: 'bottom' };
    for (let depth = 0; depth < SCHEMA_DEPTH_MAX + 2; depth++) schema = { type: 'object', properties: { in: schema } };
    expect(JSON.stringify(parseSpec(spec(bodyOf(schema))))).not.toContain('bottom');
  });
});
