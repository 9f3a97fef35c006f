/** Where a command gets a password from: a prompt, standard input, or a generator. Never an argument: `ps` shows those. */
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
  /** Made here, so it has to be told. */
  readonly isGenerated: boolean;
}

/** @throws UsageError when it would have to ask and there is no terminal */
export async function obtainPassword({
  passwordStdin = false,
  generate = false,
}: PasswordOptions): Promise<ObtainedPassword> {
  if (passwordStdin && generate) throw new UsageError('--password-stdin and --generate exclude each other');
  if (generate) return { password: generatePassword(), isGenerated: true };
  if (passwordStdin) return { password: await readStandardInput(), isGenerated: false };
  if (!process.stdin.isTTY) {
    throw new UsageError('there is no terminal to ask for the password on; use --password-stdin or --generate');
  }
  return { password: await ask(), isGenerated: false };
}

async function ask(): Promise<Secret> {
  const first = await askOnce('Password: ');
  if (first !== (await askOnce('Again: '))) throw new UsageError('the two passwords differ');
  return new Secret(first);
}

async function askOnce(prompt: string): Promise<string> {
  try {
    return await promptLine(prompt, { silent: true });
  } catch {
    // Ctrl-C or Ctrl-D.
    throw new UsageError('no password was given');
  } finally {
    // What ended the line was as silent as the password.
    process.stderr.write('\n');
  }
}

/** All of it, less one final newline. */
async function readStandardInput(): Promise<Secret> {
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
