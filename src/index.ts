/**
 * The public API: `openStack`, which covers most uses in a few lines; the stages that it runs; and the values that the
 * stages exchange. Contains re-exports only. The internals of each stage are deliberately not exported.
 */

export type { AcceptedDrift, AcceptedFile, AcceptResult, LeftOutDrift } from './accept/accept-drift.ts';
export { applyPlan } from './apply/apply.ts';
export type { ApplyContext } from './apply/apply-run.ts';
export type { SinkContext, TokenCredential, TokenSink } from './apply/token-sinks.ts';
export { createDirectorySink, createRescueSink, createTokenSinks, type TokenSinks } from './apply/token-sinks.ts';
export { type Client, type ClientOptions, createClient } from './client/client.ts';
export { type LiveRequest, readLive } from './client/read-live.ts';
export type { WaitNotice } from './client/request-limiter.ts';
export type { AttemptNotice } from './client/request-notice.ts';
export type { RetryNotice } from './client/retry.ts';
export {
  type ClosableTransport,
  createFetchTransport,
  createUndiciTransport,
  type FetchTransportOptions,
  type ProxyOptions,
  type UndiciTransportOptions,
} from './client/undici-transport.ts';
export type { SkippedResource } from './export/export-live.ts';
export {
  type ExportedDocument,
  type ExportOptions,
  type ExportResult,
  exportLive,
} from './export/export-live.ts';
export { createFilePerDocument, type ExportFile, renderSingleFile } from './export/layout.ts';
export type { SensitiveField } from './export/sensitive-fields.ts';
export type { ExportNote } from './export/state-notes.ts';
export {
  parseTerraformState,
  type StateInstance,
  type TerraformState,
  TerraformStateError,
} from './export/terraform-state.ts';
export type { Kind } from './kinds/kind.ts';
export { createPlanFileContent, type PlanFileContent, type PlanFileWrite } from './kinds/plan-file-content.ts';
export { findKind, KINDS } from './kinds/tables/registry.ts';
export { type LintOptions, lintManifests } from './lint/lint.ts';
export type { ManifestEnvironment } from './manifest/environment.ts';
export {
  createFieldFileReader,
  type LoadContext,
  type LoadedManifestSources,
  readManifestFiles,
} from './manifest/load.ts';
export type { ManifestBytes, ManifestContent, ManifestText } from './manifest/source.ts';
export { type ValidatedManifests, type ValidateOptions, validateManifests } from './manifest/validate.ts';
export type { Address } from './model/address.ts';
export type { Action, Change, Difference, DifferenceCause } from './model/change.ts';
export { type ConcealedValue, isConcealed } from './model/concealed-value.ts';
export type { Danger, DangerGroup, DangerGroupCounts, DangerName } from './model/danger.ts';
export type { Diagnostic, Severity } from './model/diagnostic.ts';
export { DIAGNOSTIC_CODES, type DiagnosticCode, LINT_CODES, type LintCode } from './model/diagnostic.ts';
export type { OwnedResource, StackInventory } from './model/drift.ts';
export {
  countResourcesByOwner,
  type Drift,
  type DriftedChange,
  type DriftState,
  hasDrift,
  type OwnershipCoverage,
  type UnownedResource,
} from './model/drift.ts';
export { ApiError, type ApiErrorDetails, InvariantError, NetworkError, TimeoutError } from './model/errors.ts';
export type { HttpRequest, HttpResponse, Send } from './model/http.ts';
export type { Json, JsonObject } from './model/json.ts';
export type { Mark } from './model/mark.ts';
export type { ApplyEvent, ApplyResult, Outcome } from './model/outcome.ts';
export type { Place, TextRange } from './model/place.ts';
export {
  type ChangedSide,
  type DoneChange,
  type ExtraChange,
  type ExtraField,
  isSamePlan,
  type MemberDifference,
  PLAN_FORMAT,
  type Plan,
  type PlanComparison,
  type PlanOptionSettings,
  type PlanSettings,
  type SafetyViolation,
} from './model/plan.ts';
export {
  computeMinimumRequestTimeMs,
  type LintSettings,
  NO_TOKEN_SETTINGS,
  parseRateLimit,
  type RateLimit,
  type RuleSeverity,
  type StackSettings,
  type TokenCommand,
  type TokenSettings,
} from './model/stack.ts';
export type { DesiredResource, DesiredState, LiveResource, LiveState, Spec } from './model/state.ts';
export type { PlannedTokenSink } from './model/token-sink.ts';
export { type Transport, toSend, toTransport } from './model/transport.ts';
export { InvalidManifests, StackError, type StackErrorReason } from './model/user-errors.ts';
export type { Validation } from './model/validation.ts';
export type { Write, WriteId, WriteMethod, WritePurpose } from './model/write.ts';
export { openStack, type Stack, type StackOptions } from './open-stack.ts';
export { comparePlans, type PlanEvidence } from './plan/compare/compare-plans.ts';
export { computeDrift, type DriftInput } from './plan/compute-drift.ts';
export { createPlan } from './plan/create-plan.ts';
export { listBlockingViolations } from './plan/guard.ts';
export type { PlanInput } from './plan/plan-input.ts';
export { createDestroyState, omitAllDesiredResources } from './plan/plan-input.ts';
export { createReadRequest, type ReadRequest } from './plan/select-targets.ts';
export {
  type FormatName,
  GENERAL_FORMAT_NAMES,
  loadReportRenderer,
} from './report/formats.ts';
export { renderApplyJson, renderPlanJson } from './report/machine/json.ts';
export { renderTextReport } from './report/render-text.ts';
export type {
  ApplyReport,
  DriftReport,
  Failure,
  FailureReport,
  FormatOptions,
  PlanReport,
  Report,
  ReportRenderer,
  TextStyleOptions,
  ValidationReport,
} from './report/report.ts';
export { createManifestJsonSchema } from './schemas/manifest.ts';
export { createOpenApiDocument } from './schemas/openapi.ts';
export { PUBLISHED_SCHEMAS, type PublishedSchema } from './schemas/published.ts';
export { createResultJsonSchema } from './schemas/results.ts';
export type { Consents } from './settings/request.ts';
export type { ServiceSettings } from './settings/table.ts';
export type { AcceptOptions } from './stack/accept.ts';
export { NotApprovedError } from './stack/approval.ts';

export { parsePlan } from './stack/parse-plan.ts';
export type { PlanOptions } from './stack/plan-live.ts';
export type {
  ApplyOptions,
  ApplyRunOptions,
  DriftOptions,
  ExportStackOptions,
  GetOptions,
  StackReads,
} from './stack/stack.ts';
