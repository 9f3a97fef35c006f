/** What the creation and the changes of API keys both need. */
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import type { KeyCreationLimits } from '../rate-limits/key-creation-limits.ts';
import type { Environments } from './environments.ts';
import type { Audiences } from './trust.ts';

export interface KeySettings extends RecordingCore {
  readonly hash: KeyedHash;
  readonly environments: Environments;
  /** Of identity tokens. */
  readonly audiences: Audiences;
  /** Whether the scope catalogue is enforced. */
  readonly hasCatalogue: boolean;
  /** KEYREEVE_KEY_LIFETIME_DAYS_MAX; 0 for no limit. */
  readonly lifetimeDaysMax: number;
  /** A rotation counts as a creation too. Undefined for load tests: nothing is counted. */
  readonly creationLimits: KeyCreationLimits | undefined;
}
