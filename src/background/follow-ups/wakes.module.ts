import { Module } from '@nestjs/common';
import { RequestedWakes } from './requested-wakes.js';
import { Wakes } from './wakes.port.js';

/** Where whatever a conversation waits for says that it has happened. */
@Module({
  providers: [{ provide: Wakes, useClass: RequestedWakes }],
  exports: [Wakes],
})
export class WakesModule {}
