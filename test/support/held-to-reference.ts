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

/** An answer as whoever asked got it, over whichever client. */
export type Answered = Readonly<{
  method: string;
  url: string;
  status: number;
  type: string | undefined;
  /** Undefined where it broke off, which is for the story to notice. */
  text(): Promise<string | undefined>;
}>;

/** An answer is not what the reference says. Who takes broken connections for granted does not take this for one. */
export class UnlikeReference extends Error {
  override readonly name = 'UnlikeReference';
}

/** A path that is too long is refused before it is known whose it is. */
const PATH_TOO_LONG = 414;

/** Answers are held to what the reference says of them; a field that it does not name is one too many. */
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

  /** Each `data` of a stream. @throws UnlikeReference */
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

/** Some refusals say in the place of a code what old clients show. */
const IS_CODE = /^\w+$/;

/** The code of a refusal, where programs find it. */
function holdCode({ title, answer }: Found, body: unknown): void {
  const { success, error, code } = body as Fields;
  const told = success === false ? error : typeof error === 'object' ? (error as Fields)['code'] : code;
  if (answer['x-codes-are-open'] || typeof told !== 'string' || !IS_CODE.test(told) || answer['x-codes']?.includes(told)) return;
  throw new UnlikeReference(`The reference does not name the code ${told} of ${title}.`);
}

/** What is several things at once is no one of them alone. */
const isShared = (name: string): boolean => name === 'allOf' || name.endsWith('Refusal');

/** The document with all objects closed that name their fields, those of refusals apart. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const inner = Object.fromEntries(Object.entries(node).map(([name, each]) => [name, isShared(name) ? each : closed(each)]));
  const isOpen = inner['type'] === 'object' && 'properties' in inner && !('additionalProperties' in inner);
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}

/** One of a process: it compiles what the reference says of an answer when the first such answer comes, for all suites. */
let reference: Reference | undefined;
let isHeld = true;
const known = (): Reference => (reference ??= new Reference());

/** For measurements: answers are left as they are from here on, and cost nothing more than they do. */
export function leaveAnswersUnheld(): void {
  isHeld = false;
}

/** An answer, once it has been held to the reference. */
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

/** A frame of a stream. @throws UnlikeReference */
export function holdFrame(response: Pick<Response, 'url' | 'status'>, data: unknown): void {
  if (isHeld) known().holdFrame(response, data);
}
