/** Tests that change the owner of a file. Under CI they run, and fail without root. */
export const skipWithoutRoot: string | false =
  process.env['CI'] !== 'true' && process.getuid?.() !== 0 && 'not tried: only root can change the owner of a file';
