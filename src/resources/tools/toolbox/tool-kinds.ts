import type { ToolKind } from './tool-kind.port.js';

/** All kinds of tools of the service by name, in the order in which they are offered. */
export class ToolKinds {
  private readonly kinds = new Map<string, ToolKind>();

  constructor(kinds: readonly ToolKind[]) {
    for (const kind of kinds) if (kind.isEnabled) this.add(kind);
  }

  add(kind: ToolKind): void {
    if (this.kinds.has(kind.name)) throw new Error(`There are two kinds of tools named ${kind.name}.`);
    this.kinds.set(kind.name, kind);
  }

  byName(name: string): ToolKind | undefined {
    return this.kinds.get(name);
  }

  all(): readonly ToolKind[] {
    return [...this.kinds.values()];
  }
}
