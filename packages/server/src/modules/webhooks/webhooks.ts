/** Wires the parts of webhooks together: endpoints, publisher and sender. */
import type { Clock } from '../../foundation/clock.ts';
import type { Sealer } from '../../foundation/crypto/seal.ts';
import type { Db } from '../../foundation/database/db.ts';
import type { Revocations } from '../deletion-journal/revocation.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { AddressGuard, type Resolve, type WebhookTarget } from './address-guard.ts';
import { Deliveries } from './deliveries.ts';
import { DeliveryLog } from './delivery-log.ts';
import { Endpoints } from './endpoints.ts';
import { Publisher } from './publisher.ts';
import { Sender } from './sender.ts';

export interface WebhooksOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly seal: Sealer;
  readonly outbox: Outbox;
  readonly targets: readonly WebhookTarget[];
  /** Undefined without a deletion journal. */
  readonly journal?: Revocations | undefined;
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

  constructor({ db, clock, seal, outbox, targets, journal, onFailure, onLogFailure, resolve }: WebhooksOptions) {
    const guard = new AddressGuard(targets, resolve);
    this.log = new DeliveryLog({ db, clock, ...(onLogFailure ? { onFailure: onLogFailure } : {}) });
    this.deliveries = new Deliveries({ db, clock, outbox });
    this.sender = new Sender({ db, clock, seal, guard, log: this.log });
    this.endpoints = new Endpoints({ db, clock, seal, guard, sender: this.sender, journal });
    this.publisher = new Publisher({ db, outbox, ...(onFailure ? { onFailure } : {}) });
    outbox.handle('webhook', this.sender.deliver);
  }
}
