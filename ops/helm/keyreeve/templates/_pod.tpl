{{/* The template of the pods, for both kinds of database. */}}
{{- define "keyreeve.pod" -}}
{{- $isPostgres := eq .Values.database.kind "postgres" -}}
metadata:
  labels:
    {{- include "keyreeve.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- with .Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "keyreeve.serviceAccountName" . }}
  automountServiceAccountToken: false
  # Kubernetes would set KEYREEVE_PORT and others for the Service of the chart, and the service rejects them.
  enableServiceLinks: false
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
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
  # Longer than KEYREEVE_DRAIN_SECONDS. The service drains by itself, so there is no preStop hook.
  terminationGracePeriodSeconds: 15
  containers:
    - name: keyreeve
      image: {{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
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
        {{- if $isPostgres }}{{ $_ := set $managed "KEYREEVE_DATABASE_URL_FILE" "/run/secrets/keyreeve/database-url" }}
        {{- else }}{{ $_ := set $managed "KEYREEVE_DATABASE_URL" "sqlite:/data/keyreeve.db" }}{{ end }}
        {{- if .Values.deletionJournal.existingClaim }}{{ $_ := set $managed "KEYREEVE_DELETION_JOURNAL" "/deletions" }}{{ end }}
        {{- if .Values.smtpUrlSecret.name }}{{ $_ := set $managed "KEYREEVE_SMTP_URL_FILE" "/run/secrets/keyreeve/smtp-url" }}{{ end }}
        {{- if .Values.ssoClientSecret.name }}{{ $_ := set $managed "KEYREEVE_SSO_CLIENT_SECRET_FILE" "/run/secrets/keyreeve/sso-client-secret" }}{{ end }}
        {{- range $name, $value := merge $managed (.Values.settings | default dict) }}
        - name: {{ $name }}
          value: {{ include "keyreeve.setting" $value | quote }}
        {{- end }}
      ports:
        - name: http
          containerPort: 8787
        - name: admin
          containerPort: 8788
      # A migration of a large database can take minutes.
      startupProbe:
        httpGet: { path: /health/live, port: admin }
        periodSeconds: 2
        failureThreshold: 300
      readinessProbe:
        httpGet: { path: /health/ready, port: admin }
        periodSeconds: 2
        failureThreshold: 2
      livenessProbe:
        httpGet: { path: /health/live, port: admin }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - name: secrets
          mountPath: /run/secrets/keyreeve
          readOnly: true
        - name: tmp
          mountPath: /tmp
        {{- if not $isPostgres }}
        - name: data
          mountPath: /data
        {{- else if .Values.deletionJournal.existingClaim }}
        - name: deletions
          mountPath: /deletions
        {{- end }}
  volumes:
    - name: secrets
      projected:
        # Readable by the group of the service only.
        defaultMode: 0440
        sources:
          {{- include "keyreeve.secret" (dict "secret" .Values.masterKeySecret "path" "master-key") | nindent 10 }}
          {{- if $isPostgres }}{{ include "keyreeve.secret" (dict "secret" .Values.database.urlSecret "path" "database-url") | nindent 10 }}{{ end }}
          {{- if .Values.smtpUrlSecret.name }}{{ include "keyreeve.secret" (dict "secret" .Values.smtpUrlSecret "path" "smtp-url") | nindent 10 }}{{ end }}
          {{- if .Values.ssoClientSecret.name }}{{ include "keyreeve.secret" (dict "secret" .Values.ssoClientSecret "path" "sso-client-secret") | nindent 10 }}{{ end }}
    - name: tmp
      emptyDir: {}
    {{- if not $isPostgres }}
    - name: data
      persistentVolumeClaim:
        claimName: {{ .Values.database.storage.existingClaim | default (include "keyreeve.name" .) }}
    {{- else if .Values.deletionJournal.existingClaim }}
    - name: deletions
      persistentVolumeClaim:
        claimName: {{ .Values.deletionJournal.existingClaim }}
    {{- end }}
  {{- if .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml .Values.topologySpreadConstraints | nindent 4 }}
  {{- else if gt (int .Values.replicas) 1 }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "keyreeve.selector" . | nindent 10 }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
{{- end -}}

{{/* Helm reads a whole number as a float, which would be 1.2096e+06, and an unquoted on or off as a boolean. */}}
{{- define "keyreeve.setting" -}}
{{- if kindIs "bool" . }}{{ ternary "on" "off" . }}
{{- else if and (kindIs "float64" .) (eq . (floor .)) }}{{ int64 . }}
{{- else }}{{ . }}{{ end -}}
{{- end -}}

{{- define "keyreeve.secret" -}}
- secret:
    name: {{ .secret.name }}
    items:
      - key: {{ .secret.key }}
        path: {{ .path }}
{{- end -}}
