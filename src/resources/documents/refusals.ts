import { Rejection } from '../../kernel/rejection.js';

export const typeNotAccepted = (filename: string, why: string): Rejection =>
  new Rejection('document-type-not-accepted', `${filename}: ${why}`);

export const unreadable = (filename: string, kind: string): Rejection =>
  new Rejection('document-unreadable', `${filename} cannot be read as ${kind}: the file is damaged or is something else.`);

export const withoutText = (filename: string): Rejection =>
  new Rejection('document-unreadable', `There is no text in ${filename}.`);

export const tooLarge = (filename: string, why: string): Rejection => new Rejection('document-too-large', `${filename}: ${why}`);

export const tooDeep = (filename: string, depthMax: number): Rejection =>
  tooLarge(filename, `it is nested deeper than ${depthMax}.`);

/** The rejection for a RangeError of a library: the call stack or a string became too large. */
export const tooMuch = (filename: string): Rejection => tooLarge(filename, 'it is nested too deep, or yields too much text.');

export const needsTooMuchMemory = (filename: string): Rejection => tooLarge(filename, 'it needs too much memory.');

export const tooSlow = (filename: string, seconds: number): Rejection =>
  new Rejection('document-too-slow', `${filename} could not be read within ${seconds} seconds.`);
