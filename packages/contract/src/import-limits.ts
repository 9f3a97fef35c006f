/** Limits of imports, of imported hashes and keys, and of files that are applied. Part of the tables in limits.ts. */
import { limit, type Limits } from './limit-definition.ts';

export const importLimits = {
  importLineBytesMax: limit(65_536, 'A line of an import file.'),
  importLinesPerCommitMax: limit(500, 'Lines of an import file in one commit.'),
  importedArgon2KibMax: limit(262_144, 'Memory of an imported Argon2 hash: 256 MiB.'),
  importedArgon2KibPassesMax: limit(1_048_576, 'Memory of an imported Argon2 hash in KiB times its passes: about 1 s.'),
  importedBcryptCostMax: limit(14, 'Cost of an imported bcrypt hash: about 1 s.'),
  importedScryptBlocksMax: limit(2_097_152, 'N·r·p of an imported scrypt hash: 256 MiB, about 1 s.'),
  // Frameworks use up to 1.2 million.
  importedPbkdf2RoundsMax: limit(1_500_000, 'Rounds of an imported PBKDF2 hash: 1 to 2 s.'),
  importedRoundsMax: limit(1_048_576, 'Rounds of an imported hash of crypt(3), phpass or Drupal 7: 1 to 2 s.'),
  importedRecipesMax: limit(64, 'Kinds of imported hashes (algorithm, parameters) that a sign-in considers.'),
  importedRecipesLookSeconds: limit(2, 'Time to detect a new kind of imported hashes.'),
  importedKeyCharsMax: limit(512, 'An imported key.'),
  importedKeysLookSeconds: limit(2, 'Time to detect the first imported keys.'),
  applyFileBytesMax: limit(262_144, 'A file of `keyreeve apply`.'),
  // All of them are one transaction, for which other changes wait.
  applyEntriesMax: limit(500, 'Entries of a file of `keyreeve apply`.'),
} as const satisfies Limits;
