/**
 * Files that root creates with a command, in a folder of the user of the service, belong to that user. The owner changes on the
 * descriptor of the created file: the user could replace its name by a symbolic link, and root would give away another file.
 */
import { constants, type Stats } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';

/** @returns the owner to give; undefined unless root runs the process */
export const ownerToGive = async (path: string): Promise<Pick<Stats, 'uid' | 'gid'> | undefined> =>
  process.getuid?.() === 0 ? await stat(path) : undefined;

/** @param path a file or a folder with the right owner */
export async function giveToOwnerOf(path: string, created: FileHandle): Promise<void> {
  const owner = await ownerToGive(path);
  if (owner) await created.chown(owner.uid, owner.gid);
}

/** @param folder a created one @throws Error of the file system if its name is now a symbolic link or a file */
export async function giveFolderToOwnerOf(path: string, folder: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    await giveToOwnerOf(path, handle);
  } finally {
    await handle.close();
  }
}

/** Creates a file, flushed, that only its owner can read. @throws Error of the file system if the name is taken */
export async function writeNewFor(ownerOf: string, path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await giveToOwnerOf(ownerOf, handle);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
