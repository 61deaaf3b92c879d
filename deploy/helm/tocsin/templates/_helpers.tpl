{{- define "tocsin.name" -}}
{{ .Values.nameOverride | default .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "tocsin.selector" -}}
app.kubernetes.io/name: tocsin
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tocsin.labels" -}}
{{ include "tocsin.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The pod, the same for both engines but for the database, the volume and what restarts it. */}}
{{- define "tocsin.pod" -}}
{{- $embedded := eq .Values.database.engine "embedded" -}}
metadata:
  labels:
    {{- include "tocsin.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    checksum/settings: {{ toYaml .Values.settings | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  # Requests in flight have 30 seconds, the rest is for deliveries, the database, and the pause before.
  terminationGracePeriodSeconds: 70
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  containers:
    - name: tocsin
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [serve, --config, /etc/tocsin/tocsin.yaml]
      env:
        - {name: TOCSIN_LISTEN, value: ":8080"}
        {{- if $embedded }}
        - {name: TOCSIN_DB, value: "sqlite:/data/tocsin.db"}
        {{- else }}
        - name: TOCSIN_DB
          valueFrom:
            secretKeyRef: {name: {{ .Values.database.secret.name | quote }}, key: {{ .Values.database.secret.key | quote }}}
        {{- end }}
        {{- if .Values.sealKey.name }}
        - {name: TOCSIN_SEAL_KEY_FILE, value: /etc/tocsin/seal/seal-key}
        {{- end }}
        {{- with .Values.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        - {name: http, containerPort: 8080}
      # A start brings the schema up to date before it listens.
      startupProbe:
        httpGet: {path: /health, port: http}
        periodSeconds: 2
        failureThreshold: 300
      # A pod that cannot reach its database takes no requests. Not /health/ready: it fails while work is late, and then
      # events must still be taken.
      readinessProbe:
        httpGet: {path: /health, port: http}
        periodSeconds: 5
        timeoutSeconds: 5
      livenessProbe:
        {{- if $embedded }}
        httpGet: {path: /health, port: http}
        {{- else }}
        # Not /health: a database that is away would restart every pod, and that helps no one.
        tcpSocket: {port: http}
        {{- end }}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      lifecycle:
        # The service drops a pod only a moment after its end has begun.
        preStop:
          sleep: {seconds: 5}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        runAsNonRoot: true
        capabilities: {drop: [ALL]}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - {name: settings, mountPath: /etc/tocsin/tocsin.yaml, subPath: tocsin.yaml, readOnly: true}
        {{- if .Values.sealKey.name }}
        - {name: seal-key, mountPath: /etc/tocsin/seal, readOnly: true}
        {{- end }}
        - {name: data, mountPath: /data}
        {{- with .Values.volumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: settings
      configMap: {name: {{ include "tocsin.name" . }}}
    {{- if .Values.sealKey.name }}
    - name: seal-key
      secret:
        secretName: {{ .Values.sealKey.name | quote }}
        defaultMode: 0440
        items: [{key: {{ .Values.sealKey.key | quote }}, path: seal-key}]
    {{- end }}
    {{- if not $embedded }}
    - name: data # the working folder; nothing that lasts is in it
      emptyDir: {sizeLimit: 64Mi}
    {{- end }}
    {{- with .Values.volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if not $embedded }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "tocsin.selector" . | nindent 10 }}
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
{{- end }}
