/** The version that this program reports. */
export const VERSION = '0.2.0';
