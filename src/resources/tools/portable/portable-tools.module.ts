import { Module } from '@nestjs/common';
import { ToolsModule } from '../tools.module.js';
import { PortableTools } from './portable-tools.port.js';
import { StoredPortableTools } from './stored-portable-tools.js';

/** Tools as files carry them. */
@Module({
  imports: [ToolsModule],
  providers: [{ provide: PortableTools, useClass: StoredPortableTools }],
  exports: [PortableTools],
})
export class PortableToolsModule {}
