/** The name of a kind of jobs of the outbox. */
import { adminText } from '../../../text/admin-text.ts';

/** An instance of a later version may have added kinds. */
export const jobKindLabel = (kind: string): string =>
  (adminText.jobs.kinds as Readonly<Record<string, string>>)[kind] ?? kind;
