{{/* Shared by the pods and the backup job. First, the service account and the security context. */}}
{{- define "keyreeve.podSecurity" -}}
serviceAccountName: {{ include "keyreeve.serviceAccountName" . | quote }}
automountServiceAccountToken: false
# Kubernetes would set KEYREEVE_PORT and others for the Service of the chart, and the service rejects them.
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  # The service reads the mounted secrets and writes to the volume as this group.
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
  {{- with .Values.seLinuxOptions }}
  seLinuxOptions:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* The image of a container, and its rights. */}}
{{- define "keyreeve.image" -}}
image: {{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{/* The image of a container, its rights and its settings. */}}
{{- define "keyreeve.program" -}}
{{- $isPostgres := eq .Values.database.kind "postgres" -}}
{{- include "keyreeve.image" . }}
env:
  {{- $managed := dict
    "KEYREEVE_HOST" "0.0.0.0"
    "KEYREEVE_PORT" "8787"
    "KEYREEVE_ADMIN_HOST" "0.0.0.0"
    "KEYREEVE_ADMIN_PORT" "8788"
    "KEYREEVE_DRAIN_SECONDS" "8"
    "KEYREEVE_PUBLIC_URL" .Values.publicUrl
    "KEYREEVE_TRUSTED_PROXIES" .Values.trustedProxies
    "KEYREEVE_MASTER_KEY_FILE" "/run/secrets/keyreeve/master-key"
  }}
  {{- if $isPostgres }}
  {{- /* Empty, because the image sets it, and both together are an error. */}}
  {{- $_ := set $managed "KEYREEVE_DATABASE_URL" "" }}
  {{- $_ := set $managed "KEYREEVE_DATABASE_URL_FILE" "/run/secrets/keyreeve/database-url" }}
  {{- else }}{{ $_ := set $managed "KEYREEVE_DATABASE_URL" "sqlite:/data/keyreeve.db" }}{{ end }}
  {{- if or .Values.database.ca.secret .Values.database.ca.configMap }}{{ $_ := set $managed "KEYREEVE_DATABASE_CA" "/run/secrets/keyreeve/database-ca" }}{{ end }}
  {{- if .Values.deletionJournal.existingClaim }}{{ $_ := set $managed "KEYREEVE_DELETION_JOURNAL" "/deletions" }}{{ end }}
  {{- if or .Values.bootstrap.content .Values.bootstrap.existingSecret }}{{ $_ := set $managed "KEYREEVE_BOOTSTRAP" "/etc/keyreeve/keyreeve.json" }}{{ end }}
  {{- if .Values.verifiers }}
  {{- $_ := set $managed "KEYREEVE_VERIFY_HOST" "0.0.0.0" }}
  {{- $_ := set $managed "KEYREEVE_VERIFY_PORT" "8789" }}
  {{- $_ := set $managed "KEYREEVE_VERIFIERS" .Values.verifiers }}
  {{- end }}
  {{- if .Values.smtpUrlSecret.name }}{{ $_ := set $managed "KEYREEVE_SMTP_URL_FILE" "/run/secrets/keyreeve/smtp-url" }}{{ end }}
  {{- if .Values.ssoClientSecret.name }}{{ $_ := set $managed "KEYREEVE_SSO_CLIENT_SECRET_FILE" "/run/secrets/keyreeve/sso-client-secret" }}{{ end }}
  {{- range $name, $value := merge $managed (.Values.settings | default dict) }}
  - name: {{ $name }}
    value: {{ include "keyreeve.setting" $value | quote }}
  {{- end }}
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* The volume mounts of the container. */}}
{{- define "keyreeve.mounts" -}}
{{- $isPostgres := eq .Values.database.kind "postgres" -}}
- name: secrets
  mountPath: /run/secrets/keyreeve
  readOnly: true
- name: tmp
  mountPath: /tmp
{{- if or .Values.bootstrap.content .Values.bootstrap.existingSecret }}
- name: bootstrap
  mountPath: /etc/keyreeve
  readOnly: true
{{- end }}
{{- if not $isPostgres }}
- name: data
  mountPath: /data
{{- end }}
{{- if .Values.deletionJournal.existingClaim }}
- name: deletions
  mountPath: /deletions
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "keyreeve.volumes" -}}
{{- $isPostgres := eq .Values.database.kind "postgres" -}}
- name: secrets
  projected:
    # Readable by the group of the service only.
    defaultMode: 0440
    sources:
      {{- include "keyreeve.secret" (dict "secret" .Values.masterKeySecret "path" "master-key") | nindent 6 }}
      {{- if $isPostgres }}{{ include "keyreeve.secret" (dict "secret" .Values.database.urlSecret "path" "database-url") | nindent 6 }}{{ end }}
      {{- with .Values.database.ca }}
      {{- if or .secret .configMap }}
      - {{ ternary "secret" "configMap" (not (empty .secret)) }}:
          name: {{ .secret | default .configMap | quote }}
          items:
            - key: {{ .key | quote }}
              path: database-ca
      {{- end }}
      {{- end }}
      {{- if .Values.smtpUrlSecret.name }}{{ include "keyreeve.secret" (dict "secret" .Values.smtpUrlSecret "path" "smtp-url") | nindent 6 }}{{ end }}
      {{- if .Values.ssoClientSecret.name }}{{ include "keyreeve.secret" (dict "secret" .Values.ssoClientSecret "path" "sso-client-secret") | nindent 6 }}{{ end }}
- name: tmp
  emptyDir: {}
{{- if .Values.bootstrap.existingSecret }}
- name: bootstrap
  secret:
    secretName: {{ .Values.bootstrap.existingSecret | quote }}
    defaultMode: 0440
{{- else if .Values.bootstrap.content }}
- name: bootstrap
  configMap:
    name: {{ include "keyreeve.bootstrapName" . }}
    defaultMode: 0440
{{- end }}
{{- if not $isPostgres }}
- name: data
  persistentVolumeClaim:
    claimName: {{ .Values.database.storage.existingClaim | default (include "keyreeve.name" .) | quote }}
{{- end }}
{{- if .Values.deletionJournal.existingClaim }}
- name: deletions
  persistentVolumeClaim:
    claimName: {{ .Values.deletionJournal.existingClaim | quote }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* A changed file has another name, so that the pods are replaced and apply it. */}}
{{- define "keyreeve.bootstrapName" -}}
{{ include "keyreeve.name" . }}-{{ toJson .Values.bootstrap.content | sha256sum | trunc 8 }}
{{- end -}}

{{/* Helm reads a whole number as a float, which would be 1.2096e+06, and an unquoted on or off as a boolean. */}}
{{- define "keyreeve.setting" -}}
{{- if kindIs "bool" . }}{{ ternary "on" "off" . }}
{{- else if and (kindIs "float64" .) (eq . (floor .)) }}{{ int64 . }}
{{- else }}{{ . }}{{ end -}}
{{- end -}}

{{- define "keyreeve.secret" -}}
- secret:
    name: {{ .secret.name | quote }}
    items:
      - key: {{ .secret.key | quote }}
        path: {{ .path }}
{{- end -}}
