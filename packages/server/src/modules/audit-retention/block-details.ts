/** What prevents the removal of old audit events, and what an operator does about it. */
import type { Block } from './store.ts';

export const blockDetails: Readonly<Record<Block, string>> = {
  clock:
    'the clock is days ahead of the time that has certainly passed, so fewer audit events are removed. If the clock is right, run `keyreeve audit cut`',
  deletion_journal:
    'the deletion journal does not contain the oldest audit events yet, so they stay. Read the log for its errors',
  webhooks: 'deliveries of webhooks still need old audit events, so they stay. Read the log for errors of webhooks',
  integrity:
    'an audit event was changed or is missing, so no more events are removed. Run `keyreeve audit verify`, and see docs/audit.md#retention',
};
