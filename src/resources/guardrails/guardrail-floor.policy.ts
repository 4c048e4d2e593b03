import { type GuardrailConfig, readGuardrails } from './guardrail-config.policy.js';
import {
  GUARDRAIL_ACTIONS,
  GUARDRAIL_CHECKS,
  type GuardrailAction,
  type GuardrailCheck,
  type GuardrailControl,
  type GuardrailPolicy,
} from './guardrail.policy.js';

/** The checks that an operator lists; all for an empty list. @throws Error that names what is wrong */
export function checksIn(names: readonly string[]): ReadonlySet<GuardrailCheck> {
  const unknown = names.find((name) => !GUARDRAIL_CHECKS.some((check) => check === name));
  if (unknown !== undefined)
    throw new Error(`GUARDRAILS_CHECKS_ENABLED may hold ${GUARDRAIL_CHECKS.join(', ')}, not "${unknown}".`);
  return new Set(GUARDRAIL_CHECKS.filter((check) => names.length === 0 || names.includes(check)));
}

/** The floor of an instance as its operator writes it; undefined for an empty object. @throws Error that names what is wrong */
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

/** What holds for an agent: its own guardrails where they are on, and the floor. Undefined where nothing is checked. */
export function effectivePolicy(
  { enabled, policy: own }: GuardrailConfig,
  floor: GuardrailPolicy | undefined,
): GuardrailPolicy | undefined {
  const policy = !floor ? (enabled ? own : undefined) : enabled ? raised(own, floor) : floor;
  return policy && policy.controls.length > 0 ? policy : undefined;
}

/** The floor makes nothing milder. */
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

export const stricter = (one: GuardrailAction, other: GuardrailAction): GuardrailAction =>
  GUARDRAIL_ACTIONS.indexOf(one) > GUARDRAIL_ACTIONS.indexOf(other) ? one : other;
