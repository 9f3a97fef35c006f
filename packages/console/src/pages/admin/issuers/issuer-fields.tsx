/** The fields of an issuer of identity tokens, for a new one and for a change, and the request bodies that they make. */
import { issuerPresetNames, presetUrl, type IssuerPresetName } from '@keyreeve/contract/issuer-presets';
import { useSignal } from '@preact/signals';
import type { RequestOf, ResponseOf } from '../../../api.ts';
import type { Fields } from '../../../fields.ts';
import { Field, Select, TextArea } from '../../../parts/field.tsx';
import { adminText } from '../../../text/admin-text.ts';

export type Issuer = ResponseOf<'GET /admin/issuers'>['issuers'][number];
export type NewIssuer = RequestOf<'POST /admin/issuers'>['body'];
export type IssuerChange = RequestOf<'PATCH /admin/issuers/:id'>['body'];

/** What the person has chosen, without a value for empty fields. The form allows only JSON as the JWK set. */
function settingsIn(fields: Fields): Omit<NewIssuer, 'url' | 'preset' | 'accountId'> {
  const names = (name: string): string[] =>
    fields
      .text(name)
      .split(/[\s,]+/)
      .filter(Boolean);
  const algorithms = names('algorithms') as NonNullable<NewIssuer['algorithms']>;
  const [idClaims, listClaims] = [names('idClaims'), names('listClaims')];
  const lifetimeSeconds = Number(fields.text('lifetime'));
  const replay = fields.optional('replay') as NewIssuer['replay'];
  const jwks = fields.text('jwks').trim();
  return {
    ...(algorithms.length > 0 && { algorithms }),
    ...(lifetimeSeconds && { lifetimeSeconds }),
    ...(replay && { replay }),
    ...(idClaims.length > 0 && { idClaims }),
    ...(listClaims.length > 0 && { listClaims }),
    ...(jwks && { jwks: JSON.parse(jwks) as NonNullable<NewIssuer['jwks']> }),
  };
}

export function newIssuerIn(fields: Fields): NewIssuer {
  const preset = issuerPresetNames.find((name) => name === fields.text('preset'));
  return { url: fields.text('url').trim(), ...(preset && { preset }), ...settingsIn(fields) };
}

/** Only what differs, so that the change keeps what another person changed. @returns undefined if nothing differs */
export function issuerChangeIn(fields: Fields, current: Issuer): IssuerChange | undefined {
  const after = { listClaims: [], jwks: null, ...settingsIn(fields) };
  const before = { ...current, jwks: current.jwks ?? null };
  const differing = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof typeof after]),
  );
  return differing.length > 0 ? Object.fromEntries(differing) : undefined;
}

export function NewIssuerFields() {
  const preset = useSignal<IssuerPresetName | 'none'>('github');
  const texts = adminText.issuers;
  return (
    <>
      <Select
        label={texts.preset}
        name="preset"
        value={preset.value}
        onChange={(event) => void (preset.value = event.currentTarget.value as IssuerPresetName | 'none')}
        options={[...issuerPresetNames.map((name) => [name, texts.presets[name]] as const), ['none', texts.noPreset]]}
      />
      <Field
        // Another preset has another URL.
        key={preset.value}
        label={texts.url}
        name="url"
        look="code"
        inputMode="url"
        maxLength={512}
        placeholder="https://issuer.example.com"
        defaultValue={presetUrl(preset.value)}
        hint={texts.urlHint}
        codes={['issuer_url_refused', 'issuer_taken']}
        pointer="/url"
      />
      <details>
        <summary>{texts.more}</summary>
        <div class="form">
          <p class="hint">{texts.moreHint}</p>
          <SettingFields />
        </div>
      </details>
    </>
  );
}

/** @param of the issuer that is changed */
export function SettingFields({ of }: { readonly of?: Issuer }) {
  const texts = adminText.issuers;
  return (
    <>
      <TextArea
        label={texts.idClaims}
        name="idClaims"
        look="code"
        rows={2}
        isOptional={!of}
        placeholder="/sub"
        defaultValue={of?.idClaims.join('\n') ?? ''}
        hint={texts.idClaimsHint}
        pointer="/idClaims"
      />
      <Field
        label={texts.algorithms}
        name="algorithms"
        look="code"
        isOptional={!of}
        placeholder="RS256 ES256"
        defaultValue={of?.algorithms.join(' ') ?? ''}
        pointer="/algorithms"
      />
      <Field
        label={texts.lifetime}
        name="lifetime"
        type="number"
        inputMode="numeric"
        min={60}
        isOptional={!of}
        defaultValue={of?.lifetimeSeconds ?? ''}
        hint={texts.lifetimeHint}
        pointer="/lifetimeSeconds"
      />
      <Select
        label={texts.replay}
        name="replay"
        isOptional={!of}
        defaultValue={of?.replay ?? ''}
        hint={texts.replayHint}
        pointer="/replay"
        options={[...(of ? [] : [['', texts.asPreset] as const]), ...Object.entries(texts.replays)]}
      />
      <TextArea
        label={texts.listClaims}
        name="listClaims"
        look="code"
        rows={2}
        isOptional
        defaultValue={of?.listClaims.join('\n') ?? ''}
        hint={texts.listClaimsHint}
        pointer="/listClaims"
      />
      <TextArea
        label={texts.jwks}
        name="jwks"
        look="code"
        isOptional
        placeholder='{"keys":[…]}'
        defaultValue={of?.jwks ? JSON.stringify(of.jwks, null, 2) : ''}
        hint={texts.jwksHint}
        pointer="/jwks"
        onInput={({ currentTarget }) =>
          currentTarget.setCustomValidity(isJson(currentTarget.value) ? '' : texts.notJson)
        }
      />
    </>
  );
}

function isJson(typed: string): boolean {
  try {
    return typed.trim() === '' || JSON.parse(typed) !== undefined;
  } catch {
    return false;
  }
}
