/** The server line that this adapter was tested with. */
export const TESTED_LINE = '24.2';

/** A warning for operators of a server of another line; undefined for the tested line. */
export function versionWarning(version: string): string | undefined {
  const [, year, minor] = /^(\d+)\.(\d+)\./.exec(version) ?? [];
  if (year === undefined)
    return `EventStoreDB does not report its version ("${version}"); this program was tested with ${TESTED_LINE}.`;
  const [testedYear, testedMinor] = TESTED_LINE.split('.').map(Number) as [number, number];
  const difference = Number(year) - testedYear || Number(minor) - testedMinor;
  if (difference === 0) return undefined;
  return `EventStoreDB ${version} is ${difference < 0 ? 'older' : 'newer'} than the line ${TESTED_LINE} that this program was tested with.`;
}
