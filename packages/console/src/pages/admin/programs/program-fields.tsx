/** The fields of a program, for a new one and for a change, and the request bodies that they make. */
import type { RequestOf, ResponseOf } from '../../../api.ts';
import type { Fields } from '../../../fields.ts';
import { Field } from '../../../parts/field.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { NicknameField } from '../../keys/key-fields.tsx';
import { LifetimeField, lifetimeOf, usualLifetimes } from '../../keys/lifetime-field.tsx';
import { offeredScopes } from '../../keys/offered-scopes.ts';
import { ScopesField, scopesOf } from '../../keys/scopes-field.tsx';

export type Program = ResponseOf<'GET /admin/programs'>['programs'][number];
type NewProgram = RequestOf<'POST /admin/programs'>['body'];
type ProgramChange = RequestOf<'PATCH /admin/programs/:id'>['body'];

const scopesForOthers = offeredScopes(false);

/** 90 days. */
const suggestedLifetime = 7_776_000;

/** Without the scopes if they have not loaded. */
const settingsIn = (fields: Fields) => ({
  name: fields.text('name').trim(),
  lifetimeSeconds: lifetimeOf(fields),
  ...((scopes) => scopes && { scopes })(scopesOf(fields)),
});

export const newProgramIn = (fields: Fields): NewProgram => ({
  id: fields.text('id').trim(),
  ...settingsIn(fields),
});

/** Only what differs, so that the change keeps what another person changed. @returns undefined if nothing differs */
export function programChangeIn(fields: Fields, current: Program): ProgramChange | undefined {
  const after = settingsIn(fields);
  // A set: the catalogue has another order than the program.
  const same = (values: readonly string[]): string => JSON.stringify(values.toSorted());
  const change = {
    ...(after.name !== current.name && { name: after.name }),
    ...(after.lifetimeSeconds !== current.lifetimeSeconds && { lifetimeSeconds: after.lifetimeSeconds }),
    ...(after.scopes && same(after.scopes) !== same(current.scopes) && { scopes: after.scopes }),
  };
  return Object.keys(change).length > 0 ? change : undefined;
}

export const NewProgramFields = () => (
  <>
    <Field
      label={adminText.programs.id}
      name="id"
      look="code"
      autofocus
      maxLength={64}
      pattern="[a-z0-9]([a-z0-9._\-]*[a-z0-9])?"
      placeholder="acme-cli"
      hint={adminText.programs.idHint}
      codes={['program_taken']}
      pointer="/id"
    />
    <ProgramFields />
  </>
);

/** @param of the program that is changed */
export function ProgramFields({ of }: { readonly of?: Program }) {
  const texts = adminText.programs;
  const current = of?.lifetimeSeconds ?? suggestedLifetime;
  const lifetimes = new Set([...usualLifetimes, ...(current > 0 ? [current] : [])]);
  return (
    <>
      <NicknameField label={texts.name} name="name" placeholder="Acme CLI" current={of?.name} hint={texts.nameHint} />
      <ScopesField current={of?.scopes ?? []} load={scopesForOthers} />
      <LifetimeField
        label={texts.lifetimeOfKeys}
        lifetimes={[...lifetimes].toSorted((a, b) => a - b)}
        current={current}
      />
    </>
  );
}
