import { Module } from '@nestjs/common';
import { SealLogHandler } from './log-seals.commands.js';
import { SealEvents } from './seal-events.ticker.js';

const TICKERS = [SealEvents];

/** Seals the log, so that a change of what it holds can be proved. */
@Module({ providers: [...TICKERS, SealLogHandler], exports: [...TICKERS] })
export class LogSealsModule {
  static readonly tickers = TICKERS;
}
