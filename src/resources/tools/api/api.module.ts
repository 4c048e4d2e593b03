import { Module } from '@nestjs/common';
import { Config } from '../../../platform/config/config.js';
import { ParseSpecController, SpecLimits } from './parse-spec.http.js';

/** Reads descriptions of APIs for those who set up API tools. */
@Module({
  controllers: [ParseSpecController],
  providers: [
    {
      provide: SpecLimits,
      inject: [Config],
      useFactory: ({ parseSpecBytesMax }: Config): SpecLimits => ({ specBytesMax: parseSpecBytesMax }),
    },
  ],
})
export class ApiToolsModule {}
