/** Administration: the settings in force, and checks of the installation. */
import Type, { type Static } from 'typebox';
import { administrator } from './admin-parts.ts';
import { Named } from './named.ts';
import { route } from './route.ts';
import { orNull, Text } from './schemas.ts';

export const SettingInForce = Named('Setting', {
  name: Type.String({ examples: ['KEYREEVE_PORT'] }),
  value: orNull(Text('8787', 'Without passwords; empty if it is not set. Null for a secret that is set')),
  source: Type.Enum(['default', 'environment', 'file'], {
    description: '`file`: the variable with `_FILE` at its end',
  }),
});

export const InstallationCheck = Named('InstallationCheck', {
  name: Type.String({ examples: ['signing key'] }),
  state: Type.Enum(['ok', 'note', 'warning', 'failed']),
  detail: Type.String({ description: 'For operators', examples: ['10.0.0.2 responds'] }),
});

export const SettingsInForce = Named('Settings', {
  version: Type.String({ description: 'Of the program', examples: ['1.4.0'] }),
  settings: Type.Array(SettingInForce),
  checks: Type.Array(InstallationCheck),
});
export type SettingsInForce = Static<typeof SettingsInForce>;

export const adminReadSettings = route('adminReadSettings', 'GET /admin/settings', {
  ...administrator,
  summary: 'Read the settings',
  description:
    'Of the instance that answers. Only the operator can change them. The checks are those of `keyreeve doctor`, except those that read whole tables or files.',
  success: {
    status: 200,
    description: 'The settings in force, and checks of the installation',
    schema: SettingsInForce,
  },
});
