import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { tool, type Tool } from './tool.decider.js';
import { toolStream } from './tool.events.js';
import type { ToolPin } from './toolbox.port.js';

/** The maximum number of cached pinned tools. A revision never changes, so entries do not expire. */
const REMEMBERED_TOOLS_MAX = 500;

/** Reads tools from their streams, at a pinned revision or current. */
@Injectable()
export class ToolHistory {
  private readonly remembered = new LRUCache<string, Folded<Tool>>({ max: REMEMBERED_TOOLS_MAX });

  constructor(private readonly streams: Streams) {}

  /** The tool at the pinned revision. */
  async at({ toolId, revision }: ToolPin): Promise<Folded<Tool>> {
    const key = `${toolId}@${revision}`;
    const folded = this.remembered.get(key) ?? (await this.streams.beginning(toolStream(toolId), tool, revision + 1));
    this.remembered.set(key, folded);
    return folded;
  }

  /** The current tool, folded on from a known state. */
  async since(toolId: string, known: Folded<Tool>): Promise<Tool> {
    return (await this.streams.fold(toolStream(toolId), tool, known)).state;
  }
}
