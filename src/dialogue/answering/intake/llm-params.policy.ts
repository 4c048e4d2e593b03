import { Rejection } from '../../../kernel/rejection.js';
import type { Sampling } from '../../../resources/models/model/language-model.port.js';

const STOPS_MAX = 4;
const STOP_CHARACTERS_MAX = 256;

type Rule = Readonly<{ as: keyof Sampling; takes: (value: unknown) => boolean; what: string }>;

const between = (least: number, most: number) => (value: unknown) => typeof value === 'number' && value >= least && value <= most;
const isStop = (value: unknown): boolean => typeof value === 'string' && value.length > 0 && value.length <= STOP_CHARACTERS_MAX;

const RULES: Readonly<Record<string, Rule>> = {
  temperature: { as: 'temperature', takes: between(0, 2), what: 'a number from 0 to 2' },
  top_p: { as: 'topP', takes: between(0, 1), what: 'a number from 0 to 1' },
  frequency_penalty: { as: 'frequencyPenalty', takes: between(-2, 2), what: 'a number from -2 to 2' },
  presence_penalty: { as: 'presencePenalty', takes: between(-2, 2), what: 'a number from -2 to 2' },
  max_tokens: {
    as: 'maxTokens',
    takes: (value) => Number.isSafeInteger(value) && (value as number) > 0,
    what: 'a whole number, 1 or more',
  },
  seed: { as: 'seed', takes: Number.isSafeInteger, what: 'a whole number' },
  stop: {
    as: 'stop',
    takes: (value) => isStop(value) || (Array.isArray(value) && value.length <= STOPS_MAX && value.every(isStop)),
    what: `a text, or at most ${STOPS_MAX} texts, of at most ${STOP_CHARACTERS_MAX} characters each`,
  },
};

/**
 * The sampling parameters of a caller, which have the names of OpenAI's API. Null counts as missing.
 * @throws Rejection invalid-request
 */
export function samplingOf(given: Readonly<Record<string, unknown>> | null | undefined): Sampling | undefined {
  const named = Object.entries(given ?? {}).filter(([, value]) => value !== null && value !== undefined);
  const sampling = Object.fromEntries(
    named.map(([name, value]) => {
      const rule = Object.hasOwn(RULES, name) ? RULES[name]! : undefined;
      if (!rule) throw new Rejection('invalid-request', `llm_params.${name} is not supported.`);
      if (!rule.takes(value)) throw new Rejection('invalid-request', `llm_params.${name} must be ${rule.what}.`);
      return [rule.as, value];
    }),
  );
  return named.length === 0 ? undefined : sampling;
}
