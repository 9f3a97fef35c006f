/** The settings in force, and the checks of the installation. Read-only: the operator sets the environment. */
import { useSignal } from '@preact/signals';
import { call, type ResponseOf } from '../../../api.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Choice } from '../../../parts/choice.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Page } from '../../../parts/page.tsx';
import { Section } from '../../../parts/section.tsx';
import { ServerText } from '../../../parts/server-text.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { useResource } from '../../../resource.ts';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';

type Settings = ResponseOf<'GET /admin/settings'>;
type Setting = Settings['settings'][number];
type Check = Settings['checks'][number];

export function SettingsPage() {
  const settings = useResource((signal) => call('GET /admin/settings', { signal }));
  const texts = adminText.settings;
  return (
    <Page title={adminText.general.settings} intro={texts.intro}>
      <Loaded of={settings} rows={8}>
        {(loaded) => (
          <div class="sections">
            <Section
              title={texts.checks}
              badge={<Badge>{texts.version(loaded.version)}</Badge>}
              description={texts.checksIntro}
            >
              <Table
                label={texts.checks}
                // Several checks can have one name.
                rows={loaded.checks.toSorted((a, b) => severity(b) - severity(a))}
                keyOf={({ name, detail }) => `${name} ${detail}`}
                columns={checkColumns()}
              />
            </Section>
            <Values settings={loaded.settings} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Values({ settings }: { readonly settings: readonly Setting[] }) {
  const onlyChanged = useSignal(false);
  const texts = adminText.settings;
  return (
    <Section title={texts.values}>
      <Choice
        label={texts.onlyChanged}
        name="only-changed"
        checked={onlyChanged.value}
        onChange={({ currentTarget }) => void (onlyChanged.value = currentTarget.checked)}
      />
      <Table
        label={texts.values}
        rows={onlyChanged.value ? settings.filter(({ source }) => source !== 'default') : settings}
        keyOf={({ name }) => name}
        columns={settingColumns()}
      />
    </Section>
  );
}

const states = ['ok', 'note', 'warning', 'failed'] as const;
const tones = { ok: 'good', note: 'neutral', warning: 'warning', failed: 'bad' } as const;
const severity = ({ state }: Check): number => states.indexOf(state);

function checkColumns(): readonly Column<Check>[] {
  const texts = adminText.settings;
  return [
    { label: texts.check, cell: ({ name }) => <ServerText>{name}</ServerText> },
    {
      label: text.general.state,
      priority: 'below',
      cell: ({ state }) => <Badge tone={tones[state]}>{texts.states[state]}</Badge>,
    },
    { label: texts.detail, priority: 'below', cell: ({ detail }) => <ServerText>{detail}</ServerText> },
  ];
}

function settingColumns(): readonly Column<Setting>[] {
  const texts = adminText.settings;
  return [
    { label: texts.name, cell: ({ name }) => <code>{name}</code> },
    { label: texts.value, priority: 'below', cell: ({ value }) => <Value value={value} /> },
    { label: texts.source, priority: 'medium', cell: ({ source }) => texts.sources[source] },
  ];
}

function Value({ value }: { readonly value: string | null }) {
  if (value === null) return <span class="muted">{adminText.settings.secret}</span>;
  return value === '' ? <span class="muted">{adminText.settings.unset}</span> : <code class="wrap">{value}</code>;
}
