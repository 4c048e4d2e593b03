import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type Command, Commands } from '../../../kernel/commands.js';
import { AppendTooLarge, WrongRevision } from '../../../kernel/event-sourcing/event-store.js';
import type { Event } from '../../../kernel/event-sourcing/events.js';
import { Rejection } from '../../../kernel/rejection.js';
import { type Aggregate, type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { ToolFailed } from '../toolbox/tool-kind.port.js';

/** The notebooks whose state this process keeps, at most; of the one used longest ago it is forgotten first. 512 KiB each. */
export const NOTEBOOKS_KEPT_MAX = 32;

/** Where notebooks are read and changed: one command a call, about the stream as it is in that moment. */
@Injectable()
export class Notebooks {
  private readonly kept = new LRUCache<string, Folded<unknown>>({ max: NOTEBOOKS_KEPT_MAX });

  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
  ) {}

  async read<State, E extends Event>(stream: string, aggregate: Aggregate<State, E>): Promise<State> {
    const folded = await this.streams.fold(stream, aggregate, this.kept.get(stream) as Folded<State> | undefined);
    this.keep(stream, folded);
    return folded.state;
  }

  /** Resolves to the notebook as it is then. @throws Rejection, WrongRevision, AppendTooLarge */
  async change<State, E extends Event>(
    stream: string,
    aggregate: Aggregate<State, E>,
    commandOn: (known: Folded<State>) => Command<Folded<State>>,
  ): Promise<State> {
    const folded = await this.streams.fold(stream, aggregate, this.kept.get(stream) as Folded<State> | undefined);
    const outcome = await this.commands.execute(commandOn(folded));
    this.keep(stream, outcome);
    return outcome.state;
  }

  private keep(stream: string, { state, revision, position }: Folded<unknown>): void {
    const before = this.kept.get(stream);
    if (before && isNewer(before, revision)) return;
    if (revision !== 'none') this.kept.set(stream, { state, revision, position });
    else this.kept.delete(stream);
  }
}

const isNewer = ({ revision: kept }: Folded<unknown>, revision: Folded<unknown>['revision']): boolean =>
  kept !== 'none' && (revision === 'none' || kept > revision);

/** A refusal is told in the words of a tool; everything else is a failure of the service. @throws ToolFailed */
export async function failuresAsToolText<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Rejection) throw new ToolFailed(error.message, { cause: error });
    if (error instanceof WrongRevision) throw new ToolFailed('Too much is changed here at once. Try again.', { cause: error });
    if (error instanceof AppendTooLarge) throw new ToolFailed('The change is too large: make it in parts.', { cause: error });
    throw error;
  }
}
