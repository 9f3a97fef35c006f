/** Reads a credential for a command from a file or standard input. It is never an argument, because `ps` shows arguments. */
import { Secret } from '../foundation/crypto/secret.ts';
import { readSecretFile } from '../foundation/secret-file.ts';
import { UsageError } from './failure.ts';

/** @returns undefined for a text that has not the form of an API key with any prefix */
export function credentialOf(text: string): Secret | undefined {
  const trimmed = text.trim();
  return /^[0-9A-Za-z_]{40,128}$/.test(trimmed) ? new Secret(trimmed) : undefined;
}

/** @param file its path, `-` for standard input @throws UsageError if other users can read the file */
export async function readCredentialFile(file: string): Promise<string> {
  if (file === '-') return readStandardInput();
  try {
    return readSecretFile(file, `the file ${file}`, { mayBeWorldReadable: false });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** At most a kilobyte: a longer text is no credential. */
async function readStandardInput(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8') as AsyncIterable<string>) {
    text += chunk;
    if (text.length > 1_024) break;
  }
  return text;
}
