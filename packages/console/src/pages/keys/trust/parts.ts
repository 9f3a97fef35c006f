/** What keys with a trust need besides other keys, and the rotation. One file of the output, which loads when it is needed. */
export { RotateDialog } from '../rotate-dialog.tsx';
export { TokensSection } from './tokens-section.tsx';
export { TrustFields } from './trust-fields.tsx';
export { UseSection } from './trust-section.tsx';
export { createWithTrust } from './trust-dialog.tsx';
export * from '../../shared-parts.ts';
