import { Module } from '@nestjs/common';
import { ToolsModule } from '../tools.module.js';
import { PortableTools } from './portable-tools.port.js';
import { StoredPortableTools } from './stored-portable-tools.js';

/** The export and import of tools in files. */
@Module({
  imports: [ToolsModule],
  providers: [{ provide: PortableTools, useClass: StoredPortableTools }],
  exports: [PortableTools],
})
export class PortableToolsModule {}
