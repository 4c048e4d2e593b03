import { Module } from '@nestjs/common';
import { Config } from '../../../platform/config/config.js';
import { YamlThreads } from '../../../platform/yaml/yaml-threads.js';
import { ParseSpecController, SpecLimits } from './parse-spec.http.js';
import { SPEC_DEADLINES, SPEC_YAML, SpecDocuments } from './spec-document.js';
import { ApiTool } from './api-tool.js';

const TOOL_KINDS = [ApiTool];

/** API tools, and the route that reads API descriptions. */
@Module({
  controllers: [ParseSpecController],
  providers: [
    ...TOOL_KINDS,
    { provide: SpecDocuments, useFactory: () => new SpecDocuments(new YamlThreads(SPEC_DEADLINES, undefined, SPEC_YAML)) },
    {
      provide: SpecLimits,
      inject: [Config],
      useFactory: ({ parseSpecBytesMax }: Config): SpecLimits => ({ specBytesMax: parseSpecBytesMax }),
    },
  ],
  exports: [...TOOL_KINDS],
})
export class ApiToolsModule {
  static readonly toolKinds = TOOL_KINDS;
}
