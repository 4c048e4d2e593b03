import { readFileSync } from 'node:fs';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

type Fields = Record<string, unknown>;
type Response = globalThis.Response;
type Answer = Readonly<{
  $ref?: string;
  content?: Readonly<Record<string, unknown>>;
  'x-codes'?: readonly string[];
  'x-codes-are-open'?: true;
}>;
type Operation = Readonly<{ responses: Readonly<Record<string, Answer>> }>;
type Document = Readonly<{
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  components: Readonly<{ responses: Readonly<Record<string, Answer>> }>;
}>;
type Found = Readonly<{ title: string; at: string; answer: Answer }>;

/** A response as the caller got it, over any client. */
export type Answered = Readonly<{
  method: string;
  url: string;
  status: number;
  type: string | undefined;
  /** Undefined if the response broke off, which the story has to notice. */
  text(): Promise<string | undefined>;
}>;

/** A response differs from the reference. Tests that tolerate broken connections must not tolerate this error. */
export class UnlikeReference extends Error {
  override readonly name = 'UnlikeReference';
}

/** A path that is too long is refused before it is routed. */
const PATH_TOO_LONG = 414;

/** Checks responses against the reference. A field that the reference does not name is an error. */
class Reference {
  private readonly document: Document;
  private readonly ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: true });
  private readonly compiled = new Map<string, ValidateFunction>();
  private readonly paths: readonly Readonly<{ path: string; pattern: RegExp }>[];

  constructor() {
    const text = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
    this.document = closed(JSON.parse(text)) as Document;
    addFormats.default(this.ajv);
    this.ajv.addSchema(this.document, 'reference');
    this.paths = Object.keys(this.document.paths)
      .sort((one, other) => one.split('{').length - other.split('{').length)
      .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`) }));
  }

  /** @throws UnlikeReference */
  async hold({ method, url, status, type, text }: Answered): Promise<void> {
    const { pathname } = new URL(url);
    const operation = this.operationAt(method, pathname);
    if (!operation || status === PATH_TOO_LONG) return;
    const found = this.answerOf(operation, status);
    if (type !== 'application/json' || status === 204) return;
    const sent = await text();
    if (sent === undefined) return;
    const body: unknown = JSON.parse(sent);
    this.holdTo(found, type, body);
    if (status >= 400) holdCode(found, body);
  }

  /** Checks the `data` of a frame in a stream. @throws UnlikeReference */
  holdFrame({ url, status }: Pick<Response, 'url' | 'status'>, data: unknown): void {
    const { pathname } = new URL(url);
    const operation = this.operationAt('GET', pathname) ?? this.operationAt('POST', pathname);
    if (operation) this.holdTo(this.answerOf(operation, status), 'text/event-stream', data);
  }

  private operationAt(
    method: string,
    pathname: string,
  ): Readonly<{ title: string; at: string; operation: Operation }> | undefined {
    const path = this.paths.find(
      ({ path: each, pattern }) => pattern.test(pathname) && method.toLowerCase() in this.document.paths[each]!,
    )?.path;
    if (path === undefined) return undefined;
    const verb = method.toLowerCase();
    const at = `reference#/paths/${path.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')}/${verb}/responses`;
    return { title: `${method} ${path}`, at, operation: this.document.paths[path]![verb]! };
  }

  private answerOf({ title, at, operation }: NonNullable<ReturnType<Reference['operationAt']>>, status: number): Found {
    const answer = operation.responses[status];
    if (!answer) throw new UnlikeReference(`The reference says of ${title} no ${status}.`);
    const name = answer.$ref?.split('/').at(-1);
    if (name === undefined) return { title: `${title} ${status}`, at: `${at}/${status}`, answer };
    return {
      title: `${title} ${status}`,
      at: `reference#/components/responses/${name}`,
      answer: this.document.components.responses[name]!,
    };
  }

  private holdTo({ title, at, answer }: Found, type: string, value: unknown): void {
    if (!answer.content || !(type in answer.content)) throw new UnlikeReference(`The reference says of ${title} no ${type}.`);
    const place = `${at}/content/${type.replaceAll('/', '~1')}/schema`;
    const validate = this.compiled.get(place) ?? this.ajv.compile({ $ref: place });
    this.compiled.set(place, validate);
    if (validate(value)) return;
    const [error] = validate.errors!;
    const what = `${error!.instancePath} ${error!.message} ${JSON.stringify(error!.params)}`;
    throw new UnlikeReference(`${title} is not as the reference says: ${what} in ${JSON.stringify(value).slice(0, 2_000)}`);
  }
}

/** Some refusals have a text for old clients in place of a code. */
const IS_CODE = /^\w+$/;

/** Checks the code of a refusal, which is in a different field per family of routes. */
function holdCode({ title, answer }: Found, body: unknown): void {
  const { success, error, code } = body as Fields;
  const told = success === false ? error : typeof error === 'object' ? (error as Fields)['code'] : code;
  if (answer['x-codes-are-open'] || typeof told !== 'string' || !IS_CODE.test(told) || answer['x-codes']?.includes(told)) return;
  throw new UnlikeReference(`The reference does not name the code ${told} of ${title}.`);
}

/** Whether schemas below this name describe only a part of an object. Those cannot be closed. */
const isShared = (name: string): boolean => name === 'allOf' || name.endsWith('Refusal');

/** The document with all objects closed that name their fields, except refusals. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const inner = Object.fromEntries(Object.entries(node).map(([name, each]) => [name, isShared(name) ? each : closed(each)]));
  const isOpen = inner['type'] === 'object' && 'properties' in inner && !('additionalProperties' in inner);
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}

/** One reference per process, for all suites. It compiles the schema of a response when the first such response arrives. */
let reference: Reference | undefined;
let isHeld = true;
const known = (): Reference => (reference ??= new Reference());

/** For benchmarks: responses are not checked from now on, so that checks cost no time. */
export function leaveAnswersUnheld(): void {
  isHeld = false;
}

/** Checks a response and returns it. */
export async function heldToReference(method: string, responding: Promise<Response>): Promise<Response> {
  const response = await responding;
  const { url, status, redirected, headers } = response;
  const type = headers.get('content-type')?.split(';', 1)[0];
  const text = () =>
    response
      .clone()
      .text()
      .catch(() => undefined);
  if (!redirected) await holdAnswer({ method, url, status, type, text });
  return response;
}

/** @throws UnlikeReference */
export async function holdAnswer(answered: Answered): Promise<void> {
  if (isHeld) await known().hold(answered);
}

/** Checks a frame of a stream. @throws UnlikeReference */
export function holdFrame(response: Pick<Response, 'url' | 'status'>, data: unknown): void {
  if (isHeld) known().holdFrame(response, data);
}
