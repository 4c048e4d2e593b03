import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../../kernel/clock.js';
import { Commands } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import type { CheckResult } from '../monitor/check-report.decider.js';
import { Unfit } from '../monitor/content.policy.js';
import { Judge, JUDGE_MS_MAX } from './judge.js';
import { AttendMonitor, ReportCheck } from '../monitor/monitor.commands.js';
import { type Monitor, monitor } from '../monitor/monitor.decider.js';
import { type MonitorId, monitorStream } from '../monitor/monitor.events.js';
import { matchedText } from '../monitor/monitor-words.policy.js';
import { observe } from './observe.js';
import { Patterns, PatternTooSlow } from '../patterns/patterns.port.js';
import { CHECK_MS_MAX, CheckFailed, WatchedSources } from './watched-sources.js';

/**
 * How long a claimed check belongs to its process: twice the maximum time of reading and judging. Afterwards another process may
 * repeat it.
 */
export const CHECK_LEASE_MS = 2 * (CHECK_MS_MAX + JUDGE_MS_MAX);

/** After this many failed judgements in a row, a finding is reported unjudged, so that a broken judge does not hide it. */
export const JUDGE_FAILURES_MAX = 3;

/** Number of cached states. Without the cache, each check would read the whole stream, which grows by two events per check. */
const MONITORS_REMEMBERED_MAX = 5_000;

/**
 * Performs one check of one monitor: (1) claims it, which only one process can; (2) reads the source; (3) has the finding judged
 * if there is a condition; (4) records the result and its consequences. A crash after (1), (2) or (3) repeats all steps after the
 * claim has expired. A result that arrives after another claim is not recorded.
 */
@Injectable()
export class CheckMonitor {
  private readonly remembered = new LRUCache<MonitorId, Folded<Monitor>>({ max: MONITORS_REMEMBERED_MAX });

  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly clock: Clock,
    private readonly sources: WatchedSources,
    private readonly patterns: Patterns,
    private readonly judge: Judge,
  ) {}

  /** @throws the reason of the signal when it aborts; the check is then not recorded */
  async check(monitorId: MonitorId, cause: Cause, signal: AbortSignal): Promise<void> {
    const before = await this.streams.fold(monitorStream(monitorId), monitor, this.remembered.get(monitorId));
    const { known, check } = await this.commands.execute(new AttendMonitor(monitorId, CHECK_LEASE_MS, before, cause));
    this.remember(monitorId, known);
    if (check === undefined) return;
    const look = await this.look(known.state, check, cause, signal);
    this.remember(monitorId, await this.commands.execute(new ReportCheck(monitorId, check, look, known, cause)));
  }

  private async look(state: Monitor, check: number, cause: Cause, signal: AbortSignal): Promise<CheckResult> {
    try {
      return await this.compare(state, check, cause, signal);
    } catch (error) {
      if (error instanceof CheckFailed) {
        if (error.outcome === 'unreachable') return { outcome: 'unreachable', error: error.message, usage: null };
        return { outcome: 'failed', error: error.message, isFinal: error.outcome === 'gone', usage: null };
      }
      if (error instanceof Unfit) return { outcome: 'failed', error: error.message, isFinal: false, usage: null };
      const isPattern = error instanceof PatternTooSlow || error instanceof SyntaxError;
      if (isPattern) return { outcome: 'failed', error: error.message, isFinal: true, usage: null };
      throw error;
    }
  }

  private async compare(state: Monitor, check: number, cause: Cause, signal: AbortSignal): Promise<CheckResult> {
    const { id: monitorId, ownerId, agentId, conversationId, definition, seen: before, lastCheckedAt, lastChangedAt } = state;
    const times = { now: this.clock.now(), lastCheckedAt, lastChangedAt };
    const context = { monitorId, check, ownerId, agentId, conversationId, times, cause, signal };
    const content = await this.sources.fetch(definition.source, context);
    const { seen, fires, report: told } = await observe(definition.check, content, before, this.patterns);
    if (!fires)
      return seen.hash === before.hash ? { outcome: 'unchanged', seen, usage: null } : { outcome: 'changed', seen, usage: null };
    const { description, condition } = definition;
    if (condition === null) return { outcome: 'matched', seen, text: matchedText(definition, told, true), usage: null };
    const found = { ownerId, description, condition, found: told, content: content.text };
    const verdict = await this.judge.judge(found, signal);
    const { usage } = verdict;
    if ('holds' in verdict) {
      if (!verdict.holds) return { outcome: 'changed', seen, usage };
      return { outcome: 'matched', seen, text: matchedText(definition, told, true), usage };
    }
    const { error } = verdict;
    if (verdict.refusedBy === 'quota') return { outcome: 'unreachable', error, usage };
    if (state.judgeFailures + 1 < JUDGE_FAILURES_MAX) return { outcome: 'unjudged', error, usage };
    return { outcome: 'matched', seen, text: matchedText(definition, told, false), usage };
  }

  private remember(monitorId: MonitorId, { state, revision, position, characters }: Folded<Monitor>): void {
    if (state.status === 'active') this.remembered.set(monitorId, { state, revision, position, characters });
    else this.remembered.delete(monitorId);
  }
}
