import { isNameable } from '../../../kernel/nameable.js';
import { Rejection } from '../../../kernel/rejection.js';
import { PDF, PICTURE_MIME_TYPES } from '../../documents/readable-files.policy.js';
import type { ModelDescription } from '../model/language-model.port.js';
import type { CustomModelCapabilities, CustomModelDefinition, CustomModelId } from './custom-model.events.js';

/** The name of the key in its vault entry. */
export const API_KEY = 'api_key';
export const CUSTOM_MODELS_PER_USER_MAX = 200;
const NAME_CHARACTERS_MAX = 200;
const DESCRIPTION_CHARACTERS_MAX = 2_000;
const URL_CHARACTERS_MAX = 2_000;
const KEY_CHARACTERS_MAX = 4_000;
const ATTACHMENT_ENTRIES_MAX = 50;
const CONTEXT_WINDOW_MIN = 1_000;
const CONTEXT_WINDOW_MAX = 10_000_000;
const CONTEXT_WINDOW_DEFAULT = 128_000;
const REASONING_EFFORTS: readonly unknown[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];

/** Groups of MIME types by the names that clients send. */
const ATTACHMENT_GROUPS: Readonly<Record<string, readonly string[]>> = {
  image: PICTURE_MIME_TYPES,
  pdf: [PDF],
  audio: ['audio/mpeg', 'audio/wav', 'audio/ogg', 'audio/webm'],
};
const MIME_TYPE = /^[\w.+-]{1,100}\/[\w.+*-]{1,100}$/;

/** A custom model before validation. `capabilities` may be any value; validation keeps the known ones. */
export type UncheckedModel = Omit<CustomModelDefinition, 'credentialsId' | 'capabilities'> &
  Readonly<{ apiKey: string; capabilities: unknown }>;

export type CheckedModel = Omit<CustomModelDefinition, 'credentialsId'> & Readonly<{ apiKey: string }>;

const refused = (text: string) => new Rejection('invalid-request', text);

/** @throws Rejection invalid-request */
export function checkedModel(given: UncheckedModel): CheckedModel {
  return checkedChanges(given) as CheckedModel;
}

/** Checks the given fields of a model. @throws Rejection invalid-request */
export function checkedChanges(given: Partial<UncheckedModel>): Partial<CheckedModel> {
  const { displayName, upstreamModelId, description, baseUrl, apiKey, capabilities, enabled } = given;
  const checked = {
    displayName: displayName === undefined ? undefined : name('display_name', displayName),
    upstreamModelId: upstreamModelId === undefined ? undefined : name('upstream_model_id', upstreamModelId),
    description: description === undefined ? undefined : within('description', description, DESCRIPTION_CHARACTERS_MAX),
    baseUrl: baseUrl === undefined ? undefined : checkedBaseUrl(baseUrl),
    apiKey: apiKey === undefined ? undefined : checkedKey(apiKey),
    capabilities: capabilities === undefined ? undefined : capabilitiesIn(capabilities),
    enabled,
  };
  return Object.fromEntries(Object.entries(checked).filter(([, value]) => value !== undefined));
}

/** Request paths are appended to the base URL, so it must not have a query or a fragment. @throws Rejection invalid-request */
export function checkedBaseUrl(text: string): string {
  const url = notBlank('base_url', within('base_url', text, URL_CHARACTERS_MAX));
  if (!URL.canParse(url)) throw refused('base_url must be a URL');
  if (/[?#]/.test(url)) throw refused('base_url must have no query and no fragment');
  return url;
}

/** Trims the key, because a copied key may have white space around it. @throws Rejection invalid-request */
export function checkedKey(text: string): string {
  const key = notBlank('api_key', within('api_key', text, KEY_CHARACTERS_MAX)).trim();
  if (!/^[\x21-\x7e]+$/.test(key)) throw refused('api_key must hold printable ASCII characters without spaces');
  return key;
}

const name = (field: string, text: string): string => notBlank(field, within(field, text, NAME_CHARACTERS_MAX));

function within(field: string, text: string, max: number): string {
  if (text.length > max) throw refused(`${field} must be shorter than or equal to ${max} characters`);
  if (!isNameable(text)) throw refused(`${field} must not hold NUL or half of a surrogate pair`);
  return text;
}

function notBlank(field: string, text: string): string {
  if (text.trim() === '') throw refused(`'${field}' must be a non-empty string`);
  return text;
}

/** The known capabilities; unknown ones are dropped. @throws Rejection invalid-request */
export function capabilitiesIn(given: unknown): CustomModelCapabilities {
  if (given === null) return {};
  if (typeof given !== 'object' || Array.isArray(given)) throw refused("'capabilities' must be an object");
  const fields = given as Readonly<Record<string, unknown>>;
  const known = {
    supports_tools: flag(fields, 'supports_tools'),
    supports_structured_output: flag(fields, 'supports_structured_output'),
    supports_streaming: flag(fields, 'supports_streaming'),
    attachments: attachmentsIn(fields['attachments']),
    context_window: contextWindowIn(fields['context_window']),
    api_flavor: apiFlavorIn(fields['api_flavor']),
    reasoning_effort: reasoningEffortIn(fields['reasoning_effort']),
  };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
}

function flag(fields: Readonly<Record<string, unknown>>, field: string): boolean | undefined {
  const value = fields[field] ?? undefined;
  if (value !== undefined && typeof value !== 'boolean') throw refused(`'capabilities.${field}' must be true or false`);
  return value;
}

function attachmentsIn(given: unknown): readonly string[] | undefined {
  if (given === undefined || given === null) return undefined;
  if (!Array.isArray(given)) throw refused("'capabilities.attachments' must be a list");
  if (given.length > ATTACHMENT_ENTRIES_MAX)
    throw refused(`'capabilities.attachments' must hold at most ${ATTACHMENT_ENTRIES_MAX} entries`);
  return given.map((entry) => {
    if (typeof entry === 'string' && (Object.hasOwn(ATTACHMENT_GROUPS, entry) || MIME_TYPE.test(entry))) return entry;
    const groups = Object.keys(ATTACHMENT_GROUPS).join(', ');
    throw refused(`'capabilities.attachments' must hold MIME types such as image/png, or ${groups}`);
  });
}

function contextWindowIn(given: unknown): number | undefined {
  if (given === undefined || given === null) return undefined;
  const tokens = typeof given === 'string' && /^\d{1,8}$/.test(given) ? Number(given) : given;
  if (!Number.isInteger(tokens)) throw refused("'capabilities.context_window' must be an integer");
  if ((tokens as number) < CONTEXT_WINDOW_MIN || (tokens as number) > CONTEXT_WINDOW_MAX)
    throw refused(`'capabilities.context_window' must be between ${CONTEXT_WINDOW_MIN} and ${CONTEXT_WINDOW_MAX}`);
  return tokens as number;
}

function apiFlavorIn(given: unknown): 'chat_completions' | undefined {
  if (given === undefined || given === null) return undefined;
  if (given !== 'chat_completions') throw refused("'capabilities.api_flavor' must be one of [chat_completions]");
  return given;
}

function reasoningEffortIn(given: unknown): string | undefined {
  if (given === undefined || given === null) return undefined;
  if (!REASONING_EFFORTS.includes(given))
    throw refused(`'capabilities.reasoning_effort' must be one of [${REASONING_EFFORTS.join(', ')}]`);
  return given as string;
}

/** Describes a custom model. What its owner leaves out gets the same defaults as any model of an endpoint. */
export function descriptionOf(id: CustomModelId, definition: CustomModelDefinition): ModelDescription {
  const { displayName, description, baseUrl, capabilities } = definition;
  return {
    id,
    provider: 'openai_compatible',
    displayName,
    description,
    attachmentTypes: [...new Set((capabilities.attachments ?? []).flatMap((each) => ATTACHMENT_GROUPS[each] ?? [each]))],
    tools: capabilities.supports_tools ?? true,
    structuredOutput: capabilities.supports_structured_output ?? true,
    streaming: capabilities.supports_streaming ?? true,
    contextWindow: capabilities.context_window ?? CONTEXT_WINDOW_DEFAULT,
    reasoningEffort: capabilities.reasoning_effort ?? null,
    baseUrl,
    isCustom: true,
  };
}
