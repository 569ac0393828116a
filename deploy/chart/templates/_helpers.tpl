{{- define "backstop.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "backstop.selector" -}}
app.kubernetes.io/name: backstop
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "backstop.labels" -}}
{{ include "backstop.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "backstop.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "backstop.name" .) -}}
{{- end -}}

{{- define "backstop.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "backstop.claim" -}}
{{- .Values.persistence.existingClaim | default (include "backstop.name" .) -}}
{{- end -}}

{{/* Nine tenths of the memory limit, as Go writes it: the rest is for what Go does not count. */}}
{{- define "backstop.memlimit" -}}
{{- $limit := .Values.resources.limits.memory -}}
{{- $mi := trimSuffix "Mi" $limit | int -}}
{{- if hasSuffix "Gi" $limit -}}{{- $mi = mul 1024 (trimSuffix "Gi" $limit | int) -}}{{- end -}}
{{- printf "%dMiB" (div (mul $mi 9) 10) -}}
{{- end -}}

{{/* What is true of every pod. The token of the service account is not mounted: backstop asks
nothing of Kubernetes. The one of IRSA comes in a volume of its own. */}}
{{- define "backstop.podSpec" -}}
serviceAccountName: {{ include "backstop.serviceAccount" . }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: state
    persistentVolumeClaim:
      claimName: {{ include "backstop.claim" . }}
  {{- if .Values.config }}
  - name: config
    configMap:
      name: {{ include "backstop.name" . }}
  {{- end }}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* What is true of every container. */}}
{{- define "backstop.container" -}}
name: backstop
image: {{ include "backstop.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
env:
  - name: GOMEMLIMIT
    value: {{ include "backstop.memlimit" . }}
  {{- with .Values.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .Values.envFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
volumeMounts:
  - name: state
    mountPath: /var/lib/backstop
  {{- if .Values.config }}
  - name: config
    mountPath: /etc/backstop
    readOnly: true
  {{- end }}
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* STORE arguments and --config. */}}
{{- define "backstop.looking" -}}
{{- if not (or .Values.stores .Values.config) }}{{ fail "there is nothing to audit: give stores, or config with stores" }}{{ end -}}
{{- range .Values.stores }}
- {{ . | quote }}
{{- end }}
{{- if .Values.config }}
- --config=/etc/backstop/backstop.yaml
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{/* Whom to tell. A run that tells ends with 0 whatever it found; one that does not fails the Job. */}}
{{- define "backstop.telling" -}}
{{- $tells := or .Values.pushgateway .Values.notify -}}
{{- if and (eq .Values.alertPath "told") (not $tells) }}{{ fail "alertPath is \"told\", and nobody is told: give pushgateway, or notify with channels in config.notify, or set alertPath to \"job\"" }}{{ end -}}
{{- if and (eq .Values.alertPath "job") $tells }}{{ fail "alertPath is \"job\", and pushgateway or notify tells as well, so that one finding would page twice: set alertPath to \"told\", or take them out" }}{{ end -}}
{{- if and .Values.notify (not .Values.config) }}{{ fail "notify tells the channels in config.notify: give config" }}{{ end -}}
{{- with .Values.pushgateway }}
- --pushgateway={{ . }}
{{- end }}
{{- if .Values.notify }}
- --notify
- --state=/var/lib/backstop/notified.json
{{- end }}
{{- if eq .Values.alertPath "told" }}
- --exit-zero
{{- end }}
{{- end -}}

{{/* Statuses after which another try would find the same: a verdict, and what backstop cannot
do (README.md, "Exit status"). 69 and 75, nothing answered and too many requests, may pass. */}}
{{- define "backstop.final" -}}
[1, 2, 3, 64, 70, 74, 77, 78]
{{- end -}}

{{- define "backstop.jobOnce" -}}
backoffLimit: 0
activeDeadlineSeconds: {{ .Values.activeDeadlineSeconds }}
podFailurePolicy:
  rules:
    # A node that went away is nobody's verdict: the run is made again.
    - action: Ignore
      onPodConditions:
        - type: DisruptionTarget
          status: "True"
    - action: FailJob
      onExitCodes:
        containerName: backstop
        operator: In
        values: {{ include "backstop.final" . }}
{{- end -}}
