import type { ToolKind } from './tool-kind.port.js';

/** Every kind of tool that the service knows, by name. */
export class ToolKinds {
  private readonly kinds: ReadonlyMap<string, ToolKind>;

  constructor(kinds: readonly ToolKind[]) {
    this.kinds = new Map(kinds.map((kind) => [kind.name, kind]));
  }

  byName(name: string): ToolKind | undefined {
    return this.kinds.get(name);
  }

  all(): readonly ToolKind[] {
    return [...this.kinds.values()];
  }
}
