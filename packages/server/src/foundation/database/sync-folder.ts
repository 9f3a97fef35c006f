/** Flushes a folder. A new file name survives a power failure only after its folder has been flushed. */
import { open } from 'node:fs/promises';

/** Does nothing on Windows, which cannot flush folders. @throws Error of the file system */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
