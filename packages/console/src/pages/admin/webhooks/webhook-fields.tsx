/** The fields of a webhook endpoint: its URL and its events. */
import type { RequestOf } from '../../../api.ts';
import type { Fields } from '../../../fields.ts';
import { Choice, Choices } from '../../../parts/choice.tsx';
import { Field } from '../../../parts/field.tsx';
import { adminText } from '../../../text/admin-text.ts';
import type { Webhook } from './webhook.tsx';

type Events = RequestOf<'POST /admin/webhooks'>['body']['events'];
type EventName = Events[number];

/** A compile error if the contract has an event that is not here, or has no longer one that is. */
const eventNames = Object.keys({
  'account.created': 0,
  'account.verified': 0,
  'account.disabled': 0,
  'account.enabled': 0,
  'account.deleted': 0,
  'account.password_changed': 0,
  'account.email_changed': 0,
  'account.quota_reached': 0,
  'account.sessions_ended': 0,
  'account.entitlements_set': 0,
  'second_factor.added': 0,
  'second_factor.removed': 0,
  'api_key.created': 0,
  'api_key.disabled': 0,
  'api_key.enabled': 0,
  'api_key.rotated': 0,
  'api_key.previous_ended': 0,
  'api_key.leaked': 0,
  'api_key.expiring': 0,
  'api_key.quota_reached': 0,
  'api_key.deleted': 0,
  'service_account.created': 0,
  'service_account.updated': 0,
  'service_account.manager_added': 0,
  'service_account.manager_removed': 0,
  'scope.set': 0,
  'scope.deleted': 0,
  'session.ended': 0,
  'session.reuse_detected': 0,
} satisfies Record<EventName, 0>) as EventName[];

/** What the person has entered. */
export const webhookIn = (fields: Fields) => ({
  url: fields.text('url').trim(),
  events: fields.all('events') as Events,
});

interface WebhookFieldsProps {
  /** The endpoint before a change; absent for a new one. */
  readonly of?: Pick<Webhook, 'url' | 'events'>;
}

export const WebhookFields = ({ of }: WebhookFieldsProps) => (
  <>
    <Field
      label={adminText.webhooks.url}
      name="url"
      autocomplete="off"
      autocapitalize="none"
      spellcheck={false}
      inputMode="url"
      autofocus
      placeholder="https://example.com/hooks/keyreeve"
      hint={
        <>
          {adminText.webhooks.urlHint} {of && adminText.webhooks.editUrlHint}
        </>
      }
      codes={['webhook_url_refused']}
      pointer="/url"
      {...(of && { defaultValue: of.url })}
    />
    <Choices
      legend={adminText.webhooks.events}
      hint={of ? adminText.webhooks.editEventsHint : adminText.webhooks.eventsHint}
      pointer="/events"
    >
      <div class="choices scroll-choices">
        {eventNames.map((name) => (
          <Choice
            name="events"
            value={name}
            label={<code>{name}</code>}
            defaultChecked={of?.events.includes(name) ?? false}
            key={name}
          />
        ))}
      </div>
    </Choices>
  </>
);
