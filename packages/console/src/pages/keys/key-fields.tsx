/** The fields of a key, for a new one and for a change, and the request body that they make. */
import type { ComponentChildren, ComponentProps } from 'preact';
import type { Fields } from '../../fields.ts';
import { Field, Select, TextArea } from '../../parts/field.tsx';
import { config } from '../../session-state.ts';
import { text } from '../../text/text.ts';
import { ExpiryField, expiryOf } from './expiry-field.tsx';
import type { KeyChange, KeyDetails, KeyRights, LoadScopes, NewKey } from './key-owner.ts';
import { LimitFields, limitsOf } from './limit-fields.tsx';
import { ScopesField, scopesOf } from './scopes-field.tsx';

interface KeyFieldsProps {
  /** The key that is changed. Absent for a new key. */
  readonly current?: KeyDetails;
  /** The form has no fields for the rest. */
  readonly rights: Pick<KeyRights, 'rename' | 'scopes' | 'limit'>;
  /** Absent: the form has no scopes. */
  readonly scopes?: LoadScopes | undefined;
  /** Below the nickname. */
  readonly children?: ComponentChildren;
}

export function KeyFields({ current, rights, scopes, children }: KeyFieldsProps) {
  const environments = config.value?.features.environments ?? [];
  return (
    <>
      {rights.rename && (
        <NicknameField label={text.keys.nickname} current={current?.nickname} hint={text.keys.nicknameHint} autofocus />
      )}
      {children}
      {rights.scopes && scopes && <ScopesField current={current?.scopes ?? []} load={scopes} />}
      {rights.limit && <ExpiryField current={current && current.expiresAt} />}
      {!current && environments.length > 0 && (
        <Select
          label={text.keys.environment}
          hint={text.keys.environmentHint}
          name="environment"
          pointer="/environment"
          options={environments.map((name) => [name, name] as const)}
        />
      )}
      {rights.limit && (
        <details open={Boolean(current?.addresses ?? current?.limits)}>
          <summary>{text.keys.more}</summary>
          <div class="form">
            <TextArea
              label={text.keys.addresses}
              name="addresses"
              look="code"
              hint={text.keys.addressesHint}
              pointer="/addresses"
              isOptional
              placeholder="203.0.113.0/24"
              defaultValue={current?.addresses?.join('\n') ?? ''}
            />
            <LimitFields limits={current?.limits ?? null} />
          </div>
        </details>
      )}
    </>
  );
}

interface NicknameFieldProps extends Pick<
  ComponentProps<typeof Field>,
  'label' | 'hint' | 'placeholder' | 'autofocus'
> {
  readonly name?: string;
  readonly current?: string | undefined;
}

/** The nickname of a key, or a name with the same rules. */
export const NicknameField = ({ name = 'nickname', current = '', ...rest }: NicknameFieldProps) => (
  <Field
    {...rest}
    name={name}
    autocomplete="off"
    maxLength={256}
    defaultValue={current}
    codes={['nickname_invalid', 'nickname_taken']}
    pointer={`/${name}`}
  />
);

/** Of the field `addresses`. */
export const addressesOf = (fields: Fields): string[] | null => {
  const addresses = fields
    .text('addresses')
    .split(/[\s,]+/)
    .filter(Boolean);
  return addresses.length > 0 ? addresses : null;
};

const nicknameOf = (fields: Fields): string => fields.text('nickname').trim();

/** Of the fields that the form has. */
const valuesOf = (fields: Fields) => ({
  ...((scopes) => scopes && { scopes })(scopesOf(fields)),
  ...(fields.isChecked('addresses') && { addresses: addressesOf(fields), limits: limitsOf(fields) }),
});

export function newKeyOf(fields: Fields): NewKey {
  const expiresAt = expiryOf(fields, true);
  const environment = fields.optional('environment');
  const nickname = nicknameOf(fields);
  return {
    nickname,
    ...valuesOf(fields),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(environment && { environment }),
  };
}

/** @param names without duplicates, as `others` */
const isSameSet = (names: readonly string[], others: readonly string[]): boolean =>
  names.length === others.length && names.every((name) => others.includes(name));

/** Only what differs, so that the change keeps what another tab changed. @returns undefined if nothing differs */
export function changeOf(fields: Fields, current: KeyDetails): KeyChange | undefined {
  const { rate, quota } = current.limits ?? {};
  const before = {
    nickname: current.nickname,
    scopes: current.scopes,
    addresses: current.addresses,
    limits: {
      rate: rate ? { limit: rate.limit, windowSeconds: rate.windowSeconds, burst: rate.burst ?? rate.limit } : null,
      quota: quota ? { limit: quota.limit, per: quota.per } : null,
    },
  };
  const after = { ...(fields.isChecked('nickname') && { nickname: nicknameOf(fields) }), ...valuesOf(fields) };
  // A set: the catalogue has another order than the key.
  if (after.scopes && isSameSet(after.scopes, current.scopes)) after.scopes = [...current.scopes];
  const differing = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof typeof before]),
  );
  const expiresAt = expiryOf(fields, false);
  const change: KeyChange = { ...Object.fromEntries(differing), ...(expiresAt !== undefined && { expiresAt }) };
  return Object.keys(change).length > 0 ? change : undefined;
}
