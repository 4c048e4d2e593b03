import { Global, Module } from '@nestjs/common';
import type { ToolKind } from '../resources/tools/toolbox/tool-kind.port.js';
import { ToolKinds } from '../resources/tools/toolbox/tool-kinds.js';
import { ROOMS } from './rooms.js';

const WITH_KINDS = ROOMS.filter(({ toolKinds }) => toolKinds);
const TOOL_KINDS = WITH_KINDS.flatMap(({ toolKinds }) => toolKinds ?? []);

/** Provides the tool kinds of all rooms. */
@Global()
@Module({
  imports: WITH_KINDS,
  providers: [{ provide: ToolKinds, inject: TOOL_KINDS, useFactory: (...kinds: ToolKind[]) => new ToolKinds(kinds) }],
  exports: [ToolKinds],
})
export class ToolKindsModule {}
