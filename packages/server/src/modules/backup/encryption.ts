/**
 * Encryption of backups in the format of age (C2SP age, version 1), for recipients whose identities are elsewhere: who can make
 * backups, cannot read them. The library is loaded when it is used.
 */
import { readSecretFile } from '../../foundation/secret-file.ts';
import { BackupError, type ChangeBytes } from './format.ts';

/**
 * @param recipients public keys, `age1…`, at least one
 * @throws BackupError for one that is not valid
 */
export async function encryptFor(recipients: readonly string[]): Promise<ChangeBytes> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const [index, recipient] of recipients.entries()) {
    try {
      encrypter.addRecipient(recipient);
    } catch {
      // Without the text: it may be an identity.
      throw new BackupError(
        `recipient ${index + 1} is not a public key of age: name the one that age-keygen prints, age1…`,
      );
    }
  }
  return async function* encrypt(bytes) {
    yield* await encrypter.encrypt(ReadableStream.from(bytes));
  };
}

/**
 * @param path a file as age-keygen writes it, with one or more identities, which only its owner can read
 * @throws BackupError if it is not
 */
export async function decryptWith(path: string): Promise<ChangeBytes> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const identity of identitiesIn(path)) {
    try {
      decrypter.addIdentity(identity);
    } catch {
      throw notIdentities(path);
    }
  }
  return async function* decrypt(bytes) {
    try {
      yield* await decrypter.decrypt(ReadableStream.from(bytes));
    } catch (error) {
      // Those of the source: of the file system.
      if (!(error instanceof Error) || 'code' in error) throw error;
      if (!error.message.startsWith('no identity matched')) throw new DecryptionError(error.message, { cause: error });
      throw new BackupError(`the backup is encrypted for other recipients than those of the identities in ${path}`);
    }
  };
}

/** The encrypted bytes are damaged. */
export class DecryptionError extends Error {}

function identitiesIn(path: string): string[] {
  const lines = textOf(path).split(/\r?\n/);
  const identities = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (identities.length === 0) throw notIdentities(path);
  return identities;
}

function textOf(path: string): string {
  try {
    return readSecretFile(path, `the file ${path}`, { mayBeWorldReadable: false });
  } catch (error) {
    throw error instanceof Error ? new BackupError(error.message) : error;
  }
}

const notIdentities = (path: string): BackupError =>
  new BackupError(`${path} is not a file of identities: it needs lines AGE-SECRET-KEY-…, as age-keygen writes them`);
