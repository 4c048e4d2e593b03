import { Rejection } from '../kernel/rejection.js';
import type { AgentPolicy } from './agent.events.js';

/**
 * Keeps pages of other origins from using an agent's key, where its owner wants that. Browsers say where a page comes from;
 * callers without a page say nothing and are not meant. @throws Rejection origin-not-allowed
 */
export function refuseOrigin(config: AgentPolicy, origin: string | undefined, alwaysTrusted: readonly string[] = []): void {
  if (!config.restrict_origins || origin === undefined) return;
  if (config.allowed_origins?.includes(origin) || alwaysTrusted.includes(origin)) return;
  throw new Rejection('origin-not-allowed', "This origin is not allowed to use this agent's API key.");
}
