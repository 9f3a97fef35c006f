/** Messages between the supervisor and its workers, over the channel of node:cluster. */
import type { FileIdentity } from '../../foundation/database/file-identity.ts';
import type { OperationPart, RemoteResponse } from '../../foundation/database/remote-messages.ts';
import type { MetricsSnapshot } from '../metrics/metrics.ts';
import type { UnansweredRefresh } from '../../modules/tokens/unanswered-refreshes.ts';

/** A worker sends it to the supervisor, which forwards it to all other workers. */
export type Broadcast = { readonly kind: 'unanswered_refresh' } & UnansweredRefresh;

export type ToWorker =
  | {
      readonly kind: 'start';
      /** Number of the worker, from 1. A replacement has the same number. */
      readonly worker: number;
      /** With 0, the system selects one port for all workers. */
      readonly port: number;
      /** The SQLite files that the supervisor has open. A worker must open the same files. */
      readonly database: FileIdentity | undefined;
    }
  | { readonly kind: 'metrics'; readonly id: number }
  | { readonly kind: 'stop' }
  /** Results of operations on SQLite, and the state of the writer. */
  | { readonly kind: 'writes'; readonly responses: readonly RemoteResponse[] }
  | Broadcast;

export type ToSupervisor =
  | { readonly kind: 'listening'; readonly url: string; readonly publicUrl: string }
  /** The files at this path were replaced. The worker returns 503 from now on. */
  | { readonly kind: 'database_replaced'; readonly path: string }
  /** The keys of the worker are not those of the database any more. */
  | { readonly kind: 'root_key_changed' }
  | { readonly kind: 'metrics'; readonly id: number; readonly snapshot: MetricsSnapshot }
  /** Operations on SQLite, which the supervisor runs. */
  | { readonly kind: 'writes'; readonly parts: readonly OperationPart[] }
  | Broadcast;
