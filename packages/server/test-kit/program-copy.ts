/** A copy of the program in another folder. */
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = fileURLToPath(new URL('../../../', import.meta.url));

/** Makes `node_modules` of a copy: the packages of the checkout, and those of the copy itself. */
export function linkPackages(folder: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@keyreeve'), { recursive: true });
  for (const name of readdirSync(join(checkout, 'node_modules')).filter((one) => one !== '@keyreeve'))
    symlinkSync(join(checkout, 'node_modules', name), join(modules, name));
  for (const name of readdirSync(join(folder, 'packages')))
    symlinkSync(join(folder, 'packages', name), join(modules, '@keyreeve', name));
}
