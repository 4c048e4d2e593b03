import { Module } from '@nestjs/common';
import { Config } from '../../../platform/config/config.js';
import { WebEndpoints, webEndpoints } from './web-endpoints.js';

/** What the tools that reach the web are configured with. */
@Module({
  providers: [
    {
      provide: WebEndpoints,
      inject: [Config],
      useFactory: (config: Config) =>
        webEndpoints({
          brave: config.braveBaseUrl,
          duckDuckGo: config.duckDuckGoBaseUrl,
          duckDuckGoHtml: config.duckDuckGoHtmlBaseUrl,
          ntfy: config.ntfyBaseUrl,
          telegram: config.telegramBaseUrl,
          cryptoPrice: config.cryptoPriceBaseUrl,
        }),
    },
  ],
  exports: [WebEndpoints],
})
export class WebToolsModule {}
