/**
 * The files of the program: in a checkout below `src/`, in a build below `dist/`, which has the same folders and JavaScript for each file
 * that Node runs. `build.ts` makes this file one of its own in the build, so that its place tells where the others are.
 */
const root = new URL('..', import.meta.url);
const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

/** @param path from the folder of the program's files, such as `cli/completion/template.zsh` */
export const ownFile = (path: string): URL => new URL(path, root);

/** @param path of a file that a thread or process runs, without its extension */
export const ownScript = (path: string): URL => ownFile(`${path}${extension}`);
