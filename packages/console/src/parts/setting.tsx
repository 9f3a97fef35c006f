/** A row of a `<dl class="settings">`: what it is, its value, and a button that changes it. */
import type { ComponentChildren } from 'preact';

interface SettingProps {
  readonly label: string;
  readonly action?: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly children?: ComponentChildren;
}

export const Setting = ({ label, action, hint, children }: SettingProps) => (
  <div class="setting">
    <dt>{label}</dt>
    <dd class="setting-value">
      {children}
      {hint && <p class="hint">{hint}</p>}
    </dd>
    {action && <dd class="setting-action">{action}</dd>}
  </div>
);
