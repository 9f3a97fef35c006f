/** What every scenario of the revocation check gets. */
import type { KeySourceOptions } from './key-source.ts';

export interface ScenarioOptions extends KeySourceOptions {
  /** Verifications in progress at a time. */
  readonly loops: number;
  /** The maximum number of probes of a key before its deletion is requested, and after the response to the deletion. */
  readonly probesMax: number;
  readonly isOver: () => boolean;
  /** Called after each acknowledged deletion. */
  readonly onDeleted?: (deletions: number) => void;
}
