import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type Command, Commands } from '../../../kernel/commands.js';
import { AppendTooLarge, WrongRevision } from '../../../kernel/event-sourcing/event-store.js';
import type { Event } from '../../../kernel/event-sourcing/events.js';
import { Rejection } from '../../../kernel/rejection.js';
import { type Aggregate, type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { ToolFailed } from '../toolbox/tool-kind.port.js';

/** The maximum number of notebooks that a process caches. Each has at most 512 KiB. */
export const NOTEBOOKS_KEPT_MAX = 32;

/** Reads and changes notebooks, one command per call, always with the current state of the stream. */
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

  /** Resolves to the notebook after the change. @throws Rejection, WrongRevision, AppendTooLarge */
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

  private keep(stream: string, { state, revision, position, characters }: Folded<unknown>): void {
    const before = this.kept.get(stream);
    if (before && isNewer(before, revision)) return;
    if (revision !== 'none') this.kept.set(stream, { state, revision, position, characters });
    else this.kept.delete(stream);
  }
}

const isNewer = ({ revision: kept }: Folded<unknown>, revision: Folded<unknown>['revision']): boolean =>
  kept !== 'none' && (revision === 'none' || kept > revision);

/** Turns rejections into tool failures with the same text. Other errors are failures of the service. @throws ToolFailed */
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
