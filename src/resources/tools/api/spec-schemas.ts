import { Rejection } from '../../../kernel/rejection.js';
import type { ParameterDefinition } from '../toolbox/tool.events.js';
import type { Json } from './spec-document.js';
import { isJsonObject } from '../../json-object.policy.js';

/** Schemas below this depth are reduced to their type. */
export const SCHEMA_DEPTH_MAX = 8;
/** The maximum length of a chain of references. */
const REFERENCES_MAX = 16;
/** The maximum number of expanded schemas in one description; a shared schema counts each time. */
export const SCHEMAS_MAX = 50_000;

/**
 * The maximum work for one description, in characters of the answer. A text that many operations share counts each time, because
 * the answer repeats it.
 */
const WORK_MAX = 20_000_000;
/** The work of looking a value up. */
const LOOKUP_WORK = 20;

const KEPT_KEYWORDS = [
  'title',
  'format',
  'enum',
  'const',
  'default',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
];

const ALTERNATIVES = ['oneOf', 'anyOf'] as const;

/** Resolves the references within one description, and expands its schemas, because models cannot follow references. */
export class SpecSchemas {
  private written = 0;
  private work = 0;

  constructor(private readonly document: Json) {}

  /** Counts a value that the answer repeats. @throws Rejection invalid-request if that is too much for one description */
  spend(value: unknown): void {
    this.spendCharacters(typeof value === 'string' ? value.length : JSON.stringify(value).length);
  }

  /** @throws Rejection invalid-request */
  spendCharacters(work: number): void {
    this.work += work;
    if (this.work > WORK_MAX) throw tooLarge();
  }

  /**
   * The value, or the value that it refers to. Empty for references to other files and for broken ones. @throws Rejection
   * invalid-request
   */
  resolved(value: unknown): Json {
    let current = value;
    this.spendCharacters(LOOKUP_WORK);
    for (let followed = 0; isJsonObject(current) && typeof current['$ref'] === 'string'; followed++) {
      if (followed >= REFERENCES_MAX) throw new Rejection('invalid-request', `The reference ${current['$ref']} leads nowhere.`);
      this.spend(current['$ref']);
      current = this.at(current['$ref']);
    }
    return isJsonObject(current) ? current : {};
  }

  /** Expands a schema. @throws Rejection invalid-request if the description has too many schemas */
  schema(value: unknown, within: readonly unknown[] = []): ParameterDefinition {
    if (++this.written > SCHEMAS_MAX) throw tooLarge();
    const source = this.resolved(value);
    const type = typeOf(source);
    if (within.includes(source) || within.length >= SCHEMA_DEPTH_MAX) return { type: type ?? 'object' };
    const inside = [...within, source];
    const parts = Array.isArray(source['allOf']) ? source['allOf'].map((part) => this.schema(part, inside)) : [];
    const kept = KEPT_KEYWORDS.filter((keyword) => keyword in source).map((keyword) => [keyword, source[keyword]] as const);
    this.spend(kept);
    const description = source['description'];
    if (typeof description === 'string') this.spend(description);
    const own: Record<string, unknown> = {
      ...(type !== undefined && { type }),
      ...(typeof description === 'string' && { description }),
      ...Object.fromEntries(kept),
      ...this.members(source, inside),
    };
    for (const keyword of ALTERNATIVES) {
      const alternatives = source[keyword];
      if (Array.isArray(alternatives)) own[keyword] = alternatives.map((each) => this.schema(each, inside));
    }
    return parts.length > 0 ? merged([...parts, own]) : own;
  }

  private members(source: Json, inside: readonly unknown[]): Json {
    const { properties, required, items, additionalProperties } = source;
    if (Array.isArray(required)) this.spend(required);
    return {
      ...(isJsonObject(properties) && { properties: this.properties(properties, inside) }),
      ...(Array.isArray(required) && { required: required.filter((name) => typeof name === 'string') }),
      ...(isJsonObject(items) && { items: this.schema(items, inside) }),
      ...(isJsonObject(additionalProperties) && { additionalProperties: this.schema(additionalProperties, inside) }),
    };
  }

  /** Omits read-only properties, which only the server sends. */
  private properties(properties: Json, inside: readonly unknown[]): Json {
    const said = Object.entries(properties).filter(([, value]) => this.resolved(value)['readOnly'] !== true);
    return Object.fromEntries(
      said.map(([name, value]) => {
        this.spend(name);
        return [name, this.schema(value, inside)];
      }),
    );
  }

  private at(reference: string): unknown {
    if (!reference.startsWith('#/')) return undefined;
    let current: unknown = this.document;
    for (const step of reference.slice(2).split('/')) {
      const name = unescaped(step);
      if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined;
      current = (current as Json)[name];
    }
    return current;
  }
}

const tooLarge = () => new Rejection('invalid-request', 'The specification is too large to be written out.');

function unescaped(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

/** The type of a value, without `null`; derived from its keywords if it is missing. */
function typeOf({ type, properties, items }: Json): string | undefined {
  const found: unknown = Array.isArray(type) ? type.find((each) => each !== 'null') : type;
  if (typeof found === 'string') return found;
  return properties !== undefined ? 'object' : items !== undefined ? 'array' : undefined;
}

function merged(parts: readonly ParameterDefinition[]): ParameterDefinition {
  const properties = Object.assign({}, ...parts.map((part) => part['properties'] ?? {})) as Json;
  const required = [...new Set(parts.flatMap((part) => (Array.isArray(part.required) ? (part.required as unknown[]) : [])))];
  return {
    ...(Object.assign({}, ...parts) as ParameterDefinition),
    ...(Object.keys(properties).length > 0 && { type: 'object', properties }),
    ...(required.length > 0 && ({ required } as object)),
  };
}
