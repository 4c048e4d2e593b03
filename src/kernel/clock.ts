/** The time, as far as commands and tickers are concerned; tests bring their own. */
export abstract class Clock {
  abstract now(): Date;
}
