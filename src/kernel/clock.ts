/** The time of day for commands and tickers. Tests replace it. */
export abstract class Clock {
  abstract now(): Date;
}
