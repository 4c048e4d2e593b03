/** The version of this program, as it says of itself. */
export const VERSION = '0.2.0';
