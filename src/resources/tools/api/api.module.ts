import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../../platform/config/config.js';
import { GuardedYaml } from '../../../platform/yaml/guarded-yaml.js';
import { ParseSpecController, SpecLimits } from './parse-spec.http.js';
import { SPEC_DEADLINES, SPEC_YAML, SpecDocuments } from './spec-document.js';
import { ApiTool } from './api-tool.js';

const TOOL_KINDS = [ApiTool];

/** API tools, and the route that reads API descriptions. */
@Module({
  controllers: [ParseSpecController],
  providers: [
    ...TOOL_KINDS,
    { provide: GuardedYaml, useFactory: () => new GuardedYaml({ deadlines: SPEC_DEADLINES, bounds: SPEC_YAML }) },
    { provide: SpecDocuments, inject: [GuardedYaml], useFactory: (yaml: GuardedYaml) => new SpecDocuments(yaml) },
    {
      provide: SpecLimits,
      inject: [Config],
      useFactory: ({ parseSpecBytesMax }: Config): SpecLimits => ({ specBytesMax: parseSpecBytesMax }),
    },
  ],
  exports: [...TOOL_KINDS],
})
export class ApiToolsModule implements OnApplicationShutdown {
  static readonly toolKinds = TOOL_KINDS;

  constructor(private readonly yaml: GuardedYaml) {}

  onApplicationShutdown(): Promise<void> {
    return this.yaml.close();
  }
}
