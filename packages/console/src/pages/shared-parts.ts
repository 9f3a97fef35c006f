/**
 * What several files that load later need besides the first load: the fields, secrets and commands of keys. Each of these files exports
 * it too, so that the build puts it into one file instead of one for each combination of files.
 */
export { trustText } from '../text/trust-text.ts';
export { Chips } from '../parts/chips.tsx';
export { KeyFields } from './keys/key-fields.tsx';
export { KeySecretDialog } from './keys/secret-dialog.tsx';
export { CopiedCode } from '../parts/code-block.tsx';
export { Section } from '../parts/section.tsx';
export { Segments } from '../parts/segments.tsx';
export { Step } from '../parts/step.tsx';
export * from './first-pages.ts';
