import { Global, Module, type OnModuleDestroy } from '@nestjs/common';
import { Config } from '../platform/config/config.js';
import { SseStreams } from '../platform/http/sse.js';
import { WaitingReplies } from '../platform/http/waiting-replies.js';

/** Replies may wait for their answers during this share of the shutdown time. Jobs and running turns end before that. */
const WAITING_SHARE = 0.8;

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
    WaitingReplies,
  ],
  exports: [SseStreams, WaitingReplies],
})
export class HttpModule implements OnModuleDestroy {
  constructor(
    private readonly streams: SseStreams,
    private readonly waiting: WaitingReplies,
    private readonly config: Config,
  ) {}

  onModuleDestroy() {
    this.streams.closeAll();
    setTimeout(() => this.waiting.close(), this.config.shutdownMs * WAITING_SHARE).unref();
  }
}
