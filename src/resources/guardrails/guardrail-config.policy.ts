import { Rejection } from '../../kernel/rejection.js';
import {
  charactersOf,
  type FieldRules,
  flag,
  listOf,
  oneOf,
  orNull,
  readFields,
  share,
  textOf,
  wholeNumber,
} from './config-fields.policy.js';
import { actionsOf, CHECK_CATALOG } from './guardrail-catalog.policy.js';
import {
  type CheckSettings,
  GUARDRAIL_ACTIONS,
  GUARDRAIL_CHECKS,
  GUARDRAIL_MODES,
  GUARDRAIL_STAGES,
  type GuardrailAction,
  type GuardrailCheck,
  type GuardrailControl,
  type GuardrailMode,
  type GuardrailPolicy,
  type GuardrailStage,
  PII_ENTITIES,
} from './guardrail.policy.js';
import { isJsonObject } from '../json-object.policy.js';

const CONTROLS_MAX = 50;
export const DEFAULT_BLOCK_MESSAGE = "Sorry, I can't help with that request.";
export const DEFAULT_PII_ENTITIES = PII_ENTITIES.slice(0, 4);
/** Limited because every turn of the agent stores the policy. */
const CONFIG_CHARACTERS_MAX = 128 * 1024;
/** The error message that existing clients expect. */
const INVALID = 'Invalid config: one or more guardrail controls failed validation.';

/** The parsed guardrails of an agent. `policy` contains no disabled controls. */
export type GuardrailConfig = Readonly<{ enabled: boolean; policy: GuardrailPolicy }>;

/** The valid parts of a configuration and its problems. */
export type GuardrailReading = Readonly<{
  config: GuardrailConfig;
  /** The given configuration without its invalid parts, fit to be stored. */
  kept: Readonly<Record<string, unknown>>;
  /** The invalid parts, each with the path of its field. */
  problems: readonly string[];
}>;

type Checks = ReadonlySet<GuardrailCheck>;

/** Reads the valid parts of a configuration and ignores checks that the instance has not enabled. Never throws. */
export function readGuardrails(value: unknown, checks: Checks, at = 'config.guardrails'): GuardrailReading {
  if (isJsonObject(value) && JSON.stringify(value).length > CONFIG_CHARACTERS_MAX)
    return { ...readGuardrails({}, checks, at), problems: [`${at} must have at most ${CONFIG_CHARACTERS_MAX} characters.`] };
  const { values, ...fields } = readFields<Fields>(value, FIELDS, at);
  const { controls: listed, ...general } = values ?? FALLBACKS;
  const readings = listed.map((control, index) => readControl(control, checks, `${at}.controls[${index}]`));
  const doubles = doublesIn(readings);
  const valid = readings.filter((reading) => reading.control && !doubles.has(reading));
  const controls = valid.flatMap(({ control, isEnabled }) => (control && isEnabled ? [control] : []));
  const problems = [
    ...fields.problems,
    ...readings.flatMap((reading) => reading.problems),
    ...[...doubles].map((reading) => `${reading.at} has the same check and stage as another control.`),
  ];
  return {
    config: {
      enabled: general.enabled,
      policy: {
        mode: general.mode,
        failOpen: general.fail_open,
        timeoutMs: general.timeout_ms,
        blockMessage: general.block_message.trim() || DEFAULT_BLOCK_MESSAGE,
        controls,
      },
    },
    kept: { ...fields.kept, ...(fields.kept['controls'] !== undefined && { controls: valid.map(({ kept }) => kept) }) },
    problems,
  };
}

/** Returns a configuration unchanged if all its parts are valid. @throws Rejection invalid-agent-config */
export function validGuardrails(value: unknown, checks: Checks): Readonly<Record<string, unknown>> {
  const { problems } = readGuardrails(value, checks);
  if (problems.length > 0) throw new Rejection('invalid-agent-config', `${INVALID} ${problems[0]!}`);
  return value as Readonly<Record<string, unknown>>;
}

/** The error for a judge model that the service does not have. */
export const unknownJudge = (modelId: string): Rejection =>
  new Rejection('invalid-agent-config', `${INVALID} config.guardrails names no model of this service: ${modelId}`);

/** The judge models that a configuration names. */
export const judgesIn = (value: unknown): readonly string[] =>
  readGuardrails(value, new Set(GUARDRAIL_CHECKS)).config.policy.controls.flatMap((control) =>
    control.check === 'policy' && control.settings.model !== null ? [control.settings.model] : [],
  );

type Fields = Readonly<{
  enabled: boolean;
  mode: GuardrailMode;
  fail_open: boolean;
  timeout_ms: number;
  block_message: string;
  controls: readonly unknown[];
}>;

const FIELDS: FieldRules<Fields> = {
  enabled: flag(false),
  mode: oneOf(GUARDRAIL_MODES, 'monitor_only'),
  fail_open: flag(true),
  timeout_ms: wholeNumber(2000, { min: 100, max: 60_000 }),
  block_message: textOf({ min: 0, max: 500 }, ''),
  controls: listOf({ min: 0, max: CONTROLS_MAX, of: 'controls' }, (control) => control, []),
};

const FALLBACKS = Object.fromEntries(Object.entries(FIELDS).map(([name, { fallback }]) => [name, fallback])) as Fields;

type ControlReading = Readonly<{
  at: string;
  control: GuardrailControl | undefined;
  isEnabled: boolean;
  kept: Readonly<Record<string, unknown>>;
  problems: readonly string[];
}>;

type ControlFields = Readonly<{
  check: GuardrailCheck;
  stage: GuardrailStage;
  action: GuardrailAction;
  enabled: boolean;
  settings: Readonly<Record<string, unknown>>;
}>;

const controlRules = (checks: Checks): FieldRules<ControlFields> => ({
  check: oneOf(GUARDRAIL_CHECKS.filter((check) => checks.has(check))),
  stage: oneOf(GUARDRAIL_STAGES),
  action: oneOf(GUARDRAIL_ACTIONS, 'flag'),
  enabled: flag(true),
  settings: { fallback: {}, read: (value) => (isJsonObject(value) ? value : undefined), is: 'an object' },
});

/** A control with any invalid part is dropped as a whole. */
function readControl(value: unknown, checks: Checks, at: string): ControlReading {
  const { kept, values, problems } = readFields(value, controlRules(checks), at);
  const none = { at, control: undefined, isEnabled: false, kept };
  if (!values || problems.length > 0) return { ...none, problems };
  const { check, stage, action, settings } = values;
  if (!CHECK_CATALOG[check].stages.includes(stage))
    return { ...none, problems: [`${at}.stage must be one of ${CHECK_CATALOG[check].stages.join(', ')} for ${check}.`] };
  if (!actionsOf(check).includes(action))
    return { ...none, problems: [`${at}.action must be one of ${actionsOf(check).join(', ')} for ${check}.`] };
  const read = readFields<CheckSettings[GuardrailCheck]>(settings, SETTINGS[check], `${at}.settings`);
  if (!read.values || read.problems.length > 0) return { ...none, problems: read.problems };
  const missing = missingIn(check, read.values, `${at}.settings`);
  if (missing) return { ...none, problems: [missing] };
  return {
    ...none,
    control: { check, stage, action, settings: read.values } as GuardrailControl,
    isEnabled: values.enabled,
    problems,
  };
}

/** The controls with the same check and stage as an earlier one. */
function doublesIn(readings: readonly ControlReading[]): ReadonlySet<ControlReading> {
  const seen = new Set<string>();
  const doubles = new Set<ControlReading>();
  for (const reading of readings) {
    if (!reading.control) continue;
    const key = `${reading.control.check} ${reading.control.stage}`;
    if (seen.has(key)) doubles.add(reading);
    seen.add(key);
  }
  return doubles;
}

const TERM_CHARACTERS_MAX = 128;
const HOST_CHARACTERS_MAX = 253;

/** A text of limited length with at least one visible character. */
const asTerm = (value: unknown): string | undefined =>
  typeof value === 'string' &&
  /[^\p{Z}\p{C}\p{Default_Ignorable_Code_Point}]/u.test(value) &&
  charactersOf(value) <= TERM_CHARACTERS_MAX
    ? value
    : undefined;

/** A host name or address. A leading `*.` is allowed and has no effect. */
const asHost = (value: unknown): string | undefined => {
  if (typeof value !== 'string' || value.length > HOST_CHARACTERS_MAX) return undefined;
  const host = value.replace(/^\*?\./, '');
  return /^[^\s/\\?#@:*]+$|^\[[\da-f:.]+\]$/i.test(host) && URL.canParse(`http://${host}/`) ? value : undefined;
};

const hosts = listOf({ min: 0, max: 200, of: 'hosts such as example.com' }, asHost, []);

const SETTINGS: Readonly<{ [Check in GuardrailCheck]: FieldRules<CheckSettings[Check]> }> = {
  pii: {
    entities: listOf(
      { min: 1, max: PII_ENTITIES.length, of: `entries of ${PII_ENTITIES.join(', ')}` },
      (value) => PII_ENTITIES.find((entity) => entity === value),
      DEFAULT_PII_ENTITIES,
    ),
  },
  secrets: {},
  denylist: {
    terms: listOf({ min: 1, max: 500, of: `terms of 1 to ${TERM_CHARACTERS_MAX} characters` }, asTerm),
    match: oneOf(['word', 'substring'], 'word'),
    case_sensitive: flag(false),
  },
  url: { allow_hosts: hosts, block_hosts: hosts },
  injection: { min_hits: wholeNumber(1, { min: 1, max: 10 }) },
  groundedness: {
    min_overlap: share(0.3),
    min_words: wholeNumber(25, { min: 1, max: 1000 }),
    require_retrieval: flag(true),
  },
  policy: {
    policy: textOf({ min: 10, max: 2500 }),
    confidence_threshold: share(0.7),
    max_chars: wholeNumber(8000, { min: 200, max: 100_000 }),
    model: orNull(textOf({ min: 1, max: 200 })),
  },
};

/** A problem that concerns several fields together. */
function missingIn(check: GuardrailCheck, settings: CheckSettings[GuardrailCheck], at: string): string | undefined {
  if (check !== 'url') return undefined;
  const { allow_hosts: allowed, block_hosts: blocked } = settings as CheckSettings['url'];
  return allowed.length + blocked.length > 0 ? undefined : `${at} must have allow_hosts or block_hosts.`;
}
