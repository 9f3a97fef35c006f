/** The accounts of audit events: who caused an event, and which account it concerns. */
import { isAccountId } from '../../../account-names.ts';
import type { ResponseOf } from '../../../api.ts';
import { AccountName } from '../../../parts/account-name.tsx';

type AuditEvent = ResponseOf<'GET /admin/audit'>['events'][number];

const actorPrefix = 'account:';

const actorAccount = (actor: string): string | null =>
  actor.startsWith(actorPrefix) ? actor.slice(actorPrefix.length) : null;

/** A target about a manager has two ids: of the service account, and of the manager. */
const targetParts = (target: string | null): readonly string[] => target?.split('/') ?? [];

/** What the columns of the events show, with the ids of all accounts. */
export const accountsOf = (events: readonly AuditEvent[]): (string | null)[] =>
  events.flatMap((event) => [actorAccount(event.actor), event.accountId, ...targetParts(event.target)]);

export function EventActor({ actor, details }: Pick<AuditEvent, 'actor' | 'details'>) {
  const id = actorAccount(actor);
  if (id !== null) return <AccountName id={id} />;
  const person = actor.startsWith('portal:') ? personOf(details) : undefined;
  return (
    <>
      {person !== undefined && <bdi>{person} </bdi>}
      <span class="code">{actor}</span>
    </>
  );
}

/** Who used the portal session, as the backend of the host stated it. */
function personOf(details: unknown): string | undefined {
  const { person } = (details ?? {}) as { readonly person?: { readonly id: string; readonly name?: string | null } };
  return person && (person.name ? `${person.name} (${person.id})` : person.id);
}

export const EventTarget = ({ target }: Pick<AuditEvent, 'target'>) =>
  target !== null && targetParts(target).every(isAccountId) ? (
    <>
      {targetParts(target).map((id, place) => (
        <span key={id}>
          {place > 0 && ' / '}
          <AccountName id={id} />
        </span>
      ))}
    </>
  ) : (
    <span class="code">{target ?? '–'}</span>
  );
