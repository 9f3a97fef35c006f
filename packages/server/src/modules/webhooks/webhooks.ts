/** Wires the parts of webhooks together: endpoints, publisher and sender. */
import type { Sealer } from '../../foundation/crypto/seal.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { AddressGuard, type AllowedTarget, type Resolve } from '../../foundation/outgoing/address-guard.ts';
import { Deliveries } from './deliveries.ts';
import { DeliveryLog } from './delivery-log.ts';
import { Endpoints } from './endpoints.ts';
import { Publisher } from './publisher.ts';
import { Sender } from './sender.ts';

export interface WebhooksOptions extends RecordingCore {
  readonly seal: Sealer;
  readonly outbox: Outbox;
  readonly targets: readonly AllowedTarget[];
  /** Called when the audit log cannot be read, once until it can be read again. */
  readonly onFailure?: (error: unknown) => void;
  /** Called when the log of deliveries cannot be written, once until it can be written again. */
  readonly onLogFailure?: (error: unknown) => void;
  /** For tests; the system's resolver by default. */
  readonly resolve?: Resolve;
}

export class Webhooks {
  readonly deliveries: Deliveries;
  readonly endpoints: Endpoints;
  readonly log: DeliveryLog;
  /** The service starts and stops it. */
  readonly publisher: Publisher;
  readonly sender: Sender;

  constructor(options: WebhooksOptions) {
    const { db, clock, outbox, onLogFailure } = options;
    const guard = new AddressGuard(options.targets, options.resolve);
    this.log = new DeliveryLog({ db, clock, ...(onLogFailure ? { onFailure: onLogFailure } : {}) });
    this.deliveries = new Deliveries(options);
    this.sender = new Sender({ ...options, guard, log: this.log });
    this.endpoints = new Endpoints({ ...options, guard, sender: this.sender });
    this.publisher = new Publisher(options);
    outbox.handle('webhook', this.sender.deliver);
  }
}
