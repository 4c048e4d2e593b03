import { Rejection } from '../../../kernel/rejection.js';
import type { ParameterDefinition } from '../toolbox/tool.events.js';
import type { ApiAction, EncodingRule, ParameterGroup } from './api-action.policy.js';
import { bodyFormOf } from './request-body.policy.js';
import { isJsonObject, type JsonObject } from '../../json-object.policy.js';

export const API_ACTIONS_MAX = 100;
export const API_PARAMETERS_MAX = 200;
export const API_CONFIG_CHARACTERS_MAX = 512 * 1024;
export const API_DESCRIPTION_CHARACTERS_MAX = 10_000;
export const API_URL_CHARACTERS_MAX = 2048;

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];
const BODILESS = ['GET', 'HEAD'];

const ACTION_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
/** HTTP itself sets these headers, so an owner may not. */
const HEADERS_OF_HTTP = /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*)$/i;

const refused = (text: string) => new Rejection('tool-invalid', text);

/** The actions of a tool as their owner configured them. @throws Rejection tool-invalid */
export function apiActions(config: JsonObject): readonly ApiAction[] {
  const given = config['actions'] ?? {};
  if (!isJsonObject(given)) throw refused('actions must be an object of actions by name.');
  if (JSON.stringify(given).length > API_CONFIG_CHARACTERS_MAX) throw refused('The actions are too large.');
  const entries = Object.entries(given);
  if (entries.length > API_ACTIONS_MAX) throw refused(`An API tool may have ${API_ACTIONS_MAX} actions at most.`);
  const actions = entries.map(([key, action]) => apiAction(key, action));
  const names = new Set(actions.map(({ name }) => name));
  if (names.size < actions.length) throw refused('Two actions have the same name.');
  return actions;
}

function apiAction(key: string, given: unknown): ApiAction {
  if (!isJsonObject(given)) throw refused(`The action ${key.slice(0, 100)} must be an object.`);
  const name = textIn(given, 'name') || key;
  if (!ACTION_NAME.test(name)) {
    throw refused(`An action cannot be named "${name.slice(0, 100)}": letters, digits, _ and - are allowed, 64 of them.`);
  }
  const about = (text: string) => refused(`${name}: ${text}`);
  const method = (textIn(given, 'method') || 'GET').toUpperCase();
  if (!METHODS.includes(method)) throw about(`method must be one of ${METHODS.join(', ')}.`);
  const description = textIn(given, 'description');
  if (description.length > API_DESCRIPTION_CHARACTERS_MAX) throw about('the description is too long.');
  const access = given['access'];
  const action: ApiAction = {
    name,
    description,
    url: urlTemplate(textIn(given, 'url'), about),
    method,
    active: given['active'] !== false,
    ...(typeof given['require_approval'] === 'boolean' && { require_approval: given['require_approval'] }),
    ...((access === 'read' || access === 'write') && { access }),
    headers: groupIn(given, 'headers', about),
    query_params: groupIn(given, 'query_params', about),
    body: groupIn(given, 'body', about),
    body_content_type: textIn(given, 'body_content_type') || 'application/json',
    body_encoding_rules: isJsonObject(given['body_encoding_rules']) ? encodingRules(given['body_encoding_rules']) : {},
  };
  check(action, about);
  return action;
}

type About = (text: string) => Rejection;

/** Allows placeholders only in path and query, so that a model cannot choose the server. @throws Rejection tool-invalid */
function urlTemplate(url: string, about: About): string {
  if (url === '' || url.length > API_URL_CHARACTERS_MAX) throw about(`url must have 1 to ${API_URL_CHARACTERS_MAX} characters.`);
  const server = /^https?:\/\/[^/?#\\\s]+/i.exec(url)?.[0];
  if (server === undefined || !URL.canParse(url)) throw about('url must be an http or https URL.');
  if (/[{}]/.test(server)) throw about('url may hold parameters in its path and query only.');
  const { username, password } = new URL(url);
  if (username !== '' || password !== '') throw about('url must not hold a user name or a password.');
  return url.split('#', 1)[0]!;
}

function groupIn(given: JsonObject, name: string, about: About): ParameterGroup {
  const group = given[name];
  const properties = isJsonObject(group) ? (group['properties'] ?? {}) : {};
  if (!isJsonObject(properties) || !Object.values(properties).every(isJsonObject)) {
    throw about(`${name}.properties must be an object of parameters by name.`);
  }
  for (const [parameter, definition] of Object.entries(properties as Readonly<Record<string, JsonObject>>)) {
    const problem = problemOf(definition);
    if (problem !== undefined) throw about(`${problem}, in ${name}.${parameter.slice(0, 100)}.`);
  }
  if (Object.keys(properties).length > API_PARAMETERS_MAX) {
    throw about(`${name} may have ${API_PARAMETERS_MAX} parameters at most.`);
  }
  const required = isJsonObject(group) && Array.isArray(group['required']) ? group['required'].map(String) : [];
  return {
    type: 'object',
    properties: properties as Readonly<Record<string, ParameterDefinition>>,
    ...(required.length > 0 && { required }),
    ...(isJsonObject(group) && group['whole'] === true && { whole: true as const }),
  };
}

/** Strict about the switch, because a text such as "false" would count as on and leave a secret value unprotected. */
function problemOf({ type, description, filled_by_llm: filled }: JsonObject): string | undefined {
  if ((filled ?? undefined) !== undefined && typeof filled !== 'boolean') return 'filled_by_llm must be true or false';
  if ((description ?? undefined) !== undefined && typeof description !== 'string') return 'description must be a text';
  if ((type ?? undefined) !== undefined && typeof type !== 'string') return 'type must be a text';
  return undefined;
}

const encodingRules = (given: JsonObject): Readonly<Record<string, EncodingRule>> =>
  Object.fromEntries(
    Object.entries(given)
      .filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
      .map(([name, { style, explode, contentType }]) => [
        name,
        {
          ...(typeof style === 'string' && { style }),
          ...(typeof explode === 'boolean' && { explode }),
          ...(typeof contentType === 'string' && /^[\w.+-]+\/[\w.+-]+$/.test(contentType) && { contentType }),
        },
      ]),
  );

function check(action: ApiAction, about: About): void {
  for (const name of Object.keys(action.headers.properties)) {
    if (!HEADER_NAME.test(name) || HEADERS_OF_HTTP.test(name)) throw about(`the header "${name.slice(0, 100)}" cannot be set.`);
  }
  if (Object.keys(action.body.properties).length === 0) return;
  if (BODILESS.includes(action.method)) throw about(`${action.method} requests have no body.`);
  if (bodyFormOf(action.body_content_type) === undefined) throw about(`a body of this type cannot be sent.`);
}

const textIn = (given: JsonObject, name: string): string => (typeof given[name] === 'string' ? given[name].trim() : '');
