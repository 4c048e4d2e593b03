import { Module } from '@nestjs/common';
import { ToolQueries } from '../../../projections/tools/tools.queries.js';
import { IdentityModule } from '../identity/identity.module.js';
import { SwitchDefaultToolHandler } from './defaults/default-tools.commands.js';
import { PurgeSecrets } from './toolbox/purge-secrets.reaction.js';
import { StoredToolbox } from './toolbox/stored-toolbox.js';
import { toolHandlers } from './toolbox/tool.commands.js';
import { ToolHistory } from './toolbox/tool-history.js';
import { ToolSetup } from './toolbox/tool-setup.js';
import { Toolbox } from './toolbox/toolbox.port.js';
import { ToolsController } from './tools.http.js';
import { toolsRejections } from './tools.rejections.js';

const REACTIONS = [PurgeSecrets];

/** The tools that users set up, and the port that opens them for a turn. Other rooms contribute the kinds. */
@Module({
  imports: [IdentityModule],
  controllers: [ToolsController],
  providers: [
    ...REACTIONS,
    ToolQueries,
    ToolSetup,
    ToolHistory,
    { provide: Toolbox, useClass: StoredToolbox },
    ...toolHandlers,
    SwitchDefaultToolHandler,
  ],
  exports: [...REACTIONS, ToolSetup, Toolbox, ToolQueries],
})
export class ToolsModule {
  static readonly reactions = REACTIONS;
  static readonly rejections = toolsRejections;
}
