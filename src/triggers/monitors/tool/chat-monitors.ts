import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import { MonitorQueries, type MonitorRecord } from '../../../../projections/monitors/monitors.queries.js';
import { conversationCodec } from '../../../dialogue/conversation/conversation.codec.js';
import { type ConversationEvent, conversationStream } from '../../../dialogue/conversation/conversation.events.js';
import { Clock } from '../../../kernel/clock.js';
import { decode } from '../../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Freshness } from '../../../kernel/event-sourcing/freshness.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { AdmitMonitor } from '../monitor/monitor-allowance.commands.js';
import { RequestedSource } from '../checks/requested-source.js';
import { Unfit } from '../monitor/content.policy.js';
import { CreateMonitor, SteerMonitor } from '../monitor/monitor.commands.js';
import { monitor, monitorNotFound } from '../monitor/monitor.decider.js';
import { type MonitorId, monitorStream, type MonitorDefinition, type Seen } from '../monitor/monitor.events.js';
import { MonitorRules } from '../monitor/monitor-rules.js';
import { type MonitorView, monitorView } from '../monitor/monitor-view.js';
import { observe } from '../checks/observe.js';
import { Patterns, PatternTooSlow } from '../patterns/patterns.port.js';
import { type MonitorRequest, parseDefinition } from '../monitor/definition.policy.js';
import { CheckFailed, WatchedSources } from '../checks/watched-sources.js';

/** The read model from which chats list their monitors. */
const READ = ['monitors'];
const MONITORS_LISTED_MAX = 200;

const NO_FOLLOW_UPS =
  'a monitor reports by continuing its chat, which is possible only in your own chats with no agent or an agent of your own';

const refused = (text: string): Rejection => new Rejection('monitor-refused', text);

/** A chat and its owner. */
type MonitoredChat = Readonly<{ ownerId: string; agentId: string | null; conversationId: string }>;

/** A monitor, the summary of the baseline (`current`), and notes on changes to the request. */
type MadeMonitor = Readonly<{ monitor: MonitorView; current: string; notes: readonly string[] }>;

/** Creates monitors for chats within the limits of their users. A monitor continues its chat when it matches. */
@Injectable()
export class ChatMonitors {
  constructor(
    private readonly commands: Commands,
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: MonitorRules,
    private readonly monitors: MonitorQueries,
    private readonly freshness: Freshness,
    private readonly asked: RequestedSource,
    private readonly sources: WatchedSources,
    private readonly patterns: Patterns,
  ) {}

  /**
   * Creates a monitor. Repeating the call with the same id returns the first monitor. `turnId` is the turn that requests it.
   * Steps: (1) check that the chat can be continued automatically; (2) resolve the source and the check; (3) reserve a place; (4)
   * read the baseline for later checks; (5) create the monitor. A crash before (5) leaves a reserved place, which no longer
   * counts after a while.
   * @throws Rejection monitor-refused, too-many-monitors
   */
  async create(
    monitorId: MonitorId,
    chat: MonitoredChat & Readonly<{ turnId: string }>,
    asked: MonitorRequest,
    cause: Cause,
    signal: AbortSignal,
  ): Promise<MadeMonitor> {
    const known = await this.stored(monitorId);
    if (known) return known;
    if (!this.rules.isEnabled) throw refused('monitors are switched off on this server');
    if (!(await this.canFollowUp(chat))) throw refused(NO_FOLLOW_UPS);
    const { ownerId, agentId, conversationId } = chat;
    const source = await this.asked.resolve(asked.source, ownerId);
    const { definition, notes } = parseDefinition(asked, source, this.rules, this.clock.now());
    await this.commands.execute(new AdmitMonitor(ownerId, monitorId, cause));
    let seen: Seen;
    try {
      seen = await this.firstLook(monitorId, chat, definition, cause, signal);
    } catch (error) {
      await this.commands.execute(new AdmitMonitor(ownerId, monitorId, cause, 'no-place'));
      throw error;
    }
    const created = new CreateMonitor({ monitorId, ownerId, conversationId, agentId, definition, seen }, cause);
    await this.freshness.reached(READ, await this.commands.execute(created));
    return { ...(await this.stored(monitorId))!, notes };
  }

  /** The active and paused monitors of the chat. */
  async list({ ownerId, conversationId }: MonitoredChat): Promise<readonly MonitorView[]> {
    const selection = { selection: 'live', conversationId, limit: MONITORS_LISTED_MAX } as const;
    return (await this.monitors.ofOwner(ownerId, selection)).map(monitorView);
  }

  /** @throws Rejection monitor-not-found, monitor-over */
  async cancel(monitorId: MonitorId, { ownerId, conversationId }: MonitoredChat, cause: Cause): Promise<MonitorView> {
    const found = await this.monitors.byId(monitorId);
    if (found?.ownerId !== ownerId || found.conversationId !== conversationId) throw monitorNotFound();
    await this.freshness.reached(READ, await this.commands.execute(new SteerMonitor(monitorId, ownerId, 'cancel', cause)));
    return monitorView(await this.recordOf(monitorId));
  }

  /**
   * Whether the chat can be continued: a signed-in user asked in an own chat, without an agent or with an own one, and neither an
   * agent key nor another user's agent is involved.
   */
  private async canFollowUp({ ownerId, conversationId, turnId }: MonitoredChat & Readonly<{ turnId: string }>): Promise<boolean> {
    let isOwn = false;
    for await (const page of this.store.read(conversationStream(conversationId))) {
      for (const stored of page) {
        const event = decode<ConversationEvent>(conversationCodec, stored);
        if (event?.type === 'ConversationDeleted') return false;
        if (event?.type === 'ConversationStarted' && (event.data.ownerId !== ownerId || event.data.sharedUsage)) return false;
        if (event?.type !== 'TurnAsked' || event.data.turnId !== turnId) continue;
        const { agentKeyId, configurationOwnerId } = event.data.settings;
        isOwn = agentKeyId === null && configurationOwnerId === ownerId;
      }
    }
    return isOwn;
  }

  private async firstLook(
    monitorId: MonitorId,
    { ownerId, agentId, conversationId }: MonitoredChat,
    definition: MonitorDefinition,
    cause: Cause,
    signal: AbortSignal,
  ): Promise<Seen> {
    const now = this.clock.now();
    const times = { now, lastCheckedAt: now.toISOString(), lastChangedAt: null };
    const context = { monitorId, check: 0, ownerId, agentId, conversationId, times, cause, signal };
    try {
      const content = await this.sources.fetch(definition.source, context);
      return (await observe(definition.check, content, undefined, this.patterns)).seen;
    } catch (error) {
      if (error instanceof SyntaxError) throw refused(`check.pattern is not a valid regular expression: ${error.message}`);
      const isAboutSource = error instanceof CheckFailed || error instanceof Unfit || error instanceof PatternTooSlow;
      throw isAboutSource ? refused(`it cannot be watched: ${error.message}`) : error;
    }
  }

  private async stored(monitorId: MonitorId): Promise<MadeMonitor | undefined> {
    const { state, position } = await this.streams.fold(monitorStream(monitorId), monitor);
    if (state.status === 'none') return undefined;
    await this.freshness.reached(READ, position);
    return { monitor: monitorView(await this.recordOf(monitorId)), current: state.seen.gist, notes: [] };
  }

  private async recordOf(monitorId: MonitorId): Promise<MonitorRecord> {
    const found = await this.monitors.byId(monitorId);
    if (!found) throw monitorNotFound();
    return found;
  }
}
