/** Broken builds of a client library in another language: each breaks one of its rules, and names the tests that detect it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

export interface LibraryMutant {
  readonly name: string;
  /** In the folder of the sources. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** A pattern for names of tests. */
  readonly test: string;
  /** Whether it accepts deleted keys, which the revocation check detects. */
  readonly isUnsafe?: true;
}

/** @param sources the folder @returns the text of the edited file @throws Error if the text to replace does not occur exactly once */
export function edited({ file, from, to, name }: LibraryMutant, sources: string): string {
  const [before, after, ...more] = readFileSync(join(sources, file), 'utf8').split(from);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`${name}: the sources do not contain the text once`);
  return before + to + after;
}

/** Without running the builds. */
export function testEdits(language: string, mutants: readonly LibraryMutant[], sources: string): void {
  for (const mutant of mutants)
    test(`the edit of a broken build fits the ${language} sources: ${mutant.name}`, () => void edited(mutant, sources));
}
