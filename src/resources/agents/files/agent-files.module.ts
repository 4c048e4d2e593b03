import { Module } from '@nestjs/common';
import { AgentQueries } from '../../../../projections/agents/agents.queries.js';
import { PromptQueries } from '../../../../projections/prompts/prompts.queries.js';
import { SourceQueries } from '../../../../projections/sources/sources.queries.js';
import { YamlDocuments } from '../../../platform/yaml/yaml-documents.port.js';
import { YamlThreads } from '../../../platform/yaml/yaml-threads.js';
import { WorkflowsModule } from '../../workflows/workflows.module.js';
import { PortableToolsModule } from '../../tools/portable/portable-tools.module.js';
import { ToolsModule } from '../../tools/tools.module.js';
import { AgentExport } from './agent-export.js';
import { AgentFilesController } from './agent-files.http.js';
import { agentFilesRejections } from './agent-files.rejections.js';
import { AcceptAgentImportHandler, FinishAgentImportHandler } from './agent-import.commands.js';
import { AgentImports } from './agent-imports.process.js';
import { ReleaseAgentSlugsHandler, ReserveAgentSlugHandler } from './agent-slugs.commands.js';
import { FinishImports } from './finish-imports.reaction.js';
import { ImportPreparation } from './import-preparation.js';
import { ImportIntake } from './import-intake.js';
import { OwnedThingsLookup } from './owned-things.js';
import { ReleaseSlugs } from './release-slugs.reaction.js';

const REACTIONS = [FinishImports, ReleaseSlugs];

/** The export and import of agents as files. */
@Module({
  imports: [PortableToolsModule, ToolsModule, WorkflowsModule],
  controllers: [AgentFilesController],
  providers: [
    ...REACTIONS,
    AgentQueries,
    SourceQueries,
    PromptQueries,
    { provide: YamlDocuments, useFactory: () => new YamlThreads() },
    OwnedThingsLookup,
    AgentExport,
    AgentImports,
    ImportPreparation,
    ImportIntake,
    ReserveAgentSlugHandler,
    ReleaseAgentSlugsHandler,
    AcceptAgentImportHandler,
    FinishAgentImportHandler,
  ],
  exports: REACTIONS,
})
export class AgentFilesModule {
  static readonly reactions = REACTIONS;
  static readonly rejections = agentFilesRejections;
}
