import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { decode, Undecodable } from '../../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import { type Folded, nothingYet, Streams } from '../../../kernel/event-sourcing/streams.js';
import { toolCodec } from './tool.codec.js';
import { tool, type Tool } from './tool.decider.js';
import { type ToolEvent, toolStream } from './tool.events.js';
import type { ToolPin } from './toolbox.port.js';

/** The maximum number of cached pinned tools. A revision never changes, so entries do not expire. */
const REMEMBERED_TOOLS_MAX = 500;

/** Reads tools from their streams, at a pinned revision or current. */
@Injectable()
export class ToolHistory {
  private readonly remembered = new LRUCache<string, Folded<Tool>>({ max: REMEMBERED_TOOLS_MAX });

  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
  ) {}

  /** The tool at the pinned revision. */
  async at({ toolId, revision }: ToolPin): Promise<Folded<Tool>> {
    const key = `${toolId}@${revision}`;
    const folded = this.remembered.get(key) ?? (await this.foldedUpTo(toolId, revision));
    this.remembered.set(key, folded);
    return folded;
  }

  /** The current tool, folded on from a known state. */
  async since(toolId: string, known: Folded<Tool>): Promise<Tool> {
    return (await this.streams.fold(toolStream(toolId), tool, known)).state;
  }

  private async foldedUpTo(toolId: string, last: number): Promise<Folded<Tool>> {
    let { state, revision, position } = nothingYet(tool);
    for await (const page of this.store.read(toolStream(toolId), { limit: last + 1 })) {
      for (const stored of page) {
        const event = decode<ToolEvent>(toolCodec, stored);
        if (!event) throw new Undecodable(stored, new Error('A newer version of the program wrote this stream.'));
        state = tool.evolve(state, event);
        ({ revision, position } = stored);
      }
    }
    return { state, revision, position };
  }
}
