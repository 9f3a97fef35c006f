/**
 * The parts about keys with a trust, which load when they are needed. The files of pages that load later state how
 * (trust/load-parts.ts): an import here would be a circle.
 */
import type { ComponentType, VNode } from 'preact';
import type { Fields } from '../../fields.ts';
import { Problem } from '../../problem.ts';
import type { KeyDetails, KeyOwner, KeySource, Trust } from './key-owner.ts';
import type { RotateDialogProps } from './rotate-secret-dialog.tsx';

export interface TrustParts {
  /** Also of secrets. */
  readonly RotateDialog: ComponentType<RotateDialogProps>;
  readonly TokensSection: ComponentType<{ readonly owner: KeySource; readonly of: KeyDetails }>;
  readonly TrustFields: ComponentType<{ readonly of?: Trust }>;
  readonly UseSection: ComponentType<{ readonly of: KeyDetails }>;
  /** @param fields of a key and of its trust @returns the dialog that replaces the form @throws Problem */
  readonly createWithTrust: (
    owner: Required<Pick<KeyOwner, 'createWithTrust' | 'get'>>,
    fields: Fields,
    onClose: () => void,
  ) => Promise<VNode>;
}

let load: (() => Promise<TrustParts>) | undefined;
let loaded: TrustParts | undefined;

export const provideTrustParts = (loader: () => Promise<TrustParts>): void => void (load = loader);

/** @throws Problem */
export async function loadTrustParts(): Promise<TrustParts> {
  const parts = await load?.().catch(() => undefined);
  if (!parts) throw new Problem('page_not_loaded', 0);
  return (loaded = parts);
}

/** After they have loaded. */
export const trustParts = (): TrustParts => loaded!;
