/** The fields of a trust: where the program runs, and the claims of its identity tokens. */
import { presetUrl } from '@keyreeve/contract/issuer-presets';
import { useSignal } from '@preact/signals';
import { useContext } from 'preact/hooks';
import { Choices } from '../../../parts/choice.tsx';
import { Field, FormProblem, Select, TextArea } from '../../../parts/field.tsx';
import { config } from '../../../session.ts';
import { trustText } from '../../../text/trust-text.ts';
import type { Trust } from '../key-owner.ts';
import { typedOf, workloadNames, workloadOf, workloads, type WorkloadName } from './workload.ts';

interface TrustFieldsProps {
  /** The trust before a change. */
  readonly of?: Trust;
}

export function TrustFields({ of }: TrustFieldsProps) {
  const before = of && workloadOf(of);
  const chosen = useSignal<WorkloadName>(before ?? 'github');
  const name = chosen.value;
  const issuer = presetUrl(name);
  return (
    <>
      <Select
        label={trustText.workload}
        name="workload"
        value={name}
        onChange={(event) => void (chosen.value = event.currentTarget.value as WorkloadName)}
        options={workloadNames.map((one) => [one, trustText.workloads[one]] as const)}
      />
      {/* Another workload has other values. */}
      <div class="form" key={name}>
        <Field
          label={trustText.issuer}
          name="issuer"
          look="code"
          inputMode="url"
          maxLength={512}
          placeholder="https://issuer.example.com"
          defaultValue={of && (name === before || issuer === '') ? of.issuer : issuer}
          hint={trustText.issuerHint}
          error={useRefusal('issuer', trustText.unknownIssuer)}
          pointer="/trust/issuer"
        />
        <ClaimFields name={name} {...(of && (name === before || name === 'other') && { of })} />
        <details open={Boolean(of && of.audience !== config.value?.publicUrl)}>
          <summary>{trustText.more}</summary>
          <Field
            label={trustText.audience}
            name="audience"
            look="code"
            maxLength={512}
            isOptional
            placeholder={config.value?.publicUrl ?? ''}
            defaultValue={of && of.audience !== config.value?.publicUrl ? of.audience : ''}
            hint={trustText.audienceHint}
            error={useRefusal('audience', trustText.audienceRefused)}
            pointer="/trust/audience"
          />
        </details>
      </div>
    </>
  );
}

function ClaimFields({ name, of }: TrustFieldsProps & { readonly name: WorkloadName }) {
  const { fields, warning } = workloads[name];
  const error = useRefusal('claims', trustText.noId);
  if (name === 'other')
    return (
      <TextArea
        label={trustText.claims}
        name="claims"
        look="code"
        rows={4}
        placeholder='{"sub": "…"}'
        defaultValue={of ? JSON.stringify(of.claims, null, 2) : ''}
        hint={trustText.claimsHint}
        error={error}
        pointer="/trust/claims"
        onInput={({ currentTarget }) =>
          currentTarget.setCustomValidity(isClaims(currentTarget.value) ? '' : trustText.notClaims)
        }
      />
    );
  return (
    <Choices legend={trustText.claims} error={error} pointer="/trust/claims" hint={warning && trustText.claim[warning]}>
      {fields.map((field) => (
        <Field
          key={field.pointer}
          label={trustText.claim[field.label]}
          name={field.pointer}
          look="code"
          maxLength={512}
          isOptional={field.isOptional}
          placeholder={field.placeholder}
          defaultValue={(of && typedOf(field, of.claims)) ?? ''}
          hint={field.hint && trustText.claim[field.hint]}
        />
      ))}
    </Choices>
  );
}

function isClaims(typed: string): boolean {
  try {
    const value = JSON.parse(typed) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
  } catch {
    return false;
  }
}

/**
 * The sentence about a member of the trust that only the server can check.
 * @param sentence a function of what the server expects instead
 * @returns undefined if it has accepted the member, or rejected only a part of it
 */
function useRefusal(member: string, sentence: string | ((expected: string) => string)): string | undefined {
  const { errors = [] } = useContext(FormProblem)?.body ?? {};
  const found = errors.find(({ pointer, code = 'invalid' }) => pointer === `/trust/${member}` && code === 'invalid');
  if (!found) return undefined;
  return typeof sentence === 'string' ? sentence : sentence(found.expected ?? '');
}
