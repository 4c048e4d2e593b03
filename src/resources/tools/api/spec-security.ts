import type { ParameterDefinition } from '../toolbox/tool.events.js';
import type { Json } from './spec-document.js';
import { isJsonObject } from '../../json-object.policy.js';
import type { SpecSchemas } from './spec-schemas.js';

type Parameters = Readonly<Record<string, ParameterDefinition>>;

/** The credentials that an operation needs, as parameters whose values the owner has to set. */
export function credentialParameters(
  document: Json,
  operation: Json,
  schemas: SpecSchemas,
): Readonly<{ header: Parameters; query: Parameters }> {
  const asked = operation['security'] ?? document['security'];
  // The alternatives are equivalent; the first is used.
  const first: unknown = Array.isArray(asked) ? asked[0] : undefined;
  const known = schemas.resolved(
    isJsonObject(document['components']) ? document['components']['securitySchemes'] : document['securityDefinitions'],
  );
  const names = Object.keys(isJsonObject(first) ? first : {});
  schemas.spend(names);
  const found = names.flatMap((name) => (Object.hasOwn(known, name) ? [schemas.resolved(known[name])] : []));
  const header = found.flatMap(headerOf);
  const query = found.flatMap(({ type, in: place, name }) =>
    type === 'apiKey' && place === 'query' && typeof name === 'string' ? [[name, fixed('The API key.')] as const] : [],
  );
  return { header: Object.fromEntries(header), query: Object.fromEntries(query) };
}

function headerOf({ type, in: place, name, scheme }: Json): (readonly [string, ParameterDefinition])[] {
  if (type === 'apiKey') {
    return place === 'header' && typeof name === 'string' ? [[name, fixed('The API key.')]] : [];
  }
  if (type === 'basic' || (type === 'http' && scheme === 'basic')) {
    return [['Authorization', fixed('"Basic " and the user name and password in base64.')]];
  }
  return [['Authorization', fixed('"Bearer " and the token.')]];
}

const fixed = (description: string): ParameterDefinition => ({ type: 'string', description, filled_by_llm: false, value: '' });
