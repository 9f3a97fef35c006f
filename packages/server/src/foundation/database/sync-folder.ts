/** A file's name lasts once its folder has been flushed, as its content does once the file has. */
import { open } from 'node:fs/promises';

/** Windows has no such thing to flush. @throws Error of the file system */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
