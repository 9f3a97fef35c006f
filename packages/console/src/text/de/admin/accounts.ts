/** German texts of the pages about accounts. */
export const accounts = {
  invite: 'Einladen',
  inviteTitle: 'Eine Person einladen',
  inviteIntro: 'Die Person erhält eine E-Mail mit einem Link, um ein Passwort zu setzen.',
  invited: (email: string) => `${email} wurde eingeladen.`,
  search: 'Suche nach ID oder E-Mail-Adresse',
  kinds: { person: 'Person', service: 'Dienstkonto' },
  roles: { user: 'Benutzer', admin: 'Administrator' },
  allRoles: 'Alle Rollen',
  states: { enabled: 'Aktiv', disabled: 'Gesperrt', unverified: 'E-Mail nicht bestätigt', invited: 'Eingeladen' },
  /** Of the filter: `unverified` contains invited accounts. */
  filterStates: { enabled: 'Aktiv', disabled: 'Gesperrt', unverified: 'E-Mail nicht bestätigt' },

  passwordSet: 'gesetzt',
  passwordMissing: 'nicht gesetzt: Das Konto kann sich nicht damit anmelden',
  authenticator: 'Authenticator-App',
  passkeys: (count: number) => (count === 1 ? '1 Passkey' : `${count} Passkeys`),
  noFactor: 'keiner',
  requiredFactor: (factors: string) => `${factors} (vorgeschrieben)`,
  emailChanges: 'Änderungen der E-Mail-Adresse',
  disabledSince: 'Dieses Konto ist gesperrt: Es kann sich nicht anmelden, und seine Schlüssel werden abgelehnt. Seit',
  emailChanged: (previous: string, at: string) =>
    `Die E-Mail-Adresse wurde am ${at} geändert. Vorher war sie ${previous}.`,
  you: 'Ihr Konto',

  noKeys: 'Das Konto hat keine API-Schlüssel.',
  revokeKeys: 'Alle Schlüssel löschen',
  revokeKeysTitle: 'Alle API-Schlüssel des Kontos löschen?',
  revokeKeysIntro:
    'Jede Anfrage mit einem dieser Schlüssel wird sofort abgelehnt, auf jeder Instanz. Das Löschen lässt sich nicht rückgängig machen.',
  keysRevoked: 'Alle API-Schlüssel des Kontos wurden gelöscht.',

  noSessions: 'Das Konto ist nirgends angemeldet.',
  endSessions: 'Alle Sitzungen beenden',
  sessionsEnded: 'Alle Sitzungen des Kontos wurden beendet.',

  limits: 'Begrenzungen',
  limitsIntro: 'Alle API-Schlüssel des Kontos teilen sich diese Begrenzungen, zusätzlich zu denen jedes Schlüssels.',
  changeLimits: 'Begrenzungen ändern',
  limitsSaved: 'Die Begrenzungen wurden geändert.',

  entitlements: 'Berechtigungen',
  entitlementsIntro:
    'Scopes, die nur berechtigte Konten an ihren Schlüsseln haben können. Ein entfernter Scope gilt für keinen Schlüssel dieses Kontos mehr.',
  noEntitledScopes: 'Der Katalog hat keinen Scope, der eine Berechtigung benötigt.',
  changeEntitlements: 'Berechtigungen ändern',
  entitlementsSaved: 'Die Berechtigungen wurden geändert.',
  undeclared: 'Nicht im Katalog',

  allEvents: 'Alle Ereignisse des Kontos',
  eventsIntro: 'Aus dem Audit-Log.',
  noEvents: 'Das Audit-Log hat kein Ereignis dieses Kontos.',

  inviteAgain: 'Einladung erneut senden',
  inviteAgainIntro: 'Das Konto erhält einen neuen Link. Frühere Links werden ungültig.',
  invitedAgain: 'Die Einladung wurde gesendet.',
  resetPassword: 'Passwort zurücksetzen lassen',
  resetPasswordIntro:
    'Das Konto erhält einen Link, um ein neues Passwort zu setzen. Bis dahin gilt das bisherige Passwort.',
  passwordReset: 'Die E-Mail mit dem Link wurde gesendet.',
  endSessionsIntro: 'Das Konto wird überall abgemeldet, auf jeder Instanz, sofort. Seine API-Schlüssel bleiben gültig.',
  disable: 'Sperren',
  disableTitle: 'Das Konto sperren?',
  disableIntro:
    'Seine Sitzungen enden, und jede Anfrage mit einem seiner API-Schlüssel wird abgelehnt, auf jeder Instanz, bis Sie es entsperren.',
  disabled: 'Das Konto wurde gesperrt.',
  enable: 'Entsperren',
  enableTitle: 'Das Konto entsperren?',
  enableIntro:
    'Seine API-Schlüssel werden wieder angenommen, und es kann sich anmelden. Frühere Sitzungen bleiben beendet.',
  enabled: 'Das Konto wurde entsperrt.',
  requireFactor: 'Zweiten Faktor vorschreiben',
  requireFactorIntro: 'Ohne zweiten Faktor kann das Konto nichts tun, außer einen einzurichten.',
  factorRequired: 'Das Konto muss einen zweiten Faktor haben.',
  waiveFactor: 'Zweiten Faktor nicht mehr vorschreiben',
  waiveFactorIntro: 'Ein eingerichteter zweiter Faktor bleibt in Kraft.',
  factorWaived: 'Das Konto benötigt keinen zweiten Faktor.',
  removeFactor: 'Zweiten Faktor entfernen',
  removeFactorIntro:
    'Wenn der Besitzer ihn verloren hat. Entfernt die Authenticator-App, die Passkeys und die Wiederherstellungscodes, beendet alle Sitzungen und benachrichtigt den Besitzer. Prüfen Sie zuerst seine Identität: Danach genügt das Passwort.',
  factorRemoved: 'Der zweite Faktor wurde entfernt.',
  changeRole: 'Rolle ändern',
  changeRoleIntro: 'Gilt ab der nächsten Anfrage des Kontos, auch in bestehenden Sitzungen.',
  roleChanged: 'Die Rolle wurde geändert.',
  setEmail: 'E-Mail-Adresse setzen',
  setEmailIntro:
    'Wenn der Besitzer keinen Zugang zu seinem Postfach mehr hat. Nichts ändert sich, bis der Link in einer E-Mail an die neue Adresse verwendet wird. Die bisherige wird benachrichtigt. Sie benötigen dafür einen zweiten Faktor.',
  emailSet: (email: string) => `${email} erhält eine E-Mail mit einem Link.`,
  compromised: 'Kompromittiertes Konto sichern',
  compromisedIntro: 'In einem Schritt:',
  compromisedEffects: {
    sessions: 'Alle Sitzungen enden.',
    keys: 'Alle API-Schlüssel werden gelöscht.',
    password: 'Das Passwort wird ungültig.',
    passkeys: 'Alle Passkeys werden entfernt.',
    mail: 'Der Besitzer erhält einen Link, um ein neues Passwort zu setzen.',
  },
  compromisedStays: 'Eine Authenticator-App bleibt in Kraft.',
  sendLinkTo: 'Link senden an',
  currentEmail: (email: string) => `${email} (die jetzige)`,
  previousEmail: (email: string) => `${email} (eine frühere, die wiederhergestellt wird)`,
  secured: 'Das Konto wurde gesichert.',
  delete: 'Konto löschen',
  deleteTitle: 'Das Konto löschen?',
  deleteIntro:
    'Seine Sitzungen und API-Schlüssel werden mit ihm gelöscht, und jede Instanz lehnt sie sofort ab. Das lässt sich nicht rückgängig machen.',
  deleted: (name: string) => `${name} wurde gelöscht.`,
};
