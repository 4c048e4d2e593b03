import { Module } from '@nestjs/common';
import { SourceQueries } from '../../../../projections/sources/sources.queries.js';
import { SourcesModule } from '../../sources/sources.module.js';
import { InternalSearchTool } from './internal-search-tool.js';
import { ThinkTool } from './think-tool.js';

const TOOL_KINDS = [ThinkTool, InternalSearchTool];

/** Tools that users do not have to set up. */
@Module({
  imports: [SourcesModule],
  providers: [...TOOL_KINDS, SourceQueries],
  exports: TOOL_KINDS,
})
export class BuiltinModule {
  static readonly toolKinds = TOOL_KINDS;
}
