import { Module } from '@nestjs/common';
import { Config } from '../../../platform/config/config.js';
import { WebEndpoints, webEndpoints } from './web-endpoints.js';
import { GuardedWebPages } from './read-page.js';
import { WebPages } from './web-pages.port.js';
import { ReadWebpageTool } from './read-webpage-tool.js';
import { BraveTool } from './brave-tool.js';
import { DuckDuckGoTool } from './duckduckgo-tool.js';
import { CryptoPriceTool } from './crypto-price-tool.js';
import { NtfyTool } from './ntfy-tool.js';
import { TelegramTool } from './telegram-tool.js';

const TOOL_KINDS = [ReadWebpageTool, BraveTool, DuckDuckGoTool, CryptoPriceTool, NtfyTool, TelegramTool];

/** Tools that reach the web. */
@Module({
  providers: [
    ...TOOL_KINDS,
    { provide: WebPages, useClass: GuardedWebPages },
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
  exports: [...TOOL_KINDS, WebPages],
})
export class WebToolsModule {
  static readonly toolKinds = TOOL_KINDS;
}
