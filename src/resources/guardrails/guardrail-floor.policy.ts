import { type GuardrailConfig, readGuardrails } from './guardrail-config.policy.js';
import {
  GUARDRAIL_ACTIONS,
  GUARDRAIL_CHECKS,
  type GuardrailAction,
  type GuardrailCheck,
  type GuardrailControl,
  type GuardrailPolicy,
} from './guardrail.policy.js';

/** The checks that the operator lists; all checks if the list is empty. @throws Error that names the unknown check */
export function checksIn(names: readonly string[]): ReadonlySet<GuardrailCheck> {
  const unknown = names.find((name) => !GUARDRAIL_CHECKS.some((check) => check === name));
  if (unknown !== undefined)
    throw new Error(`GUARDRAILS_CHECKS_ENABLED may hold ${GUARDRAIL_CHECKS.join(', ')}, not "${unknown}".`);
  return new Set(GUARDRAIL_CHECKS.filter((check) => names.length === 0 || names.includes(check)));
}

/** The operator's floor; undefined for an empty object. @throws Error with the problems */
export function floorIn(text: string, checks: ReadonlySet<GuardrailCheck>): GuardrailPolicy | undefined {
  const value = parsed(text);
  if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) return undefined;
  const { config, problems } = readGuardrails(value, checks, 'GUARDRAILS_FLOOR');
  if (problems.length > 0) throw new Error(problems.join(' '));
  if (!config.enabled) throw new Error('GUARDRAILS_FLOOR.enabled must be true.');
  return config.policy;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('GUARDRAILS_FLOOR must be a JSON object.');
  }
}

/** The policy of an agent: the floor merged with its own guardrails if they are enabled. Undefined if nothing is checked. */
export function effectivePolicy(
  { enabled, policy: own }: GuardrailConfig,
  floor: GuardrailPolicy | undefined,
): GuardrailPolicy | undefined {
  const policy = !floor ? (enabled ? own : undefined) : enabled ? raised(own, floor) : floor;
  return policy && policy.controls.length > 0 ? policy : undefined;
}

/** Merges two policies. The result is at least as strict as the floor. */
const raised = (own: GuardrailPolicy, floor: GuardrailPolicy): GuardrailPolicy => ({
  mode: own.mode === 'scan_all' ? own.mode : floor.mode,
  failOpen: own.failOpen && floor.failOpen,
  timeoutMs: Math.max(own.timeoutMs, floor.timeoutMs),
  blockMessage: own.blockMessage,
  controls: [
    ...floor.controls.map((control) =>
      withStricterAction(
        control,
        own.controls.find((each) => isSame(each, control)),
      ),
    ),
    ...own.controls.filter((control) => !floor.controls.some((each) => isSame(each, control))),
  ],
});

const isSame = (one: GuardrailControl, other: GuardrailControl) => one.check === other.check && one.stage === other.stage;

const withStricterAction = (control: GuardrailControl, other: GuardrailControl | undefined): GuardrailControl =>
  other ? { ...control, action: stricter(control.action, other.action) } : control;

const stricter = (one: GuardrailAction, other: GuardrailAction): GuardrailAction =>
  GUARDRAIL_ACTIONS.indexOf(one) > GUARDRAIL_ACTIONS.indexOf(other) ? one : other;
