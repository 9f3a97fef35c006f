/** The built-in templates in German, with the same values as in `built-in.ts`. */
import type { MailTemplate } from '../mail.ts';
import type { PlainTemplate } from './built-in.ts';

const notYou = 'Falls Sie das nicht waren, setzen Sie jetzt ein neues Passwort und beenden Sie alle anderen Sitzungen.';

export const builtInGerman: Readonly<Record<MailTemplate, PlainTemplate>> = {
  verify_email: {
    subject: 'Bestätigen Sie Ihre E-Mail-Adresse für {{product}}',
    button: 'E-Mail-Adresse bestätigen',
    text: `Mit dieser E-Mail-Adresse wurde ein Konto bei {{product}} angelegt. Um die Registrierung abzuschließen, öffnen Sie diese Seite und geben Sie das Passwort ein, das Sie gewählt haben:

{{link}}

Falls die Seite nach einem Code fragt, geben Sie diesen ein: {{code}}

Der Link funktioniert einmal, bis {{expiresAt}}. Falls Sie kein Konto angelegt haben, müssen Sie nichts tun: Das Konto kann nicht genutzt werden.`,
  },
  account_exists: {
    subject: 'Sie haben bereits ein Konto bei {{product}}',
    button: 'Neues Passwort setzen',
    text: `Mit dieser E-Mail-Adresse sollte ein Konto bei {{product}} angelegt werden. Es gibt bereits eines, und es wurde nichts geändert: Melden Sie sich mit Ihrem Passwort an. Falls Sie es nicht mehr kennen, können Sie hier ein neues setzen:

{{resetLink}}

Falls Sie das nicht waren, müssen Sie nichts tun.`,
  },
  reset_password: {
    subject: 'Setzen Sie ein neues Passwort für {{product}}',
    button: 'Neues Passwort setzen',
    text: `Von der IP-Adresse {{clientIp}} wurde ein neues Passwort für Ihr Konto bei {{product}} angefordert. Sie können es hier setzen:

{{link}}

Falls die Seite nach einem Code fragt, geben Sie diesen ein: {{code}}

Der Link funktioniert einmal, bis {{expiresAt}}. Mit dem neuen Passwort enden alle Sitzungen. Diese API-Schlüssel des Kontos gelten weiter, wenn Sie sie nicht im selben Schritt löschen:

{{keys}}

Falls Sie das nicht angefordert haben, müssen Sie nichts tun: Ihr Passwort bleibt, wie es ist.`,
  },
  reset_by_administrator: {
    subject: 'Setzen Sie ein neues Passwort für {{product}}',
    button: 'Neues Passwort setzen',
    text: `Eine Administratorin oder ein Administrator von {{product}} sendet Ihnen diesen Link, um ein neues Passwort für Ihr Konto zu setzen:

{{link}}

Falls die Seite nach einem Code fragt, geben Sie diesen ein: {{code}}

Der Link funktioniert einmal, bis {{expiresAt}}; danach können Sie einen neuen anfordern. Ihr bisheriges Passwort gilt möglicherweise nicht mehr. Mit dem neuen Passwort enden alle Sitzungen. Diese API-Schlüssel gelten weiter, wenn Sie sie nicht im selben Schritt löschen:

{{keys}}

Falls Sie nicht wissen, warum Sie diese E-Mail erhalten, fragen Sie den Betreiber von {{product}}.`,
  },
  invitation: {
    subject: 'Einladung zu {{product}}',
    button: 'Einladung annehmen',
    text: `Eine Administratorin oder ein Administrator von {{product}} hat für diese E-Mail-Adresse ein Konto angelegt. Um es zu nutzen, wählen Sie hier ein Passwort:

{{link}}

Falls die Seite nach einem Code fragt, geben Sie diesen ein: {{code}}

Der Link funktioniert einmal, bis {{expiresAt}}.`,
  },
  change_email: {
    subject: 'Bestätigen Sie Ihre neue E-Mail-Adresse für {{product}}',
    button: 'E-Mail-Adresse bestätigen',
    text: `Diese E-Mail-Adresse soll für ein Konto bei {{product}} verwendet werden. Um das zu bestätigen, öffnen Sie diese Seite:

{{link}}

Falls die Seite nach einem Code fragt, geben Sie diesen ein: {{code}}

Der Link funktioniert einmal, bis {{expiresAt}}. Falls Sie das nicht angefordert haben, müssen Sie nichts tun: Es wird nichts geändert.`,
  },
  email_change_requested: {
    subject: 'Für Ihr Konto bei {{product}} wurde eine neue E-Mail-Adresse angefordert',
    text: `Am {{at}} wurde in einer Sitzung Ihres Kontos bei {{product}} angefordert, die E-Mail-Adresse in {{newEmail}} zu ändern. Die Änderung gilt, sobald diese Adresse bestätigt ist.

${notYou} Dann kann die Änderung nicht mehr bestätigt werden.`,
  },
  email_changed: {
    subject: 'Ihre E-Mail-Adresse bei {{product}} wurde geändert',
    text: `Am {{at}} wurde die E-Mail-Adresse Ihres Kontos bei {{product}} in {{newEmail}} geändert. An diese Adresse werden keine weiteren E-Mails gesendet.

Falls Sie das nicht waren, wenden Sie sich an den Betreiber von {{product}}.`,
  },
  email_changed_with_undo: {
    subject: 'Ihre E-Mail-Adresse bei {{product}} wurde geändert',
    button: 'Änderung rückgängig machen',
    text: `Am {{at}} wurde die E-Mail-Adresse Ihres Kontos bei {{product}} in {{newEmail}} geändert. An diese Adresse werden keine weiteren E-Mails gesendet.

Falls Sie das nicht waren, machen Sie die Änderung bis {{expiresAt}} hier rückgängig. Eine Anmeldung ist nicht nötig; geben Sie diese E-Mail-Adresse ein:

{{link}}

Falls die Seite nach einem Code fragt, geben Sie diesen ein: {{code}}

Ihr Konto erhält dann diese Adresse zurück, alle Sitzungen werden beendet und das Passwort wird ungültig. Sie erhalten danach einen Link, um ein neues zu setzen. API-Schlüssel, Passkeys und zweite Faktoren, die nach der Änderung oder in den 7 Tagen davor hinzugekommen sind, werden entfernt, außer wenn sie aus einem Netz verwendet wurden, aus dem Sie sich schon vorher angemeldet hatten. Sie können alle API-Schlüssel im selben Schritt löschen:

{{keys}}

Falls Sie die E-Mail-Adresse selbst geändert haben, müssen Sie nichts tun.`,
  },
  email_restored: {
    subject: 'Ihre E-Mail-Adresse bei {{product}} wurde wiederhergestellt',
    button: 'Neues Passwort setzen',
    text: `Diese E-Mail-Adresse gehört wieder zu Ihrem Konto bei {{product}}. Alle Sitzungen sind beendet, und das alte Passwort gilt nicht mehr. Setzen Sie hier ein neues:

{{link}}

Falls die Seite nach einem Code fragt, geben Sie diesen ein: {{code}}

Der Link funktioniert einmal, bis {{expiresAt}}; danach können Sie einen neuen anfordern. Diese API-Schlüssel des Kontos gelten weiter, wenn Sie sie nicht im selben Schritt löschen:

{{keys}}

API-Schlüssel, Passkeys und zweite Faktoren, die kurz vor oder nach der Änderung hinzugekommen sind, wurden entfernt. Diese zweiten Faktoren gelten weiter: Authenticator-Apps {{authenticators}}, unbenutzte Wiederherstellungscodes {{recoveryCodes}} und diese Passkeys:

{{passkeys}}

Falls einer davon nicht Ihrer ist, melden Sie sich mit einem Ihrer eigenen an und entfernen Sie ihn. Falls keiner Ihrer ist, wenden Sie sich an den Betreiber von {{product}}.`,
  },
  email_set_requested: {
    subject: 'Bei {{product}} wurde eine neue E-Mail-Adresse eingetragen',
    text: `Am {{at}} hat eine Administratorin oder ein Administrator von {{product}} {{newEmail}} als neue E-Mail-Adresse Ihres Kontos eingetragen. Die Änderung gilt, sobald diese Adresse bestätigt ist.

Falls Sie darum nicht gebeten haben, wenden Sie sich jetzt an den Betreiber von {{product}}.`,
  },
  password_changed: {
    subject: 'Ihr Passwort für {{product}} wurde geändert',
    text: `Am {{at}} wurde das Passwort Ihres Kontos bei {{product}} von der IP-Adresse {{clientIp}} aus geändert. Alle anderen Sitzungen sind beendet. Diese API-Schlüssel des Kontos gelten weiter:

{{keys}}

Falls Sie das nicht waren, setzen Sie jetzt ein neues Passwort und löschen Sie die Schlüssel, die Sie nicht kennen.`,
  },
  second_factor_added: {
    subject: 'Ihrem Konto bei {{product}} wurde ein zweiter Faktor hinzugefügt',
    text: `Am {{at}} wurde Ihrem Konto bei {{product}} von der IP-Adresse {{clientIp}} aus ein zweiter Faktor hinzugefügt. Ab jetzt ist bei der Anmeldung auch dessen Code nötig.

${notYou}`,
  },
  second_factor_removed: {
    subject: 'Der zweite Faktor Ihres Kontos bei {{product}} wurde entfernt',
    text: `Am {{at}} wurde der zweite Faktor Ihres Kontos bei {{product}} von der IP-Adresse {{clientIp}} aus entfernt. Ab jetzt genügt bei der Anmeldung das Passwort.

${notYou}`,
  },
  authenticator_removed: {
    subject: 'Die Authenticator-App Ihres Kontos bei {{product}} wurde entfernt',
    text: `Am {{at}} wurde die Authenticator-App Ihres Kontos bei {{product}} von der IP-Adresse {{clientIp}} aus entfernt. Ihre Passkeys und Wiederherstellungscodes funktionieren weiter.

${notYou}`,
  },
  passkey_added: {
    subject: 'Ihrem Konto bei {{product}} wurde ein Passkey hinzugefügt',
    text: `Am {{at}} wurde Ihrem Konto bei {{product}} von der IP-Adresse {{clientIp}} aus der Passkey „{{name}}“ hinzugefügt. Mit ihm ist eine Anmeldung ohne Ihr Passwort möglich.

Falls Sie das nicht waren, setzen Sie jetzt ein neues Passwort, beenden Sie alle anderen Sitzungen und entfernen Sie den Passkey.`,
  },
  passkey_removed: {
    subject: 'Ein Passkey Ihres Kontos bei {{product}} wurde entfernt',
    text: `Am {{at}} wurde der Passkey „{{name}}“ Ihres Kontos bei {{product}} von der IP-Adresse {{clientIp}} aus entfernt. Ohne einen anderen zweiten Faktor genügt bei der Anmeldung ab jetzt das Passwort.

${notYou}`,
  },
  passkey_counter_regressed: {
    subject: 'Ein Passkey Ihres Kontos bei {{product}} wurde möglicherweise kopiert',
    text: `Am {{at}} wurde eine Anmeldung an Ihrem Konto bei {{product}} von der IP-Adresse {{clientIp}} mit dem Passkey „{{name}}“ abgelehnt: Sein Zähler war nicht höher als bei der letzten Verwendung. Ein anderes Gerät hat möglicherweise eine Kopie des Passkeys.

Entfernen Sie diesen Passkey und fügen Sie einen neuen hinzu. Falls Sie das nicht waren, setzen Sie außerdem ein neues Passwort und beenden Sie alle anderen Sitzungen.`,
  },
  recovery_code_used: {
    subject: 'Ein Wiederherstellungscode Ihres Kontos bei {{product}} wurde verwendet',
    text: `Am {{at}} wurde von der IP-Adresse {{clientIp}} aus ein Wiederherstellungscode Ihres Kontos bei {{product}} statt des zweiten Faktors verwendet. Verbleibende Codes: {{remaining}}.

${notYou}`,
  },
  suspicious_sign_in: {
    subject: 'Anmeldung bei {{product}} nach vielen Fehlversuchen',
    text: `Am {{at}} erfolgte eine Anmeldung an Ihrem Konto bei {{product}} nach dieser Zahl von Fehlversuchen: {{failures}}. Sie kam von der IP-Adresse {{clientIp}} mit diesem Programm:

{{userAgent}}

${notYou}`,
  },
  keys_expiring: {
    subject: 'API-Schlüssel bei {{product}} laufen am {{day}} ab',
    text: `API-Schlüssel des Kontos {{owner}} bei {{product}} laufen am {{day}} (UTC) ab. Anzahl der Schlüssel: {{count}}. Die folgende Liste enthält alle oder die ersten 20, jeweils mit Kennung, Anfang und Ende des Geheimnisses (soweit bekannt) und Ablaufzeit:

{{keys}}

Ab dann werden Anfragen mit diesen Schlüsseln abgewiesen. Wenn Sie einen Schlüssel noch brauchen, setzen Sie vorher eine spätere Ablaufzeit oder ersetzen Sie ihn. Andernfalls müssen Sie nichts tun.`,
  },
  api_key_created: {
    subject: 'Bei {{product}} wurde ein API-Schlüssel erstellt',
    text: `Am {{at}} hat der Betreiber von {{product}} oder eine andere für das Konto zuständige Person einen API-Schlüssel für {{owner}} erstellt:

{{key}}

Er gilt ab sofort. Seine Berechtigungen (Scopes):

{{scopes}}

Falls Sie diesen Schlüssel nicht erwarten, löschen Sie ihn und wenden Sie sich an den Betreiber von {{product}}. Andernfalls müssen Sie nichts tun.`,
  },
  api_key_created_by_administrator: {
    subject: 'Ein Administrator von {{product}} hat einen API-Schlüssel für Sie erstellt',
    text: `Am {{at}} hat der Administrator {{by}} von {{product}} einen API-Schlüssel für {{owner}} erstellt:

{{key}}

Er gilt ab sofort. Sein Geheimnis wurde dem Administrator einmal angezeigt. Seine Berechtigungen (Scopes):

{{scopes}}

Um den Schlüssel zu löschen, melden Sie sich bei {{product}} an, öffnen Sie Ihre API-Schlüssel oder das Dienstkonto und löschen Sie ihn dort. Ein Programm sendet DELETE /auth/api-keys/<id>, wobei <id> die oben genannte Zahl ist. Falls Sie diesen Schlüssel nicht erwarten, löschen Sie ihn und wenden Sie sich an den Betreiber von {{product}}. Andernfalls müssen Sie nichts tun.`,
  },
  program_key_created: {
    subject: '{{program}} hat bei {{product}} einen API-Schlüssel von Ihnen erhalten',
    button: 'Schlüssel löschen',
    text: `Am {{at}} hat das Programm {{program}}, das Sie genehmigt hatten, einen API-Schlüssel Ihres Kontos erhalten. Es läuft im Client-IP-Bereich {{clientRange}}, in dem noch kein Programm einen Ihrer Schlüssel erhalten hat:

{{key}}

Seine Berechtigungen:

{{scopes}}

Wenn Sie diese Anmeldung nicht selbst begonnen haben, löschen Sie den Schlüssel hier, bis {{expiresAt}}. Sie müssen sich dafür nicht anmelden. Die Seite fragt nach dieser E-Mail-Adresse:

{{link}}

Falls die Seite nach einem Code fragt, geben Sie diesen ein: {{code}}

Wenn Sie die Anmeldung selbst begonnen haben, müssen Sie nichts tun.`,
  },
  management_key_created: {
    subject: 'Bei {{product}} wurde ein Verwaltungsschlüssel erstellt',
    text: `Am {{at}} hat der Administrator {{by}} einen Verwaltungsschlüssel des Dienstkontos {{owner}} bei {{product}} erstellt, von der IP-Adresse {{clientIp}}:

{{key}}

Mit ihm erstellt ein Backend Konten und API-Schlüssel für seine Kunden. Er gilt bis {{until}}, aus diesen IP-Bereichen:

{{addresses}}

Die Administratoren von {{product}} erhalten diese E-Mail. Falls Sie diesen Schlüssel nicht erwarten, löschen Sie ihn jetzt und melden Sie das Konto {{by}} als kompromittiert. Andernfalls müssen Sie nichts tun.`,
  },
  keys_leaked: {
    subject: 'API-Schlüssel bei {{product}} sind bekannt geworden und gesperrt',
    text: `Am {{at}} enthielt eine Meldung an {{product}} Geheimnisse von API-Schlüsseln für {{owner}}. Ein Geheimnis ist bekannt geworden, wenn Unbefugte es lesen können, zum Beispiel in einem öffentlichen Repository. Diese Schlüssel sind gesperrt, und ihre Geheimnisse werden nie wieder gültig. Anzahl der Schlüssel: {{count}}. Die Liste enthält alle oder die ersten 20, jeweils mit Kennung sowie Anfang und Ende des Geheimnisses (soweit bekannt):

{{keys}}

Anfragen mit diesen Schlüsseln werden jetzt abgewiesen. Um einen Schlüssel weiter zu verwenden, rotieren Sie ihn: Er erhält ein neues Geheimnis und behält Namen, Berechtigungen (Scopes) und Limits. Andernfalls löschen Sie ihn.

Weitere Schlüssel, von denen ein vorheriges oder kurzlebiges Geheimnis bekannt geworden ist. Diese Geheimnisse sind ungültig; die Schlüssel selbst hat die Meldung nicht verändert:

{{others}}

Stellen Sie fest, wo die Geheimnisse veröffentlicht wurden, entfernen Sie sie dort und prüfen Sie die Nutzung der Schlüssel auf Anfragen, die nicht von Ihnen stammen.`,
  },
  key_secrets_ended: {
    subject: 'Geheimnisse von API-Schlüsseln bei {{product}} sind bekannt geworden und ungültig',
    text: `Am {{at}} enthielt eine Meldung an {{product}} vorherige oder kurzlebige Geheimnisse von API-Schlüsseln für {{owner}}. Diese Geheimnisse sind ungültig und werden es bleiben. Die Schlüssel selbst hat die Meldung nicht verändert. Anzahl der Schlüssel: {{count}}. Die Liste enthält alle oder die ersten 20, jeweils mit Kennung:

{{keys}}

Stellen Sie fest, wo die Geheimnisse veröffentlicht wurden. Wenn dort auch das aktuelle Geheimnis eines Schlüssels oder der private Schlüssel eines Clients veröffentlicht worden sein kann, rotieren Sie den Schlüssel.`,
  },
  account_deleted: {
    subject: 'Ihr Konto bei {{product}} wurde gelöscht',
    text: `Am {{at}} wurde Ihr Konto bei {{product}} mit seinen Sitzungen und API-Schlüsseln gelöscht. Die E-Mail-Adresse ist wieder frei.

Falls Sie das nicht waren, wenden Sie sich an den Betreiber von {{product}}.`,
  },
};
