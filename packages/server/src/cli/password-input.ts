/** Reads or generates a password for a command. A password is never an argument, because `ps` shows arguments. */
import { limits } from '@keyreeve/contract';
import { generatePassword } from '../modules/accounts/accounts.ts';
import { Secret } from '../foundation/crypto/secret.ts';
import { UsageError } from './failure.ts';
import { promptLine } from './prompt.ts';

export interface PasswordOptions {
  readonly passwordStdin?: boolean;
  readonly generate?: boolean;
}

export interface ObtainedPassword {
  readonly password: Secret;
  /** The command must print a generated password. */
  readonly isGenerated: boolean;
}

/** @throws UsageError if a prompt is needed and standard input is not a terminal */
export async function obtainPassword({
  passwordStdin = false,
  generate = false,
}: PasswordOptions): Promise<ObtainedPassword> {
  if (generate) return { password: generatePassword(), isGenerated: true };
  if (passwordStdin) return { password: await readStandardInput(), isGenerated: false };
  if (!process.stdin.isTTY) {
    throw new UsageError(
      'standard input is not a terminal, so the command cannot ask for the password; use --password-stdin or --generate',
    );
  }
  return { password: await promptPassword(), isGenerated: false };
}

async function promptPassword(): Promise<Secret> {
  const first = await promptSecret('Password: ');
  if (first.reveal() !== (await promptSecret('Again: ')).reveal()) throw new UsageError('the two passwords differ');
  return first;
}

/** @throws UsageError when the user ends the input */
export async function promptSecret(prompt: string): Promise<Secret> {
  try {
    return new Secret(await promptLine(prompt, { silent: true }));
  } catch {
    // Ctrl-C or Ctrl-D.
    throw new UsageError('no password was given');
  } finally {
    // The terminal does not echo the end of the line either.
    process.stderr.write('\n');
  }
}

/** Removes one final newline. */
export async function readStandardInput(): Promise<Secret> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > limits.passwordBytesMax * 2) break;
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new UsageError('the password on standard input is not UTF-8');
  }
  return new Secret(text.replace(/\r?\n$/, ''));
}
