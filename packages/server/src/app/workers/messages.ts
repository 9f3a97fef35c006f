/** What a supervisor and its workers say to each other, over the channel that node:cluster keeps between them. */
import type { FileIdentity } from '../../foundation/database/file-identity.ts';
import type { MetricsSnapshot } from '../metrics.ts';
import type { UnansweredRefresh } from '../../modules/tokens/unanswered-refreshes.ts';

/** Sent to the supervisor by one worker, and by the supervisor to all others. */
export type Shared = { readonly kind: 'unanswered_refresh' } & UnansweredRefresh;

export type ToWorker =
  | {
      readonly kind: 'start';
      /** Its number, from 1 on; whoever replaces it has the same. */
      readonly worker: number;
      /** 0 picks one, for all workers the same. */
      readonly port: number;
      /** The files of an embedded database that the supervisor has open; a worker serves no others. */
      readonly database: FileIdentity | undefined;
    }
  | { readonly kind: 'metrics'; readonly id: number }
  | { readonly kind: 'stop' }
  | Shared;

export type ToSupervisor =
  | { readonly kind: 'listening'; readonly url: string; readonly publicUrl: string }
  /** The worker answers 503 from now on. */
  | { readonly kind: 'database_replaced'; readonly path: string }
  | { readonly kind: 'metrics'; readonly id: number; readonly snapshot: MetricsSnapshot }
  | Shared;
