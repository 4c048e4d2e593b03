import { decode } from '../../../src/kernel/event-sourcing/codec.js';
import { type EventStore, LOG_START, type StoredEvent } from '../../../src/kernel/event-sourcing/event-store.js';
import type { Reaction } from '../../../src/kernel/event-sourcing/reaction.js';
import { KeyedQueue } from '../../../src/platform/reactions/keyed-queue.js';
import { AckWindow } from '../../../src/platform/reactions/ack-window.js';
import { type Actor, isAlive, type Life, lifeOf } from '../kernel/actor.js';
import type { Simulation } from '../kernel/simulation.js';
import type { Network } from '../ports/network.js';

const STANDBY_LOOKS_EVERY_MS = 500;
const CHECKPOINT_EVERY_MS = 100;
const RETRY_MS = [100, 1_000] as const;
const IN_HAND_MAX = 64;

/** What the database stores of a reaction: its leader, and the position up to which all events are handled. */
export class ReactionCheckpoint {
  position = LOG_START;
  leader: Life | undefined;
}

/** A reaction in one process: it waits until it leads, then follows the log from the checkpoint, at least once per event. */
export class ReactionFollower {
  private isSaving = false;
  private readonly window: { current: AckWindow } = { current: new AckWindow(LOG_START) };

  constructor(
    private readonly simulation: Simulation,
    private readonly network: Network,
    private readonly actor: Actor,
    private readonly store: EventStore,
    private readonly reaction: Reaction,
    private readonly checkpoint: ReactionCheckpoint,
    private readonly isDoneBeforeActing = false,
  ) {}

  async run(): Promise<void> {
    const { checkpoint, actor } = this;
    const own = lifeOf(actor);
    const lead = () => {
      // A process that has crashed meanwhile does not lead, not even in its next life.
      if (!isAlive(own) || (checkpoint.leader && isAlive(checkpoint.leader))) return false;
      checkpoint.leader = own;
      return true;
    };
    while (!(await this.network.call(actor, `leads ${this.reaction.name}?`, lead))) {
      await this.simulation.pause(STANDBY_LOOKS_EVERY_MS, actor, `stands by for ${this.reaction.name}`);
    }
    const position = await this.network.call(actor, 'checkpoint', () => checkpoint.position);
    this.window.current = new AckWindow(position);
    await this.follow(position);
  }

  private async follow(position: bigint): Promise<void> {
    const { reaction } = this;
    const queue = new KeyedQueue(reaction.concurrency ?? 8, IN_HAND_MAX);
    for (let after = position; ;) {
      try {
        for await (const page of this.store.followAll(after, { categories: reaction.categories! }, NEVER)) {
          for (const event of page.events) {
            await queue.room();
            const done = this.window.current.add(event.position, event.at);
            queue.add(event.stream, async (withSlot) => {
              if (this.isDoneBeforeActing) this.note(done);
              await this.act(event, withSlot);
              this.note(done);
            });
          }
          this.window.current.considered(page.position);
          after = page.position;
        }
      } catch {
        await this.simulation.pause(RETRY_MS[0], this.actor, 'follows again');
      }
    }
  }

  private note(done: () => void): void {
    done();
    this.saveSoon();
  }

  private async act(event: StoredEvent, turn: <T>(work: () => Promise<T>) => Promise<T>): Promise<void> {
    for (let isDone = false; !isDone;) {
      isDone = await turn(() => this.handle(event)).then(
        () => true,
        () => false,
      );
      if (!isDone) await this.simulation.pause(RETRY_MS[1], this.actor, `${this.reaction.name} tries again`);
    }
  }

  private async handle(event: StoredEvent): Promise<void> {
    const decoded = decode(this.reaction.codec, event);
    if (decoded) await this.reaction.on[event.type]?.(decoded, NEVER);
  }

  /** Saves the checkpoint soon. A crash before that repeats the events since the last one. */
  private saveSoon(): void {
    if (this.isSaving) return;
    this.isSaving = true;
    this.simulation.after(CHECKPOINT_EVERY_MS, this.actor, 'saves', () => {
      this.isSaving = false;
      const { position } = this.window.current;
      void this.network.call(this.actor, 'save checkpoint', () => {
        if (position > this.checkpoint.position) this.checkpoint.position = position;
      });
    });
  }
}

const NEVER = new AbortController().signal;
