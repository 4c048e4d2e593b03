import { denylist } from '../../src/resources/guardrails/detection/denylist.js';
import type { Detector } from '../../src/resources/guardrails/detection/detector.js';
import { injection } from '../../src/resources/guardrails/detection/injection.js';
import { pii } from '../../src/resources/guardrails/detection/pii.js';
import { secrets } from '../../src/resources/guardrails/detection/secrets.js';
import { urls } from '../../src/resources/guardrails/detection/urls.js';
import { PII_ENTITIES } from '../../src/resources/guardrails/guardrail.policy.js';

/** A detector of each kind. The one of personal data searches for all entities. */
export const DETECTORS = {
  personal: pii({ entities: PII_ENTITIES }),
  secrets: secrets(),
  listed: denylist({ terms: ['Project Zebra', 'straße', 'c++', 'нет'], match: 'word', case_sensitive: false }),
  guarded: urls({ allow_hosts: ['example.com'], block_hosts: ['evil.example.com', 'bad.test'] }),
  hints: injection({ min_hits: 1 }),
} as const satisfies Readonly<Record<string, Detector>>;
