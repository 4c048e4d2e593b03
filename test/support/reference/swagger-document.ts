import type { OpenAPIObject } from '@nestjs/swagger';

type Fields = Readonly<Record<string, unknown>>;
type Content = Readonly<Record<string, Readonly<{ schema?: unknown }>>>;
type Operation = Fields &
  Readonly<{
    parameters?: readonly Fields[];
    requestBody?: Readonly<{ required?: boolean; content: Content }>;
    responses: Readonly<Record<string, Fields>>;
  }>;

const bearer = (description: string) => ({ type: 'apiKey', in: 'header', name: 'Authorization', description });

/** The reference as Swagger 2.0. Parts of a schema that Swagger cannot express are left open. */
export function swaggerDocument({ info, paths, components, tags }: OpenAPIObject): object {
  const known = (components?.responses ?? {}) as unknown as Readonly<Record<string, Fields>>;
  return {
    swagger: '2.0',
    info,
    basePath: '/',
    tags: tags ?? [],
    securityDefinitions: {
      bearer: bearer('`Bearer` and a session token or a personal access token.'),
      'agent-key': { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      'share-token': { type: 'apiKey', in: 'query', name: 'share_token' },
      device: bearer('`Bearer` and the token of a device.'),
    },
    paths: mapped(paths, (item) => mapped(item as Readonly<Record<string, Operation>>, (each) => operationOf(each, known))),
    definitions: mapped(components?.schemas ?? {}, schemaOf),
  };
}

function operationOf(operation: Operation, known: Readonly<Record<string, Fields>>): object {
  const { parameters = [], requestBody, responses, ...rest } = operation;
  const answers = mapped(responses, (each) =>
    typeof each['$ref'] === 'string' ? known[each['$ref'].split('/').at(-1)!]! : each,
  );
  const produced = Object.values(answers).flatMap((each) => Object.keys((each['content'] ?? {}) as Content));
  return {
    ...rest,
    ...(requestBody && { consumes: Object.keys(requestBody.content) }),
    produces: [...new Set(produced)],
    parameters: [...parameters.map(parameterOf), ...bodyOf(requestBody)],
    responses: mapped(answers, responseOf),
  };
}

function parameterOf({ name, in: where, required, description, schema }: Fields): object {
  const plain = schemaOf(schema ?? {}) as Fields;
  const type = typeof plain['type'] === 'string' && plain['type'] !== 'object' ? {} : { type: 'string' };
  const { $ref: _, ...constraints } = plain;
  return {
    name,
    in: where,
    ...(required === true && { required }),
    ...(description !== undefined && { description }),
    ...constraints,
    ...type,
  };
}

function bodyOf(body: Operation['requestBody']): readonly object[] {
  if (!body) return [];
  const form = body.content['multipart/form-data']?.schema as
    | Readonly<{ properties?: Record<string, Fields>; required?: string[] }>
    | undefined;
  if (!form?.properties || 'application/json' in body.content) {
    const shown = body.content['application/json'] ?? Object.values(body.content)[0];
    return [{ name: 'body', in: 'body', required: body.required ?? false, schema: schemaOf(shown?.schema ?? {}) }];
  }
  return Object.entries(form.properties).map(([name, { format, items, description }]) => ({
    name,
    in: 'formData',
    required: form.required?.includes(name) ?? false,
    type: format === 'binary' || (items as Fields | undefined)?.['format'] === 'binary' ? 'file' : 'string',
    ...(description !== undefined && { description }),
  }));
}

function responseOf({ description, headers, content }: Fields): object {
  const [first] = Object.values((content ?? {}) as Content);
  return {
    description,
    ...(first?.schema !== undefined && { schema: schemaOf(first.schema) }),
    ...(headers !== undefined && { headers: mapped(headers as Record<string, Fields>, ({ schema }) => schema) }),
  };
}

const OPEN = ['prefixItems', 'examples', 'const', 'anyOf', 'oneOf', 'nullable'];

function schemaOf(schema: unknown): object {
  if (typeof schema !== 'object' || schema === null) return {};
  const { $ref, type, anyOf, properties, items, additionalProperties, allOf, ...rest } = schema as Fields;
  if (typeof $ref === 'string') return { $ref: $ref.replace('#/components/schemas/', '#/definitions/') };
  const choices = (anyOf ?? (schema as Fields)['oneOf']) as readonly Fields[] | undefined;
  const some = choices?.filter((each) => each['type'] !== 'null');
  if (some?.length === 1) return { ...schemaOf(some[0]), 'x-nullable': true };
  const types = [type].flat().filter((each) => each !== undefined && each !== 'null');
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([name]) => !OPEN.includes(name))),
    ...(types.length === 1 && { type: types[0] }),
    ...([type].flat().includes('null') && { 'x-nullable': true }),
    ...('const' in schema && { enum: [schema.const] }),
    ...(properties !== undefined && { properties: mapped(properties as Fields, schemaOf) }),
    ...(types[0] === 'array' && { items: schemaOf(items ?? {}) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: typeof additionalProperties === 'boolean' ? additionalProperties : schemaOf(additionalProperties),
    }),
    ...(Array.isArray(allOf) && { allOf: allOf.map(schemaOf) }),
  };
}

const mapped = <T, R>(record: Readonly<Record<string, T>>, change: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
