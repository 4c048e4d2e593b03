import type { ParameterDefinition } from '../toolbox/tool.events.js';
import type { Json } from './spec-document.js';
import { isJsonObject } from '../../json-object.policy.js';
import type { SpecSchemas } from './spec-schemas.js';

type Parameters = Readonly<Record<string, ParameterDefinition>>;

type Credentials = Readonly<{ header: Parameters; query: Parameters }>;

const NONE: Credentials = { header: {}, query: {} };

/** The credentials that operations need, as parameters whose values the owner has to set. */
export class SpecCredentials {
  private readonly known: Json;
  /** Most operations share the requirement of the document. */
  private readonly read = new Map<object, Readonly<{ credentials: Credentials; work: number }>>();

  constructor(
    private readonly document: Json,
    private readonly schemas: SpecSchemas,
  ) {
    this.known = schemas.resolved(
      isJsonObject(document['components']) ? document['components']['securitySchemes'] : document['securityDefinitions'],
    );
  }

  of(operation: Json): Credentials {
    const asked = operation['security'] ?? this.document['security'];
    // The alternatives are equivalent; the first is used.
    const first: unknown = Array.isArray(asked) ? asked[0] : undefined;
    if (!isJsonObject(first)) return NONE;
    const { credentials, work } = this.read.get(first) ?? this.reading(first);
    this.schemas.spendCharacters(work);
    return credentials;
  }

  private reading(asked: Json) {
    const names = Object.keys(asked);
    const found = names.flatMap((name) => (Object.hasOwn(this.known, name) ? [this.schemas.resolved(this.known[name])] : []));
    const query = found.flatMap(({ type, in: place, name }) =>
      type === 'apiKey' && place === 'query' && typeof name === 'string' ? [[name, fixed('The API key.')] as const] : [],
    );
    const credentials = { header: Object.fromEntries(found.flatMap(headerOf)), query: Object.fromEntries(query) };
    const read = { credentials, work: JSON.stringify([names, credentials]).length };
    this.read.set(asked, read);
    return read;
  }
}

function headerOf({ type, in: place, name, scheme }: Json): (readonly [string, ParameterDefinition])[] {
  if (type === 'apiKey') {
    return place === 'header' && typeof name === 'string' ? [[name, fixed('The API key.')]] : [];
  }
  if (type === 'basic' || (type === 'http' && String(scheme).toLowerCase() === 'basic')) {
    return [['Authorization', fixed('"Basic " and the user name and password in base64.')]];
  }
  return [['Authorization', fixed('"Bearer " and the token.')]];
}

const fixed = (description: string): ParameterDefinition => ({ type: 'string', description, filled_by_llm: false, value: '' });
