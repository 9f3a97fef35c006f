/** What a supervisor and its workers say to each other, over the channel that node:cluster keeps between them. */
import type { MetricsSnapshot } from '../metrics.ts';

export type ToWorker =
  | {
      readonly kind: 'start';
      /** Its number, from 1 on; whoever replaces it has the same. */
      readonly worker: number;
      /** 0 picks one, for all workers the same. */
      readonly port: number;
    }
  | { readonly kind: 'metrics'; readonly id: number }
  | { readonly kind: 'stop' };

export type ToSupervisor =
  | { readonly kind: 'listening'; readonly url: string; readonly publicUrl: string }
  | { readonly kind: 'metrics'; readonly id: number; readonly snapshot: MetricsSnapshot };
