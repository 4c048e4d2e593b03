import { Module } from '@nestjs/common';
import { WakeQueries } from '../../../projections/wakes/wakes.queries.js';
import { AnsweringModule } from '../../dialogue/answering/answering.module.js';
import { DeliverWakes } from './deliver-wakes.ticker.js';

/** Has conversations go on because of what has happened. Apart from where that is said: those who say it take part in answering. */
@Module({
  imports: [AnsweringModule],
  providers: [WakeQueries, DeliverWakes],
  exports: [DeliverWakes],
})
export class WakeDeliveryModule {}
