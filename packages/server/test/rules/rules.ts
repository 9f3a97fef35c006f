/** The house rules by name (ARCHITECTURE.md, CONTRIBUTING.md): each looks at all files and tells what breaks it. */
import * as imports from './imports.ts';
import type { Violation } from './imports.ts';
import type { SourceFile } from './source.ts';
import * as text from './text-rules.ts';

export const rules = {
  'imports run downwards': imports.importsRunDownwards,
  'modules import earlier modules': imports.modulesAreInOrder,
  'routes reach stores through rules': imports.storesAreReachedThroughRules,
  'the revocation check stands apart': imports.theRevocationCheckStandsApart,
  'the test kit is for tests': imports.theTestKitIsForTests,
  'there is no import cycle': imports.noCycles,
  'imports are declared': imports.importsAreDeclared,
  'what is declared is used': imports.dependenciesAreUsed,
  'SQL is in stores and in the database folder': text.sqlIsInStores,
  'a statement is a constant': text.statementsAreConstants,
  'only app/config.ts reads the environment': text.environmentIsReadOnce,
  'only clock.ts knows what time it is': text.timeIsReadOnce,
  'random numbers are cryptographic': text.randomnessIsCryptographic,
  'no shell and no eval': text.noShellAndNoEval,
  'secrets are compared in constant time': text.secretsAreComparedInConstantTime,
  'nothing is left unfinished': text.nothingIsLeftUnfinished,
  'there is no any': text.noAny,
  'no check is silenced': text.noCheckIsSilenced,
  'files have at most 400 lines': text.filesAreShort,
  'a file’s first line says what it is for': text.filesSayWhatTheyAreFor,
  'names are kebab-case': text.namesAreKebabCase,
  'names say what is inside': text.namesSayWhatIsInside,
  'no package registry is named': text.noPackageRegistryIsNamed,
} as const satisfies Readonly<Record<string, (files: readonly SourceFile[]) => Violation[]>>;
