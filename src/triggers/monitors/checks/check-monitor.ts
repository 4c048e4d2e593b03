import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../../kernel/clock.js';
import { Commands } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import type { Look } from '../monitor/check-report.decider.js';
import { Unfit } from '../monitor/content.policy.js';
import { Judge, JUDGE_MS_MAX } from './judge.js';
import { AttendMonitor, ReportCheck } from '../monitor/monitor.commands.js';
import { type Monitor, monitor } from '../monitor/monitor.decider.js';
import { type MonitorId, monitorStream } from '../monitor/monitor.events.js';
import { matchedText } from '../monitor/monitor-words.policy.js';
import { observe } from './observe.js';
import { Patterns, PatternTooSlow } from '../patterns/patterns.port.js';
import { LOOK_MS_MAX, LookFailed, WatchedSources } from './watched-sources.js';

/** A check is over by then, or its process is gone: somebody else looks. Twice what a look and a judgement may take. */
export const CHECK_LEASE_MS = 2 * (LOOK_MS_MAX + JUDGE_MS_MAX);

/** After so many failed judgements in a row a finding is reported without one, so that a broken judge hides nothing. */
export const JUDGE_FAILURES_MAX = 3;

/** Monitors whose state is remembered between two checks: a stream grows by two events with each. */
const MONITORS_REMEMBERED_MAX = 5_000;

/**
 * One check of one monitor. (1) claims it: of all who try, one goes on; (2) looks; (3) has what was found judged, where there
 * is a condition; (4) states what came of it, and what follows. A crash after (1), (2) or (3) repeats them once the claim has
 * run out; what comes too late is not stated.
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

  /** @throws the reason of the signal once it aborts: what was not stated by then is not */
  async check(monitorId: MonitorId, cause: Cause, signal: AbortSignal): Promise<void> {
    const before = await this.streams.fold(monitorStream(monitorId), monitor, this.remembered.get(monitorId));
    const { known, check } = await this.commands.execute(new AttendMonitor(monitorId, CHECK_LEASE_MS, before, cause));
    this.remember(monitorId, known);
    if (check === undefined) return;
    const look = await this.look(known.state, check, cause, signal);
    this.remember(monitorId, await this.commands.execute(new ReportCheck(monitorId, check, look, known, cause)));
  }

  private async look(state: Monitor, check: number, cause: Cause, signal: AbortSignal): Promise<Look> {
    try {
      return await this.compare(state, check, cause, signal);
    } catch (error) {
      if (error instanceof LookFailed) {
        if (error.outcome === 'unreachable') return { outcome: 'unreachable', error: error.message, usage: null };
        return { outcome: 'failed', error: error.message, isFinal: error.outcome === 'gone', usage: null };
      }
      if (error instanceof Unfit) return { outcome: 'failed', error: error.message, isFinal: false, usage: null };
      const isPattern = error instanceof PatternTooSlow || error instanceof SyntaxError;
      if (isPattern) return { outcome: 'failed', error: error.message, isFinal: true, usage: null };
      throw error;
    }
  }

  private async compare(state: Monitor, check: number, cause: Cause, signal: AbortSignal): Promise<Look> {
    const { id: monitorId, ownerId, agentId, conversationId, definition, seen: before, lastCheckedAt, lastChangedAt } = state;
    const times = { now: this.clock.now(), lastCheckedAt, lastChangedAt };
    const context = { monitorId, check, ownerId, agentId, conversationId, times, cause, signal };
    const content = await this.sources.look(definition.source, context);
    const { seen, fires, told } = await observe(definition.check, content, before, this.patterns);
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

  private remember(monitorId: MonitorId, { state, revision, position }: Folded<Monitor>): void {
    if (state.status === 'active') this.remembered.set(monitorId, { state, revision, position });
    else this.remembered.delete(monitorId);
  }
}
