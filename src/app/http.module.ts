import { Global, Module, type OnModuleDestroy } from '@nestjs/common';
import { Config } from '../platform/config/config.js';
import { SseStreams } from '../platform/http/sse.js';

/** Provides the HTTP platform to controllers. Open event streams end when the application starts to close. */
@Global()
@Module({
  providers: [
    {
      provide: SseStreams,
      inject: [Config],
      useFactory: ({ sseKeepaliveMs, sseStallMs, sseBufferedBytesMax }: Config) =>
        new SseStreams({ keepaliveMs: sseKeepaliveMs, stallMs: sseStallMs, bufferedBytesMax: sseBufferedBytesMax }),
    },
  ],
  exports: [SseStreams],
})
export class HttpModule implements OnModuleDestroy {
  constructor(private readonly streams: SseStreams) {}

  onModuleDestroy() {
    this.streams.closeAll();
  }
}
