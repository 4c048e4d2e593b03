import { LRUCache } from 'lru-cache';
import { denylist } from './detection/denylist.js';
import type { Detector } from './detection/detector.js';
import { injection } from './detection/injection.js';
import { pii } from './detection/pii.js';
import { secrets } from './detection/secrets.js';
import { urls } from './detection/urls.js';
import type { GuardrailAction, GuardrailControl, GuardrailPolicy, GuardrailStage } from './guardrail.policy.js';

type ControlOf<Check extends GuardrailControl['check']> = Extract<GuardrailControl, { check: Check }>;

/** The prepared controls of one stage, each with the action that applies in the policy's mode. */
export type StageControls = Readonly<{
  spans: readonly Readonly<{ control: GuardrailControl; action: GuardrailAction; detector: Detector }>[];
  complete: readonly Readonly<{ control: ControlOf<'groundedness'>; action: GuardrailAction }>[];
  remote: readonly Readonly<{ control: ControlOf<'policy'>; action: GuardrailAction }>[];
}>;

export function stageControls({ mode, controls }: GuardrailPolicy, stage: GuardrailStage): StageControls {
  const its = controls
    .filter((control) => control.stage === stage)
    .map((control) => ({ control, action: mode === 'monitor_only' ? ('flag' as const) : control.action }));
  return {
    spans: its.flatMap((each) => {
      const detector = detectorOf(each.control);
      return detector ? [{ ...each, detector }] : [];
    }),
    complete: its.flatMap(({ control, action }) => (control.check === 'groundedness' ? [{ control, action }] : [])),
    remote: its.flatMap(({ control, action }) => (control.check === 'policy' ? [{ control, action }] : [])),
  };
}

/** The size of the cached denylists. Preparing a character of a term takes up to 200 bytes and some microseconds. */
export const DENYLIST_CHARACTERS_KEPT_MAX = 256 * 1024;

/** Each turn has its own copy of its agent's policy, so denylists are found by their settings. */
const denylists = new LRUCache<string, Detector, ControlOf<'denylist'>['settings']>({
  maxSize: DENYLIST_CHARACTERS_KEPT_MAX,
  sizeCalculation: (_, key) => key.length,
  memoMethod: (_key, _stale, { context }) => denylist(context),
});

/** The detector of a control; undefined for checks that do not return positions. */
function detectorOf(control: GuardrailControl): Detector | undefined {
  switch (control.check) {
    case 'pii':
      return pii(control.settings);
    case 'secrets':
      return secrets();
    case 'denylist':
      return denylists.memo(JSON.stringify(control.settings), { context: control.settings });
    case 'url':
      return urls(control.settings);
    case 'injection':
      return injection(control.settings);
    case 'groundedness':
    case 'policy':
      return undefined;
  }
}
