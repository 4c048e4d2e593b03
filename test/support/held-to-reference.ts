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

/**
 * Answers that no operation is about: to what is nowhere or not built, to a method that is not allowed, and to a path that is too long.
 * Those of `/mcp` are the kit's.
 */
const OF_NO_OPERATION = [405, 414, 501];

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

  /** @throws Error where the answer is not as the reference says */
  async hold(method: string, response: Response): Promise<void> {
    const { status } = response;
    const { pathname } = new URL(response.url);
    const operation = this.operationAt(method, pathname);
    if (!operation || pathname.startsWith('/mcp') || response.redirected || OF_NO_OPERATION.includes(status)) return;
    const found = this.answerOf(operation, status);
    const type = response.headers.get('content-type')?.split(';', 1)[0];
    if (type !== 'application/json' || status === 204) return;
    // It may break off, which is for the story to notice.
    const text = await response
      .clone()
      .text()
      .catch(() => undefined);
    if (text === undefined) return;
    const body: unknown = JSON.parse(text);
    this.holdTo(found, type, body);
    if (status >= 400) holdCode(found, body);
  }

  /** Each `data` of a stream. @throws Error as `hold` does */
  holdFrame(response: Response, data: unknown): void {
    const { pathname } = new URL(response.url);
    const operation = this.operationAt('GET', pathname) ?? this.operationAt('POST', pathname);
    if (operation) this.holdTo(this.answerOf(operation, response.status), 'text/event-stream', data);
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
    if (!answer) throw new Error(`The reference says of ${title} no ${status}.`);
    const name = answer.$ref?.split('/').at(-1);
    if (name === undefined) return { title: `${title} ${status}`, at: `${at}/${status}`, answer };
    return {
      title: `${title} ${status}`,
      at: `reference#/components/responses/${name}`,
      answer: this.document.components.responses[name]!,
    };
  }

  private holdTo({ title, at, answer }: Found, type: string, value: unknown): void {
    if (!answer.content || !(type in answer.content)) throw new Error(`The reference says of ${title} no ${type}.`);
    const place = `${at}/content/${type.replaceAll('/', '~1')}/schema`;
    const validate = this.compiled.get(place) ?? this.ajv.compile({ $ref: place });
    this.compiled.set(place, validate);
    if (validate(value)) return;
    const [error] = validate.errors!;
    const what = `${error!.instancePath} ${error!.message} ${JSON.stringify(error!.params)}`;
    throw new Error(`${title} is not as the reference says: ${what} in ${JSON.stringify(value).slice(0, 2_000)}`);
  }
}

/** Some refusals say in the place of a code what old clients show. */
const IS_CODE = /^\w+$/;

/** The code of a refusal, where programs find it. */
function holdCode({ title, answer }: Found, body: unknown): void {
  const { success, error, code } = body as Fields;
  const told = success === false ? error : typeof error === 'object' ? (error as Fields)['code'] : code;
  if (answer['x-codes-are-open'] || typeof told !== 'string' || !IS_CODE.test(told) || answer['x-codes']?.includes(told)) return;
  throw new Error(`The reference does not name the code ${told} of ${title}.`);
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

let reference: Reference | undefined;
/** Stories that call `holdAnswers` are held; with TEST_HOLD_ANSWERS all are. */
let isHeld = process.env['TEST_HOLD_ANSWERS'] === '1';
const known = (): Reference => (reference ??= new Reference());

/** From here on answers that this suite gets are held to the reference. */
export function holdAnswers(): void {
  isHeld = true;
}

/** An answer, once it has been held to the reference. */
export async function heldToReference(method: string, responding: Promise<Response>): Promise<Response> {
  const response = await responding;
  if (isHeld) await known().hold(method, response);
  return response;
}

/** A frame of a stream, held to the reference. */
export function holdFrame(response: Response, data: unknown): void {
  if (isHeld) known().holdFrame(response, data);
}
