{{/* The template of the pods, for both kinds of database. */}}
{{- define "keyreeve.pod" -}}
metadata:
  labels:
    {{- include "keyreeve.labelsWith" (list . .Values.podLabels) | nindent 4 }}
  {{- with .Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "keyreeve.podSecurity" . | nindent 2 }}
  # Longer than KEYREEVE_DRAIN_SECONDS. The service drains by itself, so there is no preStop hook.
  terminationGracePeriodSeconds: 15
  containers:
    - name: keyreeve
      {{- include "keyreeve.program" . | nindent 6 }}
      ports:
        - name: http
          containerPort: 8787
        - name: admin
          containerPort: 8788
        {{- if .Values.verifiers }}
        - name: verify
          containerPort: 8789
        {{- end }}
      # A migration of a large database can take minutes.
      startupProbe:
        httpGet: { path: /health/live, port: admin }
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 300
      # Verifiers listen after the other ports, and end with the main process. The service waits up to 3 seconds for its database. With
      # less time, a slow database would remove all pods from the Services.
      readinessProbe:
        httpGet: { path: /health/ready, port: {{ ternary "verify" "admin" (gt (int .Values.verifiers) 0) }} }
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 2
      livenessProbe:
        httpGet: { path: /health/live, port: admin }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        {{- include "keyreeve.mounts" . | nindent 8 }}
    {{- with .Values.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
    {{- include "keyreeve.volumes" . | nindent 4 }}
  {{- if .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml .Values.topologySpreadConstraints | nindent 4 }}
  {{- else if gt (int .Values.replicas) 1 }}
  topologySpreadConstraints:
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "keyreeve.selector" $ | nindent 10 }}
    {{- end }}
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
  priorityClassName: {{ . | quote }}
  {{- end }}
{{- end -}}
