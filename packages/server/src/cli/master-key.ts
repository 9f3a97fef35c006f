/** `keyreeve master-key …`: rotates the master key while instances run. */
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { processEnvironment, readConfig, type Config } from '../app/config.ts';
import {
  ensureNext,
  fileBeside,
  generateMasterKey,
  keptOf,
  putInPlace,
  readMasterKey,
  removeKept,
} from '../app/master-key-file.ts';
import { systemClock } from '../foundation/clock.ts';
import { FileExistsError } from '../foundation/complete-file.ts';
import { masterKeyIdOf } from '../foundation/crypto/root-key.ts';
import {
  cancelRotation,
  finishRotation,
  masterKeysIn,
  RotationError,
  startRotation,
  type RotationOptions,
} from '../modules/master-key/rotation.ts';
import { CliCommand } from './command.ts';
import { UsageError } from './failure.ts';
import { print, type OutputOptions } from './output.ts';
import { operator, withInstallation } from './session.ts';

interface RotateOptions extends OutputOptions {
  readonly newFile?: string;
  readonly generate?: boolean;
  readonly finish?: boolean;
  readonly cancel?: boolean;
}

export function masterKeyCommand(): Command {
  const masterKey = new CliCommand('master-key')
    .description('Rotate the master key.')
    .references('docs/master-key.md', 'database', 'masterKey');
  masterKey
    .command('rotate')
    .description(
      'Add a master key, so that both open the installation while instances restart; then remove the previous one.',
    )
    .option('--new-file <file>', 'file with the new master key: 32 bytes in base64url')
    .option('--generate', 'create the file with a random master key')
    .option('--finish', 'remove the previous master key, which no running instance may use')
    .option('--cancel', 'remove the new master key, which no running instance may use')
    .json()
    .examples(
      'keyreeve master-key rotate --new-file /etc/keyreeve/master-key-2 --generate',
      'KEYREEVE_MASTER_KEY_FILE=/etc/keyreeve/master-key-2 keyreeve master-key rotate --finish',
    )
    .action(rotate);
  return masterKey;
}

async function rotate(options: RotateOptions): Promise<void> {
  const { newFile, generate = false, finish: isFinish = false, cancel: isCancel = false } = options;
  if ([isFinish, isCancel, newFile !== undefined || generate].filter(Boolean).length > 1)
    throw new UsageError('--finish, --cancel and --new-file are separate steps; give one of them');
  const config = readConfig(processEnvironment());
  if (isFinish) return finish(options, config);
  return isCancel ? cancel(options, config) : start(options, config);
}

async function start({ newFile, generate = false, ...options }: RotateOptions, config: Config): Promise<void> {
  const beside = newFile === undefined ? fileBeside(config) : undefined;
  const result = await withInstallation({}, async ({ installation: { db, rootKeys } }) => {
    const file = beside === undefined ? await newFileOf(newFile, generate) : await nextBeside(beside, rootKeys);
    const newMasterKey = readMasterKey(file, config);
    const isAdded = await startRotation(operator, { db, clock: systemClock, rootKeys }, newMasterKey).catch(
      async (error: unknown) => {
        // Nothing uses the generated file.
        if (error instanceof RotationError && generate && beside === undefined) await rm(file);
        throw error;
      },
    );
    return { isAdded, masterKeyId: masterKeyIdOf(newMasterKey), previousMasterKeyId: rootKeys.masterKeyId, file };
  });
  if (beside !== undefined) await putInPlace(beside, result.file, config);
  const { isAdded, masterKeyId, previousMasterKeyId: previous } = result;
  const file = beside ?? result.file;
  const text = [
    `${isAdded ? 'Added' : 'An earlier call has added'} the master key ${masterKeyId}, which is in ${file}. The previous one is ${previous}. Both open the installation.`,
    'Next:',
    beside === undefined
      ? `  1. Restart every instance with the new master key: KEYREEVE_MASTER_KEY_FILE=${file}`
      : `  1. Restart the service. The previous master key is in ${keptOf(beside, previous)}.`,
    `  2. ${beside === undefined ? 'With the new master key, run' : 'Run'} \`keyreeve master-key rotate --finish\`.`,
  ];
  print(options, { ...result, file }, text.join('\n'));
}

/** @returns the file with the new master key */
async function newFileOf(given: string | undefined, generate: boolean): Promise<string> {
  if (given === undefined) throw new UsageError('--new-file is missing: the file with the new master key');
  const file = resolve(given);
  if (!generate) return file;
  try {
    await generateMasterKey(file);
    return file;
  } catch (error) {
    if (!(error instanceof FileExistsError)) throw error;
    throw new UsageError(`${file} already exists; name another file, or leave out --generate to use its master key`);
  }
}

/** @returns the file with the new master key @throws RotationError if it is already in place */
async function nextBeside(path: string, { masterKeyId, rows }: RotationOptions['rootKeys']): Promise<string> {
  const [, next] = masterKeysIn(rows);
  if (next?.id === masterKeyId)
    throw new RotationError(
      `the rotation to the master key ${next.id} is unfinished, and ${path} contains it; restart the service and run \`keyreeve master-key rotate --finish\`, or run \`keyreeve master-key rotate --cancel\``,
    );
  return ensureNext(path, next?.id);
}

async function finish(options: RotateOptions, config: Config): Promise<void> {
  const removedId = await end(config, finishRotation);
  const text =
    removedId === undefined
      ? nothingUnfinished
      : `Removed the master key ${removedId}. It opens only copies of the database and backups from before now. Keep it in another place as long as you keep such backups; then delete it.`;
  print(options, { removedMasterKeyId: removedId ?? null }, text);
}

async function cancel(options: RotateOptions, config: Config): Promise<void> {
  const beside = fileBeside(config);
  if (beside !== undefined) await putBack(beside, config);
  const removedId = await end(config, cancelRotation);
  const text =
    removedId === undefined
      ? nothingUnfinished
      : `Removed the new master key ${removedId}. The previous one stays in use.`;
  print(options, { removedMasterKeyId: removedId ?? null }, text);
}

const nothingUnfinished = 'No rotation is unfinished. The files of the database contain no removed wrapping.';

/** @returns the id of the removed master key; undefined if no rotation was unfinished */
async function end(config: Config, step: typeof finishRotation): Promise<string | undefined> {
  const [ended, current] = await withInstallation({}, async ({ installation: { db, rootKeys } }) => [
    await step(operator, { db, clock: systemClock, rootKeys }),
    rootKeys.masterKeyId,
  ]);
  if (!ended.isErased)
    throw new RotationError(
      config.database.kind === 'sqlite'
        ? 'the master key was removed, but its wrapping is still in the write-ahead log of the database, because another process reads an earlier state; repeat the command when no backup runs'
        : 'the master key was removed, but its wrapping is still in the files of the database; repeat the command with the owner of the tables, when no backup runs',
    );
  const beside = fileBeside(config);
  if (beside !== undefined) await removeKept(beside, current, config);
  return ended.removedId;
}

/** Puts the previous file beside the database back, only while both master keys open the installation. */
async function putBack(path: string, config: Config): Promise<void> {
  const [previous, next] = await withInstallation({}, async ({ installation: { rootKeys } }) =>
    masterKeysIn(rootKeys.rows),
  );
  if (previous && next) await putInPlace(path, keptOf(path, previous.id), config);
}
