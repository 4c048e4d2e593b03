import { Module, type Type } from '@nestjs/common';
import type { ToolKind } from './tool-kind.port.js';
import { ToolKinds } from './tool-kinds.js';

/** Every kind of tool there is, one a line, in the order in which they are offered to be set up. */
export const TOOL_KINDS: readonly Type<ToolKind>[] = [];

@Module({
  providers: [
    ...TOOL_KINDS,
    { provide: ToolKinds, inject: [...TOOL_KINDS], useFactory: (...kinds: ToolKind[]) => new ToolKinds(kinds) },
  ],
  exports: [ToolKinds],
})
export class ToolsModule {}
