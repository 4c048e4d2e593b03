import type { ParameterDefinition } from '../toolbox/tool.events.js';
import type { ApiAction, EncodingRule, ParameterGroup } from './api-action.policy.js';
import { bodyFormOf } from './request-body.policy.js';
import type { Json } from './spec-document.js';
import { isJsonObject } from '../../json-object.policy.js';
import { SpecSchemas } from './spec-schemas.js';
import { SpecCredentials } from './spec-security.js';
import { baseUrlOf } from './spec-servers.js';

export const SPEC_ACTIONS_MAX = 500;

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'] as const;

export type ParsedSpec = Readonly<{
  metadata: Readonly<{
    title: string;
    description: string;
    version: string;
    base_url: string;
    /** The number of operations in the description; `actions` may hold fewer. */
    operations: number;
  }>;
  actions: readonly ApiAction[];
}>;

/** An operation, and the item of its path, whose fields it shares with the other operations there. */
type Operation = Readonly<{ path: string; method: string; operation: Json; shared: Json }>;

/** Turns the operations of an API description into actions of a tool. @throws Rejection invalid-request */
export function parseSpec(document: Json): ParsedSpec {
  const schemas = new SpecSchemas(document);
  const credentials = new SpecCredentials(document, schemas);
  const operations = operationsOf(document, schemas);
  const names = new Set<string>();
  const actions = operations
    .slice(0, SPEC_ACTIONS_MAX)
    .map((operation) => new OperationReader(document, schemas, credentials, operation).action(names));
  const info = schemas.resolved(document['info']);
  const metadata = {
    title: textIn(info, 'title'),
    description: textIn(info, 'description'),
    version: textIn(info, 'version'),
    base_url: baseUrlOf(document),
    operations: operations.length,
  };
  return { metadata, actions };
}

const operationsOf = (document: Json, schemas: SpecSchemas): readonly Operation[] =>
  Object.entries(isJsonObject(document['paths']) ? document['paths'] : {}).flatMap(([path, item]) => {
    const shared = schemas.resolved(item);
    return METHODS.filter((method) => isJsonObject(shared[method])).map((method) => ({
      path,
      method,
      operation: shared[method] as Json,
      shared,
    }));
  });

class OperationReader {
  constructor(
    private readonly document: Json,
    private readonly schemas: SpecSchemas,
    private readonly credentials: SpecCredentials,
    private readonly found: Operation,
  ) {}

  action(names: Set<string>): ApiAction {
    const { path, method, operation, shared } = this.found;
    const operationId = textIn(operation, 'operationId');
    const description = textIn(operation, 'summary') || textIn(operation, 'description');
    const url = `${baseUrlOf(operation) || baseUrlOf(shared) || baseUrlOf(this.document)}${path}`;
    this.schemas.spend([operationId, description, url]);
    const parameters = this.parameters();
    const at = (...places: readonly string[]) => parameters.filter((parameter) => places.includes(textIn(parameter, 'in')));
    const credentials = this.credentials.of(operation);
    return {
      name: nameOf(operationId || `${method}_${path}`, names),
      url,
      method: method.toUpperCase(),
      description,
      active: true,
      query_params: this.group(at('path', 'query'), credentials.query),
      headers: this.group(at('header').filter(isOwnHeader), credentials.header),
      ...(method === 'get' || method === 'head' ? NO_BODY : this.body(at('body')[0], at('formData'))),
    };
  }

  /** The parameters of the path and the operation; those of the operation replace those of the path. */
  private parameters(): readonly Json[] {
    const listed = [this.found.shared['parameters'], this.found.operation['parameters']].flatMap((list) =>
      Array.isArray(list) ? (list as unknown[]) : [],
    );
    const byName = new Map(
      listed.map((each) => {
        const parameter = this.schemas.resolved(each);
        return [`${textIn(parameter, 'in')} ${textIn(parameter, 'name')}`, parameter] as const;
      }),
    );
    return [...byName.values()].filter((parameter) => textIn(parameter, 'name') !== '');
  }

  private group(parameters: readonly Json[], fixed: Readonly<Record<string, ParameterDefinition>> = {}): ParameterGroup {
    const filled = parameters.map((parameter) => [textIn(parameter, 'name'), this.parameter(parameter)] as const);
    return { type: 'object', properties: { ...Object.fromEntries(filled), ...fixed } };
  }

  private parameter(parameter: Json): ParameterDefinition {
    const content = isJsonObject(parameter['content']) ? Object.values(parameter['content'])[0] : undefined;
    // In Swagger 2 the parameter itself holds what OpenAPI 3 has in its schema.
    const { required: _, ...schema } = this.schemas.schema(
      parameter['schema'] ?? this.schemas.resolved(content)['schema'] ?? parameter,
    );
    const { style, explode } = parameter;
    this.schemas.spend([textIn(parameter, 'name'), textIn(parameter, 'description'), style]);
    return {
      ...schema,
      type: schema.type === 'file' ? 'string' : (schema.type ?? 'string'),
      description: textIn(parameter, 'description') || (schema.description ?? ''),
      ...(typeof style === 'string' && { style }),
      ...(typeof explode === 'boolean' && { explode }),
      ...(this.document['swagger'] !== undefined && schema.type === 'array' && joinedBy(parameter)),
      required: parameter['required'] === true || parameter['in'] === 'path',
      filled_by_llm: true,
    };
  }

  private body(inBody: Json | undefined, inForm: readonly Json[]): BodyPart {
    if (inBody) return this.described(inBody['schema'], this.consumed('application/json'), {}, inBody['required'] === true);
    if (inForm.length > 0) {
      const hasFile = inForm.some((parameter) => parameter['type'] === 'file');
      const type = hasFile ? 'multipart/form-data' : this.consumed('application/x-www-form-urlencoded');
      const lists = inForm.filter((parameter) => !hasFile && parameter['type'] === 'array');
      const rules = Object.fromEntries(lists.map((parameter) => [textIn(parameter, 'name'), joinedBy(parameter)]));
      return { body: this.group(inForm), body_content_type: type, body_encoding_rules: rules };
    }
    const request = this.schemas.resolved(this.found.operation['requestBody']);
    const content = isJsonObject(request['content']) ? request['content'] : {};
    const type = preferred(Object.keys(content));
    if (type === undefined) return NO_BODY;
    const media = this.schemas.resolved(content[type]);
    const rules = isJsonObject(media['encoding']) ? media['encoding'] : {};
    this.schemas.spend(rules);
    return this.described(media['schema'], type, rules, request['required'] === true);
  }

  /** The body for a schema: the fields of an object one by one, or the whole body as one field. */
  private described(value: unknown, type: string, rules: Json, isRequired: boolean): BodyPart {
    const schema = this.schemas.schema(value);
    const { properties } = schema;
    const isObject = isJsonObject(properties) && Object.keys(properties).length > 0 && bodyFormOf(type) !== 'text';
    const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
    const { required: _, ...whole } = schema;
    const fields = isObject
      ? Object.entries(properties).map(([name, field]) => [
          name,
          asField(field as ParameterDefinition, isRequired && required.includes(name)),
        ])
      : [['body', asField(Array.isArray(schema.required) ? schema : whole, isRequired)]];
    return {
      body: {
        type: 'object',
        properties: Object.fromEntries(fields) as ParameterGroup['properties'],
        ...(!isObject && { whole: true }),
      },
      body_content_type: type,
      body_encoding_rules: rules as Readonly<Record<string, EncodingRule>>,
    };
  }

  private consumed(otherwise: string): string {
    const listed = this.found.operation['consumes'] ?? this.document['consumes'];
    return preferred(Array.isArray(listed) ? listed.map(String) : []) ?? otherwise;
  }
}

type BodyPart = Pick<ApiAction, 'body' | 'body_content_type' | 'body_encoding_rules'>;

const NO_BODY: BodyPart = {
  body: { type: 'object', properties: {} },
  body_content_type: 'application/json',
  body_encoding_rules: {},
};

const LIST_STYLES: Readonly<Record<string, string>> = { ssv: 'spaceDelimited', pipes: 'pipeDelimited' };

/** How Swagger 2 writes a list, in the keywords of OpenAPI 3: with commas, if the parameter does not say otherwise. */
function joinedBy({ collectionFormat }: Json): Pick<EncodingRule, 'style' | 'explode'> {
  const style = LIST_STYLES[String(collectionFormat)];
  return { explode: collectionFormat === 'multi', ...(style !== undefined && { style }) };
}

/** A schema as a field of the body. An object keeps its list `required`; other fields get a boolean. */
const asField = (schema: ParameterDefinition, isRequired: boolean): ParameterDefinition => ({
  ...schema,
  ...(!Array.isArray(schema.required) && { required: isRequired }),
  description: schema.description ?? '',
  filled_by_llm: true,
});

/** HTTP or the credentials set these headers. */
const isOwnHeader = (parameter: Json): boolean => !/^(accept|content-type|authorization)$/i.test(textIn(parameter, 'name'));

const FORMS = ['json', 'form', 'multipart', 'text'] as const;

const preferred = (types: readonly string[]): string | undefined =>
  FORMS.map((form) => types.find((type) => bodyFormOf(type) === form)).find((type) => type !== undefined);

function nameOf(wanted: string, taken: Set<string>): string {
  const base =
    wanted
      .replaceAll(/[^A-Za-z0-9-]+/g, '_')
      .replaceAll(/^_|_$/g, '')
      .slice(0, 60) || 'action';
  let name = base;
  for (let count = 2; taken.has(name); count++) name = `${base}_${count}`.slice(-64);
  taken.add(name);
  return name;
}

const textIn = (value: Json, name: string): string => (typeof value[name] === 'string' ? value[name].trim() : '');
