/** `keyreeve admin …`: creates the first administrator without a password on the command line. */
import { rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { createFirstAdministrator } from '@keyreeve/contract';
import { toInstant } from '../foundation/clock.ts';
import { codeFileOf, deleteVoidCodeFile } from '../app/installation/first-start.ts';
import type { Config } from '../app/configuration/config.ts';
import type { Secret } from '../foundation/crypto/secret.ts';
import { CliCommand } from './command.ts';
import { UsageError } from './failure.ts';
import { print, type OutputOptions } from './output.ts';
import { withInstallation } from './session.ts';

interface BootstrapOptions extends OutputOptions {
  readonly output?: string;
}

export function adminCommand(): Command {
  const admin = new CliCommand('admin')
    .group('operate')
    .description('Create the first administrator.')
    .references('docs/administration.md', 'database', 'masterKey');
  admin
    .command('bootstrap')
    .description(
      `Write a one-time code to a file. ${createFirstAdministrator.method} ${createFirstAdministrator.path} creates the first administrator with it.`,
    )
    .option('--output <file>', 'file to create (default for SQLite: <database>.first-administrator)')
    .json()
    .examples('keyreeve admin bootstrap', 'keyreeve admin bootstrap --output /run/keyreeve/code')
    .action(bootstrap);
  return admin;
}

async function bootstrap(options: BootstrapOptions): Promise<void> {
  const { path, expiresAt } = await withInstallation({}, async ({ config, firstAdministrator }) => {
    const file = resolve(options.output ?? besideDatabase(config));
    if (options.output === undefined) await deleteVoidCodeFile(file, firstAdministrator).catch(() => undefined);
    let isWritten = false;
    const write = (code: Secret): void => {
      writeNew(file, code);
      isWritten = true;
    };
    try {
      return { path: file, ...(await firstAdministrator.createCode(write)) };
    } catch (error) {
      // The transaction failed, so the code in the file is not valid.
      if (isWritten) rmSync(file, { force: true });
      throw error;
    }
  });
  const until = toInstant(expiresAt);
  const lines = [
    `Wrote a code for the first administrator to ${path}.`,
    `It works once, until ${until}. Send it with ${createFirstAdministrator.method} ${createFirstAdministrator.path}, then delete the file.`,
  ];
  print(options, { path, expiresAt: until }, lines.join('\n'));
}

function besideDatabase({ database }: Config): string {
  if (database.kind === 'sqlite') return codeFileOf(database.path);
  throw new UsageError('--output is required with PostgreSQL: name the file to create');
}

function writeNew(path: string, code: Secret): void {
  try {
    writeFileSync(path, `${code.reveal()}\n`, { flag: 'wx', mode: 0o600, flush: true });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw new UsageError(`${path} exists; delete it, or name another file with --output`);
  }
}
