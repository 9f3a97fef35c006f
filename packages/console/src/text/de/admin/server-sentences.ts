/**
 * German sentences for those that the server writes in English: names and details of checks, and failures of webhooks and mail. The
 * server stores some of them, and `keyreeve doctor` prints them, so they have no code. `{1}` stands for a value, which may itself be
 * one of the sentences. A test compares the list with the sources of the server.
 */
import type { ServerSentences } from '../../server-sentences.ts';

export const serverSentences: ServerSentences = [
  // Names of checks
  ['runtime', 'Laufzeit'],
  ['database', 'Datenbank'],
  ['writes', 'Schreibzugriff'],
  ['usage file', 'Nutzungsdatei'],
  ['free pages', 'Freie Seiten'],
  ['server', 'Datenbankserver'],
  ['failover', 'Serverwechsel'],
  ['pooler', 'Pooler'],
  ['environments', 'Umgebungen'],
  ['key prefix', 'Schlüsselpräfix'],
  ['scopes', 'Scopes'],
  ['audit retention', 'Aufbewahrung des Audit-Logs'],
  ['master key', 'Hauptschlüssel'],
  ['master key id', 'ID des Hauptschlüssels'],
  ['root key', 'Wurzelschlüssel'],
  ['file modes', 'Zugriffsrechte der Dateien'],
  ['disk', 'Datenträger'],
  ['public address', 'Öffentliche URL'],
  ['configuration', 'Konfiguration'],
  ['mail', 'E-Mail'],
  ['mail template', 'E-Mail-Vorlage'],
  ['verifiers', 'Prüfprozesse'],
  ['signing key', 'Signaturschlüssel'],
  ['outbox', 'Postausgang'],
  ['instance', 'Instanz'],

  // The database
  [
    '{1} responds; its schema is current and its master key is correct',
    '{1} antwortet; das Schema ist aktuell, und der Hauptschlüssel stimmt',
  ],
  [
    'the database accepts no changes, so no key can be deleted. Check its disk: free space, and whether it is read-only',
    'Die Datenbank nimmt keine Änderungen an, also kann kein Schlüssel gelöscht werden. Prüfen Sie ihren Datenträger: den freien Platz, und ob er schreibgeschützt ist',
  ],
  ['{1} responds and belongs to the database', '{1} antwortet und gehört zur Datenbank'],
  [
    '{1} cannot be read or written{2}. Verifications are not counted, lists show no last use, and no key is disabled as unused',
    '{1} ist nicht lesbar oder beschreibbar{2}. Prüfungen werden nicht gezählt, Listen zeigen keine letzte Verwendung, und kein Schlüssel wird als unbenutzt deaktiviert',
  ],
  ['{1} % of the database file is free for new rows', '{1} % der Datenbankdatei sind für neue Zeilen frei'],
  [
    '{1} % of the database file ({2} MiB) is free for new rows; `keyreeve compact` returns the space to the disk',
    '{1} % der Datenbankdatei ({2} MiB) sind für neue Zeilen frei; `keyreeve compact` gibt den Platz zurück',
  ],
  ['PostgreSQL {1}: {2}', 'PostgreSQL {1}: {2}'],
  ['acknowledged commits are on its disk', 'Bestätigte Transaktionen sind auf seinem Datenträger'],
  [
    'fsync or full_page_writes is off on the PostgreSQL server: a crash of its machine may revive deleted keys',
    'fsync oder full_page_writes ist auf dem PostgreSQL-Server ausgeschaltet: Nach einem Absturz seiner Maschine können gelöschte Schlüssel wieder gelten',
  ],
  [
    'the PostgreSQL server has standbys but waits for none (synchronous_standby_names is empty): a failover may revive keys deleted just before it',
    'Der PostgreSQL-Server hat Replikate, wartet aber auf keines (synchronous_standby_names ist leer): Nach einem Wechsel können kurz zuvor gelöschte Schlüssel wieder gelten',
  ],
  [
    'the standby in synchronous_standby_names ({1}) confirms writes. PostgreSQL does not show whether the orchestrator promotes no other: check its synchronous mode and its watchdog',
    'Das Replikat in synchronous_standby_names ({1}) bestätigt Schreibvorgänge. PostgreSQL zeigt nicht, ob der Orchestrator kein anderes befördert: Prüfen Sie dessen synchronen Modus und Watchdog',
  ],
  [
    'PostgreSQL {1}.{2} may acknowledge a commit without its standby just after a start; upgrade it to {3}.{4}',
    'PostgreSQL {1}.{2} kann gleich nach einem Start eine Transaktion ohne sein Replikat bestätigen; aktualisieren Sie es auf {3}.{4}',
  ],
  [
    'several standbys have the application_name {1}: one could confirm writes for another',
    'Mehrere Replikate haben den application_name {1}: Eines könnte Schreibvorgänge für ein anderes bestätigen',
  ],
  [
    'wal_sender_timeout is {1} s: for so long, the orchestrator may not replace a standby that is cut off, and verifications fail. Set it to 5 s',
    'wal_sender_timeout ist {1} s: So lange ersetzt der Orchestrator ein abgeschnittenes Replikat womöglich nicht, und Prüfungen scheitern. Setzen Sie ihn auf 5 s',
  ],
  ['{1} between Keyreeve and PostgreSQL, in session mode', '{1} zwischen Keyreeve und PostgreSQL, im Modus „session“'],

  // Keys and scopes
  [
    'KEYREEVE_ENVIRONMENTS is not set, but keys were created with it; its first environment was {1}',
    'KEYREEVE_ENVIRONMENTS ist nicht gesetzt, aber mit dieser Einstellung wurden Schlüssel erstellt; ihre erste Umgebung war {1}',
  ],
  [
    'KEYREEVE_ENVIRONMENTS does not list {1}: its keys, which begin with {2}_, are rejected',
    'KEYREEVE_ENVIRONMENTS nennt {1} nicht: Ihre Schlüssel, die mit {2}_ beginnen, werden abgelehnt',
  ],
  [
    '{1} was the prefix of new keys earlier, but this version reserves it for other credentials: keys that begin with {2}_ are rejected; replace them',
    '{1} war früher das Präfix neuer Schlüssel, aber diese Version reserviert es für andere Zugangsdaten: Schlüssel, die mit {2}_ beginnen, werden abgelehnt; ersetzen Sie sie',
  ],
  [
    'KEYREEVE_KEY_PREFIXES_ACCEPTED does not list {1}, which was the prefix of new keys earlier: keys that begin with {2}_ are rejected; add {3} to it',
    'KEYREEVE_KEY_PREFIXES_ACCEPTED nennt {1} nicht, das frühere Präfix neuer Schlüssel: Schlüssel, die mit {2}_ beginnen, werden abgelehnt; fügen Sie {3} hinzu',
  ],
  [
    'KEYREEVE_ENVIRONMENTS must begin with {1}, not with {2}: all keys without another environment belong to the first one',
    'KEYREEVE_ENVIRONMENTS muss mit {1} beginnen, nicht mit {2}: Alle Schlüssel ohne eine andere Umgebung gehören zur ersten',
  ],
  [
    '{1}, but keys of {2} have this prefix: choose another one',
    '{1}, aber Schlüssel von {2} haben dieses Präfix: Wählen Sie ein anderes',
  ],
  ['the first environment', 'der ersten Umgebung'],
  ['KEYREEVE_ENVIRONMENTS gives the prefix {1} to {2}', 'KEYREEVE_ENVIRONMENTS gibt der Umgebung {2} das Präfix {1}'],
  [
    'KEYREEVE_ENVIRONMENTS is not set, and KEYREEVE_KEY_PREFIX is {1}',
    'KEYREEVE_ENVIRONMENTS ist nicht gesetzt, und KEYREEVE_KEY_PREFIX ist {1}',
  ],
  ['KEYREEVE_KEY_PREFIX is {1}', 'KEYREEVE_KEY_PREFIX ist {1}'],
  [
    'KEYREEVE_SCOPES is open, so deleted scopes and scopes that need an entitlement ({1}) are in force on every key that has them; set it to catalogue',
    'KEYREEVE_SCOPES ist „open“, deshalb gelten gelöschte Scopes und solche, die eine Berechtigung brauchen ({1}), für jeden Schlüssel, der sie hat; setzen Sie es auf „catalogue“',
  ],

  // The audit log
  ['audit events are removed after {1} days', 'Ereignisse des Audit-Logs werden nach {1} Tagen entfernt'],
  [
    'the last run failed, or none has begun, so old audit events stay. If the service runs, read housekeeping_failed in its log',
    'Der letzte Lauf ist fehlgeschlagen, oder es gab noch keinen, deshalb bleiben alte Ereignisse. Wenn der Dienst läuft, lesen Sie housekeeping_failed in seinem Protokoll',
  ],
  [
    'the clock is days ahead of the time that has certainly passed, so fewer audit events are removed. If the clock is right, run `keyreeve audit cut`',
    'Die Uhr geht gegenüber der sicher vergangenen Zeit um Tage vor, deshalb werden weniger Ereignisse entfernt. Wenn die Uhr stimmt, führen Sie `keyreeve audit cut` aus',
  ],
  [
    'the deletion journal does not contain the oldest audit events yet, so they stay. Read the log for its errors',
    'Das Löschjournal enthält die ältesten Ereignisse noch nicht, deshalb bleiben sie. Suchen Sie seine Fehler im Protokoll',
  ],
  [
    'deliveries of webhooks still need old audit events, so they stay. Read the log for errors of webhooks',
    'Zustellungen von Webhooks brauchen noch alte Ereignisse, deshalb bleiben sie. Suchen Sie Fehler von Webhooks im Protokoll',
  ],
  [
    'an audit event was changed or is missing, so no more events are removed. Run `keyreeve audit verify`, and see docs/audit.md#retention',
    'Ein Ereignis des Audit-Logs wurde geändert oder fehlt, deshalb werden keine weiteren entfernt. Führen Sie `keyreeve audit verify` aus, und lesen Sie docs/audit.md#retention',
  ],

  // Keys of the installation
  ['set by the configuration', 'Von der Konfiguration gesetzt'],
  [
    'in {1}, beside the database: a copy of the folder contains both',
    'In {1}, neben der Datenbank: Eine Kopie des Ordners enthält beide',
  ],
  ['{1}. Set KEYREEVE_MASTER_KEY_FILE', '{1}. Setzen Sie KEYREEVE_MASTER_KEY_FILE'],
  ['other users can read {1}; run chmod 600 on it', 'Andere Benutzer können {1} lesen; führen Sie chmod 600 dafür aus'],
  [
    'other users cannot read the database or the master key',
    'Andere Benutzer können weder die Datenbank noch den Hauptschlüssel lesen',
  ],
  ['{1}, {2} old', '{1}, Alter: {2}'],
  ['version {1}', 'Version {1}'],
  [
    'a rotation has been unfinished since {1}: {2} ({3} old) and {4} open the installation; restart every instance with {5} and run `keyreeve master-key rotate --finish`',
    'Eine Rotation ist seit {1} nicht abgeschlossen: {2} (Alter: {3}) und {4} öffnen die Installation; starten Sie jede Instanz mit {5} neu, und führen Sie `keyreeve master-key rotate --finish` aus',
  ],
  [
    '{1} (Keyreeve {2}) was started at {3} with the master key {4}',
    '{1} (Keyreeve {2}) wurde um {3} mit dem Hauptschlüssel {4} gestartet',
  ],
  ['{1} ({2}) has signed for {3} days', '{1} ({2}) signiert seit {3} Tagen'],
  [
    '{1} ({2}) has signed for {3} days; run `keyreeve signing-key rotate`',
    '{1} ({2}) signiert seit {3} Tagen; führen Sie `keyreeve signing-key rotate` aus',
  ],
  ['none; `serve` creates the first', 'Keiner; `serve` erstellt den ersten'],

  // Mail and jobs
  [
    'not configured: sign-up and password reset are not possible; set KEYREEVE_SMTP_URL',
    'Nicht eingerichtet: Registrierung und Zurücksetzen des Passworts sind nicht möglich; setzen Sie KEYREEVE_SMTP_URL',
  ],
  [
    '{1}, from {2}; `keyreeve mail test` sends a test mail',
    '{1}, Absender {2}; `keyreeve mail test` sendet eine Test-E-Mail',
  ],
  [
    '{1} waiting, the oldest for {2} minutes; for the reason, read outbox_failed in the log',
    'Es warten {1}, am längsten seit {2} Minuten; den Grund nennt outbox_failed im Protokoll',
  ],
  ["{1} can't be read as a folder", '{1} ist nicht als Ordner lesbar'],
  ['{1} belongs to no template', '{1} gehört zu keiner Vorlage'],
  ['{1} is not UTF-8', '{1} ist nicht in UTF-8'],
  ['{1} has more than {2} bytes', '{1} hat mehr als {2} Bytes'],
  [
    '{1} can’t be read: a template needs its subject, its text and its HTML',
    '{1} ist nicht lesbar: Eine Vorlage braucht ihren Betreff, ihren Text und ihr HTML',
  ],
  ['{1} must not contain {{{2}}}', '{1} darf {{{2}}} nicht enthalten'],
  ['{1} must contain {{{2}}}', '{1} muss {{{2}}} enthalten'],
  ['{1} is empty', '{1} ist leer'],
  ['{1} has more than one line', '{1} hat mehr als eine Zeile'],
  ['{1} contains {{ that does not begin a placeholder', '{1} enthält {{, ohne dass damit ein Platzhalter beginnt'],
  [
    '{1} contains {{{2}}}, which is not a placeholder of this template: it has {3}',
    '{1} enthält {{{2}}}; das ist kein Platzhalter dieser Vorlage. Sie hat {3}',
  ],

  // Processes and disks
  [
    '{1}: no processor is left for the main process, so changes and verifications delay each other. Set KEYREEVE_VERIFIERS to {2}, or use a machine with more processors',
    '{1}: Für den Hauptprozess bleibt kein Prozessor, deshalb verzögern Änderungen und Prüfungen einander. Setzen Sie KEYREEVE_VERIFIERS auf {2}, oder verwenden Sie eine Maschine mit mehr Prozessoren',
  ],
  [
    'the disk of {1} does not respond. Check its mount and, for a network file system, its server',
    'Der Datenträger von {1} antwortet nicht. Prüfen Sie die Einbindung und bei einem Netzlaufwerk dessen Server',
  ],
  [
    'the disk of {1} is read-only, so no change can be committed. Read the kernel log, and mount it writable',
    'Der Datenträger von {1} ist schreibgeschützt, deshalb ist keine Änderung möglich. Lesen Sie das Protokoll des Kernels, und binden Sie ihn beschreibbar ein',
  ],
  ['the disk of {1} has only {2} MiB free', 'Auf dem Datenträger von {1} sind nur {2} MiB frei'],

  // Settings
  ['http://localhost, only on this machine', 'http://localhost, nur auf dieser Maschine'],
  [
    'KEYREEVE_PUBLIC_URL is https, which needs a proxy, but KEYREEVE_TRUSTED_PROXIES does not contain it: the IP address of the proxy counts as the client IP, so all clients share the rate limits of one range',
    'KEYREEVE_PUBLIC_URL ist https, wofür ein Proxy nötig ist, aber KEYREEVE_TRUSTED_PROXIES nennt ihn nicht: Die IP-Adresse des Proxys gilt als Client-IP, deshalb teilen sich alle Clients die Ratenlimits eines Bereichs',
  ],
  [
    'KEYREEVE_CONSOLE_URL is https, which needs a proxy, but KEYREEVE_TRUSTED_PROXIES does not contain it: the IP address of the proxy counts as the client IP, so all clients share the rate limits of one range',
    'KEYREEVE_CONSOLE_URL ist https, wofür ein Proxy nötig ist, aber KEYREEVE_TRUSTED_PROXIES nennt ihn nicht: Die IP-Adresse des Proxys gilt als Client-IP, deshalb teilen sich alle Clients die Ratenlimits eines Bereichs',
  ],
  [
    'KEYREEVE_THROTTLE is off: sign-ins and key creations have no rate limits',
    'KEYREEVE_THROTTLE ist aus: Anmeldungen und das Erstellen von Schlüsseln haben keine Ratenlimits',
  ],
  [
    'KEYREEVE_DELETION_JOURNAL is not set: after restoring an older backup, or after a failover that loses the last commits, deleted keys work again',
    'KEYREEVE_DELETION_JOURNAL ist nicht gesetzt: Nach der Wiederherstellung einer älteren Sicherung, oder nach einem Wechsel, der die letzten Transaktionen verliert, gelten gelöschte Schlüssel wieder',
  ],
  [
    'KEYREEVE_WORLD_READABLE_SECRETS is accept: every user of this machine or container may be able to read secrets',
    'KEYREEVE_WORLD_READABLE_SECRETS ist „accept“: Jeder Benutzer dieser Maschine oder dieses Containers kann möglicherweise Geheimnisse lesen',
  ],
  [
    'KEYREEVE_PUBLIC_URL is http, and KEYREEVE_CONSOLE_URL is not set: the network between the browser and Keyreeve can read passwords and session cookies of the console',
    'KEYREEVE_PUBLIC_URL ist http, und KEYREEVE_CONSOLE_URL ist nicht gesetzt: Das Netz zwischen Browser und Keyreeve kann Passwörter und Sitzungs-Cookies der Konsole lesen',
  ],
  [
    'KEYREEVE_CONSOLE_URL is set, but KEYREEVE_CONSOLE is off: it has no effect',
    'KEYREEVE_CONSOLE_URL ist gesetzt, aber KEYREEVE_CONSOLE ist aus: Die Einstellung hat keine Wirkung',
  ],
  [
    'KEYREEVE_CONSOLE_URL is http, but KEYREEVE_PUBLIC_URL is https: the network between the browser and Keyreeve can read passwords and session cookies',
    'KEYREEVE_CONSOLE_URL ist http, aber KEYREEVE_PUBLIC_URL ist https: Das Netz zwischen Browser und Keyreeve kann Passwörter und Sitzungs-Cookies lesen',
  ],
  [
    'KEYREEVE_CONSOLE_URL is http: the network between the browser and Keyreeve can read passwords and session cookies',
    'KEYREEVE_CONSOLE_URL ist http: Das Netz zwischen Browser und Keyreeve kann Passwörter und Sitzungs-Cookies lesen',
  ],
  [
    'KEYREEVE_CONSOLE_URL has an IP address: browsers accept passkeys for host names only, such as localhost',
    'KEYREEVE_CONSOLE_URL hat eine IP-Adresse: Browser akzeptieren Passkeys nur für Hostnamen wie localhost',
  ],
  [
    'KEYREEVE_SMTP_WITHOUT_TLS is accept: everyone on the network between Keyreeve and the mail server may read mail, whose links set passwords, and the password of KEYREEVE_SMTP_URL',
    'KEYREEVE_SMTP_WITHOUT_TLS ist „accept“: Im Netz zwischen Keyreeve und dem Mailserver sind E-Mails lesbar, deren Links Passwörter setzen, und das Passwort aus KEYREEVE_SMTP_URL',
  ],

  // Failures of deliveries, and of fetching the signing keys of issuers
  ['it answered {1}', 'Der Endpunkt antwortete mit dem Status {1}'],
  ['no answer within {1} seconds', 'Keine Antwort innerhalb von {1} Sekunden'],
  ['the connection failed: {1}', 'Die Verbindung ist fehlgeschlagen: {1}'],
  ['the name has no address', 'Der Hostname hat keine Adresse'],
  ['it leads to an internal address', 'Die URL führt zu einer internen Adresse'],
  ['it must be https', 'Die URL muss mit https beginnen'],
  ['its port must be 443', 'Der Port muss 443 sein'],
  ['the outcome of two attempts is unknown', 'Der Ausgang von zwei Versuchen ist unbekannt'],
  ['no handler for {1}', 'Kein Programmteil für {1}'],
  ['the job is done, but is still stored', 'Der Auftrag ist erledigt, aber noch gespeichert'],

  // Signing keys of issuers
  ['its response is not complete within {1} bytes', 'Die Antwort ist nach {1} Bytes nicht vollständig'],
  ['its response is not JSON', 'Die Antwort ist kein JSON'],
  ['its metadata names another issuer', 'Die Metadaten nennen einen anderen Aussteller'],
  ['its metadata has no jwks_uri', 'Die Metadaten haben keine jwks_uri'],
  ['its JWK set {1}', 'Das JWK-Set {1}'],
  ['has no array keys', 'hat keine Liste „keys“'],
  ['has more than {1} keys', 'hat mehr als {1} Schlüssel'],
  ['has no public key for signatures', 'hat keinen öffentlichen Schlüssel für Signaturen'],
  ['is malformed', 'hat nicht die richtige Form'],

  // Failures of mail. A text of the mail server comes first
  ['the mail server: {1}', 'Der Mailserver: {1}'],
  ['the message was not sent', 'Die Nachricht wurde nicht gesendet'],
  ['{1}; it may have accepted the message', '{1}; er hat die Nachricht möglicherweise angenommen'],
  [
    '{1}. Port {2} expects TLS from the start: begin KEYREEVE_SMTP_URL with smtps:// instead of smtp://',
    '{1}. Port {2} erwartet TLS von Anfang an: Beginnen Sie KEYREEVE_SMTP_URL mit smtps:// statt smtp://',
  ],
  [
    '{1}. Port {2} does not begin with TLS: begin KEYREEVE_SMTP_URL with smtp:// instead of smtps://, so that STARTTLS is used',
    '{1}. Port {2} beginnt nicht mit TLS: Beginnen Sie KEYREEVE_SMTP_URL mit smtp:// statt smtps://, damit STARTTLS verwendet wird',
  ],
  [
    '{1}. The server offers no STARTTLS on this port. Use a port with it (587) or with TLS (smtps://, 465); for a relay on a private network, set KEYREEVE_SMTP_WITHOUT_TLS=accept',
    '{1}. Der Server bietet auf diesem Port kein STARTTLS. Verwenden Sie einen Port damit (587) oder mit TLS (smtps://, 465); für ein Relay in einem privaten Netz setzen Sie KEYREEVE_SMTP_WITHOUT_TLS=accept',
  ],
  [
    '{1}. Use the host name of the server’s certificate in KEYREEVE_SMTP_URL',
    '{1}. Verwenden Sie in KEYREEVE_SMTP_URL den Hostnamen aus dem Zertifikat des Servers',
  ],
  [
    '{1}. The certificate of the mail server has expired: renew it',
    '{1}. Das Zertifikat des Mailservers ist abgelaufen: Erneuern Sie es',
  ],
  [
    '{1}. For a certificate authority of your own, set NODE_EXTRA_CA_CERTS to the file with its certificate',
    '{1}. Für eine eigene Zertifizierungsstelle setzen Sie NODE_EXTRA_CA_CERTS auf die Datei mit ihrem Zertifikat',
  ],
  ['{1}. Check the host name in KEYREEVE_SMTP_URL', '{1}. Prüfen Sie den Hostnamen in KEYREEVE_SMTP_URL'],
  [
    '{1}. Nothing accepts connections on port {2}: mail servers usually accept mail on 587 (smtp://) or 465 (smtps://)',
    '{1}. Auf Port {2} nimmt nichts Verbindungen an: Mailserver verwenden meist 587 (smtp://) oder 465 (smtps://)',
  ],
  [
    '{1}. A firewall may block port {2}: many networks block 25, but not 587 (smtp://) and 465 (smtps://)',
    '{1}. Möglicherweise sperrt eine Firewall Port {2}: Viele Netze sperren 25, aber nicht 587 (smtp://) und 465 (smtps://)',
  ],
  [
    '{1}. The provider accepts no passwords: set KEYREEVE_SMTP_OAUTH_TOKEN_URL and the settings that belong to it',
    '{1}. Der Anbieter nimmt keine Passwörter an: Setzen Sie KEYREEVE_SMTP_OAUTH_TOKEN_URL und die zugehörigen Einstellungen',
  ],
  [
    '{1}. Check the user name and the password in KEYREEVE_SMTP_URL. Percent-encode special characters there, for example # as %23 and @ as %40',
    '{1}. Prüfen Sie Benutzername und Passwort in KEYREEVE_SMTP_URL. Kodieren Sie Sonderzeichen darin mit Prozentzeichen, zum Beispiel # als %23 und @ als %40',
  ],
  [
    '{1}. The server requires a sign-in: add the user name and the password to KEYREEVE_SMTP_URL',
    '{1}. Der Server verlangt eine Anmeldung: Ergänzen Sie Benutzername und Passwort in KEYREEVE_SMTP_URL',
  ],
  [
    '{1}. Check that a mail server listens on this port, and that {2}',
    '{1}. Prüfen Sie, ob auf diesem Port ein Mailserver antwortet, und ob {2}',
  ],
  ['it begins with TLS (otherwise use smtp://)', 'er mit TLS beginnt (sonst verwenden Sie smtp://)'],
  [
    'it does not expect TLS from the start (otherwise use smtps://)',
    'er kein TLS von Anfang an erwartet (sonst verwenden Sie smtps://)',
  ],

  // Values. Last, because they fit the ends of sentences too
  ['1 verifier, {1}', '1 Prüfprozess, {1}'],
  ['{1} verifiers, {2}', '{1} Prüfprozesse, {2}'],
  ['1 day', '1 Tag'],
  ['{1} days', '{1} Tage'],
  ['1 processor', '1 Prozessor'],
  ['{1} processors', '{1} Prozessoren'],
];
